"""What notebook 05 writes from scratch agrees with the package, and its figures are those of the
headline table.
"""

from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolresults.results.budget import largest_fit
from toolresults.results.cursor import Cursors
from toolresults.tokens import count_tokens, to_json
from workbook.bench.headline import headline_steps
from workbook.checks import n05
from workbook.examples.orders.store import OrderStore
from workbook.runner import read

NOTEBOOK = read(Path(__file__).resolve().parents[1] / "notebooks" / "05_budget_notes.ipynb")
INLINE = {"count_tokens": count_tokens}
for cell in NOTEBOOK.cells:
    if "inline" in cell.metadata.get("tags", []):
        exec(cell.source, INLINE)

CURSORS = Cursors(["key"], clock=lambda: 1_782_907_200)
ROW = st.fixed_dictionaries(
    {
        "customer": st.text(max_size=30),
        "amount": st.integers(0, 10**6),
        "note": st.text(max_size=60),
    }
)


def framed(size: int, more: bool):
    """A frame with a note and a cursor that come and go, as those of a tool do."""

    def frame(n):
        cursor = (
            CURSORS.sign((1_782_000_000 + n, f"ord_{n:06d}"), binding="")
            if more or n < size
            else None
        )
        note = (
            f'"note":"The budget cut {size} rows to {n}. Pass next_cursor as cursor.",'
            if n < size
            else ""
        )
        return (
            f'{{"total_matches":{size},"shown":{n},"items":[',
            f'],{note}"next_cursor":{to_json(cursor)}}}',
        )

    return frame


PAGES = st.tuples(st.lists(ROW.map(to_json), max_size=12), st.booleans(), st.integers(20, 500))


@given(PAGES)
def test_fitting_from_scratch_finds_the_page_of_the_package_and_of_brute_force(drawn):
    rows, more, budget = drawn
    frame = framed(len(rows), more)
    n, text, _ = INLINE["fit_exactly"](rows, frame, budget)
    assert (n, text) == largest_fit(rows, frame, budget)
    whole = {k: INLINE["text_with"](rows, frame, k) for k in range(1, len(rows) + 1)}
    assert n == max((k for k in whole if count_tokens(whole[k]) <= budget), default=0)
    assert text == whole.get(n, "")


@given(PAGES, st.sampled_from(["halve", "bisect"]))
def test_the_usual_ways_keep_the_budget_and_never_show_more(drawn, way):
    rows, more, budget = drawn
    frame = framed(len(rows), more)
    n, text = INLINE[way](rows, frame, budget)
    assert n <= INLINE["fit_exactly"](rows, frame, budget)[0]
    assert count_tokens(text) <= budget
    assert text == (INLINE["text_with"](rows, frame, n) if n else "")


def test_bisection_misses_a_page_that_is_shorter_because_it_is_complete():
    rows = [to_json({"id": i}) for i in range(6)]
    frame = framed(6, more=False)
    budget = count_tokens(INLINE["text_with"](rows, frame, 6))
    assert INLINE["fit_exactly"](rows, frame, budget)[0] == 6
    assert INLINE["bisect"](rows, frame, budget)[0] < 6


@pytest.mark.parametrize("budget", [0, 3, 50])
def test_a_mark_added_after_measuring_is_over_every_small_budget(budget):
    assert count_tokens(INLINE["cut_then_mark"]("some words " * 200, budget)) > budget


def test_the_headline_of_the_notebook_is_that_of_the_table():
    with OrderStore.open() as store:
        *_, fitted = islice(headline_steps(store), 5)
    assert f"it uses {fitted.exact}" in NOTEBOOK.cells[0].source


@pytest.mark.parametrize(
    ("exercise", "answer", "said"),
    [
        (n05.exercise_1, " D", "Correct"),
        (n05.exercise_1, "c", "Not yet: the call had limit=10 already"),
        (n05.exercise_1, "b", "Not yet: the tool has no parameter"),
        (n05.exercise_1, "e", "Not yet: answer with one letter"),
        (n05.exercise_1, ["d"], "Not yet"),
        (n05.exercise_2, [6, 10], "Correct"),
        (n05.exercise_2, (12, 10), "Not yet"),
        (n05.exercise_2, 10, "Not yet"),
        (n05.exercise_3, (False, True, True), "Correct"),
        (n05.exercise_3, [True, True, True], "Not yet"),
        (n05.exercise_3, True, "Not yet"),
    ],
)
def test_an_answer_is_judged(exercise, answer, said, capsys):
    exercise(answer)
    assert capsys.readouterr().out.startswith(said)
