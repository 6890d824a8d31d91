"""Figures of notebooks 00 and 01: what is sent, and how far off an estimate is."""

from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure

from .look import BLUE, GREY, HEIGHT, ORANGE, RC, RED, WIDTH, budget_line, label


def headline_figure(frame: pd.DataFrame, budget: int = 25_000) -> Figure:
    """Tokens that the model reads after each step, on a log scale; *frame* is
    ``bench.headline.headline()``.
    """
    figure, ax = plt.subplots()
    names = [f"{row.notebook}\n{row.step}" for row in frame.itertuples()]
    bars = ax.bar(
        names,
        frame["exact"],
        color=[GREY if n > budget else BLUE for n in frame["exact"]],
        width=0.65,
    )
    ax.bar_label(bars, [f"{n:,}" for n in frame["exact"]], padding=2)
    ax.set_yscale("log")
    ax.set_ylim(100, 4 * frame["exact"].max())
    ax.grid(axis="x", visible=False)
    budget_line(ax, budget, name="Claude Code's cap")
    title = f"Step by step, {frame['exact'].iloc[0]:,} tokens become a first page of {frame['exact'].min():,}"
    label(
        ax,
        title=title,
        x="notebook, and what it adds",
        y="tokens in the tool result (exact, log scale)",
    )
    return figure


def headline_description(frame: pd.DataFrame) -> str:
    """The headline figure in words, for those who cannot see it."""
    return "Tokens after each step: " + ", ".join(
        f"{row.step} {row.exact:,}" for row in frame.itertuples()
    )


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
    figure, (left, right) = plt.subplots(1, 2, figsize=(WIDTH * 1.2, HEIGHT * 1.1))
    ratios = by_script.sort_values(ascending=False)
    left.barh(ratios.index, ratios - 1, left=1, color=[ORANGE if r < 1 else BLUE for r in ratios])
    for place, ratio in enumerate(ratios):
        left.annotate(
            f"{ratio:.2f}",
            (ratio, place),
            xytext=(-4 if ratio < 1 else 4, 0),
            textcoords="offset points",
            ha="right" if ratio < 1 else "left",
            va="center",
        )
    left.set_xscale("log")
    left.set_xlim(0.05, 150)
    low, high = 1 / ratios.min(), ratios.max()
    label(
        left,
        title=f"{low:.0f} times too low to {high:.0f} times too high",
        x="estimate ÷ exact (log scale)",
        y="what the text is",
    )
    (by_format.iloc[::-1] - 1).plot.barh(ax=right, left=1, width=0.75, legend=False)
    label(
        right,
        title="White space changes the sign",
        x="estimate ÷ exact",
        y="how the JSON is written",
    )
    handles, names = right.get_legend_handles_labels()
    right.legend(
        handles[::-1],
        names[::-1],
        loc="upper center",
        bbox_to_anchor=(0.4, -0.16),
        ncols=3,
        fontsize=11,
    )
    for ax in (left, right):
        ax.axvline(1, color=RED, linestyle="--", linewidth=1.5)
        ax.grid(axis="y", visible=False)
    return figure


def fields_figure(frames: dict[str, pd.DataFrame]) -> Figure:
    """Each field's share of the characters and of the tokens (columns ``characters`` and
    ``tokens``, fractions), one panel a data set."""
    figure, axes = plt.subplots(
        1, len(frames), figsize=(WIDTH * 1.2, HEIGHT * 1.1), sharex=True, squeeze=False
    )
    for ax, (name, frame) in zip(axes[0], frames.items(), strict=True):
        shares = 100 * frame.sort_values("tokens")[["tokens", "characters"]]
        shares.plot.barh(ax=ax, width=0.75, color=[BLUE, GREY], legend=False)
        label(ax, title=name, x="share of the whole result (%)", y="field")
        ax.grid(axis="y", visible=False)
    handles, names = axes[0][0].get_legend_handles_labels()
    axes[0][0].legend(handles[::-1], names[::-1], loc="lower right")
    return figure
