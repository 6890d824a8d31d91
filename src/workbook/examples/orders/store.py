"""The shop's orders in DuckDB: filters pushed down, keyset pages, counts, aggregates, inserts and
deletes.

Every listing is newest first, ties broken by id: `ORDER BY placed_at DESC, order_id DESC`. Values
are always bound parameters; only names from `COLUMNS` and `GROUPS` ever become part of a statement.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, InvalidOperation
from pathlib import Path

import duckdb

from toolresults.tokens import repair
from workbook.paths import data_path

STATUSES = ("paid", "pending", "refunded", "failed")
REGIONS = ("north", "south", "central")

_CENT = Decimal("0.01")
_MOST = Decimal("100000000.00")  # one cent more than the column DECIMAL(10,2) holds


@dataclass(frozen=True)
class OrderFilter:
    """Which orders are wanted; None means any.

    Bounds on the amount are inclusive, and an order whose amount is unknown meets none.
    `placed_after` means on or after, `placed_before` strictly before, so that two adjoining ranges
    share no order. Values are brought to one form (bounds in cents, times as naive datetimes in
    UTC), so that filters that mean the same are equal.

    Raises `ValueError` for a status, region, amount or time that cannot be.
    """

    status: str | None = None
    region: str | None = None
    min_amount: Decimal | int | float | None = None
    max_amount: Decimal | int | float | None = None
    placed_after: datetime | date | None = None
    placed_before: datetime | date | None = None

    def __post_init__(self) -> None:
        for name, known in (("status", STATUSES), ("region", REGIONS)):
            value = getattr(self, name)
            if value is not None and value not in known:
                raise ValueError(f"unknown {name} {value!r}: use {', '.join(known)}")
        for name, rounding in (("min_amount", ROUND_CEILING), ("max_amount", ROUND_FLOOR)):
            value = getattr(self, name)
            if value is not None:
                # amounts are whole cents: rounding a bound inwards keeps its meaning
                bound = max(-_MOST, min(_MOST, _finite(value)))
                object.__setattr__(self, name, bound.quantize(_CENT, rounding))
        for name in ("placed_after", "placed_before"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _utc(value, name))

    def where(self) -> tuple[str, list]:
        """The SQL condition, with a `?` for each value, and the values."""
        conditions = {
            "status = ?": self.status,
            "region = ?": self.region,
            "amount >= ?": self.min_amount,
            "amount <= ?": self.max_amount,
            "placed_at >= ?": self.placed_after,
            "placed_at < ?": self.placed_before,
        }
        wanted = {sql: value for sql, value in conditions.items() if value is not None}
        return " AND ".join(wanted) or "TRUE", list(wanted.values())


def to_amount(value: Decimal | int | float) -> Decimal:
    """`value` in cents, exactly. Raises `ValueError` for a fraction of a cent or more than
    DECIMAL(10,2) holds.
    """
    amount = _finite(value)
    if abs(amount) >= _MOST or amount != amount.quantize(_CENT, ROUND_FLOOR):
        raise ValueError(f"an amount has two decimals and eight digits before them, not {value!r}")
    return amount.quantize(_CENT)


def _finite(value: Decimal | int | float) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, Decimal | int | float):
        raise ValueError(f"an amount is a number, not {value!r}")
    try:
        amount = Decimal(
            str(value)
        )  # through text: a float's own digits (10.1), not its binary expansion
    except (InvalidOperation, ValueError):
        raise ValueError("an amount has at most a few thousand digits") from None
    if not amount.is_finite():
        raise ValueError(f"an amount is finite, not {value!r}")
    return amount


def _utc(value: datetime | date, name: str) -> datetime:
    if not isinstance(value, date):
        raise ValueError(f"{name} is a date or a datetime, not {value!r}")
    if not isinstance(value, datetime):
        return datetime.combine(value, time())
    try:
        return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    except OverflowError:
        raise ValueError(f"{name} is out of range: {value!r}") from None


TYPES = {
    "order_id": "VARCHAR",
    "customer": "VARCHAR",
    "email": "VARCHAR",
    "address": "VARCHAR",
    "status": "VARCHAR",
    "region": "VARCHAR",
    "amount": "DECIMAL(10,2)",
    "placed_at": "TIMESTAMP",
    "note": "VARCHAR",
    "raw_payload": "VARCHAR",
}
"""The SQL type of each column."""

NULLABLE = ("amount", "note")

COLUMNS = tuple(TYPES)
"""The keys of a row. `amount` is a `Decimal` and may be None, as may `note`; `placed_at` is a naive
datetime in UTC.
"""


def _check_columns(columns: Sequence[str]) -> None:
    """Raises `ValueError` unless `columns` is a list of names from `COLUMNS`, with at least one."""
    if isinstance(columns, str) or not columns:
        raise ValueError("columns is a list of names, with at least one")
    if unknown := [name for name in columns if name not in COLUMNS]:
        raise ValueError(f"no column {unknown[0]!r}: use {', '.join(COLUMNS)}")


def checked(row: Mapping) -> tuple:
    """The values of `row` in the order of `COLUMNS`; text is repaired here, once.

    Raises `ValueError` for other keys than `COLUMNS` and for a value that cannot be.
    """
    if set(row) != set(COLUMNS):
        raise ValueError(
            f"an order has the keys {', '.join(COLUMNS)}; got {', '.join(map(str, row))}"
        )
    return tuple(_checked(name, row[name]) for name in COLUMNS)


def _checked(name: str, value: object) -> object:
    if value is None and name in NULLABLE:
        return None
    if name == "amount":
        return to_amount(value)
    if name == "placed_at":
        if not isinstance(value, datetime) or value.tzinfo or value.microsecond:
            raise ValueError(
                f"placed_at is a naive datetime in UTC, in whole seconds, not {value!r}"
            )
        return value
    if not isinstance(value, str):
        raise ValueError(f"{name} is text, not {value!r}")
    for column, known in (("status", STATUSES), ("region", REGIONS)):
        if name == column and value not in known:
            raise ValueError(f"unknown {name} {value!r}: use {', '.join(known)}")
    return repair(value)


_ALL = OrderFilter()

GROUPS = {
    "status": "status",
    "region": "region",
    "customer": "customer",
    "day": "CAST(placed_at AS DATE)",
}
"""What `OrderStore.aggregate` groups by, and the SQL of each."""

Key = tuple[datetime, str]
"""The sort key of a row: (placed_at, order_id)."""


class OrderStore:
    """The orders of one account, in memory. Reads may run at once in any number of threads.

    `OrderStore(rows)` loads dicts with the keys `COLUMNS`; `OrderStore.open()` loads the real
    account.
    """

    def __init__(self, rows: Iterable[Mapping] = ()) -> None:
        # no extension is ever fetched: a query must not reach for the network
        self._db = duckdb.connect(":memory:", config={"autoinstall_known_extensions": False})
        self._write = threading.Lock()
        columns = (f"{c} {t}{'' if c in NULLABLE else ' NOT NULL'}" for c, t in TYPES.items())
        self._db.execute(f"CREATE TABLE orders ({', '.join(columns)}, PRIMARY KEY (order_id))")
        self.insert(rows)

    @classmethod
    def open(cls, path: Path | str | None = None) -> "OrderStore":
        """The orders of a Parquet file; the real account, `data/orders.parquet`, if none is
        named.
        """
        store = cls()
        source = str(data_path("orders.parquet") if path is None else path)
        store.insert_select(f"SELECT {_list(COLUMNS)} FROM read_parquet(?)", [source])
        return store

    def __enter__(self) -> "OrderStore":
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def close(self) -> None:
        """Frees the memory; the store cannot be used again."""
        self._db.close()

    def count(self, filter: OrderFilter = _ALL) -> int:
        """How many orders match."""
        with self._read() as cursor:
            return _count(cursor, filter)

    def page(
        self,
        filter: OrderFilter = _ALL,
        *,
        after: Key | None = None,
        limit: int,
        columns: Sequence[str] = COLUMNS,
    ) -> list[dict]:
        """At most `limit` matching rows, newest first, that come after the row with the sort key
        `after`.

        The row `after` itself need not exist any more. Raises `ValueError` for a column or a limit
        that cannot be.
        """
        with self._read() as cursor:
            return _page(cursor, filter, after, limit, columns)

    def snapshot_page(
        self,
        filter: OrderFilter = _ALL,
        after: Key | None = None,
        limit: int = 50,
        columns: Sequence[str] = COLUMNS,
    ) -> tuple[int, list[dict]]:
        """`(count(filter), page(filter, …))` of one moment, whatever is being inserted or deleted
        meanwhile.
        """
        with self._read() as cursor:
            cursor.begin()  # DuckDB reads a transaction's statements from one snapshot
            result = _count(cursor, filter), _page(cursor, filter, after, limit, columns)
            cursor.commit()
            return result

    def offset_page(
        self,
        filter: OrderFilter = _ALL,
        *,
        offset: int,
        limit: int,
        columns: Sequence[str] = COLUMNS,
    ) -> list[dict]:
        """At most `limit` matching rows after skipping `offset`: repeats or skips rows when others
        come or go.
        """
        _check_columns(columns)
        _check_number("limit", limit)
        _check_number("offset", offset)
        where, values = filter.where()
        order = "ORDER BY placed_at DESC, order_id DESC LIMIT ? OFFSET ?"
        with self._read() as cursor:
            sql = f"SELECT {_list(columns)} FROM orders WHERE {where} {order}"
            return _dicts(cursor.execute(sql, [*values, limit, offset]))

    def position(self, filter: OrderFilter, key: Key) -> int:
        """How many matching rows come no later in a listing than `key`: the offset at which it goes
        on.
        """
        where, values = filter.where()
        upto = "placed_at >= ? AND (placed_at > ? OR order_id >= ?)"
        with self._read() as cursor:
            sql = f"SELECT COUNT(*) FROM orders WHERE {where} AND {upto}"
            return cursor.execute(sql, [*values, key[0], key[0], key[1]]).fetchone()[0]

    def get(self, order_id: str, columns: Sequence[str] = COLUMNS) -> dict | None:
        """The order with this id, or None."""
        _check_columns(columns)
        with self._read() as cursor:
            sql = f"SELECT {_list(columns)} FROM orders WHERE order_id = ?"
            return next(iter(_dicts(cursor.execute(sql, [repair(order_id)]))), None)

    def aggregate(
        self, filter: OrderFilter = _ALL, by: str | Sequence[str] | None = None
    ) -> list[dict]:
        """A row for each group, in order of the group: its keys, `n`, `total_amount` (Decimal) and
        `null_amounts`.

        `by` is a name in `GROUPS`, several, or None for one row over all. A total leaves out the
        orders whose amount is unknown, and `null_amounts` says how many those were. Raises
        `ValueError` for another name.
        """
        names = [by] if isinstance(by, str) else list(by or ())
        if unknown := [name for name in names if name not in GROUPS]:
            raise ValueError(f"cannot group by {unknown[0]!r}: use {', '.join(GROUPS)}")
        where, values = filter.where()
        keys = [f"{GROUPS[name]} AS {name}" for name in names]
        sums = ["COUNT(*) AS n", "CAST(COALESCE(SUM(amount), 0) AS DECIMAL(38,2)) AS total_amount"]
        shown = _list([*keys, *sums, "COUNT(*) - COUNT(amount) AS null_amounts"])
        sql = f"SELECT {shown} FROM orders WHERE {where}"
        if names:
            places = _list([str(i + 1) for i in range(len(names))])
            sql += f" GROUP BY {places} ORDER BY {places}"
        with self._read() as cursor:
            return _dicts(cursor.execute(sql, values))

    def insert(self, rows: Iterable[Mapping]) -> int:
        """Adds all of `rows`, or none, and returns how many.

        Raises `ValueError` for a row with other keys than `COLUMNS`, for a value that cannot be, or
        for an id that is taken.
        """
        rows = [checked(row) for row in rows]
        if not rows:
            return 0
        # a list bound per column: a statement per row takes forty times as long for 10,000 rows
        lists = _list([f"unnest(CAST(? AS {kind}[]))" for kind in TYPES.values()])
        with self._write, self._read() as cursor:
            try:
                cursor.execute(
                    f"INSERT INTO orders SELECT {lists}",
                    [list(values) for values in zip(*rows, strict=True)],
                )
            except duckdb.ConstraintException:
                raise ValueError(
                    "an order id is there already, or twice: nothing was inserted"
                ) from None
        return len(rows)

    def insert_select(self, sql: str, values: Sequence = ()) -> None:
        """Adds the rows of a SELECT, which the project's own code has written: `sql` must never
        hold any input.
        """
        with self._write, self._read() as cursor:
            cursor.execute(f"INSERT INTO orders {sql}", list(values))

    def delete(self, ids: Iterable[str]) -> int:
        """Removes the orders with these ids, and returns how many there were."""
        ids = [repair(order_id) for order_id in ids]
        with self._write, self._read() as cursor:
            sql = "DELETE FROM orders WHERE order_id IN (SELECT unnest(CAST(? AS VARCHAR[])))"
            return cursor.execute(sql, [ids]).fetchone()[0]

    def write_parquet(self, path: Path | str, made: Mapping[str, str] | None = None) -> None:
        """Writes all orders to `path`, in order of their ids, with the texts in `made` as the
        file's metadata.
        """
        options = "FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE 4096" + (
            ", KV_METADATA ?" if made else ""
        )
        values = [str(path), dict(made)] if made else [str(path)]
        with self._read() as cursor:
            cursor.execute(f"COPY (FROM orders ORDER BY order_id) TO ? ({options})", values)

    @contextmanager
    def _read(self) -> Iterator[duckdb.DuckDBPyConnection]:
        # a cursor of its own for each call: a shared connection refuses concurrent use
        with closing(self._db.cursor()) as cursor:
            yield cursor


def _count(cursor: duckdb.DuckDBPyConnection, filter: OrderFilter) -> int:
    where, values = filter.where()
    return cursor.execute(f"SELECT COUNT(*) FROM orders WHERE {where}", values).fetchone()[0]


def _page(
    cursor, filter: OrderFilter, after: Key | None, limit: int, columns: Sequence[str]
) -> list[dict]:
    _check_columns(columns)
    _check_number("limit", limit)
    where, values = filter.where()
    if after is not None:
        # (placed_at, order_id) < (?, ?), written so that an engine can also use an index on
        # placed_at alone
        where += " AND placed_at <= ? AND (placed_at < ? OR order_id < ?)"
        values += [after[0], after[0], after[1]]
    order = "ORDER BY placed_at DESC, order_id DESC LIMIT ?"
    sql = f"SELECT {_list(columns)} FROM orders WHERE {where} {order}"
    return _dicts(cursor.execute(sql, [*values, limit]))


def _dicts(cursor: duckdb.DuckDBPyConnection) -> list[dict]:
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


def _list(names: Sequence[str]) -> str:
    return ", ".join(names)


def _check_number(name: str, value: int) -> None:
    if type(value) is not int or not 0 <= value < 2**63:
        raise ValueError(f"{name} is a whole number from 0, not {value!r}")
