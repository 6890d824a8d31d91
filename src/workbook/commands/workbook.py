"""``workbook notebooks``, ``test`` and ``lab``, and what they share with ``run``: finding and
running notebooks.
"""

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from workbook.runner import Outcome


def project_root() -> Path | None:
    """The checkout of the workbook: the working folder or one above it, else the one that this
    package is part of.
    """
    here = Path.cwd().resolve()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[3]):
        if (folder / "src" / "workbook").is_dir() and (folder / "pyproject.toml").is_file():
            return folder
    return None


def checkout() -> Path:
    """The checkout; a one-line error for someone who has only installed the package."""
    root = project_root()
    if root is None:
        raise click.ClickException(
            "run this inside a clone of the project: the package holds no notebooks and no tests"
        )
    return root


def choose(paths: tuple[Path, ...]) -> list[Path]:
    """The notebooks to run: *paths*, by default all of the checkout."""
    import workbook.quick_jsonschema  # noqa: F401  before the runner, which imports nbformat
    from workbook.runner import find

    chosen = list(paths) or find(checkout() / "notebooks")
    if not chosen:
        raise click.ClickException("no notebooks found")
    return chosen


def execute(chosen: list[Path], workers: int) -> "list[Outcome]":
    """Run the notebooks that were chosen and show progress: bars on a terminal, else a line
    each.
    """
    from workbook.commands.progress import shown
    from workbook.runner import run_all

    with shown(chosen) as progress:
        return run_all(chosen, workers=workers, progress=progress)


@click.command()
@click.argument("notebook", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--workers",
    default=2,
    show_default=True,
    type=click.IntRange(1),
    help="Notebooks run at the same time.",
)
def notebooks(notebook: tuple[Path, ...], workers: int) -> None:
    """Refresh the committed outputs of every NOTEBOOK (default: all), in place, from fresh kernels.

    The same code gives the same bytes. A notebook that fails, or writes to standard error, is left
    as it was, and the exit code is 1.
    """
    chosen = choose(notebook)
    from workbook.runner import normalise, stderr_cells

    failed = False
    for outcome in execute(chosen, workers):
        error = outcome.error
        if not error and (cells := stderr_cells(outcome.nb)):
            error = f"cell {cells[0]}: writes to standard error (a warning?): mend it, it cannot be committed"
        if error:
            failed = True
            click.echo(f"{outcome.path.name}, {error}", err=True)
        else:
            outcome.path.write_text(normalise(outcome.nb), encoding="utf-8", newline="\n")
    if failed:
        raise click.exceptions.Exit(1)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("pytest_args", nargs=-1, type=click.UNPROCESSED)
def test(pytest_args: tuple[str, ...]) -> None:
    """Run pytest and nbval, in two processes; PYTEST_ARGS are handed on (for example: -k cursor, or
    -n 0).
    """
    # loadfile, because the cells of one notebook share a kernel and must stay in one process.
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "loadfile", *pytest_args]
    _hand_over(command, checkout(), {"PYTHONHASHSEED": "0"})


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("jupyter_args", nargs=-1, type=click.UNPROCESSED)
def lab(jupyter_args: tuple[str, ...]) -> None:
    """Open the notebooks in JupyterLab; JUPYTER_ARGS are handed on (for example: --no-browser)."""
    root = checkout()
    command = [sys.executable, "-m", "jupyterlab", str(root / "notebooks"), *jupyter_args]
    _hand_over(command, root, {"PYTHONHASHSEED": "0"})


def _hand_over(command: list[str], folder: Path, env: dict[str, str]) -> None:
    """Run *command* in *folder* and exit with its code; Ctrl-C is the command's to answer."""
    process = subprocess.Popen(command, cwd=folder, env=os.environ | env)
    while True:
        try:
            raise click.exceptions.Exit(process.wait())
        except KeyboardInterrupt:
            continue
