"""Anthropic's Messages.

    run(ANTHROPIC, anthropic.Anthropic(), "What is 2 + 3?", [Tool(add)], model="claude-haiku-4-5")

Read `api.py` first: this file says how this API does each of the things named there. Its rules are
in `rules.py`.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ..tokens import to_json
from .api import (
    CUT,
    DECLINED,
    ODD,
    STOP_SEQUENCE,
    UNPARSED,
    Answer,
    Api,
    Call,
    Message,
    Part,
    Received,
    Request,
    Result,
    StreamError,
    Usage,
    Verdict,
    arguments_object,
    bare,
    count_in,
    get_in,
    joined_arguments,
    mended,
    part,
    plain,
    raw_text,
)
from .rules import anthropic_fault


class Anthropic(Api):
    name = provider = "anthropic"
    caching = "marks"
    choices = ("auto", "none", "required", "any")  # "required", as OpenAI calls it, is "any" here
    limit_names = ("max_tokens",)
    cut_stop = "max_tokens"
    # Claude's tokenizer is not public and finds more tokens than o200k_base, and Anthropic adds a
    # hidden system prompt of some hundred tokens when tools are given
    margin = (Decimal("1.5"), 1_000)

    def definition(self, tool):
        return {
            "name": tool.name, "description": tool.description, "input_schema": tool.schema()
        }  # fmt: skip

    def choice(self, choice: str | Mapping[str, Any], parallel: bool) -> Any:
        if not isinstance(choice, str):
            choice = dict(choice)
        elif choice in self.choices:
            choice = {"type": "any" if choice == "required" else choice}
        else:
            choice = {"type": "tool", "name": choice}
        one_by_one = not parallel and choice["type"] != "none"
        return {**choice, "disable_parallel_tool_use": True} if one_by_one else choice

    def unforced(self, choice: Any) -> Any:
        """ "auto", still one call at a time if it said so."""
        kept = {name: v for name, v in choice.items() if name == "disable_parallel_tool_use"}
        return dict(choice) if choice["type"] == "none" else {"type": "auto", **kept}

    def body(self, request: Request, messages: Sequence[Message]) -> dict[str, Any]:
        body = {"model": request.model, "messages": list(messages)}
        body |= {"system": request.system} if request.system else {}
        body |= {"tools": request.tools, "tool_choice": request.choice} if request.tools else {}
        return body | ({"stream": True} if request.stream else {})

    def send(self, client: Any, body: dict[str, Any]) -> Any:
        return client.messages.create(**body)

    def live_client(self, **options: Any) -> Any:
        """Needs `ANTHROPIC_API_KEY`."""
        if not os.environ.get("ANTHROPIC_API_KEY"):
            return None
        import anthropic

        return anthropic.Anthropic(**options)

    def _received(self, response: dict[str, Any]) -> Received:
        message = assistant_message(response["content"])
        return Received(message, response["stop_reason"], response.get("usage"))

    def assemble(
        self,
        chunks: Iterable[Any],
        on_call: Callable[[str], None] = lambda name: None,
        on_text: Callable[[str], None] = lambda piece: None,
    ) -> Received:
        """Arguments that are no JSON object (cut at the limit of tokens, or malformed) come back as
        `{api.UNPARSED: the text}`."""
        blocks: list[_Block] = []
        stop, usage = None, {}
        for event in map(plain, chunks):
            match event.get("type"):
                case "message_start":
                    usage |= _known(event["message"].get("usage"))
                case "content_block_start":
                    blocks.append(_Block(event.get("index"), dict(event["content_block"])))
                    if blocks[-1].start["type"] == "tool_use":
                        on_call(blocks[-1].start.get("name"))
                case "content_block_delta":
                    _open(blocks, event.get("index")).add(event["delta"])
                    if event["delta"]["type"] == "text_delta":
                        on_text(event["delta"]["text"])
                case "content_block_stop":
                    _open(blocks, event.get("index")).closed = True
                case "message_delta":
                    stop = event["delta"].get("stop_reason") or stop
                    usage |= _known(event.get("usage"))
                case "error":
                    raise StreamError(f"the server ended the stream: {event.get('error')}")
        if stop is None:
            raise StreamError("the stream ended before its stop_reason: the reply is incomplete")
        if any(not block.closed for block in blocks):
            raise StreamError("the stream ended inside a block: the reply is incomplete")
        said = assistant_message([block.finished() for block in blocks])
        calls = [block for block in said["content"] if block["type"] == "tool_use"]
        ids = [block.get("id") for block in calls]
        named = all(block.get("name") for block in calls)
        if not all(ids) or len(set(ids)) < len(ids) or not named:
            raise StreamError(f"each call needs a name, and an id of its own: got the ids {ids}")
        if stop == "tool_use" and not ids:
            raise StreamError("the stop_reason is tool_use, but no call came")
        return Received(said, stop, usage or None)

    def verdict(self, stop: str, message: Message) -> Verdict:
        calls = bool(self.calls(message))
        match stop:
            case "tool_use" | "end_turn":
                return Verdict(None, None if calls else "answer")
            case "pause_turn":  # tools on the server's side are not done: the message goes back
                return Verdict(ODD)
            case "max_tokens":  # `input` may look whole and is not: an error goes back
                return Verdict(CUT, None if calls else "length")
            case "model_context_window_exceeded":
                return Verdict(CUT, "context_window")
            case "refusal":
                return Verdict(DECLINED, "refusal")
            case "stop_sequence":
                return Verdict(STOP_SEQUENCE, "stop_sequence")
        return Verdict(ODD, "unknown")

    def usage(self, usage: Any) -> Usage:
        """`input_tokens` is only what was neither read from the cache nor written to it."""
        if usage is None:
            raise ValueError("the response has no usage")
        read = count_in(usage, "cache_read_input_tokens")
        write = count_in(usage, "cache_creation_input_tokens")
        hour = count_in(get_in(usage, "cache_creation"), "ephemeral_1h_input_tokens")
        return Usage(
            input=count_in(usage, "input_tokens", needed=True) + read + write,
            output=count_in(usage, "output_tokens", needed=True),
            cached_read=read,
            cache_write=write,
            cache_write_1h=hour,
        )

    def _fault(self, messages: Sequence[Any], issued: Mapping[str, Any]) -> str | None:
        return anthropic_fault(messages, issued)

    def calls(self, message: Message) -> list[Call]:
        if message["role"] != "assistant":
            return []
        uses = blocks(message, "tool_use")
        return [Call(block["id"], block["name"], block["input"]) for block in uses]

    def answered(self, message: Message) -> list[str]:
        if message["role"] != "user":
            return []
        return [block["tool_use_id"] for block in blocks(message, "tool_result")]

    def results(self, message: Message) -> list[Result]:
        if message["role"] != "user":
            return []
        found = [(block["tool_use_id"], block) for block in blocks(message, "tool_result")]
        return [
            Result(id, raw_text(block.get("content")), f"user tool_result {id}")
            for id, block in found
        ]

    def with_results(self, message: Message, texts: Mapping[str, str | None]) -> Message:
        if not texts or isinstance(message["content"], str):
            return message
        content = []
        for block in message["content"]:
            id = block.get("tool_use_id") if block["type"] == "tool_result" else None
            if id not in texts:
                content.append(block)
            elif texts[id] is not None:
                content.append({**block, "content": texts[id]})
        return {**message, "content": content}

    def answers(self, answers: Sequence[Answer]) -> list[dict[str, Any]]:
        """One user message with a `tool_result` block for each: all in it, nothing before them."""
        results = [
            {"type": "tool_result", "tool_use_id": answer.id, "content": answer.text}
            | ({"is_error": True} if answer.is_error else {})
            for answer in answers
        ]
        return [{"role": "user", "content": results}]

    def text(self, message: Message) -> str:
        return "".join(block["text"] for block in blocks(message, "text"))

    def is_question(self, message: Message) -> bool:
        results = len(blocks(message, "tool_result"))
        return message["role"] == "user" and results < max(len(blocks(message)), 1)

    def parts(self, message: Message) -> list[Part]:
        """A part a block."""
        return [_block_part(message["role"], block) for block in blocks(message)]


ANTHROPIC = Anthropic()


def blocks(message: Message, kind: str | None = None) -> list[dict[str, Any]]:
    """The content blocks of a message, of one `kind` if given; a string counts as a text block."""
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    return [block for block in content or () if kind is None or block["type"] == kind]


def _block_part(role: str, block: Mapping[str, Any]) -> Part:
    header = f"{role} {block['type']}"
    match block["type"]:
        case "text":
            return part(role, block["text"], block)
        case "thinking":
            return part(header, block["thinking"], block)
        case "tool_use":
            return part(f"{header} {block['id']} {block['name']}", to_json(block["input"]), block)
        case "tool_result":
            return part(f"{header} {block['tool_use_id']}", raw_text(block.get("content")), block)
    return part(header, to_json(bare(block)), block)


def assistant_message(content: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The assistant message to send back, without null fields, and without blank text blocks, which
    the API refuses."""
    said = [block for block in content if block["type"] != "text" or block["text"].strip()]
    return {"role": "assistant", "content": [_in_order(block) for block in said]}


