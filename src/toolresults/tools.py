"""A typed function as a tool: one signature gives the schema for each API, the check of arguments,
and a safe call.

    def add(a: Annotated[int, Field(description="First term.")], b: int = 1) -> dict:
        "Adds two whole numbers."
        return {"sum": a + b}

    tool = Tool(add)
    tool.schema()                   # for the request: `Api.definition(tool)` has each API's form
    tool.call('{"a": 2}')           # ToolResult(text='{"sum":3}', is_error=False)
    tool.call('{"a": 2, "c": 3}')   # ToolResult(text='{"error":"unknown argument \\"c\\": this tool takes a, b"}', …)

What the host holds (keys, caller, budget, clock, connections) is bound to the function before it
becomes a tool, and is never an argument that a model fills.
"""

import inspect
import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .arguments import Arguments, Moment, Number, ToolError, Whole, shown
from .results.budget import BUDGET, BudgetError, longest_fit
from .results.cursor import CursorError
from .results.payload import OffsetError
from .results.shape import clean, cut
from .tokens import count_tokens, repair, to_json

__all__ = ["Moment", "Number", "Tool", "ToolError", "ToolResult", "Whole"]

log = logging.getLogger(__name__)

ERROR_CHARS = 300
"""Longest error message that a model gets, in characters; the tool's budget may cut it further."""


@dataclass(frozen=True)
class ToolResult:
    """What goes back to the model: the exact text, and whether it is an error result."""

    text: str
    is_error: bool = False


class Tool:
    """A typed function that a model may call.

    The function's signature gives the parameters (with type hints; `Annotated[…,
    Field(description=…)]` describes one), its docstring the description. `budget` is the most
    tokens that a result may take; a function that returns more gets an error result in its place. A
    function may return a `ToolResult` itself, such as an error result that holds more than a
    message. Raises `TypeError` for a parameter without a type hint.
    """

    def __init__(
        self, function: Callable[..., object], *, name: str | None = None, budget: int = BUDGET
    ):
        self.function = function
        self.name = name or function.__name__
        self.description = inspect.cleandoc(function.__doc__ or "")
        self.budget = budget
        self._arguments = Arguments(self.name, function)
        self.parameters = self._arguments.parameters

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of the arguments; `Api.definition` puts it into an API's own form."""
        return self._arguments.schema()

    def call(self, arguments: Mapping[str, object] | str) -> ToolResult:
        """Runs the tool with a model's arguments, as JSON text or already parsed.

        Whatever the model got wrong, and whatever the function raises, comes back as an error
        result. Only `BudgetError`, which is the host's mistake, is raised.
        """
        try:
            result = self.function(**self._arguments.check(_parse(arguments)))
            if not isinstance(result, ToolResult):
                result = ToolResult(
                    result if isinstance(result, str) else "" if result is None else to_json(result)
                )
        except (ToolError, CursorError, OffsetError) as error:
            return self.error(str(error))
        except BudgetError:
            raise
        except (
            Exception
        ) as error:  # the model gets the kind of failure; the host's log gets the rest
            log.exception("tool %s failed", self.name)
            return self.error(
                f"{self.name} failed ({type(error).__name__}). This is not caused by your arguments."
            )
        size = count_tokens(result.text)
        if size > self.budget:
            return self.error(
                f"This result of {size} tokens is over the budget of {self.budget}, so nothing is shown. "
                f"Ask for less. Parameters: {', '.join(self.parameters) or 'none'}."
            )
        return result if result.text.strip() else ToolResult("(no output)", result.is_error)

    def error(self, message: str) -> ToolResult:
        """An error result with `message`, cleaned, on one line, and cut to the budget."""
        message = " ".join(clean(message).split()) or "unknown error"
        text = longest_fit(
            lambda chars: to_json({"error": cut(message, chars)}), self.budget, most=ERROR_CHARS
        )
        return ToolResult(text or '{"error":"…"}', is_error=True)


def _parse(arguments: Mapping[str, object] | str) -> Mapping[str, object]:
    if isinstance(arguments, str):
        try:
            # a call without arguments streams an empty string; an escape that was cut in half is
            # mended here, once
            parsed = json.loads(arguments) if arguments.strip() else {}
            arguments = json.loads(repair(json.dumps(parsed, ensure_ascii=False)))
        except (ValueError, RecursionError):
            raise ToolError("The arguments are not valid JSON. Send one JSON object.") from None
    if not isinstance(arguments, Mapping):
        raise ToolError(f"The arguments must be one JSON object, not {shown(arguments)}.")
    return arguments
