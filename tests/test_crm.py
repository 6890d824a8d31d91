"""The CRM's functions as a caller meets them: rights, values, pages, writes, and the data behind
them.
"""

import hashlib
import inspect
import re
import time
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from typing import get_type_hints

import pytest

from apis import APIS
from makers import maker
from toolresults.tokens import to_json
from toolresults.tools import Tool, ToolError
from workbook.bench.techniques import NOW as WORKBOOK_NOW
from workbook.examples.crm.access import SCOPES, BadValue, Caller, NotFound, Refused
from workbook.examples.crm.functions import crm_functions
from workbook.examples.crm.store import NOW, REPORT_KINDS, TABLES, TODAY, CrmStore, company_rows

COMPANY = maker("company")
VOLUMES, Volume, generate = COMPANY.VOLUMES, COMPANY.Volume, COMPANY.generate

SMALL = {
    "acme": Volume(9, 30, 40, 9, 30, 12, 30, (3, 2)),
    "globex": Volume(5, 5, 12, 5, 20, 4, 4, (1,)),
}
R, W = "crm:read", "crm:write"
CALLS = {
    "crm.list_tasks": ({}, {R}),
    "crm.add_note": ({"about": "task_100001", "text": "Hello"}, {R, W}),
    "crm.get_customer": ({"customer_id": "cus_100001"}, {R}),
    "crm.get_task": ({"task_id": "task_100001"}, {R}),
    "crm.list_notes": ({}, {R}),
    "hr.list_employees": ({}, {"hr:read"}),
    "hr.get_salary": ({"username": "SOMEBODY"}, {"hr:read", "hr:salary"}),
    "hr.decide_approval": (
        {"approval_id": "PENDING", "decision": "approved"},
        {"hr:read", "hr:approve"},
    ),
    "reports.run_report": ({"report_id": "PIPELINE"}, {"reports:read", R}),
}
"""For every real function: arguments that work (capitals stand for a value of the data), and
exactly the scopes it needs.
"""


@pytest.fixture(scope="module")
def real():
    with CrmStore.open() as store:
        yield store


@pytest.fixture(scope="module")
def shared():
    """For tests of many cases that do not mind what the other cases wrote."""
    with CrmStore(generate(volumes=SMALL)) as store:
        yield store


@pytest.fixture
def store():
    with CrmStore(generate(volumes=SMALL)) as store:
        yield store


def bound(store, scopes=SCOPES, user="mai.tran", tenant="acme", now=NOW):
    return crm_functions(store, Caller(user, tenant, scopes), keys=["key"], clock=lambda: now)


def report(store, kind: str) -> str:
    """The id of a saved report of this kind."""
    return next(row["report_id"] for row in store.dump("reports", "acme") if row["kind"] == kind)


def pending(store, requester: str = "other") -> str:
    """The id of a new request of somebody's."""
    row = {
        "kind": "leave", "requester": requester, "detail": "Holiday", "amount": None,
        "status": "pending", "requested_at": datetime(2026, 7, 1), "decided_by": None,
    }  # fmt: skip
    return store.insert("acme", "approvals", row)


def filled(store, arguments: dict) -> dict:
    first = {
        "SOMEBODY": lambda: store.dump("employees", "acme")[0]["username"],
        "PENDING": lambda: pending(store),
        "PIPELINE": lambda: report(store, "pipeline_by_stage"),
    }
    return {name: first[value]() if value in first else value for name, value in arguments.items()}


def contents(store, tenant="acme") -> str:
    return to_json({table: store.dump(table, tenant) for table in TABLES})


# Rights


def test_every_real_function_has_a_case_here(shared):
    real = {p for p, f in bound(shared).items() if not hasattr(f, "definition_only")}
    assert real == set(CALLS) and len(bound(shared)) == 30


@pytest.mark.parametrize("path", CALLS)
def test_a_function_works_with_exactly_its_scopes_and_is_refused_without_any_of_them(shared, path):
    arguments, needed = CALLS[path]
    arguments = filled(shared, arguments)
    before = contents(shared)
    for missing in needed:
        with pytest.raises(Refused, match=f"needs the scope {missing}") as refusal:
            bound(shared, set(SCOPES) - {missing})[path](**arguments)
        assert isinstance(refusal.value, ToolError) and isinstance(refusal.value, PermissionError)
    assert contents(shared) == before
    to_json(bound(shared, needed)[path](**arguments))


def test_without_any_scope_the_arguments_tell_nothing(shared):
    functions = bound(shared, ())
    refusals = {
        str(pytest.raises(Refused, functions["crm.get_task"], task_id).value)
        for task_id in ("task_100001", "task_200001", "nonsense")
    }
    assert len(refusals) == 1


