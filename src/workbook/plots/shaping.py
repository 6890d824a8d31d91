"""Figures of notebooks 04 to 06: what a row, a budget and a window cost."""

import pandas as pd
from matplotlib.axes import Axes

from . import look
from .look import BLUE, GREEN, GREY, ORANGE, RED


def concise_share(frame: pd.DataFrame) -> Axes:
    """Bars: what is left of each shape of row. *frame*: index shape, column ``share`` (concise ÷
    detailed, 0 to 1).
    """
    ax = look.axes()
    bars = ax.barh(frame.index, 100 * frame["share"], color=BLUE)
    texts = [f"{share:.0%}" if share >= 0.01 else "< 1%" for share in frame["share"]]
    ax.bar_label(bars, texts, padding=4)
    ax.axvline(100 / 3, color=RED, linestyle="--", linewidth=1.5)
    ax.annotate("published: one third", (100 / 3 + 1, -0.35), color=RED, va="center")
    ax.set_xlim(0, max(50, 110 * frame["share"].max()))  # room for the text beside the line
    ax.invert_yaxis()
    title = "How much is left depends on the rows"
    return look.label(ax, title=title, x="concise tokens (% of detailed)", y="rows of")


def trimming(frame: pd.DataFrame) -> Axes:
    """Stacked bars of ``first page`` and ``follow-ups`` in tokens for each row of *frame*, named by
    ``fields``.
    """
    ax = look.axes()
    names, first, more = (frame[column] for column in ("fields", "first page", "follow-ups"))
    ax.bar(names, first, color=BLUE, label="first pages")
    ax.bar(names, more, bottom=first, color=ORANGE, label="follow-up calls")
    ax.set_ylim(0, 1.1 * (first + more).max())  # head room: no bar is cut
    ax.legend()
    title = "Too few fields cost as much as too many"
    return look.label(ax, title=title, x="fields of a row, one more each", y="tokens")


def budget_filled(frame: pd.DataFrame) -> Axes:
    """Lines: the share of each budget that is filled. *frame*: index budget in tokens, columns of
    shares (0 to 1).
    """
    ax = look.axes()
    look.lines(ax, 100 * frame, (ORANGE, BLUE))
    ax.set_ylim(0, 105)
    ax.legend(loc="lower right")
    title = "Halving leaves nearly half of some budgets empty"
    return look.label(ax, title=title, x="budget (tokens)", y="filled (%)")


def reading(frame: pd.DataFrame, whole: int, budget: int = 25_000) -> Axes:
    """Tokens spent (columns, one a size of window) by the share of a payload that was read (index,
    a fraction), against the payload in one result (*whole*, tokens) and the *budget* that it would
    have to pass."""
    ax = look.axes()
    look.lines(ax, frame.set_axis(100 * frame.index), (BLUE, ORANGE, GREEN))
    ax.axhline(whole, color=GREY, linewidth=1.5)
    ax.annotate(f"the payload in one result: {whole:,} tokens", (1, whole), va="bottom", color=GREY)
    look.budget_line(ax, budget, "budget of one result")
    look.thousands(ax.yaxis)
    ax.legend(loc="upper left", bbox_to_anchor=(0, 0.82))
    title = "A window costs what it shows: stop early"
    return look.label(ax, title=title, x="share of the payload read (%)", y="tokens of results")
