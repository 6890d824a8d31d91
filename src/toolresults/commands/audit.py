"""`toolresults audit FILE`: step 1 of the workbook on the reader's own data."""

import gc
import sys

import click

from toolresults.commands import Fault


@click.command()
@click.argument("file", default="-", metavar="[FILE|-]")
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    default=25_000,
    show_default=True,
    help="Tokens that one tool result may take.",
)
@click.option(
    "--rows", metavar="PATH", help="Where the rows are, if not in the longest list: $.data, say."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, for programs.")
def audit(file: str, budget: int, rows: str | None, as_json: bool) -> None:
    """Say what makes a tool result large, and what to do first.

    FILE holds what the tool returned: a JSON list, an object with a list inside, JSON Lines, or an
    MCP result. Nothing of it is shown but the names of its fields.
    """
    from toolresults.audit.load import InputError
    from toolresults.audit.report import audit_file

    gc.disable()  # millions of parsed values and no cycles: looking for garbage would take half of the time
    try:
        report = audit_file(file, budget=budget, rows=rows, cold=True)
    except InputError as error:
        raise Fault(str(error)) from None
    finally:
        gc.enable()
    if as_json:
        from toolresults.tokens import to_json

        click.echo(to_json(report.to_dict()).encode("utf-8"))
    else:
        from toolresults.audit.show import show

        show(report, sys.stdout)
