"""A reply put together from the fragments of `create(stream=True)`: the right message, or a
`StreamError`.

The SDKs' own helpers guess where a stream is odd: one merges two calls that share an index, another
makes a plausible input of JSON that was cut. Here a fragment either has one place where it can
belong, or the whole reply is refused; a call is never left with `{}` because its arguments went
elsewhere.

Read the stop reason before anything is run: after "length" or "max_tokens" the last call may be
incomplete.
"""

from collections.abc import Callable, Iterable
from typing import Any

from . import streaming_anthropic, streaming_openai
from .received import Received, StreamError

__all__ = ["Received", "StreamError", "assemble", "received"]


def assemble(
    api: str,
    chunks: Iterable[Any],
    on_call: Callable[[str], None] | None = None,
    on_text: Callable[[str], None] | None = None,
) -> Received:
    """The reply that a stream of chunks (OpenAI) or events (Anthropic) makes, the SDK's objects or
    plain dicts.

    `on_call(name)` is called once for each tool call, as soon as its name is known, and
    `on_text(piece)` for each piece of text as it arrives (a piece may end with half an emoji).
    Raises `StreamError`; what the SDK raises for a lost connection or an error in the stream passes
    through.
    """
    dialects = {"openai": streaming_openai, "anthropic": streaming_anthropic}
    if api not in dialects:
        raise ValueError(f"unknown api {api!r}: use {' or '.join(dialects)}")
    return dialects[api].assemble(map(_plain, chunks), on_call or _ignore, on_text or _ignore)


def received(api: str, response: Any) -> Received:
    """An unstreamed response in the same form, with the message that its stream would have made.

    Raises `StreamError` for a response that is not in the API's form.
    """
    try:
        return _received(api, _plain(response))
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise StreamError(
            f"the response is not in the API's form ({type(error).__name__}: {error}): ask again"
        ) from None


def _received(api: str, data: dict[str, Any]) -> Received:
    if api == "anthropic":
        return Received(
            streaming_anthropic.message(data["content"]), data["stop_reason"], data.get("usage")
        )
    choice = data["choices"][0]
    said = choice["message"]
    calls = [(call["id"], call["function"]) for call in said.get("tool_calls") or ()]
    calls = [(id, function["name"], function["arguments"] or "") for id, function in calls]
    message = streaming_openai.message(said.get("content"), said.get("refusal"), calls)
    return Received(message, choice["finish_reason"], data.get("usage"))


def _ignore(_: str) -> None:
    pass


def _plain(value: Any) -> dict[str, Any]:
    """An SDK's object as the dict that came over the wire, fields that the SDK does not know among
    them.
    """
    return (
        value if isinstance(value, dict) else value.model_dump(exclude_unset=True, warnings=False)
    )
