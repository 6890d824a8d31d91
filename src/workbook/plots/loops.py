"""Figures of notebooks 08 and 09: what a loop does, and what it costs."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from . import look
from .look import BLUE, GREEN, GREY, ORANGE, RED, SKY, WIDTH


def sequence(steps: Sequence[tuple[str, str, str]], title: str) -> Axes:
    """A sequence diagram: an arrow for each (from, to, text), from top to bottom; a step of one
    party to itself is a box. Parties stand from left to right in the order in which they appear."""
    parties = list(dict.fromkeys(party for start, end, _ in steps for party in (start, end)))
    _, ax = plt.subplots(figsize=(WIDTH, 0.55 * len(steps) + 1.2))

    def box(pad: float, fill: str, edge: str = "none", **more) -> dict:
        return {"boxstyle": f"round,pad={pad}", "facecolor": fill, "edgecolor": edge, **more}

    middle, small = {"ha": "center", "va": "center"}, {"ha": "center", "fontsize": 10}
    for x, party in enumerate(parties):
        ax.plot([x, x], [0, len(steps) + 0.5], color="#DDDDDD", linewidth=1.5, zorder=0)
        ax.text(x, 0, party, weight="bold", bbox=box(0.4, SKY, alpha=0.5), **middle)
    for y, (start, end, text) in enumerate(steps, 1):
        a, b = parties.index(start), parties.index(end)
        if a == b:
            ax.text(a, y, text, va="center", bbox=box(0.3, "white", ORANGE), **small)
            continue
        look.arrow(ax, (a, y), (b, y), BLUE if b > a else GREEN, shrinkA=0, shrinkB=0)
        # its white box hides the lines of others
        ax.text((a + b) / 2, y - 0.12, text, va="bottom", bbox=box(0.1, "white"), **small)
    return look.drawing(ax, title, (-0.5, len(parties) - 0.5), (len(steps) + 0.6, -0.6))


def model_calls(frame: pd.DataFrame) -> Axes:
    """Bars: tokens that each model call of a question reads. *frame*: index the number of the call,
    a column a way; NaN where a way needs no such call."""
    ax = look.axes()
    width = 0.8 / len(frame.columns)
    for place, (way, colour) in enumerate(zip(frame.columns, (BLUE, ORANGE), strict=False)):
        read = frame[way].dropna().astype(int)
        name = f"{way}: {len(read)} calls, {read.sum():,} tokens"
        at = read.index + (place - (len(frame.columns) - 1) / 2) * width
        bars = ax.bar(at, read, width, color=colour, label=name)
        ax.bar_label(bars, [f"{n:,}" for n in read], padding=2)
    ax.set_xticks(frame.index)
    ax.grid(axis="x", visible=False)
    ax.margins(y=0.35)
    ax.legend(loc="upper left")
    title = "Every model call reads the whole history again"
    return look.label(ax, title=title, x="model call", y="tokens that the model reads")


_TRIMMED = {"untrimmed": GREY, "cleared": GREEN, "windowed": RED, "summarised": ORANGE}
"""The colour of each way of trimming, the same in every figure."""


def history_triangle(inputs: Sequence[int]) -> Axes:
    """Bars: the input of each turn, in tokens, in two parts: what was read before, and what is
    new.
    """
    ax = look.axes()
    before = [0, *inputs[:-1]]
    new = [after - read for read, after in zip(before, inputs, strict=True)]
    turns = range(1, len(inputs) + 1)
    ax.bar(turns, before, color=GREY, alpha=0.6, label="read before")
    ax.bar(turns, new, bottom=before, color=BLUE, label="new")
    look.thousands(ax.yaxis)
    ax.grid(axis="x", visible=False)
    ax.legend(loc="upper left")
    title = f"{inputs[-1]:,} different tokens, and {sum(inputs):,} read"
    return look.label(ax, title=title, x="turn", y="input (tokens)")


def trimmed_turns(frame: pd.DataFrame) -> Axes:
    """Lines: the input of each turn (index), in tokens, a column a way of trimming."""
    ax = look.axes()
    look.lines(ax, frame, map(_TRIMMED.get, frame))
    look.thousands(ax.yaxis)
    ax.legend(loc="upper left")
    title = "Each way of trimming flattens the triangle"
    return look.label(ax, title=title, x="turn", y="input (tokens)")


def trimmed_money(frames: Mapping[str, pd.DataFrame]) -> Figure:
    """Lines: cumulative money with a prompt cache after each turn (index), a column a way of
    trimming, a panel an API.

    The title of each says how many times the first column's money the last one comes to.
    """
    figure, row = look.panels(len(frames), width=1.1)
    for ax, (api, frame) in zip(row, frames.items(), strict=True):
        look.lines(ax, frame, map(_TRIMMED.get, frame))
        first, last = frame.columns[0], frame.columns[-1]
        times = frame[last].iloc[-1] / frame[first].iloc[-1]
        title = f"{api}: {last} costs {times:.1f} × {first}"
        look.label(ax, title=title, x="turn", y="cumulative money (US dollars)")
    row[0].legend(loc="upper left")
    return figure


def clearing_batches(frame: pd.DataFrame) -> Axes:
    """Lines: money as a share of the untrimmed session's (a column an API), by how many tokens a
    round must free.
    """
    ax = look.axes()
    look.lines(ax, 100 * frame, (BLUE, ORANGE), marker="o")
    look.dashed(ax, 100, "untrimmed", GREY)
    look.thousands(ax.xaxis)
    ax.legend()
    title = "A little on every turn costs most; seldom and much costs least"
    x = "tokens that a round must free (clear_at_least)"
    return look.label(ax, title=title, x=x, y="money (% of untrimmed)")
