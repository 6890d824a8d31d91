"""Figures of notebooks 02 and 03: where a filter stands, and how a listing is walked."""

import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from .look import BLUE, GREEN, ORANGE, RED, WIDTH, budget_line, label


def where_to_filter(frame: pd.DataFrame) -> Figure:
    """Notebook 02: what a filter saves, by the place where it stands.

    `frame` has a row for each way (its index), with the columns `MB on the wire` and `tokens for
    the model`.
    """
    figure, axes = plt.subplots(1, 2, figsize=(WIDTH, 3.2), sharey=True)
    for ax, column, unit, colour in (
        (axes[0], "MB on the wire", "megabytes", ORANGE),
        (axes[1], "tokens for the model", "tokens, millions", BLUE),
    ):
        values = frame[column] / (1 if unit == "megabytes" else 1e6)
        bars = ax.barh(frame.index, values, color=colour)
        ax.bar_label(bars, fmt="%.1f", padding=4)
        ax.margins(x=0.15)
        ax.grid(axis="y", visible=False)
        label(ax, title=column, x=unit, y="where the filter stands")
    axes[0].invert_yaxis()
    axes[1].set_ylabel("")
    figure.suptitle(
        "After the download, a filter saves tokens and no bytes", x=0.01, ha="left", weight="bold"
    )
    return figure


def filter_costs(frame: pd.DataFrame, cap: int = 25_000) -> Axes:
    """Notebook 02: tokens of each filter's rows, on a log scale, with the cap.

    `frame` has a row for each filter (its index), with the columns `rows read` and `tokens for the
    model`.
    """
    _, ax = plt.subplots()
    tokens = frame["tokens for the model"]
    # dots, not bars: a log scale has no zero for a bar to start from
    ax.scatter(
        tokens, frame.index, s=90, color=[GREEN if n <= cap else BLUE for n in tokens], zorder=3
    )
    for name, rows, n in zip(frame.index, frame["rows read"], tokens, strict=True):
        ax.annotate(f"{rows:,} rows", (n, name), (9, 0), textcoords="offset points", va="center")
    ax.set_xscale("log")
    ax.set_xlim(min(tokens.min(), cap) / 3, tokens.max() * 12)
    ax.invert_yaxis()
    budget_line(ax, cap, name="cap", horizontal=False)
    return label(
        ax,
        title="One filter leaves far too much; several may fit",
        x="tokens, log scale",
        y="filter",
    )


def paging_faults(frame: pd.DataFrame) -> Axes:
    """Notebook 03: rows repeated and skipped so far, page by page, while orders arrive and are
    deleted.

    `frame` has the columns `paging`, `page`, `repeated` and `skipped`, the last two counted from
    the first page on.
    """
    _, ax = plt.subplots()
    offset, keyset = (frame[frame["paging"] == paging] for paging in ("offset", "keyset"))
    ax.plot(offset["page"], offset["repeated"], color=BLUE, label="offset: repeated")
    ax.plot(offset["page"], offset["skipped"], color=RED, label="offset: skipped")
    ax.plot(
        keyset["page"],
        keyset["repeated"] + keyset["skipped"],
        color=GREEN,
        label="keyset: repeated or skipped",
    )
    ax.legend(loc="upper left")
    title = "Offset paging repeats and skips rows while the list moves; keyset paging does not"
    return label(ax, title=title, x="page", y="rows so far")
