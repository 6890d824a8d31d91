"""The ``workbook`` command: run, test, open and refresh the notebooks, and what they measure.

What is slow to import is imported inside the function that needs it: ``workbook --help`` must start
in well under half a second.
"""

import importlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from toolresults.cli import Fault
from toolresults.cli import run as run_group
from workbook.call import call

_BENCHMARKS = {
    "counting": "count_tokens against raw tiktoken, in seconds",
    "code_mode": "all definitions against search and execute, by number of functions (minutes)",
    "four_ways": "one question about all orders, in seven ways (a minute)",
    "tokens_per_turn": "tokens and money of each turn, one technique at a time (a minute)",
}
"""Each is a module of `workbook.bench` with a `report()` that measures and returns text; all but
the first write to data/results.
"""


_SETTINGS = {"help_option_names": ["-h", "--help"], "show_default": True}
_HANDED_ON = {"ignore_unknown_options": True}


@click.group(context_settings=_SETTINGS)
@click.version_option(package_name="toolresults")
def cli() -> None:
    """Tool results that fit: run, test and open the workbook. Your own tools' results: `toolresults
    --help`.
    """


def main() -> None:
    """Run ``workbook`` and exit: 0 done, 1 failed, 2 misused, 130 interrupted."""
    run_group(cli, "workbook")


cli.add_command(call)

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)
_FOLDER = click.Path(file_okay=False, path_type=Path)
_notebooks = click.argument("notebook", nargs=-1, type=_FILE)
_workers = click.option(
    "--workers", default=2, type=click.IntRange(1), help="Notebooks run at the same time."
)


def _project_root() -> Path | None:
    """The checkout of the workbook: the working folder or one above it, else the one that this
    package is part of.
    """
    here = Path.cwd().resolve()
    for folder in (here, *here.parents, Path(__file__).resolve().parents[2]):
        if (folder / "src" / "workbook").is_dir() and (folder / "pyproject.toml").is_file():
            return folder
    return None


def _checkout() -> Path:
    """The checkout; a one-line error for someone who has only installed the package."""
    root = _project_root()
    if root is None:
        holds = "the package holds no notebooks and no tests"
        raise click.ClickException(f"run this inside a clone of the project: {holds}")
    return root


def _choose(paths: tuple[Path, ...]) -> list[Path]:
    """The notebooks to run: *paths*, by default all of the checkout."""
    import workbook.quick_jsonschema  # noqa: F401  before the runner, which imports nbformat
    from workbook.run import find

    chosen = list(paths) or find(_checkout() / "notebooks")
    if not chosen:
        raise click.ClickException("no notebooks found")
    return chosen


def _execute(chosen: list[Path], workers: int) -> list:
    """The outcome of each notebook that was chosen; progress is shown meanwhile."""
    from workbook.run import run_all, shown

    with shown(chosen) as tell:
        return run_all(chosen, workers=workers, tell=tell)


def _end(faults: dict[Path, str]) -> None:
    """Name the notebooks that failed, a line each, and exit with code 1 if there are any."""
    for path, fault in faults.items():
        click.echo(f"{path.name}, {fault}", err=True)
    if faults:
        raise click.exceptions.Exit(1)


@cli.command()
@_notebooks
@click.option("--out", type=_FOLDER, help="Folder to write to (default: build/).")
@_workers
def run(notebook: tuple[Path, ...], out: Path | None, workers: int) -> None:
    """Run every notebook, offline, and write one HTML report.

    Every NOTEBOOK, by default all of notebooks/, runs from a fresh kernel; the committed files
    are not changed, and --out may not hold them. Copies with their outputs and report.html go
    to build/. A notebook that fails is named with its cell and error, the rest go on, and the
    exit code is 1.
    """
    out = out or (_project_root() or Path.cwd()) / "build"
    chosen = _choose(notebook)
    _refuse_to_overwrite(chosen, out)
    outcomes = _execute(chosen, workers)
    import nbformat

    from workbook import report

    for outcome in outcomes:
        if outcome.readable:
            (out / outcome.path.name).write_text(nbformat.writes(outcome.nb), encoding="utf-8")
    headline = [] if notebook else _headline()
    path = out / "report.html"
    report.write(outcomes, path, headline)
    if headline:
        _print_table(headline)
    click.echo()
    if notebook:
        named = "the notebook" if len(chosen) == 1 else f"the {len(chosen)} notebooks"
        alone = "`workbook run` alone reports on all."
        click.echo(f"The report holds only {named} that you named: {alone}")
    click.echo(f"Report: {path.resolve()}")
    _end({outcome.path: outcome.error for outcome in outcomes if outcome.error})