def test_a_report_that_somebody_with_more_rights_saved_opens_nothing(store):
    saved = report(store, "payroll_by_team")
    with pytest.raises(Refused, match="hr:salary"):
        bound(store, set(SCOPES) - {"hr:salary"})["reports.run_report"](saved)
    with pytest.raises(Refused, match="hr:read and hr:salary"):
        bound(store, {"reports:read"})["reports.run_report"](saved)
    total = sum(person["salary"] for person in store.dump("employees", "acme"))
    rows = bound(store)["reports.run_report"](saved)["rows"]
    assert sum(row["total"] for row in rows) == total


def test_nobody_decides_their_own_request_or_one_that_was_decided(store):
    leave = pending(store, "mai.tran")
    with pytest.raises(Refused, match="own request"):
        bound(store)["hr.decide_approval"](leave, "approved")
    decided = bound(store, user="other")["hr.decide_approval"](leave, "rejected")
    assert decided["decided_by"] == "other"
    with pytest.raises(BadValue, match="decided before: rejected by other"):
        bound(store, user="third")["hr.decide_approval"](leave, "approved")


def test_a_caller_with_an_unknown_scope_or_tenant_is_the_hosts_mistake(shared):
    with pytest.raises(ValueError, match="crm:admin"):
        Caller("mai.tran", "acme", {"crm:admin"})
    with pytest.raises(ValueError, match="nowhere"):
        bound(shared, tenant="nowhere")
    assert Caller("mai.tran", "acme", "crm:read").scopes == {"crm:read"}


def test_another_tenants_row_and_no_row_are_told_apart_by_nothing(shared):
    functions = bound(shared)
    for path, name in [
        ("crm.get_task", "task_{}00001"),
        ("crm.get_customer", "cus_{}00001"),
        ("crm.list_notes", "task_{}00001"),
        ("reports.run_report", "rep_{}00001"),
    ]:
        theirs, nobodys = (
            str(pytest.raises(NotFound, functions[path], name.format(n)).value) for n in (2, 9)
        )
        assert theirs.replace("200001", "900001") == nobodys
    names = {person["username"] for person in shared.dump("employees", "acme")}
    stranger = next(
        p["username"] for p in shared.dump("employees", "globex") if p["username"] not in names
    )
    for ask in (functions["hr.get_salary"], lambda who: functions["crm.list_tasks"](owner=who)):
        theirs, nobodys = (str(pytest.raises(NotFound, ask, who).value) for who in (stranger, "no"))
        assert theirs.replace(stranger, "no") == nobodys
    for customer_id in ("cus_200001", "cus_900001"):
        with pytest.raises(NotFound, match=f'no customer "{customer_id}"'):
            functions["crm.list_tasks"](customer_id=customer_id)


# What a function is to a model


def test_a_model_fills_neither_tenant_nor_caller_and_every_function_is_a_tool(shared):
    for path, function in bound(shared).items():
        hints = get_type_hints(function, include_extras=True)
        parameters = inspect.signature(function).parameters
        assert set(parameters) | {"return"} == set(hints)
        assert not {"self", "tenant", "user", "caller", "scopes", "clock", "salary"} & set(
            parameters
        )
        assert "author" not in parameters or path == "crm.list_notes"  # where it narrows
        assert path.endswith(f".{function.__name__}") and function.__doc__
        for api in APIS:
            assert to_json(api.definition(Tool(function)))


def test_a_tools_call_crosses_with_dates_as_text_and_amounts_as_numbers(shared):
    tasks = Tool(bound(shared)["crm.list_tasks"])
    made = tasks.call({"due_before": "2099-01-01", "limit": 1})
    assert re.search(r'"due_on":"20\d\d-\d\d-\d\d"', made.text)
    somebody = filled(shared, {"username": "SOMEBODY"})
    assert re.search(r'"salary":\d+', Tool(bound(shared)["hr.get_salary"]).call(somebody).text)
    wrong = tasks.call({"due_before": "soon"})
    assert wrong.is_error and "ISO 8601" in wrong.text


# Values


@pytest.mark.parametrize(
    "path, arguments, told",
    [
        ("crm.list_tasks", {"status": "late"}, "open, done"),
        ("crm.list_tasks", {"team": "Sales"}, "sales, support"),
        ("crm.list_tasks", {"due_before": "tomorrow"}, "ISO 8601"),
        ("crm.add_note", {"about": "task_100001", "text": "  "}, "1 to 2,000 characters"),
        ("crm.add_note", {"about": "task_100001", "text": "x" * 2_001}, "not 2,001"),
        (
            "hr.decide_approval",
            {"approval_id": "apr_100001", "decision": "maybe"},
            "approved, rejected",
        ),
    ],
)
def test_a_bad_value_is_told_with_what_would_do(shared, path, arguments, told):
    before = contents(shared)
    with pytest.raises(BadValue, match=told) as error:
        bound(shared)[path](**arguments)
    assert isinstance(error.value, ToolError) and isinstance(error.value, ValueError)
    assert contents(shared) == before


