"""An error of the model's Python code, in one line for the model.

ZeroDivisionError: division by zero (line 2: return total / 0; called from line 4)
"""

import pydantic_monty as monty

from ..results.shape import cut

MESSAGE_CHARS = 300
"""Longest message of an exception, in characters: code can raise one that holds all its rows."""

LINE_CHARS = 120
"""Longest line of code that is shown with an error, in characters."""


def explain(error: monty.MontyRuntimeError | monty.MontySyntaxError) -> str:
    """The exception's kind and message, the innermost line of the model's code, and the line that led there."""
    kind, _, message = error.display("type-msg").partition(": ")
    message = message.replace("The monty syntax parser does not yet support", "this Python has no support for")
    told = f"{kind}: {cut(message, MESSAGE_CHARS)}" if message else cut(kind, MESSAGE_CHARS)
    frames = [frame for frame in error.traceback() if frame.filename.startswith("<python-input")]
    if not frames:
        return told
    at, first = frames[-1], frames[0]
    called = f"; called from line {first.line}" if first.line != at.line else ""
    return f"{told} (line {at.line}: {cut((at.source_line or '').strip(), LINE_CHARS)}{called})"
