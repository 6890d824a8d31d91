"""The ``toolresults`` command: what a text costs, and what makes a tool result large.

A user never sees a traceback: a failure is one line on standard error, with exit code 1 (2 for a
command line that cannot be understood). What is slow to import is imported by the command that
needs it, so that ``toolresults --help`` starts in well under half a second.
"""

import errno
import gc
import os
import sys

import click

FULL = {errno.ENOSPC, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)}
"""What the system says when a disk, or a user's share of it, has no room left."""


class Fault(click.ClickException):
    """A mistake of the person at the keyboard: one line on standard error, exit code 2."""

    exit_code = 2


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="toolresults")
def cli() -> None:
    """Measure the tool results of your own agent. The workbook's own commands are `workbook
    --help`.
    """


@cli.command(short_help="Count the tokens of a file or of standard input.")
@click.argument("file", default="-", metavar="[FILE|-]")
@click.option(
    "--encoding",
    default="o200k_base",
    show_default=True,
    help="o200k_base (GPT-4o and later), cl100k_base (GPT-4), qwen3.5 (Qwen 3.5), or all.",
)
@click.option("-q", "--quiet", is_flag=True, help="Print the number of tokens alone, for scripts.")
def count(file: str, encoding: str, quiet: bool) -> None:
    """Count the tokens of FILE, or of standard input: exactly, and by the usual estimate of
    characters ÷ 4.

    The text is UTF-8, or UTF-16 or UTF-32 with a byte-order mark (which is not counted).
    """
    from toolresults.audit.load import InputError, read_text
    from toolresults.tokens import ENCODINGS, count_tokens, estimate_tokens

    if encoding not in (*ENCODINGS, "all"):
        known = ", ".join(ENCODINGS)
        raise click.BadParameter(
            f"{encoding[:40]!r} is not one of {known}, all", param_hint="'--encoding'"
        )
    if file == "-" and sys.stdin is not None and sys.stdin.isatty():
        told = "Reading standard input: end it with Ctrl-D (Ctrl-Z and Enter on Windows)."
        click.echo(told, err=True)
    try:
        text, size = read_text(file)
    except InputError as error:
        raise Fault(str(error)) from None
    names = ENCODINGS if encoding == "all" else [encoding]
    tokens = {name: count_tokens(text, name) for name in names}
    if quiet:
        click.echo("\n".join(map(str, tokens.values())))
        return
    estimate = estimate_tokens(text)
    for name, number in tokens.items():
        off = 100 * (estimate - number) / number if number else None
        error = "" if off is None else f"  (the estimate is {off:+.1f}% off)"
        click.echo(f"{number:>13,}  tokens, exact, {name}{error}")
    lines = {"tokens, estimate (characters ÷ 4)": estimate, "characters": len(text), "bytes": size}
    for name, number in lines.items():
        click.echo(f"{number:>13,}  {name}")


@cli.command(short_help="Say what makes your JSON large, and what to do first.")
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
    from toolresults.audit.show import audit_file, show
    from toolresults.tokens import to_json

    # millions of parsed values and no cycles: looking for garbage would take half of the time
    gc.disable()
    try:
        report = audit_file(file, budget=budget, rows=rows)
    except InputError as error:
        raise Fault(str(error)) from None
    finally:
        gc.enable()
    if as_json:
        click.echo(to_json(report.to_dict()).encode("utf-8"))
    else:
        show(report, sys.stdout)


def main() -> None:
    """Run ``toolresults`` and exit: 0 done, 1 failed, 2 misused, 130 interrupted."""
    run(cli, "toolresults")


def run(group: click.Group, name: str) -> None:
    """Run *group* as the command *name* and exit: 0 done, 1 failed, 2 misused, 130 interrupted."""
    for stream in (sys.stdout, sys.stderr):
        # a Windows console or a pipe may default to an encoding without Vietnamese or an arrow
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8")
    try:
        code = group.main(prog_name=name, standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()  # now, while a full disk can still be reported
    except (click.exceptions.Abort, KeyboardInterrupt):
        _fail(name, "interrupted", 130)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.UsageError as error:
        path = error.ctx.command_path if error.ctx else name
        _fail(name, f"{error.format_message().rstrip('. ')}. See {path} --help", 2)
    except click.ClickException as error:
        _fail(name, error.format_message(), error.exit_code)
    except BrokenPipeError:  # the reader (`head`, a pager) has gone
        _discard_output()
        sys.exit(1)
    except ModuleNotFoundError as error:
        install = 'pip install "toolresults[workbook]" (for the tests: [workbook,dev])'
        _fail(name, f"{error.name} is not installed: {install}", 1)
    except Exception as error:
        if os.environ.get("TOOLRESULTS_DEBUG"):
            raise
        while isinstance(error, ExceptionGroup):  # from notebooks that run at the same time
            error = error.exceptions[0]
        told = f"{type(error).__name__}: {error}"
        if isinstance(error, OSError) and error.errno in FULL and error.filename is None:
            _discard_output()
            what_to_do = "free some space, or write it elsewhere"
            told = f"the output cannot be written ({error.strerror}): {what_to_do}"
        _fail(name, told, 1)
    sys.exit(code if isinstance(code, int) else 0)


def _discard_output() -> None:
    """Send what standard output still holds nowhere: Python flushes it at exit, and would complain
    once more.
    """
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(name: str, message: str, code: int) -> None:
    """Print *message* of the command *name* on one line of standard error and exit with *code*."""
    click.echo(f"{name}: {' '.join(message.split())}", err=True)
    sys.exit(code)
