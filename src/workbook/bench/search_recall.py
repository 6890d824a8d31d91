"""How often `search` finds the right function: fifty queries in a model's words, labelled with what
each should find.

The labels were written before any result was looked at, and never changed since. Queries, labels,
functions and their docstrings come from the same hands, so what is measured here flatters:
strangers' words fit less well.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from toolresults.codemode.registry import Registry
from workbook.paths import data_path

_RANKS = (1, 5, 10)
"""How many of the first lines are looked at."""


class Query(NamedTuple):
    """What a model asks, and the paths of the functions that it needs."""

    text: str
    expected: tuple[str, ...]


def queries() -> list[Query]:
    """The labelled queries of `data/code_mode_queries.csv`."""
    frame = pd.read_csv(data_path("code_mode_queries.csv"))
    return [Query(row.query, tuple(row.expected.split(";"))) for row in frame.itertuples()]


def registry_of(
    functions: Mapping[str, Callable[..., object]], *, search_words: bool = True, **options: object
) -> Registry:
    """A registry of the functions given by path, with their search words or without; `options` are
    `Registry`'s.
    """
    registry = Registry(**options)
    for path, function in functions.items():
        registry.register(function, *path.split("."), words=None if search_words else "")
    return registry


def ranked(registry: Registry, query: str) -> list[str]:
    """The paths that a search in brief shows, the best first; what its budget cuts is not found."""
    lines = json.loads(registry.search(query))["items"]
    return [line.partition(":")[0].partition("(")[0] for line in lines]


def recall(registry: Registry, asked: Sequence[Query] | None = None) -> pd.DataFrame:
    """One row a query: `at_1`, `at_5` and `at_10` are the share of the expected functions among the
    first lines.

    `expected` and `found` (the first five) are paths; `missed` holds what is expected and not among
    the first five. The mean of a column is the recall.
    """
    rows = []
    for text, expected in queries() if asked is None else asked:
        paths = ranked(registry, text)
        missed = [path for path in expected if path not in paths[:5]]
        row = {"query": text, "expected": list(expected), "found": paths[:5], "missed": missed}
        for rank in _RANKS:
            row[f"at_{rank}"] = sum(path in paths[:rank] for path in expected) / len(expected)
        rows.append(row)
    return pd.DataFrame(rows)
