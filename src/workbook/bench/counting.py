"""How much faster `count_tokens` is than raw tiktoken, on 12 MB of mixed JSON, both on one thread.

    workbook bench counting

Seconds depend on the machine, so only their ratio is worth quoting, and no test compares it.
"""

import time
from collections.abc import Callable
from statistics import median

from toolresults.tokens import count_tokens, tiktoken_encoding, to_json
from workbook.examples.orders.store import OrderStore

SIZE = 12_000_000
"""Characters of the text: the real account's orders (four languages, nested JSON), until there are
so many.
"""


def _mixed_json() -> str:
    """The text that is counted."""
    with OrderStore.open() as store:
        rows = [to_json(row) for row in store.page(limit=store.count())]
    text = ",".join(rows)
    return "[" + text[: SIZE - 2] + "]"


def measure(rounds: int = 3) -> dict[str, float]:
    """Median seconds of each counter over `rounds`, by turns, the tokens (the same from both), and
    the ratio."""
    text, encoding = _mixed_json(), tiktoken_encoding()
    counters = {
        "toolresults": lambda: count_tokens(text),
        "tiktoken": lambda: len(encoding.encode_ordinary(text)),
    }
    count_tokens("")  # both vocabularies are loaded before the clock starts
    runs = [(name, *_timed(count)) for _ in range(rounds) for name, count in counters.items()]
    tokens = {count for _, count, _ in runs}
    if len(tokens) != 1:
        raise AssertionError(f"the two counters disagree: {sorted(tokens)} tokens")
    seconds = {name: median(s for one, _, s in runs if one == name) for name in counters}
    ratio = seconds["toolresults"] / seconds["tiktoken"]
    return {"characters": len(text), "tokens": tokens.pop(), **seconds, "ratio": ratio}


def _timed(counter: Callable[[], int]) -> tuple[int, float]:
    start = time.perf_counter()
    return counter(), time.perf_counter() - start


def report() -> str:
    """The measurement in one paragraph for the terminal."""
    return (
        "{characters:,} characters of JSON, {tokens:,} tokens from both counters\n"
        "count_tokens {toolresults:.2f} s, tiktoken {tiktoken:.2f} s: ratio {ratio:.2f}"
    ).format(**measure())
