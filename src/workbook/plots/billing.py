"""Figures of benchmark b1: what each technique does to the bill, and to the answers."""

from collections.abc import Mapping, Sequence

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch

from . import look
from .look import BLUE, GREEN, GREY, HEIGHT, ORANGE, PALETTE, PURPLE, RED, SKY

_OUTCOMES = {"correct": GREEN, "recoverable": SKY, "lost": GREY, "silently wrong": RED}
"""What became of a question, and its colour."""

_MODELS = (BLUE, ORANGE, PURPLE)

_DENSE = 84
"""Dots an inch of these figures: they are wide, and full of text, which makes a PNG large."""

_RAISES = 0.005
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
    height = (0.55 * len(first) + 1.6) / HEIGHT
    wide = {"dpi": _DENSE, "sharey": True, "width_ratios": (3, 2)}
    figure, (left, right) = look.panels(2, width=1.2, height=height, **wide)
    _money(left, tables, gap)
    bases = [f"\n(against {base})" if i >= added else "" for i, base in enumerate(first["base"])]
    left.set_yticks(gap, [name + base for name, base in zip(first.index, bases, strict=True)])
    left.invert_yaxis()
    start = [0] * len(first)
    for outcome, color in _OUTCOMES.items():
        bars = right.barh(gap, first[outcome], left=start, height=0.8, color=color, label=outcome)
        right.bar_label(bars, [n or "" for n in first[outcome]], label_type="center", fontsize=10)
        start = [a + b for a, b in zip(start, first[outcome], strict=True)]
    right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=2, fontsize=10)
    for ax in (left, right):
        ax.axhline(added - 0.15, color=GREY, linewidth=1, linestyle=":")
        ax.grid(axis="y", visible=False)
    x = "US dollars (log scale)\nred: it raises the bill; pale: over the window, refused"
    look.label(left, title=title, x=x, y="each added to those above it")
    right.set_title("What became of the questions")
    right.set_xlabel("questions")
    return figure


def _money(ax: Axes, tables: Mapping[str, pd.DataFrame], gap: list[float]) -> None:
    """The bars of each model, and what each comes to."""
    height = 0.8 / len(tables)
    for k, (table, color) in enumerate(zip(tables.values(), _MODELS, strict=False)):
        places = [place + (k - (len(tables) - 1) / 2) * height for place in gap]
        bars = ax.barh(places, table["money"], height=height, color=color)
        for bar, place, row in zip(bars, places, table.itertuples(), strict=True):
            bar.set_alpha(1 if pd.isna(row.refused) else 0.45)
            raises = row.change > 1 + _RAISES
            how = {"color": RED, "weight": "bold"} if raises else {"color": "black"}
            said = _said(row.money, row.change)
            look.note(ax, said, (row.money, place), (4, 0), va="center", fontsize=9.5, **how)
    ax.set_xscale("log")
    least = min(table["money"].min() for table in tables.values())
    ax.set_xlim(least / 2, 8 * next(iter(tables.values()))["money"].max())
    ax.xaxis.set_major_formatter(lambda value, _: f"${value:,g}")
    patches = [Patch(color=c, label=model) for model, c in zip(tables, _MODELS, strict=False)]
    ax.legend(handles=patches, loc="lower right")


def _said(money: float, change: float) -> str:
    amount = f"${money:,.2f}" if money >= 1 else f"${money:.3f}"
    if pd.isna(change):
        return amount
    return f"{amount}  (same)" if abs(change - 1) < _RAISES else f"{amount}  ({change - 1:+.0%})"


def input_per_turn(frame: pd.DataFrame, window: int, title: str) -> Figure:
    """Lines: tokens read on each turn (index, from 1; NaN once a session is over), a column a
    technique, log scale.

    A dashed line stands at *window*, the most tokens that the model takes; above it the request is
    refused.
    """
    figure, (ax,) = look.panels(1, width=1.15, dpi=_DENSE)
    for name, color in zip(frame.columns, [*PALETTE, "black"], strict=False):
        line = frame[name].dropna()
        ax.plot(line.index, line, color=color)
        look.note(ax, name, (line.index[-1], line.iloc[-1]), (5, 0), va="center", color=color)
    ax.axhline(window, color=RED, linestyle="--", linewidth=1.5)
    ax.annotate(f"window: {window:,} tokens", (0.3, window), va="bottom", color=RED)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlim(0, 1.13 * frame.index[-1])
    look.label(ax, title=title, x="turn (one model call)", y="tokens of input (log scale)")
    return figure


def money_by_turn(tables: Mapping[str, pd.DataFrame], titles: Sequence[str]) -> Figure:
    """Lines: cumulative US dollars after each turn (index), a column a technique; a panel a model,
    with its title.
    """
    figure, row = look.panels(len(tables), width=1.15, height=0.85, dpi=_DENSE)
    for ax, (model, frame), title in zip(row, tables.items(), titles, strict=True):
        look.lines(ax, frame, (GREEN, BLUE, RED, GREY))
        ax.yaxis.set_major_formatter("${x:.2f}")
        ax.set_ylim(0)
        look.label(ax, title=title, x="turn (one model call)", y=f"US dollars so far, {model}")
    row[0].legend(loc="upper left")
    return figure
