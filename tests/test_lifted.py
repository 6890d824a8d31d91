"""`results/` and `tokens.py` can be copied into another project as they are."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "toolresults"

NEEDS = {
    "cursor": [],
    "redact": [],
    "shape": [],
    "budget": ["shape"],
    "payload": ["budget", "shape", "redact"],
}

USE = {
    "cursor": "c = cursor.Cursors(['k']); print(c.read(c.sign((1, 'a'), binding=1), binding=1))",
    "redact": "print(redact.redact('password=abc'))",
    "shape": "print(shape.shape({'id': 1, 'body': 'x' * 999}, caps={'body': 5}))",
    "budget": "print(budget.page([{'id': i} for i in range(99)], total=99, cursor_after=str, budget=100)[:30])",
    "payload": "print(payload.window('abc', ref='r')[:20])",
}

PRINTS = {
    "cursor": "(1, 'a')",
    "redact": "password=[redacted]",
    "shape": "{'id': 1, 'body': 'xxxx…'}",
    "budget": '{"total_matches":99,"shown":14',
    "payload": '{"payload_ref":"r","',
}


@pytest.mark.parametrize("name", NEEDS)
def test_a_file_works_in_another_project(tmp_path, name):
    """With nothing of this project beside it but the files that it names as its needs."""
    folder = tmp_path / "theirs" / "fits"
    folder.mkdir(parents=True)
    for package in (folder.parent, folder):
        (package / "__init__.py").touch()
    shutil.copy(SOURCE / "tokens.py", folder.parent)
    for file in [name, *NEEDS[name]]:
        shutil.copy(SOURCE / "results" / f"{file}.py", folder)
    code = f"import sys; sys.modules['toolresults'] = None\nfrom theirs.fits import {name}\n{USE[name]}"
    run = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert run.stderr == ""
    assert run.stdout.startswith(PRINTS[name])


def test_code_mode_works_in_another_project(tmp_path):
    """With `results/` and the two files beside it that the README names."""
    theirs = tmp_path / "theirs"
    for folder in ("codemode", "results"):
        shutil.copytree(
            SOURCE / folder, theirs / folder, ignore=shutil.ignore_patterns("__pycache__")
        )
    for file in ("tokens", "tools"):
        shutil.copy(SOURCE / f"{file}.py", theirs)
    (theirs / "__init__.py").touch()
    code = """if True:
        import sys
        sys.modules["toolresults"] = None
        from theirs.codemode.registry import Registry
        def two() -> int:
            return 2
        for language, code in (("python", "a.two() + 1"), ("javascript", "return await a.two() + 1")):
            with Registry(language=language) as registry:
                registry.register(two, "a")
                print(registry.tools()[1].call({"code": code}).text)
    """
    run = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (run.stdout.split(), run.stderr) == (['{"value":3}'] * 2, "")
