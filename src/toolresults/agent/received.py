"""A reply as a loop receives it, and the error for a stream that makes none."""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..tokens import repair


class StreamError(Exception):
    """A stream that cannot be put together without guessing, or that ended too early. Ask again;
    run nothing.
    """


class Received(NamedTuple):
    """A reply: the assistant message to append to the history, why the model stopped, and the
    vendor's own usage.

    `usage` is None if the server sent none; OpenAI's streams send it only with
    `stream_options={"include_usage": True}`. An Anthropic message may have no content at all: keep
    that one out of the history.
    """

    message: dict[str, Any]
    stop: str
    usage: dict[str, Any] | None


def mended(pieces: Iterable[str]) -> str:
    """The pieces of a text in one; half an emoji at a seam finds its other half."""
    return repair("".join(pieces))


def arguments_of(pieces: Iterable[str], id: str) -> str:
    """The pieces of a call's arguments in one, valid JSON or not.

    Raises `StreamError` for one object after another: those are the arguments of two calls under
    one id.
    """
    text = mended(pieces)
    try:
        _, end = json.JSONDecoder().raw_decode(text.strip())
    except (ValueError, RecursionError):
        return text
    if text.strip()[end:].lstrip().startswith("{"):
        raise StreamError(f"the arguments of {id} are two objects: two calls ran together")
    return text
