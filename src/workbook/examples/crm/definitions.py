"""Definitions of company functions, to see how a surface grows from 5 functions to 500.

They are definitions only: a name, a description, typed parameters and a typed result, which is all
that a model pays for; search words, which no model is shown; and `DefinitionOnly` when called. They
are made from `data/company_functions.json`:

- `functions`: the company's first thirty, in order; those without a `doc` are real
  (`functions.py`).
- `records`: what those return besides the records of `shapes`; `{"page": "Deal"}` is a page of
  deals.
- `objects`: what its other systems hold, each with its fields, what people call it, and two
  actions: a verb and the rest of its sentence. `verbs`: what people call those.

A kind is `text`, `number`, `whole`, `date`, `id` (of another object), a list of choices, or one of
`_KINDS`; as an object it has besides a description (`about`), a `default`, or is `optional`.
"""

import datetime as dt
import inspect
import json
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import cache
from itertools import chain
from typing import Annotated, Any, Literal, TypedDict

from pydantic import Field

from toolresults.tools import Number, ToolError, Whole
from workbook.paths import data_path

from . import shapes
from .shapes import Cursor, Day, Limit, Page, Search

_KINDS = {
    "text": str, "bool": bool, "int": int, "money": Decimal, "day": dt.date,
    "number": Number, "whole": Whole, "date": Day, "limit": Limit, "cursor": Cursor,
    "search": Search,
}  # fmt: skip
_SHOWN = {"number": float, "whole": int, "date": dt.date}
"""The type of a kind in a result, where it is another one than that of a parameter."""

_REQUIRED = inspect.Parameter.empty


class DefinitionOnly(ToolError, NotImplementedError):
    """There is nothing behind this function."""


@cache
def _data() -> dict[str, Any]:
    return json.loads(data_path("company_functions.json").read_text(encoding="utf-8"))


def search_words(path: str) -> str:
    """What people call what one of the first thirty functions does."""
    return _data()["functions"][path]["words"]


def first_thirty() -> dict[str, Callable[..., object] | None]:
    """The company's first functions by path; None for those that are real."""
    return {path: _first(path, told) for path, told in _data()["functions"].items()}


