"""The functions of the back end that do something, bound to one caller.

    store = CrmStore.open()
    functions = crm_functions(store, Caller("mai.tran", "acme", {"crm:read"}), keys=["secret"])
    functions["crm.list_tasks"](team="sales", overdue=True)["total"]

Store, caller, keys and clock are bound here; what is left in a signature is what a model fills. The
caller is the only source of tenant and author; the store is never reached but through `Service`,
which adds the tenant. Nine of the company's first thirty functions are here: those of the week's
question, and one of each kind that must refuse somebody. The others are `definitions`.
"""

import datetime as dt
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from toolresults.results.budget import clamp
from toolresults.results.cursor import CursorError, Cursors

from .access import BadValue, Caller, NotFound, Refused, needs, require, shown
from .definitions import definitions, first_thirty, search_words
from .shapes import (
    MAX_LIMIT,
    Approval,
    Cursor,
    Customer,
    Day,
    EmployeePage,
    Limit,
    Note,
    NotePage,
    ReportRun,
    Salary,
    Search,
    Task,
    TaskPage,
    TaskStatus,
    Team,
    to_day,
)  # fmt: skip
from .store import PREFIXES, TABLES, TASK_STATUSES, TEAMS, CrmStore, Where

TaskId = Annotated[str, Field(description="As task_100042.")]
CustomerId = Annotated[str, Field(description="As cus_100042.")]
Username = Annotated[str, Field(description="As mai.tran.")]
_DECISIONS = ("approved", "rejected")
ReportId = Annotated[str, Field(description="As rep_100042.")]

_TASKS = "crm.list_tasks gives the ids."
_EMPLOYEES = "hr.list_employees gives the user names."
_REPORTS = "reports.list_reports gives the ids."

_MAX_TEXT = 2_000
"""Longest text that is stored, in characters."""


def crm_functions(
    store: CrmStore,
    caller: Caller,
    *,
    keys: Sequence[str | bytes],
    clock: Callable[[], float] = time.time,
) -> dict[str, Callable[..., object]]:
    """The company's first thirty functions by path, for one caller; all but nine are definitions.

    Each has the attribute `search_words`: a registry indexes them. `keys` sign cursors (oldest
    first), `clock` gives the time in seconds. All functions are there whatever the caller's scopes:
    what a scope does not open is refused when it is called. Raises `ValueError` for a tenant that
    the store does not have.
    """
    if caller.tenant not in store.tenants:
        known = ", ".join(store.tenants)
        raise ValueError(f"no tenant {caller.tenant!r} in this store: it has {known}")
    cursors = Cursors(keys, clock=clock)
    services = {kind.namespace: kind(store, caller, cursors, clock) for kind in (Crm, Hr, Reports)}
    found = {}
    for path, definition in first_thirty().items():
        namespace, _, name = path.partition(".")
        found[path] = definition or getattr(services[namespace], name)
    return found


def company_functions(
    n: int, store: CrmStore, caller: Caller, *, keys: Sequence[str | bytes], **options
) -> dict[str, Callable[..., object]]:
    """The first `n` functions of the company by path: real ones among the first thirty
    (`crm_functions`), definitions after them. Raises `ValueError` for more than there
    are.
    """
    real = crm_functions(store, caller, keys=keys, **options)
    functions = {**real, **definitions(max(0, n - len(real)))}
    return dict(list(functions.items())[:n])


