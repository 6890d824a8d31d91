"""Messages events put together: each block is opened, filled by deltas and closed, one after the
other.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .received import Received, StreamError, arguments_of, mended
from .reply import arguments_object
from .wire import UNPARSED

FIELDS = {"text_delta": "text", "thinking_delta": "thinking", "signature_delta": "signature"}
"""The field of a block that each kind of delta adds to; `input_json_delta` adds to the
arguments.
"""


def message(content: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The assistant message to send back, without null fields, and without blank text blocks, which
    the API refuses.
    """
    said = [block for block in content if block["type"] != "text" or block["text"].strip()]
    return {"role": "assistant", "content": [_in_order(block) for block in said]}


def _in_order(block: Mapping[str, Any]) -> dict[str, Any]:
    """A block's fields in the order in which the API's pages show them, so that the same block is
    the same bytes.
    """
    names = ["type", "id", "name", "input", "text", "thinking", "signature", *sorted(block)]
    return {name: block[name] for name in dict.fromkeys(names) if block.get(name) is not None}


def assemble(
    events: Iterable[Mapping[str, Any]],
    on_call: Callable[[str], None],
    on_text: Callable[[str], None],
) -> Received:
    """The reply that the events make, as plain dicts; see `streaming.assemble`.

    Arguments that are no JSON object (cut at the limit of tokens, or malformed) come back as
    `{wire.UNPARSED: the text}`.
    """
    blocks: list[_Block] = []
    stop, usage = None, {}
    for event in events:
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
    said = message([block.finished() for block in blocks])
    calls = [block for block in said["content"] if block["type"] == "tool_use"]
    ids = [block.get("id") for block in calls]
    if not all(ids) or len(set(ids)) < len(ids) or not all(block.get("name") for block in calls):
        raise StreamError(f"each call needs a name, and an id of its own: got the ids {ids}")
    if stop == "tool_use" and not ids:
        raise StreamError("the stop_reason is tool_use, but no call came")
    return Received(said, stop, usage or None)


def _known(usage: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (usage or {}).items() if value is not None}


@dataclass
class _Block:
    index: int | None
    start: dict[str, Any]
    pieces: dict[str, list[str]] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)
    closed: bool = False

    def add(self, delta: Mapping[str, Any]) -> None:
        kind = delta["type"]
        if kind == "input_json_delta" and "input" in self.start:
            self.arguments.append(delta["partial_json"])
        elif kind in FIELDS and FIELDS[kind] in self.start or kind == "signature_delta":
            self.pieces.setdefault(FIELDS[kind], []).append(delta[FIELDS[kind]])
        elif kind == "citations_delta":
            self.start["citations"] = [*(self.start.get("citations") or ()), delta["citation"]]
        elif kind in FIELDS or kind == "input_json_delta":
            raise StreamError(f"a {kind} came for a {self.start['type']} block")

    def finished(self) -> dict[str, Any]:
        block = dict(self.start)
        for name, pieces in self.pieces.items():
            block[name] = mended([block.get(name) or "", *pieces])
        text = arguments_of(self.arguments, block.get("id"))
        if text.strip():
            value = arguments_object(text)
            block["input"] = {UNPARSED: text} if value is None else value
        return block


def _open(blocks: Sequence[_Block], index: int | None) -> _Block:
    """The one open block that an event can mean, by its index or by being the only one."""
    fitting = [
        block for block in blocks if not block.closed and (index is None or block.index == index)
    ]
    if len(fitting) != 1:
        raise StreamError(
            f"a fragment for block {index} has {len(fitting)} open blocks that it can belong to"
        )
    return fitting[0]
