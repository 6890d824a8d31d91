"""Eighteen questions about the account, and a careful agent that answers them with whatever its
tools offer.

Three rounds of six kinds. Four kinds ask the shop: lookup, filter, needle in the middle, whole-set
aggregate. Two look back at a listing of this session: join by id, absence. Where one result holds
everything, a question of the first four takes two turns (a call, an answer) and one that looks back
takes one: so a round is ten turns, and three are thirty.

The agent is a program, not a model: it uses only the messages of the request in front of it. It
sees what a result says of itself (how many match, a cursor, a cut, a ref), goes on where an answer
needs more, `MOST_CALLS` further calls at most, and gives up where it can see that these would not
do.

Where it may write code, it does so to compute and to search (filter, needle, aggregate, absence),
and lists where rows are to be looked at (lookup, join). Its code is right at the first try, which a
real model's not always is.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolresults.agent.clearing import CLEARED
from toolresults.agent.groups import Message
from toolresults.agent.reply import Reply
from toolresults.agent.wire import blocks, calls_of, is_question

from toolresults.results.shape import ELLIPSIS

from .oracle import MOST_CALLS, GiveUp
from .script import Made
from .techniques import CONCISE, Technique

LIMIT = 50
"""Orders that the agent asks for: the most that a page holds."""

WHOLE_WINDOW = 8_000
"""Characters of a window when the agent reads on in a long text."""


class Ask(Exception):
    """The agent needs a call. Its argument is the call."""


@dataclass(frozen=True)
class Need:
    """A question: its kind, its words, whether it looks back, and the agent's program for it."""

    kind: str
    text: str
    program: Callable[["Agent"], Any]
    looks_back: bool = False


