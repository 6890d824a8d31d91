"""Figures of notebooks 07 and 11: code that runs next to the data, in place of rows that go to the
model.
"""

import math
from collections.abc import Mapping

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Patch
from matplotlib.ticker import LogLocator, NullLocator

from .look import (
    BLUE,
    GREEN,
    GREY,
    HEIGHT,
    ORANGE,
    PURPLE,
    RED,
    SKY,
    WIDTH,
    axes,
    budget_line,
    label,
)

# --- Notebook 07

OUTCOMES = {"correct": GREEN, "correct, but larger than the window": GREY, "silently wrong": RED}
"""What became of the answer, and the colour of its bar."""


def answer_ways(frame: pd.DataFrame, window: int) -> Axes:
    """Bars on a log axis: the tokens that a model reads in all, for each way of answering a
    question (index).

    *frame* has the columns `input` (cumulative, in tokens), `peak` (tokens of the largest request)
    and `outcome`; a way whose peak is over *window* is marked as one that no model could go.
    """
    ax = axes()
    shown = frame.iloc[::-1]  # the first way stands on top
    said = shown["outcome"].where(shown["peak"] <= window, "correct, but larger than the window")
    bars = ax.barh(shown.index, shown["input"], color=said.map(OUTCOMES), height=0.7)
    ax.bar_label(bars, [f"{tokens:,}" for tokens in shown["input"]], padding=4)
    ax.set_xscale("log")
    ax.set_xlim(100, shown["input"].max() * 8)
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.grid(axis="y", visible=False)
    used = [outcome for outcome in OUTCOMES if outcome in set(said)]
    ax.legend(
        handles=[Patch(color=OUTCOMES[outcome], label=outcome) for outcome in used],
        loc="lower right",
    )
    title = "The rows stay outside: thousands of times fewer tokens to read"
    return label(
        ax, title=title, x="tokens that the model reads in all (log scale)", y="way to answer"
    )


# --- Notebook 11

DENSE = 80
"""Dots an inch of the larger figures: the PNG of one with much text is heavy."""

WAY_COLOURS = {"all definitions": ORANGE, "definitions found": GREY, "code": BLUE}
"""The colour of each way to give a model many functions."""


def definition_growth(frame: pd.DataFrame, window: int) -> Axes:
    """Lines on log axes: tokens of definitions in each request, by number of functions (index), a
    column a kind.

    A dashed line stands at *window*, the most tokens that the model takes.
    """
    ax = axes()
    for kind, colour in zip(frame.columns, (GREEN, BLUE, RED), strict=True):
        ax.plot(frame.index, frame[kind], color=colour, marker="o")
        last = frame[kind].iloc[-1]
        ax.annotate(
            f"{kind}: {last:,}",
            (frame.index[-1], last),
            xytext=(8, 0),
            textcoords="offset points",
            va="center",
            color=colour,
        )
    budget_line(ax, window, name="window")
    _log(ax, frame.index)
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlim(frame.index[0] * 0.9, frame.index[-1] * 2.4)
    times = frame[frame.columns[-1]] / frame[frame.columns[0]]
    heavier = f"{frame.columns[-1]} ones weigh {times.min():.1f} to {times.max():.1f} times {frame.columns[0]} ones"
    title = f"Each turn carries every definition; {heavier}"
    return label(ax, title=title, x="functions (log scale)", y="tokens in each request (log scale)")


