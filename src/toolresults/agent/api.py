"""What an API is: the calls, answers and replies that pass through it, and what is its own way.

A loop, a history and a bill are the same whoever serves the model. What differs is an `Api`, chosen
once and handed on: `openai_chat.OPENAI_CHAT` and `anthropic.ANTHROPIC`. Nothing else asks for a
vendor's name. Messages are plain dicts, as they go over the wire.

The text that a request is counted over is defined here and in each API's `parts`. No vendor
publishes the text that a request becomes inside its model. This one stands in for it: a header line
and the raw text of each tool definition, system prompt and message, in the order in which providers
lay a prompt out. Contents are not escaped as in the request's JSON, since a model does not read
them so: a tool result weighs here what `count_tokens` says of its text, and a line or two of
header. `null` fields and `cache_control` marks weigh nothing. Counted in o200k_base; for Claude,
whose tokenizer is not public, that is an estimate. An image weighs as its JSON text. Each part
begins with a letter and ends with a line break, where o200k_base always parts tokens: the parts'
counts add up to the count of the whole text.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from ..tokens import count_many, count_tokens, repair, to_json

Message = Mapping[str, Any]

UNPARSED = "INVALID_JSON"
"""Sole key of an object that stands for arguments which are no JSON object, its value their text.

Anthropic's `input` takes only objects; its page on fine-grained tool streaming advises this
wrapping. OpenAI takes broken arguments back, but servers that parse them (vLLM does) refuse every
request that follows. No tool has a parameter of this name, so a call that is run by accident is
refused, which one with `{}` might not be.
"""

# Why a call is not run: what the model is told.
CUT = (
    "the reply was cut off at the limit of tokens, so the arguments may be incomplete. "
    "Send shorter arguments."
)
FILTERED = "the reply lost something to a filter, so the arguments may be incomplete."
DECLINED = "the reply ended in a refusal."
STOP_SEQUENCE = "the reply ended at a stop sequence, so the arguments may be incomplete."
ODD = "the reply stopped for a reason that does not ask for calls."


class StreamError(Exception):
    """A reply that cannot be put together without guessing, or that ended too early. Ask again; run
    nothing."""


@dataclass(frozen=True)
class Call:
    """A tool call that a model made: `arguments` is JSON text or an object, as the API sends it."""

    id: str
    name: str
    arguments: str | dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """What goes back to the model for one call, and how the call went.

    `ms` is how long the tool ran, in milliseconds. `status` is "ok", "error" (the tool's own error
    result, or an exception), "timeout", "unknown_tool", "bad_json" (arguments that never parsed),
    "repeated" (failed too often before), "not_run" (the model's reply was cut off or stopped) or
    "saved" (read back from a transcript).
    """

    id: str
    name: str
    text: str
    is_error: bool
    ms: float = 0.0
    status: str = "saved"

    @cached_property
    def tokens(self) -> int:
        """Exact tokens of `text` (o200k_base)."""
        return count_tokens(self.text)


class Received(NamedTuple):
    """A reply: the message for the history, why the model stopped, the vendor's own usage.

    `usage` is None if the server sent none; OpenAI's streams send it only with
    `stream_options={"include_usage": True}`. An Anthropic message may have no content at all: keep
    that one out of the history.
    """

    message: dict[str, Any]
    stop: str
    usage: dict[str, Any] | None


class Verdict(NamedTuple):
    """What a stop reason means: why the reply's calls must not be run (None: run them), and how the
    run ends, a key of `loop.STOPS` (None: it goes on)."""

    refuse: str | None = None
    end: str | None = None


class Part(NamedTuple):
    """One piece of a request's text.

    `breakpoint`: whether a mark of Anthropic's prompt cache stands at its end: its `ttl` ("5m",
    "1h") if it names one, else True; False for none.
    """

    text: str
    breakpoint: bool | str = False


class Result(NamedTuple):
    """A tool result in a message: the call that it answers, its text, the header of its part."""

    id: str
    text: str
    header: str


@dataclass(frozen=True)
class Usage:
    """Tokens of one model call. `cached_read` and `cache_write` are parts of `input`,
    `cache_write_1h` of that. Raises `ValueError` for parts that are larger than their whole.
    """

    input: int
    output: int
    cached_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0

    def __post_init__(self):
        if (
            self.cached_read + self.cache_write > self.input
            or self.cache_write_1h > self.cache_write
        ):
            raise ValueError(f"this usage has parts larger than their whole: {self}")


@dataclass(frozen=True)
class Request:
    """What each request of a run has besides its messages; `choice` as `Api.choice` gives it."""

    model: str
    system: Any = None
    tools: Sequence[dict[str, Any]] = ()
    choice: Any = None
    parallel: bool = True
    stream: bool = False


class AnyTool(Protocol):
    """What a loop needs of a tool; `toolresults.tools.Tool` has it."""

    name: str
    description: str

    def schema(self) -> dict[str, Any]: ...

    def call(self, arguments: Mapping[str, object] | str) -> Any: ...


class Api(ABC):
    """One API. It holds no state: there is one object of each, shared by all."""

    name: str
    """Its name in tables, logs and transcripts."""
    provider: str
    """Whose price list holds its models' prices, in genai-prices' words."""
    caching: str
    """How its vendor caches prompts: "prefix" or "marks" (see `cache.py`)."""
    choices: tuple[str, ...]
    """What `tool_choice` may say besides a tool's name."""
    limit_names: tuple[str, ...]
    """The request's parameters that limit output tokens, the one to use first."""
    one_by_one = False
    """Whether each answer is a message of its own."""
    cut_stop: str
    """The stop reason of a reply that was cut at the limit of output tokens."""
    margin: tuple[Decimal, int]
    """Our count of a request times the first, plus the second, is taken for the most that the
    vendor may count: an assumption, on the safe side (see `bill.SpendingLimit`)."""

    # What is sent

    @abstractmethod
    def definition(self, tool: AnyTool) -> dict[str, Any]:
        """A tool's definition, as a request holds it."""

    @abstractmethod
    def choice(self, choice: str | Mapping[str, Any], parallel: bool) -> Any:
        """One of `choices`, a tool's name, or the API's own form, as a request holds it."""

    @abstractmethod
    def unforced(self, choice: Any) -> Any:
        """What a choice becomes once a forced call was made: the model may answer."""

    @abstractmethod
    def body(self, request: Request, messages: Sequence[Message]) -> dict[str, Any]:
        """The body of a request, but for its limit of output tokens and its options."""

    @abstractmethod
    def send(self, client: Any, body: dict[str, Any]) -> Any:
        """The SDK's call: a response, or with `stream` in the body a stream to be closed."""

    @abstractmethod
    def live_client(self, **options: Any) -> Any:
        """A real client for a real model, or None if the environment has no access to one.

        `options` go to the SDK's constructor.
        """

    # What comes back

    @abstractmethod
    def assemble(
        self,
        chunks: Iterable[Any],
        on_call: Callable[[str], None] = lambda name: None,
        on_text: Callable[[str], None] = lambda piece: None,
    ) -> Received:
        """The reply that a stream of chunks or events makes, the SDK's objects or plain dicts.

        The SDKs' own helpers guess where a stream is odd: one merges two calls that share an index,
        another makes a plausible input of JSON that was cut. Here a fragment either has one place
        where it can belong, or the whole reply is refused; a call is never left with `{}` because
        its arguments went elsewhere. Read the stop reason before anything is run: after
        `cut_stop` the last call may be incomplete.

        `on_call(name)` is called once for each tool call, as soon as its name is known, and
        `on_text(piece)` for each piece of text as it arrives (a piece may end with half an emoji).
        Raises `StreamError`; what the SDK raises for a lost connection or an error in the stream
        passes through.
        """

    def received(self, response: Any) -> Received:
        """An unstreamed response in the same form, with the message that its stream would have
        made. Raises `StreamError` for a response that is not in the API's form."""
        try:
            return self._received(plain(response))
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            why = f"{type(error).__name__}: {error}"
            raise StreamError(f"the response is not in the API's form ({why}): ask again") from None

    @abstractmethod
    def _received(self, response: dict[str, Any]) -> Received: ...

    @abstractmethod
    def verdict(self, stop: str, message: Message) -> Verdict:
        """What the stop reason of a reply means; read before anything is run."""

    @abstractmethod
    def usage(self, usage: Any) -> Usage:
        """A `Usage` from the vendor's own: the SDK's object, or its JSON as a dict.

        Raises `ValueError` without a usage, for a number that is missing or no count, and for parts
        that are larger than their whole.
        """

    # What stands in a message

    def fault(
        self, messages: Sequence[Message], issued: Mapping[str, Any] | None = None
    ) -> str | None:
        """The first of the API's rules that `messages` break, naming the id at fault, or None.

        `issued` is what the model itself sent: for the id of each call, the thinking blocks of its
        message. With it, thinking that was changed, dropped or added in the turn in progress is a
        fault too, where the API binds it.
        """
        if not isinstance(messages, list | tuple) or not messages:
            return "messages: at least one message is needed"
        return self._fault(messages, issued or {})

    @abstractmethod
    def _fault(self, messages: Sequence[Any], issued: Mapping[str, Any]) -> str | None: ...

    @abstractmethod
    def calls(self, message: Message) -> list[Call]:
        """The tool calls that a message makes, in order: none unless it is an assistant's."""

    @abstractmethod
    def answered(self, message: Message) -> list[str]:
        """The ids of the calls that a message answers, in order, whatever the results hold."""

    @abstractmethod
    def results(self, message: Message) -> list[Result]:
        """The tool results that a message holds, in order."""

    @abstractmethod
    def with_results(self, message: Message, texts: Mapping[str, str | None]) -> Message:
        """The message with other texts for the results of some calls; None leaves one out."""

    @abstractmethod
    def answers(self, answers: Sequence[Answer]) -> list[dict[str, Any]]:
        """The messages that answer the calls of one turn."""

    @abstractmethod
    def text(self, message: Message) -> str:
        """What an assistant message says."""

    @abstractmethod
    def is_question(self, message: Message) -> bool:
        """Whether a message is a user's own: not one that only carries tool results."""

    @abstractmethod
    def parts(self, message: Message) -> list[Part]:
        """The parts of one message, for counting."""

    # The same for all

    def turns(self, messages: Sequence[Message]) -> list[slice]:
        """Where each turn stands: one assistant message, with the messages that answer its calls.

        What lies between turns (system prompts, questions, anything else) stands in none. On
        Anthropic, text that follows the results in their message belongs to the turn. The messages
        are ones that the API accepts.
        """
        found = []
        for start, message in enumerate(messages):
            if message["role"] != "assistant":
                continue
            end, open_calls = start + 1, {call.id for call in self.calls(message)}
            while open_calls and end < len(messages) and (given := self.answered(messages[end])):
                open_calls -= set(given)
                end += 1
            found.append(slice(start, end))
        return found

    def request_parts(self, body: Mapping[str, Any]) -> list[Part]:
        """The parts of a request: tool definitions, the system prompt, then the messages."""
        parts = [part("tools", to_json(bare(tool)), tool) for tool in body.get("tools") or ()]
        if body.get("system"):
            parts += self.parts({"role": "system", "content": body["system"]})
        for message in body.get("messages") or ():
            parts += self.parts(message)
        if body.get("cache_control") and parts and not parts[-1].breakpoint:
            parts[-1] = Part(parts[-1].text, part("", "", body).breakpoint)  # automatic caching
        return parts

    def request_tokens(self, body: Mapping[str, Any]) -> int:
        """Tokens of a request."""
        return tokens_of(self.request_parts(body))

    def sizes(self, messages: Sequence[Message]) -> list[int]:
        """Tokens of each message."""
        texts = [[part.text for part in self.parts(message)] for message in messages]
        counts = iter(count_many([text for parts in texts for text in parts]))
        return [sum(next(counts) for _ in parts) for parts in texts]

    def most_output(self, body: Mapping[str, Any]) -> int | None:
        """The most output tokens that a request lets a reply have, None if it sets no limit."""
        return max(body.get(name) or 0 for name in self.limit_names) or None


