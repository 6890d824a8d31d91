"""Chat Completions on the wire: responses, stream chunks and errors."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..agent.api import tokens_of
from ..agent.openai_chat import OPENAI_CHAT
from .endpoint import Endpoint, Sent, Style, event_json
from .reply import Reply


class OpenAIChatEndpoint(Endpoint):
    api = OPENAI_CHAT
    path = "/chat/completions"
    id_prefix = "call_"
    stops = {
        "end": "stop", "calls": "tool_calls", "length": "length", "stop_sequence": "stop",
        "content_filter": "content_filter", "window": "length",
        "refusal": "stop",  # the text then stands in `refusal`, and `content` is null
        "pause": "stop",  # there is nothing like it here
    }  # fmt: skip

    def client(self, base: Mapping[str, Any], url: str) -> Any:
        import openai

        return openai.OpenAI(**{"base_url": f"{url}/v1", **base})

    def message(self, reply: Reply, ids: Sequence[str]) -> dict[str, Any]:
        """The assistant message of a reply, as an unstreamed response holds it."""
        refused = reply.stop == "refusal"
        content = None if refused or (reply.calls and not reply.text) else reply.text
        said = {"role": "assistant", "content": content, "refusal": reply.text if refused else None}
        if reply.calls:
            said["tool_calls"] = [
                {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
                for id, (name, arguments) in zip(ids, reply.calls, strict=False)
            ]
        return said

    def _finish_reason(self, sent: Sent) -> str:
        """Why the model stopped. A call that `tool_choice` forced by name ends with "stop", as
        OpenAI's guide says.
        """
        choice = sent.body.get("tool_choice")
        forced = isinstance(choice, Mapping) and choice.get("type") == "function"
        return "stop" if forced and sent.reply.stop == "calls" else self.stops[sent.reply.stop]

    def _thinking_tokens(self, reply: Reply) -> int:
        """Tokens of the reply's reasoning, which is billed as output and not shown."""
        thought = {"role": "assistant", "content": reply.thinking}
        return tokens_of(self.api.parts(thought)) if reply.thinking else 0

    def size(self, reply: Reply, ids: Sequence[str]) -> int:
        """Output tokens of a reply: what its message will weigh in the next request, and its
        reasoning.
        """
        return tokens_of(self.api.parts(self.message(reply, ids))) + self._thinking_tokens(reply)

    def usage(
        self, total: int, cached: int, written: int, written_1h: int, output: int, reply: Reply
    ) -> dict[str, Any]:
        """OpenAI's usage: `prompt_tokens` holds the cached tokens too, and writing to the cache is
        not charged.
        """
        return {
            "prompt_tokens": total,
            "completion_tokens": output,
            "total_tokens": total + output,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": self._thinking_tokens(reply)},
        }

    def response(self, sent: Sent) -> dict[str, Any]:
        """The body of an unstreamed response."""
        said = self.message(sent.reply, sent.ids)
        choice = {"index": 0, "message": said, "finish_reason": self._finish_reason(sent)}
        choice["logprobs"] = None
        return {**_head(sent, "chat.completion"), "choices": [choice], "usage": sent.usage}

    def events(self, sent: Sent, style: Style) -> Iterator[str]:
        """The server-sent events of a streamed response; usage comes last, and only if the request
        asks for it.
        """
        said, head = self.message(sent.reply, sent.ids), _head(sent, "chat.completion.chunk")

        def chunk(delta: Mapping[str, Any], finish: str | None = None) -> str:
            choice = {"index": 0, "delta": delta, "finish_reason": finish}
            return _event({**head, "choices": [choice]})

        if style.extras:  # Azure begins so, with the result of its content filter
            yield _event({**head, "choices": [], "prompt_filter_results": []})
        yield chunk({"role": "assistant", "content": "" if said["content"] is not None else None})
        for field in ("content", "refusal"):
            for piece in style.pieces(said[field] or ""):
                yield chunk({field: piece})
        for index, call in enumerate(said.get("tool_calls") or ()):
            for delta in _call_deltas(index, call["id"], call["function"], style):
                yield chunk({"tool_calls": [delta]})
        yield chunk({}, self._finish_reason(sent))
        if (sent.body.get("stream_options") or {}).get("include_usage"):
            yield _event({**head, "choices": [], "usage": sent.usage})
        elif style.extras:
            yield _event({**head, "choices": []})
        yield "data: [DONE]\n\n"

    def error(self, status: int, text: str, code: str | None = None) -> dict[str, Any]:
        """The body of an error response."""
        kind = "rate_limit_error" if status == 429 else "invalid_request_error"
        kind = kind if status < 500 else "server_error"
        return {"error": {"message": text, "type": kind, "param": None, "code": code}}

    def too_long(self, tokens: int, window: int) -> tuple[str, str]:
        """The message and the code with which OpenAI refuses a request larger than the model's
        window.
        """
        most = f"This model's maximum context length is {window} tokens"
        text = f"{most}, and your messages and tools take {tokens} tokens."
        return text, "context_length_exceeded"

    def tool_names(self, body: Mapping[str, Any]) -> set[str]:
        return {tool["function"]["name"] for tool in body.get("tools") or ()}

    def choice(self, body: Mapping[str, Any]) -> tuple[bool, set[str] | None]:
        """What `tool_choice` asks for: whether there must be a call, and which tools may be called
        (None: any).
        """
        chosen = body.get("tool_choice")
        match chosen.get("type") if isinstance(chosen, Mapping) else chosen:
            case "none":
                return False, set()
            case "required":
                return True, None
            case "function":
                return True, {chosen["function"]["name"]}
            case "allowed_tools":
                allowed = chosen["allowed_tools"]
                names = {tool["function"]["name"] for tool in allowed["tools"]}
                return allowed["mode"] == "required", names
        return False, None


def _head(sent: Sent, kind: str) -> dict[str, Any]:
    head = {"id": f"chatcmpl-{sent.number}", "object": kind, "created": 0}
    return {**head, "model": sent.body["model"]}


def _call_deltas(
    index: int, id: str, function: Mapping[str, str], style: Style
) -> Iterator[dict[str, Any]]:
    place = {"index": 0 if style.index == "zero" else index}
    begun = {"name": function["name"], "arguments": ""}
    first = {**place, "id": id, "type": "function", "function": begun}
    later = {} if style.index == "once" else dict(place)
    name = {}
    if style.later_id == "same":
        later["id"], name = id, {"name": function["name"]}
    elif style.later_id is not None:
        later["id"] = style.later_id
    pieces = [
        {**later, "function": {**name, "arguments": text}}
        for text in style.arguments(function["arguments"])
    ]
    yield from [*pieces, first] if style.id_last else [first, *pieces]


def _event(data: Mapping[str, Any]) -> str:
    return f"data: {event_json(data)}\n\n"