def definitions(n: int) -> dict[str, Callable[..., object]]:
    """The first `n` definitions of its other systems by path, the same ones every time. Raises
    `ValueError` for more than there are.

    The namespaces take turns, object by object, so that the first eighty or so already name them
    all.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for thing in _data()["objects"]:
        groups.setdefault(thing["namespace"], []).append(thing)
    in_turn = chain.from_iterable(zip(*groups.values(), strict=True))
    made = [pair for thing in in_turn for pair in _functions(thing)]
    if not 0 <= n <= len(made):
        raise ValueError(f"there are {len(made)} definitions, not {n}")
    return dict(made[:n])


def _first(path: str, told: Mapping[str, Any]) -> Callable[..., object] | None:
    if "doc" not in told:
        return None
    parameters = {name: _parameter(given) for name, given in told["parameters"].items()}
    result = told["result"]
    returned = list[_record(result[0])] if isinstance(result, list) else _record(result)
    return _definition(path, told["doc"], parameters, returned, told["words"])


def _parameter(given: Any) -> tuple[object, object]:
    """The type and the default of a parameter."""
    if not isinstance(given, dict):
        return _type(given), {"limit": 50, "cursor": None, "search": None}.get(
            str(given), _REQUIRED
        )
    kind, optional = _type(given["kind"]), given.get("optional", False)
    kind = kind | None if optional else kind
    if "about" in given:
        kind = Annotated[kind, Field(description=given["about"])]
    return kind, given.get("default", None if optional else _REQUIRED)


def _type(kind: Any) -> Any:
    return Literal[tuple(kind)] if isinstance(kind, list) else _KINDS[kind]


@cache
def _record(name: str) -> Any:
    """The record of this name: of `shapes`, or made from the data."""
    if hasattr(shapes, name):
        return getattr(shapes, name)
    fields = _data()["records"][name]
    if "page" in fields:
        return _page(name, _record(fields["page"]))
    types = {
        key: _type(kind["kind"]) | None if isinstance(kind, dict) else _type(kind)
        for key, kind in fields.items()
    }
    return TypedDict(name, types)


def _page(name: str, row: Any) -> Any:
    return TypedDict(name, {**Page.__annotations__, "items": list[row]})


def _functions(thing: Mapping[str, Any]) -> Iterator[tuple[str, Callable[..., object]]]:
    """The seven functions of one object, by path."""
    namespace, name = thing["namespace"], thing["name"]
    label, many = name.replace("_", " "), _plural(name)
    article = "an" if label[0] in "aeio" else "a"
    inputs, outputs = {}, {f"{name}_id": str}
    for field, kind in thing["fields"].items():
        key, given, shown = _field(field, kind)
        inputs[key], outputs[key] = (given, _REQUIRED), shown
    row = TypedDict(name.title().replace("_", ""), outputs)
    page = TypedDict(f"{row.__name__}Page", {"items": list[row], **Page.__annotations__})
    about = f"Id of the {label}, from {namespace}.list_{many}."
    key = {f"{name}_id": (Annotated[str, Field(description=about)], _REQUIRED)}
    optional = {field: (kind | None, None) for field, (kind, _) in inputs.items()}
    first = next(iter(inputs))
    narrow = {first: optional[first]}
    listed = narrow | {"limit": (Limit, 50), "cursor": (Cursor, None)}
    counted = narrow | {"since": (Day | None, None)}
    plural, by = many.replace("_", " "), first.replace("_", " ")
    made = [
        ("list", many, f"Lists {plural}, the newest first.", listed, page),
        ("get", name, f"Reads one {label}.", key, row),
        ("create", name, f"Creates {article} {label}, and returns it with its id.", inputs, row),
        (
            "update",
            name,
            f"Changes {article} {label}; what is left out stays.",
            key | optional,
            row,
        ),
        ("count", many, f"Counts {plural} by {by}.", counted, dict[str, int]),
    ]
    note = {"comment": (Annotated[str | None, Field(description="Kept with the change.")], None)}
    for action in thing["actions"]:
        verb, _, rest = action.partition(" ")
        doc = f"{_third_person(verb)} {article} {label} {rest}."
        made.append((verb, name, doc, key | note, row))
    for verb, noun, doc, parameters, result in made:
        words = f"{_data()['verbs'][verb]}, {thing['words']}"
        path = f"{namespace}.{verb}_{noun}"
        yield path, _definition(path, doc, parameters, result, words)


def _field(name: str, kind: Any) -> tuple[str, object, object]:
    """Name, type as a parameter, and type in a result, of a field of an object."""
    if kind == "id":
        about = f"Id of the {name.replace('_', ' ')}."
        return f"{name}_id", Annotated[str, Field(description=about)], str
    given = _type(kind)
    return name, given, given if isinstance(kind, list) else _SHOWN.get(kind, given)


def _definition(
    path: str, doc: str, parameters: Mapping[str, tuple[object, object]], result: object, words: str
) -> Callable[..., object]:
    """A function with this signature, which raises `DefinitionOnly`."""
    namespace, _, name = path.partition(".")

    def function(**arguments):
        raise DefinitionOnly(
            f"{path} is a definition only: this example has no {namespace} system."
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__, function.search_words, function.definition_only = doc, words, True
    function.__annotations__ = {key: kind for key, (kind, _) in parameters.items()}
    function.__annotations__["return"] = result
    by_name = inspect.Parameter.POSITIONAL_OR_KEYWORD
    given = [
        inspect.Parameter(key, by_name, annotation=kind, default=default)
        for key, (kind, default) in parameters.items()
    ]
    function.__signature__ = inspect.Signature(given, return_annotation=result)
    return function


def _plural(name: str) -> str:
    if name.endswith("y") and name[-2] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}s"


def _third_person(verb: str) -> str:
    """`check_in` as "Checks in", `verify` as "Verifies"."""
    first, *more = verb.split("_")
    first = f"{first}es" if first.endswith(("ch", "sh", "ss", "x")) else _plural(first)
    return " ".join([first.capitalize(), *more])
