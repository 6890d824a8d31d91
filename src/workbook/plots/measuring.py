"""Figures of notebooks 00 and 01: what is sent, and how far off an estimate is."""

from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from . import look
from .look import BLUE, GREY, ORANGE, RC, RED


def headline_figure(frame: pd.DataFrame, budget: int = 25_000) -> Figure:
    """Tokens that the model reads after each step, on a log scale; *frame* is
    ``bench.headline.headline()``.
    """
    ax = look.axes()
    names = [f"{row.notebook}\n{row.step}" for row in frame.itertuples()]
    exact = frame["exact"]
    colours = [GREY if n > budget else BLUE for n in exact]
    bars = ax.bar(names, exact, color=colours, width=0.65)
    ax.bar_label(bars, [f"{n:,}" for n in exact], padding=2)
    ax.set_yscale("log")
    ax.set_ylim(100, 4 * exact.max())
    ax.grid(axis="x", visible=False)
    look.budget_line(ax, budget, "Claude Code's cap")
    title = f"Step by step, {exact.iloc[0]:,} tokens become a first page of {exact.min():,}"
    y = "tokens in the tool result (exact, log scale)"
    return look.label(ax, title=title, x="notebook, and what it adds", y=y).figure


def headline_description(frame: pd.DataFrame) -> str:
    """The headline figure in words, for those who cannot see it."""
    steps = ", ".join(f"{row.step} {row.exact:,}" for row in frame.itertuples())
    return f"Tokens after each step: {steps}"


def save_headline(frame: pd.DataFrame, path: str | Path) -> None:
    """Write the headline figure as SVG, the same bytes for the same *frame*; README shows
    ``docs/headline.svg``.
    """
    with matplotlib.rc_context(RC):
        figure = headline_figure(frame)
        metadata = {"Date": None, "Creator": None, "Description": headline_description(frame)}
        figure.savefig(path, format="svg", metadata=metadata)
        plt.close(figure)


def estimate_figure(by_script: pd.Series, by_format: pd.DataFrame) -> Figure:
    """The estimate as a share of the exact count: per script (a ratio each), and per format (a row
    each, a column a data set). Bars start at 1, where the estimate is right."""
    figure, (left, right) = look.panels(2, width=1.2, height=1.1)
    ratios = by_script.sort_values(ascending=False)
    left.barh(ratios.index, ratios - 1, left=1, color=[ORANGE if r < 1 else BLUE for r in ratios])
    for place, ratio in enumerate(ratios):
        shift, side = ((-4, 0), "right") if ratio < 1 else ((4, 0), "left")
        look.note(left, f"{ratio:.2f}", (ratio, place), shift, ha=side, va="center")
    left.set_xscale("log")
    left.set_xlim(0.05, 150)
    title = f"{1 / ratios.min():.0f} times too low to {ratios.max():.0f} times too high"
    look.label(left, title=title, x="estimate ÷ exact (log scale)", y="what the text is")
    (by_format.iloc[::-1] - 1).plot.barh(ax=right, left=1, width=0.75, legend=False)
    title = "White space changes the sign"
    look.label(right, title=title, x="estimate ÷ exact", y="how the JSON is written")
    below = {"loc": "upper center", "bbox_to_anchor": (0.4, -0.16), "ncols": 3, "fontsize": 11}
    right.legend(*(names[::-1] for names in right.get_legend_handles_labels()), **below)
    for ax in (left, right):
        ax.axvline(1, color=RED, linestyle="--", linewidth=1.5)
        ax.grid(axis="y", visible=False)
    return figure


def fields_figure(frames: dict[str, pd.DataFrame]) -> Figure:
    """Each field's share of the characters and of the tokens (columns ``characters`` and
    ``tokens``, fractions), one panel a data set."""
    figure, row = look.panels(len(frames), width=1.2, height=1.1, sharex=True)
    for ax, (name, frame) in zip(row, frames.items(), strict=True):
        shares = 100 * frame.sort_values("tokens")[["tokens", "characters"]]
        shares.plot.barh(ax=ax, width=0.75, color=[BLUE, GREY], legend=False)
        look.label(ax, title=name, x="share of the whole result (%)", y="field")
        ax.grid(axis="y", visible=False)
    names = (names[::-1] for names in row[0].get_legend_handles_labels())
    row[0].legend(*names, loc="lower right")
    return figure
