"""Run notebooks from fresh kernels, offline, two at a time, and say in one line what failed.

The kernel is always this interpreter with its own packages, whatever kernel specifications a user's
home folder holds; it gets ``PYTHONHASHSEED=0``, an IPython profile of its own, and no standard
error of ours to write warnings to.
"""

import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn

_CELL_TIMEOUT = 120  # seconds; a notebook as a whole should stay under 60
_START_TIMEOUT = 120  # seconds: two kernels starting on a cold, busy disk
_ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
_MARKS = {"stopped": "[yellow]■[/]", "FAILED": "[red]✗[/]", "ok": "[green]✓[/]"}


@dataclass
class Outcome:
    """What became of one notebook: *done* of its code cells, in *seconds*; *error* is one line, or
    None.

    *stopped* is for Ctrl-C, no failure of the notebook. Where the file is not *readable*, *nb* is
    an empty notebook.
    """

    path: Path
    nb: nbformat.NotebookNode = field(default_factory=nbformat.v4.new_notebook)
    done: int = 0
    seconds: float = 0.0
    error: str | None = None
    finished: bool = False
    stopped: bool = False
    readable: bool = True

    @property
    def code(self) -> list[nbformat.NotebookNode]:
        """The code cells that are run."""
        return [cell for cell in self.nb.cells if _runs(cell)]

    @property
    def cells(self) -> str:
        return f"{self.done}/{len(self.code)}"

    @property
    def end(self) -> str:
        if self.stopped:
            return "stopped"
        return f"FAILED in {self.error}" if self.error else "ok"


