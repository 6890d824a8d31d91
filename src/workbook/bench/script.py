"""The script of the 30-turn session: twelve questions about the real account, and the calls that
answer them.

A scripted model decides nothing, so the calls are written down here. Their arguments come from
results that the model has just read (a cursor, a payload ref), and its answers say what stands in
them.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolresults.tools import Tool

Made = tuple[str, dict[str, Any]]
"""A call: tool name and arguments."""

SYSTEM = "You answer questions about the orders of a shop. Use the tools, and name the orders that you mean."


@dataclass(frozen=True)
class Exchange:
    """One question, the calls of each turn that works on it, and the answer: as many turns as
    `rounds`, and one.
    """

    question: str
    rounds: tuple[tuple[Made, ...], ...]
    answer: str


def _search(limit: int = 50, response_format: str = "detailed", **filters: Any) -> Made:
    return "search_orders", {**filters, "limit": limit, "response_format": response_format}


Read = list[tuple[Made, dict[str, Any]]]
"""The calls so far that a page or a payload came back for, with their results."""


def _pages(read: Read) -> list[tuple[Made, dict[str, Any]]]:
    return [one for one in read if one[0][0] == "search_orders" and "items" in one[1]]


def _next(read: Read) -> Made:
    (name, arguments), page = _pages(read)[-1]
    return name, {**arguments, "cursor": page["next_cursor"]}


def _payload(read: Read, row: int) -> Made:
    return "get_order_payload", {"payload_ref": _pages(read)[-1][1]["items"][row]["payload_ref"]}


def _long_note(read: Read) -> Made:
    row = next(row for row in _pages(read)[-1][1]["items"] if "note_ref" in row)
    return "get_order_payload", {"payload_ref": row["note_ref"], "max_chars": 8000}


LARGE = {"payload_ref": "pay_009973", "max_chars": 8000}

SCRIPT: Sequence[tuple[str, Sequence[Callable[[Read], list[Made]]]]] = (
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
        lambda read: [_search(status="failed", region=region, placed_after="2026-06-01") for region in
                      ("north", "south")]]),
    ("What was sent to the shop about ord_009973? Read on a little.", [
        lambda read: [("get_order_payload", LARGE)],
        lambda read: [("get_order_payload", {**LARGE, "offset": 8000})]]),
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


def exchanges(tools: Mapping[str, Tool]) -> list[Exchange]:
    """The script on an account: every call made once with `tools`, so that all arguments and
    answers are known.
    """
    read: Read = []
    made = []
    for question, steps in SCRIPT:
        start, rounds = len(read), []
        for step in steps:
            calls = step(read)
            rounds.append(tuple(calls))
            read += [
                ((name, given), json.loads(tools[name].call(given).text)) for name, given in calls
            ]
        said = [sentence(call, result) for call, result in read[start:]]
        made.append(Exchange(question, tuple(rounds), " ".join(filter(None, said))))
    return made


def sentence(call: Made, result: Mapping[str, Any]) -> str:
    """What the model says of one result, in one sentence; nothing of an error."""
    if "error" in result:
        return ""
    if call[0] == "search_orders":
        return f"{result['total_matches']} orders match ({words(call[1])}), and {result['shown']} are shown."
    ref, text = result["payload_ref"], result["text"]
    event = re.search(r'"event":"charge\.(\w+)"', text)
    return f"{ref} has {result['total_chars']} characters" + (
        f" and says {event[1]}." if event else "."
    )


def words(arguments: Mapping[str, Any]) -> str:
    """A filter in words: "status refunded, region south"."""
    filters = {
        key: value
        for key, value in arguments.items()
        if key not in ("limit", "response_format", "cursor")
    }
    return ", ".join(f"{key} {value}" for key, value in filters.items()) or "no filter"
