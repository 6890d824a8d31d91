"""The headline table: one question, answered after each step of the workbook.

The question is "which orders were refunded?", asked of the real account of 10,000 orders. Every
step adds one technique to the ones before it and is measured on the exact text that the model would
get. The notebooks and `workbook run` read this one source.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from toolresults.tokens import count_tokens, estimate_tokens, to_json
from workbook.examples.orders.store import OrderFilter, OrderStore
from workbook.examples.orders.tools import order_tools

BUDGET = 500
"""Tokens that steps 05 and 06 allow for one result: small enough to see the budget at work."""

NOW = 1_782_907_200
"""The clock of the workbook, in seconds: 2026-07-01T12:00:00Z, just after the newest order."""

KEYS = ("workbook-key",)
"""The signing key of the workbook: fixed, so that every cursor and count repeats. Never sign with a
published key.
"""


@dataclass(frozen=True)
class Step:
    """What one step sends to the model. `texts` are the tool results, `shows` says what is in
    them.
    """

    notebook: str
    step: str
    shows: str
    texts: tuple[str, ...]

    @property
    def exact(self) -> int:
        """Exact tokens (o200k_base)."""
        return sum(map(count_tokens, self.texts))

    @property
    def estimate(self) -> int:
        """Estimated tokens (characters ÷ 4)."""
        return sum(map(estimate_tokens, self.texts))


def steps(store: OrderStore) -> Iterator[Step]:
    """The steps in order, on `store`."""
    refunded = OrderFilter(status="refunded")
    total = store.count(refunded)
    ask = {"status": "refunded", "limit": 50}

    everything = to_json(store.page(limit=store.count()))
    yield Step("01", "naive", f"all {store.count():,} orders, every field", (everything,))

    matches = to_json(store.page(refunded, limit=total))
    yield Step("02", "filtered", f"the {total:,} refunded orders", (matches,))

    concise = workbook_tools(store)["search_orders"].call(ask).text
    first = store.page(refunded, limit=50)
    capped = to_json({**json.loads(concise), "items": first})
    yield Step("03", "capped", "50 of them, with a cursor", (capped,))
    yield Step("04", "concise", "50 of them, three fields each", (concise,))

    tools = workbook_tools(store, budget=BUDGET)
    fitted = tools["search_orders"].call(ask).text
    yield Step("05", "budget", f"as many as fit {BUDGET} tokens, with a note", (fitted,))

    ref = f"pay_{first[0]['order_id'].removeprefix('ord_')}"
    window = tools["get_order_payload"].call({"payload_ref": ref}).text
    yield Step("06", "payload ref", "the same page, and one payload in a window", (fitted, window))


def workbook_tools(store: OrderStore, **options):
    """`order_tools` with the workbook's fixed key, caller and clock; `options` are passed on."""
    return order_tools(
        store, **{"keys": KEYS, "caller": "workbook", "clock": lambda: NOW, **options}
    )


def headline() -> pd.DataFrame:
    """The table: notebook, step, what is shown, exact tokens, estimate, share of naive (a
    fraction).
    """
    with OrderStore.open() as store:
        rows = [(s.notebook, s.step, s.shows, s.exact, s.estimate) for s in steps(store)]
    frame = pd.DataFrame(rows, columns=["notebook", "step", "shows", "exact", "estimate"])
    frame["share"] = frame["exact"] / frame["exact"].iloc[0]
    return frame
