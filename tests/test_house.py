"""The house: imports run one way, the code has one style, and each folder stays within its size."""

import ast
import io
import re
import subprocess
import sys
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def run(*command: str) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="replace",
    )


def test_imports_run_one_way():
    check = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    result = run("-c", check, "--no-cache")
    assert result.returncode == 0, result.stdout + result.stderr
    assert "0 broken" in result.stdout


@pytest.mark.parametrize(
    "arguments", [("check",), ("format", "--check", "--diff")], ids=["check", "format"]
)
def test_code_and_notebooks_have_one_style(arguments):
    result = run("-m", "ruff", *arguments, "--no-cache", ".")
    assert result.returncode == 0, result.stdout + result.stderr


BUDGETS = {
    "toolresults/tokens.py, toolresults/tools.py": 380,
    "toolresults/results": 400,
    "toolresults/agent": 2_040,
    "toolresults/scripted": 550,
    "toolresults/codemode": 1_660,
    "toolresults/audit": 780,
    "toolresults/cli.py": 150,
    "workbook/examples": 1_640,
    "workbook/bench": 2_040,
    "workbook/checks, workbook/plots, workbook/*.py, workbook/*.j2": 1_540,
    # what a reader of the package is asked to read
    "toolresults/tokens.py, toolresults/tools.py, toolresults/results, toolresults/agent/api.py, "
    "toolresults/agent/loop.py, toolresults/agent/openai_chat.py": 1_700,
}
"""Lines of code, without blanks, comments and docstrings, that each part may have."""


def lines_of_code(path: Path) -> int:
    source = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        lines = (line.strip() for line in source.splitlines())
        return sum(bool(line) and not line.startswith("//") for line in lines)
    told: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            if isinstance(node.value.value, str):  # a docstring, of an attribute too
                told.update(range(node.lineno, node.end_lineno + 1))
    silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
    code: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in silent | {tokenize.ENDMARKER}:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - told)


@pytest.mark.parametrize("part", BUDGETS)
def test_each_part_is_within_its_budget_of_lines(part):
    files = set()
    for name in part.split(", "):
        for path in (ROOT / "src").glob(name):
            files |= set(path.rglob("*.*")) if path.is_dir() else {path}
    files = {path for path in files if path.suffix in (".py", ".js", ".j2")}
    assert files
    total = sum(map(lines_of_code, files))
    assert total <= BUDGETS[part], f"{part}: {total} lines; take some away, or say why not here"


def test_every_promise_names_a_test_that_is_there():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    promises = text[text.index("### What is promised") : text.index("Names are the standard")]
    named = re.findall(r"`(test_\w+)`", promises)
    assert len(named) > 30
    assert [name for name in named if not (ROOT / "tests" / f"{name}.py").exists()] == []


def test_every_fault_to_break_the_code_with_is_still_found():
    result = run("tests/faults.py", "--list")
    assert result.returncode == 0, result.stdout + result.stderr
    found, of, total = result.stdout.splitlines()[-1].split()
    assert of == "of" and found == total
    named = set(
        re.findall(r"tests/(test_\w+)\.py", (ROOT / "tests" / "faults.py").read_text("utf-8"))
    )
    assert [name for name in named if not (ROOT / "tests" / f"{name}.py").exists()] == []
