"""One look for every figure of the workbook.

Call ``style()`` once in a notebook's first cell. Figures are 9 × 4.5 in at 110 dots an inch, which is a notebook's
width; colours are those of Okabe and Ito (2008), which people with the common kinds of colour blindness can tell apart.
"""

from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
RED = "#D55E00"
PURPLE = "#CC79A7"
SKY = "#56B4E9"
GREY = "#7F7F7F"
PALETTE = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, GREY)

WIDTH, HEIGHT, DPI = 9.0, 4.5, 110  # inches, inches, dots an inch

RC = {
    "figure.figsize": (WIDTH, HEIGHT),
    "figure.dpi": DPI,
    "savefig.dpi": DPI,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that a figure is the same on every machine
    "font.size": 12,
    "axes.titlesize": 13,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.prop_cycle": matplotlib.cycler(color=PALETTE),
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "lines.linewidth": 2.2,
    "svg.hashsalt": "toolresults",
}


def style() -> None:
    """Give all later figures the workbook's look, and inside Jupyter make their PNG the same from run to run."""
    matplotlib.rcParams.update(RC)
    try:
        from IPython import get_ipython
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ModuleNotFoundError:  # a plain script without IPython
        return
    if get_ipython() is not None:
        # matplotlib would write its own version into each PNG.
        set_matplotlib_formats("png", metadata={"Software": None})


def label(ax: Axes, *, title: str, x: str, y: str) -> Axes:
    """Label *ax* in full: what it shows, and both axes with their units.

    Raises ValueError where a text is empty: a figure without units is what readers complain about most.
    """
    if not (title.strip() and x.strip() and y.strip()):
        raise ValueError("a figure needs a title and a label on both axes, with units")
    ax.set_title(title)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    return ax


def budget_line(ax: Axes, tokens: int = 25_000, *, name: str = "budget", horizontal: bool = True) -> None:
    """Draw a dashed line across *ax* at *tokens*, with its name and number beside it."""
    text = f"{name}: {tokens:,} tokens"
    if horizontal:
        ax.axhline(tokens, color=RED, linestyle="--", linewidth=1.5)
        ax.annotate(text, (0.995, tokens), xycoords=("axes fraction", "data"), ha="right", va="bottom", color=RED)
    else:
        ax.axvline(tokens, color=RED, linestyle="--", linewidth=1.5)
        place = {"xytext": (6, -4), "textcoords": "offset points", "va": "top"}
        ax.annotate(text, (tokens, 1), xycoords=("data", "axes fraction"), color=RED, **place)


