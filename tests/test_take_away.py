"""The tool of notebook 06 that a reader takes away in one cell: it gives what the package's tools
give, and no mistake of a model breaks it.
"""

import json
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inline import tagged
from makers import maker
from stores import refilled
from toolresults.results.cursor import RESTART
from toolresults.results.payload import CEILING
from toolresults.results.redact import redact
from toolresults.tokens import count_tokens, to_json
from workbook.bench.techniques import workbook_tools
from workbook.examples.orders.data import plain_order
from workbook.examples.orders.store import STATUSES, OrderStore

SECRET = maker("orders").SECRET


(SOURCE,) = tagged("06", "take-away")
TAKEN: dict = {}  # nothing from the notebook: the cell must run wherever it is pasted
exec(SOURCE, TAKEN)

REFUSED = {"error": RESTART}
TEN = [plain_order(number, status="paid") for number in range(1, 11)]
ORDERS = st.builds(
    lambda number, minute, cents, note, status: plain_order(
        number,
        placed_at=datetime(2026, 7, 1) + timedelta(minutes=minute),
        amount=None if cents is None else Decimal(cents).scaleb(-2),
        note=redact(note) if note else None,
        status=status,
    ),
    st.integers(1, 999_999),
    st.integers(0, 6),  # many ties
    st.none() | st.integers(500, 50_000),
    st.none() | st.text(st.characters(categories=["L", "Zs", "P"]), max_size=400),
    st.sampled_from(STATUSES),
)
ACCOUNTS = st.lists(ORDERS, max_size=60, unique_by=lambda order: order["order_id"])
FORMATS = st.sampled_from(["concise", "detailed"])


def taken(rows=TEN, budget=500, *, caller="ana", clock=lambda: 0, key=b"key"):
    """The tools on an account: `call(name, arguments)` gives the result, whose text is checked."""
    host = {"key": key, "caller": caller, "budget": budget, "count": count_tokens, "clock": clock}
    tools = TAKEN["order_tools"](json.loads(to_json(rows)), **host)

    def call(tool, arguments) -> dict:
        text = tools(tool, arguments)
        text.encode()  # it can be sent: no lone surrogate
        assert count_tokens(text) <= budget  # an error too
        return json.loads(text)

    return call


def search(call, **arguments) -> dict:
    return call("search_orders", arguments)


def walk(search, formats, **arguments) -> list[dict]:
    """All rows, by following the cursors, in formats that change from page to page."""
    rows, cursor, turn = [], None, 0
    while cursor is not None or not turn:
        view = formats[turn % len(formats)]
        result = search({**arguments, "cursor": cursor, "response_format": view})
        assert result["shown"] == len(result["items"])
        assert result["items"] or not result["total_matches"]
        rows += result["items"]
        cursor, turn = result["next_cursor"], turn + 1
        assert (cursor is None) == (len(rows) == result["total_matches"])
    return rows


@settings(max_examples=30)
@given(
    ACCOUNTS,
    st.none() | st.sampled_from(STATUSES),
    st.none() | st.integers(0, 300),
    st.integers(-5, 90),
    st.integers(600, 3000),
    FORMATS,
)
def test_it_finds_the_rows_of_the_package_in_the_same_order(
    account, status, least, limit, budget, view
):
    if status not in {row["status"] for row in account}:
        status = None  # it knows only the statuses that it has seen
    asked = {"status": status, "min_amount": least, "limit": limit}
    package, call = workbook_tools(refilled(account), budget=budget), taken(account, budget)
    theirs = walk(lambda a: json.loads(package["search_orders"].call(a).text), [view], **asked)
    assert walk(lambda a: call("search_orders", a), [view], **asked) == theirs


@settings(max_examples=40)
@given(ACCOUNTS, st.integers(320, 700), st.lists(FORMATS, min_size=1, max_size=3))
def test_no_result_is_over_its_budget_and_every_row_is_reached(account, budget, formats):
    call = taken(account, budget)
    rows = walk(lambda a: call("search_orders", a), formats)
    newest = sorted(account, key=lambda row: (row["placed_at"], row["order_id"]), reverse=True)
    assert [row["status"] for row in rows] == [row["status"] for row in newest]


@given(st.data())
def test_a_cursor_that_was_tampered_with_is_refused_with_the_one_error(data):
    call = taken()
    cursor = search(call, limit=3)["next_cursor"]
    place, drop = data.draw(st.integers(0, len(cursor))), data.draw(st.integers(0, 2))
    changed = cursor[:place] + data.draw(st.text(max_size=2)) + cursor[place + drop :]
    if changed != cursor:
        assert search(call, limit=3, cursor=changed) == REFUSED


def test_a_cursor_is_good_for_its_query_its_caller_and_an_hour_only():
    cursor = search(taken(), limit=3)["next_cursor"]
    assert search(taken(), cursor=cursor, response_format="detailed")["shown"] > 1
    assert search(taken(clock=lambda: 3600), cursor=cursor)["shown"] == 7
    for other in ({"clock": lambda: 3601}, {"caller": "ben"}, {"key": b"other"}):
        assert search(taken(**other), cursor=cursor) == REFUSED
    assert search(taken(), cursor=cursor, status="paid") == REFUSED
    for odd in ("", "~~~", "\ud800", "k" * 20_000):
        assert search(taken(), cursor=odd) == REFUSED


