"""The techniques of the workbook as tools, one added at a time: what `tokens_per_turn` compares.

Every technique has a tool `search_orders` on the same account; only what it takes and gives
differs. The steps before `refs` send the gateway's payload raw, as the naive tool does, because
refs are what takes its place.
"""

import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Annotated, Any, Literal, get_type_hints

from pydantic import Field

from toolresults.codemode.execute import execute_tool, open_sandbox
from toolresults.codemode.functions import HostFunction
from toolresults.codemode.stubs import stubs
from toolresults.results.budget import BUDGET, page
from toolresults.results.shape import shape
from toolresults.tokens import to_json
from toolresults.tools import Tool
from workbook.examples.orders.functions import order_functions
from workbook.examples.orders.store import OrderFilter, OrderStore

from .sessions import Trim
from .steps import workbook_tools
from .trimming import TRIGGER, cache_settings, trimmings

NO_BUDGET = 10**9
"""Tokens of a budget that never holds: for the tools from before there was one."""

SMALL_BUDGET = 500
"""Tokens of the budget that is tried as too small."""

FILTERS = ("status", "region", "min_amount", "placed_after", "placed_before")

CONCISE = ("customer", "status", "amount")
"""Fields of a concise row."""

FUNCTIONS = ("orders.rows", "orders.payload")
"""What code may call: all rows, and what the gateway sent with one order."""

LATER = ("off-loading",)
"""Techniques that join this list when they exist: each is one more entry of `TECHNIQUES`."""

Tools = dict[str, Tool]


@dataclass(frozen=True)
class Technique:
    """One line of the comparison.

    `shows` says what a result holds. `tools(store)` are what lists and reads, `trim(api)` what is
    done to the history (None: nothing). The flags say what an agent reads in the tools'
    definitions: whether it can filter, pages, choose a format, follow refs, and write code.
    `again`: whether it asks the shop again for each question, since orders keep coming. `added`:
    whether it stands on the technique before it; else it is a variant, and `after` is what it
    varies.
    """

    name: str
    shows: str
    tools: Callable[[OrderStore], Tools]
    trim: Callable[[str], Trim] | None = None
    filters: bool = True
    pages: bool = True
    formats: bool = True
    refs: bool = False
    code: bool = False
    again: bool = True
    after: str = ""

    @property
    def added(self) -> bool:
        return not self.after

    @contextmanager
    def opened(self, store: OrderStore) -> Iterator[Tools]:
        """All tools that the agent gets: `tools`, and `execute` where there is code, until its
        sandbox is closed.
        """
        tools = self.tools(store)
        if not self.code:
            yield tools
            return
        given = order_functions(store)
        functions = {path: HostFunction(given[path], *path.split(".")) for path in FUNCTIONS}
        with open_sandbox("python", functions) as sandbox:
            yield tools | {
                "execute": execute_tool(
                    sandbox, about=stubs(functions.values(), "python", docs=True)
                )
            }


_FORMAT = Annotated[
    Literal["concise", "detailed"], Field(description="detailed adds every other field.")
]


def _like(
    tool: Tool,
    names: tuple[str, ...],
    function: Callable[[dict[str, Any]], str],
    doc: str,
    budget: int,
) -> Tool:
    """A tool `search_orders` with some of the real one's parameters, and a body of its own."""
    taken = inspect.signature(tool.function).parameters
    hints = get_type_hints(tool.function, include_extras=True) | {"response_format": _FORMAT}

    def search_orders(**given: Any) -> str:
        return function(given)

    search_orders.__signature__ = inspect.Signature([taken[name] for name in names])
    search_orders.__annotations__ = {name: hints[name] for name in names}
    search_orders.__doc__ = doc
    return Tool(search_orders, budget=budget)


@lru_cache(maxsize=1)
def everything(store: OrderStore) -> str:
    """All orders, every field, as JSON: 20 MB, asked for again and again. What is inserted later is
    not in it.
    """
    return to_json(store.page(limit=store.count()))


