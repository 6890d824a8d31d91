"""Figures of notebooks 08, 09 and b1: what a loop does, and what it costs."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .look import BLUE, GREEN, GREY, HEIGHT, ORANGE, RED, SKY, WIDTH, axes, label

# --- Notebook 09


def sequence(steps: Sequence[tuple[str, str, str]], title: str) -> Axes:
    """A sequence diagram: an arrow for each (from, to, text), from top to bottom; a step of one
    party to itself is a box. Parties stand from left to right in the order in which they appear."""
    parties = list(dict.fromkeys(party for start, end, _ in steps for party in (start, end)))
    figure, ax = plt.subplots(figsize=(WIDTH, 0.55 * len(steps) + 1.2))
    for x, party in enumerate(parties):
        ax.plot([x, x], [0, len(steps) + 0.5], color="#DDDDDD", linewidth=1.5, zorder=0)
        box = {"boxstyle": "round,pad=0.4", "facecolor": SKY, "edgecolor": "none", "alpha": 0.5}
        ax.text(x, 0, party, ha="center", va="center", weight="bold", bbox=box)
    for y, (start, end, text) in enumerate(steps, 1):
        a, b = parties.index(start), parties.index(end)
        if a == b:
            box = {"boxstyle": "round,pad=0.3", "facecolor": "white", "edgecolor": ORANGE}
            ax.text(a, y, text, ha="center", va="center", fontsize=10, bbox=box)
            continue
        arrow = {
            "arrowstyle": "-|>",
            "color": BLUE if b > a else GREEN,
            "linewidth": 1.8,
            "shrinkA": 0,
            "shrinkB": 0,
        }
        ax.annotate("", (b, y), (a, y), arrowprops=arrow)
        behind = {
            "boxstyle": "round,pad=0.1",
            "facecolor": "white",
            "edgecolor": "none",
        }  # hides the lines of others
        ax.text((a + b) / 2, y - 0.12, text, ha="center", va="bottom", fontsize=10, bbox=behind)
    ax.set_xlim(-0.5, len(parties) - 0.5)
    ax.set_ylim(len(steps) + 0.6, -0.6)
    ax.set_title(title)
    ax.axis("off")
    return ax


def model_calls(frame: pd.DataFrame) -> Axes:
    """Bars: tokens that each model call of a question reads. *frame*: index the number of the call,
    a column a way; NaN where a way needs no such call."""
    _, ax = plt.subplots()
    width = 0.8 / len(frame.columns)
    for place, (way, colour) in enumerate(zip(frame.columns, (BLUE, ORANGE), strict=False)):
        read = frame[way].dropna().astype(int)
        name = f"{way}: {len(read)} calls, {read.sum():,} tokens"
        bars = ax.bar(
            read.index + (place - (len(frame.columns) - 1) / 2) * width,
            read,
            width,
            color=colour,
            label=name,
        )
        ax.bar_label(bars, [f"{n:,}" for n in read], padding=2)
    ax.set_xticks(frame.index)
    ax.grid(axis="x", visible=False)
    ax.margins(y=0.35)
    ax.legend(loc="upper left")
    title = "Every model call reads the whole history again"
    return label(ax, title=title, x="model call", y="tokens that the model reads")


# --- Notebook 08

TRIMMED = {"untrimmed": GREY, "cleared": GREEN, "windowed": RED, "summarised": ORANGE}
"""The colour of each way of trimming, the same in every figure."""


def history_triangle(inputs: Sequence[int]) -> Axes:
    """Bars: the input of each turn, in tokens, in two parts: what was read before, and what is
    new.
    """
    ax = axes()
    before = [0, *inputs[:-1]]
    new = [after - read for read, after in zip(before, inputs, strict=True)]
    turns = range(1, len(inputs) + 1)
    ax.bar(turns, before, color=GREY, alpha=0.6, label="read before")
    ax.bar(turns, new, bottom=before, color=BLUE, label="new")
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.grid(axis="x", visible=False)
    ax.legend(loc="upper left")
    title = f"{inputs[-1]:,} different tokens, and {sum(inputs):,} read"
    return label(ax, title=title, x="turn", y="input (tokens)")


def trimmed_turns(frame: pd.DataFrame) -> Axes:
    """Lines: the input of each turn (index), in tokens, a column a way of trimming."""
    ax = axes()
    for name in frame.columns:
        ax.plot(frame.index, frame[name], color=TRIMMED.get(name), label=name)
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.legend(loc="upper left")
    return label(
        ax, title="Each way of trimming flattens the triangle", x="turn", y="input (tokens)"
    )


def trimmed_money(frames: Mapping[str, pd.DataFrame]) -> Figure:
    """Lines: cumulative money with a prompt cache after each turn (index), a column a way of
    trimming, a panel an API.

    The title of each says how many times the first column's money the last one comes to.
    """
    figure, panels = plt.subplots(1, len(frames), figsize=(WIDTH * 1.1, HEIGHT), squeeze=False)
    for ax, (api, frame) in zip(panels[0], frames.items(), strict=True):
        for name in frame.columns:
            ax.plot(frame.index, frame[name], color=TRIMMED.get(name), label=name)
        first, last = frame.columns[0], frame.columns[-1]
        times = frame[last].iloc[-1] / frame[first].iloc[-1]
        label(
            ax,
            title=f"{api}: {last} costs {times:.1f} × {first}",
            x="turn",
            y="cumulative money (US dollars)",
        )
    panels[0][0].legend(loc="upper left")
    return figure


def clearing_batches(frame: pd.DataFrame) -> Axes:
    """Lines: money as a share of the untrimmed session's (a column an API), by how many tokens a
    round must free.
    """
    ax = axes()
    for name, colour in zip(frame.columns, (BLUE, ORANGE), strict=False):
        ax.plot(frame.index, 100 * frame[name], color=colour, marker="o", label=name)
    ax.axhline(100, color=GREY, linestyle="--", linewidth=1.5)
    ax.annotate(
        "untrimmed",
        (0.995, 100),
        xycoords=("axes fraction", "data"),
        ha="right",
        va="bottom",
        color=GREY,
    )
    ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.legend()
    title = "A little on every turn costs most; seldom and much costs least"
    return label(
        ax,
        title=title,
        x="tokens that a round must free (clear_at_least)",
        y="money (% of untrimmed)",
    )
