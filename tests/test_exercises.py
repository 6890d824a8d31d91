"""Each exercise of each notebook: untouched, its check says so; with the folded solution in place,
it says Correct.
"""

import ast
import copy
import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import nbformat
import pytest

from workbook import checks
from workbook.checks import exercise
from workbook.run import Outcome, find, read, run_outcomes

NOTEBOOKS = find(Path(__file__).resolve().parents[1] / "notebooks")
SOLUTION = re.compile(
    r"<details>\s*<summary>Solution (\d+)</summary>(.*?)</details>", re.DOTALL | re.IGNORECASE
)
FENCED = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
CHECK = re.compile(r"\b[nb]\d+\.exercise_\d+\(")


def solutions(nb) -> list[str]:
    """The code of the folded solutions, in order; their numbers run 1, 2, 3 and each holds one
    python block.
    """
    found = SOLUTION.findall(
        "\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")
    )
    assert [int(number) for number, _ in found] == list(range(1, len(found) + 1))
    blocks = [FENCED.findall(body) for _, body in found]
    assert all(len(block) == 1 for block in blocks), (
        "a folded solution holds exactly one ```python block"
    )
    return [block[0].rstrip("\n") for block in blocks]


def solved_twice(nb):
    """A copy in which every exercise stands twice, first untouched and then solved, each time
    followed by its check.
    """
    answers = iter(solutions(nb))
    cells = []
    exercise = None
    for cell in nb.cells:
        if cell.cell_type == "code" and "exercise" in cell.metadata.get("tags", []):
            assert exercise is None, "an exercise without a check"
            exercise = cell
        elif exercise is not None and cell.cell_type == "code" and CHECK.search(cell.source):
            solved = copy.deepcopy(exercise)
            solved.source = next(answers)
            cells += [exercise, copy.deepcopy(cell), solved, cell]
            exercise = None
        else:
            cells.append(cell)
    assert exercise is None, "an exercise without a check"
    assert next(answers, None) is None, "more solutions than exercises"
    woven = copy.deepcopy(nb)
    woven.cells = cells
    return woven


def names(source: str) -> tuple[set[str], set[str]]:
    """The names that the code gives a value or changes, and those that it reads."""
    given, read = set(), set()
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                read.add(name)
            case ast.Name(id=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                given.add(name)
            case ast.ClassDef(name=name):
                given.add(name)
            case ast.alias(name=name, asname=other):
                given.add(other or name.partition(".")[0])
            case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
                while isinstance(node, ast.Attribute | ast.Subscript):
                    node = node.value
                given |= {node.id} if isinstance(node, ast.Name) else set()
    return given, read


def needed(nb):
    """A copy without the code that no exercise, check or solution builds on: nbval runs the whole
    notebook anyway.
    """
    wanted, cells = set(), []
    for cell in reversed(nb.cells):
        if cell.cell_type != "code":
            continue
        given, read = names(cell.source)
        exercise = "exercise" in cell.metadata.get("tags", []) or CHECK.search(cell.source)
        if exercise or given & wanted:
            wanted |= read
            cells.insert(0, cell)
    short = copy.copy(nb)
    short.cells = cells
    return short


def said(nb) -> list[str]:
    """What the checks printed."""
    checks = [cell for cell in nb.cells if cell.cell_type == "code" and CHECK.search(cell.source)]
    return ["".join(out.get("text", "") for out in cell.outputs) for cell in checks]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_exercises_wait_untouched_and_their_solutions_are_correct(path):
    nb = read(path)
    count = len(solutions(nb))
    assert count >= 2 or "benchmarks" in path.parts, "a notebook has two or three exercises"
    [outcome] = run_outcomes([Outcome(path, needed(solved_twice(nb)))])
    assert outcome.error is None
    answers = said(outcome.nb)
    assert len(answers) == 2 * count
    assert [text for text in answers[::2] if not text.startswith("Not tried yet. ")] == []
    assert [text for text in answers[1::2] if not text.startswith("Correct: ")] == []


@exercise
def six_times_seven(answer: object) -> bool:
    """The answer.

    Correct: yes

    Not yet: six times
    seven
    """
    return answer == 42


def sheet(solution: str):
    """A notebook with one exercise, with a check made as those of the workbook."""
    code, text = nbformat.v4.new_code_cell, nbformat.v4.new_markdown_cell
    check = "n99.exercise_1(answer_1)"
    define = f"""from types import SimpleNamespace
from workbook.checks import exercise
{inspect.getsource(six_times_seven)}
n99 = SimpleNamespace(exercise_1=six_times_seven)"""
    untouched = code("answer_1 = ...", metadata={"tags": ["exercise"]})
    folded = f"<details><summary>Solution 1</summary>\n\n```python\n{solution}\n```\n\n</details>"
    return nbformat.v4.new_notebook(cells=[code(define), untouched, code(check), text(folded)])


def test_a_wrong_solution_would_be_noticed(tmp_path):
    path = tmp_path / "sheet.ipynb"
    sheets = [sheet("answer_1 = 6 * 7"), sheet("answer_1 = 6 * 9")]
    right, wrong = run_outcomes([Outcome(path, solved_twice(nb)) for nb in sheets])
    assert [text.split(":")[0].split(".")[0] for text in said(right.nb)] == [
        "Not tried yet",
        "Correct",
    ]
    assert said(wrong.nb)[1] == "Not yet: six times seven\n"


class Awkward:
    def __eq__(self, other):
        raise RuntimeError("no comparison")

    def __bool__(self):
        raise SystemExit


@pytest.mark.parametrize(
    "answer", [41, None, "42", [42], {"a": 1}, Awkward(), print, float("nan"), b"42", type]
)
def test_a_check_never_raises_whatever_it_is_given(answer, capsys):
    six_times_seven(answer)
    assert capsys.readouterr().out == "Not yet: six times seven\n"


CHECKS = [
    check
    for module in pkgutil.iter_modules(checks.__path__, "workbook.checks.")
    for name, check in vars(importlib.import_module(module.name)).items()
    if name.startswith("exercise_")
]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: f"{check.__module__}.{check.__name__}")
def test_every_check_has_a_hint_for_whatever_it_is_given(check, capsys):
    for answer in (Awkward(), 7, "seven", [7]):
        check(answer)
        assert re.fullmatch("Not yet: .{10,}\n", capsys.readouterr().out)
    check(...)
    assert capsys.readouterr().out.startswith("Not tried yet. ")


def judged(answer: object, verdict: object) -> None:
    """What a check says whose judge returns *verdict*."""

    @exercise
    def check(answer: object) -> object:
        """Correct: yes

        Not yet: no
        """
        return verdict

    check(answer)


@pytest.mark.parametrize("verdict", [Awkward(), (Awkward(), "well done"), (True, "yes", "no")])
def test_a_check_whose_verdict_has_no_truth_is_not_yet(verdict, capsys):
    judged(1, verdict)
    assert capsys.readouterr().out == "Not yet: no\n"


@pytest.mark.parametrize("answer", [..., [1, ...], (..., ...), {"a": ...}])
def test_an_ellipsis_is_an_exercise_not_tried(answer, capsys):
    judged(answer, True)
    assert capsys.readouterr().out.startswith("Not tried yet. ")


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (True, "Correct: yes"),
        (False, "Not yet: no"),
        ((True, "42 it is"), "Correct: 42 it is"),
        ((False, "not 41"), "Not yet: not 41"),
    ],
)
def test_a_judge_may_say_what_is_right_or_wrong(verdict, said, capsys):
    judged(42, verdict)
    assert capsys.readouterr().out == f"{said}\n"
