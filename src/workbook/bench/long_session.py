"""The session of 30 turns: twelve questions about the real account, the calls that answer them, and
its replay by a scripted model.

    script = exchanges(tools)
    session = play_script(OPENAI_CHAT, script, tools)

A scripted model decides nothing, so the calls are written down here. Their arguments come from
results that were read before (a cursor, a payload ref), and its answers say what stands in them.
The script is the same whatever is trimmed, so that only what is sent differs.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolresults.agent.api import Api
from toolresults.scripted import Reply
from toolresults.tools import Tool
from workbook.examples.orders.store import OrderStore

from .harness import Made, Seen, Session, play
from .techniques import SYSTEM, workbook_tools


@dataclass(frozen=True)
class Exchange:
    """One question, the calls of each turn that works on it, and the answer: as many turns as
    `rounds`, and one."""

    question: str
    rounds: tuple[tuple[Made, ...], ...]
    answer: str


def account() -> dict[str, Tool]:
    """The workbook's tools on the real account."""
    return workbook_tools(OrderStore.open())


def play_script(
    api: Api, script: Sequence[Exchange], tools: Mapping[str, Tool], **options: Any
) -> Session:
    """The session of a script; `options` (trim, cache) are those of `harness.play`."""
    replies = (
        reply
        for each in script
        for reply in (*(Reply(calls=calls) for calls in each.rounds), Reply(each.answer))
    )
    questions = [each.question for each in script]
    return play(api, lambda messages: next(replies), tools, questions, system=SYSTEM, **options)


def exchanges(tools: Mapping[str, Tool]) -> list[Exchange]:
    """The script on an account: every call made once with `tools`, so that all arguments and
    answers are known."""
    read: list[Seen] = []
    made = []
    for question, steps in SCRIPT:
        start, rounds = len(read), []
        for step in steps:
            calls = step(read)
            rounds.append(tuple(calls))
            read += [Seen("", name, given, tools[name].call(given).text) for name, given in calls]
        said = " ".join(filter(None, map(_sentence, read[start:])))
        made.append(Exchange(question, tuple(rounds), said))
    return made


def in_words(arguments: Mapping[str, Any]) -> str:
    """A filter in words: "status refunded, region south"."""
    others = ("limit", "response_format", "cursor")
    filters = [f"{name} {value}" for name, value in arguments.items() if name not in others]
    return ", ".join(filters) or "no filter"


def _sentence(seen: Seen) -> str:
    """What the model says of one result, in one sentence; nothing of an error."""
    result = seen.result
    if "error" in result:
        return ""
    if seen.name == "search_orders":
        told, shown = in_words(seen.arguments), result["shown"]
        return f"{result['total_matches']} orders match ({told}), and {shown} are shown."
    ref, total = result["payload_ref"], result["total_chars"]
    event = re.search(r'"event":"charge\.(\w+)"', result["text"])
    return f"{ref} has {total} characters" + (f" and says {event[1]}." if event else ".")


def _search(limit: int = 50, response_format: str = "detailed", **filters: Any) -> Made:
    return "search_orders", {**filters, "limit": limit, "response_format": response_format}


def _page(read: Sequence[Seen]) -> Seen:
    """The newest page."""
    return [one for one in read if one.name == "search_orders" and "items" in one.result][-1]


def _next(read: Sequence[Seen]) -> Made:
    page = _page(read)
    return page.name, {**page.arguments, "cursor": page.result["next_cursor"]}


def _payload(read: Sequence[Seen], row: int) -> Made:
    return "get_order_payload", {"payload_ref": _page(read).result["items"][row]["payload_ref"]}


def _long_note(read: Sequence[Seen]) -> Made:
    row = next(row for row in _page(read).result["items"] if "note_ref" in row)
    return "get_order_payload", {"payload_ref": row["note_ref"], "max_chars": 8000}


_LARGE = {"payload_ref": "pay_009973", "max_chars": 8000}

SCRIPT: Sequence[tuple[str, Sequence[Callable[[Sequence[Seen]], list[Made]]]]] = (
    ("Which orders were refunded in the south, newest first?", [
        lambda read: [_search(status="refunded", region="south")]]),
    ("What does the gateway say about the third of them?", [
        lambda read: [_payload(read, 2)]]),
    ("Go on to the next page, and open the payload of its first order.", [
        lambda read: [_next(read)],
        lambda read: [_payload(read, 0)]]),
    ("Which orders are over 2,000?", [
        lambda read: [_search(min_amount=2000)]]),
    ("What is pending in the centre? Open the payloads of the first two.", [
        lambda read: [_search(status="pending", region="central")],
        lambda read: [_payload(read, 0), _payload(read, 1)]]),
    ("What failed since June, in the north and in the south?", [
        lambda read: [_search(status="failed", region=region, placed_after="2026-06-01")
                      for region in ("north", "south")]]),
    ("What was sent to the shop about ord_009973? Read on a little.", [
        lambda read: [("get_order_payload", _LARGE)],
        lambda read: [("get_order_payload", {**_LARGE, "offset": 8000})]]),
    ("Which large orders were refunded in the north, from 900 up?", [
        lambda read: [_search(status="refunded", region="north", min_amount=900)]]),
    ("What is pending in the south? Two pages, please.", [
        lambda read: [_search(status="pending", region="south")],
        lambda read: [_next(read)]]),
    ("Which orders were cancelled in the centre?", [
        lambda read: [_search(status="cancelled", region="central")],
        lambda read: [_search(status="failed", region="central")]]),
    ("Show the newest orders, and the whole of the first long note.", [
        lambda read: [_search(limit=20)],
        lambda read: [_long_note(read)]]),
    ("And the newest that were paid, in short?", [
        lambda read: [_search(limit=20, response_format="concise", status="paid")]]),
)  # fmt: skip
"""Questions, and for each turn the calls, made from what was read so far."""
