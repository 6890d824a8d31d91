"""What a scripted model says, in words that fit both APIs."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..tokens import to_json

STOPS = {  # what it means: (OpenAI's finish_reason, Anthropic's stop_reason)
    "end": ("stop", "end_turn"),
    "calls": ("tool_calls", "tool_use"),
    "length": ("length", "max_tokens"),
    "stop_sequence": ("stop", "stop_sequence"),
    "content_filter": ("content_filter", "refusal"),
    "refusal": (
        "stop",
        "refusal",
    ),  # on OpenAI the text then stands in `refusal`, and `content` is null
    "pause": ("stop", "pause_turn"),  # Anthropic only: OpenAI has nothing like it
    "window": ("length", "model_context_window_exceeded"),
}
"""Why a model may stop. A `Reply` also takes each vendor's own word: "tool_calls", "tool_use",
"max_tokens" …
"""

_OWN_WORDS = {
    word: name for name, words in reversed(STOPS.items()) for word in words if word not in STOPS
}
_OWN_WORDS["stop"] = "end"


@dataclass(frozen=True)
class Reply:
    """One reply of the model.

    - `text`: what it says. With `stop="refusal"`, the refusal's text.
    - `calls`: (tool name, arguments) each. Arguments are a dict, or text that is streamed as it is,
      valid JSON or not.
    - `stop`: a key of `STOPS`, or a vendor's word for it; None: "calls" if there are calls, else
      "end".
    - `thinking`: on Anthropic a signed thinking block before the text; on OpenAI reasoning that is
      billed, not shown.
    - `arguments_cut`: the last call's arguments end after so many characters, and `stop` is
      "length" if not given.

    Raises `ValueError` for an unknown `stop`, or for `arguments_cut` without a call.
    """

    text: str = ""
    calls: Sequence[tuple[str, dict[str, Any] | str]] = ()
    stop: str | None = None
    thinking: str | None = None
    arguments_cut: int | None = None

    def __post_init__(self):
        stop = self.stop or (
            "length" if self.arguments_cut is not None else "calls" if self.calls else "end"
        )
        stop = _OWN_WORDS.get(stop, stop)
        if stop not in STOPS:
            raise ValueError(
                f"unknown stop {self.stop!r}: use one of {', '.join([*STOPS, *_OWN_WORDS])}"
            )
        calls = [
            (name, given if isinstance(given, str) else to_json(given))
            for name, given in self.calls
        ]
        if self.arguments_cut is not None:
            if not calls:
                raise ValueError("arguments_cut cuts the last call, and there is none")
            calls[-1] = (calls[-1][0], calls[-1][1][: self.arguments_cut])
        object.__setattr__(self, "stop", stop)
        object.__setattr__(self, "calls", tuple(calls))

    def first(self, characters: int) -> "Reply":
        """The reply as far as it got after so many characters of thinking, text and arguments."""
        left = characters

        def take(text: str) -> str:
            nonlocal left
            part, left = text[: max(left, 0)], left - len(text)
            return part

        thinking, text = take(self.thinking or ""), take(self.text)
        calls = [(name, take(arguments)) for name, arguments in self.calls if left > 0]
        return replace(
            self,
            text=text,
            calls=calls,
            stop="length",
            thinking=thinking or None,
            arguments_cut=None,
        )

    def within(self, most: int, size: Callable[["Reply"], int]) -> "Reply":
        """The reply, cut with stop "length" to the longest start of it whose `size` in tokens is at
        most `most`.
        """
        if size(self) <= most:
            return self
        low, high = (
            0,
            len(self.thinking or "") + len(self.text) + sum(len(text) for _, text in self.calls),
        )
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if size(self.first(middle)) <= most else (low, middle - 1)
        return self.first(low)


@dataclass(frozen=True)
class Sent:
    """A reply as a dialect writes it on the wire: its number, the request, what is said, the calls'
    ids, the usage.
    """

    number: int
    body: Mapping[str, Any]
    reply: Reply
    ids: Sequence[str]
    usage: Mapping[str, Any]


def arguments_object(text: str) -> dict[str, Any] | None:
    """Arguments as an object, None if they are none. An empty text is `{}`: so a call without
    arguments streams.
    """
    try:
        value = json.loads(text, parse_constant=_refuse) if text.strip() else {}
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")
