"""Messages on the wire: responses, stream events and errors."""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..agent.anthropic import ANTHROPIC
from ..agent.api import arguments_object, part, tokens_of
from .endpoint import Endpoint, Sent, Style, event_json
from .reply import Reply

CUT = ("length", "window")
"""The stops of a `Reply` after which its last call may be incomplete."""

MOST_BREAKPOINTS = 4
"""Cache breakpoints that one request may set (Anthropic, prompt caching)."""


class AnthropicEndpoint(Endpoint):
    api = ANTHROPIC
    path = "/messages"
    id_prefix = "toolu_"
    stops = {
        "end": "end_turn", "calls": "tool_use", "length": "max_tokens",
        "stop_sequence": "stop_sequence", "content_filter": "refusal", "refusal": "refusal",
        "pause": "pause_turn", "window": "model_context_window_exceeded",
    }  # fmt: skip

    def client(self, base: Mapping[str, Any], url: str) -> Any:
        import anthropic

        return anthropic.Anthropic(**{"base_url": url, **base})

    def message(self, reply: Reply, ids: Sequence[str]) -> dict[str, Any]:
        """The assistant message of a reply, as an unstreamed response holds it.

        `input` is always an object there, so arguments that were cut show as `{}`, and only the
        stop reason tells that something is missing. In a stream they come as far as they were made.
        """
        content: list[dict[str, Any]] = []
        if reply.thinking:
            signature = hashlib.sha256(reply.thinking.encode("utf-8", "surrogatepass")).hexdigest()
            content.append({"type": "thinking", "thinking": reply.thinking, "signature": signature})
        if reply.text:
            content.append({"type": "text", "text": reply.text})
        for id, (name, arguments) in zip(ids, reply.calls, strict=False):
            use = {"type": "tool_use", "id": id, "name": name}
            content.append({**use, "input": arguments_object(arguments) or {}})
        return {"role": "assistant", "content": content}

    def size(self, reply: Reply, ids: Sequence[str]) -> int:
        """Output tokens of a reply: what its message will weigh in the next request, arguments as
        far as they came.
        """
        blocks = self.message(reply, ids)["content"]
        said = [block for block in blocks if block["type"] != "tool_use"]
        parts = self.api.parts({"role": "assistant", "content": said})
        for id, (name, arguments) in zip(ids, reply.calls, strict=False):
            parts.append(part(f"assistant tool_use {id} {name}", arguments))
        return tokens_of(parts)

    def usage(
        self, total: int, cached: int, written: int, written_1h: int, output: int, reply: Reply
    ) -> dict[str, Any]:
        """Anthropic's usage: `input_tokens` is only what was neither read from the cache nor
        written to it.
        """
        minutes = {"ephemeral_5m_input_tokens": written - written_1h}
        return {
            "input_tokens": total - cached - written,
            "cache_creation_input_tokens": written,
            "cache_creation": {**minutes, "ephemeral_1h_input_tokens": written_1h},
            "cache_read_input_tokens": cached,
            "output_tokens": output,
        }

    def response(self, sent: Sent) -> dict[str, Any]:
        """The body of an unstreamed response.

        Raises `ValueError` for a policy's arguments that are no JSON object although nothing was
        cut: only a stream can carry those.
        """
        for name, arguments in sent.reply.calls:
            if sent.reply.stop not in CUT and arguments_object(arguments) is None:
                why = "are no JSON object, and an unstreamed input is always one"
                raise ValueError(f"the arguments for {name} {why}")
        content = self.message(sent.reply, sent.ids)["content"]
        return {**_head(sent), "content": content, **self._stop(sent), "usage": sent.usage}

    def events(self, sent: Sent, style: Style) -> Iterator[str]:
        """The server-sent events of a streamed response: output tokens are told at its end."""
        started = {**_head(sent), "content": [], "stop_reason": None, "stop_sequence": None}
        started["usage"] = {**sent.usage, "output_tokens": 1}
        yield _event("message_start", message=started)
        if style.extras:
            yield _event("ping") + _event("weather", sky="blue")
        arguments = iter(text for _, text in sent.reply.calls)
        for number, block in enumerate(self.message(sent.reply, sent.ids)["content"]):
            index = 0 if style.index == "zero" else number
            yield from _block_events(index, block, arguments, style)
        used = {"output_tokens": sent.usage["output_tokens"]}
        yield _event("message_delta", delta=self._stop(sent), usage=used)
        yield _event("message_stop")

    def error(self, status: int, text: str, code: str | None = None) -> dict[str, Any]:
        """The body of an error response; Anthropic's errors have a type and no further code."""
        kinds = {400: "invalid_request", 404: "not_found", 429: "rate_limit", 529: "overloaded"}
        kind = f"{kinds.get(status, 'api')}_error"
        return {"type": "error", "error": {"type": kind, "message": text}}

    def too_long(self, tokens: int, window: int) -> tuple[str, None]:
        """The message with which Anthropic refuses a request larger than the model's window."""
        return f"prompt is too long: {tokens} tokens > {window} maximum", None

    def tool_names(self, body: Mapping[str, Any]) -> set[str]:
        return {tool["name"] for tool in body.get("tools") or ()}

    def choice(self, body: Mapping[str, Any]) -> tuple[bool, set[str] | None]:
        """What `tool_choice` asks for: whether there must be a call, and which tools may be called
        (None: any).
        """
        chosen = body.get("tool_choice") or {}
        match chosen.get("type"):
            case "none":
                return False, set()
            case "any":
                return True, None
            case "tool":
                return True, {chosen["name"]}
        return False, None

    def odd_request(self, body: Mapping[str, Any]) -> str | None:
        """Odd cache breakpoints too."""
        if odd := super().odd_request(body):
            return odd
        marks = [part.breakpoint for part in self.api.request_parts(body) if part.breakpoint]
        if len(marks) > MOST_BREAKPOINTS:
            most = f"at most {MOST_BREAKPOINTS} blocks"
            return f"cache_control: {most} may carry it, got {len(marks)}"
        if sorted(marks, key=lambda mark: mark != "1h") != marks:
            return "cache_control: a ttl of 1h must not come after one of 5m"
        return None

    def issued(self, reply: Reply, ids: Sequence[str]) -> dict[str, Any]:
        """The thinking blocks."""
        content = self.message(reply, ids)["content"]
        return dict.fromkeys(ids, [block for block in content if block["type"] == "thinking"])

    def _stop(self, sent: Sent) -> dict[str, Any]:
        sequences = sent.body.get("stop_sequences") or [None]
        ended = sent.reply.stop == "stop_sequence"
        sequence = sequences[0] if ended else None
        return {"stop_reason": self.stops[sent.reply.stop], "stop_sequence": sequence}


