"""The ``toolresults`` command: a group whose subcommands are imported only when they are called.

Importing late keeps ``toolresults --help`` and ``toolresults count`` well under half a second; each
subcommand's module is in ``toolresults/commands``. A user never sees a traceback: a failure is one
line on standard error, with exit code 1 (2 for a command line that cannot be understood).
"""

import errno
import importlib
import os
import sys

import click

# name -> (module:attribute, the line that --help shows, so that showing it needs no import)
COMMANDS = {
    "count": (
        "toolresults.commands.count:count",
        "Count the tokens of a file or of standard input.",
    ),
    "audit": (
        "toolresults.commands.audit:audit",
        "Say what makes your JSON large, and what to do first.",
    ),
}

FULL = (
    (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    if hasattr(errno, "EDQUOT")
    else (errno.ENOSPC, errno.EFBIG)
)
"""What the system says when a disk, or a user's share of it, has no room left."""


class LazyGroup(click.Group):
    """A click group that lists *lazy* commands without importing them, and imports the one that is
    asked for.
    """

    def __init__(self, *args, lazy: dict[str, tuple[str, str]], **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.lazy = lazy

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self.lazy:
            return None
        module, _, attribute = self.lazy[cmd_name][0].partition(":")
        return getattr(importlib.import_module(module), attribute)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in self.lazy.items()])


@click.group(cls=LazyGroup, lazy=COMMANDS, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="toolresults")
def cli() -> None:
    """Measure the tool results of your own agent. The workbook's own commands are `workbook
    --help`.
    """


def main() -> None:
    """Run ``toolresults`` and exit: 0 done, 1 failed, 2 misused, 130 interrupted."""
    run(cli, "toolresults")


def run(group: click.Group, name: str) -> None:
    """Run *group* as the command *name* and exit: 0 done, 1 failed, 2 misused, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        # A Windows console or a pipe may default to an encoding without Vietnamese or an arrow in
        # it.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8")
    try:
        code = group.main(prog_name=name, standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()  # now, while a full disk can still be reported
    except click.exceptions.Abort:
        fail(name, "interrupted", 130)
    except KeyboardInterrupt:
        fail(name, "interrupted", 130)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else name
        fail(name, f"{error.format_message().rstrip('. ')}. See {path} --help", 2)
    except click.ClickException as error:
        fail(name, error.format_message(), error.exit_code)
    except BrokenPipeError:
        # The reader (`head`, a pager) has gone: keep the interpreter from complaining when it
        # flushes standard output.
        discard_output()
        sys.exit(1)
    except ModuleNotFoundError as error:
        fail(
            name,
            f'{error.name} is not installed: pip install "toolresults[workbook]" (for the tests: [workbook,dev])',
            1,
        )
    except Exception as error:
        if os.environ.get("TOOLRESULTS_DEBUG"):
            raise
        while isinstance(error, ExceptionGroup):  # from notebooks that run at the same time
            error = error.exceptions[0]
        if isinstance(error, OSError) and error.errno in FULL and error.filename is None:
            discard_output()
            fail(
                name,
                f"the output cannot be written ({error.strerror}): free some space, or write it elsewhere",
                1,
            )
        fail(name, f"{type(error).__name__}: {error}", 1)
    sys.exit(code if isinstance(code, int) else 0)


def discard_output() -> None:
    """Send what standard output still holds nowhere: Python flushes it at exit, and would complain
    once more.
    """
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def fail(name: str, message: str, code: int) -> None:
    """Print *message* of the command *name* on one line of standard error and exit with *code*."""
    click.echo(f"{name}: {' '.join(message.split())}", err=True)
    sys.exit(code)
