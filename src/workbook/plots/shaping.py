"""Figures of notebooks 04 to 06: what a row, a budget and a window cost."""

import pandas as pd
from matplotlib.axes import Axes

from .look import BLUE, GREEN, GREY, ORANGE, RED, axes, budget_line, label


def concise_share(frame) -> Axes:
    """Bars: what is left of each shape of row. *frame*: index shape, column ``share`` (concise ÷
    detailed, 0 to 1).
    """
    ax = axes()
    bars = ax.barh(frame.index, 100 * frame["share"], color=BLUE)
    ax.bar_label(
        bars, [f"{share:.0%}" if share >= 0.01 else "< 1%" for share in frame["share"]], padding=4
    )
    ax.axvline(100 / 3, color=RED, linestyle="--", linewidth=1.5)
    ax.annotate("published: one third", (100 / 3 + 1, -0.35), color=RED, va="center")
    ax.set_xlim(0, max(50, 110 * frame["share"].max()))  # room for the text beside the line
    ax.invert_yaxis()
    return label(
        ax,
        title="How much is left depends on the rows",
        x="concise tokens (% of detailed)",
        y="rows of",
    )


def trimming(frame) -> Axes:
    """Stacked bars of ``first page`` and ``follow-ups`` in tokens for each row of *frame*, named by
    ``fields``.
    """
    ax = axes()
    ax.bar(frame["fields"], frame["first page"], color=BLUE, label="first pages")
    ax.bar(
        frame["fields"],
        frame["follow-ups"],
        bottom=frame["first page"],
        color=ORANGE,
        label="follow-up calls",
    )
    ax.set_ylim(
        0, 1.1 * (frame["first page"] + frame["follow-ups"]).max()
    )  # head room: no bar is cut
    ax.legend()
    return label(
        ax,
        title="Too few fields cost as much as too many",
        x="fields of a row, one more each",
        y="tokens",
    )


def budget_filled(frame) -> Axes:
    """Lines: the share of each budget that is filled. *frame*: index budget in tokens, columns of
    shares (0 to 1).
    """
    ax = axes()
    for column, color in zip(frame.columns, (ORANGE, BLUE), strict=False):
        ax.plot(frame.index, 100 * frame[column], color=color, label=column)
    ax.set_ylim(0, 105)
    ax.legend(loc="lower right")
    return label(
        ax,
        title="Halving leaves nearly half of some budgets empty",
        x="budget (tokens)",
        y="filled (%)",
    )


def reading(frame: pd.DataFrame, whole: int, budget: int = 25_000) -> Axes:
    """Tokens spent (columns, one a size of window) by the share of a payload that was read (index,
    a fraction), against the payload in one result (*whole*, tokens) and the *budget* that it would
    have to pass."""
    ax = axes()
    for name, colour in zip(frame.columns, (BLUE, ORANGE, GREEN), strict=False):
        ax.plot(100 * frame.index, frame[name], color=colour, label=name)
    ax.axhline(whole, color=GREY, linewidth=1.5)
    ax.annotate(f"the payload in one result: {whole:,} tokens", (1, whole), va="bottom", color=GREY)
    budget_line(ax, budget, name="budget of one result")
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.legend(loc="upper left", bbox_to_anchor=(0, 0.82))
    return label(
        ax,
        title="A window costs what it shows: stop early",
        x="share of the payload read (%)",
        y="tokens of results",
    )