def _refuse_to_overwrite(chosen: list[Path], out: Path) -> None:
    """Refuse, before anything runs, what would overwrite a notebook or could not be written. Raises
    `Fault`.
    """
    by_name: dict[str, Path] = {}
    for path in chosen:
        twin = by_name.setdefault(path.name.casefold(), path)
        if twin is not path:
            one = "one copy would replace the other: run them apart"
            raise Fault(f"{twin} and {path} have the same name, and {one}")
        copy = out / path.name
        if path.resolve().is_relative_to(out.resolve()) or copy.exists() and copy.samefile(path):
            another = "copies would overwrite it: give another folder with --out"
            raise Fault(f"{path} is inside {out}, where {another}")
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        another = "give another folder with --out"
        raise Fault(f"{out} cannot be written to ({error.strerror}): {another}") from None


def _headline() -> list[dict[str, str]]:
    """The rows of the table that the notebooks show too, as text."""
    from workbook.bench.headline import headline

    formats = {"exact": "{:,}", "estimate": "{:,}", "share": "{:.3%}"}
    return [
        {column: formats.get(column, "{}").format(value) for column, value in row.items()}
        for row in headline().to_dict("records")
    ]


def _print_table(rows: list[dict[str, str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(*rows[0], box=box.SIMPLE_HEAD)
    for column in table.columns[3:]:  # the numbers
        column.justify = "right"
    for row in rows:
        table.add_row(*row.values())
    # a pipe or a file has no width of its own, and rich would take 80 columns
    Console(width=None if sys.stdout.isatty() else 110).print(table)


@cli.command()
@_notebooks
@_workers
def notebooks(notebook: tuple[Path, ...], workers: int) -> None:
    """Refresh the notebooks' committed outputs.

    Every NOTEBOOK, by default all of them, is run from a fresh kernel and written in place. The
    same code gives the same bytes. A notebook that fails, or writes to standard error, is left
    as it was, and the exit code is 1.
    """
    chosen = _choose(notebook)
    from workbook.run import normalise, warning

    faults = {}
    for outcome in _execute(chosen, workers):
        if fault := outcome.error or warning(outcome):
            faults[outcome.path] = fault
        else:
            outcome.path.write_text(normalise(outcome.nb), encoding="utf-8", newline="\n")
    _end(faults)


@cli.command(context_settings=_HANDED_ON)
@click.argument("pytest_args", nargs=-1, type=click.UNPROCESSED)
def test(pytest_args: tuple[str, ...]) -> None:
    """Run the tests: the packages and every notebook.

    pytest and nbval run in two processes; PYTEST_ARGS are handed on (for example: -k cursor, or -n
    0).
    """
    # loadfile, because the cells of one notebook share a kernel and must stay in one process.
    _hand_over("pytest", "-n", "2", "--dist", "loadfile", *pytest_args)


@cli.command(context_settings=_HANDED_ON)
@click.argument("jupyter_args", nargs=-1, type=click.UNPROCESSED)
def lab(jupyter_args: tuple[str, ...]) -> None:
    """Open the notebooks in JupyterLab.

    JUPYTER_ARGS are handed on (for example: --no-browser).
    """
    _hand_over("jupyterlab", "notebooks", *jupyter_args)


def _hand_over(*module_and_arguments: str) -> None:
    """Run a module in the checkout and exit with its code; Ctrl-C is the module's to answer."""
    command = [sys.executable, "-m", *module_and_arguments]
    process = subprocess.Popen(command, cwd=_checkout(), env=os.environ | {"PYTHONHASHSEED": "0"})
    while True:
        try:
            raise click.exceptions.Exit(process.wait())
        except KeyboardInterrupt:
            continue


_LIST = "\n".join(f"{name:<16} {about}" for name, about in _BENCHMARKS.items())


@cli.command(epilog=f"\b\n{_LIST}")
@click.argument("names", nargs=-1, type=click.Choice(list(_BENCHMARKS)), metavar="[NAME]...")
def bench(names: tuple[str, ...]) -> None:
    """Run the benchmarks that are not part of a notebook.

    Each NAME (all of them by default) is measured, printed, and written to data/results again.
    """
    for name in names or _BENCHMARKS:
        click.echo(f"{name}: {_BENCHMARKS[name]}")
        click.echo(importlib.import_module(f"workbook.bench.{name}").report())