def break_even_growth(panels: Mapping[str, tuple[pd.DataFrame, str, float]]) -> Figure:
    """Lines on log axes: what a question costs by number of functions (index), a column a way, a
    panel a title.

    Each panel is (frame, label of the y axis, break-even); a break-even between the smallest and
    the largest number is marked, as whole functions.
    """
    columns = 2
    rows = -(-len(panels) // columns)
    figure, grid = plt.subplots(
        rows, columns, figsize=(WIDTH * 1.15, HEIGHT * 0.85 * rows), dpi=DENSE, squeeze=False
    )
    for ax, (title, (frame, y, crossing)) in zip(grid.flat, panels.items(), strict=True):
        for way in frame.columns:
            ax.plot(
                frame.index, frame[way], color=WAY_COLOURS[way], marker="o", markersize=4, label=way
            )
        if frame.index[0] < crossing < frame.index[-1]:
            ax.axvline(crossing, color=RED, linestyle="--", linewidth=1.5)
            place = {"xytext": (5, -3), "textcoords": "offset points", "va": "top"}
            ax.annotate(
                f"{math.ceil(crossing)}",
                (crossing, 1),
                xycoords=("data", "axes fraction"),
                color=RED,
                **place,
            )
        _log(ax, frame.index)
        money = frame.to_numpy().max() < 10  # dollars, or else tokens
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_major_formatter((lambda value, _: f"${value:,g}") if money else "{x:,.0f}")
        label(ax, title=title, x="functions (log scale)", y=y)
    figure.legend(
        handles=grid[0][0].get_lines()[: len(WAY_COLOURS)],
        loc="outside upper center",
        ncols=len(WAY_COLOURS),
    )
    return figure


def _log(ax: Axes, ticks: pd.Index) -> None:
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(ticks, [str(tick) for tick in ticks], fontsize=10)
    ax.xaxis.set_minor_formatter("")


def who_holds_what() -> Axes:
    """A drawing of code mode: model, loop, sandbox and service, what goes between them, and where
    the rights are.
    """
    _, ax = plt.subplots(figsize=(WIDTH * 1.1, HEIGHT * 1.05), dpi=DENSE)
    boxes = {  # left, bottom, width, height, colour, lines
        "model": (0.0, 3.2, 2.6, 1.5, SKY, "model\nreads and writes text\nholds nothing"),
        "loop": (
            4.0,
            3.2,
            3.0,
            1.5,
            ORANGE,
            "your program: the loop\nsearch, execute\nholds caller and credentials",
        ),
        "sandbox": (4.0, 0.3, 3.0, 1.5, PURPLE, "sandbox\nruns the code\nno network, files, keys"),
        "service": (
            8.6,
            3.2,
            2.8,
            1.5,
            GREEN,
            "service\nchecks user, tenant, scope\non every call",
        ),
        "data": (8.6, 0.3, 2.8, 1.5, GREY, "data\nrows of every tenant"),
    }
    for left, bottom, width, height, colour, text in boxes.values():
        box = FancyBboxPatch(
            (left, bottom),
            width,
            height,
            boxstyle="round,pad=0.05",
            facecolor=colour,
            alpha=0.25,
            edgecolor=colour,
        )
        ax.add_patch(box)
        name, _, rest = text.partition("\n")
        ax.text(
            left + width / 2, bottom + height - 0.3, name, ha="center", va="center", weight="bold"
        )
        ax.text(
            left + width / 2,
            bottom + height / 2 - 0.22,
            rest,
            ha="center",
            va="center",
            fontsize=10,
        )
    arrows = (  # from, to, text, where the text stands
        ((2.7, 4.3), (3.9, 4.3), "code", (3.3, 4.42, "bottom")),
        ((3.9, 3.6), (2.7, 3.6), "answer", (3.3, 3.72, "bottom")),
        ((5.0, 3.1), (5.0, 1.9), "code", (4.9, 2.5, "right")),
        ((6.0, 1.9), (6.0, 3.1), "crm.list_tasks(…)", (6.1, 2.5, "left")),
        ((7.1, 4.0), (8.5, 4.0), "as the\ncaller", (7.8, 4.1, "bottom")),
        ((10.0, 3.1), (10.0, 1.9), "SQL, one tenant", (10.1, 2.5, "left")),
    )
    for start, end, text, (x, y, side) in arrows:
        ax.annotate(
            "", end, start, arrowprops={"arrowstyle": "-|>", "color": "#444444", "linewidth": 1.8}
        )
        sides = (
            {"ha": "center", "va": "bottom"} if side == "bottom" else {"ha": side, "va": "center"}
        )
        ax.text(x, y, text, fontsize=10, **sides)
    ax.text(
        1.3,
        2.2,
        "What a model sends is text,\ncode included. It grants nothing.",
        ha="center",
        fontsize=10,
    )
    ax.set_xlim(-0.3, 11.7)
    ax.set_ylim(-0.2, 5.2)
    ax.set_title("The code asks; the service decides")
    ax.axis("off")
    return ax
