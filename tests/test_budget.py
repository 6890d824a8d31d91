"""Budgets: never over, always JSON, never leaving out a row that would have fitted (cases 1, 2, 7,
21, 23).
"""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolresults.results.budget import BudgetError, clamp, largest_fit, longest_fit, page
from toolresults.results.shape import shape
from toolresults.tokens import count_tokens, to_json

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=60)
rows = st.lists(
    st.fixed_dictionaries({"name": texts, "n": st.integers(), "other": st.none() | texts}),
    max_size=30,
)


def make_cursor(n: int) -> str:
    """Of a length that goes up and down with `n`, as a real cursor's does, and more."""
    return f"{n * 7919}:~ord_{n * 31:06d}.aYAOgA.{'TqEQ0scqocht5IAM-aqudg'[: 4 + n * 5 % 19]}"


def build(items, budget, **options):
    def shrink(chars):
        return {
            name: value[:chars] if isinstance(value, str) else value
            for name, value in items[0].items()
        }

    return page(
        items, total=len(items), cursor_after=make_cursor, budget=budget, shrink=shrink, **options
    )


@given(rows, st.integers(150, 1200))
def test_a_page_parses_and_is_never_over_budget(items, budget):
    text = build(items, budget)
    result = json.loads(text)
    assert count_tokens(text) <= budget
    assert result["shown"] == len(result["items"]) and result["total_matches"] == len(items)
    assert result["shown"] >= min(len(items), 1)
    assert ("note" in result) == (result["shown"] < len(items) or result["items"] != items)


@settings(max_examples=300)
@given(
    rows,
    st.sampled_from(["o200k_base", "cl100k_base", "qwen3.5"]),
    st.integers(0, 30),
    st.sampled_from([-1, 0, 1]),
)
# where a last blank and the frame touch, these two save a token: the page just fits
@example([{"name": "Ana", "other": " "}], "cl100k_base", 1, 0)
@example([{"name": "Ana", "other": " "}], "qwen3.5", 1, 0)
def test_no_row_that_would_have_fitted_is_left_out(items, encoding, near, delta):
    """Against brute force, at budgets that some page fills to the token, or misses by one."""
    texts = [to_json(row) for row in items]

    def frame(n):
        note = f'"note":"cut to {n} of {len(items)}",' if n < len(items) else ""
        return f'{{"shown":{n},"items":[', f'],{note}"next_cursor":"{make_cursor(n)}"}}'

    pages = {n: ",".join(texts[:n]).join(frame(n)) for n in range(1, len(items) + 1)}
    budget = count_tokens(pages.get(near, ""), encoding) + delta
    best = max(
        (n for n, page in pages.items() if count_tokens(page, encoding) <= budget), default=0
    )
    assert largest_fit(texts, frame, budget, encoding) == (best, pages.get(best, ""))


def test_a_page_is_found_whose_neighbours_carry_more_than_they_save():
    """With five rows the cursor is much longer than with four, so the way down must not jump over
    four.
    """
    rows = [to_json({"id": i, "name": "Ana"}) for i in range(5)]

    def frame(n):
        return '{"items":[', f'],"next_cursor":"{"k7" * 9 if n == 5 else n}"}}'

    four = ",".join(rows[:4]).join(frame(4))
    assert largest_fit(rows, frame, count_tokens(four)) == (4, four)


def test_shrinking_fields_comes_before_dropping_rows():
    heavy = [{"id": i, "body": f"row {i} " + "lorem ipsum dolor " * 2000} for i in range(5)]
    assert count_tokens(to_json(heavy)) > 25_000  # a cap of five rows alone would let this through
    shaped = [shape(row, ref=lambda r, f: f"{f}_{r['id']}") for row in heavy]
    result = json.loads(build(shaped, 25_000))
    assert [row["body_ref"] for row in result["items"]] == [f"body_{i}" for i in range(5)]
    assert "note" not in result


def test_one_enormous_row_is_shown_with_a_ref_and_the_cursor_moves_on():
    row = {"id": 1, "body": "x" * 400_000}
    text = build([shape(row, ref=lambda r, f: f"{f}_{r['id']}")], 500)
    result = json.loads(text)
    assert count_tokens(text) <= 500
    assert result["items"][0]["id"] == 1 and result["items"][0]["body_ref"] == "body_1"
    assert result["next_cursor"] == make_cursor(1)


def test_the_note_says_which_limit_held_and_what_to_do():
    items = [{"name": "n" * 40, "n": i} for i in range(50)]
    result = json.loads(
        build(items, 300, notes=["limit lowered to 50, the most allowed."], advice="Ask for less.")
    )
    assert result["note"] == (
        "limit lowered to 50, the most allowed. "
        f"The 300-token budget cut 50 rows to {result['shown']}. "
        "Ask for less. Pass next_cursor as cursor for more."
    )


@pytest.mark.parametrize(
    ("budget", "most"), [(50, 3), (3, 3), (0, 3), (-1, 3), (20, 0), (3, 0), (0, 0)]
)
def test_an_impossible_budget_is_the_hosts_mistake(budget, most):
    with pytest.raises(BudgetError, match="raise it"):
        build([{"name": "Ana Lê", "n": 1, "other": None}] * most, budget)


@pytest.mark.parametrize("budget", [1, 2, 7, 50])
def test_the_longest_text_that_fits_is_found(budget):
    def words(n):
        return " word" * n

    assert longest_fit(words, budget, most=50) == words(budget)
    assert longest_fit(words, budget - 1, most=50) == words(budget - 1)


def test_no_rows_make_a_page_that_says_so():
    assert (
        build([], 100)
        == '{"total_matches":0,"shown":0,"items":[],"next_cursor":"' + make_cursor(0) + '"}'
    )


@pytest.mark.parametrize(
    ("value", "kept", "note"),
    [
        (50, 50, None),
        (1, 1, None),
        (5000, 50, "limit lowered to 50, the most allowed."),
        (0, 1, "limit raised to 1, the least allowed."),
        (-1, 1, "limit raised to 1, the least allowed."),
    ],
)
def test_a_limit_out_of_range_is_moved_and_said(value, kept, note):
    assert clamp("limit", value, 1, 50) == (kept, note)
