"""The arguments of a typed function, checked as a model sends them: strictly, with one clear line
for what is wrong.

def add(a: Annotated[int, Field(description="First term.")], b: int = 1) -> dict: ...

arguments = Arguments("add", add)
arguments.schema()                  # JSON Schema, for a tool's definition
arguments.check({"a": 2})           # {"a": 2}
arguments.check({"a": 2, "c": 3})   # ToolError: unknown argument "c": this tool takes a, b
"""

import datetime as dt
import inspect
import json
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, get_type_hints

from pydantic import BeforeValidator, ConfigDict, ValidationError, create_model

from .plain import plain, repair
from .results.shape import cut


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
        raise ValueError(
            'use an ISO 8601 date or time such as "2026-03-01" or "2026-03-01T10:00:00Z"'
        ) from None


Moment = Annotated[dt.datetime, BeforeValidator(_from_iso)]
"""A date or time in ISO 8601; without an offset it is UTC. The function gets a naive `datetime` in
UTC.
"""


class ToolError(Exception):
    """Raised by a tool's function to tell the model what is wrong and what to do next."""


class Arguments:
    """The parameters of `function`, as its signature and type hints give them.

    `name` is what the model calls it. Raises `TypeError` for a parameter without a type hint or
    that cannot be given by name (`*args`, `**kwargs`, `_private`, those before a `/`), and for an
    async function.
    """

    def __init__(self, name: str, function: Callable[..., object]):
        self._model = _arguments_model(name, function)
        self.parameters = tuple(self._model.model_fields)
        self._optional = {
            name for name, field in self._model.model_fields.items() if not field.is_required()
        }

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
            checked = self._model.model_validate_json(
                repair(json.dumps(given, ensure_ascii=False, default=plain))
            )
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
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise TypeError(
                f"{name}: parameter {parameter.name} has no name that a caller could use"
            )
        if (
            parameter.name.startswith("_") or parameter.name == "model_config"
        ):  # pydantic keeps these for itself
            raise TypeError(f"{name}: parameter {parameter.name} needs another name")
        if parameter.name not in hints:
            raise TypeError(f"{name}: parameter {parameter.name} needs a type hint")
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[parameter.name] = (hints[parameter.name], default)
    # strict: by default pydantic turns True into 1 and accepts NaN for a float
    return create_model(
        name, __config__=ConfigDict(extra="forbid", strict=True, allow_inf_nan=False), **fields
    )


def _explain(error: ValidationError, parameters: tuple[str, ...]) -> str:
    """One line for all that pydantic found, with names and values short enough to show."""
    lines = []
    for fault in error.errors(include_url=False, include_context=False)[:3]:
        name = cut(str(fault["loc"][0]) if fault["loc"] else "arguments", 40)
        if fault["type"] == "extra_forbidden":
            lines.append(
                f'unknown argument "{name}": this tool takes {", ".join(parameters) or "none"}'
            )
        elif fault["type"] == "missing":
            lines.append(f"{name} is missing")
        else:
            told = (
                fault["msg"]
                .removeprefix("Value error, ")
                .replace("Input should be", "it should be")
            )
            told = told.replace("a valid integer", "a whole number").replace("a valid", "a")
            lines.append(f"{name}: {told}, got {shown(fault['input'])}")
    return ". ".join(dict.fromkeys(lines))


def shown(value: object) -> str:
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
