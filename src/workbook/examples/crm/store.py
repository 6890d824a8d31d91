"""The tables of the back end in DuckDB, and the only place where SQL is put together.

Every table and view has the column `tenant`, every join compares it, and every read and write names
it. Values are always bound parameters. Statements are made of the names below and of conditions
that the service layer has written, never of a caller's text.
"""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import UTC, datetime

import duckdb

from toolresults.tokens import repair
from workbook.paths import data_path

NOW = 1_782_907_200
"""The moment at which the generated data is up to date, in seconds since 1970:
2026-07-01T12:00:00Z.
"""

TODAY = datetime.fromtimestamp(NOW, UTC).date()

SEED = 20260701
"""The seed of the committed rows, which `data/make/company.py` draws."""

TEAMS = (
    "management",
    "sales",
    "support",
    "success",
    "marketing",
    "engineering",
    "finance",
    "people",
)
SEGMENTS = ("startup", "mid-market", "enterprise")
STAGES = ("lead", "qualified", "proposal", "negotiation", "won", "lost")
OPEN_STAGES = STAGES[:4]
TASK_STATUSES = ("open", "done")
PRIORITIES = ("low", "normal", "high")
APPROVAL_KINDS = ("leave", "expense", "discount", "purchase")
APPROVAL_STATUSES = ("pending", "approved", "rejected")
REPORT_KINDS = (
    "pipeline_by_stage",
    "won_by_country",
    "overdue_by_team",
    "headcount_by_team",
    "approvals_by_kind",
    "payroll_by_team",
)

_TABLES = {
    "employees": "username VARCHAR, name VARCHAR, team VARCHAR, title VARCHAR, manager VARCHAR, "
    "email VARCHAR, started_on DATE, salary DECIMAL(12,2)",
    "customers": "customer_id VARCHAR, name VARCHAR, segment VARCHAR, country VARCHAR, "
    "contact VARCHAR, email VARCHAR, owner VARCHAR, since DATE",
    "deals": "deal_id VARCHAR, title VARCHAR, customer_id VARCHAR, owner VARCHAR, stage VARCHAR, "
    "amount DECIMAL(12,2), close_on DATE",
    "tasks": "task_id VARCHAR, title VARCHAR, owner VARCHAR, customer_id VARCHAR, "
    "priority VARCHAR, status VARCHAR, due_on DATE",
    "notes": "note_id VARCHAR, about VARCHAR, author VARCHAR, text VARCHAR, created_at TIMESTAMP",
    "approvals": "approval_id VARCHAR, kind VARCHAR, requester VARCHAR, detail VARCHAR, "
    "amount DECIMAL(12,2), status VARCHAR, requested_at TIMESTAMP, decided_by VARCHAR",
    "reports": "report_id VARCHAR, name VARCHAR, kind VARCHAR, created_by VARCHAR, created_on DATE",
}
TABLES = {
    table: dict(column.split(" ") for column in columns.split(", "))
    for table, columns in _TABLES.items()
}
"""The SQL type of each column, `tenant` apart. The first column is the table's key within a
tenant.
"""

NULLABLE = ("manager", "customer_id", "amount", "decided_by")

PREFIXES = {
    "customers": "cus",
    "deals": "deal",
    "tasks": "task",
    "notes": "note",
    "approvals": "apr",
    "reports": "rep",
}
"""What the ids of each table begin with, as in `task_100042`. Employees go by user name."""

VIEWS = {
    "deal_rows": """
        SELECT d.*, c.name AS customer, c.country
        FROM deals d JOIN customers c ON c.tenant = d.tenant AND c.customer_id = d.customer_id""",
    "task_rows": """
        SELECT t.*, e.team, c.name AS customer
        FROM tasks t
        JOIN employees e ON e.tenant = t.tenant AND e.username = t.owner
        LEFT JOIN customers c ON c.tenant = t.tenant AND c.customer_id = t.customer_id""",
}
"""A deal with its customer's name and country; a task with its owner's team and its customer's
name.
"""

Where = Mapping[str, object]
"""Conditions that must all hold: SQL with one `?` each, and its value. `{"owner = ?":
"mai.tran"}`
"""

_TYPES = {name: kind for columns in TABLES.values() for name, kind in columns.items()}


