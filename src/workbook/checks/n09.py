"""Checks for notebook 09, the tool loop."""

import json
import re

from workbook.checks import Verdict, exercise

_INTERNALS = re.compile(r" at 0x[0-9a-fA-F]+|\bb'|\bdatetime\.|\bDecimal\(|\\x[0-9a-f]{2}")
"""What `str(obj)` and raw bytes leave behind in a text."""

_SENTENCE = re.compile(r"\S+(?:\s+\S+){2,}[.!?]\s*$")
"""Three words at least, and an end."""


@exercise
def exercise_1(answer: tuple[int, int]) -> Verdict:
    """(fewest model calls, calls one at a time) for: list repositories, read the issues of three,
    send one report.

    Correct: list, three reads at once, send, answer: 4. One at a time: 1 + 3 + 1, and the answer:
    6.

    Not yet: which calls wait for a result of another call? And the answer is a model call too.
    """
    return list(answer) == [4, 6]


@exercise
def exercise_2(answer: str) -> Verdict:
    """The exact text of a result of the reader's own tool.

    Correct: a model can read this, and so can a program.

    Not yet: give the text that your tool returns, as a string: that is what is sent.
    """
    if found := _INTERNALS.search(answer):
        notation = "is Python's own notation, or raw bytes: write out what it means."
        return False, f"{found[0].strip()!r} {notation}"
    try:
        result = json.loads(answer)
    except (ValueError, RecursionError):
        return False, "this is not JSON. Build a dict, and let to_json write it."
    if not isinstance(result, dict):
        return False, "send one JSON object, so that every value has a name."
    if short := [name for name in result if len(name) < 2]:
        return False, f"what does {short[0]!r} mean? Give it a name that says so."
    if not any(isinstance(value, str) and _SENTENCE.search(value) for value in result.values()):
        return False, "add one plain sentence that says what the result says."
    return True
