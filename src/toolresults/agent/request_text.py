"""The text that a request is counted over, defined here and nowhere else.

No vendor publishes the text that a request becomes inside its model. This one stands in for it: a
header line and the raw text of each tool definition, system prompt and message, in the order in
which providers lay a prompt out. Contents are not escaped as in the request's JSON, since a model
does not read them so: a tool result weighs here what `count_tokens` says of its text, and one or
two lines of header. `null` fields and `cache_control` marks weigh nothing. Counted in o200k_base;
for Claude, whose tokenizer is not public, that is an estimate. An image weighs as its JSON text.

Each part begins with a letter and ends with a line break, where o200k_base always parts tokens: the
parts' counts add up to the count of the whole text, and so do those of any prefix made of whole
parts (a prompt cache's, say).
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ..tokens import count_many, to_json


class Part(NamedTuple):
    """One piece of a request's text.

    `breakpoint`: whether an Anthropic cache breakpoint stands at its end: its `ttl` ("5m", "1h") if
    it names one, else True; False for none.
    """

    text: str
    breakpoint: bool | str = False


def request_parts(api: str, body: Mapping[str, Any]) -> list[Part]:
    """The parts of a request body: tool definitions, then the system prompt (Anthropic), then the
    messages' blocks.
    """
    parts = [_part("tools", to_json(_bare(tool)), tool) for tool in body.get("tools") or ()]
    if body.get("system"):
        parts += message_parts(api, {"role": "system", "content": body["system"]})
    for message in body.get("messages") or ():
        parts += message_parts(api, message)
    if (
        body.get("cache_control") and parts and not parts[-1].breakpoint
    ):  # automatic caching: a mark on the last block
        parts[-1] = Part(parts[-1].text, _mark(body))
    return parts


def request_text(api: str, body: Mapping[str, Any]) -> str:
    """The text of a request body for `api` ("openai" or "anthropic")."""
    return "".join(part.text for part in request_parts(api, body))


def request_tokens(api: str, body: Mapping[str, Any]) -> int:
    """Tokens of a request: `count_tokens(request_text(api, body))`."""
    return tokens_of(request_parts(api, body))


def tokens_of(parts: list[Part]) -> int:
    """Tokens of some parts together (o200k_base)."""
    return sum(count_many(part.text for part in parts))


def message_parts(api: str, message: Mapping[str, Any]) -> list[Part]:
    """The parts of one message: a part a block on Anthropic; the content and then a part a call on
    OpenAI.
    """
    return list((_anthropic if api == "anthropic" else _openai)(message))


def _openai(message: Mapping[str, Any]) -> Iterator[Part]:
    header = " ".join(
        filter(None, [message["role"], message.get("name"), message.get("tool_call_id")])
    )
    content = _text(message.get("content")) or message.get("refusal") or ""
    calls = message.get("tool_calls") or ()
    if content or not calls:
        yield _part(header, content)
    for call in calls:
        function = call.get("function") or {}
        yield _part(
            f"assistant call {call.get('id')} {function.get('name')}",
            str(function.get("arguments", "")),
        )


def _anthropic(message: Mapping[str, Any]) -> Iterator[Part]:
    content = message["content"]
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        header = f"{message['role']} {block['type']}"
        match block["type"]:
            case "text":
                yield _part(message["role"], block["text"], block)
            case "thinking":
                yield _part(header, block["thinking"], block)
            case "tool_use":
                yield _part(
                    f"{header} {block['id']} {block['name']}", to_json(block["input"]), block
                )
            case "tool_result":
                yield _part(f"{header} {block['tool_use_id']}", _text(block.get("content")), block)
            case _:
                yield _part(header, to_json(_bare(block)), block)


def _text(content: Any) -> str:
    """The raw text of a content: a string, or a list of blocks, one after the other."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(
        block["text"] if block["type"] == "text" else to_json(_bare(block)) for block in content
    )


def _part(header: str, text: str, block: Mapping[str, Any] | None = None) -> Part:
    return Part(f"{header}\n{text}\n", _mark(block or {}))


def _mark(block: Mapping[str, Any]) -> bool | str:
    mark = block.get("cache_control")
    return mark.get("ttl") or True if mark else False


def _bare(block: Mapping[str, Any]) -> dict[str, Any]:
    return {
        key: value for key, value in block.items() if value is not None and key != "cache_control"
    }
