"""What the figures show: the plotted data, never the pixels."""

import matplotlib
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex

from workbook import plots


@pytest.fixture(autouse=True)
def no_window():
    matplotlib.use("Agg")
    yield
    plt.close("all")


def test_filters_under_the_cap_stand_out():
    frame = pd.DataFrame(
        {"rows read": [900, 3], "tokens for the model": [25_001, 25_000]}, index=["all", "few"]
    )
    ax = plots.filter_costs(frame, cap=25_000)
    dots = ax.collections[0]
    assert dots.get_offsets()[:, 0].tolist() == [25_001, 25_000]
    assert [to_hex(colour).upper() for colour in dots.get_facecolors()] == [plots.BLUE, plots.GREEN]
    assert "900 rows" in ax.texts[0].get_text()


def test_where_to_filter_shows_megabytes_beside_millions_of_tokens():
    frame = pd.DataFrame(
        {"MB on the wire": [16.5, 4.0], "tokens for the model": [5_500_000, 1_400_000]},
        index=["a", "b"],
    )
    left, right = plots.where_to_filter(frame).axes
    assert [bar.get_width() for bar in left.patches] == [16.5, 4.0]
    assert [bar.get_width() for bar in right.patches] == [5.5, 1.4]


def test_paging_faults_keeps_the_two_ways_of_paging_apart():
    rows = [("offset", 1, 0, 0), ("offset", 2, 5, 1), ("keyset", 1, 0, 0), ("keyset", 2, 0, 2)]
    ax = plots.paging_faults(pd.DataFrame(rows, columns=["paging", "page", "repeated", "skipped"]))
    shown = {line.get_label(): list(line.get_ydata()) for line in ax.lines}
    assert shown == {
        "offset: repeated": [0, 5],
        "offset: skipped": [0, 1],
        "keyset: repeated or skipped": [0, 2],
    }


def test_a_share_under_one_per_cent_is_not_shown_as_zero():
    frame = pd.DataFrame({"share": [0.25, 0.005]}, index=["chat thread", "orders"])
    ax = plots.concise_share(frame)
    assert [bar.get_width() for bar in ax.patches] == [25, 0.5]
    assert [text.get_text() for text in ax.texts[:2]] == ["25%", "< 1%"]


def test_follow_ups_stand_on_the_first_pages():
    frame = pd.DataFrame(
        {"fields": ["one", "all"], "first page": [700, 8_500], "follow-ups": [7_100, 0]}
    )
    first, extra = plots.trimming(frame).containers
    assert [bar.get_height() for bar in first] == [bar.get_y() for bar in extra] == [700, 8_500]
    assert [bar.get_height() for bar in extra] == [7_100, 0]


def test_filled_budgets_are_per_cent_of_the_budget():
    frame = pd.DataFrame({"halving": [0.5, 1.0], "exactly": [0.75, 1.0]}, index=[200, 400])
    lines = plots.budget_filled(frame).lines
    assert [line.get_ydata().tolist() for line in lines] == [[50, 100], [75, 100]]
    assert lines[0].get_xdata().tolist() == [200, 400]


def test_reading_is_drawn_in_per_cent_beside_the_whole_and_the_budget():
    frame = pd.DataFrame({"windows of 9 characters": [60, 130]}, index=[0.5, 1.0])
    ax = plots.reading(frame, whole=120, budget=50)
    lines = [(line.get_xdata(), line.get_ydata()) for line in ax.lines]
    assert [list(axis) for axis in lines[0]] == [[50, 100], [60, 130]]
    assert [list(y) for _, y in lines[1:]] == [[120, 120], [50, 50]]
    assert [text.get_text() for text in ax.texts] == [
        "the payload in one result: 120 tokens",
        "budget of one result: 50 tokens",
    ]


def test_a_sequence_has_an_arrow_for_each_step_and_a_box_for_a_step_alone():
    ax = plots.sequence(
        [("you", "model", "ask"), ("model", "model", "think"), ("model", "you", "answer")], "Who?"
    )
    arrows = [
        (text.xyann[0], text.xy[0]) for text in ax.texts if getattr(text, "arrow_patch", None)
    ]
    assert arrows == [(0, 1), (1, 0)]
    assert [text.get_text() for text in ax.texts if text.get_text()] == [
        "you",
        "model",
        "ask",
        "think",
        "answer",
    ]


def test_model_calls_are_counted_and_summed_for_each_way():
    frame = pd.DataFrame(
        {"together": [400, 453, None], "one by one": [400, 410, 420]}, index=[1, 2, 3]
    )
    ax = plots.model_calls(frame)
    assert [[bar.get_height() for bar in bars] for bars in ax.containers] == [
        [400, 453],
        [400, 410, 420],
    ]
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["together: 2 calls, 853 tokens", "one by one: 3 calls, 1,230 tokens"]


def test_the_title_of_growing_definitions_says_what_the_lines_show():
    frame = pd.DataFrame({"thin": [10, 100], "normal": [20, 150], "rich": [48, 350]}, index=[5, 50])
    ax = plots.definition_growth(frame, window=1_000)
    assert [list(line.get_ydata()) for line in ax.lines[:3]] == [[10, 100], [20, 150], [48, 350]]
    assert ax.get_title().endswith("; rich ones weigh 3.5 to 4.8 times thin ones")
