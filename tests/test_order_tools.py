"""`search_orders` and `get_order_payload`: the contract of a tool result, on any account (cases 7
to 13).
"""

import json
import re
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apis import OPENAI_CHAT
from makers import maker
from stores import refilled
from toolresults.results.budget import CUT, BudgetError
from toolresults.results.cursor import RESTART
from toolresults.results.redact import redact
from toolresults.tokens import count_tokens, to_json
from workbook.examples.orders.store import REGIONS, STATUSES, OrderFilter, OrderStore
from workbook.examples.orders.tools import LEAST_BUDGET, MAX_LIMIT, order_tools

SECRET = maker("orders").SECRET

NOW = 1_782_907_200
DAY = datetime(2026, 6, 1)
words = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
scripts = st.sampled_from(
    [
        "Nguyễn Thị Bích Ngọc " * 9,
        "株式会社日本語テスト" * 20,
        "😀👩‍👩‍👧‍👦" * 30,
        "ꙮ𒀀𓀀" * 60,
        '\\"' * 99,
        "a" * 3000,
    ]
)


@st.composite
def accounts(draw, most=30):
    """Orders with many ties, in any script, some without amount or note."""
    row = st.tuples(
        words | scripts,
        st.sampled_from(STATUSES),
        st.sampled_from(REGIONS),
        st.none() | st.integers(0, 10**9).map(lambda cents: Decimal(cents) / 100),
        st.integers(0, 5).map(lambda minutes: DAY + timedelta(minutes=minutes)),
        st.none() | words | scripts,
    )
    return [order(i, *values) for i, values in enumerate(draw(st.lists(row, max_size=most)))]


def order(
    i, customer="Ana Lê", status="paid", region="north", amount=Decimal("5.00"), at=DAY, note=None
):
    return {
        "order_id": f"ord_{i:06d}",
        "customer": customer,
        "email": "a@example.org",
        "address": "1 Street",
        "status": status,
        "region": region,
        "amount": amount,
        "placed_at": at,
        "note": note,
        "raw_payload": json.dumps({"card_token": "tok_live_0123456789", "lines": list(range(i))}),
    }


def tools_for(store, **options):
    return order_tools(store, **{"keys": ["k"], "caller": "ana", "clock": lambda: NOW, **options})


def search(store, arguments, **options):
    return tools_for(store, **options)["search_orders"].call(arguments)


filters = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(STATUSES),
        "region": st.sampled_from(REGIONS),
        "min_amount": st.integers(0, 10**7),
        "placed_after": st.sampled_from(["2026-06-01", "2026-06-01T00:02:00Z"]),
        "placed_before": st.sampled_from(["2026-06-02", "2026-06-01T00:04:00Z"]),
    },
)


def matching(rows, arguments):
    """The rows that the arguments mean, by plain Python, newest first."""
    times = {
        name: datetime.fromisoformat(arguments[name].rstrip("Z"))
        for name in arguments
        if "placed" in name
    }
    wanted = [
        row
        for row in rows
        if row["status"] == arguments.get("status", row["status"])
        and row["region"] == arguments.get("region", row["region"])
        and (
            "min_amount" not in arguments
            or (row["amount"] is not None and row["amount"] >= arguments["min_amount"])
        )
        and times.get("placed_after", row["placed_at"]) <= row["placed_at"]
        and ("placed_before" not in times or row["placed_at"] < times["placed_before"])
    ]
    return sorted(wanted, key=lambda row: (row["placed_at"], row["order_id"]), reverse=True)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(accounts(), filters, st.data())
