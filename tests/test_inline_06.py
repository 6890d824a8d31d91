"""What notebook 06 writes from scratch agrees with the package: the window, and the tool of the
take-away cell.
"""

import json
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stores import refilled
from toolresults.results.cursor import RESTART
from toolresults.results.payload import CEILING, window
from toolresults.results.redact import redact
from toolresults.tokens import count_tokens, to_json
from workbook.bench.headline import headline_steps
from workbook.bench.techniques import workbook_tools
from workbook.checks import n06
from workbook.examples.orders.data import plain_order
from workbook.examples.orders.gateway import SECRET
from workbook.examples.orders.store import STATUSES, OrderStore
from workbook.runner import read

NOTEBOOK = read(Path(__file__).resolve().parents[1] / "notebooks" / "06_payload_refs.ipynb")


def cells(tag: str) -> list[str]:
    return [cell.source for cell in NOTEBOOK.cells if tag in cell.metadata.get("tags", [])]


INLINE: dict = {"redact": redact}
for source in cells("inline"):
    exec(source, INLINE)
TAKEN: dict = {}  # nothing from the notebook: the cell must run wherever it is pasted
(source,) = cells("take-away")
exec(source, TAKEN)

NOTES = st.none() | st.text(st.characters(categories=["L", "Zs", "P"]), max_size=400)
ORDERS = st.builds(
    lambda number, minute, amount, note, status: plain_order(
        number,
        placed_at=datetime(2026, 7, 1) + timedelta(minutes=minute),
        amount=amount,
        note=redact(note) if note else None,
        status=status,
    ),
    st.integers(1, 999_999),
    st.integers(0, 6),  # many ties
    st.none() | st.integers(500, 50_000).map(lambda cents: Decimal(cents).scaleb(-2)),
    NOTES,
    st.sampled_from(STATUSES),
)
ACCOUNTS = st.lists(ORDERS, max_size=60, unique_by=lambda order: order["order_id"])
FORMATS = st.sampled_from(["concise", "detailed"])


def taken(rows: list[dict], budget: int, caller: str = "ana", clock=lambda: 0, key: bytes = b"key"):
    plain = json.loads(to_json(rows))
    tools = TAKEN["order_tools"](
        plain, key=key, caller=caller, budget=budget, count=count_tokens, clock=clock
    )

    def call(tool: str, **arguments) -> dict:
        text = tools(tool, arguments)
        result = json.loads(text)
        assert count_tokens(text) <= budget  # an error too
        return result

    return call


def walk(call, formats, **arguments) -> list[dict]:
    """All rows, by following the cursors, in formats that change from page to page."""
    rows, cursor, turn = [], None, 0
    while cursor is not None or not turn:
        result = call(cursor=cursor, response_format=formats[turn % len(formats)], **arguments)
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
def test_the_taken_tool_finds_the_same_rows_in_the_same_order(
    account, status, least, limit, budget, view
):
    if status not in {row["status"] for row in account}:
        status = None  # the taken tool knows only the statuses that it has seen
    package = workbook_tools(refilled(account), budget=budget)["search_orders"]
    asked = {"status": status, "min_amount": least, "limit": limit}
    theirs = walk(lambda **a: json.loads(package.call(a).text), [view], **asked)
    call = taken(account, budget)
    ours = walk(lambda **a: call("search_orders", **a), [view], **asked)
    assert ours == theirs


@settings(max_examples=40)
@given(ACCOUNTS, st.integers(320, 700), st.lists(FORMATS, min_size=1, max_size=3))
def test_no_result_of_the_taken_tool_is_over_its_budget_and_every_row_is_reached(
    account, budget, formats
):
    call = taken(account, budget)
    rows = walk(lambda **a: call("search_orders", **a), formats)
    newest_first = sorted(
        account, key=lambda row: (row["placed_at"], row["order_id"]), reverse=True
    )
    assert [row["status"] for row in rows] == [row["status"] for row in newest_first]


TEN = [plain_order(number, status="paid") for number in range(1, 11)]


@given(st.data())
def test_a_cursor_that_was_tampered_with_is_refused_with_the_one_error(data):
    call = taken(TEN, 500)
    cursor = call("search_orders", limit=3)["next_cursor"]
    place = data.draw(st.integers(0, len(cursor)))
    changed = (
        cursor[:place]
        + data.draw(st.text(max_size=2))
        + cursor[place + data.draw(st.integers(0, 2)) :]
    )
    if changed != cursor:
        assert call("search_orders", limit=3, cursor=changed) == {"error": RESTART}


