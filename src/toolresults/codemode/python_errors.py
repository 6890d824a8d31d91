"""An error of the model's Python code, in one line for the model.

ZeroDivisionError: division by zero (line 2: return total / 0; called from line 4)
"""

import builtins
import re

import pydantic_monty as monty

from ..results.shape import cut

MESSAGE_CHARS = 300
"""Longest message of an exception, in characters: code can raise one that holds all its rows."""

LINE_CHARS = 120
"""Longest line of code that is shown with an error, in characters."""

_NO_ATTRIBUTE = re.compile(r"'(\w+)' object has no attribute '([a-z]\w*)'")


def explain(error: monty.MontyRuntimeError | monty.MontySyntaxError) -> str:
    """The exception's kind and message, the innermost line of the model's code, and the line that
    led there.
    """
    kind, _, message = error.display("type-msg").partition(": ")
    message = message.replace(
        "The monty syntax parser does not yet support", "this Python has no support for"
    )
    frames = [frame for frame in error.traceback() if frame.filename.startswith("<python-input")]
    if not frames:
        return _told(kind, message)
    at, first = frames[-1], frames[0]
    line = (at.source_line or "").strip()
    called = f"; called from line {first.line}" if first.line != at.line else ""
    return f"{_told(kind, message + _passed(message, line))} (line {at.line}: {cut(line, LINE_CHARS)}{called})"


def _told(kind: str, message: str) -> str:
    return f"{kind}: {cut(message, MESSAGE_CHARS)}" if message else cut(kind, MESSAGE_CHARS)


def _passed(message: str, line: str) -> str:
    """What to add where a method was passed as a value, as in `key=totals.get`: this Python says
    there is none.
    """
    found = _NO_ATTRIBUTE.fullmatch(message)
    if not found or not callable(getattr(getattr(builtins, found[1], None), found[2], None)):
        return ""
    if re.search(rf"\.{found[2]}\s*\(", line):  # it was called, so it is not there
        return ""
    return f" as a value: methods are only called here, as in lambda x: d.{found[2]}(x)"
