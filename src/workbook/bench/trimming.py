"""What trimming does to three meters: peak context, cumulative input, and money with a prompt
cache.

A change that lowers one can raise another. All is counted on a recorded session by `harness.bill`.
"""

import copy
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pandas as pd

from toolresults.agent.api import Api, Message, Usage, tokens_of
from toolresults.agent.history import SUMMARY, Remembered, clear_tool_results, summarise, window

from .harness import MODELS, PRICES, Session, Trim, bill, new_cache, replay

_READ_ONLY = ("search_orders", "get_order_payload")

TRIGGER, AT_LEAST, KEEP, WINDOW = 20_000, 8_000, 3, 6
"""The settings that are compared, in tokens, results or turns: small, as the session is."""

LEFT_OUT = "[Older turns are left out.]"
"""The note of the window that says so."""


def digest(messages: Sequence[Message]) -> str:
    """The summary that is compared, made by a program: the first sentence of each answer of the
    model's."""
    lines = []
    for message in messages:
        for text in texts(message):
            if text.startswith(SUMMARY):
                lines.append(text.removeprefix(SUMMARY))
            elif message["role"] == "assistant":
                lines.append(text.partition(". ")[0].removesuffix(".") + ".")
    return "\n".join(lines)


def texts(message: Message) -> list[str]:
    """What a user or an assistant says in a message: neither calls nor results."""
    content = message.get("content") or []
    if isinstance(content, str):
        return [content] if message["role"] != "tool" else []
    return [block["text"] for block in content if block["type"] == "text" and block["text"]]


def trimmings(api: Api) -> dict[str, Trim]:
    """The trimmings that are compared, by name."""
    sizes = {"keep": KEEP, "trigger": TRIGGER, "clear_at_least": AT_LEAST}
    return {
        "untrimmed": list,
        "cleared": partial(clear_tool_results, api=api, read_only=_READ_ONLY, **sizes),
        "windowed": partial(window, api=api, turns=WINDOW),
        "windowed, with a note": partial(window, api=api, turns=WINDOW, note=LEFT_OUT),
        "summarised": partial(summarise, api=api, summary=Remembered(digest, api=api), **sizes),
    }


def cache_settings(api: Api) -> dict[str, Trim]:
    """Settings that differ in how often they change the beginning of a request, by name."""
    clear = partial(clear_tool_results, api=api, keep=KEEP, read_only=_READ_ONLY, clear_at_least=0)
    slide = partial(window, api=api, turns=WINDOW)
    over = f"clear over {TRIGGER:,}"
    return {
        "untrimmed": list,
        "clear payloads on every turn": partial(clear, trigger=0, exclude_tools=["search_orders"]),
        "clear all on every turn": partial(clear, trigger=0),
        over: partial(clear, trigger=TRIGGER),
        f"{over}, {AT_LEAST:,} at least": partial(clear, trigger=TRIGGER, clear_at_least=AT_LEAST),
        f"window of {WINDOW}": slide,
        f"window of {WINDOW}, {WINDOW} at a time": partial(slide, every=WINDOW),
    }


def meters(session: Session, trims: Mapping[str, Trim]) -> pd.DataFrame:
    """A row a trimming: `peak` and cumulative `input`, `freed` (of the untrimmed input, both in
    tokens), `rounds` (how often the beginning of the request changed), `cached_read`,
    `cache_write`, `summary_input` (tokens that summaries read, a part of `input`), `output`,
    `money` with a prompt cache, and `money_uncached` without."""
    whole, api, rows = bill(session).cumulative_input, session.api, []
    price = PRICES.of(MODELS[api.name], api.provider)
    for name, trim in trims.items():
        ledger = bill(session, trim, cache=new_cache(api))
        frame, used = ledger.frame(), [turn.usage for turn in ledger.turns]
        uncached = [price.money(Usage(one.input, one.output)) for one in used]
        rows.append({
            "trimming": name,
            "peak": ledger.peak,
            "input": ledger.cumulative_input,
            "freed": whole - ledger.cumulative_input,
            "rounds": int(frame["changed"].sum()),
            **{column: int(frame[column].sum()) for column in ("cached_read", "cache_write")},
            "summary_input": int(frame.loc[frame["for"] == "summary", "input"].sum()),
            "output": int(frame["output"].sum()),
            "money": float(ledger.money),
            "money_uncached": float(sum(uncached)),
        })  # fmt: skip
    return pd.DataFrame(rows)


def per_turn(session: Session, trims: Mapping[str, Trim]) -> pd.DataFrame:
    """Input tokens of each turn (rows, from 1) for each trimming (columns); a summary's own call is
    not in it."""
    return _by_turn(session, trims, lambda frame: frame["input"])


def money_per_turn(session: Session, trims: Mapping[str, Trim]) -> pd.DataFrame:
    """Cumulative money with a prompt cache after each turn (rows) for each trimming (columns),
    summaries included."""
    return _by_turn(session, trims, lambda frame: frame["money"].cumsum())


def _by_turn(
    session: Session, trims: Mapping[str, Trim], meter: Callable[[pd.DataFrame], pd.Series]
) -> pd.DataFrame:
    table = pd.DataFrame()
    for name, trim in trims.items():
        frame = bill(session, trim, cache=new_cache(session.api)).frame()
        table[name] = meter(frame)[frame["for"] == "turn"].to_list()
    return table.set_axis(pd.RangeIndex(1, len(table) + 1, name="turn"))


def rounds(session: Session, trim: Trim) -> pd.DataFrame:
    """A row for each turn at which the beginning of the request changed: `turn`, `freed` and
    `rewritten`, in tokens.

    `freed` is how much larger this request would have been without the change; `rewritten`, what
    would then have been read from the cache, and was not: nearly all that stands behind the first
    change.
    """
    rows, cache = [], new_cache(session.api)
    for turn, both in enumerate(replay(session, trim), 1):
        parts, unchanged = (session.api.request_parts(session.body(sent)) for sent in both)
        could = copy.deepcopy(cache).read(unchanged).cached
        cached, _ = cache.read(parts)
        if parts != unchanged:
            rows.append((turn, tokens_of(unchanged) - tokens_of(parts), could - cached))
    return pd.DataFrame(rows, columns=["turn", "freed", "rewritten"])
