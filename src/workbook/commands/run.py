"""``workbook run``: every notebook from a fresh kernel, then the headline table and one HTML
report.
"""

import tempfile
from pathlib import Path

import click

from toolresults.cli import Fault
from workbook.commands.workbook import choose, execute, project_root


@click.command()
@click.argument("notebook", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder to write to (default: build/).",
)
@click.option(
    "--workers",
    default=2,
    show_default=True,
    type=click.IntRange(1),
    help="Notebooks run at the same time.",
)
def run(notebook: tuple[Path, ...], out: Path | None, workers: int) -> None:
    """Run every NOTEBOOK (default: all of notebooks/) offline, and write one HTML report.

    Each runs from a fresh kernel; the committed files are not changed, and --out may not hold them.
    Copies with their outputs and report.html go to build/. A notebook that fails is named with its
    cell and error, the rest go on, and the exit code is 1.
    """
    out = out or (project_root() or Path.cwd()) / "build"
    chosen = choose(notebook)
    _check(chosen, out)
    outcomes = execute(chosen, workers)
    import nbformat

    from workbook import report

    headline = None if notebook else _headline()
    for outcome in outcomes:
        if outcome.readable:
            (out / outcome.path.name).write_text(nbformat.writes(outcome.nb), encoding="utf-8")
    path = report.write(outcomes, out / "report.html", headline)
    if headline:
        _print_table(*headline)
    click.echo()
    if notebook:
        named = "the notebook" if len(chosen) == 1 else f"the {len(chosen)} notebooks"
        click.echo(
            f"The report holds only {named} that you named: `workbook run` alone reports on all."
        )
    click.echo(f"Report: {path.resolve()}")
    failed = [outcome for outcome in outcomes if outcome.error]
    for outcome in failed:
        click.echo(f"{outcome.path.name}, {outcome.error}", err=True)
    if failed:
        raise click.exceptions.Exit(1)


def _check(chosen: list[Path], out: Path) -> None:
    """Refuse, before anything runs, what would overwrite a notebook or could not be written. Raises
    `Fault`.
    """
    by_name: dict[str, Path] = {}
    for path in chosen:
        twin = by_name.setdefault(path.name.casefold(), path)
        if twin is not path:
            raise Fault(
                f"{twin} and {path} have the same name, and one copy would replace the other: run them apart"
            )
        if path.resolve().is_relative_to(out.resolve()) or _same(path, out / path.name):
            raise Fault(
                f"{path} is inside {out}, where copies would overwrite it: give another folder with --out"
            )
    try:
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as error:
        raise Fault(
            f"{out} cannot be written to ({error.strerror}): give another folder with --out"
        ) from None


def _same(one: Path, other: Path) -> bool:
    return other.exists() and one.samefile(other)


def _headline() -> tuple[list[str], list[list[str]]]:
    """Column names and rows, as text, of the table that the notebooks show too."""
    from workbook.bench.headline import headline

    table = headline()
    rows = [
        [_text(column, value) for column, value in row.items()] for row in table.to_dict("records")
    ]
    return [str(column) for column in table.columns], rows


def _text(column: str, value: object) -> str:
    if column == "share" and isinstance(value, float):
        return f"{value:.3%}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _print_table(columns: list[str], rows: list[list[str]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from workbook.report import NUMBERS

    table = Table(box=box.SIMPLE_HEAD)
    for column in columns:
        table.add_column(column, justify="right" if column in NUMBERS else "left")
    for row in rows:
        table.add_row(*row)
    console = Console()
    if not console.is_terminal:
        console = Console(
            width=110
        )  # a pipe or a file has no width of its own, and rich would take 80 columns
    console.print(table)
