"""The house: imports run one way, and the code has one style."""

import subprocess
import sys
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
