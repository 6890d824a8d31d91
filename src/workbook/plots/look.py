"""One look for every figure of the workbook.

Call ``style()`` once in a notebook's first cell. Figures are 9 × 4.5 in at 110 dots an inch, which
is a notebook's width; colours are those of Okabe and Ito (2008), which people with the common kinds
of colour blindness can tell apart.
"""

import matplotlib
from matplotlib.axes import Axes

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
    """Give all later figures the workbook's look, and inside Jupyter make their PNG the same from
    run to run.
    """
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

    Raises ValueError where a text is empty: a figure without units is what readers complain about
    most.
    """
    if not (title.strip() and x.strip() and y.strip()):
        raise ValueError("a figure needs a title and a label on both axes, with units")
    ax.set_title(title)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    return ax


def budget_line(
    ax: Axes, tokens: int = 25_000, *, name: str = "budget", horizontal: bool = True
) -> None:
    """Draw a dashed line across *ax* at *tokens*, with its name and number beside it."""
    text = f"{name}: {tokens:,} tokens"
    if horizontal:
        ax.axhline(tokens, color=RED, linestyle="--", linewidth=1.5)
        ax.annotate(
            text,
            (0.995, tokens),
            xycoords=("axes fraction", "data"),
            ha="right",
            va="bottom",
            color=RED,
        )
    else:
        ax.axvline(tokens, color=RED, linestyle="--", linewidth=1.5)
        place = {"xytext": (6, -4), "textcoords": "offset points", "va": "top"}
        ax.annotate(text, (tokens, 1), xycoords=("data", "axes fraction"), color=RED, **place)


def axes() -> Axes:
    from matplotlib import pyplot

    return pyplot.subplots()[1]


# --- Notebooks 00 and 01