def _head(sent: Sent) -> dict[str, Any]:
    head = {"id": f"msg_{sent.number}", "type": "message", "role": "assistant"}
    return {**head, "model": sent.body["model"]}


def _block_events(
    index: int, block: Mapping[str, Any], arguments: Iterator[str], style: Style
) -> Iterator[str]:
    kind = block["type"]
    empty = {"text": {"text": ""}, "thinking": {"thinking": "", "signature": ""}}
    start = block | empty.get(kind, {"input": {}})
    yield _event("content_block_start", index=index, content_block=start)
    place = {} if style.index == "once" else {"index": index}
    if kind == "tool_use":
        deltas = [{"partial_json": piece} for piece in ["", *style.arguments(next(arguments))]]
        kind = "input_json"
    else:
        deltas = [{kind: piece} for piece in style.pieces(block[kind])]
    for delta in deltas:
        yield _event("content_block_delta", **place, delta={"type": f"{kind}_delta", **delta})
    if kind == "thinking":
        signed = {"type": "signature_delta", "signature": block["signature"]}
        yield _event("content_block_delta", **place, delta=signed)
    yield _event("content_block_stop", **place)


def _event(kind: str, **data: Any) -> str:
    return f"event: {kind}\ndata: {event_json({'type': kind, **data})}\n\n"
