"""Checks for notebook 09, the tool loop."""

import json
import re

from workbook.checks import say

INTERNALS = re.compile(r" at 0x[0-9a-fA-F]+|\bb'|\bdatetime\.|\bDecimal\(|\\x[0-9a-f]{2}")
"""What `str(obj)` and raw bytes leave behind in a text."""

SENTENCE = re.compile(r"\S+(?:\s+\S+){2,}[.!?]\s*$")
"""Three words at least, and an end."""


def exercise_1(answer: object) -> None:
    """(fewest model calls, calls one at a time) for: list repositories, read the issues of three,
    send one report.
    """
    say(
        answer,
        lambda pair: list(pair) == [4, 6],
        "list, three reads at once, send, answer: 4. One at a time: 1 + 3 + 1, and the answer: 6.",
        "which calls wait for a result of another call? And the answer is a model call too.",
    )


def exercise_2(answer: object) -> None:
    """The exact text of a result of the reader's own tool."""
    say(
        answer,
        lambda text: what_is_wrong(text) is None,
        "a model can read this, and so can a program.",
        hint(answer),
    )


def hint(answer: object) -> str:
    """What to do about the first thing that is wrong with a result."""
    return what_is_wrong(answer) or "give the text that your tool returns, as a string."


def what_is_wrong(answer: object) -> str | None:
    """The first thing that keeps a text from being a good result, or None."""
    if not isinstance(answer, str):
        return "give the text that your tool returns, as a string: that is what is sent."
    if found := INTERNALS.search(answer):
        return (
            f"{found[0].strip()!r} is Python's own notation, or raw bytes: write out what it means."
        )
    try:
        result = json.loads(answer)
    except (ValueError, RecursionError):
        return "this is not JSON. Build a dict, and let to_json write it."
    if not isinstance(result, dict):
        return "send one JSON object, so that every value has a name."
    if short := [name for name in result if len(name) < 2]:
        return f"what does {short[0]!r} mean? Give it a name that says so."
    if not any(isinstance(value, str) and SENTENCE.search(value) for value in result.values()):
        return "add one plain sentence that says what the result says."
    return None