def naive(store: OrderStore) -> Tools:
    """All orders, every field, in one result."""
    real, doc = workbook_tools(store)["search_orders"], "Lists all orders, newest first."
    return {"search_orders": _like(real, (), lambda given: everything(store), doc, NO_BUDGET)}


def filtered(store: OrderStore) -> Tools:
    """All orders that match, every field, in one result."""

    def body(given: Mapping[str, Any]) -> str:
        return to_json(store.page(OrderFilter(**given), limit=store.count()))

    real = workbook_tools(store)["search_orders"]
    doc = "Lists the orders that match, newest first."
    return {"search_orders": _like(real, FILTERS, body, doc, NO_BUDGET)}


def paged(store: OrderStore, *, formats: bool, budget: int = NO_BUDGET, note: bool = True) -> Tools:
    """Pages of at most 50 with a cursor, whole rows; with `formats` concise ones too; in a budget
    if one is given.

    Without `note` a result holds the rows and nothing else: neither how many match nor how to go
    on.
    """
    real, fitted = (
        workbook_tools(store, budget=most)["search_orders"] for most in (NO_BUDGET, budget)
    )

    def cursor_after(given: Mapping[str, Any], rows: int) -> str | None:
        return json.loads(real.function(**{**given, "limit": rows, "response_format": "concise"}))[
            "next_cursor"
        ]

    def body(given: Mapping[str, Any]) -> str:
        if formats and given.get("response_format", "concise") == "concise":
            text = fitted.function(**given)
        else:
            found = json.loads(real.function(**{**given, "response_format": "detailed"}))
            rows = [store.get(row["order_id"]) for row in found["items"]]
            text = page(
                rows,
                total=found["total_matches"],
                cursor_after=lambda n: (
                    found["next_cursor"] if n == len(rows) else cursor_after(given, n)
                ),
                budget=budget,
                advice='response_format="concise" fits more.' if formats else "",
                shrink=lambda chars: shape(rows[0], caps=dict.fromkeys(rows[0], chars)),
            )
        return text if note else to_json(json.loads(text)["items"])

    names = (
        *FILTERS,
        "limit",
        *(("cursor",) if note else ()),
        *(("response_format",) if formats else ()),
    )
    return {"search_orders": _like(real, names, body, real.description, budget)}


TECHNIQUES = {
    technique.name: technique
    for technique in (
        Technique("naive", "all orders, every field", naive, filters=False, pages=False, formats=False),
        Technique("filter", "all that match, every field", filtered, pages=False, formats=False),
        Technique("cap", "50 that match, with a cursor", partial(paged, formats=False), formats=False),
        Technique("concise", "three fields, or all on request", partial(paged, formats=True)),
        Technique("budget", f"as many as fit {BUDGET:,} tokens", partial(paged, formats=True, budget=BUDGET)),
        Technique("refs", "long fields by reference", workbook_tools, refs=True),
        Technique("code", "what code computed or found", workbook_tools, refs=True, code=True),
        Technique("naive, asked once", "all orders, kept for later questions", naive, filters=False, pages=False,
                  formats=False, again=False, after="naive"),
        Technique("no note", "50 rows, and no word of more", partial(paged, formats=True, note=False),
                  after="concise"),
        Technique("small budget", f"as many as fit {SMALL_BUDGET} tokens", partial(workbook_tools, budget=SMALL_BUDGET),
                  refs=True, after="refs"),
        Technique("clearing", f"old results cleared over {TRIGGER:,}", workbook_tools,
                  lambda api: trimmings(api)["cleared"], refs=True, after="refs"),
        Technique("clearing every turn", "all but the newest three cleared", workbook_tools,
                  lambda api: cache_settings(api)["clear all on every turn"], refs=True, after="refs"),
    )
}  # fmt: skip
"""By name: first each technique added to the ones before, then variants of some of them."""
