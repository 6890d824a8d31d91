"""What a scripted model says, in words that fit every API."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..tokens import to_json

STOPS = {
    "end": ("stop", "end_turn"),
    "calls": ("tool_calls", "tool_use"),
    "length": ("max_tokens",),
    "stop_sequence": (),
    "content_filter": (),
    "refusal": (),
    "pause": ("pause_turn",),
    "window": ("model_context_window_exceeded",),
}
"""Why a model may stop, and vendors' own words for it, which a `Reply` takes too."""

_OWN_WORDS = {word: name for name, words in STOPS.items() for word in words}


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
        natural = "calls" if self.calls else "end"
        stop = self.stop or ("length" if self.arguments_cut is not None else natural)
        stop = _OWN_WORDS.get(stop, stop)
        if stop not in STOPS:
            known = ", ".join([*STOPS, *_OWN_WORDS])
            raise ValueError(f"unknown stop {self.stop!r}: use one of {known}")
        calls = [(name, v if isinstance(v, str) else to_json(v)) for name, v in self.calls]
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
        changes = {"text": text, "calls": calls, "thinking": thinking or None}
        return replace(self, **changes, stop="length", arguments_cut=None)

    def within(self, most: int, size: Callable[["Reply"], int]) -> "Reply":
        """The reply, cut with stop "length" to the longest start of it whose `size` in tokens is at
        most `most`.
        """
        if size(self) <= most:
            return self
        arguments = sum(len(text) for _, text in self.calls)
        low, high = 0, len(self.thinking or "") + len(self.text) + arguments
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if size(self.first(middle)) <= most else (low, middle - 1)
        return self.first(low)
