"""Type hints as text: what a value is once it has crossed the border as plain JSON, in the words of
either language.

A date is text there, a `Decimal` a number, a set a list, the keys of a dict text. What has no
better name is "any".
"""

import dataclasses
import datetime as dt
import decimal
import enum
import inspect
import os
import types
import typing
import uuid
from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, Literal, NotRequired, Required, Union

import typing_extensions
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from .functions import HostFunction

_TEXT = (str, bytes, dt.date, dt.time, uuid.UUID, os.PathLike)
_FRACTION = (float, decimal.Decimal, dt.timedelta)
_LITERAL = (str, int, bool, type(None))
_WRAPPERS = (NotRequired, Required, typing_extensions.ReadOnly)


@dataclasses.dataclass(frozen=True)
class Entry:
    """A parameter of a function or a field of a record: `default` is `inspect.Parameter.empty` if
    there is none.
    """

    name: str
    type: str
    optional: bool
    default: object
    description: str


class Types:
    """Names the types of one namespace, and collects the records (typed dicts, data classes,
    pydantic models) that they use.

    A language gives the words: `TEXT`, `WHOLE`, `FRACTION`, `TRUTH`, `NOTHING`, `ANY`, the names
    that a record must not take, and the four methods at the end.
    """

    TEXT = WHOLE = FRACTION = TRUTH = NOTHING = ANY = ""
    TAKEN: frozenset[str] = frozenset()

    def __init__(self, functions: Iterable[HostFunction]):
        self.functions = list(functions)
        self._taken = {function.name for function in self.functions} | self.TAKEN
        self._names: dict[type, str] = {}

    def parameters(self, function: HostFunction) -> list[Entry]:
        """The parameters in the order of the signature."""
        hints = typing.get_type_hints(function.function, include_extras=True)
        entries = []
        for name, parameter in function.signature.parameters.items():
            hint, description = _bare(hints.get(name, Any))
            if parameter.default is None:  # `x: int = None`, which type checkers want in full
                hint = Union[hint, None]  # noqa: UP007
            optional = parameter.default is not inspect.Parameter.empty
            entries.append(Entry(name, self.of(hint), optional, parameter.default, description))
        return entries

    def result(self, function: HostFunction) -> str:
        """The type of what the function returns."""
        return self.of(
            typing.get_type_hints(function.function, include_extras=True).get("return", Any)
        )

    def records(self) -> list[tuple[str, list[Entry]]]:
        """Name and fields of each record that the types named so far use, those used inside records
        too.
        """
        found = []
        while len(found) < len(self._names):
            record, name = list(self._names.items())[len(found)]
            found.append((name, self._fields(record)))
        return found

    def _fields(self, record: type) -> list[Entry]:
        required = getattr(record, "__required_keys__", None)
        entries = []
        fields = getattr(
            record, "model_fields", None
        )  # of a pydantic model, whose class has other hints besides
        for name, hint in typing.get_type_hints(record, include_extras=True).items():
            if fields is not None and name not in fields:
                continue
            optional = required is not None and name not in required
            # with postponed annotations the class itself does not know which of its keys are
            # required
            optional = {NotRequired: True, Required: False}.get(typing.get_origin(hint), optional)
            hint, description = _bare(hint)
            entries.append(
                Entry(name, self.of(hint), optional, inspect.Parameter.empty, description)
            )
        return entries

    def of(self, hint: object) -> str:
        """The type's text in this language."""
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if origin in (Annotated, *_WRAPPERS):
            return self.of(args[0])
        if origin in (Union, types.UnionType):
            return self.union(list(dict.fromkeys(self.of(arg) for arg in args)))
        if origin is Literal:
            return self.literal([arg.value if isinstance(arg, enum.Enum) else arg for arg in args])
        if hasattr(hint, "__supertype__"):
            return self.of(hint.__supertype__)
        if hasattr(hint, "__value__"):  # the `type` statement of Python 3.12
            return self.of(hint.__value__)
        kind = origin or hint
        return (
            self._class(kind, args)
            if isinstance(kind, type)
            else self.NOTHING
            if hint is None
            else self.ANY
        )

    def _class(self, kind: type, args: tuple) -> str:
        if kind is type(None):
            return self.NOTHING
        if issubclass(kind, enum.Enum):
            values = [member.value for member in kind]
            return (
                self.literal(values)
                if all(isinstance(value, _LITERAL) for value in values)
                else self.ANY
            )
        if (
            typing_extensions.is_typeddict(kind)
            or dataclasses.is_dataclass(kind)
            or issubclass(kind, BaseModel)
        ):
            return self._name(kind)
        for name, group in (
            ("TRUTH", bool),
            ("WHOLE", int),
            ("FRACTION", _FRACTION),
            ("TEXT", _TEXT),
        ):
            if issubclass(kind, group):
                return getattr(self, name)
        if issubclass(kind, Mapping):
            return self.mapping(self.of(args[1]) if len(args) == 2 else self.ANY)
        if issubclass(kind, Collection) or kind is Iterable:
            items = list(dict.fromkeys(self.of(arg) for arg in args if arg is not ...))
            return self.array(self.union(items) if items else self.ANY)
        return self.ANY

    def _name(self, record: type) -> str:
        if record not in self._names:
            name, n = record.__name__, 1
            while name in self._taken:
                name, n = f"{record.__name__}{n + 1}", n + 1
            self._taken.add(name)
            self._names[record] = name
        return self._names[record]

    def union(self, parts: list[str]) -> str:
        """One of several types; `ANY` swallows the others."""
        return self.ANY if self.ANY in parts else " | ".join(parts)

    def literal(self, values: list[object]) -> str:
        """One of several values."""
        raise NotImplementedError

    def array(self, item: str) -> str:
        """A list of one type."""
        raise NotImplementedError

    def mapping(self, value: str) -> str:
        """Text keys, values of one type."""
        raise NotImplementedError


def _bare(hint: object) -> tuple[Any, str]:
    """The type inside `Annotated[…]` and `NotRequired[…]`, and the `description` of its `Field`, on
    one line.
    """
    description = ""
    while typing.get_origin(hint) in (Annotated, *_WRAPPERS):
        told = [
            note.description
            for note in getattr(hint, "__metadata__", ())
            if isinstance(note, FieldInfo)
        ]
        description = description or next(filter(None, told), "")
        hint = typing.get_args(hint)[0]
    return hint, " ".join(description.split())
