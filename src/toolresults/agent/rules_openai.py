"""The rules that Chat Completions holds a message list to, and refuses with HTTP 400 otherwise.

Each rule is a generator of faults, and only its first is ever taken: what follows a `yield` may
rely on the rule. Whatever JSON a client sends is answered, and nothing raises. The vendor checks
more (lengths of names, exotic blocks); what is here is what a tool loop, or the trimming of a
history, can break.

Source: OpenAI's API reference, and the errors that its users report.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any


def is_name(value: Any) -> bool:
    """Whether a value can be an id, a name or a type: a string that is not empty."""
    return isinstance(value, str) and bool(value)


def openai_fault(messages: Sequence[Any]) -> str | None:
    """The first fault of a Chat Completions message list, or None."""
    return next(_faults(messages), None)


def _faults(messages: Sequence[Any]) -> Iterator[str]:
    group: list[str] = []  # the calls of the assistant message that tool messages may now answer
    waiting: list[str] = []  # those of them that have no answer yet
    for i, message in enumerate(messages):
        at = f"messages[{i}]"
        if not isinstance(message, Mapping):
            yield f"{at}: a message is an object"
        role = message.get("role")
        if role == "tool":
            yield from _tool_message(at, message, group, waiting)
            waiting = [id for id in waiting if id != message["tool_call_id"]]
        elif waiting:
            yield f"{at}: {_unanswered(waiting)} before the next message of another role"
        elif role == "assistant":
            yield from _assistant_message(at, message)
            group = [call["id"] for call in message.get("tool_calls") or ()]
            waiting = list(group)
        elif role in ("system", "developer", "user"):
            yield from _content(at, message.get("content"), role)
            group = []
        else:
            yield f"{at}.role: {role!r} is not one of system, developer, user, assistant, tool"
    if waiting:
        yield f"messages: {_unanswered(waiting)} before the end"


def _unanswered(ids: Sequence[str]) -> str:
    return f"every id in tool_calls needs a tool message, and none answers {', '.join(ids)}"


def _tool_message(
    at: str, message: Mapping[str, Any], group: Sequence[str], waiting: Sequence[str]
) -> Iterator[str]:
    id = message.get("tool_call_id")
    if not is_name(id):
        yield f"{at}.tool_call_id: a tool message names the call that it answers, got {id!r}"
    if id not in group:
        yield f"{at}.tool_call_id: {id} is not among the tool_calls of the assistant message before it"
    if id not in waiting:
        yield f"{at}.tool_call_id: {id} has an answer already"
    for fault in _content(at, message.get("content"), "tool"):
        yield f"{fault} (tool_call_id {id})"


def _assistant_message(at: str, message: Mapping[str, Any]) -> Iterator[str]:
    calls = message.get("tool_calls")
    if calls is not None and (not isinstance(calls, list) or not calls):
        yield f"{at}.tool_calls: a list with at least one call, or left out"
    seen = set()
    for j, call in enumerate(calls or ()):
        here = f"{at}.tool_calls[{j}]"
        if not isinstance(call, Mapping) or not is_name(call.get("id")):
            yield f"{here}.id: every call has an id"
        id, function = call["id"], call.get("function")
        if id in seen:
            yield f"{here}.id: {id} is there twice"
        seen.add(id)
        if (
            call.get("type") != "function"
            or not isinstance(function, Mapping)
            or not is_name(function.get("name"))
        ):
            yield f"{here}: call {id} needs type function and a function with a name"
        elif not isinstance(function.get("arguments"), str):
            got = type(function.get("arguments")).__name__
            yield f"{here}.function.arguments: the arguments of {id} are JSON text in a string, not a {got}"
    if message.get("content") is not None or not (calls or message.get("refusal")):
        yield from _content(at, message.get("content"), "assistant")


def _content(at: str, content: Any, role: str) -> Iterator[str]:
    if isinstance(content, str):
        return
    if not isinstance(content, list) or not content:
        got = "an empty list" if content == [] else type(content).__name__
        yield f"{at}.content: a string or a list of parts, not {got}"
    for j, part in enumerate(content):
        kind = part.get("type") if isinstance(part, Mapping) else None
        kinds = {
            "user": ("text", "image_url", "input_audio", "file"),
            "assistant": ("text", "refusal"),
        }
        if kind not in kinds.get(role, ("text",)):
            yield f"{at}.content[{j}]: {kind!r} is no part of a {role} message"
        elif kind in ("text", "refusal") and not isinstance(part.get(kind), str):
            yield f"{at}.content[{j}].{kind}: a string"
