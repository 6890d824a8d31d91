"""The oracle's desk: what a program may use that answers questions about a session from what the
model was shown.

It holds the messages of one request as they were sent, and the tools, for a few further calls. It
never sees the whole history. It is as careful as it can be, so that what it gets wrong is the fault
of what it was shown.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

from toolresults.agent.clearing import CLEARED
from toolresults.agent.groups import Message
from toolresults.agent.request_text import message_parts
from toolresults.agent.wire import blocks, calls_of

from toolresults.agent.history import SUMMARY
from toolresults.tools import Tool

from .script import words
from .trimming import LEFT_OUT

MOST_CALLS = 3
"""Further calls that the oracle may make for one question."""


@dataclass
class Seen:
    """A call that is in the messages; `result` is what it gave, None if that was cleared."""

    name: str
    arguments: dict[str, Any]
    result: dict[str, Any] | None

    @property
    def filters(self) -> str:
        return words(self.arguments)

    @property
    def page(self) -> int:
        return 2 if "cursor" in self.arguments else 1


class GiveUp(Exception):
    """The oracle cannot tell."""


class Desk:
    """What the oracle has in front of it: the messages of one request, and the tools."""

    def __init__(self, api: str, messages: Sequence[Message], tools: Mapping[str, Tool]):
        self.tools, self.calls = tools, 0
        self.seen = list(seen_in(api, messages))
        texts = [text for message in messages for text in _texts(message)]
        self.gap = LEFT_OUT in texts
        self.summary = "\n".join(text for text in texts if text.startswith(SUMMARY))
        self.said = "\n".join(texts)

    def fresh(self) -> "Desk":
        """The same desk before any further call: for the next question."""
        desk = copy(self)
        desk.seen, desk.calls = [replace(seen) for seen in self.seen], 0
        return desk

    def call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """A further call."""
        if self.calls == MOST_CALLS:
            raise GiveUp
        self.calls += 1
        return json.loads(self.tools[name].call(arguments).text)

    def result(self, seen: Seen) -> dict[str, Any]:
        """The result of a call in the messages: as shown, or, where it was cleared, by making the
        call again.
        """
        if seen.result is None:
            seen.result = self.call(seen.name, seen.arguments)
        return seen.result

    @property
    def listings(self) -> list[Seen]:
        return [
            seen
            for seen in self.seen
            if seen.name == "search_orders" and "error" not in (seen.result or {})
        ]

    def listing(self, arguments: Mapping[str, Any], page: int) -> list[dict[str, Any]]:
        """The rows of a page that the question describes: shown, called again, or looked for
        anew.
        """
        for seen in self.listings:
            if (seen.filters, seen.page) == (words(arguments), page):
                return self.result(seen)["items"]
        found = self.call("search_orders", arguments)
        if page == 2:
            found = self.call("search_orders", {**arguments, "cursor": found["next_cursor"]})
        return found["items"]

    def nth_listing(self, n: int) -> list[dict[str, Any]]:
        """The rows of the nth listing of the session, as far as the messages tell which that
        was.
        """
        if self.gap:
            raise GiveUp
        told = re.findall(r"orders match \((.*?)\)", self.summary)
        if n <= len(told):
            return self.listing(_arguments(told[n - 1]), 1)
        if n - len(told) > len(self.listings):
            raise GiveUp
        return self.result(self.listings[n - len(told) - 1])["items"]

    def nth_payload(self, n: int) -> str:
        """The ref of the nth payload that was opened, as far as the messages tell."""
        if self.gap:
            raise GiveUp
        refs = re.findall(r"\bpay_\d+", self.summary)
        refs += [
            seen.arguments["payload_ref"] for seen in self.seen if seen.name == "get_order_payload"
        ]
        opened = list(dict.fromkeys(ref for ref in refs if ref.startswith("pay_")))
        if n > len(opened):
            raise GiveUp
        return opened[n - 1]

    def row(self, order_id: str) -> dict[str, Any] | None:
        """An order's row in a listing that is shown."""
        rows = (row for seen in self.listings if seen.result for row in seen.result["items"])
        return next((row for row in rows if row.get("order_id") == order_id), None)

    def opened_row(self, ref: str) -> dict[str, Any] | None:
        """The row of an order whose payload was opened: cleared listings are called again, the
        likeliest first.
        """
        order_id = ref.replace("pay_", "ord_")
        opened = next(
            (i for i, seen in enumerate(self.seen) if seen.arguments.get("payload_ref") == ref), 0
        )
        before = [seen for seen in self.seen[:opened] if seen in self.listings]
        for seen in [
            *reversed(before),
            *reversed(self.listings),
        ]:  # a ref comes from the listing just before it
            if found := self.row(order_id):
                return found
            self.result(seen)
        return self.row(order_id)


def seen_in(api: str, messages: Sequence[Message]) -> Iterator[Seen]:
    """The calls in the messages, in order, with what they gave."""
    results = {}
    for message in messages:
        answers = (
            [message] if api == "openai" else blocks(message) if message["role"] == "user" else []
        )
        for one in answers:
            if id := one.get("tool_call_id") or one.get("tool_use_id"):
                part = message_parts(
                    api, one if api == "openai" else {"role": "user", "content": [one]}
                )[0]
                results[id] = part.text.partition("\n")[2].removesuffix("\n")
    for message in messages:
        for call in calls_of(api, message):
            given = (
                json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments
            )
            text = results[call.id]
            yield Seen(call.name, given, None if text.startswith(CLEARED) else json.loads(text))


def _texts(message: Message) -> list[str]:
    content = message.get("content") or ""
    if message["role"] == "tool":
        return []
    return [b["text"] for b in blocks({"content": content}, "text") if b["text"]]


def _arguments(told: str) -> dict[str, Any]:
    """A listing's arguments from its filter in words."""
    pairs = [pair.partition(" ") for pair in told.split(", ")] if told != "no filter" else []
    filters = {key: float(value) if key == "min_amount" else value for key, _, value in pairs}
    return {**filters, "limit": 50, "response_format": "detailed"}
