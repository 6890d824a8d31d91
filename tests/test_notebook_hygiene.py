"""Every committed notebook keeps the rules of hygiene.py; and each rule refuses a notebook that
breaks it.
"""

import copy
import json
from pathlib import Path

import pytest

import hygiene

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted(
    p for p in (ROOT / "notebooks").rglob("*.ipynb") if ".ipynb_checkpoints" not in p.parts
)
MAX_BYTES = 400_000
PIXELS = {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo="}}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.parametrize("rule", hygiene.RULES, ids=lambda rule: rule.__name__)
def test_committed_notebook_keeps(rule, path):
    assert rule(json.loads(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_committed_notebook_is_small(path):
    assert path.stat().st_size <= MAX_BYTES


def markdown(source: str) -> dict:
    return {"cell_type": "markdown", "id": "m", "metadata": {}, "source": source}


def code(source: str, *outputs: dict, count: int = 1, tags: tuple[str, ...] = ()) -> dict:
    metadata = {"tags": list(tags)} if tags else {}
    cell = {
        "cell_type": "code",
        "id": "c",
        "metadata": metadata,
        "source": source,
        "outputs": list(outputs),
    }
    return cell | {"execution_count": count}


def stream(text: str, name: str = "stdout") -> dict:
    return {"output_type": "stream", "name": name, "text": text}


def good() -> dict:
    """The smallest notebook that keeps every rule."""
    prose = (
        "# A title\n\nOne call costs 1,012,478 tokens, 34% more.\n\n"
        "## What you’ll learn\n\n## What you need\n\n"
        "Python 3.11, a budget of `25,000`. Anthropic's cap is 25,000 ([source](https://example.org/cap)).\n\n"
        "**Time**: 10 minutes of reading, 5 minutes of exercises.\n\n"
        "```python\nx = 9.75\n# not a title\n```\n\n"
        "## A claim\n\n## Check yourself\n\n## Summary\n\n## In practice\n\n"
        "## Your turn\n\n## Next notebook"
    )
    cells = [code("x = 1", count=n) for n in range(2, 16)]
    counted = code("# NBVAL_CHECK_OUTPUT\nprint(x)", stream("1,012,478 tokens\n34 per cent\n"))
    metadata = {"kernelspec": {"name": "python3"}, "language_info": {"name": "python"}}
    return {
        "cells": [markdown(prose), counted, *cells],
        "metadata": metadata,
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def set_source(nb: dict, source: str) -> None:
    nb["cells"][1]["source"] = source


def replace_prose(nb: dict, old: str, new: str) -> None:
    assert old in nb["cells"][0]["source"]
    nb["cells"][0]["source"] = nb["cells"][0]["source"].replace(old, new)


def add_output(nb: dict, output: dict) -> None:
    nb["cells"][2]["outputs"].append(output)


def run_again(nb: dict) -> None:
    for cell in hygiene.code_cells(nb):
        cell["execution_count"] += 15


def swap_headings(nb: dict) -> None:
    replace_prose(nb, "## Summary\n\n## In practice", "## In practice\n\n## Summary")


def strip(nb: dict) -> None:
    for cell in hygiene.code_cells(nb):
        cell["outputs"], cell["execution_count"] = [], None


def test_a_good_notebook_has_no_problem():
    assert [rule(good()) for rule in hygiene.RULES] == [[]] * len(hygiene.RULES)


BROKEN = {
    "other kernel": (hygiene.kernel, lambda nb: nb["metadata"]["kernelspec"].update(name="venv")),
    "interpreter version": (
        hygiene.kernel,
        lambda nb: nb["metadata"]["language_info"].update(version="3.11.7"),
    ),
    "stripped": (hygiene.counts, strip),
    "stripped, checked": (hygiene.outputs, strip),
    "run out of order": (hygiene.counts, lambda nb: nb["cells"][3].update(execution_count=9)),
    "run twice": (hygiene.counts, run_again),
    "stored error": (hygiene.outputs, lambda nb: add_output(nb, {"output_type": "error"})),
    "warning": (hygiene.outputs, lambda nb: add_output(nb, stream("careful", "stderr"))),
    "only pixels": (hygiene.outputs, lambda nb: nb["cells"][1].update(outputs=[PIXELS])),
    "marker with a colon": (
        hygiene.markers,
        lambda nb: set_source(nb, "# NBVAL_CHECK_OUTPUT: \nprint(x)"),
    ),
    "marker with a reason": (
        hygiene.markers,
        lambda nb: set_source(nb, "# NBVAL_CHECK_OUTPUT because\nprint(x)"),
    ),
    "marker misspelt": (
        hygiene.markers,
        lambda nb: set_source(nb, "# NBVAL_CHECK_OUTPUTS\nprint(x)"),
    ),
    "marker in lower case": (
        hygiene.markers,
        lambda nb: set_source(nb, "# nbval_check_output\nprint(x)"),
    ),
    "marker on a later line": (
        hygiene.markers,
        lambda nb: set_source(nb, "print(x)\n# NBVAL_CHECK_OUTPUT"),
    ),
    "skipped": (hygiene.markers, lambda nb: set_source(nb, "# NBVAL_SKIP\nprint(x)")),
    "skipped by tag": (
        hygiene.markers,
        lambda nb: nb["cells"][1]["metadata"].update(tags=["nbval-skip"]),
    ),
    "error allowed by tag": (
        hygiene.markers,
        lambda nb: nb["cells"][1]["metadata"].update(tags=["raises-exception"]),
    ),
    "bad magic": (hygiene.code, lambda nb: set_source(nb, "%matplotlb inline")),
    "cell magic": (hygiene.code, lambda nb: set_source(nb, "%%time\nx")),
    "shell": (hygiene.code, lambda nb: set_source(nb, "!ls")),
    "help": (hygiene.code, lambda nb: set_source(nb, "print?")),
    "semicolon": (hygiene.code, lambda nb: set_source(nb, "x = 1;")),
    "empty cell": (hygiene.code, lambda nb: set_source(nb, "")),
    "home folder": (hygiene.machine_paths, lambda nb: set_source(nb, "open('/home/ann/x.json')")),
    "path in output": (
        hygiene.machine_paths,
        lambda nb: add_output(nb, stream("/tmp/ipykernel_12/3.py")),
    ),
    "address in output": (
        hygiene.machine_paths,
        lambda nb: add_output(nb, stream("<T at 0x7fa3b2c4d5>")),
    ),
    "too few cells": (hygiene.sizes, lambda nb: nb["cells"].pop()),
    "too many cells": (hygiene.sizes, lambda nb: nb["cells"].extend([code("x")] * 30)),
    "long cell": (hygiene.sizes, lambda nb: set_source(nb, "\n".join("x" * 26))),
    "long cells": (
        hygiene.sizes,
        lambda nb: [c.update(source="\n".join("x" * 8)) for c in nb["cells"][1:]],
    ),
    "long line": (hygiene.widths, lambda nb: set_source(nb, f"x = {'x' * 85!r}")),
    "long line in a solution": (
        hygiene.widths,
        lambda nb: replace_prose(nb, "x = 9.75", f"x = {'x' * 85!r}"),
    ),
    "long take-away cell": (
        hygiene.sizes,
        lambda nb: nb["cells"][1].update(
            source="\n".join("x" * 126), metadata={"tags": [hygiene.TAKE_AWAY]}
        ),
    ),
    "two take-away cells": (
        hygiene.sizes,
        lambda nb: [c["metadata"].update(tags=[hygiene.TAKE_AWAY]) for c in nb["cells"][1:3]],
    ),
    "no title": (hygiene.headings, lambda nb: replace_prose(nb, "# A title", "A title")),
    "two titles": (hygiene.headings, lambda nb: nb["cells"].append(markdown("# Another"))),
    "no summary": (hygiene.headings, lambda nb: replace_prose(nb, "## Summary", "Summary")),
    "wrong order": (hygiene.headings, swap_headings),
    "no time": (hygiene.headings, lambda nb: replace_prose(nb, "**Time**", "Long")),
    "stale number": (hygiene.figures, lambda nb: replace_prose(nb, "1,012,478", "1,012,479")),
    "part of a number": (hygiene.figures, lambda nb: replace_prose(nb, "1,012,478", "2,478")),
    "stale per cent": (hygiene.figures, lambda nb: replace_prose(nb, "34%", "35 %")),
    "stale decimal": (hygiene.figures, lambda nb: replace_prose(nb, "34% more", "1.34 times")),
    "no source": (
        hygiene.figures,
        lambda nb: replace_prose(nb, "([source](https://example.org/cap))", ""),
    ),
    "number of an unchecked cell": (hygiene.figures, lambda nb: set_source(nb, "print(x)")),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_notebook_is_refused(name):
    rule, spoil = BROKEN[name]
    nb = copy.deepcopy(good())
    spoil(nb)
    assert rule(nb) != []


def test_the_one_take_away_cell_may_be_long():
    nb = good()
    nb["cells"][2] = code("\n".join("x" * 80), count=2, tags=("take-away",))
    assert hygiene.sizes(nb) == []
