"""The headline table: one question, answered after each step of the workbook.

The question is "which orders were refunded?", asked of the real account of 10,000 orders. Every
step adds one technique to the ones before it and is measured on the exact text that the model would
get. The notebooks and `workbook run` read this one source.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from toolresults.tokens import count_tokens, estimate_tokens
from workbook.examples.orders.store import OrderFilter, OrderStore

from .techniques import TECHNIQUES, budgeted, refs

BUDGET = 500
"""Tokens that steps 05 and 06 allow for one result: small enough to see the budget at work."""


@dataclass(frozen=True)
class Step:
    """What one step sends to the model. `texts` are the tool results, `shows` says what is in
    them."""

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


def headline_steps(store: OrderStore) -> Iterator[Step]:
    """The steps in order, on `store`."""
    refunded = OrderFilter(status="refunded")
    ask = {"status": "refunded", "limit": 50}

    def found(technique: str, **given: object) -> str:
        return TECHNIQUES[technique].tools(store)["search_orders"].call(given).text

    yield Step("01", "naive", f"all {store.count():,} orders, every field", (found("naive"),))
    matches, shows = (
        found("filter", status="refunded"),
        f"the {store.count(refunded):,} refunded orders",
    )
    yield Step("02", "filtered", shows, (matches,))
    yield Step("03", "capped", "50 of them, with a cursor", (found("cap", **ask),))
    yield Step("04", "concise", "50 of them, three fields each", (found("concise", **ask),))
    fitted = budgeted(store, BUDGET)["search_orders"].call(ask).text
    yield Step("05", "budget", f"as many as fit {BUDGET} tokens, with a note", (fitted,))
    first = store.page(refunded, limit=1)[0]["order_id"].replace("ord_", "pay_")
    window = refs(store, BUDGET)["get_order_payload"].call({"payload_ref": first}).text
    yield Step("06", "payload ref", "the same page, and one payload in a window", (fitted, window))


def headline() -> pd.DataFrame:
    """The table: notebook, step, what is shown, exact tokens, estimate, share of naive (a
    fraction)."""
    with OrderStore.open() as store:
        rows = [(s.notebook, s.step, s.shows, s.exact, s.estimate) for s in headline_steps(store)]
    frame = pd.DataFrame(rows, columns=["notebook", "step", "shows", "exact", "estimate"])
    frame["share"] = frame["exact"] / frame["exact"].iloc[0]
    return frame
