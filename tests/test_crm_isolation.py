"""What a caller can learn does not depend on what it may not see: two worlds, which differ only
there, answer alike.
"""

import datetime as dt
import inspect
from contextlib import ExitStack

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from makers import maker
from toolresults.tokens import to_json
from toolresults.tools import ToolError
from workbook.examples.crm.access import SCOPES, Caller
from workbook.examples.crm.functions import crm_functions
from workbook.examples.crm.store import (
    APPROVAL_KINDS,
    APPROVAL_STATUSES,
    NOW,
    REPORT_KINDS,
    TABLES,
    TASK_STATUSES,
    TEAMS,
    CrmStore,
)

COMPANY = maker("company")
VOLUMES = {
    "acme": COMPANY.Volume(5, 8, 16, 8, 20, 6, 12, (2, 1)),
    "globex": COMPANY.Volume(4, 6, 10, 6, 20, 5, 12, (1,)),
}
ROWS = COMPANY.generate(volumes=VOLUMES)
# the hardest case for a join: the same user names in both companies, in other teams, and the
# same customers' ids, under other names
ROWS["employees"] += [
    {
        **row,
        "tenant": "globex",
        "name": f"{row['name']} of globex",
        "team": "finance",
        "salary": row["salary"] + 7,
    }
    for row in ROWS["employees"]
    if row["tenant"] == "acme"
]
ROWS["customers"] += [
    {**row, "tenant": "globex", "name": f"{row['name']} of globex"}
    for row in ROWS["customers"]
    if row["tenant"] == "acme"
]
KEYS = ["key"]
PHASES = [Phase.generate]  # a failure names the call; to shrink a whole session takes minutes


def only(tenant: str) -> dict[str, list[dict]]:
    return {table: [row for row in rows if row["tenant"] == tenant] for table, rows in ROWS.items()}


def bound(store: CrmStore, tenant: str, user: str = "mai.tran", scopes=SCOPES):
    return crm_functions(store, Caller(user, tenant, scopes), keys=KEYS, clock=lambda: NOW)


def cursors() -> list[str]:
    """Cursors that either tenant was given, for each listing."""
    with CrmStore(ROWS) as store:
        pages = [
            function(limit=1)
            for tenant in VOLUMES
            for path, function in bound(store, tenant).items()
            if "cursor" in inspect.signature(function).parameters
            and not hasattr(function, "definition_only")
        ]
        return [page["next_cursor"] for page in pages]


CURSORS = cursors()
ALL_IDS = sorted(
    {
        row[key]
        for table, columns in TABLES.items()
        for key in list(columns)[:1]
        for row in ROWS[table]
    }
    # those that writes make, and some that nobody has
    | {
        f"{kind}_{n}"
        for kind in ("task", "note", "deal", "apr", "rep")
        for n in (100009, 100013, 200007, 200013, 1)
    }
)
IDS = {
    prefix: st.sampled_from([key for key in ALL_IDS if key.startswith(prefix)])
    for prefix in ("task", "deal", "cus", "apr", "rep")
}
users = st.sampled_from(sorted({row["username"] for row in ROWS["employees"]}) + ["nobody", ""])
texts = st.sampled_from(
    ["a", "%", "trần", "GmbH", "globex", "Call about it", "", "Weekly"]
) | st.text(max_size=5)
days = st.sampled_from([dt.date(2026, 6, 1), dt.date(2026, 7, 1), dt.date(2026, 7, 20)])
VALUES = {
    "status": st.sampled_from([*TASK_STATUSES, *APPROVAL_STATUSES]),
    "kind": st.sampled_from([*APPROVAL_KINDS, *REPORT_KINDS]),
    "team": st.sampled_from(TEAMS),
    "decision": st.sampled_from(["approved", "rejected"]),
    "overdue": st.booleans(),
    "limit": st.integers(-1, 9),
    "cursor": st.sampled_from(CURSORS),
    "task_id": IDS["task"],
    "deal_id": IDS["deal"],
    "customer_id": IDS["cus"],
    "approval_id": IDS["apr"],
    "report_id": IDS["rep"],
    "about": st.sampled_from(ALL_IDS),
    **dict.fromkeys(("owner", "username", "author", "requester"), users),
    **dict.fromkeys(
        ("due_on", "due_before", "closing_before", "close_on", "first_day", "last_day"), days
    ),
    **dict.fromkeys(("text", "title", "name", "search", "reason", "contact", "email"), texts),
}


def real_functions() -> dict:
    with CrmStore(ROWS) as store:
        functions = bound(store, "acme")
    return {path: f for path, f in functions.items() if not hasattr(f, "definition_only")}


FUNCTIONS = real_functions()


def parameters_of(path: str) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(FUNCTIONS[path]).parameters)


def arguments_of(path: str):
    parameters = parameters_of(path).values()
    needed = {p.name: VALUES[p.name] for p in parameters if p.default is p.empty}
    # each of the others is given in about every third call
    others = {
        p.name: st.none() | st.none() | VALUES[p.name]
        for p in parameters
        if p.default is not p.empty
    }
    return st.fixed_dictionaries({**needed, **others}).map(
        lambda given: {
            name: value for name, value in given.items() if name in needed or value is not None
        }
    )


