"""The rules that Messages holds a message list to, and refuses with HTTP 400 otherwise.

Read `rules_openai.py` first: faults are found here in the same way. Source: Anthropic's API
reference (tool use, extended thinking), and the errors that its users report.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from .rules_openai import is_name

THINKING = ("thinking", "redacted_thinking")


def anthropic_fault(messages: Sequence[Any], issued: Mapping[str, Sequence[Any]]) -> str | None:
    """The first fault of a Messages list, or None; `issued` as in `wire.fault`."""
    return next(chain(_faults(messages), _thinking_faults(messages, issued)), None)


def _faults(messages: Sequence[Any]) -> Iterator[str]:
    waiting: list[str] = []  # the tool uses of the message just before
    used: set[str] = set()
    for i, message in enumerate(messages):
        at = f"messages.{i}"
        role = message.get("role") if isinstance(message, Mapping) else None
        if role not in ("user", "assistant"):
            yield f"{at}.role: {role!r} is not user or assistant"
        content = message.get("content")
        last_word = (
            role == "assistant" and i == len(messages) - 1
        )  # the one message that may be empty
        if isinstance(content, str):
            content = [{"type": "text", "text": content}] if content or not last_word else []
        if not isinstance(content, list) or not (content or last_word):
            yield f"{at}.content: a string that is not empty, or a list with at least one block"
        yield from _block_faults(at, role, content)
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        yield from _answer_faults(at, results, waiting)
        if waiting and any(block["type"] != "tool_result" for block in content[: len(results)]):
            yield f"{at}.content: the results of {', '.join(waiting)} come first, before any other block"
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
            yield f"{at}.content: the tool_result for {id} has no tool_use of this id in the message before"
        if id in results[:k]:
            yield f"{at}.content: {id} has more than one tool_result"
    if missing := [id for id in waiting if id not in results]:
        yield f"{at}: each tool_use needs its tool_result in the very next user message; none for {', '.join(missing)}"


def _block_faults(at: str, role: str, content: Sequence[Any]) -> Iterator[str]:
    for j, block in enumerate(content):
        here = f"{at}.content.{j}"
        kind = block.get("type") if isinstance(block, Mapping) else None
        if not is_name(kind):
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
            isinstance(block.get("thinking"), str) and is_name(block.get("signature"))
        ):
            yield f"{here}: a thinking block has its thinking and its signature"


def _tool_use(here: str, role: str, block: Mapping[str, Any]) -> Iterator[str]:
    id = block.get("id")
    if not is_name(id) or not is_name(block.get("name")):
        yield f"{here}: a tool_use has an id and a name (id {id!r})"
    if role != "assistant":
        yield f"{here}: the tool_use {id} stands in a {role} message"
    if not isinstance(block.get("input"), Mapping):
        yield f"{here}.input: the input of {id} is an object, not a {type(block.get('input')).__name__}"


def _tool_result(here: str, role: str, block: Mapping[str, Any]) -> Iterator[str]:
    id, content = block.get("tool_use_id"), block.get("content")
    if not is_name(id):
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
                yield f"messages.{i}.content: the thinking blocks before {id} must be returned as they were sent"
