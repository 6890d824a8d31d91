"""Recall: forty follow-up questions on old turns of the session, answered by the oracle from what
the model was shown.

Each answer is compared with the one from the untouched session:

- **correct**: right, from what was shown; **recoverable**: right, after 1 to `MOST_CALLS` further
  calls;
- **lost**: no answer; **silently wrong**: an answer, and not the right one.
"""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pandas as pd

from toolresults.tools import Tool
from workbook.examples.orders.data import plain_order
from workbook.examples.orders.store import OrderStore

from .oracle import MOST_CALLS, Desk, GiveUp, Seen, seen_in
from .script import words
from .sessions import Session, Trim
from .steps import workbook_tools

__all__ = ["MOST_CALLS", "OUTCOMES", "FollowUp", "ask", "follow_ups", "later", "recall"]

OUTCOMES = ("correct", "recoverable", "lost", "silently wrong")


@dataclass(frozen=True)
class FollowUp:
    """A question on an old turn: its kind, its words, and the oracle's program for it."""

    kind: str
    text: str
    program: Callable[[Desk], Any]


def follow_ups(session: Session, seed: int = 1) -> list[FollowUp]:
    """The forty questions on a session as `sessions.play` gives it: on the listings and payloads of
    its old turns.
    """
    rng = random.Random(seed)
    seen = seen_in(session.api, session.messages)
    listings = [one for one in seen if one.result and one.result.get("items")][:9]
    return [
        *(_lookup(rng, listings) for _ in range(8)),
        *(_needle(rng, listings) for _ in range(8)),
        *(_filter(n) for n in range(1, 7)),
        *(_total(seen) for seen in listings if seen.page == 1 and seen is not listings[5]),
        *(_join(n, "customer") for n in range(1, 6)),
        _join(1, "region"),
        *(_absence(rng, listings, there) for there in (True, False) * 3),
    ]


def _lookup(rng: random.Random, listings: Sequence[Seen]) -> FollowUp:
    row = rng.choice(
        [row for seen in listings for row in seen.result["items"] if row["amount"] is not None]
    )
    order_id = row["order_id"]

    def program(desk: Desk) -> float:
        if found := desk.row(order_id):
            return found["amount"]
        text = desk.call("get_order_payload", {"payload_ref": order_id.replace("ord_", "pay_")})[
            "text"
        ]
        return float(re.search(r'"amount":\{"value":"([0-9.]+)"', text)[1])

    return FollowUp("lookup", f"What is the amount of {order_id}?", program)


def _page_of(seen: Seen) -> tuple[dict[str, Any], int, str]:
    arguments = {key: value for key, value in seen.arguments.items() if key != "cursor"}
    return arguments, seen.page, f"page {seen.page} of the listing by {seen.filters}"


def _needle(rng: random.Random, listings: Sequence[Seen]) -> FollowUp:
    seen = rng.choice(listings)
    rows = seen.result["items"]
    names = [row["customer"] for row in rows]
    customer = rng.choice([name for name in names[len(rows) // 4 :] if names.count(name) == 1])
    arguments, page, described = _page_of(seen)

    def program(desk: Desk) -> str:
        found = [
            row["placed_at"] for row in desk.listing(arguments, page) if row["customer"] == customer
        ]
        if len(found) != 1:
            raise GiveUp
        return found[0]

    return FollowUp("needle", f"On {described}: when did {customer} order?", program)


def _filter(n: int) -> FollowUp:
    def program(desk: Desk) -> int:
        return sum((row["amount"] or 0) > 300 for row in desk.nth_listing(n))

    return FollowUp(
        "filter", f"In listing number {n} of this session: how many orders are over 300?", program
    )


def _total(seen: Seen) -> FollowUp:
    arguments, _, _ = _page_of(seen)

    def program(desk: Desk) -> int:
        if told := re.findall(rf"(\d+) orders match \({re.escape(words(arguments))}\)", desk.said):
            return int(told[0])
        same = next((one for one in desk.listings if one.filters == words(arguments)), None)
        return (desk.result(same) if same else desk.call("search_orders", arguments))[
            "total_matches"
        ]

    return FollowUp("aggregate", f"How many orders matched {words(arguments)}?", program)


def _join(n: int, field: str) -> FollowUp:
    def program(desk: Desk) -> str:
        row = desk.opened_row(desk.nth_payload(n))
        if row is None:
            raise GiveUp
        return row[field]

    return FollowUp(
        "join", f"What is the {field} of the order whose payload was opened as number {n}?", program
    )


def _absence(rng: random.Random, listings: Sequence[Seen], there: bool) -> FollowUp:
    seen = rng.choice(listings)
    inside = [row["order_id"] for row in seen.result["items"]]
    outside = [
        row["order_id"]
        for other in listings
        for row in other.result["items"]
        if row["order_id"] not in inside
    ]
    order_id = rng.choice(inside if there else outside)
    arguments, page, described = _page_of(seen)

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
    rows = []
    whole, sent = (
        Desk(session.api, session.messages, {}),
        Desk(session.api, trim(session.messages), tools),
    )
    for question in questions:
        truth, _ = _answer(question, whole.fresh())
        answer, calls = _answer(question, sent.fresh())
        if answer is None:
            outcome = "lost"
        elif answer != truth:
            outcome = "silently wrong"
        else:
            outcome = "recoverable" if calls else "correct"
        rows.append((question.kind, question.text, truth, answer, calls, outcome))
    return pd.DataFrame(rows, columns=["kind", "question", "truth", "answer", "calls", "outcome"])


def _answer(question: FollowUp, desk: Desk) -> tuple[Any, int]:
    try:
        return question.program(desk), desk.calls
    except GiveUp:
        return None, desk.calls


def recall(
    session: Session, trims: Mapping[str, Trim], tools: Mapping[str, Tool], *, seed: int = 1
) -> pd.DataFrame:
    """A row a trimming: how many of the forty have each outcome, and the further calls that were
    made.
    """
    questions, rows = follow_ups(session, seed), []
    for name, trim in trims.items():
        asked = ask(session, questions, trim, tools)
        counts = asked["outcome"].value_counts()
        rows.append(
            [
                name,
                *(int(counts.get(outcome, 0)) for outcome in OUTCOMES),
                int(asked["calls"].sum()),
            ]
        )
    return pd.DataFrame(rows, columns=["trimming", *OUTCOMES, "calls"])


def later(orders: int = 60) -> dict[str, Tool]:
    """The same tools after that many new orders came in: calling again then shows another first
    page.
    """
    store = OrderStore.open()
    start = datetime(2026, 7, 1)
    store.insert(
        plain_order(10_001 + k, placed_at=start + timedelta(minutes=k)) for k in range(orders)
    )
    return workbook_tools(store)
