"""Definitions of further company functions, to see how a surface grows from 5 functions to 500.

They are definitions only: a name, a description, typed parameters and a typed result, which is all
that a model pays for. Each has the attribute `definition_only`, `search_words` as the real ones
have, and raises `DefinitionOnly` when called. `company_functions` puts the real functions in front
of them.
"""

import datetime as dt
import inspect
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Annotated, Literal, TypedDict

from pydantic import Field

from toolresults.tools import Number, ToolError, Whole

from .access import Caller
from .catalogue_table import OBJECTS
from .catalogue_words import THINGS, VERBS
from .functions import crm_functions
from .shapes import Cursor, Day, Limit, Page
from .store import CrmStore

_KINDS = {"number": (Number, float), "whole": (Whole, int), "date": (Day, dt.date)}
"""The type of a parameter of each kind, and of the same field in a result."""


class DefinitionOnly(ToolError, NotImplementedError):
    """There is nothing behind this function."""


def company_functions(
    n: int, store: CrmStore, caller: Caller, *, keys: Sequence[str | bytes], **options
) -> dict[str, Callable[..., object]]:
    """The first `n` functions of the company: the real ones (`crm_functions`), then definitions.

    Raises `ValueError` for more than there are.
    """
    real = crm_functions(store, caller, keys=keys, **options)
    functions = {**real, **definitions(max(0, n - len(real)))}
    return dict(list(functions.items())[:n])


def definitions(n: int) -> dict[str, Callable[..., object]]:
    """The first `n` definitions by path, the same ones every time. Raises `ValueError` for more
    than there are.

    The namespaces take turns, object by object, so that the first eighty or so already name them
    all.
    """
    made = list(_all())
    if not 0 <= n <= len(made):
        raise ValueError(f"there are {len(made)} definitions, not {n}")
    return dict(made[:n])


def _all() -> Iterator[tuple[str, Callable[..., object]]]:
    tables = {namespace: table.strip().splitlines() for namespace, table in OBJECTS.items()}
    groups = [
        [(name, *pair) for pair in zip(lines[::2], lines[1::2], strict=True)]
        for name, lines in tables.items()
    ]
    for namespace, line, actions in chain.from_iterable(zip(*groups, strict=True)):
        for function in _functions(namespace, line, actions):
            yield f"{namespace}.{function.__name__}", function


def _functions(namespace: str, line: str, actions: str) -> Iterator[Callable[..., object]]:
    """The seven functions of one object, given its two lines of the table."""
    name, fields = line.strip().split(": ")
    label, many = name.replace("_", " "), _plural(name)
    article = "an" if label[0] in "aeio" else "a"
    inputs, outputs = {}, {f"{name}_id": str}
    for field in fields.split(", "):
        key, given, shown = _field(field)
        inputs[key], outputs[key] = given, shown
    row = TypedDict(name.title().replace("_", ""), outputs)
    page = TypedDict(f"{row.__name__}Page", {"items": list[row], **Page.__annotations__})
    key = {
        f"{name}_id": Annotated[
            str, Field(description=f"Id of the {label}, from {namespace}.list_{many}.")
        ]
    }
    first = next(iter(inputs))
    narrow = _optional({first: inputs[first]}) | {"limit": (Limit, 50), "cursor": (Cursor, None)}
    plural = many.replace("_", " ")

    def make(
        verb: str, noun: str, doc: str, parameters: dict[str, object], result: object
    ) -> Callable[..., object]:
        function = _definition(namespace, f"{verb}_{noun}", doc, parameters, result)
        function.search_words = f"{VERBS[verb]}, {THINGS[name]}"
        return function

    yield make("list", many, f"Lists {plural}, the newest first.", narrow, page)
    yield make("get", name, f"Reads one {label}.", key, row)
    yield make(
        "create", name, f"Creates {article} {label}, and returns it with its id.", inputs, row
    )
    yield make(
        "update",
        name,
        f"Changes {article} {label}; what is left out stays.",
        key | _optional(inputs),
        row,
    )
    count = _optional({first: inputs[first]}) | {"since": (Day | None, None)}
    yield make(
        "count", many, f"Counts {plural} by {first.replace('_', ' ')}.", count, dict[str, int]
    )
    for action in actions.split(";"):
        verb, _, rest = action.strip().partition(" ")
        doc = f"{_third_person(verb)} {article} {label} {rest}."
        note = {
            "comment": (Annotated[str | None, Field(description="Kept with the change.")], None)
        }
        yield make(verb, name, doc, key | note, row)


def _field(field: str) -> tuple[str, object, object]:
    """Name, type as a parameter, and type in a result, of a field of the table."""
    name, _, kind = field.partition(":")
    if kind == "id":
        return (
            f"{name}_id",
            Annotated[str, Field(description=f"Id of the {name.replace('_', ' ')}.")],
            str,
        )
    if "|" in kind:
        choices = Literal[tuple(kind.split("|"))]
        return name, choices, choices
    return name, *_KINDS.get(kind, (str, str))


def _optional(parameters: dict[str, object]) -> dict[str, tuple[object, None]]:
    return {name: (kind | None, None) for name, kind in parameters.items()}


def _definition(
    namespace: str, name: str, doc: str, parameters: dict[str, object], result: object
) -> Callable[..., object]:
    """A function with this signature, which raises `DefinitionOnly`. A parameter is a type, or a
    type and a default.
    """

    def function(**arguments):
        raise DefinitionOnly(
            f"{namespace}.{name} is a definition only: this example has no {namespace} system."
        )

    given = {
        key: kind if isinstance(kind, tuple) else (kind, inspect.Parameter.empty)
        for key, kind in parameters.items()
    }
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    function.definition_only = True
    function.__annotations__ = {key: kind for key, (kind, _) in given.items()} | {"return": result}
    function.__signature__ = inspect.Signature(
        [
            inspect.Parameter(
                key, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind, default=default
            )
            for key, (kind, default) in given.items()
        ],
        return_annotation=result,
    )
    return function


def _plural(name: str) -> str:
    if name.endswith("y") and name[-2] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}s"


def _third_person(verb: str) -> str:
    """`check_in` as "Checks in", `verify` as "Verifies"."""
    first, *more = verb.split("_")
    first = _plural(first) if not first.endswith(("ch", "sh", "ss", "x")) else f"{first}es"
    return " ".join([first.capitalize(), *more])
