"""What notebook 04 writes from scratch agrees with the package, and its figures are those of the
headline table.
"""

import csv
import io
import json
import re
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolresults.results.shape import clean, cut, shape
from toolresults.tokens import to_json
from workbook.bench.headline import headline_steps
from workbook.checks import n04
from workbook.examples.orders.store import OrderStore
from workbook.runner import read

NOTEBOOK = read(Path(__file__).resolve().parents[1] / "notebooks" / "04_concise_shaping.ipynb")
INLINE = {"csv": csv, "io": io, "re": re, "to_json": to_json}
for cell in NOTEBOOK.cells:
    if "inline" in cell.metadata.get("tags", []):
        exec(cell.source, INLINE)

# the rows of section 1: short texts without control characters, numbers, nothing
PLAIN = st.text(st.characters(exclude_categories=["C"]), max_size=60)
VALUES = st.none() | st.booleans() | st.integers() | PLAIN
ROWS = st.lists(
    st.fixed_dictionaries(dict.fromkeys(("customer", "status", "amount", "note"), VALUES)),
    min_size=1,
)
COLOURS = st.sampled_from(["\x1b[31m", "\x1b[1;32m", "\x1b[m", "\x1b[0m"])


@given(ROWS, st.sets(st.sampled_from(["customer", "status", "amount", "note"])).map(sorted))
def test_keeping_fields_from_scratch_is_what_shape_does(rows, fields):
    for row in rows:
        assert INLINE["keep"](row, fields) == shape(row, fields)


@given(st.lists(PLAIN | COLOURS).map("".join))
def test_stripping_colours_from_scratch_is_what_clean_does(text):
    assert INLINE["strip_codes"](text) == clean(text)


@given(st.text(), st.integers(1, 300))
def test_cutting_from_scratch_is_what_cut_does(text, cap):
    assert INLINE["cut_to"](text, cap) == cut(text, cap)


@given(ROWS)
def test_every_format_holds_every_row(rows):
    table = json.loads(INLINE["as_columns"](rows))
    assert [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]] == rows
    as_text = [
        {name: "" if value is None else str(value) for name, value in row.items()} for row in rows
    ]
    assert list(csv.DictReader(io.StringIO(INLINE["as_csv"](rows)), strict=True)) == as_text


def test_a_format_with_one_header_has_a_column_for_every_key():
    rows = [{"id": 1, "note": "a"}, {"id": 2, "note_ref": "n2"}]
    assert INLINE["as_csv"](rows) == "id,note,note_ref\n1,a,\n2,,n2\n"
    assert json.loads(INLINE["as_columns"](rows))["rows"] == [[1, "a", None], [2, None, "n2"]]
    assert INLINE["as_markdown"](rows).split("\n")[2:] == ["| 1 | a |  |", "| 2 |  | n2 |"]


def test_the_headline_of_the_notebook_is_that_of_the_table():
    with OrderStore.open() as store:
        _, _, capped, concise = islice(headline_steps(store), 4)
    title = NOTEBOOK.cells[0].source
    assert f"{capped.exact:,}" in title
    assert f"{concise.exact:,}" in title


NEEDED = ["number", "title", "state", "requester", "opened_at"]


@pytest.mark.parametrize(
    ("exercise", "answer", "said"),
    [
        (n04.exercise_1, set(NEEDED), "Correct"),
        (n04.exercise_1, NEEDED[:-1], "Not yet: 1 field(s) that a question needs are missing"),
        (n04.exercise_1, [*NEEDED, "uuid"], "Not yet: uuid"),
        (n04.exercise_1, ["Number"], "Not yet: one of the names is not a field"),
        (n04.exercise_1, "number", "Not yet"),
        (n04.exercise_2, 0.73, "Correct"),
        (n04.exercise_2, 73, "Not yet"),
        (n04.exercise_2, 0.27, "Not yet"),
        (n04.exercise_2, "most", "Not yet"),
        (n04.exercise_3, {"wait", "send_email", "update_order_status"}, "Correct"),
        (n04.exercise_3, ["wait"], "Not yet"),
        (n04.exercise_3, None, "Not yet"),
    ],
)
def test_an_answer_is_judged(exercise, answer, said, capsys):
    exercise(answer)
    assert capsys.readouterr().out.startswith(said)
