"""The subcommands of `toolresults`, a module each, imported only when they are called."""

import click


class Fault(click.ClickException):
    """A mistake of the person at the keyboard: one line on standard error, exit code 2."""

    exit_code = 2
