"""A typed function as a tool: one signature gives the schema for each API, the check of arguments,
and a safe call.

    def add(a: Annotated[int, Field(description="First term.")], b: int = 1) -> dict:
        "Adds two whole numbers."
        return {"sum": a + b}

    tool = Tool(add)
    tool.schema()                   # for the request: `Api.definition(tool)` has each API's form
    tool.call('{"a": 2}')           # ToolResult(text='{"sum":3}', is_error=False)
    tool.call('{"a": 2, "c": 3}')   # an error result: unknown argument "c": this tool takes a, b

What the host holds (keys, caller, budget, clock, connections) is bound to the function before it
becomes a tool, and is never an argument that a model fills.
"""

import datetime as dt
import inspect
import json
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, get_type_hints

from pydantic import BeforeValidator, ConfigDict, ValidationError, create_model

from .results.budget import BUDGET, BudgetError, longest_fit
from .results.cursor import CursorError
from .results.payload import OffsetError
from .results.shape import clean, cut
from .tokens import count_tokens, plain, repair, to_json

log = logging.getLogger(__name__)

_ERROR_CHARS = 300
"""Longest error message that a model gets, in characters; the tool's budget may cut it further."""


def _from_digits(value: object) -> object:
    """A string of ASCII digits as its number, and 5.0 as 5, as JSON Schema has it; "1e4" and "٣"
    stay as they are.
    """
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,4000}", value, re.ASCII):
        return int(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _from_decimal(value: object) -> object:
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,300}(\.[0-9]{1,300})?", value, re.ASCII):
        return float(value)
    return value


Whole = Annotated[int, BeforeValidator(_from_digits)]
"""A whole number: a JSON integer (5.0 is one), or a string of ASCII digits. `true`, 10.5 and "1e4"
are refused.
"""

Number = Annotated[float, BeforeValidator(_from_decimal)]
"""A finite number: a JSON number, or a string like "12.50"."""


def _from_iso(value: object) -> object:
    if not isinstance(value, str):
        return value
    try:
        moment = dt.datetime.fromisoformat(value)
        return moment.astimezone(dt.UTC).replace(tzinfo=None) if moment.tzinfo else moment
    except (ValueError, OverflowError):
        example = '"2026-03-01" or "2026-03-01T10:00:00Z"'
        raise ValueError(f"use an ISO 8601 date or time such as {example}") from None


Moment = Annotated[dt.datetime, BeforeValidator(_from_iso)]
"""A date or time in ISO 8601; without an offset it is UTC. The function gets a naive `datetime` in
UTC.
"""