def where_to_filter(frame: pd.DataFrame) -> Figure:
    """Notebook 02: what a filter saves, by the place where it stands.

    `frame` has a row for each way (its index), with the columns `MB on the wire` and `tokens for the model`.
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
    figure.suptitle("After the download, a filter saves tokens and no bytes", x=0.01, ha="left", weight="bold")
    return figure


def filter_costs(frame: pd.DataFrame, cap: int = 25_000) -> Axes:
    """Notebook 02: tokens of each filter's rows, on a log scale, with the cap.

    `frame` has a row for each filter (its index), with the columns `rows read` and `tokens for the model`.
    """
    _, ax = plt.subplots()
    tokens = frame["tokens for the model"]
    # dots, not bars: a log scale has no zero for a bar to start from
    ax.scatter(tokens, frame.index, s=90, color=[GREEN if n <= cap else BLUE for n in tokens], zorder=3)
    for name, rows, n in zip(frame.index, frame["rows read"], tokens, strict=True):
        ax.annotate(f"{rows:,} rows", (n, name), (9, 0), textcoords="offset points", va="center")
    ax.set_xscale("log")
    ax.set_xlim(min(tokens.min(), cap) / 3, tokens.max() * 12)
    ax.invert_yaxis()
    budget_line(ax, cap, name="cap", horizontal=False)
    return label(ax, title="One filter leaves far too much; several may fit", x="tokens, log scale", y="filter")


def paging_faults(frame: pd.DataFrame) -> Axes:
    """Notebook 03: rows repeated and skipped so far, page by page, while orders arrive and are deleted.

    `frame` has the columns `paging`, `page`, `repeated` and `skipped`, the last two counted from the first page on.
    """
    _, ax = plt.subplots()
    offset, keyset = (frame[frame["paging"] == paging] for paging in ("offset", "keyset"))
    ax.plot(offset["page"], offset["repeated"], color=BLUE, label="offset: repeated")
    ax.plot(offset["page"], offset["skipped"], color=RED, label="offset: skipped")
    ax.plot(keyset["page"], keyset["repeated"] + keyset["skipped"], color=GREEN, label="keyset: repeated or skipped")
    ax.legend(loc="upper left")
    title = "Offset paging repeats and skips rows while the list moves; keyset paging does not"
    return label(ax, title=title, x="page", y="rows so far")


def concise_share(frame) -> Axes:
    """Bars: what is left of each shape of row. *frame*: index shape, column ``share`` (concise ÷ detailed, 0 to 1)."""
    ax = _axes()
    bars = ax.barh(frame.index, 100 * frame["share"], color=BLUE)
    ax.bar_label(bars, [f"{share:.0%}" if share >= 0.01 else "< 1%" for share in frame["share"]], padding=4)
    ax.axvline(100 / 3, color=RED, linestyle="--", linewidth=1.5)
    ax.annotate("published: one third", (100 / 3 + 1, -0.35), color=RED, va="center")
    ax.set_xlim(0, max(50, 110 * frame["share"].max()))  # room for the text beside the line
    ax.invert_yaxis()
    return label(ax, title="How much is left depends on the rows", x="concise tokens (% of detailed)", y="rows of")


def trimming(frame) -> Axes:
    """Stacked bars of ``first page`` and ``follow-ups`` in tokens for each row of *frame*, named by ``fields``."""
    ax = _axes()
    ax.bar(frame["fields"], frame["first page"], color=BLUE, label="first pages")
    ax.bar(frame["fields"], frame["follow-ups"], bottom=frame["first page"], color=ORANGE, label="follow-up calls")
    ax.legend()
    return label(ax, title="Too few fields cost as much as too many", x="fields of a row, one more each", y="tokens")


def budget_filled(frame) -> Axes:
    """Lines: the share of each budget that is filled. *frame*: index budget in tokens, columns of shares (0 to 1)."""
    ax = _axes()
    for column, color in zip(frame.columns, (ORANGE, BLUE), strict=False):
        ax.plot(frame.index, 100 * frame[column], color=color, label=column)
    ax.set_ylim(0, 105)
    ax.legend(loc="lower right")
    return label(ax, title="Halving leaves nearly half of some budgets empty", x="budget (tokens)", y="filled (%)")


def _axes() -> Axes:
    from matplotlib import pyplot

    return pyplot.subplots()[1]


# --- Notebooks 00 and 01


def headline_figure(frame: pd.DataFrame, budget: int = 25_000) -> Figure:
    """Tokens that the model reads after each step, on a log scale; *frame* is ``bench.steps.headline()``."""
    figure, ax = plt.subplots()
    names = [f"{row.notebook}\n{row.step}" for row in frame.itertuples()]
    bars = ax.bar(names, frame["exact"], color=[GREY if n > budget else BLUE for n in frame["exact"]], width=0.65)
    ax.bar_label(bars, [f"{n:,}" for n in frame["exact"]], padding=2)
    ax.set_yscale("log")
    ax.set_ylim(100, 4 * frame["exact"].max())
    ax.grid(axis="x", visible=False)
    budget_line(ax, budget, name="Claude Code's cap")
    title = f"One question, step by step: {frame['exact'].iloc[0]:,} tokens become {frame['exact'].min():,}"
    label(ax, title=title, x="notebook, and what it adds", y="tokens in the tool result (exact, log scale)")
    return figure


def headline_description(frame: pd.DataFrame) -> str:
    """The headline figure in words, for those who cannot see it."""
    return "Tokens after each step: " + ", ".join(f"{row.step} {row.exact:,}" for row in frame.itertuples())


def save_headline(frame: pd.DataFrame, path: str | Path) -> None:
    """Write the headline figure as SVG, the same bytes for the same *frame*; README shows ``docs/headline.svg``."""
    with matplotlib.rc_context(RC):
        figure = headline_figure(frame)
        metadata = {"Date": None, "Creator": None, "Description": headline_description(frame)}
        figure.savefig(path, format="svg", metadata=metadata)
        plt.close(figure)


def estimate_figure(by_script: pd.Series, by_format: pd.DataFrame) -> Figure:
    """The estimate as a share of the exact count: per script (a ratio each), and per format (a row each, a column a
    data set). Bars start at 1, where the estimate is right."""
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
    label(right, title="White space changes the sign", x="estimate ÷ exact", y="how the JSON is written")
    handles, names = right.get_legend_handles_labels()
    right.legend(handles[::-1], names[::-1], loc="upper center", bbox_to_anchor=(0.4, -0.16), ncols=3, fontsize=11)
    for ax in (left, right):
        ax.axvline(1, color=RED, linestyle="--", linewidth=1.5)
        ax.grid(axis="y", visible=False)
    return figure


def fields_figure(frames: dict[str, pd.DataFrame]) -> Figure:
    """Each field's share of the characters and of the tokens (columns ``characters`` and ``tokens``, fractions), one
    panel a data set."""
    figure, axes = plt.subplots(1, len(frames), figsize=(WIDTH * 1.2, HEIGHT * 1.1), sharex=True, squeeze=False)
    for ax, (name, frame) in zip(axes[0], frames.items(), strict=True):
        shares = 100 * frame.sort_values("tokens")[["tokens", "characters"]]
        shares.plot.barh(ax=ax, width=0.75, color=[BLUE, GREY], legend=False)
        label(ax, title=name, x="share of the whole result (%)", y="field")
        ax.grid(axis="y", visible=False)
    handles, names = axes[0][0].get_legend_handles_labels()
    axes[0][0].legend(handles[::-1], names[::-1], loc="lower right")
    return figure


def reading(frame: pd.DataFrame, whole: int, budget: int = 25_000) -> Axes:
    """Tokens spent (columns, one a size of window) by the share of a payload that was read (index, a fraction), against
    the payload in one result (*whole*, tokens) and the *budget* that it would have to pass."""
    ax = _axes()
    for name, colour in zip(frame.columns, (BLUE, ORANGE, GREEN), strict=False):
        ax.plot(100 * frame.index, frame[name], color=colour, label=name)
    ax.axhline(whole, color=GREY, linewidth=1.5)
    ax.annotate(f"the payload in one result: {whole:,} tokens", (1, whole), va="bottom", color=GREY)
    budget_line(ax, budget, name="budget of one result")
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.legend(loc="upper left", bbox_to_anchor=(0, 0.82))
    return label(
        ax, title="A window costs what it shows: stop early", x="share of the payload read (%)", y="tokens of results"
    )
