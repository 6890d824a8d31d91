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

from . import look
from .look import BLUE, GREEN, GREY, HEIGHT, ORANGE, PURPLE, RED, SKY, WIDTH

_DENSE = 80
"""Dots an inch of the larger figures: the PNG of one with much text is heavy."""

_OUTCOMES = {"correct": GREEN, "correct, but larger than the window": GREY, "silently wrong": RED}
"""What became of the answer, and the colour of its bar."""

_WAYS = {"all definitions": ORANGE, "definitions found": GREY, "code": BLUE}
"""The colour of each way to give a model many functions."""


def answer_ways(frame: pd.DataFrame, window: int) -> Axes:
    """Bars on a log axis: the tokens that a model reads in all, for each way of answering a
    question (index).

    *frame* has the columns `input` (cumulative, in tokens), `peak` (tokens of the largest request)
    and `outcome`; a way whose peak is over *window* is marked as one that no model could go.
    """
    ax = look.axes()
    shown = frame.iloc[::-1]  # the first way stands on top
    said = shown["outcome"].where(shown["peak"] <= window, "correct, but larger than the window")
    bars = ax.barh(shown.index, shown["input"], color=said.map(_OUTCOMES), height=0.7)
    ax.bar_label(bars, [f"{tokens:,}" for tokens in shown["input"]], padding=4)
    ax.set_xscale("log")
    ax.set_xlim(100, shown["input"].max() * 8)
    look.thousands(ax.xaxis)
    ax.grid(axis="y", visible=False)
    used = [
        Patch(color=c, label=outcome) for outcome, c in _OUTCOMES.items() if (said == outcome).any()
    ]
    ax.legend(handles=used, loc="lower right")
    title = "The rows stay outside: thousands of times fewer tokens to read"
    x = "tokens that the model reads in all (log scale)"
    return look.label(ax, title=title, x=x, y="way to answer")


def definition_growth(frame: pd.DataFrame, window: int) -> Axes:
    """Lines on log axes: tokens of definitions in each request, by number of functions (index), a
    column a kind.

    A dashed line stands at *window*, the most tokens that the model takes.
    """
    ax = look.axes()
    colours = (GREEN, BLUE, RED)
    look.lines(ax, frame, colours, marker="o")
    for (kind, last), colour in zip(frame.iloc[-1].items(), colours, strict=True):
        at = (frame.index[-1], last)
        look.note(ax, f"{kind}: {last:,}", at, (8, 0), va="center", color=colour)
    look.budget_line(ax, window, "window")
    _log(ax, frame.index)
    look.thousands(ax.yaxis)
    ax.set_xlim(frame.index[0] * 0.9, frame.index[-1] * 2.4)
    thin, rich = frame.columns[0], frame.columns[-1]
    times = frame[rich] / frame[thin]
    heavier = f"{rich} ones weigh {times.min():.1f} to {times.max():.1f} times {thin} ones"
    title = f"Each turn carries every definition; {heavier}"
    return look.label(
        ax, title=title, x="functions (log scale)", y="tokens in each request (log scale)"
    )


def break_even_growth(figures: Mapping[str, tuple[pd.DataFrame, str, float]]) -> Figure:
    """Lines on log axes: what a question costs by number of functions (index), a column a way, a
    panel a title.

    Each panel is (frame, label of the y axis, break-even); a break-even between the smallest and
    the largest number is marked, as whole functions.
    """
    rows = -(-len(figures) // 2)
    figure, grid = look.panels(2, rows=rows, width=1.15, height=0.85 * rows, dpi=_DENSE)
    for ax, (title, (frame, y, crossing)) in zip(grid, figures.items(), strict=True):
        look.lines(ax, frame, map(_WAYS.get, frame), marker="o", markersize=4)
        if frame.index[0] < crossing < frame.index[-1]:
            look.dashed_upright(ax, crossing, f"{math.ceil(crossing)}", (5, -3))
        _log(ax, frame.index)
        money = frame.to_numpy().max() < 10  # dollars, or else tokens
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_major_formatter((lambda value, _: f"${value:,g}") if money else "{x:,.0f}")
        look.label(ax, title=title, x="functions (log scale)", y=y)
    handles = grid[0].get_lines()[: len(_WAYS)]
    figure.legend(handles=handles, loc="outside upper center", ncols=len(_WAYS))
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
    _, ax = plt.subplots(figsize=(WIDTH * 1.1, HEIGHT * 1.05), dpi=_DENSE)
    for left, bottom, width, colour, text in (
        (0, 3.2, 2.6, SKY, "model\nreads and writes text\nholds nothing"),
        (
            4,
            3.2,
            3,
            ORANGE,
            "your program: the loop\nsearch, execute\nholds caller and credentials",
        ),
        (4, 0.3, 3, PURPLE, "sandbox\nruns the code\nno network, files, keys"),
        (8.6, 3.2, 2.8, GREEN, "service\nchecks user, tenant, scope\non every call"),
        (8.6, 0.3, 2.8, GREY, "data\nrows of every tenant"),
    ):
        faint = {"facecolor": colour, "edgecolor": colour, "alpha": 0.25}
        box = FancyBboxPatch((left, bottom), width, 1.5, boxstyle="round,pad=0.05", **faint)
        ax.add_patch(box)
        (name, rest), middle = text.split("\n", 1), left + width / 2
        ax.text(middle, bottom + 1.2, name, ha="center", va="center", weight="bold")
        ax.text(middle, bottom + 0.53, rest, ha="center", va="center", fontsize=10)
    for start, end, text, x, y, side in (  # the text stands at x, y: above it, or at its side
        ((2.7, 4.3), (3.9, 4.3), "code", 3.3, 4.42, "center"),
        ((3.9, 3.6), (2.7, 3.6), "answer", 3.3, 3.72, "center"),
        ((5.0, 3.1), (5.0, 1.9), "code", 4.9, 2.5, "right"),
        ((6.0, 1.9), (6.0, 3.1), "crm.list_tasks(…)", 6.1, 2.5, "left"),
        ((7.1, 4.0), (8.5, 4.0), "as the\ncaller", 7.8, 4.1, "center"),
        ((10.0, 3.1), (10.0, 1.9), "SQL, one tenant", 10.1, 2.5, "left"),
    ):
        look.arrow(ax, start, end, "#444444")
        ax.text(x, y, text, fontsize=10, ha=side, va="bottom" if side == "center" else "center")
    claim = "What a model sends is text,\ncode included. It grants nothing."
    ax.text(1.3, 2.2, claim, ha="center", fontsize=10)
    return look.drawing(ax, "The code asks; the service decides", (-0.3, 11.7), (-0.2, 5.2))
