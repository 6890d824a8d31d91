"""The ``toolresults`` command: a group whose subcommands are imported only when they are called.

Importing late keeps ``toolresults --help`` and ``toolresults count`` well under half a second; each subcommand's module
is in ``toolresults/commands``. A user never sees a traceback: a failure is one line on standard error, with exit code 1
(2 for a command line that cannot be understood).
"""

import errno
import importlib
import os
import sys

import click

# name -> (module:attribute, the line that --help shows, so that showing it needs no import)
COMMANDS = {
    "run": ("toolresults.commands.run:run", "Run every notebook, offline, and write one HTML report."),
    "lab": ("toolresults.commands.workbook:lab", "Open the notebooks in JupyterLab."),
    "call": ("toolresults.commands.call:call", "Call a tool as a model would, and print what the model would see."),
    "count": ("toolresults.commands.count:count", "Count the tokens of a file or of standard input."),
    "audit": ("toolresults.commands.audit:audit", "Say what makes your JSON large, and what to do first."),
    "bench": ("toolresults.commands.bench:bench", "Run the benchmarks that are not part of a notebook."),
    "notebooks": ("toolresults.commands.workbook:notebooks", "Refresh the notebooks' committed outputs."),
    "test": ("toolresults.commands.workbook:test", "Run the tests: the package and every notebook."),
}

FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) if hasattr(errno, "EDQUOT") else (errno.ENOSPC, errno.EFBIG)
"""What the system says when a disk, or a user's share of it, has no room left."""


class LazyGroup(click.Group):
    """A click group that lists ``COMMANDS`` without importing them, and imports the one that is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module, _, attribute = COMMANDS[cmd_name][0].partition(":")
        return getattr(importlib.import_module(module), attribute)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="toolresults")
def cli() -> None:
    """Tool results that fit: run the workbook, or measure and shape the tool results of your own agent."""


def main() -> None:
    """Run the command line and exit: 0 done, 1 failed, 2 misused, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        # A Windows console or a pipe may default to an encoding without Vietnamese or an arrow in it.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8")
    try:
        code = cli.main(prog_name="toolresults", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()  # now, while a full disk can still be reported
    except click.exceptions.Abort:
        fail("interrupted", 130)
    except KeyboardInterrupt:
        fail("interrupted", 130)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else "toolresults"
        fail(f"{error.format_message().rstrip('. ')}. See {path} --help", 2)
    except click.ClickException as error:
        fail(error.format_message(), error.exit_code)
    except BrokenPipeError:
        # The reader (`head`, a pager) has gone: keep the interpreter from complaining when it flushes standard output.
        discard_output()
        sys.exit(1)
    except ModuleNotFoundError as error:
        fail(f'{error.name} is not installed: pip install "toolresults[workbook]" (for the tests: [workbook,dev])', 1)
    except Exception as error:
        if os.environ.get("TOOLRESULTS_DEBUG"):
            raise
        while isinstance(error, ExceptionGroup):  # from notebooks that run at the same time
            error = error.exceptions[0]
        if isinstance(error, OSError) and error.errno in FULL and error.filename is None:
            discard_output()
            fail(f"the output cannot be written ({error.strerror}): free some space, or write it elsewhere", 1)
        fail(f"{type(error).__name__}: {error}", 1)
    sys.exit(code if isinstance(code, int) else 0)


def discard_output() -> None:
    """Send what standard output still holds nowhere: Python flushes it at exit, and would complain once more."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(message: str, code: int) -> None:
    """Print *message* on one line of standard error and exit with *code*."""
    click.echo(f"toolresults: {' '.join(message.split())}", err=True)
    sys.exit(code)
