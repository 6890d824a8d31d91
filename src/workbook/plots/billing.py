"""Figures of benchmark b1: what each technique does to the bill, and to the answers."""

from collections.abc import Mapping, Sequence

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from .look import BLUE, GREEN, GREY, HEIGHT, ORANGE, PALETTE, PURPLE, RED, SKY, WIDTH, label

OUTCOMES = {"correct": GREEN, "recoverable": SKY, "lost": GREY, "silently wrong": RED}
"""What became of a question, and its colour."""

DENSE = 84
"""Dots an inch of these figures: they are wide, and full of text, which makes a PNG large."""

RAISES = 0.005
"""A bill that grows by less than half a per cent is drawn as one that stays."""


def technique_bill(tables: Mapping[str, pd.DataFrame], added: int, title: str) -> Figure:
    """Bars: the bill of a session for each technique, a bar a model, and what became of its
    questions.

    *tables*: for each model a frame with the index technique and the columns ``money`` (US
    dollars), ``change`` (a multiple of the line that it is compared with, NaN for none), ``base``
    (the name of that line), ``refused`` (NaN where the model takes the whole session) and one for
    each outcome (questions). The first *added* lines are techniques added one after the other;
    variants stand apart below. A change upward is red, a bill that no model would have taken is
    pale.
    """
    first = next(iter(tables.values()))
    gap = [place + (0.7 if place >= added else 0) for place in range(len(first))]
    figure, (left, right) = plt.subplots(
        1,
        2,
        figsize=(WIDTH * 1.2, 0.55 * len(first) + 1.6),
        dpi=DENSE,
        sharey=True,
        width_ratios=(3, 2),
    )
    height, colors = 0.8 / len(tables), dict(zip(tables, (BLUE, ORANGE, PURPLE), strict=False))
    for k, (model, table) in enumerate(tables.items()):
        places = [place + (k - (len(tables) - 1) / 2) * height for place in gap]
        bars = left.barh(places, table["money"], height=height, color=colors[model])
        for bar, turn in zip(bars, table["refused"], strict=True):
            bar.set_alpha(1 if pd.isna(turn) else 0.45)
        for place, money, change in zip(places, table["money"], table["change"], strict=True):
            left.annotate(
                _said(money, change),
                (money, place),
                xytext=(4, 0),
                textcoords="offset points",
                va="center",
                fontsize=9.5,
                color=RED if change > 1 + RAISES else "black",
                weight="bold" if change > 1 + RAISES else "normal",
            )
    left.set_xscale("log")
    left.set_xlim(
        min(table["money"].min() for table in tables.values()) / 2, 8 * first["money"].max()
    )
    left.xaxis.set_major_formatter(lambda value, _: f"${value:,g}")
    bases = [
        f"\n(against {base})" if place >= added else "" for place, base in enumerate(first["base"])
    ]
    left.set_yticks(gap, [name + base for name, base in zip(first.index, bases, strict=True)])
    left.invert_yaxis()
    left.legend(
        handles=[Patch(color=color, label=model) for model, color in colors.items()],
        loc="lower right",
    )
    start = [0] * len(first)
    for outcome, color in OUTCOMES.items():
        bars = right.barh(gap, first[outcome], left=start, height=0.8, color=color, label=outcome)
        right.bar_label(bars, [n or "" for n in first[outcome]], label_type="center", fontsize=10)
        start = [a + b for a, b in zip(start, first[outcome], strict=True)]
    right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2, fontsize=10)
    for ax in (left, right):
        ax.axhline(added - 0.15, color=GREY, linewidth=1, linestyle=":")
        ax.grid(axis="y", visible=False)
    label(
        left,
        title=title,
        x="US dollars (log scale)\nred: it raises the bill; pale: over the window, refused",
        y="each added to those above it",
    )
    right.set_title("What became of the questions")
    right.set_xlabel("questions")
    return figure


def _said(money: float, change: float) -> str:
    amount = f"${money:,.2f}" if money >= 1 else f"${money:.3f}"
    if pd.isna(change):
        return amount
    return f"{amount}  (same)" if abs(change - 1) < RAISES else f"{amount}  ({change - 1:+.0%})"


def input_per_turn(frame: pd.DataFrame, window: int, title: str) -> Figure:
    """Lines: tokens read on each turn (index, from 1; NaN once a session is over), a column a
    technique, log scale.

    A dashed line stands at *window*, the most tokens that the model takes; above it the request is
    refused.
    """
    figure, ax = plt.subplots(figsize=(WIDTH * 1.15, HEIGHT), dpi=DENSE)
    for name, color in zip(frame.columns, [*PALETTE, "black"], strict=False):
        line = frame[name].dropna()
        ax.plot(line.index, line, color=color)
        ax.annotate(
            name,
            (line.index[-1], line.iloc[-1]),
            xytext=(5, 0),
            textcoords="offset points",
            va="center",
            color=color,
        )
    ax.axhline(window, color=RED, linestyle="--", linewidth=1.5)
    ax.annotate(f"window: {window:,} tokens", (0.3, window), va="bottom", color=RED)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlim(0, 1.13 * frame.index[-1])
    label(ax, title=title, x="turn (one model call)", y="tokens of input (log scale)")
    return figure


def money_by_turn(panels: Mapping[str, pd.DataFrame], title: Sequence[str]) -> Figure:
    """Lines: cumulative US dollars after each turn (index), a column a technique; a panel a model,
    with its title.
    """
    figure, row = plt.subplots(
        1, len(panels), figsize=(WIDTH * 1.15, HEIGHT * 0.85), dpi=DENSE, squeeze=False
    )
    for ax, (model, frame), said in zip(row[0], panels.items(), title, strict=True):
        for name, color in zip(frame.columns, (GREEN, BLUE, RED, GREY), strict=False):
            ax.plot(frame.index, frame[name], color=color, label=name)
        ax.yaxis.set_major_formatter("${x:.2f}")
        ax.set_ylim(0)
        label(ax, title=said, x="turn (one model call)", y=f"US dollars so far, {model}")
    row[0][0].legend(loc="upper left")
    return figure