def test_a_cursor_is_good_for_its_query_its_caller_and_an_hour_only():
    cursor = taken(TEN, 500)("search_orders", limit=3)["next_cursor"]
    assert taken(TEN, 500)("search_orders", cursor=cursor, response_format="detailed")["shown"] > 1
    assert taken(TEN, 500, clock=lambda: 3600)("search_orders", cursor=cursor)["shown"] == 7
    refused = {"error": RESTART}
    assert taken(TEN, 500, clock=lambda: 3601)("search_orders", cursor=cursor) == refused
    assert taken(TEN, 500, caller="ben")("search_orders", cursor=cursor) == refused
    assert taken(TEN, 500, key=b"other")("search_orders", cursor=cursor) == refused
    assert taken(TEN, 500)("search_orders", cursor=cursor, status="paid") == refused
    for odd in ("", "~~~", "\ud800", "k" * 20_000):
        assert taken(TEN, 500)("search_orders", cursor=odd) == refused


def test_what_a_model_gets_wrong_is_an_error_result_and_a_host_an_exception():
    call = taken(TEN, 500)
    assert (
        "refunded" not in call("search_orders", status="lost")["error"]
    )  # no order here has that status
    assert "status: use paid" in call("search_orders", status="lost")["error"]
    assert "response_format" in call("search_orders", response_format="full")["error"]
    assert "page" in call("search_orders", page=2)["error"]
    for bad in (
        {"payload_ref": "pay_999999"},
        {"payload_ref": "pay_000001", "offset": -1},
        {"payload_ref": 5},
    ):
        assert "payload_ref" in call("get_order_payload", **bad)["error"]
    with pytest.raises(RuntimeError, match="budget of 20 tokens"):
        taken(TEN, 20)("search_orders")


TAKES = "this tool takes "
MISTAKES = [
    ("search_orders", {"k" * 20_000: 1}, TAKES),
    ("search_orders", {"\ud800": 1}, TAKES),
    ("search_orders", {"include_raw": None}, TAKES),
    ("search_orders", {"limit": "abc"}, "limit (integer)"),
    ("search_orders", {"limit": 2.5}, "limit (integer)"),
    ("search_orders", {"limit": True}, "limit (integer)"),
    ("search_orders", {"min_amount": "5"}, "min_amount (number)"),
    ("search_orders", {"min_amount": True}, "min_amount (number)"),
    ("search_orders", {"cursor": 7}, "cursor (text)"),
    ("search_orders", {"cursor": ["a"]}, "cursor (text)"),
    ("search_orders", {"status": {}}, "status (text)"),
    ("search_orders", {"response_format": "full"}, "response_format: use concise, detailed"),
    ("get_order_payload", {"payload_ref": [1]}, "payload_ref (text)"),
    ("get_order_payload", {"payload_ref": "pay_000001", "offset": "0"}, "offset (integer)"),
    ("get_order_payload", {}, "Use a payload_ref"),
    ("get_order_payload", {"payload_ref": None}, "Use a payload_ref"),
    ("get_order_payload", {"payload_ref": "../orders.parquet"}, "Use a payload_ref"),
    ("get_order_payload", {"payload_ref": "pay_000001", "offset": 10**400}, "an offset of 0"),
    ("nope", {}, "Use search_orders or get_order_payload"),
    (["search_orders"], {}, "Use search_orders or get_order_payload"),
    (None, {}, "Use search_orders or get_order_payload"),
    *(("search_orders", odd, "one JSON object") for odd in (None, 5, "{}", [], ["limit"], True)),
]


def error_of(tool, arguments, budget=500) -> str:
    text = TAKEN["order_tools"](
        json.loads(to_json(TEN)),
        key=b"key",
        caller="ana",
        budget=budget,
        count=count_tokens,
        clock=lambda: 0,
    )(tool, arguments)
    text.encode()  # it can be sent: no lone surrogate
    assert count_tokens(text) <= budget
    return json.loads(text).get("error", "")


@pytest.mark.parametrize(("tool", "arguments", "told"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_is_a_short_error_that_says_what_to_use(tool, arguments, told):
    error = error_of(tool, arguments)
    assert told in error and len(error) <= 200


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=9), inner, max_size=2)
    ),
    max_leaves=4,
)
NAMES = [
    "status",
    "min_amount",
    "limit",
    "cursor",
    "response_format",
    "payload_ref",
    "offset",
    "max_chars",
]


@given(
    st.sampled_from(["search_orders", "get_order_payload"]) | ANY_JSON,
    st.dictionaries(st.sampled_from(NAMES) | st.text(max_size=9), ANY_JSON, max_size=4) | ANY_JSON,
)
def test_nothing_that_a_model_sends_raises_or_shows_python(tool, arguments):
    error = error_of(tool, arguments)
    starts = (
        "Use search_orders",
        "Use a payload_ref",
        "response_format: use",
        "This cursor is not valid here.",
    )
    assert len(error) <= 200 and (not error or error.startswith(starts) or TAKES in error)