class CrmStore:
    """The data of all tenants, in memory. Reads may run at once in any number of threads; writes
    take turns.

    `CrmStore(rows)` loads, for each table, dicts with `tenant` and the table's columns;
    `CrmStore.open()` loads the company of `company_rows`.
    """

    def __init__(self, rows: Mapping[str, Sequence[Mapping]]) -> None:
        # no extension is ever fetched: a query must not reach for the network
        self._db = duckdb.connect(":memory:", config={"autoinstall_known_extensions": False})
        self._write = threading.Lock()
        self._numbers: dict[tuple[str, str], int] = {}
        self.tenants = tuple(sorted({row["tenant"] for row in rows["employees"]}))
        for table, types in TABLES.items():
            self._create(table, {"tenant": "VARCHAR", **types}, rows.get(table, ()))
        for name, select in VIEWS.items():
            self._db.execute(f"CREATE VIEW {name} AS {select}")

    @classmethod
    def open(cls) -> "CrmStore":
        """The invented company of the notebooks."""
        return cls(company_rows())

    def __enter__(self) -> "CrmStore":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Frees the memory; the store cannot be used again."""
        self._db.close()

    def page(
        self,
        tenant: str,
        source: str,
        where: Where,
        columns: Sequence[str],
        *,
        order: Sequence[str],
        descending: bool = False,
        after: Sequence | None = None,
        limit: int,
    ) -> tuple[int, list[dict]]:
        """How many rows match, and at most `limit` of them in `order`, from behind the row with the
        sort key `after`.

        `order` ends with the key, so that no two rows are equal. Count and rows are of one moment.
        """
        rule, values = _where(tenant, where)
        position, way = "", " DESC" if descending else ""
        if after is not None:
            # a key out of a cursor is text
            marks = ", ".join(f"CAST(? AS {_TYPES[name]})" for name in order)
            position = f" AND ({', '.join(order)}) {'<' if descending else '>'} ({marks})"
        sort = ", ".join(name + way for name in order)
        select = f"SELECT {', '.join(columns)} FROM {source} WHERE {rule}"
        sql = f"{select}{position} ORDER BY {sort} LIMIT ?"
        with self._cursor() as cursor:
            cursor.begin()  # DuckDB reads a transaction's statements from one snapshot
            total = cursor.execute(
                f"SELECT COUNT(*) FROM {source} WHERE {rule}", values
            ).fetchone()[0]
            rows = _dicts(cursor.execute(sql, [*values, *map(_bound, after or ()), limit]))
            cursor.commit()
        return total, rows

    def get(self, tenant: str, source: str, where: Where, columns: Sequence[str]) -> dict | None:
        """The first row that matches, or None."""
        rule, values = _where(tenant, where)
        with self._cursor() as cursor:
            cursor.execute(
                f"SELECT {', '.join(columns)} FROM {source} WHERE {rule} LIMIT 1", values
            )
            return next(iter(_dicts(cursor)), None)

    def summary(
        self, tenant: str, source: str, where: Where, by: str, measures: Mapping[str, str]
    ) -> list[dict]:
        """A row for each value of the column `by`, in its order: that value, and the SQL aggregates
        in `measures`.
        """
        rule, values = _where(tenant, where)
        selected = ", ".join([by, *(f"{sql} AS {name}" for name, sql in measures.items())])
        with self._cursor() as cursor:
            cursor.execute(
                f"SELECT {selected} FROM {source} WHERE {rule} GROUP BY {by} ORDER BY {by}", values
            )
            return _dicts(cursor)

    def insert(self, tenant: str, table: str, row: Mapping[str, object]) -> str:
        """Adds a row under the tenant's next id, and returns the id."""
        key, *names = TABLES[table]
        with self._write, self._cursor() as cursor:
            # numbered within the tenant: an id must not tell how busy the others are
            self._numbers[tenant, table] += 1
            new = f"{PREFIXES[table]}_{self._numbers[tenant, table]}"
            columns, marks = ", ".join(["tenant", key, *names]), ", ".join("?" * (len(names) + 2))
            values = [tenant, new, *(_bound(row[name]) for name in names)]
            cursor.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", values)
        return new

    def update(self, tenant: str, table: str, where: Where, changes: Mapping[str, object]) -> int:
        """Sets the columns in `changes` in the rows that match at that moment, and returns how many
        there were.
        """
        rule, values = _where(tenant, where)
        sets = ", ".join(f"{name} = ?" for name in changes)
        with self._write, self._cursor() as cursor:
            cursor.execute(
                f"UPDATE {table} SET {sets} WHERE {rule}", [*map(_bound, changes.values()), *values]
            )
            return cursor.fetchone()[0]

    def delete(self, tenant: str, table: str, where: Where) -> int:
        """Removes the rows that match, and returns how many there were."""
        rule, values = _where(tenant, where)
        with self._write, self._cursor() as cursor:
            return cursor.execute(f"DELETE FROM {table} WHERE {rule}", values).fetchone()[0]

    def dump(self, table: str, tenant: str) -> list[dict]:
        """All that a tenant has in a table, salaries too, in order of the key: for the host and for
        tests.
        """
        columns = tuple(TABLES[table])
        return self.page(tenant, table, {}, columns, order=columns[:1], limit=2**62)[1]

    def _create(self, table: str, types: Mapping[str, str], rows: Sequence[Mapping]) -> None:
        key = tuple(types)[1]
        columns = (f"{c} {t}{'' if c in NULLABLE else ' NOT NULL'}" for c, t in types.items())
        self._db.execute(
            f"CREATE TABLE {table} ({', '.join(columns)}, PRIMARY KEY (tenant, {key}))"
        )
        if rows:
            # a list bound per column: a statement per row takes forty times as long
            lists = ", ".join(f"unnest(CAST(? AS {kind}[]))" for kind in types.values())
            self._db.execute(
                f"INSERT INTO {table} SELECT {lists}", [[row[c] for row in rows] for c in types]
            )
        if table in PREFIXES:
            for number, tenant in enumerate(self.tenants, 1):
                own = [int(row[key].rpartition("_")[2]) for row in rows if row["tenant"] == tenant]
                self._numbers[tenant, table] = max(own, default=number * 100_000)

    @contextmanager
    def _cursor(self) -> Iterator[duckdb.DuckDBPyConnection]:
        # a cursor of its own for each call: a shared connection refuses concurrent use
        with closing(self._db.cursor()) as cursor:
            yield cursor


def _where(tenant: str, where: Where) -> tuple[str, list]:
    return " AND ".join(["tenant = ?", *where]), [_bound(tenant), *map(_bound, where.values())]


def _bound(value: object) -> object:
    return repair(value) if isinstance(value, str) else value  # a lone surrogate cannot be bound


def _dicts(cursor: duckdb.DuckDBPyConnection) -> list[dict]:
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def company_rows() -> dict[str, list[dict]]:
    """The rows of the invented company by table, each with its `tenant` (data/README.md)."""
    with closing(duckdb.connect()) as db:
        paths = {table: str(data_path(f"company/{table}.parquet")) for table in TABLES}
        return {
            table: _dicts(db.execute("SELECT * FROM read_parquet(?)", [path]))
            for table, path in paths.items()
        }
