"""The techniques of the workbook as tools, one added at a time: what `headline` and
`tokens_per_turn` compare.

Each technique is a function from the store (and the tokens of one result) to the tools that an
agent gets; only what `search_orders` takes and gives differs. A new one is a function and an entry
of `TECHNIQUES`. The steps before `refs` send the gateway's payload raw, as the naive tool does,
because refs are what takes its place.
"""

import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import Field

from toolresults.agent.api import Api
from toolresults.codemode.execute import execute_tool, open_sandbox
from toolresults.codemode.functions import HostFunction
from toolresults.codemode.stubs import stubs
from toolresults.results.budget import BUDGET, page
from toolresults.results.shape import shape
from toolresults.tokens import to_json
from toolresults.tools import Tool
from workbook.examples.orders.functions import order_functions
from workbook.examples.orders.store import OrderFilter, OrderStore
from workbook.examples.orders.tools import order_tools

from .harness import Trim
from .trimming import cache_settings, trimmings

NOW = 1_782_907_200
"""The clock of the workbook, in seconds: 2026-07-01T12:00:00Z, just after the newest order."""

KEYS = ("workbook-key",)
"""The signing key of the workbook: fixed, so that every cursor and count repeats. Never sign with a
published key."""

SYSTEM = (
    "You answer questions about the orders of a shop. Use the tools, and name the orders that you "
    "mean."
)
"""What the model is told about its task."""

_NO_BUDGET = 10**9
"""Tokens of a budget that never holds: for the tools from before there was one."""

_SMALL_BUDGET = 500
"""Tokens of the budget that is tried as too small."""

LATER = ("off-loading",)
"""Techniques that join this list when they exist: each is one more entry of `TECHNIQUES`."""

Tools = dict[str, Tool]


def workbook_tools(store: OrderStore, **options: Any) -> Tools:
    """`order_tools` with the workbook's fixed key, caller and clock; `options` are passed on."""
    return order_tools(
        store, **{"keys": KEYS, "caller": "workbook", "clock": lambda: NOW, **options}
    )


def naive(store: OrderStore, budget: int = BUDGET) -> Tools:
    """All orders, every field, in one result."""
    return _search(store, (), lambda given: everything(store), "Lists all orders, newest first.")


def filtered(store: OrderStore, budget: int = BUDGET) -> Tools:
    """All orders that match, every field, in one result."""

    def body(given: dict[str, Any]) -> str:
        return to_json(store.page(OrderFilter(**given), limit=store.count()))

    return _search(store, _FILTERS, body, "Lists the orders that match, newest first.")


def capped(store: OrderStore, budget: int = BUDGET) -> Tools:
    """At most 50 of the orders that match, every field, with a cursor."""
    return _search(store, _PAGED, partial(_page, store, _NO_BUDGET, False))


def concise(store: OrderStore, budget: int = BUDGET) -> Tools:
    """At most 50 of the orders that match, three fields of each, or all fields on request."""
    return _search(store, _FORMATTED, partial(_page, store, _NO_BUDGET, True))


def budgeted(store: OrderStore, budget: int = BUDGET) -> Tools:
    """As many of them as fit the budget, with a note."""
    return _search(store, _FORMATTED, partial(_page, store, budget, True), budget=budget)


def refs(store: OrderStore, budget: int = BUDGET) -> Tools:
    """Long fields by reference, and a tool that opens them: the whole tool."""
    return workbook_tools(store, budget=budget)


def code(store: OrderStore, budget: int = BUDGET) -> Tools:
    """That, and a tool that runs code, which may call for all rows, and for what the gateway sent
    with one order."""
    functions = [
        HostFunction(order_functions(store)[path], *path.split("."))
        for path in ("orders.rows", "orders.payload")
    ]
    sandbox = open_sandbox("python", {function.path: function for function in functions})
    about = stubs(functions, "python", docs=True)
    return {**refs(store, budget), "execute": execute_tool(sandbox, about=about)}


