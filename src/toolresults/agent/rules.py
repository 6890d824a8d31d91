"""What each API refuses with HTTP 400: the rules that it holds a message list to.

Each rule is a generator of faults, and only its first is ever taken: what follows a `yield` may
rely on the rule. Whatever JSON a client sends is answered, and nothing raises. The vendors check
more (lengths of names, exotic blocks); what is here is what a tool loop, or the trimming of a
history, can break. Sources: OpenAI's API reference; Anthropic's API reference (tool use, extended
thinking); and the errors that their users report.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any


def _is_name(value: Any) -> bool:
    """Whether a value can be an id, a name or a type: a string that is not empty."""
    return isinstance(value, str) and bool(value)


# OpenAI: Chat Completions


def openai_fault(messages: Sequence[Any]) -> str | None:
    """The first fault of a Chat Completions message list, or None."""
    return next(_openai_faults(messages), None)


def _openai_faults(messages: Sequence[Any]) -> Iterator[str]:
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
    if not _is_name(id):
        yield f"{at}.tool_call_id: a tool message names the call that it answers, got {id!r}"
    if id not in group:
        where = "among the tool_calls of the assistant message before it"
        yield f"{at}.tool_call_id: {id} is not {where}"
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
        if not isinstance(call, Mapping) or not _is_name(call.get("id")):
            yield f"{here}.id: every call has an id"
        id, function = call["id"], call.get("function")
        if id in seen:
            yield f"{here}.id: {id} is there twice"
        seen.add(id)
        if (
            call.get("type") != "function"
            or not isinstance(function, Mapping)
            or not _is_name(function.get("name"))
        ):
            yield f"{here}: call {id} needs type function and a function with a name"
        elif not isinstance(function.get("arguments"), str):
            got = type(function.get("arguments")).__name__
            said = f"the arguments of {id} are JSON text in a string, not a {got}"
            yield f"{here}.function.arguments: {said}"
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


# Anthropic: Messages

THINKING = ("thinking", "redacted_thinking")


def anthropic_fault(messages: Sequence[Any], issued: Mapping[str, Sequence[Any]]) -> str | None:
    """The first fault of a Messages list, or None; `issued` as in `Api.fault`."""
    return next(chain(_anthropic_faults(messages), _thinking_faults(messages, issued)), None)


def _anthropic_faults(messages: Sequence[Any]) -> Iterator[str]:
    waiting: list[str] = []  # the tool uses of the message just before
    used: set[str] = set()
    for i, message in enumerate(messages):
        at = f"messages.{i}"
        role = message.get("role") if isinstance(message, Mapping) else None
        if role not in ("user", "assistant"):
            yield f"{at}.role: {role!r} is not user or assistant"
        content = message.get("content")
        # the one message that may be empty
        last_word = role == "assistant" and i == len(messages) - 1
        if isinstance(content, str):
            content = [{"type": "text", "text": content}] if content or not last_word else []
        if not isinstance(content, list) or not (content or last_word):
            yield f"{at}.content: a string that is not empty, or a list with at least one block"
        yield from _block_faults(at, role, content)
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        yield from _answer_faults(at, results, waiting)
        if waiting and any(block["type"] != "tool_result" for block in content[: len(results)]):
            ids = ", ".join(waiting)
            yield f"{at}.content: the results of {ids} come first, before any other block"
        waiting = [block["id"] for block in content if block["type"] == "tool_use"]
        for id in waiting:
            if id in used:
                yield f"{at}.content: the tool_use id {id} is there twice"
            used.add(id)
    if waiting:
        yield from _answer_faults("the message after the last", [], waiting)


def _answer_faults(at: str, results: Sequence[str], waiting: Sequence[str]) -> Iterator[str]:
    for k, id in enumerate(results):
        if id not in waiting:
            said = f"the tool_result for {id} has no tool_use of this id in the message before"
            yield f"{at}.content: {said}"
        if id in results[:k]:
            yield f"{at}.content: {id} has more than one tool_result"
    if missing := [id for id in waiting if id not in results]:
        ids = ", ".join(missing)
        need = "each tool_use needs its tool_result in the very next user message"
        yield f"{at}: {need}; none for {ids}"


def _block_faults(at: str, role: str, content: Sequence[Any]) -> Iterator[str]:
    for j, block in enumerate(content):
        here = f"{at}.content.{j}"
        kind = block.get("type") if isinstance(block, Mapping) else None
        if not _is_name(kind):
            yield f"{here}.type: every block has a type"
        if kind == "text" and not (isinstance(block.get("text"), str) and block["text"].strip()):
            yield f"{here}.text: a text block holds more than white space"
        elif kind == "tool_use":
            yield from _tool_use(here, role, block)
        elif kind == "tool_result":
            yield from _tool_result(here, role, block)
        elif kind in THINKING and role != "assistant":
            yield f"{here}: thinking belongs to assistant messages"
        elif kind == "thinking" and not (
            isinstance(block.get("thinking"), str) and _is_name(block.get("signature"))
        ):
            yield f"{here}: a thinking block has its thinking and its signature"


def _tool_use(here: str, role: str, block: Mapping[str, Any]) -> Iterator[str]:
    id = block.get("id")
    if not _is_name(id) or not _is_name(block.get("name")):
        yield f"{here}: a tool_use has an id and a name (id {id!r})"
    if role != "assistant":
        yield f"{here}: the tool_use {id} stands in a {role} message"
    if not isinstance(block.get("input"), Mapping):
        got = type(block.get("input")).__name__
        yield f"{here}.input: the input of {id} is an object, not a {got}"


def _tool_result(here: str, role: str, block: Mapping[str, Any]) -> Iterator[str]:
    id, content = block.get("tool_use_id"), block.get("content")
    if not _is_name(id):
        yield f"{here}.tool_use_id: a tool_result names the tool_use that it answers, got {id!r}"
    if role != "user":
        yield f"{here}: the tool_result for {id} stands in a {role} message"
    if block.get("is_error") and not content:
        yield f"{here}.content: the result of {id} is an error, and an error says what went wrong"
    if content is None or isinstance(content, str):
        return
    if not isinstance(content, list):
        yield f"{here}.content: the result of {id} is a string or a list of blocks"
    kinds = [block.get("type") for block in content if isinstance(block, Mapping)]
    if "tool_use" in kinds or "tool_result" in kinds:
        yield f"{here}.content: the result of {id} holds a tool_use or tool_result of its own"
    for fault in _block_faults(here, role, content):
        yield f"{fault} (tool_use_id {id})"


def _thinking_faults(messages: Sequence[Any], issued: Mapping[str, Sequence[Any]]) -> Iterator[str]:
    for i in range(len(messages) - 1, -1, -1):
        content = messages[i]["content"]
        if isinstance(content, str):
            content = []
        if messages[i]["role"] == "user" and not any(
            block["type"] == "tool_result" for block in content
        ):
            return  # what lies before is of an earlier turn, whose thinking may be dropped
        thinking = [block for block in content if block["type"] in THINKING]
        for id in (block["id"] for block in content if block["type"] == "tool_use"):
            if id in issued and thinking != list(issued[id]):
                said = f"the thinking blocks before {id} must be returned as they were sent"
                yield f"messages.{i}.content: {said}"
