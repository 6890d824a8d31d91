"""The ``workbook`` command: run, test, open and refresh the notebooks, and what they measure."""

import click

from toolresults.cli import LazyGroup, run

# name -> (module:attribute, the line that --help shows, so that showing it needs no import)
COMMANDS = {
    "run": ("workbook.commands.run:run", "Run every notebook, offline, and write one HTML report."),
    "lab": ("workbook.commands.workbook:lab", "Open the notebooks in JupyterLab."),
    "call": (
        "workbook.commands.call:call",
        "Call a tool as a model would, and print what the model would see.",
    ),
    "bench": (
        "workbook.commands.bench:bench",
        "Run the benchmarks that are not part of a notebook.",
    ),
    "notebooks": (
        "workbook.commands.workbook:notebooks",
        "Refresh the notebooks' committed outputs.",
    ),
    "test": ("workbook.commands.workbook:test", "Run the tests: the package and every notebook."),
}


@click.group(cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="toolresults")
def cli() -> None:
    """Tool results that fit: run, test and open the workbook. Your own tools' results: `toolresults
    --help`.
    """


def main() -> None:
    """Run ``workbook`` and exit: 0 done, 1 failed, 2 misused, 130 interrupted."""
    run(cli, "workbook")