calls = st.sampled_from(list(FUNCTIONS)).flatmap(
    lambda path: st.tuples(st.just(path), arguments_of(path))
)
sessions = st.lists(calls, min_size=15, max_size=40)
NAMED = ("crm.add_note", "hr.decide_approval")
namings = st.lists(
    st.sampled_from(NAMED).flatmap(lambda path: st.tuples(st.just(path), arguments_of(path))),
    min_size=30,
    max_size=50,
)
"""Sessions of those writes that keep a name."""


def answer(functions: dict, path: str, arguments: dict) -> str:
    """What the caller learns: the result, or the error. Anything but a `ToolError` fails the
    test.
    """
    try:
        return to_json(functions[path](**arguments))
    except ToolError as error:
        return f"{type(error).__name__}: {error}"


def contents(store: CrmStore, tenant: str) -> str:
    return to_json({table: store.dump(table, tenant) for table in TABLES})


def answers_alike(
    worlds: list[CrmStore], session: list, tenant: str, user: str, scopes=SCOPES
) -> None:
    bounds = [bound(store, tenant, user, scopes) for store in worlds]
    for path, arguments in session:
        one, other = (answer(functions, path, arguments) for functions in bounds)
        assert one == other, (path, arguments)
    # and each caller's own cursors lead on alike
    for path in ("crm.list_tasks", "crm.list_notes", "hr.list_employees"):
        first = bounds[0][path](limit=2)
        assert to_json(first) == answer(bounds[1], path, {"limit": 2})
        assert answer(bounds[0], path, {"cursor": first["next_cursor"]}) == answer(
            bounds[1], path, {"cursor": first["next_cursor"]}
        )


SWEEP = (
    [(path, {"limit": 200}) for path in FUNCTIONS if "limit" in parameters_of(path)]
    + [("hr.get_salary", {"username": row["username"]}) for row in ROWS["employees"][::5]]
    + [("reports.run_report", {"report_id": row["report_id"]}) for row in ROWS["reports"]]
    + [("crm.get_task", {"task_id": row["task_id"]}) for row in ROWS["tasks"]]
)
"""All that can be read, once."""


@settings(max_examples=6, phases=PHASES)
@given(sessions, st.sampled_from([("acme", "globex"), ("globex", "acme")]), users)
def test_a_tenant_learns_nothing_of_another_and_changes_nothing_there(session, tenants, user):
    """Without the other tenant's rows every call answers the same; with them, they are the same
    afterwards.
    """
    mine, theirs = tenants
    with ExitStack() as stack:
        both = stack.enter_context(CrmStore(ROWS))
        alone = stack.enter_context(CrmStore(only(mine)))
        before = contents(both, theirs)
        answers_alike([both, alone], session, mine, user)
        assert contents(both, theirs) == before
        assert contents(both, mine) == contents(alone, mine)


def test_a_tenant_reads_nothing_of_another():
    for mine in VOLUMES:
        with CrmStore(ROWS) as both, CrmStore(only(mine)) as alone:
            answers_alike([both, alone], SWEEP, mine, "mai.tran")


RAISED = {
    **ROWS,
    "employees": [{**row, "salary": row["salary"] * 2 + 1} for row in ROWS["employees"]],
}


@settings(max_examples=4, phases=PHASES)
@given(sessions, users)
def test_without_the_scope_no_answer_depends_on_a_salary(session, user):
    with CrmStore(ROWS) as one, CrmStore(RAISED) as other:
        answers_alike([one, other], session, "acme", user, set(SCOPES) - {"hr:salary"})


def test_without_the_scope_nothing_that_can_be_read_depends_on_a_salary():
    with CrmStore(ROWS) as one, CrmStore(RAISED) as other:
        answers_alike([one, other], SWEEP, "acme", "mai.tran", set(SCOPES) - {"hr:salary"})


def test_the_two_worlds_do_differ_for_those_who_may_look():
    """What the two properties rest on: the same calls tell the worlds apart for a caller with the
    right.
    """
    with CrmStore(ROWS) as one, CrmStore(RAISED) as other:
        who = ROWS["employees"][3]["username"]
        assert bound(one, "acme")["hr.get_salary"](who) != bound(other, "acme")["hr.get_salary"](
            who
        )
        kinds = {report["kind"] for report in ROWS["reports"] if report["tenant"] == "acme"}
        assert "payroll_by_team" in kinds  # so that sessions can try to run one
        assert contents(one, "globex") != contents(one, "acme")


@settings(max_examples=4, phases=PHASES)
@given(namings, users)
def test_whatever_is_written_is_in_the_callers_name(session, user):
    with CrmStore(ROWS) as store:
        functions = bound(store, "acme", user)
        for path, arguments in session:
            answer(functions, path, arguments)
        for table, name in (("notes", "author"),):
            key = next(iter(TABLES[table]))
            old = {row[key] for row in ROWS[table]}
            assert {row[name] for row in store.dump(table, "acme") if row[key] not in old} <= {user}
        decided = {row["approval_id"]: row["decided_by"] for row in ROWS["approvals"]}
        changed = {
            row["decided_by"]
            for row in store.dump("approvals", "acme")
            if row["decided_by"] != decided.get(row["approval_id"])
        }
        assert changed <= {user}