_SOURCES = {"tasks": "task_rows"}
_COLUMNS = {
    **{table: tuple(columns) for table, columns in TABLES.items()},
    # no salary: only hr.get_salary and the sums over teams read that column
    "employees": tuple(name for name in TABLES["employees"] if name != "salary"),
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


class Crm(Service):
    namespace = "crm"

    @needs("crm:read")
    def list_tasks(
        self,
        status: TaskStatus | None = None,
        team: Annotated[
            Team | None, Field(description="Only tasks whose owner is in this team.")
        ] = None,
        owner: Annotated[str | None, Field(description="Only tasks of this user.")] = None,
        overdue: Annotated[
            bool, Field(description="Only open tasks that were due before today.")
        ] = False,
        due_before: Annotated[
            Day | None, Field(description="Only tasks due before this date.")
        ] = None,
        customer_id: str | None = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> TaskPage:
        """Lists tasks, the earliest due first. Filters narrow each other; total counts all that match."""  # noqa: E501 (a model reads it as it stands)
        due_before = _day("due_before", due_before)
        where = {
            "status = ?": _choice("status", status, TASK_STATUSES),
            "team = ?": _choice("team", team, TEAMS),
            "owner = ?": _optional(self.employee, owner),
            "due_on < ?": due_before,
            "customer_id = ?": _optional(self.customer, customer_id),
            **(self.overdue() if overdue else {}),
        }
        return self.listing("tasks", where, order=["due_on"], limit=limit, cursor=cursor)

    @needs("crm:read")
    def get_task(self, task_id: TaskId) -> Task:
        """Reads one task."""
        return self.find("tasks", task_id, _TASKS)

    @needs("crm:read")
    def get_customer(self, customer_id: CustomerId) -> Customer:
        """Reads one customer, with the contact's name and e-mail address."""
        return self.find("customers", customer_id, "crm.list_customers gives the ids.")

    @needs("crm:read", "crm:write")
    def add_note(
        self,
        about: Annotated[
            str, Field(description="Id of the task, deal or customer that the note is about.")
        ],
        text: Annotated[str, Field(description="Up to 2,000 characters.")],
    ) -> Note:
        """Adds a note to a task, a deal or a customer. Its author is the caller."""
        row = {
            "about": self._subject(about),
            "author": self.caller.user,
            "text": _text("text", text),
            "created_at": self.now(),
        }
        return self.insert("notes", row)

    @needs("crm:read")
    def list_notes(
        self,
        about: Annotated[
            str | None, Field(description="Only notes about this task, deal or customer (an id).")
        ] = None,
        author: Annotated[str | None, Field(description="Only notes by this user.")] = None,
        search: Search = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> NotePage:
        """Lists notes, the newest first."""
        where = {
            "about = ?": _optional(self._subject, about),
            "author = ?": author,
            **_containing("text", search),
        }
        return self.listing(
            "notes", where, order=["created_at"], descending=True, limit=limit, cursor=cursor
        )

    def _subject(self, key: str) -> str:
        """The id, if the tenant has a task, deal or customer with it. Raises `NotFound`."""
        for table in ("tasks", "deals", "customers"):
            if key.startswith(f"{PREFIXES[table]}_") and self.has(table, key):
                return key
        raise NotFound("task, deal or customer", key)


class Hr(Service):
    namespace = "hr"

    @needs("hr:read")
    def list_employees(
        self,
        team: Team | None = None,
        search: Search = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> EmployeePage:
        """Lists employees by user name, with team, title and manager. `search` looks at their names."""  # noqa: E501 (a model reads it as it stands)
        where = {"team = ?": _choice("team", team, TEAMS), **_containing("name", search)}
        return self.listing("employees", where, limit=limit, cursor=cursor)

    @needs("hr:read", "hr:salary")
    def get_salary(self, username: Username) -> Salary:
        """Reads an employee's salary, in euros a year."""
        self.find("employees", username, _EMPLOYEES)
        return self.store.get(
            self.caller.tenant, "employees", {"username = ?": username}, ["username", "salary"]
        )

    @needs("hr:read", "hr:approve")
    def decide_approval(
        self,
        approval_id: Annotated[str, Field(description="As apr_100042.")],
        decision: Literal[_DECISIONS],
    ) -> Approval:
        """Approves or rejects a pending request in the caller's name. Nobody decides a request of their own."""  # noqa: E501 (a model reads it as it stands)
        _choice("decision", decision, _DECISIONS)
        hint = "hr.list_approvals gives the ids."
        if self.find("approvals", approval_id, hint)["requester"] == self.caller.user:
            raise Refused(
                f"{approval_id} is the caller's own request: somebody else must decide it."
            )
        changes = {"status": decision, "decided_by": self.caller.user}
        decided = self.change("approvals", approval_id, changes, where={"status = ?": "pending"})
        approval = self.find("approvals", approval_id, hint)
        if not decided:
            raise BadValue(
                f"{approval_id} was decided before: "
                f"{approval['status']} by {approval['decided_by']}."
            )
        return approval


_READS = {
    "pipeline_by_stage": ("crm:read",),
    "won_by_country": ("crm:read",),
    "overdue_by_team": ("crm:read",),
    "headcount_by_team": ("hr:read",),
    "approvals_by_kind": ("hr:read",),
    "payroll_by_team": ("hr:read", "hr:salary"),
}
"""The scopes that running a report of each kind needs, `reports:read` apart."""

_NONE = "CAST(NULL AS DECIMAL(38,2))"
_QUERIES = {
    "pipeline_by_stage": ("deals", "stage", "SUM(amount)", {}),
    "won_by_country": ("deal_rows", "country", "SUM(amount)", {"stage = ?": "won"}),
    "overdue_by_team": ("task_rows", "team", _NONE, {}),
    "headcount_by_team": ("employees", "team", _NONE, {}),
    "approvals_by_kind": ("approvals", "kind", "SUM(amount)", {}),
    "payroll_by_team": ("employees", "team", "SUM(salary)", {}),
}
"""Where each kind reads, what it groups by, what it adds up, and what must hold."""


class Reports(Service):
    """Questions that were saved to be asked again. A report is run with the rights of who runs it:
    what it shows is read when it is run, after the scopes of what it reads were looked at, so that
    a report saved by somebody with more rights opens nothing."""

    namespace = "reports"

    @needs("reports:read")
    def run_report(self, report_id: ReportId) -> ReportRun:
        """Runs a saved report on the data of this moment. Also needs the scopes of what the report reads."""  # noqa: E501 (a model reads it as it stands)
        report = self.find("reports", report_id, _REPORTS)
        kind = report["kind"]
        require(self.caller, _READS[kind], f"A report of the kind {kind}")
        source, by, total, where = _QUERIES[kind]
        if kind == "overdue_by_team":
            where = self.overdue()
        measures = {"count": "COUNT(*)", "total": f"CAST({total} AS DECIMAL(38,2))"}
        rows = self.summary(source, where, by, measures)
        rows = [{"group": row[by], "count": row["count"], "total": row["total"]} for row in rows]
        return {"report_id": report_id, "name": report["name"], "kind": kind, "rows": rows}


# bound methods take no attributes, but show those of the functions behind them
for _kind in (Crm, Hr, Reports):
    for _name, _function in list(vars(_kind).items()):
        if hasattr(_function, "scopes"):
            _function.search_words = search_words(f"{_kind.namespace}.{_name}")


def _optional(check: Callable[[str], str], value: str | None) -> str | None:
    """`check(value)`, or None if there is no value."""
    return None if value is None else check(value)


def _containing(column: str, text: str | None) -> dict[str, object]:
    """The condition that `text` occurs in `column`: as plain text, in which % and * are only
    themselves.
    """
    return {f"contains(strip_accents(lower({column})), strip_accents(lower(?)))": text}


def _choice(name: str, value: str | None, choices: Sequence[str]) -> str | None:
    """The value, if it is None or one of `choices`. Raises `BadValue`, naming them."""
    if value is not None and value not in choices:
        raise BadValue(f"{name} is one of {', '.join(choices)}, not {shown(repr(value))}.")
    return value


def _day(name: str, value: dt.date | str | None) -> dt.date | None:
    """A date, also from ISO 8601 text. Raises `BadValue`."""
    try:
        value = to_day(value)
    except ValueError as error:
        raise BadValue(f"{name}: {error}") from None
    if value is not None and (not isinstance(value, dt.date) or isinstance(value, dt.datetime)):
        raise BadValue(f"{name} is a date such as 2026-03-01.")
    return value


def _text(name: str, value: str, most: int = _MAX_TEXT) -> str:
    """Text to be stored, without blanks around it. Raises `BadValue` if it is empty or over `most`
    characters.
    """
    value = value.strip()
    if not 1 <= len(value) <= most:
        raise BadValue(f"{name} has 1 to {most:,} characters, not {len(value):,}.")
    return value