def tokens_of(parts: Iterable[Part]) -> int:
    """Tokens of some parts together (o200k_base)."""
    return sum(count_many(part.text for part in parts))


def part(header: str, text: str, block: Mapping[str, Any] | None = None) -> Part:
    """A part, with the mark that its block carries."""
    mark = (block or {}).get("cache_control")
    return Part(f"{header}\n{text}\n", (mark.get("ttl") or True) if mark else False)


def bare(block: Mapping[str, Any]) -> dict[str, Any]:
    """A block without what weighs nothing."""
    return {key: v for key, v in block.items() if v is not None and key != "cache_control"}


def raw_text(content: Any) -> str:
    """The raw text of a content: a string, or a list of blocks, one after the other."""
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(
        block["text"] if block["type"] == "text" else to_json(bare(block)) for block in content
    )


def plain(value: Any) -> dict[str, Any]:
    """An SDK's object as the dict that came over the wire, unknown fields among them."""
    if isinstance(value, dict):
        return value
    return value.model_dump(exclude_unset=True, warnings=False)


def mended(pieces: Iterable[str]) -> str:
    """The pieces of a text in one; half an emoji at a seam finds its other half."""
    return repair("".join(pieces))


def joined_arguments(pieces: Iterable[str], id: str) -> str:
    """The pieces of a call's arguments in one, valid JSON or not.

    Raises `StreamError` for one object after another: those are two calls' under one id.
    """
    text = mended(pieces)
    try:
        _, end = json.JSONDecoder().raw_decode(text.strip())
    except (ValueError, RecursionError):
        return text
    if text.strip()[end:].lstrip().startswith("{"):
        raise StreamError(f"the arguments of {id} are two objects: two calls ran together")
    return text


def arguments_object(text: str) -> dict[str, Any] | None:
    """Arguments as an object, None if they are none. An empty text is `{}`: so a call without
    arguments streams."""
    try:
        value = json.loads(text, parse_constant=_refuse) if text.strip() else {}
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def count_in(usage: Any, name: str, *, needed: bool = False) -> int:
    """A count of tokens in a usage; 0 where it is missing and not needed. Raises `ValueError`."""
    value = get_in(usage, name)
    if value is None and not needed:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"usage: {name} is {value!r}, and should be a count of tokens")
    return value


def get_in(values: Any, name: str) -> Any:
    """A field of an SDK's object or of a dict, None where it is missing."""
    return values.get(name) if isinstance(values, Mapping) else getattr(values, name, None)