class ToolError(Exception):
    """Raised by a tool's function to tell the model what is wrong and what to do next."""


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
                if not isinstance(result, str):
                    result = "" if result is None else to_json(result)
                result = ToolResult(result)
        except (ToolError, CursorError, OffsetError) as error:
            return self.error(str(error))
        except BudgetError:
            raise
        except Exception as error:  # the model gets the kind; the host's log gets the rest
            log.exception("tool %s failed", self.name)
            failed = f"{self.name} failed ({type(error).__name__})"
            return self.error(f"{failed}. This is not caused by your arguments.")
        # a text has no more tokens than bytes, and no more than four bytes a character
        most = 4 * len(result.text)
        if most > self.budget and (size := count_tokens(result.text)) > self.budget:
            return self.error(
                f"This result of {size} tokens is over the budget of {self.budget}, so nothing is "
                f"shown. Ask for less. Parameters: {', '.join(self.parameters) or 'none'}."
            )
        return result if result.text.strip() else ToolResult("(no output)", result.is_error)

    def error(self, message: str) -> ToolResult:
        """An error result with `message`, cleaned, on one line, and cut to the budget."""
        message = " ".join(clean(message).split()) or "unknown error"
        text = longest_fit(
            lambda chars: to_json({"error": cut(message, chars)}), self.budget, most=_ERROR_CHARS
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
        raise ToolError(f"The arguments must be one JSON object, not {_shown(arguments)}.")
    return arguments


class Arguments:
    """The parameters of `function`, as its signature and type hints give them, checked as a model
    sends them: strictly, with one clear line for what is wrong.

        arguments = Arguments("add", add)
        arguments.schema()                  # JSON Schema, for a tool's definition
        arguments.check({"a": 2})           # {"a": 2}
        arguments.check({"a": 2, "c": 3})   # ToolError: unknown argument "c": this tool takes a, b

    `name` is what the model calls it. Raises `TypeError` for a parameter without a type hint or
    that cannot be given by name (`*args`, `**kwargs`, `_private`, those before a `/`), and for an
    async function.
    """

    def __init__(self, name: str, function: Callable[..., object]):
        self._model = _arguments_model(name, function)
        self.parameters = tuple(self._model.model_fields)
        fields = self._model.model_fields.items()
        self._optional = {name for name, field in fields if not field.is_required()}

    def schema(self) -> dict[str, Any]:
        """The JSON Schema of one object with these arguments."""
        schema = _trim(self._model.model_json_schema())
        schema.setdefault("properties", {})
        return schema

    def check(self, given: Mapping[str, object]) -> dict[str, Any]:
        """Keyword arguments for the function, checked and converted; those left out stay out.

        `null` for a parameter that may be left out means that it is left out. Raises `ToolError`
        with one line that names each fault.
        """
        given = {
            name: value
            for name, value in given.items()
            if value is not None or name not in self._optional
        }
        try:
            # as text: from values, pydantic's strict mode takes no date, Decimal, set or enum that
            # JSON could send
            text = repair(json.dumps(given, ensure_ascii=False, default=plain))
            checked = self._model.model_validate_json(text)
        except ValidationError as error:
            raise ToolError(_explain(error, self.parameters)) from None
        except (ValueError, RecursionError):
            raise ToolError("the arguments are not plain data: send what JSON can say") from None
        return {name: getattr(checked, name) for name in checked.model_fields_set}


def _arguments_model(name: str, function: Callable[..., object]):
    hints = get_type_hints(function, include_extras=True)
    if inspect.iscoroutinefunction(function):
        raise TypeError(f"{name} is async: give a function that returns its result")
    fields = {}
    for parameter in inspect.signature(function).parameters.values():
        told = f"{name}: parameter {parameter.name}"
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(f"{told} has no name that a caller could use")
        # pydantic keeps these for itself
        if parameter.name.startswith("_") or parameter.name == "model_config":
            raise TypeError(f"{told} needs another name")
        if parameter.name not in hints:
            raise TypeError(f"{told} needs a type hint")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    # strict: by default pydantic turns True into 1 and accepts NaN for a float
    config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
    return create_model(name, __config__=config, **fields)


def _explain(error: ValidationError, parameters: tuple[str, ...]) -> str:
    """One line for all that pydantic found, with names and values short enough to show."""
    lines = []
    for fault in error.errors(include_url=False, include_context=False)[:3]:
        name = cut(str(fault["loc"][0]) if fault["loc"] else "arguments", 40)
        if fault["type"] == "extra_forbidden":
            known = ", ".join(parameters) or "none"
            lines.append(f'unknown argument "{name}": this tool takes {known}')
        elif fault["type"] == "missing":
            lines.append(f"{name} is missing")
        else:
            told = fault["msg"].removeprefix("Value error, ")
            told = told.replace("Input should be", "it should be")
            told = told.replace("a valid integer", "a whole number").replace("a valid", "a")
            lines.append(f"{name}: {told}, got {_shown(fault['input'])}")
    return ". ".join(dict.fromkeys(lines))


def _shown(value: object) -> str:
    """A model's value in JSON, as the model wrote it, short enough to show."""
    try:
        return cut(json.dumps(value, ensure_ascii=False), 40)
    except (TypeError, ValueError, RecursionError):
        return f"a {type(value).__name__}"


def _trim(schema: object) -> Any:
    """The schema without what costs tokens and says nothing: titles, and the null branch of
    optional parameters.
    """
    if isinstance(schema, list):
        return [_trim(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    schema = {
        key: value for key, value in schema.items() if key != "title" or not isinstance(value, str)
    }
    branches = [branch for branch in schema.get("anyOf", []) if branch != {"type": "null"}]
    if len(branches) == 1:
        del schema["anyOf"]
        schema = {**branches[0], **schema}
    if schema.get("default", ...) is None:
        del schema["default"]
    return {key: _trim(value) for key, value in schema.items()}
