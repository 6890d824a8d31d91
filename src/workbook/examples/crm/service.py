"""What every namespace of the back end shares: the caller's tenant, checked values, pages with
cursors.

A subclass holds functions of one namespace, each marked with `access.needs`. The caller is the only
source of tenant and author; the store is never reached but through these methods, which add the
tenant.
"""

import datetime as dt
from collections.abc import Callable, Mapping, Sequence

from toolresults.results.budget import clamp
from toolresults.results.cursor import CursorError, Cursors

from .access import BadValue, Caller, NotFound
from .schema import TABLES
from .shapes import MAX_LIMIT
from .store import CrmStore, Where

_SOURCES = {"deals": "deal_rows", "tasks": "task_rows"}
_COLUMNS = {
    **{table: tuple(columns) for table, columns in TABLES.items()},
    # no salary: only hr.get_salary and the sums over teams read that column
    "employees": tuple(name for name in TABLES["employees"] if name != "salary"),
    "deals": (
        "deal_id",
        "title",
        "customer_id",
        "customer",
        "owner",
        "stage",
        "amount",
        "close_on",
    ),
    "tasks": (
        "task_id",
        "title",
        "owner",
        "team",
        "customer_id",
        "customer",
        "priority",
        "status",
        "due_on",
    ),
}
"""What a row of each table shows."""


class Service:
    """One caller's way to the store. `clock` gives the time in seconds since 1970."""

    namespace = ""

    def __init__(
        self, store: CrmStore, caller: Caller, cursors: Cursors, clock: Callable[[], float]
    ) -> None:
        self.store = store
        self.caller = caller
        self.cursors = cursors
        self.clock = clock

    def now(self) -> dt.datetime:
        """UTC, in whole seconds, without an offset."""
        return dt.datetime.fromtimestamp(int(self.clock()), dt.UTC).replace(tzinfo=None)

    def today(self) -> dt.date:
        """The date in UTC."""
        return self.now().date()

    def overdue(self) -> dict[str, object]:
        """The conditions of an overdue task: open, and due before today."""
        return {"status = 'open' AND due_on < ?": self.today()}

    def find(self, table: str, key: str, hint: str = "") -> dict:
        """The caller's tenant's row with this key. Raises `NotFound`."""
        columns = _COLUMNS[table]
        row = self.store.get(
            self.caller.tenant, _SOURCES.get(table, table), {f"{columns[0]} = ?": key}, columns
        )
        if row is None:
            raise NotFound(table.removesuffix("s"), key, hint)
        return row

    def has(self, table: str, key: str) -> bool:
        """Whether the caller's tenant has a row with this key."""
        column = _COLUMNS[table][0]
        return (
            self.store.get(self.caller.tenant, table, {f"{column} = ?": key}, [column]) is not None
        )

    def employee(self, username: str) -> str:
        """The user name, if somebody of the tenant has it. Raises `NotFound`."""
        if not self.has("employees", username):
            raise NotFound(
                "employee", username, "Owners are user names, as tasks and deals show them."
            )
        return username

    def customer(self, customer_id: str) -> str:
        """The id, if the tenant has this customer. Raises `NotFound`."""
        if not self.has("customers", customer_id):
            raise NotFound("customer", customer_id, "crm.list_customers gives the ids.")
        return customer_id

    def listing(
        self,
        table: str,
        where: Where,
        *,
        limit: int,
        cursor: str | None,
        order: Sequence[str] = (),
        descending: bool = False,
    ) -> dict:
        """A page of rows of `table`. Conditions whose value is None are left out.

        A cursor is good only for the same caller, table, conditions and order; else raises
        `BadValue`.
        """
        where = _given(where)
        columns = _COLUMNS[table]
        order = (*order, columns[0])
        limit, lowered = clamp("limit", limit, 1, MAX_LIMIT)
        binding = {
            "listing": table,
            "where": where,
            "order": [*order, descending],
            "tenant": self.caller.tenant,
            "caller": self.caller.user,
        }
        try:
            after = None if cursor is None else self.cursors.read(cursor, binding=binding)
        except CursorError as error:
            raise BadValue(str(error)) from None
        total, rows = self.store.page(
            self.caller.tenant,
            _SOURCES.get(table, table),
            where,
            columns,
            order=order,
            descending=descending,
            after=after,
            limit=limit + 1,  # one row more tells whether anything remains
        )
        following = None
        if len(rows) > limit:
            following = self.cursors.sign(
                tuple(str(rows[limit - 1][name]) for name in order), binding=binding
            )
        page = {"items": rows[:limit], "total": total, "next_cursor": following}
        return {**page, "note": lowered} if lowered else page

    def summary(
        self, source: str, where: Where, by: str, measures: Mapping[str, str]
    ) -> list[dict]:
        """`CrmStore.summary` of the caller's tenant. Conditions whose value is None are left
        out.
        """
        return self.store.summary(self.caller.tenant, source, _given(where), by, measures)

    def insert(self, table: str, row: Mapping[str, object]) -> dict:
        """Adds a row to the caller's tenant, and gives it as it is read."""
        return self.find(table, self.store.insert(self.caller.tenant, table, row))

    def change(
        self, table: str, key: str, changes: Mapping[str, object], where: Where | None = None
    ) -> bool:
        """Changes one row of the caller's tenant if it is there and `where` still holds; tells
        whether it did.
        """
        where = {f"{_COLUMNS[table][0]} = ?": key, **(where or {})}
        return bool(self.store.update(self.caller.tenant, table, where, changes))


def _given(where: Where) -> Where:
    return {sql: value for sql, value in where.items() if value is not None}