def _without_note(store: OrderStore, budget: int = BUDGET) -> Tools:
    """The rows of a page and nothing else: neither how many match nor how to go on."""

    def body(given: dict[str, Any]) -> str:
        return to_json(json.loads(_page(store, _NO_BUDGET, True, given))["items"])

    return _search(store, [name for name in _FORMATTED if name != "cursor"], body)


@dataclass(frozen=True)
class Technique:
    """One line of the comparison.

    `tools(store)` are what lists and reads; `trim(api)` is what is done to the history (None:
    nothing). `asks_again`: whether an agent asks the shop again for each question, since orders
    keep coming. `after`: what a variant varies; None for a technique that is added to the one
    before it.
    """

    name: str
    tools: Callable[[OrderStore], Tools]
    trim: Callable[[Api], Trim] | None = None
    asks_again: bool = True
    after: str | None = None


TECHNIQUES = {
    technique.name: technique
    for technique in (
        Technique("naive", naive),
        Technique("filter", filtered),
        Technique("cap", capped),
        Technique("concise", concise),
        Technique("budget", budgeted),
        Technique("refs", refs),
        Technique("code", code),
        Technique("naive, asked once", naive, asks_again=False, after="naive"),
        Technique("no note", _without_note, after="concise"),
        Technique("small budget", partial(refs, budget=_SMALL_BUDGET), after="refs"),
        Technique("clearing", refs, lambda api: trimmings(api)["cleared"], after="refs"),
        Technique(
            "clearing every turn",
            refs,
            lambda api: cache_settings(api)["clear all on every turn"],
            after="refs",
        ),
    )
}
"""By name: first each technique added to the ones before, then variants of some of them."""

ADDED = [technique.name for technique in TECHNIQUES.values() if not technique.after]
"""The names of the techniques that are added one at a time, in order."""


@lru_cache(maxsize=1)
def everything(store: OrderStore) -> str:
    """All orders, every field, as JSON: 20 MB, asked for again and again. What is inserted later is
    not in it."""
    return to_json(store.page(limit=store.count()))


_FILTERS = ("status", "region", "min_amount", "placed_after", "placed_before")
_PAGED = (*_FILTERS, "limit", "cursor")
_FORMATTED = (*_PAGED, "response_format")
_FORMAT = Annotated[
    Literal["concise", "detailed"], Field(description="detailed adds every other field.")
]


def _search(
    store: OrderStore,
    names: Sequence[str],
    body: Callable[[dict[str, Any]], str],
    doc: str | None = None,
    budget: int = _NO_BUDGET,
) -> Tools:
    """A tool `search_orders` with some of the real one's parameters, and a body of its own."""
    real = workbook_tools(store)["search_orders"]
    taken = inspect.signature(real.function).parameters
    hints = get_type_hints(real.function, include_extras=True) | {"response_format": _FORMAT}

    def search_orders(**given: Any) -> str:
        return body(given)

    search_orders.__signature__ = inspect.Signature([taken[name] for name in names])
    search_orders.__annotations__ = {name: hints[name] for name in names}
    search_orders.__doc__ = doc or real.description
    return {"search_orders": Tool(search_orders, budget=budget)}


def _page(store: OrderStore, budget: int, formats: bool, given: dict[str, Any]) -> str:
    """A page within the budget: concise if `formats` allows it and nothing else is asked, else
    whole rows."""
    if formats and given.get("response_format", "concise") == "concise":
        return workbook_tools(store, budget=budget)["search_orders"].function(**given)
    real = workbook_tools(store, budget=_NO_BUDGET)["search_orders"]

    def cursor_after(rows: int) -> str | None:
        asked = {**given, "limit": rows, "response_format": "concise"}
        return json.loads(real.function(**asked))["next_cursor"]

    found = json.loads(real.function(**{**given, "response_format": "detailed"}))
    rows = [store.get(row["order_id"]) for row in found["items"]]
    return page(
        rows,
        total=found["total_matches"],
        cursor_after=lambda n: found["next_cursor"] if n == len(rows) else cursor_after(n),
        budget=budget,
        advice='response_format="concise" fits more.' if formats else "",
        shrink=lambda chars: shape(rows[0], caps=dict.fromkeys(rows[0], chars)),
    )