class Agent:
    """What the agent has in front of it: the messages of one request, the newest question last of
    them.
    """

    def __init__(self, api: str, messages: Sequence[Message], technique: Technique, need: Need):
        asked = max(i for i, message in enumerate(messages) if is_question(api, message))
        self.technique, self.need = technique, need
        self.now = _seen(api, messages[asked:])
        old = need.looks_back or not technique.again
        self.shown = (_seen(api, messages[:asked]) if old else []) + self.now

    @property
    def further(self) -> int:
        """Calls made for this question beyond what it takes where one result holds everything."""
        return len(self.now) - (0 if self.need.looks_back else min(len(self.now), 1))

    def left(self) -> int:
        """Calls that may still be made for this question."""
        return MOST_CALLS + (not self.need.looks_back) - len(self.now)

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """The result of a call: as it is shown, or by making it."""
        results = [
            text
            for call, text in self.shown
            if call == (name, arguments) and not text.startswith(CLEARED)
        ]
        if results:
            return _parsed(results[-1])
        if self.left() < 1:
            raise GiveUp
        raise Ask((name, dict(arguments)))

    def compute(self, code: str) -> Any:
        """What the code ends with. Raises `ValueError` if it fails."""
        result = self.call("execute", {"code": code})
        if "error" in result:
            raise ValueError(result["error"])
        return result["value"]

    def listed(self, fields: Sequence[str], **filters: Any) -> bool:
        """Whether a listing was shown, its first page at least, and is not cleared."""
        made = "search_orders", self._listing(fields, filters)
        return any(call == made and not text.startswith(CLEARED) for call, text in self.shown)

    def _listing(self, fields: Sequence[str], filters: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a listing's first page."""
        offers = self.technique
        arguments = dict(filters) if offers.filters else {}
        if offers.pages:
            arguments["limit"] = LIMIT
        if offers.formats:
            arguments["response_format"] = "concise" if set(fields) <= set(CONCISE) else "detailed"
        return arguments

    def pages(
        self, fields: Sequence[str], **filters: Any
    ) -> Iterator[tuple[int, int, list[dict[str, Any]]]]:
        """(how many match, rows so far, rows) of each page of a listing; one page where the tool
        has no pages.
        """
        arguments, seen = self._listing(fields, filters), 0
        while True:
            page = self.call("search_orders", arguments)
            if isinstance(
                page, list
            ):  # rows and nothing else: as far as the agent can tell, all of them
                rows = (
                    page
                    if self.technique.filters
                    else [row for row in page if _matches(row, filters)]
                )
                yield len(rows), len(rows), rows
                return
            if "error" in page:
                raise ValueError(page["error"])
            seen += len(page["items"])
            yield page["total_matches"], seen, page["items"]
            if not page["next_cursor"]:
                return
            arguments = {**arguments, "cursor": page["next_cursor"]}

    def all(self, fields: Sequence[str], **filters: Any) -> list[dict[str, Any]]:
        """Every row of a listing. Gives up on the first page if the rest takes more calls than may
        be made.
        """
        found: list[dict[str, Any]] = []
        for total, seen, rows in self.pages(fields, **filters):
            found += rows
            if total - seen > self.left() * len(rows):
                raise GiveUp
        return found

    def first(
        self, wanted: Callable[[Mapping[str, Any]], bool], fields: Sequence[str], **filters: Any
    ):
        """The first row of a listing that is wanted, None if there is none: no page more than that
        takes.
        """
        return next(
            (row for _, _, rows in self.pages(fields, **filters) for row in rows if wanted(row)),
            None,
        )

    def read(self, row: Mapping[str, Any], field: str, pattern: str, chars: int = 2_000) -> str:
        """What a pattern finds in a long text of an order, which may stand in the row, or behind a
        ref.
        """
        ref = row.get("payload_ref") if field == "raw_payload" else row.get(f"{field}_ref")
        if not ref:
            return _find(pattern, row[field], whole=not row[field].endswith(ELLIPSIS))
        text, window = "", {"payload_ref": ref} | ({"max_chars": chars} if chars != 2_000 else {})
        while True:
            shown = self.call("get_order_payload", window)
            text += shown["text"]
            if shown["next_offset"] is None or re.search(pattern, text):
                return _find(pattern, text, whole=shown["next_offset"] is None)
            window = {**window, "offset": shown["next_offset"]}


def _find(pattern: str, text: str, whole: bool) -> str:
    found = re.search(pattern, text)
    if not found or (pattern.endswith("$") and not whole):
        raise GiveUp
    return found[1]


def _matches(row: Mapping[str, Any], filters: Mapping[str, Any]) -> bool:
    tests = {
        "min_amount": lambda value: (row["amount"] or 0) >= value,
        "placed_after": lambda value: row["placed_at"] >= value,
        "placed_before": lambda value: row["placed_at"] < value,
    }
    return all(
        tests[name](value) if name in tests else row[name] == value
        for name, value in filters.items()
    )


_parsed = lru_cache(maxsize=256)(json.loads)


def _seen(api: str, messages: Sequence[Message]) -> list[tuple[Made, str]]:
    """The calls in the messages with the texts that answer them, in order."""
    results = {}
    for message in messages:
        for one in [message] if api == "openai" else blocks(message, "tool_result"):
            if id := one.get("tool_call_id") or one.get("tool_use_id"):
                results[id] = one["content"]
    calls = [call for message in messages for call in calls_of(api, message)]
    given = (
        json.loads(call.arguments) if isinstance(call.arguments, str) else call.arguments
        for call in calls
    )
    return [
        ((call.name, arguments), results[call.id])
        for call, arguments in zip(calls, given, strict=True)
    ]


def solve(agent: Agent) -> tuple[Made | None, Any]:
    """What the agent does next: a call, or (None and) its answer, which is None if it gives up."""
    try:
        return None, agent.need.program(agent)
    except Ask as ask:
        return ask.args[0], None
    except GiveUp:
        return None, None


def reply(call: Made | None, answer: Any) -> Reply:
    """It as a model says it."""
    if call:
        return Reply(calls=[call])
    if answer is None:
        return Reply("I cannot tell from what the tools show me.")
    return Reply(f"The answer is {', '.join(answer) if isinstance(answer, list) else answer}.")
