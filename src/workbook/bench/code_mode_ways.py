"""Ways to give a model n functions: a tool for each, definitions found on demand, or two tools over
a registry.

with Company(50) as company:
    played = play("openai", company, WEEK, "code")
    played.ledger.cumulative_input, played.answer
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolresults.agent.groups import Message
from toolresults.agent.request_text import request_parts, tokens_of
from toolresults.agent.scripted import ScriptedModel
from toolresults.agent.usage import Ledger, Usage
from toolresults.agent.wire import calls_of

from toolresults.agent import anthropic_loop, openai_loop
from toolresults.tools import Tool

from .code_mode_agent import Dialogue, code, found, plain, policy, ready_made
from .code_mode_company import Company
from .code_mode_questions import Question
from .sessions import MODELS, new_cache

SYSTEM = "You work in a company's systems for one of its employees. Use the tools."

WAYS = {
    "all definitions": plain,
    "all definitions, one call a turn": lambda question: plain(question, at_once=False),
    "definitions found": found,
    "ready-made tool": ready_made,
    "code": code,
    "code, looks twice": lambda question: code(question, searches=("brief", "full")),
    "code in JavaScript": lambda question: code(question, "javascript"),
}
"""What the model says in each way. "code" looks once, for whole stubs, and runs Python; "looks
twice": names first.
"""

MOST_STEPS = 60

LOOPS = {"openai": openai_loop, "anthropic": anthropic_loop}


@dataclass(frozen=True)
class Played:
    """One question, asked and answered. `warm` is the bill where the definitions were in the cache
    before.
    """

    api: str
    messages: list[Message]
    definitions: int
    ledger: Ledger
    warm: Ledger
    answer: str

    @property
    def calls(self) -> int:
        return sum(len(calls_of(self.api, message)) for message in self.messages)


def play(
    api: str, company: Company, question: Question, way: str, *, dialogue: Dialogue | None = None
) -> Played:
    """Asks `question` in one of `WAYS`, through `api`'s own SDK, with a scripted model that has a
    prompt cache.

    `dialogue` is what the model says instead of what the way has it say.
    """
    runnable, sent = _tools(api, company, way)
    given = [tool.definition(api) for tool in sent]
    model = ScriptedModel(policy(api, dialogue or WAYS[way](question)), cache=new_cache(api))
    ledger = Ledger(model=MODELS[api])
    outcome = LOOPS[api].run(
        getattr(model, api)(),
        question.text,
        runnable,
        model=MODELS[api],
        system=system(api),
        max_steps=MOST_STEPS,
        ledger=ledger,
        at_once=1,  # one after the other: notes then get their ids in the order of the calls
        options={"tools": given},
    )
    warm = _warm(api, model.requests, ledger)
    return Played(
        api,
        outcome.messages,
        tokens_of(request_parts(api, {"tools": given})),
        ledger,
        warm,
        outcome.text,
    )


def system(api: str) -> str | list[dict[str, Any]]:
    """The system prompt. On Anthropic it ends what is cached of itself: with it, the definitions
    before it.
    """
    mark = {"cache_control": {"type": "ephemeral"}}
    return SYSTEM if api == "openai" else [{"type": "text", "text": SYSTEM, **mark}]


def _tools(api: str, company: Company, way: str) -> tuple[list[Tool], list[Tool]]:
    """The tools that can be called, and those whose definitions are sent."""
    if way.startswith("code"):
        tools = company.registry("javascript" if way.endswith("JavaScript") else "python").tools()
        return tools, tools
    if way == "definitions found":
        find = company.find_tools(api)
        return [find, *company.tools.values()], [find]
    if way == "ready-made tool":
        return [company.follow_up], [company.follow_up]
    tools = list(company.tools.values())
    return tools, tools


def _warm(api: str, requests: Sequence[Mapping[str, Any]], cold: Ledger) -> Ledger:
    """The bill of the same requests when another question was asked with the same tools just
    before.
    """
    kept, ledger, first = new_cache(api), Ledger(model=MODELS[api]), requests[0]
    system = [message for message in first["messages"] if message["role"] == "system"]
    kept.read(
        request_parts(api, {**first, "messages": [*system, {"role": "user", "content": "Hello"}]})
    )
    for body, turn in zip(requests, cold.turns, strict=True):
        cached, written = kept.read(request_parts(api, body))
        ledger.add(
            api, Usage(turn.usage.input, turn.usage.output, cached, written), turn.result_tokens
        )
    return ledger
