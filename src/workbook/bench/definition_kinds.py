"""Three ways to define the same tool to a model, from the thinnest to the richest.

definition(tool, "thin")     # names and types
definition(tool, "normal")   # and descriptions, as `Tool` makes it
definition(tool, "rich")     # and every parameter described, an example, the result's schema
"""

from collections.abc import Callable, Iterable, Mapping
from types import SimpleNamespace
from typing import Any, get_args, get_origin, get_type_hints

import typing_extensions
from pydantic import TypeAdapter

from toolresults.agent.api import Api
from toolresults.agent.openai_chat import OPENAI_CHAT
from toolresults.tokens import count_many, to_json
from toolresults.tools import Tool

KINDS = ("thin", "normal", "rich")

_TYPES = {
    "string": ("a text", "as the user said it"),
    "integer": ("a whole number", 50),
    "number": ("a number", 100.0),
    "boolean": ("true or false", True),
}
"""What a parameter of each type is called, and an example of it."""


def definition(tool: Tool, kind: str, api: Api = OPENAI_CHAT) -> dict[str, Any]:
    """The definition of `tool` for `api`, as an entry of a request's `tools`.

    Raises `ValueError` for a kind that is none of `KINDS`.
    """
    description, schema = tool.description, tool.schema()
    if kind == "thin":
        description, schema = "", _thin(schema)
    elif kind == "rich":
        # neither API has a field for what comes back
        description += f"\n\nReturns JSON of this schema: {to_json(_returned(tool.function))}"
        schema = _rich(schema)
    elif kind != "normal":
        raise ValueError(f"unknown kind {kind!r}: use {', '.join(KINDS)}")
    told = SimpleNamespace(name=tool.name, description=description, schema=lambda: schema)
    return api.definition(told)


def sizes(tools: Iterable[Tool], kind: str, api: Api = OPENAI_CHAT) -> list[int]:
    """Tokens of each definition, as compact JSON."""
    return count_many([to_json(definition(tool, kind, api)) for tool in tools])


def _thin(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Without descriptions and defaults, down to the items of lists."""
    bare = {key: value for key, value in schema.items() if key not in ("description", "default")}
    if "properties" in bare:
        bare["properties"] = {name: _thin(one) for name, one in bare["properties"].items()}
    return bare | ({"items": _thin(bare["items"])} if "items" in bare else {})


def _rich(schema: Mapping[str, Any]) -> dict[str, Any]:
    described, example = {}, {}
    for name, one in schema["properties"].items():
        kind, value = _TYPES.get(one.get("type"), ("a value", "text"))
        choices = one.get("enum", ())
        what = " or ".join(str(choice) for choice in choices) or kind
        described[name] = {"description": f"The {name.replace('_', ' ')}: {what}.", **one}
        if one.get("format") == "date":
            value = "2026-07-01"
        example[name] = one.get("default", [*choices, value][0])
        if name.endswith("_id"):
            example[name] = f"{name.removesuffix('_id')}_100042"
    return {**schema, "properties": described, "examples": [example]}


def _returned(function: Callable[..., object]) -> object:
    """The schema of what a function returns."""
    hint = get_type_hints(function, include_extras=True).get("return", Any)
    return _untitled(TypeAdapter(_readable(hint)).json_schema())


def _readable(hint: Any) -> Any:
    """The type with its records rebuilt: pydantic does not read `typing.TypedDict` before Python
    3.12.
    """
    if typing_extensions.is_typeddict(hint):
        fields = get_type_hints(hint, include_extras=True)
        return typing_extensions.TypedDict(
            hint.__name__, {name: _readable(field) for name, field in fields.items()}
        )
    return list[_readable(get_args(hint)[0])] if get_origin(hint) is list else hint


def _untitled(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_untitled(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    titled = {"title"} if isinstance(schema.get("title"), str) else set()
    return {key: _untitled(one) for key, one in schema.items() if key not in titled}