TAKES = "this tool takes "
NO_REF = "Use a payload_ref"
MISTAKES = [
    ("search_orders", {"k" * 20_000: 1}, TAKES),
    ("search_orders", {"\ud800": 1}, TAKES),
    ("search_orders", {"include_raw": None}, TAKES),
    ("search_orders", {"page": 2}, "page"),
    ("search_orders", {"limit": "abc"}, "limit (integer)"),
    ("search_orders", {"limit": 2.5}, "limit (integer)"),
    ("search_orders", {"limit": True}, "limit (integer)"),
    ("search_orders", {"min_amount": "5"}, "min_amount (number)"),
    ("search_orders", {"min_amount": True}, "min_amount (number)"),
    ("search_orders", {"cursor": 7}, "cursor (text)"),
    ("search_orders", {"cursor": ["a"]}, "cursor (text)"),
    ("search_orders", {"status": {}}, "status (text)"),
    ("search_orders", {"status": "lost"}, "status: use paid"),
    ("search_orders", {"response_format": "full"}, "response_format: use concise, detailed"),
    ("get_order_payload", {"payload_ref": [1]}, "payload_ref (text)"),
    ("get_order_payload", {"payload_ref": 5}, "payload_ref"),
    ("get_order_payload", {"payload_ref": "pay_000001", "offset": "0"}, "offset (integer)"),
    ("get_order_payload", {"payload_ref": "pay_000001", "offset": -1}, "payload_ref"),
    ("get_order_payload", {"payload_ref": "pay_000001", "offset": 10**400}, "an offset of 0"),
    ("get_order_payload", {}, NO_REF),
    ("get_order_payload", {"payload_ref": None}, NO_REF),
    ("get_order_payload", {"payload_ref": "pay_999999"}, NO_REF),
    ("get_order_payload", {"payload_ref": "../orders.parquet"}, NO_REF),
    ("nope", {}, "Use search_orders or get_order_payload"),
    (["search_orders"], {}, "Use search_orders or get_order_payload"),
    (None, {}, "Use search_orders or get_order_payload"),
    *(("search_orders", odd, "one JSON object") for odd in (None, 5, "{}", [], ["limit"], True)),
]


@pytest.mark.parametrize(("tool", "arguments", "told"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_is_a_short_error_that_says_what_to_use(tool, arguments, told):
    error = taken()(tool, arguments)["error"]
    assert told in error and len(error) <= 200
    assert "refunded" not in error  # no order here has that status


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=9), inner, max_size=2)
    ),
    max_leaves=4,
)
NAMES = "status min_amount limit cursor response_format payload_ref offset max_chars".split()
STARTS = ("Use search_orders", NO_REF, "response_format: use", "This cursor is not valid here.")


@given(
    st.sampled_from(["search_orders", "get_order_payload"]) | ANY_JSON,
    st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=9), ANY_JSON, max_size=4) | ANY_JSON,
)
def test_nothing_that_a_model_sends_raises_or_shows_python(tool, arguments):
    error = taken()(tool, arguments).get("error", "")
    assert len(error) <= 200 and (not error or error.startswith(STARTS) or TAKES in error)


def test_a_budget_that_cannot_be_kept_is_the_hosts_mistake():
    with pytest.raises(RuntimeError, match="budget of 20 tokens"):
        search(taken(budget=20))


def test_every_status_named_in_an_error_is_cut_with_it():
    many = [plain_order(number, status="s" * number) for number in range(1, 60)]
    assert len(search(taken(many), status="lost")["error"]) == 200


def test_null_is_left_out_and_an_unknown_amount_meets_no_bound():
    call = taken([*TEN, plain_order(11, status="paid", amount=None)])
    left_out = search(call, **dict.fromkeys(NAMES[:5]))
    assert left_out == search(call) and left_out["total_matches"] == 11
    assert search(call, min_amount=0)["total_matches"] == 10


def read_all(call, ref: str, size: int) -> str:
    offset, texts = 0, []
    while offset is not None:
        asked = {"payload_ref": ref, "offset": offset, "max_chars": size}
        result = call("get_order_payload", asked)
        assert result["offset"] == offset and len(result["text"]) <= max(1, min(size, CEILING))
        assert result["truncated"] == (result["next_offset"] is not None)
        texts.append(result["text"])
        offset = result["next_offset"]
    assert len("".join(texts)) == result["total_chars"]
    return "".join(texts)


@given(st.text(max_size=300).filter(lambda text: redact(text) == text), st.integers(-5, 120))
def test_windows_give_back_the_whole_text(text, size):
    call = taken([plain_order(1, raw_payload=text)], 400)
    assert read_all(call, "pay_000001", size) == json.loads(to_json(text))


def test_the_whole_account_comes_out_without_a_secret_and_in_the_packages_order():
    detailed = {"limit": 50, "response_format": "detailed"}
    with OrderStore.open() as store:
        account = store.page(limit=600)
        package = workbook_tools(store)["search_orders"]
        expected, cursor = [], None
        for _ in range(5):
            page = json.loads(package.call({**detailed, "cursor": cursor}).text)
            expected, cursor = expected + page["items"], page["next_cursor"]
    call = taken(account, 25_000)
    ours = walk(lambda a: call("search_orders", a), ["detailed"], limit=50)
    same = [a == b for a, b in zip(ours, expected, strict=False)]
    assert [row["order_id"] for row in ours[:250]] == [row["order_id"] for row in expected]
    # the package cleans two of them: one has terminal colours, one has control characters
    assert sum(same) >= 248
    for row in account[:40]:
        assert SECRET.search(row["raw_payload"])
        assert not SECRET.search(read_all(call, row["order_id"].replace("ord", "pay"), CEILING))


def test_it_is_short_and_needs_the_standard_library_only():
    assert len(SOURCE.splitlines()) <= 125
    assert "toolresults" not in SOURCE
