"""Definitions of company functions, to see how a surface grows from 5 functions to 500.

They are definitions only: a description, typed parameters and a typed result, which is all that a
model pays for; search words, which no model is shown; and `DefinitionOnly` when called.
`data/company_functions.json` holds the company's first thirty, in order (those with search words
alone are real: `functions.py`), `data/company_catalogue.json` what its other systems could do.

Types are JSON Schema in the files. A `$ref` names one of the file's `records`, or a type of
`shapes`; a parameter with a `default` may be left out, and so may a field that is `optional`.
"""

import datetime as dt
import inspect
import json
from collections.abc import Callable, Mapping
from decimal import Decimal
from functools import cache
from typing import Annotated, Any, Literal, NotRequired, TypedDict, Union

from pydantic import Field

from toolresults.tools import Number, ToolError, Whole
from workbook.paths import data_path

from . import shapes

_RESULTS = {
    "string": str,
    "integer": int,
    "number": float,
    "boolean": bool,
    "null": None,
    "date": dt.date,
    "date-time": dt.datetime,
    "decimal": Decimal,
}
_ARGUMENTS = _RESULTS | {"integer": Whole, "number": Number, "date": shapes.Day}
"""The type of each scalar in a result, and of an argument, which is read as a model sends it."""


class DefinitionOnly(ToolError, NotImplementedError):
    """There is nothing behind this function."""


def search_words(path: str) -> str:
    """What people call what one of the first thirty functions does."""
    return _read("functions")["functions"][path]["search_words"]


def first_thirty() -> dict[str, Callable[..., object] | None]:
    """The company's first functions by path; None for those that are real."""
    return _made("functions")


def definitions(n: int) -> dict[str, Callable[..., object]]:
    """The first `n` definitions of its other systems by path, the same ones every time. Raises
    `ValueError` for more than there are.

    The namespaces take turns, so that the first eighty or so already name them all.
    """
    made = _made("catalogue")
    if not 0 <= n <= len(made):
        raise ValueError(f"there are {len(made)} definitions, not {n}")
    return dict(list(made.items())[:n])


@cache
def _read(name: str) -> dict[str, Any]:
    return json.loads(data_path(f"company_{name}.json").read_text(encoding="utf-8"))


@cache
def _made(name: str) -> dict[str, Callable[..., object] | None]:
    records = _Records(_read(name)["records"])
    return {
        path: _definition(path, told, records) if "returns" in told else None
        for path, told in _read(name)["functions"].items()
    }


class _Records(dict):
    """The records of a file by name, each made when it is first asked for, and the types of
    `shapes`.
    """

    def __init__(self, schemas: Mapping[str, Any]) -> None:
        super().__init__(vars(shapes))
        self._schemas = schemas

    def __missing__(self, name: str) -> Any:
        fields = {}
        for field, schema in self._schemas[name].items():
            kind = _type(schema, _RESULTS, self)
            fields[field] = NotRequired[kind] if schema.get("optional") else kind
        self[name] = TypedDict(name, fields)
        return self[name]


def _type(schema: Mapping[str, Any], scalars: Mapping[str, Any], records: _Records) -> Any:
    match schema:
        case {"$ref": name}:
            kind = records[name]
        case {"anyOf": branches}:
            kinds = tuple(_type(branch, scalars, records) for branch in branches)
            kind = Union[kinds]  # noqa: UP007 (as many as there are)
        case {"enum": choices}:
            kind = Literal[tuple(choices)]
        case {"items": item}:
            kind = list[_type(item, scalars, records)]
        case {"additionalProperties": value}:
            kind = dict[str, _type(value, scalars, records)]
        case _:
            kind = scalars[schema.get("format", schema["type"])]
    told = schema.get("description")
    return Annotated[kind, Field(description=told)] if told else kind


def _definition(path: str, told: Mapping[str, Any], records: _Records) -> Callable[..., object]:
    """A function with this signature, which raises `DefinitionOnly`."""

    def function(**arguments):
        raise DefinitionOnly(f"{path} is a definition only: this example has nothing behind it.")

    given = [
        inspect.Parameter(
            key,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            annotation=_type(schema, _ARGUMENTS, records),
            default=schema.get("default", inspect.Parameter.empty),
        )
        for key, schema in told["parameters"].items()
    ]
    result = _type(told["returns"], _RESULTS, records)
    function.__name__ = function.__qualname__ = path.partition(".")[2]
    function.__doc__, function.search_words = told["description"], told["search_words"]
    function.definition_only = True
    function.__annotations__ = {one.name: one.annotation for one in given} | {"return": result}
    function.__signature__ = inspect.Signature(given, return_annotation=result)
    return function
