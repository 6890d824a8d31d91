"""Figures of notebooks 02 and 03: where a filter stands, and how a listing is walked."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from . import look
from .look import BLUE, GREEN, HEIGHT, ORANGE, RED


def where_to_filter(frame: pd.DataFrame) -> Figure:
    """Notebook 02: what a filter saves, by the place where it stands.

    `frame` has a row for each way (its index), with the columns `MB on the wire` and `tokens for
    the model`.
    """
    figure, (left, right) = look.panels(2, height=3.2 / HEIGHT, sharey=True)
    for ax, column, unit, scale, colour in (
        (left, "MB on the wire", "megabytes", 1, ORANGE),
        (right, "tokens for the model", "tokens, millions", 1e6, BLUE),
    ):
        bars = ax.barh(frame.index, frame[column] / scale, color=colour)
        ax.bar_label(bars, fmt="%.1f", padding=4)
        ax.margins(x=0.15)
        ax.grid(axis="y", visible=False)
        look.label(ax, title=column, x=unit, y="where the filter stands")
    left.invert_yaxis()
    right.set_ylabel("")
    title = "After the download, a filter saves tokens and no bytes"
    figure.suptitle(title, x=0.01, ha="left", weight="bold")
    return figure


def filter_costs(frame: pd.DataFrame, cap: int = 25_000) -> Axes:
    """Notebook 02: tokens of each filter's rows, on a log scale, with the cap.

    `frame` has a row for each filter (its index), with the columns `rows read` and `tokens for the
    model`.
    """
    ax = look.axes()
    tokens = frame["tokens for the model"]
    colours = [GREEN if n <= cap else BLUE for n in tokens]
    # dots, not bars: a log scale has no zero for a bar to start from
    ax.scatter(tokens, frame.index, s=90, color=colours, zorder=3)
    for name, rows, n in zip(frame.index, frame["rows read"], tokens, strict=True):
        look.note(ax, f"{rows:,} rows", (n, name), (9, 0), va="center")
    ax.set_xscale("log")
    ax.set_xlim(min(tokens.min(), cap) / 3, tokens.max() * 12)
    ax.invert_yaxis()
    look.dashed_upright(ax, cap, f"cap: {cap:,} tokens", (6, -4))
    title = "One filter leaves far too much; several may fit"
    return look.label(ax, title=title, x="tokens, log scale", y="filter")


def paging_faults(frame: pd.DataFrame) -> Axes:
    """Notebook 03: rows repeated and skipped so far, page by page, while orders arrive and are
    deleted.

    `frame` has the columns `paging`, `page`, `repeated` and `skipped`, the last two counted from
    the first page on.
    """
    ax = look.axes()
    offset, keyset = (frame[frame["paging"] == paging] for paging in ("offset", "keyset"))
    either = keyset["repeated"] + keyset["skipped"]
    ax.plot(offset["page"], offset["repeated"], color=BLUE, label="offset: repeated")
    ax.plot(offset["page"], offset["skipped"], color=RED, label="offset: skipped")
    ax.plot(keyset["page"], either, color=GREEN, label="keyset: repeated or skipped")
    ax.legend(loc="upper left")
    title = "Offset paging repeats and skips rows while the list moves; keyset paging does not"
    return look.label(ax, title=title, x="page", y="rows so far")