def _in_order(block: Mapping[str, Any]) -> dict[str, Any]:
    """A block's fields in the order in which the API's pages show them, so that the same block is
    the same bytes."""
    names = ["type", "id", "name", "input", "text", "thinking", "signature", *sorted(block)]
    return {name: block[name] for name in dict.fromkeys(names) if block.get(name) is not None}


def _known(usage: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (usage or {}).items() if value is not None}


# The field of a block that each kind of delta adds to; `input_json_delta` adds to the arguments.
_FIELDS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}


@dataclass
class _Block:
    """A block of a stream: opened, filled by deltas and closed, one after the other."""

    index: int | None
    start: dict[str, Any]
    pieces: dict[str, list[str]] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)
    closed: bool = False

    def add(self, delta: Mapping[str, Any]) -> None:
        kind = delta["type"]
        if kind == "input_json_delta" and "input" in self.start:
            self.arguments.append(delta["partial_json"])
        elif kind in _FIELDS and _FIELDS[kind] in self.start or kind == "signature_delta":
            self.pieces.setdefault(_FIELDS[kind], []).append(delta[_FIELDS[kind]])
        elif kind == "citations_delta":
            self.start["citations"] = [*(self.start.get("citations") or ()), delta["citation"]]
        elif kind in _FIELDS or kind == "input_json_delta":
            raise StreamError(f"a {kind} came for a {self.start['type']} block")

    def finished(self) -> dict[str, Any]:
        block = dict(self.start)
        for name, pieces in self.pieces.items():
            block[name] = mended([block.get(name) or "", *pieces])
        text = joined_arguments(self.arguments, block.get("id"))
        if text.strip():
            value = arguments_object(text)
            block["input"] = {UNPARSED: text} if value is None else value
        return block


def _open(blocks: Sequence[_Block], index: int | None) -> _Block:
    """The one open block that an event can mean, by its index or by being the only one."""
    fits = [block for block in blocks if not block.closed and index in (None, block.index)]
    if len(fits) != 1:
        which = f"block {index} has {len(fits)} open blocks"
        raise StreamError(f"a fragment for {which} that it can belong to")
    return fits[0]
