"""A question about all the orders, answered in several ways, each through the real SDK and the loop
(notebook 07).

    workbook bench four_ways                 measures, and writes data/results/four_ways.csv again
    play(OPENAI_CHAT, "code", "rate", store)     one session, and the answer that was given

The model is scripted: a dialogue that uses only the results that it is shown. It makes the right
calls, writes the right code at once, and never miscounts. So a figure is what a way costs when
nothing goes wrong; the way "code, mended" shows what one wrong program adds. A session that is
larger than a model's window is billed as if a window were large enough, and `fits` says that it is
not.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import Any

import pandas as pd

from toolresults.agent.api import Api
from toolresults.codemode.execute import execute_tool, open_sandbox
from toolresults.codemode.functions import HostFunction
from toolresults.codemode.stubs import stubs
from toolresults.scripted import WINDOW
from toolresults.tokens import to_json
from toolresults.tools import Tool
from workbook.examples.orders.functions import order_functions
from workbook.examples.orders.store import REGIONS, OrderStore

from . import harness
from .harness import APIS, Dialogue
from .techniques import SYSTEM, naive, workbook_tools

Rows = Iterable[Mapping[str, Any]]

RATE_CODE = """\
counts = {}
for row in orders.rows(fields=["region", "status"]):
    n = counts.setdefault(row["region"], [0, 0])
    n[0] += 1
    n[1] += row["status"] == "refunded"
{region: round(refunded / n, 4) for region, (n, refunded) in counts.items()}
"""

_MEDIAN = """\
from collections import defaultdict
def median(values):
    values, half = sorted(values), len(values) // 2
    return round((values[half] + values[~half]) / 2, 2)
