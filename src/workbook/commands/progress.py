"""How far a run of notebooks is: bars that move on a terminal, one plain line a notebook (in order)
elsewhere.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

if TYPE_CHECKING:
    from workbook.runner import Outcome

_MARKS = {"stopped": "[yellow]■[/]", "FAILED": "[red]✗[/]", "ok": "[green]✓[/]"}


def _end(outcome: "Outcome") -> str:
    if outcome.stopped:
        return "stopped"
    return f"FAILED in {outcome.error}" if outcome.error else "ok"


@contextmanager
def shown(
    paths: list[Path], console: Console | None = None
) -> Iterator[Callable[["Outcome"], None]]:
    """Give a function to call with each Outcome as it changes; what is shown goes to *console*
    (standard output).
    """
    console = console or Console(highlight=False)
    if console.is_terminal:
        with _bars(paths, console) as tell:
            yield tell
    else:
        yield _lines(paths, console)


@contextmanager
def _bars(paths: list[Path], console: Console) -> Iterator[Callable[["Outcome"], None]]:
    columns = [
        TextColumn("{task.fields[state]} {task.description}"),
        BarColumn(bar_width=24),
        TextColumn("cell {task.completed}/{task.total}", justify="right"),
        TextColumn("{task.fields[seconds]}", justify="right"),
    ]
    with Progress(*columns, console=console) as bars:
        tasks = {
            path: bars.add_task(path.stem, total=None, state=" ", seconds="") for path in paths
        }

        def tell(outcome: "Outcome") -> None:
            state = " " if not outcome.finished else _MARKS[_end(outcome).partition(" ")[0]]
            seconds = f"{outcome.seconds:.1f} s"
            task = tasks[outcome.path]
            bars.update(
                task, completed=outcome.done, total=outcome.cells, state=state, seconds=seconds
            )

        yield tell


def _lines(paths: list[Path], console: Console) -> Callable[["Outcome"], None]:
    waiting = list(paths)
    ready: dict[Path, str] = {}

    def tell(outcome: "Outcome") -> None:
        if outcome.finished:
            cells = f"{outcome.done}/{outcome.cells} cells"
            ready[outcome.path] = (
                f"{outcome.path.stem:<28} {cells:>12} {outcome.seconds:>6.1f} s  {_end(outcome)}"
            )
        while waiting and waiting[0] in ready:
            console.print(ready[waiting.pop(0)], markup=False, soft_wrap=True)

    return tell
