"""What the figures of notebooks 01 and 08 show: the plotted data, never the pixels."""

import matplotlib
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes

from workbook import plots


@pytest.fixture(autouse=True)
def no_window():
    matplotlib.use("Agg")
    yield
    plt.close("all")


def title(ax: Axes) -> str:
    """Its title, which the workbook's style moves to the left."""
    return ax.get_title(loc="left") or ax.get_title()


def test_the_estimate_figure_draws_bars_from_1_to_each_ratio():
    scripts = pd.Series({"low": 0.25, "high": 4.0})
    formats = pd.DataFrame({"a": [1.5, 0.5], "b": [0.75, 1.25]}, index=["compact", "indent"])
    left, right = plots.estimate_figure(scripts, formats).axes
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in left.patches]
    assert bars == [(1, 4.0), (1, 0.25)]
    ends = [[bar.get_x() + bar.get_width() for bar in bars] for bars in right.containers]
    assert ends == [[0.5, 1.5], [1.25, 0.75]]
    assert title(left) == "4 times too low to 4 times too high"


def test_the_fields_figure_draws_shares_in_per_cent():
    frame = pd.DataFrame({"characters": [0.7, 0.3], "tokens": [0.4, 0.6]}, index=["x", "y"])
    axes = plots.fields_figure({"one": frame, "two": frame}).axes
    assert [title(ax) for ax in axes] == ["one", "two"]
    assert [bar.get_width() for bar in axes[0].containers[0]] == pytest.approx([40, 60])


def test_the_triangle_parts_what_is_new_from_what_was_read_before():
    ax = plots.history_triangle([10, 30, 60])
    before, new = ([bar.get_height() for bar in bars] for bars in ax.containers)
    assert (before, new) == ([0, 10, 30], [10, 20, 30])
    assert title(ax) == "60 different tokens, and 100 read"


def test_the_bill_of_each_api_says_how_many_times_the_first_the_last_comes_to():
    frame = pd.DataFrame({"untrimmed": [1.0, 2.0], "windowed": [1.0, 5.0]}, index=[1, 2])
    (ax,) = plots.trimmed_money({"openai": frame}).axes
    assert [list(line.get_ydata()) for line in ax.lines] == [[1, 2], [1, 5]]
    assert title(ax) == "openai: windowed costs 2.5 × untrimmed"


def test_batches_are_drawn_in_per_cent_beside_the_untrimmed_session():
    ax = plots.clearing_batches(pd.DataFrame({"openai": [1.1, 0.75]}, index=[0, 12_000]))
    assert list(ax.lines[0].get_ydata()) == pytest.approx([110, 75])
    assert set(ax.lines[1].get_ydata()) == {100}