def _runs(cell: nbformat.NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(cell.source.strip())


_Tell = Callable[[Outcome], None]
"""Called after every code cell and at each notebook's end."""


def read(path: Path) -> nbformat.NotebookNode:
    """Read a notebook. Raises ValueError for a file that is not one."""
    try:
        nb = nbformat.read(path, as_version=4)
        if not all(isinstance(cell.cell_type, str) and "source" in cell for cell in nb.cells):
            raise ValueError("it has a cell without cell_type or source")
        return nb
    except Exception as error:
        raise ValueError(f"not a notebook: {_one_line(error)}") from error


def find(root: Path) -> list[Path]:
    """All notebooks under *root* in reading order: a folder's own files first, by name, then its
    subfolders'.
    """

    def hidden(path: Path) -> bool:
        return any(part.startswith(".") for part in path.relative_to(root).parts)

    found = [path for path in root.rglob("*.ipynb") if not hidden(path)]
    return sorted(found, key=lambda path: (len(path.parts), path.as_posix()))


def run_all(
    paths: Iterable[Path], *, workers: int = 2, tell: _Tell = lambda outcome: None
) -> list[Outcome]:
    """Run each notebook from a fresh kernel, in its own folder, at most *workers* at once; files
    are not changed.

    Outcomes come back in the order of *paths*; one that fails, or cannot be read, does not stop the
    others. On Ctrl-C all kernels are ended before KeyboardInterrupt leaves this function.
    """
    outcomes = []
    for path in paths:
        try:
            outcomes.append(Outcome(path, read(path)))
        except ValueError as error:
            outcomes.append(Outcome(path, error=f"the file: {error}", readable=False))
    return run_outcomes(outcomes, workers=workers, tell=tell)


def run_outcomes(
    outcomes: list[Outcome], *, workers: int = 2, tell: _Tell = lambda outcome: None
) -> list[Outcome]:
    """The same for notebooks in memory: each *nb* gets its outputs, and runs in the folder of its
    *path*, which need not exist.
    """
    # The selector loop, because ZeroMQ cannot use the one that is Windows' default.
    with (
        tempfile.TemporaryDirectory() as profile,
        asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner,
    ):
        runner.run(_run_all(outcomes, workers, tell, profile))
    return outcomes


async def _run_all(outcomes: list[Outcome], workers: int, tell: _Tell, profile: str) -> None:
    free = asyncio.Semaphore(workers)

    async def one(outcome: Outcome) -> None:
        async with free:
            started = time.monotonic()

            def timed() -> None:
                outcome.seconds = time.monotonic() - started
                tell(outcome)

            try:
                if outcome.readable:
                    await _run_one(outcome, timed, profile)
            except asyncio.CancelledError:
                outcome.stopped = True
                raise
            finally:
                outcome.finished = True
                timed()

    # Unlike gather, a task group that is cancelled waits until every kernel has been ended.
    async with asyncio.TaskGroup() as group:
        for outcome in outcomes:
            group.create_task(one(outcome))


class _RunningInterpreter(KernelSpecManager):
    """The one kernel: the interpreter that runs this code."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=command, display_name=_KERNELSPEC["display_name"], language="python")


async def _run_one(outcome: Outcome, tell: Callable[[], None], profile: str) -> None:
    """Fill in *outcome*. nbclient's own ``execute`` is not used: it takes over Ctrl-C, for one
    notebook at a time.
    """
    for cell in outcome.nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    km = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=_RunningInterpreter())
    limits = {"timeout": _CELL_TIMEOUT, "startup_timeout": _START_TIMEOUT}
    client = NotebookClient(outcome.nb, km=km, record_timing=False, coalesce_streams=True, **limits)
    client.log.disabled = True  # its messages come back as exceptions
    env = {"PYTHONHASHSEED": "0", "IPYTHONDIR": profile, "PYDEVD_DISABLE_FILE_VALIDATION": "1"}
    folder = str(outcome.path.parent.resolve())
    where = "kernel"
    with tempfile.TemporaryFile() as stderr:
        try:
            await client.async_start_new_kernel(cwd=folder, env=os.environ | env, stderr=stderr)
            await client.async_start_new_kernel_client()
            for index, cell in enumerate(outcome.nb.cells):
                if _runs(cell):
                    where = f"cell {outcome.done + 1}"
                    await client.async_execute_cell(cell, index, execution_count=outcome.done + 1)
                    outcome.done += 1
                    tell()
        except CellExecutionError as error:
            outcome.error = f"{where}: {_one_line(f'{error.ename}: {error.evalue}')}"
        except CellTimeoutError:
            outcome.error = f"{where}: took more than {_CELL_TIMEOUT} seconds"
        # a kernel that does not start, or dies: this notebook's failure, not the run's
        except Exception as error:
            if asyncio.current_task().cancelling():  # nbclient takes Ctrl-C for a dead kernel
                raise asyncio.CancelledError from None
            outcome.error = f"{where}: {_one_line(error)} {_last_line(stderr)}".rstrip()
        finally:
            if client.kc is not None:
                client.kc.stop_channels()
            with suppress(RuntimeError):  # the kernel is dead already
                await km.shutdown_kernel(now=True)
            await km.cleanup_resources()


def _one_line(message: object) -> str:
    lines = [line.strip() for line in _ANSI.sub("", str(message)).splitlines() if line.strip()]
    return lines[0] if lines else "no message"


def _last_line(stream) -> str:
    stream.seek(0)
    lines = [line.strip() for line in stream.read().decode("utf-8", "replace").splitlines()]
    # ipykernel 7 warns of TCP each time it starts
    lines = [line for line in lines if line and "IPKernelApp" not in line]
    return f"({lines[-1]})" if lines else ""


@contextmanager
def shown(paths: list[Path], console: Console | None = None) -> Iterator[_Tell]:
    """Give a function to call with each Outcome as it changes. What is shown goes to *console*
    (standard output): bars that move on a terminal, elsewhere a plain line a notebook, in order.
    """
    console = console or Console(highlight=False)
    if not console.is_terminal:
        yield _lines(paths, console)
        return
    columns = [
        TextColumn("{task.fields[state]} {task.description}"),
        BarColumn(bar_width=24),
        TextColumn("cell {task.fields[cells]}", justify="right"),
        TextColumn("{task.fields[seconds]:.1f} s", justify="right"),
    ]
    with Progress(*columns, console=console) as bars:
        start = {"total": None, "state": " ", "cells": "", "seconds": 0.0}
        tasks = {path: bars.add_task(path.stem, **start) for path in paths}

        def tell(outcome: Outcome) -> None:
            bars.update(
                tasks[outcome.path],
                completed=outcome.done,
                total=len(outcome.code),
                state=_MARKS[outcome.end.partition(" ")[0]] if outcome.finished else " ",
                cells=outcome.cells,
                seconds=outcome.seconds,
            )

        yield tell


def _lines(paths: list[Path], console: Console) -> _Tell:
    waiting = list(paths)
    ready: dict[Path, str] = {}

    def tell(outcome: Outcome) -> None:
        if outcome.finished:
            run = f"{outcome.cells + ' cells':>12} {outcome.seconds:>6.1f} s"
            ready[outcome.path] = f"{outcome.path.stem:<28} {run}  {outcome.end}"
        while waiting and waiting[0] in ready:
            console.print(ready[waiting.pop(0)], markup=False, soft_wrap=True)

    return tell


def normalise(nb: nbformat.NotebookNode) -> str:
    """The text of an executed notebook as it is committed: the same bytes for the same code and
    outputs.

    Kernel python3, no versions, times or editor state in the metadata; a cell without an id gets
    one from its place.
    """
    metadata = {"kernelspec": _KERNELSPEC, "language_info": {"name": "python"}}
    nb.metadata = nbformat.from_dict(metadata)
    nb.nbformat, nb.nbformat_minor = 4, 5
    for place, cell in enumerate(nb.cells):
        cell.setdefault("id", f"cell-{place:02d}")
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
    return nbformat.writes(nb, version=4).rstrip("\n") + "\n"


def warning(outcome: Outcome) -> str | None:
    """What keeps the outputs of a notebook that ran from being committed: a cell that wrote to
    standard error.
    """
    for number, cell in enumerate(outcome.code, start=1):
        if any(output.get("name") == "stderr" for output in cell.outputs):
            mend = "mend it, it cannot be committed"
            return f"cell {number}: writes to standard error (a warning?): {mend}"
    return None
