"""Two questions about all the orders, and the ways to answer each: tools for the model, and a
program for its part.

A program gets the calls so far with their results, as they stand in the messages, and gives the
next calls or the answer. A way without a program for a question has tools that cannot answer it,
and the model says so.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from toolresults.codemode.execute import execute_tool, open_sandbox
from toolresults.codemode.functions import HostFunction
from toolresults.codemode.stubs import stubs
from toolresults.tools import Tool
from workbook.examples.orders.functions import order_functions
from workbook.examples.orders.store import REGIONS, OrderStore

from .oracle import Seen
from .script import Made
from .steps import workbook_tools
from .techniques import naive

Rows = Iterable[Mapping[str, Any]]

Program = Callable[[Sequence[Seen]], Any]
"""From what was seen to the next calls (a list of `Made`), or to the answer (anything else)."""

RATE_CODE = """\
counts = {}
for row in orders.rows(fields=["region", "status"]):
    n = counts.setdefault(row["region"], [0, 0])
    n[0] += 1
    n[1] += row["status"] == "refunded"
{region: round(refunded / n, 4) for region, (n, refunded) in counts.items()}
"""

MEDIAN_CODE = """\
from collections import defaultdict
def median(values):
    values, half = sorted(values), len(values) // 2
    return round((values[half] + values[~half]) / 2, 2)
amounts, unknown = defaultdict(list), 0
for row in orders.rows(fields=["region", "status", "amount"]):
    if row["status"] in ("paid", "refunded"):
        if row["amount"] is None:
            unknown += 1
        else:
            amounts[row["region"] + " " + row["status"]].append(row["amount"])
{**{group: median(values) for group, values in amounts.items()}, "unknown": unknown}
"""

RATE_MISTAKE = RATE_CODE.replace("status", "state")
"""A field that does not exist."""

MEDIAN_MISTAKE = """\
from collections import defaultdict
def median(values):
    values, half = sorted(values), len(values) // 2
    return round((values[half] + values[~half]) / 2, 2)
amounts = defaultdict(list)
for row in orders.rows(fields=["region", "status", "amount"]):
    if row["status"] in ("paid", "refunded"):
        amounts[row["region"] + " " + row["status"]].append(row["amount"])
{group: median(values) for group, values in amounts.items()}
"""
"""Amounts that are unknown cannot be sorted."""


def rate_of(rows: Rows) -> tuple[str, float]:
    """The region with the highest share of refunded orders, and that share, as far as these rows
    tell.
    """
    orders, refunded = dict.fromkeys(REGIONS, 0), dict.fromkeys(REGIONS, 0)
    for row in rows:
        orders[row["region"]] += 1
        refunded[row["region"]] += row["status"] == "refunded"
    return highest({region: refunded[region] / n for region, n in orders.items() if n})


def highest(rates: Mapping[str, float]) -> tuple[str, float]:
    """The group with the highest rate."""
    region = max(rates, key=rates.__getitem__)
    return region, round(rates[region], 4)


def medians_of(rows: Rows) -> dict[str, float]:
    """The median amount by region and status ("central paid"), as far as these rows tell, and how
    many are unknown.
    """
    amounts: dict[str, list[float]] = {}
    unknown = 0
    for row in rows:
        if row["status"] in ("paid", "refunded"):
            group = amounts.setdefault(f"{row['region']} {row['status']}", [])
            if row["amount"] is None:
                unknown += 1
            else:
                group.append(float(row["amount"]))
    return {group: round(median(values), 2) for group, values in amounts.items()} | {
        "unknown": unknown
    }


@dataclass(frozen=True)
class Question:
    """A question, and `truth(store)`, its answer from the store."""

    text: str
    answer: Callable[[Rows], Any]

    def truth(self, store: OrderStore) -> Any:
        """The answer from every row of the store."""
        return self.answer(store.page(limit=store.count(), columns=["region", "status", "amount"]))


QUESTIONS = {
    "rate": Question(
        "Which region has the highest refund rate (refunded orders ÷ all orders)? How high is it?",
        rate_of,
    ),
    "median": Question(
        "By region, what is the median amount of the paid orders, and of the refunded ones? How many amounts are "
        "unknown?",
        medians_of,
    ),
}
"""The first was foreseen by whoever made an aggregate tool; the second was not."""


@dataclass(frozen=True)
class Way:
    """`shows` says what the model gets; `programs` are the model's part, by question."""

    shows: str
    tools: Callable[[OrderStore], dict[str, Tool]]
    programs: Mapping[str, Program]


