"""Recall: forty follow-up questions on old turns of a session, answered from what the model was
shown.

They are answered by an oracle: a program that holds the messages of one request as they were sent,
and the tools, for `MOST_CALLS` further calls. It never sees the whole history. It is as careful as
it can be, so that what it gets wrong is the fault of what it was shown. Each answer is judged
against the one from the untouched session (`harness.judge`).
"""

import json
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pandas as pd

from toolresults.agent.api import Api, Message
from toolresults.agent.history import SUMMARY
from toolresults.tools import Tool
from workbook.examples.orders.data import plain_order
from workbook.examples.orders.store import OrderStore

from .harness import MOST_CALLS, GiveUp, Seen, Session, Trim, count_outcomes, judge, see
from .long_session import in_words
from .techniques import workbook_tools
from .trimming import LEFT_OUT, texts

Row = Mapping[str, Any]


class Desk:
    """What the oracle has in front of it for one question: the messages of a request, and the
    tools."""

    def __init__(self, api: Api, messages: Sequence[Message], tools: Mapping[str, Tool]):
        self.tools, self.calls, self._again = tools, 0, {}
        self.seen = see(api, messages)
        said = [text for message in messages for text in texts(message)]
        self.gap = LEFT_OUT in said
        self.summary = "\n".join(text for text in said if text.startswith(SUMMARY))
        self.said = "\n".join(said)

    def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A further call."""
        if self.calls == MOST_CALLS:
            raise GiveUp
        self.calls += 1
        return json.loads(self.tools[name].call(arguments).text)

    def shown(self, seen: Seen) -> dict[str, Any] | None:
        """The result of a call as it is shown, or as a further call gave it again."""
        return self._again.get(seen.id, seen.result)

    def result(self, seen: Seen) -> dict[str, Any]:
        """The result of a call: as it is shown, or, where it was cleared, by making it again."""
        if self.shown(seen) is None:
            self._again[seen.id] = self.call(seen.name, seen.arguments)
        return self.shown(seen)

    @property
    def listings(self) -> list[Seen]:
        calls = [seen for seen in self.seen if seen.name == "search_orders"]
        return [seen for seen in calls if "error" not in (self.shown(seen) or {})]

    def listing(self, arguments: Mapping[str, Any], page: int) -> list[Row]:
        """The rows of a page that the question describes: shown, called again, or looked for
        anew."""
        for seen in self.listings:
            if (in_words(seen.arguments), _page(seen)) == (in_words(arguments), page):
                return self.result(seen)["items"]
        found = self.call("search_orders", arguments)
        if page == 2:
            found = self.call("search_orders", {**arguments, "cursor": found["next_cursor"]})
        return found["items"]

    def nth_listing(self, n: int) -> list[Row]:
        """The rows of the nth listing of the session, as far as the messages tell which that
        was."""
        told = re.findall(r"orders match \((.*?)\)", self.summary)
        if self.gap or n - len(told) > len(self.listings):
            raise GiveUp
        if n <= len(told):
            return self.listing(_arguments(told[n - 1]), 1)
        return self.result(self.listings[n - len(told) - 1])["items"]

    def nth_payload(self, n: int) -> str:
        """The ref of the nth payload that was opened, as far as the messages tell."""
        refs = re.findall(r"\bpay_\d+", self.summary)
        refs += [seen.arguments.get("payload_ref", "") for seen in self.seen]
        opened = list(dict.fromkeys(ref for ref in refs if ref.startswith("pay_")))
        if self.gap or n > len(opened):
            raise GiveUp
        return opened[n - 1]

    def row(self, order_id: str) -> Row | None:
        """An order's row in a listing that is shown."""
        pages = filter(None, map(self.shown, self.listings))
        rows = (row for page in pages for row in page["items"])
        return next((row for row in rows if row.get("order_id") == order_id), None)

    def opened_row(self, ref: str) -> Row | None:
        """The row of an order whose payload was opened: cleared listings are called again, the
        likeliest first."""
        order_id = ref.replace("pay_", "ord_")
        refs = [seen.arguments.get("payload_ref") for seen in self.seen]
        opened = refs.index(ref) if ref in refs else 0
        before = [seen for seen in self.seen[:opened] if seen in self.listings]
        # a ref comes from the listing just before it
        for seen in [*reversed(before), *reversed(self.listings)]:
            if found := self.row(order_id):
                return found
            self.result(seen)
        return self.row(order_id)


def _page(seen: Seen) -> int:
    return 2 if "cursor" in seen.arguments else 1


def _arguments(told: str) -> dict[str, Any]:
    """A listing's arguments from its filter in words."""
    pairs = [pair.partition(" ") for pair in told.split(", ")] if told != "no filter" else []
    filters = {key: float(value) if key == "min_amount" else value for key, _, value in pairs}
    return {**filters, "limit": 50, "response_format": "detailed"}


@dataclass(frozen=True)
class FollowUp:
    """A question on an old turn: its kind, its words, and the oracle's program for it."""

    kind: str
    text: str
    program: Callable[[Desk], Any]


def follow_ups(session: Session, seed: int = 1) -> list[FollowUp]:
    """The forty questions on a session of `long_session`: on the listings and payloads of its old
    turns."""
    rng = random.Random(seed)
    seen = see(session.api, session.messages)
    listings = [one for one in seen if one.result.get("items")][:9]
    return [
        *(_lookup(rng, listings) for _ in range(8)),
        *(_needle(rng, listings) for _ in range(8)),
        *(_filter(n) for n in range(1, 7)),
        *(_total(one) for one in listings if _page(one) == 1 and one is not listings[5]),
        *(_join(n, "customer") for n in range(1, 6)),
        _join(1, "region"),
        *(_absence(rng, listings, there) for there in (True, False) * 3),
    ]


