"""Run notebooks from fresh kernels, offline, two at a time, and say in one line what failed.

The kernel is always this interpreter with its own packages, whatever kernel specifications a user's
home folder holds; it gets ``PYTHONHASHSEED=0``, an IPython profile of its own, and no standard
error of ours to write warnings to.
"""

import asyncio
import json
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpec, KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError

CELL_TIMEOUT = 120  # seconds; a notebook as a whole should stay under 60
START_TIMEOUT = 120  # seconds: two kernels starting on a cold, busy disk
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
KERNELSPEC = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}

Progress = Callable[["Outcome"], None]


@dataclass
class Outcome:
    """What became of one notebook: *done* of *cells* code cells, in *seconds*; *error* is one line,
    or None.

    *stopped* is for Ctrl-C, no failure of the notebook. Where the file is not *readable*, *nb* is
    an empty notebook.
    """

    path: Path
    nb: nbformat.NotebookNode
    cells: int
    done: int = 0
    seconds: float = 0.0
    error: str | None = None
    finished: bool = False
    stopped: bool = False
    readable: bool = True


class RunningInterpreter(KernelSpecManager):
    """The one kernel: the interpreter that runs this code."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        return KernelSpec(argv=command, display_name=KERNELSPEC["display_name"], language="python")


def read(path: Path) -> nbformat.NotebookNode:
    """Read a notebook. Raises ValueError, with the file's name, for a file that is not one."""
    try:
        return _parse(path)
    except ValueError as error:
        raise ValueError(f"{path} is {error}") from error


def _parse(path: Path) -> nbformat.NotebookNode:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(content, dict) or not isinstance(content.get("nbformat"), int):
            raise ValueError("it is JSON, but has no nbformat")
        nb = nbformat.reads(json.dumps(content), as_version=4)
        if not all(
            isinstance(cell.get("cell_type"), str) and "source" in cell
            for cell in nb.get("cells", [None])
        ):
            raise ValueError("it has a cell without cell_type or source")
        return nb
    except Exception as error:
        raise ValueError(f"not a notebook: {_one_line(str(error))}") from error


def find(root: Path) -> list[Path]:
    """All notebooks under *root* in reading order: a folder's own files first, by name, then its
    subfolders'.
    """
    found = (
        p
        for p in root.rglob("*.ipynb")
        if not any(part.startswith(".") for part in p.relative_to(root).parts)
    )
    return sorted(found, key=lambda p: (len(p.parts), p.as_posix()))


def run_all(
    paths: Iterable[Path], *, workers: int = 2, progress: Progress = lambda outcome: None
) -> list[Outcome]:
    """Run each notebook from a fresh kernel, in its own folder, at most *workers* at once; files
    are not changed.

    *progress* is called after every code cell and at each notebook's end. Outcomes come back in the
    order of *paths*; one that fails, or cannot be read, does not stop the others. On Ctrl-C all
    kernels are ended before KeyboardInterrupt leaves this function.
    """
    outcomes = [_first_outcome(path) for path in paths]
    # The selector loop, because ZeroMQ cannot use the one that is Windows' default.
    with (
        tempfile.TemporaryDirectory() as profile,
        asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner,
    ):
        runner.run(_run_all(outcomes, workers, progress, profile))
    return outcomes


def run_notebook(nb: nbformat.NotebookNode, folder: Path) -> Outcome:
    """Run a notebook that is in memory, with *folder* as its working folder; *nb* gets the
    outputs.
    """
    outcome = outcome_for(folder / "notebook.ipynb", nb)
    with (
        tempfile.TemporaryDirectory() as profile,
        asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner,
    ):
        runner.run(_run_all([outcome], 1, lambda outcome: None, profile))
    return outcome


def outcome_for(path: Path, nb: nbformat.NotebookNode) -> Outcome:
    """An Outcome for a notebook that has not been started."""
    return Outcome(path=path, nb=nb, cells=sum(_runs(cell) for cell in nb.cells))


def _first_outcome(path: Path) -> Outcome:
    try:
        return outcome_for(path, _parse(path))
    except ValueError as error:
        return Outcome(
            path, nbformat.v4.new_notebook(), cells=0, error=f"the file: {error}", readable=False
        )


def _runs(cell: nbformat.NotebookNode) -> bool:
    return cell.cell_type == "code" and bool(cell.source.strip())