def _everything(answer: Callable[[Rows], Any]) -> Program:
    return lambda seen: answer(seen[0].result) if seen else [("search_orders", {})]


def _first_page(answer: Callable[[Rows], Any]) -> Program:
    """One page of 50, and what it suggests."""
    asked = [("search_orders", {"limit": 50, "response_format": "detailed"})]
    return lambda seen: answer(seen[0].result["items"]) if seen else asked


def _all_pages(answer: Callable[[Rows], Any]) -> Program:
    """All pages of each region, side by side. A concise row does not name its region: the call
    does.
    """

    def program(seen: Sequence[Seen]) -> Any:
        if not seen:
            return [("search_orders", {"region": region, "limit": 50}) for region in REGIONS]
        last = {one.arguments["region"]: one for one in seen}
        if calls := [_next(one) for one in last.values() if one.result["next_cursor"]]:
            return calls
        return answer(
            row | {"region": one.arguments["region"]} for one in seen for row in one.result["items"]
        )

    return program


def _next(seen: Seen) -> Made:
    return seen.name, {**seen.arguments, "cursor": seen.result["next_cursor"]}


def _counts(seen: Sequence[Seen]) -> Any:
    """Two listings of one row a region: how many match is all that is read."""
    if not seen:
        filters = [
            {"region": region, **status}
            for region in REGIONS
            for status in ({}, {"status": "refunded"})
        ]
        return [("search_orders", {**filter, "limit": 1}) for filter in filters]
    totals = {
        (one.arguments["region"], one.arguments.get("status")): one.result["total_matches"]
        for one in seen
    }
    return highest(
        {region: totals[region, "refunded"] / totals[region, None] for region in REGIONS}
    )


def _aggregate(seen: Sequence[Seen]) -> Any:
    if not seen:
        return [("refund_rates", {"by": "region"})]
    return highest({row["group"]: row["rate"] for row in seen[0].result["items"]})


def _code(answer: Callable[[Any], Any], *codes: str) -> Program:
    """Runs the codes in turn until one of them has no error."""

    def program(seen: Sequence[Seen]) -> Any:
        if not seen or "error" in seen[-1].result:
            return [("execute", {"code": codes[len(seen)]})]
        return answer(seen[-1].result["value"])

    return program


def code_tools(store: OrderStore) -> dict[str, Tool]:
    """`execute`, with `orders.rows` as the one function that code may call, and its stub in the
    description.
    """
    rows = HostFunction(order_functions(store)["orders.rows"], "orders")
    tool = execute_tool(open_sandbox("python", {rows.path: rows}), about=stubs([rows], "python"))
    return {tool.name: tool}


def _both(make: Callable[[Callable[[Rows], Any]], Program]) -> dict[str, Program]:
    return {"rate": make(rate_of), "median": make(medians_of)}


WAYS = {
    "naive": Way("every order in one result", naive, _both(_everything)),
    "all pages": Way("all pages, three fields a row", workbook_tools, _both(_all_pages)),
    "first page": Way("50 of the orders, and a guess", workbook_tools, _both(_first_page)),
    "counts": Way("six counts", workbook_tools, {"rate": _counts}),
    "aggregate tool": Way(
        "three rates", lambda store: {"refund_rates": Tool(order_functions(store)["orders.refund_rates"])},
        {"rate": _aggregate},
    ),
    "code": Way(
        "what the code ends with", code_tools,
        {"rate": _code(highest, RATE_CODE), "median": _code(dict, MEDIAN_CODE)},
    ),
    "code, mended": Way(
        "an error, and then what the code ends with", code_tools,
        {"rate": _code(highest, RATE_MISTAKE, RATE_CODE), "median": _code(dict, MEDIAN_MISTAKE, MEDIAN_CODE)},
    ),
}  # fmt: skip
"""The ways, from the most that the model reads on."""
