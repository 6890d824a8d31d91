"""What stands where in a message list, for each API, so that nothing else has to know both formats.

Messages are plain dicts as they go over the wire: Chat Completions for "openai", Messages for
"anthropic". `fault` tells whether an API would accept a list of them, by the rules in
`rules_openai.py` and `rules_anthropic.py`. The rest reads lists that are accepted.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .rules_anthropic import anthropic_fault
from .rules_openai import openai_fault

APIS = ("openai", "anthropic")

UNPARSED = "INVALID_JSON"
"""Sole key of an Anthropic `input` that stands for arguments which are no JSON object, its value
the text that came.

The API takes only objects as `input`. Anthropic's page on fine-grained tool streaming advises this
wrapping. No tool has a parameter of this name, so a call that is run by accident is refused, which
one with `{}` might not be.
"""

Message = Mapping[str, Any]


@dataclass(frozen=True)
class Call:
    """A tool call that a model made. `arguments` is JSON text on OpenAI and an object on Anthropic,
    as it was sent.
    """

    id: str
    name: str
    arguments: str | dict[str, Any]


def fault(
    api: str, messages: Sequence[Message], issued: Mapping[str, Sequence[Any]] | None = None
) -> str | None:
    """The first rule of `api` that `messages` break, naming the id at fault, or None if they are
    accepted.

    `issued` is what the model itself sent: for the id of each tool use, the thinking blocks of its
    message. With it, thinking that was changed, dropped or added in the turn in progress is a fault
    too (Anthropic).
    """
    _check(api)
    if not isinstance(messages, list | tuple) or not messages:
        return "messages: at least one message is needed"
    return openai_fault(messages) if api == "openai" else anthropic_fault(messages, issued or {})


def blocks(message: Message, kind: str | None = None) -> list[dict[str, Any]]:
    """The content blocks of an Anthropic message, of one `kind` if given; a string counts as one
    text block.
    """
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return [block for block in content or () if kind is None or block["type"] == kind]


def calls_of(api: str, message: Message) -> list[Call]:
    """The tool calls that a message makes, in order: none unless it is an assistant's."""
    _check(api)
    if message["role"] != "assistant":
        return []
    if api == "anthropic":
        return [
            Call(block["id"], block["name"], block["input"])
            for block in blocks(message, "tool_use")
        ]
    functions = [(call["id"], call["function"]) for call in message.get("tool_calls") or ()]
    return [Call(id, function["name"], function["arguments"]) for id, function in functions]


def answered(api: str, message: Message) -> list[str]:
    """The ids of the calls that a message answers, in order."""
    _check(api)
    if api == "openai":
        return [message["tool_call_id"]] if message["role"] == "tool" else []
    return (
        [block["tool_use_id"] for block in blocks(message, "tool_result")]
        if message["role"] == "user"
        else []
    )


def turns(api: str, messages: Sequence[Message]) -> list[slice]:
    """Where each turn stands: one assistant message, with the messages that answer its calls.

    What lies between turns (system prompts, questions, anything else) stands in none. On Anthropic,
    text that follows the results in their message belongs to the turn.
    """
    _check(api)
    found, end = [], 0
    for start, message in enumerate(messages):
        if message["role"] != "assistant":
            continue
        end = start + 1
        most = (
            end + len(calls_of(api, message))
            if api == "openai"
            else end + bool(calls_of(api, message))
        )
        while end < min(most, len(messages)) and answered(api, messages[end]):
            end += 1
        found.append(slice(start, end))
    return found


def is_question(api: str, message: Message) -> bool:
    """Whether a message is a user's own: not one that only carries tool results."""
    _check(api)
    if message["role"] != "user":
        return False
    return api == "openai" or len(blocks(message, "tool_result")) < max(len(blocks(message)), 1)


def _check(api: str) -> None:
    if api not in APIS:
        raise ValueError(f"unknown api {api!r}: use {' or '.join(APIS)}")
