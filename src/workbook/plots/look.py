"""One look for every figure of the workbook, and what several figures draw.

Call ``style()`` once in a notebook's first cell. Figures are 9 × 4.5 in at 110 dots an inch, which
is a notebook's width; colours are those of Okabe and Ito (2008), which people with the common kinds
of colour blindness can tell apart.
"""

from collections.abc import Iterable
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure

BLUE = "#0072B2"
ORANGE = "#E69F00"
GREEN = "#009E73"
RED = "#D55E00"
PURPLE = "#CC79A7"
SKY = "#56B4E9"
GREY = "#7F7F7F"
PALETTE = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, GREY)

RC = {
    **matplotlib.rc_params_from_file(
        Path(__file__).with_name("workbook.mplstyle"), use_default_template=False
    ),
    "axes.prop_cycle": matplotlib.cycler(color=PALETTE),
}
WIDTH, HEIGHT = RC["figure.figsize"]  # inches


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


def axes() -> Axes:
    """A new figure of the usual size."""
    return plt.subplots()[1]


def panels(
    columns: int, *, rows: int = 1, width: float = 1.0, height: float = 1.0, **options
) -> tuple[Figure, list[Axes]]:
    """A figure of several panels; *width* and *height* are multiples of the usual figure's."""
    size = (WIDTH * width, HEIGHT * height)
    figure, grid = plt.subplots(rows, columns, figsize=size, squeeze=False, **options)
    return figure, list(grid.flat)


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


def lines(ax: Axes, frame: pd.DataFrame, colours: Iterable[str | None], **look) -> None:
    """A line for each column of *frame* over its index, named in the legend by the column."""
    for name, colour in zip(frame.columns, colours, strict=False):
        ax.plot(frame.index, frame[name], color=colour, label=name, **look)


def note(ax: Axes, text: str, at: tuple, shift: tuple[float, float], **look) -> None:
    """Write *text* beside a point of the data, *shift* points (1/72 in) away from it."""
    ax.annotate(text, at, xytext=shift, textcoords="offset points", **look)


def thousands(axis: Axis) -> None:
    """Write the numbers of an axis as 12,000."""
    axis.set_major_formatter("{x:,.0f}")


def dashed(ax: Axes, value: float, text: str, colour: str = RED) -> None:
    """Draw a dashed line across *ax* at *value*, with *text* above its right end."""
    ax.axhline(value, color=colour, linestyle="--", linewidth=1.5)
    place = {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "bottom"}
    ax.annotate(text, (0.995, value), color=colour, **place)


def budget_line(ax: Axes, tokens: int, name: str) -> None:
    """The same at *tokens*, with its name and number beside it."""
    dashed(ax, tokens, f"{name}: {tokens:,} tokens")


def dashed_upright(ax: Axes, value: float, text: str, shift: tuple[float, float]) -> None:
    """Draw a dashed line upward at *value*, with *text* beside its upper end."""
    ax.axvline(value, color=RED, linestyle="--", linewidth=1.5)
    note(ax, text, (value, 1), shift, xycoords=("data", "axes fraction"), va="top", color=RED)


def arrow(ax: Axes, start: tuple, end: tuple, colour: str, **more) -> None:
    """Draw an arrow between two points of the data."""
    look = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.8, **more}
    ax.annotate("", end, start, arrowprops=look)


def drawing(ax: Axes, title: str, x: tuple[float, float], y: tuple[float, float]) -> Axes:
    """Finish a figure that is a drawing: limits and a title, and no axes."""
    ax.set_xlim(x)
    ax.set_ylim(y)
    ax.set_title(title)
    ax.axis("off")
    return ax
