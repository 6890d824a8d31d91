"""What the README says to copy can be copied into another project as it is."""

import re
import shutil
import subprocess
import sys
import textwrap
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
    "budget": "rows = [{'id': i} for i in range(99)]\n"
    "print(budget.page(rows, total=99, cursor_after=str, budget=100)[:30])",
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
    hidden = "import sys; sys.modules['toolresults'] = None"
    code = f"{hidden}\nfrom theirs.fits import {name}\n{USE[name]}"
    run = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert run.stderr == ""
    assert run.stdout.startswith(PRINTS[name])


README = (SOURCE.parents[1] / "README.md").read_text(encoding="utf-8")

LIFTS = {
    "results that fit": (
        """
        from theirs.results.budget import page
        print(page([{"id": 7}], total=1, cursor_after=lambda n: None, budget=100))
        """,
        '{"total_matches":1,"shown":1,"items":[{"id":7}],"next_cursor":null}',
    ),
    "the tool loop": (
        """
        from theirs.agent.anthropic import ANTHROPIC
        from theirs.agent.history import window
        from theirs.agent.loop import run
        from theirs.agent.openai_chat import OPENAI_CHAT
        from theirs.scripted import Reply, ScriptedModel
        for api in (OPENAI_CHAT, ANTHROPIC):
            model = ScriptedModel(lambda messages: Reply("Hello."))
            said = run(api, model.client(api), "Hi", [], model="any")
            print(said.text, len(window(said.messages, api=api, turns=1)))
        """,
        "Hello. 2\nHello. 2",
    ),
    "code mode": (
        """
        from theirs.codemode.registry import Registry
        def two() -> int:
            return 2
        codes = {"python": "a.two() + 1", "javascript": "return await a.two() + 1"}
        for language, code in codes.items():
            with Registry(language=language) as registry:
                registry.register(two, "a")
                print(registry.tools()[1].call({"code": code}).text)
        """,
        '{"value":3}\n{"value":3}',
    ),
}


@pytest.mark.parametrize("what", LIFTS)
def test_what_the_readme_says_to_copy_works_in_another_project(tmp_path, what):
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "__init__.py").touch()
    [row] = [line for line in README.splitlines() if line.startswith(f"| {what}")]
    listed = re.findall(r"`([^`]+)`", row.split("|")[2])
    for name in [*listed, *(["scripted/"] if "agent/" in listed else [])]:
        if name.endswith("/"):
            shutil.copytree(SOURCE / name, theirs / name, ignore=shutil.ignore_patterns("__*__"))
            shutil.copy(SOURCE / name / "__init__.py", theirs / name)
        else:
            shutil.copy(SOURCE / name, theirs)
    code, printed = LIFTS[what]
    code = "import sys; sys.modules['toolresults'] = None\n" + textwrap.dedent(code)
    run = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", code],
        cwd=tmp_path,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (run.stdout.strip(), run.stderr) == (printed, "")