def test_every_row_that_stays_is_seen_exactly_once(rows, arguments, data):
    """Limits, budgets (down to the least) and formats change from page to page, rows come and go:
    no repeat, no skip, no empty page, never over budget, and a note exactly where something was cut
    or changed.
    """
    store = refilled(rows)
    seen, cursor, gone, came = [], None, set(), []
    while True:
        format = data.draw(st.sampled_from(["concise", "detailed"]))
        least = LEAST_BUDGET[format]
        budget = data.draw(st.just(least) | st.integers(least, 1500))
        limit = data.draw(st.integers(-1, 12) | st.just(5000))
        allowed = min(max(limit, 1), MAX_LIMIT)
        asked = {**arguments, "limit": limit, "cursor": cursor, "response_format": format}
        result = search(store, asked, budget=budget, formats=[format])
        assert not result.is_error
        assert count_tokens(result.text) <= budget
        page = json.loads(result.text)
        assert page["shown"] == len(page["items"]) <= allowed
        present = matching([row for row in rows if row["order_id"] not in gone] + came, arguments)
        assert page["total_matches"] == len(present)
        left = matching_after(present, last(seen))
        assert bool(page["items"]) == bool(left)
        said = page.get("note", "")
        assert ("budget cut" in said) == (page["shown"] < min(allowed, len(left)))
        assert said.startswith("limit ") == (limit != allowed)
        assert bool(said) == (said.startswith("limit ") or "budget cut" in said or CUT in said)
        left, beyond = left[: page["shown"]], left[page["shown"] :]
        assert [item["amount"] for item in page["items"]] == [amount(row) for row in left]
        seen += left
        cursor = page["next_cursor"]
        assert (cursor is None) == (not beyond)
        if cursor is None:
            break
        if rows and data.draw(st.booleans()):
            victim = data.draw(st.sampled_from(rows))["order_id"]
            store.delete([victim])
            gone.add(victim)
        if data.draw(st.booleans()):
            minutes = timedelta(minutes=data.draw(st.integers(0, 6)))
            came.append(order(900_000 + len(came), at=DAY + minutes))
            store.insert([came[-1]])
    ids = [row["order_id"] for row in seen]
    assert len(ids) == len(set(ids))
    stayed = {row["order_id"] for row in matching(rows, arguments)} - gone
    assert stayed <= set(ids)


def last(seen):
    return (seen[-1]["placed_at"], seen[-1]["order_id"]) if seen else None


def matching_after(rows, key):
    return [row for row in rows if key is None or (row["placed_at"], row["order_id"]) < key]


def amount(row):
    return None if row["amount"] is None else float(row["amount"])


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(
    accounts(), st.sampled_from(["concise", "detailed"]), st.integers(0, 1500), st.integers(1, 30)
)
def test_no_row_that_would_have_fitted_is_left_out(rows, format, spare, limit):
    """Every larger page, put together by hand from roomy results and the note's own words, is over
    the budget.
    """
    budget = LEAST_BUDGET[format] + spare
    asked = {"response_format": format}
    store = refilled(rows)
    page = json.loads(
        search(store, {**asked, "limit": limit}, budget=budget, formats=[format]).text
    )
    allowed = min(limit, len(rows))
    for n in range(page["shown"] + 1, allowed + 1):
        roomy = json.loads(search(store, {**asked, "limit": n}, formats=[format]).text)
        cursor = roomy.pop("next_cursor")
        if n < allowed:
            roomy["note"] = re.sub(r"to \d+\.", f"to {n}.", page["note"]).removeprefix(
                "Text cut to fit. "
            )
        assert count_tokens(to_json({**roomy, "next_cursor": cursor})) > budget


@pytest.fixture(scope="module")
def real():
    with OrderStore.open() as store:
        yield store


def test_a_budget_of_200_reaches_every_refunded_order_of_a_fortnight_once(real):
    """A page holds about one order: all that were ever refunded take a minute."""
    fortnight = OrderFilter(status="refunded", placed_after=datetime(2026, 6, 17))
    expected = [row["order_id"] for row in real.page(fortnight, limit=10_000, columns=["order_id"])]
    assert len(expected) > 100
    asked = {"status": "refunded", "placed_after": "2026-06-17", "response_format": "detailed"}
    seen, cursor = [], None
    tool = tools_for(real, budget=200)["search_orders"]
    while True:
        text = tool.call({**asked, "cursor": cursor}).text
        page = json.loads(text)
        assert count_tokens(text) <= 200
        assert page["total_matches"] == len(expected)
        seen += [item["order_id"] for item in page["items"]]
        if not (cursor := page["next_cursor"]):
            break
        assert "note" in page
    assert seen == expected


def test_concise_and_detailed_hold_their_fields_and_never_the_payload(real):
    concise = json.loads(search(real, {}).text)["items"][0]
    detailed = json.loads(search(real, {"response_format": "detailed"}).text)["items"][0]
    assert list(concise) == ["customer", "status", "amount"]
    shown = [name for name in detailed if name != "note_ref"]
    assert shown == [
        "customer",
        "status",
        "amount",
        "region",
        "placed_at",
        "order_id",
        "note",
        "payload_ref",
    ]


