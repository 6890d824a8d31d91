"""A session of 30 turns over the real account, played through the real SDKs, and its bill under
every trimming.

    session = play("openai")                            # the loop, the SDK and a scripted model
    bill(session, partial(window, api="openai", turns=6))  # a ledger: what the same 30 turns cost when trimmed so

A turn is one model call, with the tool calls that it asks for. The script is the same whatever is
trimmed, so that only what is sent differs; a real model might call more tools after a trimming, or
fewer.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolresults.agent.groups import Message
from toolresults.agent.request_text import message_parts, request_parts, tokens_of
from toolresults.agent.scripted import Reply, ScriptedModel
from toolresults.agent.usage import Ledger, Usage

from toolresults.agent import anthropic_loop, openai_loop
from toolresults.agent.cache import PromptCache
from toolresults.agent.history import Remembered
from toolresults.tools import Tool
from workbook.examples.orders.store import OrderStore

from .script import SYSTEM, Exchange, exchanges
from .steps import workbook_tools

MODELS = {"openai": "gpt-5.4-mini", "anthropic": "claude-sonnet"}
"""Whose prices the bill takes (the table of `toolresults.agent.prices`)."""

Trim = Callable[[Sequence[Message]], list[Message]]


@dataclass(frozen=True)
class Session:
    """A session as it was played: the whole history, and what every request has besides."""

    api: str
    messages: list[Message]
    tools: list[dict[str, Any]]
    ledger: Ledger

    @property
    def requests(self) -> list[list[Message]]:
        """The history at each model call."""
        return [
            self.messages[:i]
            for i, message in enumerate(self.messages)
            if message["role"] == "assistant"
        ]

    def body(self, messages: Sequence[Message]) -> dict[str, Any]:
        """What is counted of a request: tools, system prompt and messages."""
        if self.api == "anthropic":
            return {"tools": self.tools, "system": SYSTEM, "messages": messages}
        return {"tools": self.tools, "messages": [{"role": "system", "content": SYSTEM}, *messages]}


def account() -> dict[str, Tool]:
    """The workbook's tools on the real account."""
    return workbook_tools(OrderStore.open())


def play(
    api: str,
    made: Sequence[Exchange] | None = None,
    *,
    tools: Mapping[str, Tool] | None = None,
    trim: Trim | None = None,
    cache: PromptCache | None = None,
) -> Session:
    """Plays `made` (the script on the real account, unless given) through `api`'s own SDK and
    loop.
    """
    tools = tools or account()
    made = exchanges(tools) if made is None else made
    replies = (
        reply
        for each in made
        for reply in (*(Reply(calls=calls) for calls in each.rounds), Reply(each.answer))
    )
    model = ScriptedModel(lambda messages: next(replies), cache=cache)
    loop, client = (
        (openai_loop, model.openai()) if api == "openai" else (anthropic_loop, model.anthropic())
    )
    ledger, messages = Ledger(model=MODELS[api]), []
    for each in made:
        asked = [*messages, {"role": "user", "content": each.question}]
        outcome = loop.run(
            client,
            asked,
            tools,
            model=MODELS[api],
            system=SYSTEM,
            trim=trim,
            ledger=ledger,
            at_once=1,
        )  # one call at a time: the order in a store's log then repeats too
        messages = outcome.messages
    return Session(api, messages, [tool.definition(api) for tool in tools.values()], ledger)


def bill(
    session: Session,
    trim: Trim | None = None,
    *,
    cache: PromptCache | None = None,
    summary: Remembered | None = None,
) -> Ledger:
    """The ledger of the same session with `trim` before each request: what `play` would meter,
    without playing it.

    Each turn has the tags "for": "turn" and "changed": whether the beginning of the request is
    another than the time before. The calls of `summary` stand in it too, "for": "summary", each
    before the turn that it was made for.
    """
    ledger = Ledger(model=MODELS[session.api])
    charged, sent, before = len(summary.spent) if summary else 0, [], 0
    for history in session.requests:
        unchanged = [*sent, *history[before:]]
        sent, before = trim(history) if trim else history, len(history)
        for usage in summary.spent[charged:] if summary else ():
            ledger.add(session.api, usage, tags={"for": "summary", "changed": False})
            charged += 1
        parts = request_parts(session.api, session.body(sent))
        cached, written = cache.read(parts) if cache else (0, 0)
        output = tokens_of(message_parts(session.api, session.messages[len(history)]))
        usage = Usage(tokens_of(parts), output, cached, written)
        ledger.add(session.api, usage, tags={"for": "turn", "changed": sent != unchanged})
    return ledger


def new_cache(api: str) -> PromptCache:
    """An empty prompt cache; the session takes no time, so nothing in it expires. Anthropic's marks
    are automatic.
    """
    return PromptCache(api, clock=lambda: 0.0, automatic=api == "anthropic")
