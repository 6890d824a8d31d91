"""Notebook 01: what its inline cells compute is what the package computes; its figures show the
data they are given.
"""

import json
from collections.abc import Callable
from pathlib import Path

import nbformat
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.axes import Axes

from toolresults.audit.weigh import fields_of, weigh_fields
from toolresults.tokens import count_many, count_tokens, estimate_tokens, to_json
from workbook import plots
from workbook.checks import n01
from workbook.examples.orders.data import classic_orders

ROOT = Path(__file__).resolve().parents[1]
TEXT = st.text(st.characters(exclude_categories=("Cs",)))
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**18), 10**18)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, max_size=5),
    max_leaves=20,
)


def inline(name: str) -> Callable:
    """A function that one of the notebook's inline cells defines."""
    nb = nbformat.read(ROOT / "notebooks" / "01_naive_measurement.ipynb", as_version=4)
    names = {
        "json": json,
        "pd": pd,
        "to_json": to_json,
        "count_many": count_many,
        "count_tokens": count_tokens,
    }
    for cell in nb.cells:
        if "inline" in cell.metadata.get("tags", []):
            exec(cell.source, names)
    return names[name]


ESTIMATE, TO_TEXT = inline("estimate"), inline("to_text")


@given(st.text())
def test_the_inline_estimate_is_the_packages(text):
    assert ESTIMATE(text) == estimate_tokens(text)


@given(JSON)
def test_the_inline_text_is_the_packages_for_plain_values(value):
    assert TO_TEXT(value) == to_json(value)


def test_the_inline_weights_are_the_audits():
    orders = classic_orders(100)
    shares = inline("weigh")(orders)
    whole = count_tokens(to_json(orders))
    assert {f.key: f.tokens / whole for f in weigh_fields(fields_of(orders))} == dict(
        shares["tokens"]
    )


def title(ax: Axes) -> str:
    """Its title, which the workbook's style moves to the left."""
    return ax.get_title(loc="left") or ax.get_title()


def test_the_estimate_figure_draws_bars_from_1_to_each_ratio():
    scripts = pd.Series({"low": 0.25, "high": 4.0})
    formats = pd.DataFrame({"a": [1.5, 0.5], "b": [0.75, 1.25]}, index=["compact", "indent"])
    left, right = plots.estimate_figure(scripts, formats).axes
    assert [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in left.patches] == [
        (1, 4.0),
        (1, 0.25),
    ]
    ends = [[bar.get_x() + bar.get_width() for bar in bars] for bars in right.containers]
    assert ends == [[0.5, 1.5], [1.25, 0.75]]
    assert title(left) == "4 times too low to 4 times too high"


def test_the_fields_figure_draws_shares_in_per_cent():
    frame = pd.DataFrame({"characters": [0.7, 0.3], "tokens": [0.4, 0.6]}, index=["x", "y"])
    axes = plots.fields_figure({"one": frame, "two": frame}).axes
    assert [title(ax) for ax in axes] == ["one", "two"]
    assert [bar.get_width() for bar in axes[0].containers[0]] == pytest.approx([40, 60])


@pytest.mark.parametrize(
    "guard",
    [
        lambda text, budget: len(text) // 4 <= budget,
        lambda text, budget: len(text.encode("utf-8")) <= budget,
        lambda text, budget: count_tokens(text) < budget,
        lambda text, budget: False,
        lambda text: True,
    ],
    ids=["estimate", "bytes", "one too few", "never", "one argument"],
)
def test_a_guard_that_is_not_exact_is_not_yet(guard, capsys):
    n01.exercise_1(guard)
    assert capsys.readouterr().out.startswith("Not yet: wrong for ")