@pytest.mark.parametrize(
    "wild", ["%", "_", ".*", "*", "(a+)+$", "'; DROP TABLE notes; --", "\\", "\ud83d", "a\x00b"]
)
def test_a_search_is_for_plain_text(shared, wild):
    functions = bound(shared)
    before = sum(wild in note["text"] for note in shared.dump("notes", "acme"))
    assert functions["crm.list_notes"](search=wild)["total"] == before
    functions["crm.add_note"]("task_100001", f"before {wild} after")
    assert functions["crm.list_notes"](search=wild)["total"] == before + 1


def test_a_search_does_not_mind_case_or_accents(real):
    functions = bound(real)
    assert (
        functions["hr.list_employees"](search="tran ")["total"]
        == functions["hr.list_employees"](search="TRẦN ")["total"]
        > 0
    )
    names = [person["name"] for person in real.dump("employees", "acme")]
    assert (
        functions["hr.list_employees"](search="陽")["total"]
        == sum("陽" in name for name in names)
        > 0
    )


# Pages


@pytest.mark.parametrize("table, path", [
    ("tasks", "crm.list_tasks"),
    ("notes", "crm.list_notes"),
    ("employees", "hr.list_employees"),
])  # fmt: skip
def test_pages_give_every_row_once_and_end(shared, table, path):
    key = next(iter(TABLES[table]))
    everything = {row[key] for row in shared.dump(table, "acme")}
    seen, cursor = [], None
    for _ in range(len(everything) // 4 + 1):
        page = bound(shared)[path](limit=4, cursor=cursor)
        assert page["total"] == len(everything)
        seen += [row[key] for row in page["items"]]
        cursor = page["next_cursor"]
        if cursor is None:
            break
    assert cursor is None and len(seen) == len(everything) and set(seen) == everything
    exact = bound(shared)[path](limit=len(everything))
    assert exact["next_cursor"] is None and [row[key] for row in exact["items"]] == seen


def test_a_limit_out_of_range_is_changed_and_the_page_says_so(real):
    functions = bound(real)
    page = functions["crm.list_tasks"](limit=5_000)
    assert len(page["items"]) == 200 and "200" in page["note"]
    assert len(functions["crm.list_tasks"](limit=0)["items"]) == 1
    assert "note" not in functions["crm.list_tasks"](limit=200)


def test_a_cursor_is_good_only_for_the_same_listing_filter_caller_and_hour(shared):
    functions = bound(shared)
    cursor = functions["crm.list_tasks"](status="done", limit=2)["next_cursor"]
    assert functions["crm.list_tasks"](status="done", limit=3, cursor=cursor)["items"]
    for refused in (
        lambda: functions["crm.list_tasks"](limit=2, cursor=cursor),
        lambda: functions["crm.list_tasks"](status="open", limit=2, cursor=cursor),
        lambda: functions["crm.list_tasks"](status="done", team="sales", cursor=cursor),
        lambda: functions["crm.list_notes"](cursor=cursor),
        lambda: bound(shared, user="other")["crm.list_tasks"](status="done", cursor=cursor),
        lambda: bound(shared, tenant="globex")["crm.list_tasks"](status="done", cursor=cursor),
        lambda: bound(shared, now=NOW + 3_601)["crm.list_tasks"](status="done", cursor=cursor),
        lambda: functions["crm.list_tasks"](status="done", cursor=cursor[:-1]),
        lambda: functions["crm.list_tasks"](status="done", cursor=""),
    ):
        with pytest.raises(BadValue, match="Start again without a cursor"):
            refused()


# Writes


def test_a_write_is_there_at_the_next_call_of_anybody(store):
    ana, ben = bound(store, user="ana"), bound(store, user="ben")
    ids = [ana["crm.add_note"]("task_100001", str(i))["note_id"] for i in range(3)]
    seen = [note["note_id"] for note in ben["crm.list_notes"]("task_100001")["items"]]
    assert seen[:3] == ids[::-1]


def test_what_is_written_is_in_the_callers_name_and_of_the_clocks_moment(store):
    note = bound(store, user="linh")["crm.add_note"]("cus_100001", "author: somebody.else")
    assert note["author"] == "linh" and note["created_at"].isoformat() == "2026-07-01T12:00:00"


def test_writes_from_many_threads_all_count_and_no_id_is_given_twice(store):
    functions = bound(store)
    with ThreadPoolExecutor(8) as pool:
        notes = list(
            pool.map(lambda i: functions["crm.add_note"]("cus_100001", f"note {i}"), range(40))
        )
    assert len({note["note_id"] for note in notes}) == 40
    found = functions["crm.list_notes"]("cus_100001", search="note ", limit=200)
    assert {note["text"] for note in found["items"]} >= {f"note {i}" for i in range(40)}


def test_a_request_is_decided_once_whoever_is_first(store):
    leave = pending(store)

    def decide(who):
        try:
            return bound(store, user=who)["hr.decide_approval"](leave, "approved")["decided_by"]
        except BadValue:
            return None

    with ThreadPoolExecutor(8) as pool:
        winners = [who for who in pool.map(decide, "abcdefgh") if who]
    assert len(winners) == 1 and store.get(
        "acme", "approvals", {"approval_id = ?": leave}, ["decided_by"]
    ) == {"decided_by": winners[0]}


# Reports, against the rows


def test_a_report_says_what_the_rows_say(store):
    tables = {table: store.dump(table, "acme") for table in TABLES}
    people, deals = tables["employees"], tables["deals"]
    teams = {person["username"]: person["team"] for person in people}
    countries = {row["customer_id"]: row["country"] for row in tables["customers"]}
    late = [t for t in tables["tasks"] if t["status"] == "open" and t["due_on"] < TODAY]
    won = [deal for deal in deals if deal["stage"] == "won"]
    groups = {
        "pipeline_by_stage": [(deal["stage"], deal["amount"]) for deal in deals],
        "won_by_country": [(countries[deal["customer_id"]], deal["amount"]) for deal in won],
        "overdue_by_team": [(teams[task["owner"]], None) for task in late],
        "headcount_by_team": [(person["team"], None) for person in people],
        "approvals_by_kind": [(row["kind"], row["amount"]) for row in tables["approvals"]],
        "payroll_by_team": [(person["team"], person["salary"]) for person in people],
    }
    assert set(groups) == set(REPORT_KINDS) and all(groups.values())
    for kind, pairs in groups.items():
        amounts = defaultdict(list)
        for group, amount in pairs:
            amounts[group] += [] if amount is None else [amount]
        counts = Counter(group for group, _ in pairs)
        assert bound(store)["reports.run_report"](report(store, kind))["rows"] == [
            {"group": group, "count": counts[group], "total": sum(amounts[group]) or None}
            for group in sorted(counts)
        ]


# The data


def test_overdue_sales_tasks_are_forty_two_of_seven_owners(real):
    functions = bound(real)
    page = functions["crm.list_tasks"](team="sales", overdue=True, limit=200)
    owners = Counter(task["owner"] for task in page["items"])
    assert page["total"] == 42 and sorted(owners.values(), reverse=True) == [11, 9, 7, 6, 4, 3, 2]
    assert all(
        task["due_on"] < TODAY and task["status"] == "open" and task["customer"]
        for task in page["items"]
    )
    tomorrow = bound(real, now=NOW + 86_400)["crm.list_tasks"](team="sales", overdue=True)["total"]
    due_today = (
        functions["crm.list_tasks"](team="sales", status="open", due_before=date(2026, 7, 2))[
            "total"
        ]
        - 42
    )
    assert tomorrow == 42 + due_today


def test_a_customers_tasks_are_those_of_the_customer(real):
    tasks = real.dump("tasks", "acme")
    customer, n = Counter(t["customer_id"] for t in tasks if t["customer_id"]).most_common(1)[0]
    page = bound(real)["crm.list_tasks"](customer_id=customer, limit=200)
    assert page["total"] == n and {task["customer_id"] for task in page["items"]} == {customer}


def test_the_same_seed_makes_the_committed_company():
    rows = generate()
    assert rows == company_rows()
    assert {
        table: len([row for row in rows[table] if row["tenant"] == "acme"]) for table in rows
    } == {table: getattr(VOLUMES["acme"], table) for table in rows}
    assert rows == generate()
    # the notebooks quote counts of this very data
    assert (
        hashlib.sha256(repr(rows).encode()).hexdigest()
        == "289bca45f3dd4d6405fde785d87beb392364b31e7928e4db53a2bc9eaf99431c"
    )
    assert rows != generate(1)
    assert NOW == WORKBOOK_NOW


def test_everybody_has_a_name_of_their_own_and_everything_an_owner(real):
    for tenant in real.tenants:
        people = {person["username"]: person for person in real.dump("employees", tenant)}
        assert len(people) == VOLUMES[tenant].employees
        assert all(name.isascii() and name.islower() for name in people)
        owners = {
            row["owner"]
            for table in ("customers", "deals", "tasks")
            for row in real.dump(table, tenant)
        }
        assert owners <= set(people)


def test_the_company_opens_quickly():
    started = time.process_time()  # the machine may be busy with other tests
    CrmStore.open().close()
    assert time.process_time() - started < 3  # about 0.6 s; a statement per row takes twenty
