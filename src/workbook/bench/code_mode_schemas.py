"""Three ways to define the same tool to a model, from the thinnest to the richest.

definition(tool, "thin")     # names and types definition(tool, "normal")   # and descriptions, as
`Tool` makes it definition(tool, "rich")     # and every parameter described, an example, and the
schema of the result
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, get_args, get_origin, get_type_hints

import typing_extensions
from pydantic import TypeAdapter

from toolresults.tokens import count_many, to_json
from toolresults.tools import Tool

KINDS = ("thin", "normal", "rich")

TYPES = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
}
EXAMPLES = {"string": "as the user said it", "integer": 50, "number": 100.0, "boolean": True}


def tool_name(path: str) -> str:
    """A path as a tool's name, which neither API lets have a dot: `crm.get_task` is
    `crm_get_task`.
    """
    return path.replace(".", "_")


def definition(tool: Tool, kind: str, api: str = "openai") -> dict[str, Any]:
    """The definition of `tool` for `api`, as an entry of a request's `tools`.

    Raises `ValueError` for a kind that is none of `KINDS`.
    """
    normal = tool.definition(api)
    if kind == "normal":
        return normal
    if kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r}: use {', '.join(KINDS)}")
    change = _thinner if kind == "thin" else _richer
    if api == "openai":
        return {**normal, "function": change(normal["function"], "parameters", tool.function)}
    return change(normal, "input_schema", tool.function)


def sizes(tools: Iterable[Tool], kind: str, api: str = "openai") -> list[int]:
    """Tokens of each definition, as compact JSON."""
    return count_many([to_json(definition(tool, kind, api)) for tool in tools])


def _thinner(
    told: Mapping[str, Any], schema: str, function: Callable[..., object]
) -> dict[str, Any]:
    return {**told, "description": "", schema: _thin(told[schema])}


def _richer(
    told: Mapping[str, Any], schema: str, function: Callable[..., object]
) -> dict[str, Any]:
    return {
        **told,
        "description": _told(function, told["description"]),
        schema: _rich(told[schema]),
    }


def _thin(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Without descriptions and defaults, down to the items of lists."""
    bare = {key: value for key, value in schema.items() if key not in ("description", "default")}
    if "properties" in bare:
        bare["properties"] = {name: _thin(one) for name, one in bare["properties"].items()}
    return bare | ({"items": _thin(bare["items"])} if "items" in bare else {})


def _rich(schema: Mapping[str, Any]) -> dict[str, Any]:
    described = {
        name: {"description": _what(name, one), **one} for name, one in schema["properties"].items()
    }
    example = {name: _example(name, one) for name, one in described.items()}
    return {**schema, "properties": described, "examples": [example]}


def _told(function: Callable[..., object], description: str) -> str:
    """The description, and the schema of what comes back: neither API has a field for that."""
    result = TypeAdapter(
        _readable(get_type_hints(function, include_extras=True).get("return", Any))
    ).json_schema()
    return f"{description}\n\nReturns JSON of this schema: {to_json(_untitled(result))}"


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


def _what(name: str, schema: Mapping[str, Any]) -> str:
    choices = " or ".join(str(choice) for choice in schema.get("enum", ()))
    return f"The {name.replace('_', ' ')}: {choices or TYPES.get(schema.get('type'), 'a value')}."


def _example(name: str, schema: Mapping[str, Any]) -> object:
    if name.endswith("_id"):
        return f"{name.removesuffix('_id')}_100042"
    known = (
        "2026-07-01" if schema.get("format") == "date" else EXAMPLES.get(schema.get("type"), "text")
    )
    return schema.get("default", schema.get("enum", [known])[0])


def _untitled(schema: object) -> object:
    if isinstance(schema, list):
        return [_untitled(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _untitled(one)
        for key, one in schema.items()
        if key != "title" or not isinstance(one, str)
    }