def test_no_secret_of_any_payload_reaches_a_model(real):
    tool = tools_for(real)["get_order_payload"]
    for row in real.page(limit=400, columns=["order_id", "raw_payload"]):
        assert SECRET.search(row["raw_payload"])
        offset, whole = 0, ""
        while offset is not None:
            asked = {"payload_ref": row["order_id"].replace("ord", "pay"), "max_chars": 8000}
            page = json.loads(tool.call({**asked, "offset": offset}).text)
            whole, offset = whole + page["text"], page["next_offset"]
        assert whole == redact(row["raw_payload"])
        assert "[redacted]" in whole and not SECRET.search(whole)
        json.loads(whole)


@pytest.mark.parametrize("offset", [-1, 10**9])
def test_an_offset_outside_is_told_with_those_that_exist(real, offset):
    called = {"payload_ref": "pay_000123", "offset": offset}
    result = tools_for(real)["get_order_payload"].call(called)
    assert result.is_error
    assert json.loads(result.text)["error"].startswith(f"offset {offset} is outside this payload")


@pytest.mark.parametrize("before", [0, 150, 185, 190, 195])
def test_a_secret_in_a_note_is_gone_before_the_note_is_cut(before):
    with OrderStore(
        [order(1, note="x" * before + " tok_live_0123456789abcdef " + "y" * 300)]
    ) as store:
        text = search(store, {"response_format": "detailed"}).text
    assert "tok" not in text


def test_a_long_note_is_cut_with_a_ref_that_gives_it_back():
    note = "Ghi chú dài. " * 400
    with OrderStore([order(1, note=note)]) as store:
        item = json.loads(search(store, {"response_format": "detailed"}).text)["items"][0]
        assert item["note"].endswith("…") and len(item["note"]) <= 200
        window = tools_for(store)["get_order_payload"].call(
            {"payload_ref": item["note_ref"], "max_chars": 8000}
        )
    assert json.loads(window.text)["text"] == note


@pytest.mark.parametrize(
    "change",
    [{"status": "paid"}, {"min_amount": 1}, {"placed_after": "2026-01-01"}, {"caller": "eve"}],
    ids=str,
)
def test_a_cursor_of_another_filter_or_caller_is_refused(real, change):
    host = {name: change[name] for name in change if name == "caller"}
    asked = {name: change[name] for name in change if name not in host}
    cursor = json.loads(search(real, {}).text)["next_cursor"]
    result = search(real, {"cursor": cursor, **asked}, **host)
    assert result.is_error and json.loads(result.text) == {"error": RESTART}


@pytest.mark.parametrize(
    "cursor",
    ["", "x", 3, [], True, {"a": 1}, "\ud83d", "1:~ord_000001.aYAOgA.AAAAAAAAAAAAAAAAAAAAAA"],
)
def test_any_other_cursor_gets_the_one_error(real, cursor):
    assert search(real, {"cursor": cursor}).text == to_json({"error": RESTART})


def test_filters_that_mean_the_same_share_a_cursor(real):
    cursor = json.loads(search(real, {"min_amount": 100, "placed_after": "2026-01-01"}).text)[
        "next_cursor"
    ]
    same = {"min_amount": "100.00", "placed_after": "2026-01-01T02:00:00+02:00", "cursor": cursor}
    assert not search(real, same).is_error


def test_ranges_that_are_empty_by_mistake_are_an_error(real):
    for after in ("2026-02-01", "2026-01-01"):
        result = search(real, {"placed_after": after, "placed_before": "2026-01-01"})
        told = "placed_after must be earlier than placed_before."
        assert json.loads(result.text) == {"error": told}


@pytest.mark.parametrize(
    ("format", "budget"), [("concise", 119), ("detailed", 199), ("detailed", 0)]
)
def test_a_budget_under_the_least_is_the_hosts_mistake(real, format, budget):
    with pytest.raises(
        BudgetError, match=f"{format} results need a budget of {LEAST_BUDGET[format]} tokens"
    ):
        tools_for(real, budget=budget, formats=[format])


@pytest.mark.parametrize(
    "ref",
    [
        "",
        "pay_",
        "pay_999999",
        "ord_000123",
        "pay_000123 ",
        "pay_٣",
        "../pay_000123",
        "pay_" + "1" * 99,
    ],
)
def test_a_ref_that_was_made_up_is_refused(real, ref):
    result = tools_for(real)["get_order_payload"].call({"payload_ref": ref})
    assert result.is_error and "Use a payload_ref or note_ref" in json.loads(result.text)["error"]


def test_the_host_holds_keys_caller_budget_and_clock(real):
    definitions = to_json([OPENAI_CHAT.definition(tool) for tool in tools_for(real).values()])
    assert not re.search("caller|budget|clock|secret|key", definitions)
