"""The README's example runs as it stands, and does what its comment says."""

import json
import re
from pathlib import Path

from toolresults.tokens import count_tokens

README = Path(__file__).parents[1] / "README.md"


def test_the_example_is_a_tool_that_fits(capsys):
    code = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[1]
    names = {}
    exec(code, names)
    capsys.readouterr()
    tool, seen, cursor = names["tool"], [], None
    while True:
        result = tool.call({"limit": 50, "cursor": cursor})
        page = json.loads(result.text)
        assert count_tokens(result.text) <= 300
        seen += [row["id"] for row in page["items"]]
        if not (cursor := page["next_cursor"]):
            break
    assert seen == list(range(2000))
    assert json.loads(tool.call({"cursor": "made up"}).text)["error"].startswith(
        "This cursor is not valid here"
    )


def test_the_example_of_code_runs_and_gives_what_its_comment_says(capsys):
    first, second = re.findall(
        r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL
    )
    names = {}
    exec(first, names)
    capsys.readouterr()
    exec(second, names)
    found, ran = capsys.readouterr().out.splitlines()
    assert "def all_notes() -> list[dict" in json.loads(found)["stubs"]
    assert ran == re.search(r"# (\{.*)", second)[1]


def test_every_file_that_the_readme_links_to_is_there():
    links = re.findall(r"\]\((?!http)([^)#]+)\)", README.read_text(encoding="utf-8"))
    assert links
    missing = [link for link in links if not (README.parent / link).exists()]
    assert missing == []