def _lookup(rng: random.Random, listings: Sequence[Seen]) -> FollowUp:
    rows = [row for seen in listings for row in seen.result["items"]]
    order_id = rng.choice([row for row in rows if row["amount"] is not None])["order_id"]

    def program(desk: Desk) -> float:
        if found := desk.row(order_id):
            return found["amount"]
        ref = order_id.replace("ord_", "pay_")
        text = desk.call("get_order_payload", {"payload_ref": ref})["text"]
        return float(re.search(r'"amount":\{"value":"([0-9.]+)"', text)[1])

    return FollowUp("lookup", f"What is the amount of {order_id}?", program)


def _described(seen: Seen) -> tuple[dict[str, Any], int, str]:
    """The arguments of a listing's first page, the page, and both in words."""
    arguments = {key: value for key, value in seen.arguments.items() if key != "cursor"}
    return arguments, _page(seen), f"page {_page(seen)} of the listing by {in_words(arguments)}"


def _needle(rng: random.Random, listings: Sequence[Seen]) -> FollowUp:
    seen = rng.choice(listings)
    names = [row["customer"] for row in seen.result["items"]]
    customer = rng.choice([name for name in names[len(names) // 4 :] if names.count(name) == 1])
    arguments, page, described = _described(seen)

    def program(desk: Desk) -> str:
        rows = [row for row in desk.listing(arguments, page) if row["customer"] == customer]
        if len(rows) != 1:
            raise GiveUp
        return rows[0]["placed_at"]

    return FollowUp("needle", f"On {described}: when did {customer} order?", program)


def _filter(n: int) -> FollowUp:
    def program(desk: Desk) -> int:
        return sum((row["amount"] or 0) > 300 for row in desk.nth_listing(n))

    text = f"In listing number {n} of this session: how many orders are over 300?"
    return FollowUp("filter", text, program)


def _total(seen: Seen) -> FollowUp:
    arguments, _, _ = _described(seen)
    words = in_words(arguments)

    def program(desk: Desk) -> int:
        if told := re.findall(rf"(\d+) orders match \({re.escape(words)}\)", desk.said):
            return int(told[0])
        same = next((one for one in desk.listings if in_words(one.arguments) == words), None)
        found = desk.result(same) if same else desk.call("search_orders", arguments)
        return found["total_matches"]

    return FollowUp("aggregate", f"How many orders matched {words}?", program)


def _join(n: int, field: str) -> FollowUp:
    def program(desk: Desk) -> str:
        row = desk.opened_row(desk.nth_payload(n))
        if row is None:
            raise GiveUp
        return row[field]

    text = f"What is the {field} of the order whose payload was opened as number {n}?"
    return FollowUp("join", text, program)


def _absence(rng: random.Random, listings: Sequence[Seen], there: bool) -> FollowUp:
    seen = rng.choice(listings)
    inside = [row["order_id"] for row in seen.result["items"]]
    every = [row["order_id"] for other in listings for row in other.result["items"]]
    order_id = rng.choice(inside if there else [one for one in every if one not in inside])
    arguments, page, described = _described(seen)

    def program(desk: Desk) -> bool:
        return any(row["order_id"] == order_id for row in desk.listing(arguments, page))

    return FollowUp("absence", f"Was {order_id} on {described}?", program)


def ask(
    session: Session, questions: Sequence[FollowUp], trim: Trim, tools: Mapping[str, Tool]
) -> pd.DataFrame:
    """A row a question: kind, question, truth, answer (None if none), further calls, outcome.

    Each is asked by itself right after the session, whose history was trimmed. `tools` are asked
    again by the oracle; what they give may have changed since. The truth comes from the untouched
    session.
    """
    rows, sent = [], trim(session.messages)
    for question in questions:
        truth, _ = _answer(question, Desk(session.api, session.messages, {}))
        answer, calls = _answer(question, Desk(session.api, sent, tools))
        outcome = judge(answer, truth, calls)
        rows.append((question.kind, question.text, truth, answer, calls, outcome))
    return pd.DataFrame(rows, columns=["kind", "question", "truth", "answer", "calls", "outcome"])


def _answer(question: FollowUp, desk: Desk) -> tuple[Any, int]:
    try:
        return question.program(desk), desk.calls
    except GiveUp:
        return None, desk.calls


def recall(session: Session, trims: Mapping[str, Trim], tools: Mapping[str, Tool]) -> pd.DataFrame:
    """A row a trimming: how many of the forty have each outcome, and the further calls that were
    made."""
    questions, rows = follow_ups(session), []
    for name, trim in trims.items():
        asked = ask(session, questions, trim, tools)
        counts, calls = count_outcomes(asked["outcome"]), int(asked["calls"].sum())
        rows.append({"trimming": name, **counts, "calls": calls})
    return pd.DataFrame(rows)


def later(orders: int = 60) -> dict[str, Tool]:
    """The same tools after that many new orders came in: calling again then shows another first
    page."""
    store, start = OrderStore.open(), datetime(2026, 7, 1)
    new = [(10_001 + k, start + timedelta(minutes=k)) for k in range(orders)]
    store.insert(plain_order(number, placed_at=moment) for number, moment in new)
    return workbook_tools(store)
