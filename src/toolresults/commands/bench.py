"""`toolresults bench [NAME…]`: the measurements that are not part of a notebook's run."""

import importlib

import click

BENCHMARKS = {
    "counting": "count_tokens against raw tiktoken, in seconds",
    "code_mode": "all definitions against search and execute, by number of functions (data/results; some minutes)",
    "four_ways": "one question about all orders, in seven ways (data/results; about a minute)",
    "tokens_per_turn": "tokens and money of each turn, one technique at a time (data/results; about two minutes)",
}
"""Each is a module of `toolresults.bench` with a `report()` that measures and returns text."""


@click.command()
@click.argument("names", nargs=-1, type=click.Choice(list(BENCHMARKS)), metavar="[NAME]...")
def bench(names: tuple[str, ...]) -> None:
    """Run the benchmarks NAME (all of them by default) and print what they measured."""
    for name in names or BENCHMARKS:
        click.echo(f"{name}: {BENCHMARKS[name]}")
        click.echo(importlib.import_module(f"toolresults.bench.{name}").report())
