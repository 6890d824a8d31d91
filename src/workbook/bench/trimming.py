"""What trimming does to three meters: peak context, cumulative input, and money with a prompt
cache.

A change that lowers one can raise another. All is counted on `sessions`, in tokens of
`request_text`; money is in US dollars at the prices of `toolresults.agent.prices`, for the models
in `sessions.MODELS`.
"""

import copy
from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
from toolresults.agent.groups import Message
from toolresults.agent.prices import Prices
from toolresults.agent.request_text import Part, request_parts, tokens_of
from toolresults.agent.wire import blocks

from toolresults.agent.history import SUMMARY, Remembered, clear_tool_results, summarise, window

from .sessions import MODELS, Session, Trim, bill, new_cache

READ_ONLY = ("search_orders", "get_order_payload")

TRIGGER, AT_LEAST, KEEP, WINDOW = 20_000, 8_000, 3, 6
"""The settings that are compared, in tokens, results or turns: small, as the session is."""

LEFT_OUT = "[Older turns are left out.]"
"""The note of the window that says so."""


def digest(messages: Sequence[Message]) -> str:
    """The summary that is compared, made by a program: the first sentence of each answer of the
    model's.
    """
    lines = []
    for message in messages:
        for block in (
            blocks({"content": message.get("content") or ""}, "text")
            if message["role"] != "tool"
            else ()
        ):
            if block["text"].startswith(SUMMARY):
                lines.append(block["text"].removeprefix(SUMMARY))
            elif message["role"] == "assistant" and block["text"]:
                lines.append(block["text"].partition(". ")[0].removesuffix(".") + ".")
    return "\n".join(lines)


def trimmings(api: str) -> dict[str, Trim]:
    """The trimmings that are compared, by name."""
    clear = partial(clear_tool_results, api=api, keep=KEEP, read_only=READ_ONLY)
    return {
        "untrimmed": list,
        "cleared": partial(clear, trigger=TRIGGER, clear_at_least=AT_LEAST),
        "windowed": partial(window, api=api, turns=WINDOW),
        "windowed, with a note": partial(window, api=api, turns=WINDOW, note=LEFT_OUT),
        "summarised": partial(
            summarise,
            api=api,
            summary=Remembered(digest, api=api),
            keep=KEEP,
            trigger=TRIGGER,
            clear_at_least=AT_LEAST,
        ),
    }


def cache_settings(api: str) -> dict[str, Trim]:
    """Settings that differ in how often they change the beginning of a request, by name."""
    clear = partial(clear_tool_results, api=api, keep=KEEP, read_only=READ_ONLY)
    return {
        "untrimmed": list,
        "clear payloads on every turn": partial(
            clear, trigger=0, clear_at_least=0, exclude_tools=["search_orders"]
        ),
        "clear all on every turn": partial(clear, trigger=0, clear_at_least=0),
        f"clear over {TRIGGER:,}": partial(clear, trigger=TRIGGER, clear_at_least=0),
        f"clear over {TRIGGER:,}, {AT_LEAST:,} at least": partial(
            clear, trigger=TRIGGER, clear_at_least=AT_LEAST
        ),
        f"window of {WINDOW}": partial(window, api=api, turns=WINDOW),
        f"window of {WINDOW}, {WINDOW} at a time": partial(
            window, api=api, turns=WINDOW, every=WINDOW
        ),
    }


def meters(session: Session, trims: Mapping[str, Trim]) -> pd.DataFrame:
    """A row a trimming: `peak` and cumulative `input`, `freed` (of the untrimmed input, both in
    tokens), `rounds` (how often the beginning of the request changed), `cached_read`,
    `cache_write`, `summary_input` (tokens that summaries read, a part of `input`), `output`,
    `money` with a prompt cache, and `money_uncached` without.
    """
    whole, price, rows = bill(session).cumulative_input, Prices.load()[MODELS[session.api]], []
    for name, trim in trims.items():
        fresh = _fresh(trim)
        ledger = bill(session, fresh, cache=new_cache(session.api), summary=_summary(fresh))
        frame = ledger.frame()
        full = sum(
            price.money(input=turn.usage.input, output=turn.usage.output) for turn in ledger.turns
        )
        rows.append({
            "trimming": name,
            "peak": ledger.peak,
            "input": ledger.cumulative_input,
            "freed": whole - ledger.cumulative_input,
            "rounds": int(frame["changed"].sum()),
            "cached_read": int(frame["cached_read"].sum()),
            "cache_write": int(frame["cache_write"].sum()),
            "summary_input": int(frame.loc[frame["for"] == "summary", "input"].sum()),
            "output": int(frame["output"].sum()),
            "money": float(ledger.money),
            "money_uncached": float(full),
        })  # fmt: skip
    return pd.DataFrame(rows)


def per_turn(session: Session, trims: Mapping[str, Trim]) -> pd.DataFrame:
    """Input tokens of each turn (rows, from 1) for each trimming (columns); a summary's own call is
    not in it.
    """
    columns = {}
    for name, trim in trims.items():
        frame = bill(session, trim).frame()
        columns[name] = frame.loc[frame["for"] == "turn", "input"].to_list()
    return pd.DataFrame(columns, index=pd.RangeIndex(1, len(session.requests) + 1, name="turn"))


def money_per_turn(session: Session, trims: Mapping[str, Trim]) -> pd.DataFrame:
    """Cumulative money with a prompt cache after each turn (rows) for each trimming (columns),
    summaries included.
    """
    columns = {}
    for name, trim in trims.items():
        fresh = _fresh(trim)
        frame = bill(session, fresh, cache=new_cache(session.api), summary=_summary(fresh)).frame()
        columns[name] = frame["money"].cumsum()[frame["for"] == "turn"].to_list()
    return pd.DataFrame(columns, index=pd.RangeIndex(1, len(session.requests) + 1, name="turn"))


def rounds(session: Session, trim: Trim) -> pd.DataFrame:
    """A row for each turn at which the beginning of the request changed: `turn`, `freed` and
    `rewritten`, in tokens.

    `freed` is how much larger this request would have been without the change; `rewritten`, what
    would then have been read from the cache, and was not: nearly all that stands behind the first
    change.
    """
    rows, sent, before = [], [], 0
    cache = new_cache(session.api)
    for turn, history in enumerate(session.requests, 1):
        unchanged = _parts(session, [*sent, *history[before:]])
        sent, before = trim(history), len(history)
        parts = _parts(session, sent)
        could = copy.deepcopy(cache).read(unchanged).cached
        cached, _ = cache.read(parts)
        if parts != unchanged:
            rows.append((turn, tokens_of(unchanged) - tokens_of(parts), could - cached))
    return pd.DataFrame(rows, columns=["turn", "freed", "rewritten"])


def _parts(session: Session, messages: Sequence[Message]) -> list[Part]:
    return request_parts(session.api, session.body(messages))


def _summary(trim: Trim) -> Remembered | None:
    return getattr(trim, "keywords", {}).get("summary")


def _fresh(trim: Trim) -> Trim:
    """The same trimming with no summary made yet, so that each bill is charged for all of its
    own.
    """
    if not (old := _summary(trim)):
        return trim
    return partial(
        trim, summary=Remembered(old.summary, api=old.api, instructions=old.instructions)
    )
