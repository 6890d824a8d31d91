"""What notebook 11 writes from scratch agrees with the package where it is right, and its exercises
are judged.
"""

import ast
import json
import os
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.bench.code_mode_company import Company
from workbook.bench.code_mode_questions import WEEK_CODE
from workbook.checks import n11
from workbook.run import read

NOTEBOOK_NAME = "11_code_mode.ipynb"
NOTEBOOK = read(Path(__file__).resolve().parents[1] / "notebooks" / NOTEBOOK_NAME)
INLINE = {"ast": ast, "json": json, "re": re, "SimpleNamespace": SimpleNamespace}
for cell in NOTEBOOK.cells:
    if "inline" in cell.metadata.get("tags", []):
        made = [node for node in ast.parse(cell.source).body if isinstance(node, ast.FunctionDef)]
        exec(compile(ast.Module(made, []), NOTEBOOK_NAME, "exec"), INLINE)


@pytest.fixture(scope="module")
def company():
    with Company(30) as company:
        yield company


@pytest.fixture(scope="module")
def both(company):
    """Runs a piece of code in both ways, and gives the two values."""
    registry = company.registry()

    def run(code):
        mine = json.loads(INLINE["execute"](code, company.functions))
        company.forget()
        answer = json.loads(registry.execute(code))
        company.forget()
        return mine, answer["value"]

    return run


def test_the_weeks_code_gives_the_same_answer(both):
    mine, theirs = both(WEEK_CODE["python"])
    assert mine == theirs and sum(mine.values()) == 42


@settings(max_examples=20)  # a run in a sandbox each
@given(
    st.sampled_from(["sales", "support", "finance"]),
    st.booleans(),
    st.integers(1, 60),
    st.sampled_from(
        [
            "len(page['items'])",
            "page['total']",
            "[t['task_id'] for t in page['items']]",
            "page['items'][:2]",
        ]
    ),
)
def test_code_gives_the_same_value_in_both(both, team, overdue, limit, value):
    mine, theirs = both(
        f"page = crm.list_tasks(team={team!r}, overdue={overdue}, limit={limit})\n{value}"
    )
    assert mine == theirs


def test_both_searches_put_a_function_first_whose_words_are_asked_for(company):
    for path in ("crm.move_deal", "hr.org_chart", "crm.pipeline_summary"):
        query = f"{path.replace('.', ' ').replace('_', ' ')} {company.functions[path].__doc__.splitlines()[0]}"
        assert INLINE["search"](query, company.functions)[0].startswith(path)
        assert json.loads(company.registry().search(query))["items"][0].startswith(path)


def test_the_code_from_scratch_is_as_unsafe_as_the_notebook_says(company, monkeypatch):
    monkeypatch.setenv("CRM_PASSWORD", "only the host knows")
    spy = "__import__('os').environ['CRM_PASSWORD']"
    assert json.loads(INLINE["execute"](spy, company.functions)) == os.environ["CRM_PASSWORD"]
    assert os.environ["CRM_PASSWORD"] not in company.registry().execute(spy)


RIGHT = {"morning": "ready-made", "booking": "plain", "analyst": "code"}


@pytest.mark.parametrize(
    ("exercise", "answer", "said"),
    [
        (n11.exercise_1, RIGHT, "Correct"),
        (n11.exercise_1, RIGHT | {"booking": "code"}, "Not yet: how much do six definitions weigh"),
        (n11.exercise_1, RIGHT | {"morning": ...}, "Not tried yet"),
        (n11.exercise_1, "code", "Not yet"),
        (n11.exercise_2, 11, "Correct"),
        (n11.exercise_2, 10, "Not yet: with 10 functions both ways read the same"),
        (n11.exercise_2, 9, "Not yet"),
        (n11.exercise_2, "ten", "Not yet"),
        (n11.exercise_3, "list_notes", "Correct"),
        (n11.exercise_3, "list_notes()", "Correct"),
        (n11.exercise_3, "get_salary", "Not yet: which function takes"),
        (n11.exercise_3, ..., "Not tried yet"),
    ],
)
def test_an_answer_is_judged(exercise, answer, said, capsys):
    exercise(answer)
    assert capsys.readouterr().out.startswith(said)
