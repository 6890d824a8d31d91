"""`toolresults count [FILE|-]`: what a text costs."""

import sys

import click

from toolresults.commands import Fault


def _encoding(context: click.Context, parameter: click.Parameter, value: str) -> str:
    from toolresults.tokens import ENCODINGS

    if value not in (*ENCODINGS, "all"):
        raise click.BadParameter(f"{value[:40]!r} is not one of {', '.join(ENCODINGS)}, all")
    return value


@click.command()
@click.argument("file", default="-", metavar="[FILE|-]")
@click.option(
    "--encoding",
    default="o200k_base",
    show_default=True,
    callback=_encoding,
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

    if file == "-" and sys.stdin is not None and sys.stdin.isatty():
        click.echo(
            "Reading standard input: end it with Ctrl-D (Ctrl-Z and Enter on Windows).", err=True
        )
    try:
        text, size = read_text(file)
    except InputError as error:
        raise Fault(str(error)) from None
    tokens = {
        name: count_tokens(text, name) for name in (ENCODINGS if encoding == "all" else [encoding])
    }
    if quiet:
        for number in tokens.values():
            click.echo(number)
        return
    estimate = estimate_tokens(text)
    for name, number in tokens.items():
        error = (
            f"  (the estimate is {100 * (estimate - number) / number:+.1f}% off)" if number else ""
        )
        click.echo(f"{number:>13,}  tokens, exact, {name}{error}")
    lines = {"tokens, estimate (characters ÷ 4)": estimate, "characters": len(text), "bytes": size}
    for name, number in lines.items():
        click.echo(f"{number:>13,}  {name}")
