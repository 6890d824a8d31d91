"""The session of 30 turns: twelve questions about the real account, the calls that answer them, and
its replay by a scripted model.

    session = play_script(OPENAI_CHAT, SCRIPT, account())

A scripted model decides nothing, so its calls are written down here. Their arguments come from
results that it has just read (a cursor, a payload ref), and its answers say what stands in them.
What it calls is the same whatever is trimmed, so that only what is sent differs.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from toolresults.agent.api import Api
from toolresults.scripted import Reply
from toolresults.tools import Tool
from workbook.examples.orders.store import OrderStore

from .harness import Made, Seen, Session, play, see_newest
from .techniques import SYSTEM, workbook_tools


class Exchange(NamedTuple):
    """One question, and for each turn that works on it the calls, made from all that was read so
    far; then the answer: a sentence for each result, unless it is given."""

    question: str
    turns: Sequence[Callable[[Sequence[Seen]], list[Made]]]
    answer: str | None = None


def account() -> dict[str, Tool]:
    """The workbook's tools on the real account."""
    return workbook_tools(OrderStore.open())


def play_script(
    api: Api, script: Sequence[Exchange], tools: Mapping[str, Tool], **options: Any
) -> Session:
    """The session of a script; `options` (trim, cache, window) are those of `harness.play`."""
    read: list[Seen] = []

    def replies() -> Iterator[Reply]:
        for _, turns, answer in script:
            start = len(read)
            yield from (Reply(calls=calls(read)) for calls in turns)
            yield Reply(answer or " ".join(filter(None, map(_sentence, read[start:]))))

    saying = replies()

    def policy(messages: list[dict[str, Any]]) -> Reply:
        read.extend(see_newest(api, messages))
        return next(saying)

    questions = [each.question for each in script]
    return play(api, policy, tools, questions, system=SYSTEM, **options)


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


def search(limit: int = 50, response_format: str = "detailed", **filters: Any) -> Made:
    """The call for a first page."""
    return "search_orders", {**filters, "limit": limit, "response_format": response_format}


def _page(read: Sequence[Seen]) -> Seen:
    """The newest page."""
    return [one for one in read if one.name == "search_orders" and "items" in one.result][-1]


def next_page(read: Sequence[Seen]) -> Made:
    """The call for the page after the newest one."""
    page = _page(read)
    return page.name, {**page.arguments, "cursor": page.result["next_cursor"]}


def _payload(read: Sequence[Seen], row: int) -> Made:
    return "get_order_payload", {"payload_ref": _page(read).result["items"][row]["payload_ref"]}


def _long_note(read: Sequence[Seen]) -> Made:
    row = next(row for row in _page(read).result["items"] if "note_ref" in row)
    return "get_order_payload", {"payload_ref": row["note_ref"], "max_chars": 8000}


_LARGE = {"payload_ref": "pay_009973", "max_chars": 8000}

SCRIPT = (
    Exchange("Which orders were refunded in the south, newest first?", [
        lambda read: [search(status="refunded", region="south")]]),
    Exchange("What does the gateway say about the third of them?", [
        lambda read: [_payload(read, 2)]]),
    Exchange("Go on to the next page, and open the payload of its first order.", [
        lambda read: [next_page(read)],
        lambda read: [_payload(read, 0)]]),
    Exchange("Which orders are over 2,000?", [
        lambda read: [search(min_amount=2000)]]),
    Exchange("What is pending in the centre? Open the payloads of the first two.", [
        lambda read: [search(status="pending", region="central")],
        lambda read: [_payload(read, 0), _payload(read, 1)]]),
    Exchange("What failed since June, in the north and in the south?", [
        lambda read: [search(status="failed", region=region, placed_after="2026-06-01")
                      for region in ("north", "south")]]),
    Exchange("What was sent to the shop about ord_009973? Read on a little.", [
        lambda read: [("get_order_payload", _LARGE)],
        lambda read: [("get_order_payload", {**_LARGE, "offset": 8000})]]),
    Exchange("Which large orders were refunded in the north, from 900 up?", [
        lambda read: [search(status="refunded", region="north", min_amount=900)]]),
    Exchange("What is pending in the south? Two pages, please.", [
        lambda read: [search(status="pending", region="south")],
        lambda read: [next_page(read)]]),
    Exchange("Which orders were cancelled in the centre?", [
        lambda read: [search(status="cancelled", region="central")],
        lambda read: [search(status="failed", region="central")]]),
    Exchange("Show the newest orders, and the whole of the first long note.", [
        lambda read: [search(limit=20)],
        lambda read: [_long_note(read)]]),
    Exchange("And the newest that were paid, in short?", [
        lambda read: [search(limit=20, response_format="concise", status="paid")]]),
)  # fmt: skip
"""The twelve questions."""
