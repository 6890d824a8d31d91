"""`workbook bench [NAME…]`: the measurements that are not part of a notebook's run."""

import importlib

import click

BENCHMARKS = {
    "counting": "count_tokens against raw tiktoken, in seconds",
    "code_mode": "all definitions against search and execute, by number of functions (writes data/results; minutes)",
    "four_ways": "one question about all orders, in seven ways (writes data/results; a minute)",
    "tokens_per_turn": "tokens and money of each turn, one technique at a time (writes data/results; a minute)",
}
"""Each is a module of `workbook.bench` with a `report()` that measures and returns text."""


_LIST = "\b\n" + "\n".join(f"{name:<16} {about}" for name, about in BENCHMARKS.items())


@click.command(epilog=_LIST)
@click.argument("names", nargs=-1, type=click.Choice(list(BENCHMARKS)), metavar="[NAME]...")
def bench(names: tuple[str, ...]) -> None:
    """Run the benchmarks NAME (all of them by default), print what they measured, and write their
    files again.
    """
    for name in names or BENCHMARKS:
        click.echo(f"{name}: {BENCHMARKS[name]}")
        click.echo(importlib.import_module(f"workbook.bench.{name}").report())