def test_every_status_named_in_an_error_is_cut_with_it():
    many = [plain_order(number, status="s" * number) for number in range(1, 60)]
    assert len(taken(many, 500)("search_orders", status="lost")["error"]) == 200


def test_null_is_left_out_and_an_unknown_amount_meets_no_bound():
    call = taken([*TEN, plain_order(11, status="paid", amount=None)], 500)
    left_out = call(
        "search_orders", limit=None, status=None, min_amount=None, response_format=None, cursor=None
    )
    assert left_out == call("search_orders") and left_out["total_matches"] == 11
    assert call("search_orders", min_amount=0)["total_matches"] == 10


def read_all(get, ref: str, size: int) -> str:
    offset, texts = 0, []
    while offset is not None:
        result = get(payload_ref=ref, offset=offset, max_chars=size)
        assert result["offset"] == offset and len(result["text"]) <= max(1, min(size, CEILING))
        assert result["truncated"] == (result["next_offset"] is not None)
        texts.append(result["text"])
        offset = result["next_offset"]
    assert len("".join(texts)) == result["total_chars"]
    return "".join(texts)


@given(st.text(max_size=300).filter(lambda text: redact(text) == text), st.integers(-5, 120))
def test_windows_from_scratch_give_back_the_text_of_the_package(text, size):
    account = [plain_order(1, raw_payload=text)]
    assert read_all(
        lambda **a: taken(account, 400)("get_order_payload", **a), "pay_000001", size
    ) == repaired(text)
    with_window = [INLINE["window"](repaired(text), i, size) for i in (0, len(text) // 2)]
    for ours, offset in zip(with_window, (0, len(text) // 2), strict=True):
        if offset < max(len(text), 1):
            theirs = json.loads(window(text, ref="p", offset=offset, max_chars=size))
            assert ours == {name: theirs[name] for name in ours}


def repaired(text: str) -> str:
    return json.loads(to_json(text))


def test_the_whole_account_comes_out_without_a_secret_and_in_the_packages_order():
    with OrderStore.open() as store:
        account = store.page(limit=600)
        package = workbook_tools(store)["search_orders"]
        theirs = [json.loads(package.call({"limit": 50, "response_format": "detailed"}).text)]
        while len(theirs) < 5:
            cursor = theirs[-1]["next_cursor"]
            theirs.append(
                json.loads(
                    package.call(
                        {"limit": 50, "response_format": "detailed", "cursor": cursor}
                    ).text
                )
            )
    call = taken(account, 25_000)
    ours = walk(lambda **a: call("search_orders", **a), ["detailed"], limit=50)
    expected = [row for result in theirs for row in result["items"]]
    same = [a == b for a, b in zip(ours, expected, strict=False)]
    assert [row["order_id"] for row in ours[:250]] == [row["order_id"] for row in expected]
    assert (
        sum(same) >= 248
    )  # the one with terminal colours and one with control characters are cleaned by the package
    for row in account[:40]:
        ref = row["order_id"].replace("ord", "pay")
        assert SECRET.search(row["raw_payload"])
        assert not SECRET.search(read_all(lambda **a: call("get_order_payload", **a), ref, CEILING))


def test_the_headline_of_the_notebook_is_that_of_the_table():
    with OrderStore.open() as store:
        last = list(islice(headline_steps(store), 6))[-1]
    assert f"{last.exact} tokens" in NOTEBOOK.cells[0].source


def test_the_taken_tool_is_short_and_needs_the_standard_library_only():
    assert len(source.splitlines()) <= 125
    assert "toolresults" not in source


@pytest.mark.parametrize(
    ("exercise", "answer", "said"),
    [
        (n06.exercise_1, {"html_body", "screenshot"}, "Correct"),
        (n06.exercise_1, ["screenshot", "html_body"], "Correct"),
        (n06.exercise_1, {"html_body", "screenshot", "subject"}, "Not yet"),
        (n06.exercise_1, "html_body", "Not yet"),
        (n06.exercise_2, ["redact", "cut", "encode", "count"], "Correct"),
        (n06.exercise_2, ["cut", "redact", "encode", "count"], "Not yet: a secret"),
        (n06.exercise_2, ["redact", "encode", "cut", "count"], "Not yet: cut before"),
        (n06.exercise_2, ["redact", "cut", "count", "encode"], "Not yet: count what"),
        (n06.exercise_2, ["redact", "cut"], "Not yet"),
        (n06.exercise_3, (12, 6.5), "Correct"),
        (n06.exercise_3, [12, 6], "Correct"),
        (n06.exercise_3, [11, 6], "Not yet"),
        (n06.exercise_3, [12, 12], "Not yet"),
        (n06.exercise_3, 12, "Not yet"),
    ],
)
def test_an_answer_is_judged(exercise, answer, said, capsys):
    exercise(answer)
    assert capsys.readouterr().out.startswith(said)