"""

_MEDIAN_CODE = f"""{_MEDIAN}\
amounts, unknown = defaultdict(list), 0
for row in orders.rows(fields=["region", "status", "amount"]):
    if row["status"] in ("paid", "refunded"):
        if row["amount"] is None:
            unknown += 1
        else:
            amounts[row["region"] + " " + row["status"]].append(row["amount"])
{{**{{group: median(values) for group, values in amounts.items()}}, "unknown": unknown}}
"""

_RATE_MISTAKE = RATE_CODE.replace("status", "state")
"""A field that does not exist."""

_MEDIAN_MISTAKE = f"""{_MEDIAN}\
amounts = defaultdict(list)
for row in orders.rows(fields=["region", "status", "amount"]):
    if row["status"] in ("paid", "refunded"):
        amounts[row["region"] + " " + row["status"]].append(row["amount"])
{{group: median(values) for group, values in amounts.items()}}
"""
"""Amounts that are unknown cannot be sorted."""


def _rate(rows: Rows) -> tuple[str, float]:
    """The region with the highest share of refunded orders, and that share, as far as these rows
    tell.
    """
    orders, refunded = dict.fromkeys(REGIONS, 0), dict.fromkeys(REGIONS, 0)
    for row in rows:
        orders[row["region"]] += 1
        refunded[row["region"]] += row["status"] == "refunded"
    return _highest({region: refunded[region] / n for region, n in orders.items() if n})


def _highest(rates: Mapping[str, float]) -> tuple[str, float]:
    region = max(rates, key=rates.__getitem__)
    return region, round(rates[region], 4)


def _medians(rows: Rows) -> dict[str, float]:
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
    medians = {group: round(median(values), 2) for group, values in amounts.items()}
    return medians | {"unknown": unknown}


@dataclass(frozen=True)
class Question:
    """A question. `answer(rows)` is what rows tell, `codes` a program with a mistake and the right
    one, and `read(value)` the answer from what that ends with.
    """

    text: str
    answer: Callable[[Rows], Any]
    codes: tuple[str, str]
    read: Callable[[Any], Any]

    def truth(self, store: OrderStore) -> Any:
        """The answer from every row of the store."""
        return self.answer(store.page(limit=store.count(), columns=["region", "status", "amount"]))


QUESTIONS = {
    "rate": Question(
        "Which region has the highest refund rate (refunded orders ÷ all orders)? How high is it?",
        _rate,
        (_RATE_MISTAKE, RATE_CODE),
        _highest,
    ),
    "median": Question(
        "By region, what is the median amount of the paid orders, and of the refunded ones? "
        "How many amounts are unknown?",
        _medians,
        (_MEDIAN_MISTAKE, _MEDIAN_CODE),
        dict,
    ),
}
"""The first was foreseen by whoever made an aggregate tool; the second was not."""


# What the model does in each way. Tools that cannot answer a question give None.


def _everything(question: Question) -> Dialogue:
    [rows] = yield [("search_orders", {})]
    return question.answer(rows)


def _all_pages(question: Question) -> Dialogue:
    """All pages of each region, side by side. A concise row does not name its region: the call
    does.
    """
    asked, rows = [{"region": region, "limit": 50} for region in REGIONS], []
    while asked:
        pages = yield [("search_orders", arguments) for arguments in asked]
        both = list(zip(asked, pages, strict=True))
        rows += [row | {"region": one["region"]} for one, page in both for row in page["items"]]
        asked = [
            {**one, "cursor": page["next_cursor"]} for one, page in both if page["next_cursor"]
        ]
    return question.answer(rows)


def _first_page(question: Question) -> Dialogue:
    """One page of 50, and what it suggests."""
    [page] = yield [("search_orders", {"limit": 50, "response_format": "detailed"})]
    return question.answer(page["items"])


def _counts(question: Question) -> Dialogue:
    """Two listings of one row a region: how many match is all that is read."""
    if question.answer is not _rate:
        return None
    refunded = {"status": "refunded"}
    filters = [{"region": region, **more} for region in REGIONS for more in ({}, refunded)]
    pages = yield [("search_orders", {**filter, "limit": 1}) for filter in filters]
    totals = [page["total_matches"] for page in pages]
    pairs = zip(REGIONS, totals[::2], totals[1::2], strict=True)
    return _highest({region: some / n for region, n, some in pairs})


def _aggregate(question: Question) -> Dialogue:
    if question.answer is not _rate:
        return None
    [page] = yield [("refund_rates", {"by": "region"})]
    return _highest({row["group"]: row["rate"] for row in page["items"]})


def _code(question: Question, mistakes: int = 0) -> Dialogue:
    for code in question.codes[1 - mistakes :]:
        [ran] = yield [("execute", {"code": code})]
    return question.read(ran["value"])


def code_tools(store: OrderStore) -> dict[str, Tool]:
    """`execute`, with `orders.rows` as the one function that code may call, and its stub in the
    description.
    """
    rows = HostFunction(order_functions(store)["orders.rows"], "orders")
    tool = execute_tool(open_sandbox("python", {rows.path: rows}), about=stubs([rows], "python"))
    return {tool.name: tool}


def _rate_tool(store: OrderStore) -> dict[str, Tool]:
    return {"refund_rates": Tool(order_functions(store)["orders.refund_rates"])}


WAYS = {
    "naive": (naive, _everything),
    "all pages": (workbook_tools, _all_pages),
    "first page": (workbook_tools, _first_page),
    "counts": (workbook_tools, _counts),
    "aggregate tool": (_rate_tool, _aggregate),
    "code": (code_tools, _code),
    "code, mended": (code_tools, partial(_code, mistakes=1)),
}
"""The tools that the model has, and what it does; from the most that it reads on."""


def play(
    api: Api, way: str, question: str, store: OrderStore, *, window: int | None = None
) -> tuple[harness.Session, Any]:
    """A session that answers a question (a key of `QUESTIONS`) in a way (a key of `WAYS`), and the
    answer, None where the model cannot tell. `window` is `harness.play`'s.
    """
    asked, (tools, dialogue) = QUESTIONS[question], WAYS[way]
    options = {"say": _say, "system": SYSTEM, "window": window}
    return harness.ask(api, asked.text, dialogue(asked), tools(store), **options)


def _say(answer: Any) -> str:
    unable = "I cannot tell with these tools."
    return unable if answer is None else f"The answer is {to_json(answer)}."


def row(
    api: Api, question: str, way: str, store: OrderStore, *, window: int | None = None
) -> dict[str, Any]:
    """One session as a row of the results file: `harness.meters`, the answer as JSON, and what
    became of the question. `call_tokens` are those that the model wrote to call.
    """
    session, answer = play(api, way, question, store, window=window)
    meters = harness.meters(session)
    return {
        "api": api.name,
        "question": question,
        "way": way,
        **{name: meters[name] for name in ("turns", "calls", "definitions")},
        "call_tokens": sum(turn.usage.output for turn in session.ledger.turns[:-1]),
        "result_tokens": meters["results"],
        **{name: meters[name] for name in ("peak", "input", "output", "money")},
        "answer": to_json(answer),
        "outcome": harness.judge(answer, QUESTIONS[question].truth(store), further=0),
    }


def report() -> str:
    """Measures, writes the results file, and returns it for the terminal."""
    n = f"{len(QUESTIONS)} questions, {len(WAYS)} ways, {len(APIS)} wire formats, each once"
    with OrderStore.open() as store:
        rows = (
            row(api, question, way, store)
            for api in APIS.values()
            for question in QUESTIONS
            for way in WAYS
        )
        path = harness.record("four_ways", harness.about(n) | harness.WINDOW_LIFTED, rows)
    return f"wrote results/{path.name}\n\n{load().drop(columns='answer').to_string(index=False)}"


def load() -> pd.DataFrame:
    """The committed results, a row a session, with `fits`: whether a window of `WINDOW` tokens
    takes it.
    """
    frame = harness.load("four_ways")
    return frame.assign(fits=frame["peak"] <= WINDOW)