async def _run_all(outcomes: list[Outcome], workers: int, progress: Progress, profile: str) -> None:
    free = asyncio.Semaphore(workers)

    async def one(outcome: Outcome) -> None:
        async with free:
            started = time.monotonic()

            def tell() -> None:
                outcome.seconds = time.monotonic() - started
                progress(outcome)

            try:
                if outcome.readable:
                    await _run_one(outcome, tell, profile)
            except asyncio.CancelledError:
                outcome.stopped = True
                raise
            finally:
                outcome.finished = True
                tell()

    # Unlike gather, a task group that is cancelled waits until every kernel has been ended.
    async with asyncio.TaskGroup() as group:
        for outcome in outcomes:
            group.create_task(one(outcome))


async def _run_one(outcome: Outcome, tell: Callable[[], None], profile: str) -> None:
    """Fill in *outcome*. nbclient's own ``execute`` is not used: it takes over Ctrl-C, for one
    notebook at a time.
    """
    for cell in outcome.nb.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    km = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=RunningInterpreter())
    limits = {"timeout": CELL_TIMEOUT, "startup_timeout": START_TIMEOUT}
    client = NotebookClient(outcome.nb, km=km, record_timing=False, coalesce_streams=True, **limits)
    client.log.disabled = True  # its messages come back as exceptions
    env = os.environ | {
        "PYTHONHASHSEED": "0",
        "IPYTHONDIR": profile,
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }
    index, cell = 0, None
    with tempfile.TemporaryFile() as stderr:
        try:
            await client.async_start_new_kernel(
                cwd=str(outcome.path.parent.resolve()), env=env, stderr=stderr
            )
            await client.async_start_new_kernel_client()
            for index, cell in enumerate(outcome.nb.cells):
                if _runs(cell):
                    await client.async_execute_cell(cell, index, execution_count=outcome.done + 1)
                    outcome.done += 1
                    tell()
        except CellExecutionError as error:
            outcome.error = (
                f"cell {outcome.done + 1}: {_one_line(f'{error.ename}: {error.evalue}')}"
            )
        except CellTimeoutError:
            outcome.error = f"cell {outcome.done + 1}: took more than {CELL_TIMEOUT} seconds"
        except (
            Exception
        ) as error:  # a kernel that does not start, or dies: this notebook's failure, not the run's
            if (
                asyncio.current_task().cancelling()
            ):  # nbclient takes Ctrl-C for the death of the kernel
                raise asyncio.CancelledError from None
            where = f"cell {outcome.done + 1}" if cell is not None else "kernel"
            outcome.error = f"{where}: {_one_line(str(error))} {_last_line(stderr)}".rstrip()
        finally:
            await _end(client, km)


async def _end(client: NotebookClient, km: AsyncKernelManager) -> None:
    if client.kc is not None:
        client.kc.stop_channels()
    with suppress(RuntimeError):  # the kernel is dead already
        await km.shutdown_kernel(now=True)
    await km.cleanup_resources()


def _one_line(text: str) -> str:
    lines = [line.strip() for line in ANSI.sub("", text).splitlines() if line.strip()]
    return lines[0] if lines else "no message"


def _last_line(stream) -> str:
    stream.seek(0)
    lines = [line for line in stream.read().decode("utf-8", "replace").splitlines() if line.strip()]
    lines = [
        line for line in lines if "IPKernelApp" not in line
    ]  # ipykernel 7 warns of TCP each time it starts
    return f"({lines[-1].strip()})" if lines else ""


def normalise(nb: nbformat.NotebookNode) -> str:
    """The text of an executed notebook as it is committed: the same bytes for the same code and
    outputs.

    Kernel python3, no versions, times or editor state in the metadata; a cell without an id gets
    one from its place.
    """
    nb.metadata = nbformat.from_dict(
        {"kernelspec": KERNELSPEC, "language_info": {"name": "python"}}
    )
    nb.nbformat, nb.nbformat_minor = 4, 5
    for place, cell in enumerate(nb.cells):
        cell.setdefault("id", f"cell-{place:02d}")
        tags = cell.metadata.get("tags")
        cell.metadata = nbformat.from_dict({"tags": tags} if tags else {})
    return nbformat.writes(nb, version=4).rstrip("\n") + "\n"


def stderr_cells(nb: nbformat.NotebookNode) -> list[int]:
    """Numbers (from 1) of the code cells that wrote to standard error: a warning is to be mended,
    not committed.
    """
    code = [cell for cell in nb.cells if _runs(cell)]
    return [
        number
        for number, cell in enumerate(code, start=1)
        if any(
            output.output_type == "stream" and output.name == "stderr" for output in cell.outputs
        )
    ]
