"""Cursors: what a model hands back is trusted only if it was made here, for this query, lately
(cases 8 and 11).
"""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolresults.results.cursor import MAX_CHARS, RESTART, CursorError, Cursors
from toolresults.tokens import count_tokens

NOW = 1_782_907_200
BINDING = {
    "tool": "search",
    "filter": {"status": "paid"},
    "sort": "placed_at desc",
    "caller": "ana",
}
positions = st.lists(
    st.integers() | st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=3
).map(tuple)


def cursors(*keys, now=NOW, **options):
    return Cursors(keys or ["first"], clock=lambda: now, **options)


def refused(reader: Cursors, cursor: object, binding=BINDING) -> bool:
    try:
        reader.read(cursor, binding=binding)
    except CursorError as error:
        return str(error) == RESTART
    return False


@given(positions, st.sampled_from(list(BINDING)), st.sampled_from(["other", None, ""]))
def test_its_position_is_read_with_an_equal_binding_only(position, part, other):
    """In any order of its keys, and for no other tool, filter, sort or caller."""
    cursor = cursors().sign(position, binding=BINDING)
    if len(cursor) > MAX_CHARS:  # longer than any real sort key: refused like every other fault
        assert refused(cursors(), cursor)
    else:
        assert cursors().read(cursor, binding=dict(reversed(BINDING.items()))) == position
        assert refused(cursors(), cursor, {**BINDING, part: other})


def test_every_one_character_edit_is_refused():
    cursor = cursors().sign((1_782_856_444, "ord_000123"), binding=BINDING)
    alphabet = string.ascii_letters + string.digits + "-_.:~=+/% \n"
    edits = {cursor[:i] + c + cursor[i + 1 :] for i in range(len(cursor)) for c in alphabet}
    edits |= {cursor[:i] + c + cursor[i:] for i in range(len(cursor) + 1) for c in alphabet}
    edits |= {cursor[:i] + cursor[i + 1 :] for i in range(len(cursor))}
    accepted = [edit for edit in edits - {cursor} if not refused(cursors(), edit)]
    assert accepted == []


ODD = ["", ".", "..", "a.b.c", "\ud83d", "x" * 1_000_000, "٣.٣.٣"]
ANYTHING = st.text() | st.none() | st.integers() | st.binary() | st.floats() | st.booleans()


@given(st.sampled_from(ODD) | ANYTHING | st.lists(st.text()))
def test_whatever_else_is_handed_in_is_refused_with_the_one_error(value):
    assert refused(cursors(), value)


def test_a_cursor_expires_and_one_from_the_future_is_refused():
    cursor = cursors(max_age=60).sign((1,), binding=BINDING)
    assert cursors(now=NOW + 60, max_age=60).read(cursor, binding=BINDING) == (1,)
    assert refused(cursors(now=NOW + 61, max_age=60), cursor)
    assert refused(cursors(now=NOW - 1, max_age=60), cursor)


def test_keys_rotate():
    cursor = cursors("old").sign((1,), binding=BINDING)
    assert cursors("old", "new").read(cursor, binding=BINDING) == (1,)
    assert cursors("old", "new").sign((1,), binding=BINDING) == cursors("new").sign(
        (1,), binding=BINDING
    )
    assert refused(cursors("new"), cursor)


@pytest.mark.parametrize("keys", [[], [""], ["a", ""]])
def test_a_missing_key_is_the_hosts_mistake(keys):
    with pytest.raises(ValueError, match="key"):
        Cursors(keys)


def test_a_cursor_costs_at_most_64_tokens():
    costs = [
        count_tokens(
            cursors().sign((1_700_000_000 + i * 9973, f"ord_{i * 7:06d}"), binding=BINDING)
        )
        for i in range(3000)
    ]
    assert max(costs) <= 64
