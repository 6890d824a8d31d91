"""What notebook 03 writes from scratch agrees with the package."""

import base64
import hashlib
import hmac
import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolresults.results.budget import clamp
from toolresults.results.cursor import RESTART, CursorError, Cursors
from workbook.bench.headline import headline_steps
from workbook.checks import n03
from workbook.examples.orders.data import plain_order
from workbook.examples.orders.store import OrderStore
from workbook.runner import read

NOTEBOOK = read(Path(__file__).resolve().parents[1] / "notebooks" / "03_capped_cursors.ipynb")
INLINE = {"base64": base64, "hashlib": hashlib, "hmac": hmac, "json": json}
for cell in NOTEBOOK.cells:
    if "inline" in cell.metadata.get("tags", []):
        exec(cell.source, INLINE)

CURSORS = Cursors(["key"], clock=lambda: 0)
POSITIONS = st.tuples(st.integers(0, 2**40), st.from_regex(r"ord_[0-9]{6}", fullmatch=True))
BINDINGS = st.fixed_dictionaries(
    {"tool": st.sampled_from("ab"), "status": st.sampled_from(["paid", None])}
)
KEY_COLUMNS = ["placed_at", "order_id"]
STORE = OrderStore(
    plain_order(n, placed_at=datetime(2026, 7, 1) + timedelta(minutes=n // 7)) for n in range(60)
)
KEYS = sorted(
    ((row["placed_at"], row["order_id"]) for row in STORE.page(limit=99, columns=KEY_COLUMNS)),
    reverse=True,
)


@given(st.integers())
def test_the_cap_from_scratch_is_the_packages(limit):
    assert INLINE["cap"](limit) == clamp("limit", limit, 1, 50)[0]


@given(st.none() | st.sampled_from(KEYS), st.integers(0, 70), st.integers(1, 70))
def test_pages_from_scratch_are_those_of_the_store(after, offset, limit):
    def keys(rows):
        return [(row["placed_at"], row["order_id"]) for row in rows]

    by_key = STORE.page(after=after, limit=limit, columns=KEY_COLUMNS)
    assert keys(by_key) == INLINE["keyset_page"](KEYS, after, limit)
    by_offset = STORE.offset_page(offset=offset, limit=limit, columns=KEY_COLUMNS)
    assert keys(by_offset) == INLINE["offset_page"](KEYS, offset, limit)


def ours(cursor, binding):
    """The position that the strict reader from scratch finds, or None if it refuses."""
    try:
        return tuple(INLINE["read_strictly"](cursor, binding))
    except ValueError as error:
        assert str(error) == RESTART  # the same one message as the package's
        return None


def theirs(cursor, binding):
    try:
        return CURSORS.read(cursor, binding=binding)
    except CursorError:
        return None


@given(POSITIONS, BINDINGS, BINDINGS)
def test_both_read_a_cursor_for_its_own_binding_and_no_other(position, binding, other):
    expected = position if binding == other else None
    assert ours(INLINE["sign"](position, binding), other) == expected
    assert theirs(CURSORS.sign(position, binding=binding), other) == expected


@given(POSITIONS, st.data())
def test_both_refuse_every_edit(position, data):
    for sign, reader in ((INLINE["sign"], ours), (lambda p, b: CURSORS.sign(p, binding=b), theirs)):
        cursor = sign(position, "list")
        at = data.draw(st.integers(0, len(cursor)))
        new = data.draw(st.characters(max_codepoint=126) | st.just(""))
        drop = data.draw(st.integers(0, 2))
        edited = cursor[:at] + new + cursor[at + drop :]
        assert reader(edited, "list") == (position if edited == cursor else None)


def test_without_the_strict_reader_other_spellings_pass():
    cursor = INLINE["sign"]((1, "ord_000001"), "list")
    assert INLINE["read"](cursor + "=", "list") == [1, "ord_000001"]
    assert ours(cursor + "=", "list") is None


def test_the_headline_of_the_notebook_is_that_of_the_table():
    with OrderStore.open() as store:
        sizes = {
            step.step: step.exact
            for step in headline_steps(store)
            if step.step in ("filtered", "capped")
        }
    assert all(f"{exact:,}" in NOTEBOOK.cells[0].source for exact in sizes.values())


TODAY, LATER = "today", "once old cursors have expired"


@pytest.mark.parametrize(
    ("check", "answer", "starts"),
    [
        (n03.exercise_1, {"created_at, id"}, "Correct:"),
        (n03.exercise_1, {"created_at, id", "updated_at, id"}, "Not yet:"),
        (n03.exercise_1, 7, "Not yet:"),
        (n03.exercise_2, ["tenant", "tool", "since", "channel"], "Correct:"),
        (n03.exercise_2, {"tenant", "tool", "since", "channel", "limit"}, "Not yet:"),
        (n03.exercise_2, ..., "Not tried yet."),
        (n03.exercise_3, {TODAY: ["old", "new"], LATER: ["new"]}, "Correct:"),
        (
            n03.exercise_3,
            {TODAY: ["new", "old"], LATER: ["new"]},
            "Not yet:",
        ),  # goes on signing with the old key
        (n03.exercise_3, {TODAY: ["new"], LATER: ["new"]}, "Not yet:"),  # breaks the walks of today
        (
            n03.exercise_3,
            {TODAY: ["old", "new"], LATER: ["old", "new"]},
            "Not yet:",
        ),  # never retires the key
        (n03.exercise_3, {TODAY: ["old", "new"], LATER: []}, "Not yet:"),
    ],
)
def test_a_check_tells_right_from_wrong(check, answer, starts, capsys):
    check(answer)
    assert capsys.readouterr().out.startswith(starts)
