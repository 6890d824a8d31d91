"""OpenAI's Chat Completions, which every compatible server speaks too (`base_url`).

    run(OPENAI_CHAT, openai.OpenAI(), "What is 2 + 3?", [Tool(add)], model="gpt-5.4-mini")

Read `api.py` first: this file says how this API does each of the things named there. Its rules are
in `rules.py`.
"""

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from ..tokens import to_json
from .api import (
    CUT,
    DECLINED,
    FILTERED,
    ODD,
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
    count_in,
    get_in,
    joined_arguments,
    mended,
    part,
    plain,
    raw_text,
)
from .rules import openai_fault


class OpenAIChat(Api):
    name = provider = "openai"
    caching = "prefix"
    choices = ("auto", "none", "required")
    # servers that only speak OpenAI's API may know the old name alone: a caller may use it
    limit_names = ("max_completion_tokens", "max_tokens")
    one_by_one = True
    cut_stop = "length"
    margin = (Decimal("1.1"), 100)

    def definition(self, tool):
        schema = {"name": tool.name, "description": tool.description, "parameters": tool.schema()}
        return {"type": "function", "function": schema}

    def choice(self, choice: str | Mapping[str, Any], parallel: bool) -> Any:
        if not isinstance(choice, str):
            return dict(choice)
        named = {"type": "function", "function": {"name": choice}}
        return choice if choice in self.choices else named

    def unforced(self, choice: Any) -> Any:
        """ "auto", within the allowed tools if it named some."""
        if isinstance(choice, str):
            return "none" if choice == "none" else "auto"
        if choice.get("type") == "allowed_tools":
            return {**choice, "allowed_tools": {**choice["allowed_tools"], "mode": "auto"}}
        return "auto"

    def body(self, request: Request, messages: Sequence[Message]) -> dict[str, Any]:
        system = [{"role": "system", "content": request.system}] if request.system else []
        body = {"model": request.model, "messages": [*system, *messages]}
        if request.tools:
            body |= {"tools": request.tools, "tool_choice": request.choice}
            body |= {} if request.parallel else {"parallel_tool_calls": False}
        if request.stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        return body

    def send(self, client: Any, body: dict[str, Any]) -> Any:
        return client.chat.completions.create(**body)

    def live_client(self, **options: Any) -> Any:
        """Needs `OPENAI_API_KEY`, or `OPENAI_BASE_URL` of any server that speaks this API (a local
        one takes any key)."""
        if not (os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL")):
            return None
        import openai

        return openai.OpenAI(**{"api_key": os.environ.get("OPENAI_API_KEY") or "none", **options})

    def _received(self, response: dict[str, Any]) -> Received:
        choice = response["choices"][0]
        said = choice["message"]
        calls = [(call["id"], call["function"]) for call in said.get("tool_calls") or ()]
        calls = [(id, function["name"], function["arguments"] or "") for id, function in calls]
        message = assistant_message(said.get("content"), said.get("refusal"), calls)
        return Received(message, choice["finish_reason"], response.get("usage"))

    def assemble(
        self,
        chunks: Iterable[Any],
        on_call: Callable[[str], None] = lambda name: None,
        on_text: Callable[[str], None] = lambda piece: None,
    ) -> Received:
        calls = _Calls(on_call)
        texts: dict[str, list[str]] = {"content": [], "refusal": []}
        stop = usage = None
        for chunk in map(plain, chunks):
            usage = chunk.get("usage") or usage
            for choice in chunk.get("choices") or ():  # none in a chunk that carries only usage
                if choice.get("index"):
                    raise StreamError("the stream holds more than one choice: ask for one (n=1)")
                delta = choice.get("delta") or {}
                for name, pieces in texts.items():
                    if piece := delta.get(name):
                        pieces.append(piece)
                        on_text(piece)
                for fragment in delta.get("tool_calls") or ():
                    calls.add(fragment)
                stop = choice.get("finish_reason") or stop
        if stop is None:
            raise StreamError("the stream ended before its finish_reason: the reply is incomplete")
        if stop == "tool_calls" and not calls.made:
            raise StreamError("the finish_reason is tool_calls, but no call came")
        content, refusal = map(mended, texts.values())
        message = assistant_message(content, refusal, calls.finished(cut=stop == "length"))
        return Received(message, stop, usage)

    def verdict(self, stop: str, message: Message) -> Verdict:
        calls, refused = bool(message.get("tool_calls")), bool(message.get("refusal"))
        match stop:
            case "tool_calls" | "stop" if refused:
                return Verdict(DECLINED, "refusal")
            case "tool_calls" | "stop":  # "stop": also a call that tool_choice forced by name
                return Verdict(None, None if calls else "answer")
            case "length":  # the last arguments are half there: an error goes back
                return Verdict(CUT, None if calls else "length")
            case "content_filter":
                return Verdict(FILTERED, "content_filter")
        return Verdict(ODD, "unknown")

    def usage(self, usage: Any) -> Usage:
        """`prompt_tokens` holds the cached tokens too."""
        if usage is None:
            raise ValueError(
                "the response has no usage: a stream of OpenAI's needs stream_options include_usage"
            )
        details = get_in(usage, "prompt_tokens_details")
        return Usage(
            input=count_in(usage, "prompt_tokens", needed=True),
            output=count_in(usage, "completion_tokens", needed=True),
            cached_read=count_in(details, "cached_tokens"),
            cache_write=count_in(details, "cache_write_tokens"),
        )

    def _fault(self, messages: Sequence[Any], issued: Mapping[str, Any]) -> str | None:
        return openai_fault(messages)

    def calls(self, message: Message) -> list[Call]:
        if message["role"] != "assistant":
            return []
        calls = [(call["id"], call["function"]) for call in message.get("tool_calls") or ()]
        return [Call(id, function["name"], function["arguments"]) for id, function in calls]

    def answered(self, message: Message) -> list[str]:
        return [message["tool_call_id"]] if message["role"] == "tool" else []

    def results(self, message: Message) -> list[Result]:
        if message["role"] != "tool":
            return []
        return [Result(message["tool_call_id"], raw_text(message.get("content")), _header(message))]

    def with_results(self, message: Message, texts: Mapping[str, str | None]) -> Message:
        id = message.get("tool_call_id")
        return {**message, "content": texts[id]} if texts.get(id) is not None else message

    def answers(self, answers: Sequence[Answer]) -> list[dict[str, Any]]:
        """A `tool` message for each. There is no mark for an error here: the text says it."""
        return [
            {"role": "tool", "tool_call_id": answer.id, "content": answer.text}
            for answer in answers
        ]

    def text(self, message: Message) -> str:
        return message.get("content") or message.get("refusal") or ""

    def is_question(self, message: Message) -> bool:
        return message["role"] == "user"

    def parts(self, message: Message) -> list[Part]:
        content = raw_text(message.get("content")) or message.get("refusal") or ""
        calls = message.get("tool_calls") or ()
        found = [part(_header(message), content)] if content or not calls else []
        for call in calls:
            function = call.get("function") or {}
            header = f"assistant call {call.get('id')} {function.get('name')}"
            found.append(part(header, str(function.get("arguments", ""))))
        return found


OPENAI_CHAT = OpenAIChat()


def _header(message: Message) -> str:
    words = (message["role"], message.get("name"), message.get("tool_call_id"))
    return " ".join(filter(None, words))


def assistant_message(
    content: str | None, refusal: str | None, calls: Sequence[tuple[str, str, str]]
) -> dict[str, Any]:
    """The assistant message to send back, with (id, name, arguments) for each call; null fields are
    left out.

    Empty arguments become `{}`, since so a call without arguments streams; arguments that are no
    JSON are wrapped as `{api.UNPARSED: the text}`.
    """
    said = {"role": "assistant", "content": content or (None if calls or refusal else "")}
    if refusal:
        said["refusal"] = refusal
    if calls:
        said["tool_calls"] = [
            {"id": id, "type": "function", "function": {"name": name, "arguments": _readable(text)}}
            for id, name, text in calls
        ]
    return said


def _readable(arguments: str) -> str:
    if not arguments.strip():
        return "{}"
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return to_json({UNPARSED: arguments})
    return arguments


@dataclass
class _Made:
    index: int | None
    id: str | None = None
    name: str | None = None
    arguments: list[str] = field(default_factory=list)
    shared: bool = False  # its index is another call's too

    def complete(self) -> bool:
        """Whether the arguments are a whole object, so that nothing more belongs to this call."""
        text = "".join(self.arguments)
        return text.rstrip().endswith("}") and arguments_object(text) is not None


class _Calls:
    """The calls of a stream, put together from fragments.

    Each fragment of a call should carry the call's `index`, and the first one its id and name.
    Servers that speak this API differ: arguments before the id, an id of "" or the whole id on
    later fragments, index 0 for every call, no index at all on a continuation. What decides, in
    this order: the id, the index, and being the only call that it can belong to.
    """

    def __init__(self, on_call: Callable[[str], None]):
        self.made: list[_Made] = []
        self._on_call = on_call

    def add(self, fragment: Mapping[str, Any]) -> None:
        """Gives a fragment to the call that it belongs to, a new one if need be."""
        function = fragment.get("function") or {}
        text = function.get("arguments") or ""
        if not isinstance(text, str):
            raise StreamError(f"arguments came as {type(text).__name__}: they are JSON text")
        call = self._place(fragment.get("id") or None, fragment.get("index"), text)
        call.arguments.append(text)
        name = function.get("name")
        if name and call.name is None:
            call.name = name
            self._on_call(name)
        elif name and name != call.name:
            raise StreamError(f"one call has two names, {call.name} and {name}")

    def _place(self, id: str | None, index: int | None, text: str) -> _Made:
        here = [call for call in self.made if index is None or call.index == index]
        if id is None:
            if index is None and not here:
                raise StreamError("arguments came without an index before any call")
            several = text and len(here) > 1
            waiting = [call for call in here if not call.complete()] if several else []
            if len(waiting) > 1:
                one, other = waiting[0].id, waiting[1].id
                raise StreamError(f"arguments without an id may belong to {one} or to {other}")
            return [*here, *waiting][-1] if here else self._new(None, index)
        known = [call for call in self.made if call.id == id]
        if known and index is not None and known[0].index is not None and known[0].index != index:
            raise StreamError(f"two calls have the id {id}")
        if known:
            return known[0]
        nameless = [call for call in here if call.id is None]
        if nameless:  # its arguments came first
            if len(here) > 1 or index is None:
                other = f"{id} or of another call"
                raise StreamError(f"arguments came before their id, and may be those of {other}")
            nameless[0].id = id
            return nameless[0]
        call = self._new(id, index)
        if index is not None and here:
            for other in [*here, call]:
                other.shared = True
        return call

    def _new(self, id: str | None, index: int | None) -> _Made:
        self.made.append(_Made(index, id))
        return self.made[-1]

    def finished(self, cut: bool) -> list[tuple[str, str, str]]:
        """(id, name, arguments) of each call, in order; the last may be incomplete if the reply was
        `cut`."""
        done = []
        for call in self.made:
            if call.id is None or call.name is None:
                missing = "id" if call.id is None else "name"
                raise StreamError(f"call {len(done)} never got its {missing}")
            text = joined_arguments(call.arguments, call.id)
            if call.shared and not call.complete() and not (cut and call is self.made[-1]):
                raise StreamError(
                    f"the arguments of {call.id} may have gone to another call of the same index"
                )
            done.append((call.id, call.name, text))
        return done
