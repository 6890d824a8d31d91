"""Typed stubs from signatures: what a type checker needs for a model's code, and what a model reads
before it writes.

    pyi(functions)   # `def list_tasks(owner: str | None = None) -> list[Task]: ...`
    dts(functions)   # `declare namespace crm { function list_tasks(args?: {…}): Promise<Task[]>; }`

A type is that of a value once it has crossed the border as plain JSON: a date is text there, a
`Decimal` a number, a set a list, the keys of a dict text. What has no better name is "any".
"""

import builtins
import dataclasses
import datetime as dt
import decimal
import enum
import inspect
import json
import keyword
import math
import os
import re
import types
import typing
import uuid
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Annotated, Any, Literal, NotRequired, Required, Union

import typing_extensions
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from .functions import HostFunction

_DEFAULT_CHARS = 40
"""Longest default that a stub shows, in characters."""

_IMPORTS = ("Any", "Literal", "NotRequired", "TypedDict")
_NONE = type(None)
_WRAPPERS = (Annotated, NotRequired, Required, typing_extensions.ReadOnly)

_SCALARS = (
    (_NONE,),
    (bool,),
    (int,),
    (float, decimal.Decimal, dt.timedelta),
    (str, bytes, dt.date, dt.time, uuid.UUID, os.PathLike),
)
"""Types that are one word in either language: nothing, truth, a whole number, a number, a text. The
order counts, since True is an `int` too.
"""


@dataclasses.dataclass(frozen=True)
class _Language:
    scalars: tuple[str, ...]
    """The words for `_SCALARS`."""
    any: str
    array: Callable[[str], str]
    mapping: Callable[[str], str]
    literal: Callable[[list[object]], str]
    taken: frozenset[str]
    """Names that no record may have."""


_PYTHON = _Language(
    scalars=("None", "bool", "int", "float", "str"),
    any="Any",
    array="list[{}]".format,
    mapping="dict[str, {}]".format,
    literal=lambda values: f"Literal[{', '.join(map(repr, values))}]",
    taken=frozenset((*_IMPORTS, *dir(builtins))),
)
_TYPESCRIPT = _Language(
    scalars=("null", "boolean", "number", "number", "string"),
    any="unknown",
    array=lambda item: f"({item})[]" if " | " in item else f"{item}[]",
    mapping="Record<string, {}>".format,
    literal=lambda values: " | ".join(map(_quoted, values)),
    taken=frozenset(("Array", "Promise", "Record")),
)


@dataclasses.dataclass(frozen=True)
class _Entry:
    """A parameter of a function or a field of a record: `default` is `inspect.Parameter.empty` if
    there is none.
    """

    name: str
    type: str
    optional: bool
    default: object
    description: str


class _Types:
    """Names the types of one namespace in one language, and collects the records (typed dicts, data
    classes, pydantic models) that they use.
    """

    def __init__(self, functions: Iterable[HostFunction], language: _Language):
        self.functions = list(functions)
        self._language = language
        self._taken = {function.name for function in self.functions} | language.taken
        self._names: dict[type, str] = {}

    def parameters(self, function: HostFunction) -> list[_Entry]:
        """The parameters in the order of the signature."""
        hints = typing.get_type_hints(function.function, include_extras=True)
        entries = []
        for name, parameter in function.signature.parameters.items():
            hint, description = _bare(hints.get(name, Any))
            if parameter.default is None:  # `x: int = None`, which type checkers want in full
                hint = Union[hint, None]  # noqa: UP007
            optional = parameter.default is not parameter.empty
            entries.append(_Entry(name, self.of(hint), optional, parameter.default, description))
        return entries

    def result(self, function: HostFunction) -> str:
        """The type of what the function returns."""
        hints = typing.get_type_hints(function.function, include_extras=True)
        return self.of(hints.get("return", Any))

    def records(self) -> list[tuple[str, list[_Entry]]]:
        """Name and fields of each record that the types named so far use, those used inside records
        too.
        """
        found = []
        while len(found) < len(self._names):  # the fields of one may name further ones
            record, name = list(self._names.items())[len(found)]
            found.append((name, self._fields(record)))
        return found

    def _fields(self, record: type) -> list[_Entry]:
        required = getattr(record, "__required_keys__", None)
        # of a pydantic model, whose class has other hints besides
        fields = getattr(record, "model_fields", None)
        entries = []
        for name, hint in typing.get_type_hints(record, include_extras=True).items():
            if fields is not None and name not in fields:
                continue
            # with postponed annotations the class itself does not know which of its keys are
            # required
            optional = required is not None and name not in required
            optional = {NotRequired: True, Required: False}.get(typing.get_origin(hint), optional)
            hint, description = _bare(hint)
            entries.append(
                _Entry(name, self.of(hint), optional, inspect.Parameter.empty, description)
            )
        return entries

    def of(self, hint: object) -> str:
        """The type's text in this language."""
        hint = _bare(hint)[0]
        origin, args = typing.get_origin(hint), typing.get_args(hint)
        if origin in (Union, types.UnionType):
            return self._union(args)
        if origin is Literal:
            values = [arg.value if isinstance(arg, enum.Enum) else arg for arg in args]
            return self._language.literal(values)
        for inner in ("__supertype__", "__value__"):  # of NewType; of Python 3.12's `type`
            if hasattr(hint, inner):
                return self.of(getattr(hint, inner))
        kind = _NONE if hint is None else origin or hint
        return self._class(kind, args) if isinstance(kind, type) else self._language.any

    def _class(self, kind: type, args: tuple) -> str:
        language = self._language
        if issubclass(kind, enum.Enum):
            values = [member.value for member in kind]
            plain = all(isinstance(value, str | int | bool | None) for value in values)
            return language.literal(values) if plain else language.any
        typed_dict = typing_extensions.is_typeddict(kind)
        if typed_dict or dataclasses.is_dataclass(kind) or issubclass(kind, BaseModel):
            return self._name(kind)
        for group, word in zip(_SCALARS, language.scalars, strict=True):
            if issubclass(kind, group):
                return word
        if issubclass(kind, Mapping):
            return language.mapping(self.of(args[1]) if len(args) == 2 else language.any)
        if issubclass(kind, Collection) or kind is Iterable:
            items = [arg for arg in args if arg is not ...]
            return language.array(self._union(items) if items else language.any)
        return language.any

    def _union(self, hints: Iterable[object]) -> str:
        """One of several types; "any" swallows the others."""
        parts = list(dict.fromkeys(self.of(hint) for hint in hints))
        return self._language.any if self._language.any in parts else " | ".join(parts)

    def _name(self, record: type) -> str:
        if record not in self._names:
            name, n = record.__name__, 1
            while name in self._taken:
                n += 1
                name = f"{record.__name__}{n}"
            self._taken.add(name)
            self._names[record] = name
        return self._names[record]


def _bare(hint: object) -> tuple[Any, str]:
    """The type inside `Annotated[…]` and `NotRequired[…]`, and the `description` of its `Field`, on
    one line.
    """
    description = ""
    while typing.get_origin(hint) in _WRAPPERS:
        for note in getattr(hint, "__metadata__", ()):
            if isinstance(note, FieldInfo):
                description = description or note.description or ""
        hint = typing.get_args(hint)[0]
    return hint, " ".join(description.split())


def stubs(functions: Iterable[HostFunction], language: str, *, docs: bool = True) -> str:
    """Stubs in `language`, "python" or "javascript", each namespace under its name."""
    by_namespace: dict[str, list[HostFunction]] = {}
    for function in functions:
        by_namespace.setdefault(function.namespace, []).append(function)
    if language == "javascript":
        return "".join(dts(group, docs=docs) for group in by_namespace.values())
    return "".join(
        f"# module {name}\n{pyi(group, docs=docs)}" for name, group in by_namespace.items()
    )


def pyi(functions: Iterable[HostFunction], *, docs: bool = False) -> str:
    """The `.pyi` text of the module that holds `functions`, which are of one namespace, and the
    records they use.

    `docs` is for a reader: no imports, but each docstring's first line, and what parameters and
    fields are for.
    """
    known = _Types(functions, _PYTHON)
    defined = [_def(known, function, docs) for function in known.functions]
    text = "".join([_typed_dict(name, fields, docs) for name, fields in known.records()] + defined)
    used = [] if docs else [name for name in _IMPORTS if re.search(rf"\b{name}\b", text)]
    return f"from typing import {', '.join(used)}\n{text}" if used else text


def _def(known: _Types, function: HostFunction, docs: bool) -> str:
    parameters = []
    for entry in known.parameters(function):
        kind = function.signature.parameters[entry.name].kind
        if kind is inspect.Parameter.KEYWORD_ONLY and ("*", "") not in parameters:
            parameters.append(("*", ""))
        default = f" = {_default(entry.default)}" if entry.optional else ""
        parameters.append((f"{entry.name}: {entry.type}{default}", entry.description))
    inside = ", ".join(text for text, _ in parameters)
    if docs and any(description for _, description in parameters):
        lines = (f"    {text},{_comment('#', description)}\n" for text, description in parameters)
        inside = f"\n{''.join(lines)}"
    # a comment is a few tokens less than a docstring, and needs no quotes, which cost more inside a
    # JSON string
    told = f"# {function.summary}\n" if docs and function.summary else ""
    return f"{told}def {function.name}({inside}) -> {known.result(function)}: ...\n"


def _typed_dict(name: str, fields: list[_Entry], docs: bool) -> str:
    typed = [
        (entry, f"NotRequired[{entry.type}]" if entry.optional else entry.type) for entry in fields
    ]
    if all(entry.name.isidentifier() and not keyword.iskeyword(entry.name) for entry in fields):
        lines = (
            f"    {entry.name}: {hint}{_comment('#', entry.description if docs else '')}\n"
            for entry, hint in typed
        )
        return f"class {name}(TypedDict):\n" + ("".join(lines) or "    pass\n")
    inside = ", ".join(f"{entry.name!r}: {hint}" for entry, hint in typed)
    return f"{name} = TypedDict({name!r}, {{{inside}}})\n"


def _default(value: object) -> str:
    """A default as it stands in a stub: a short scalar in full, anything else (an enum, a list) as
    `...`.
    """
    plain = type(value) in (_NONE, bool, int, str) or type(value) is float and math.isfinite(value)
    return repr(value) if plain and len(repr(value)) <= _DEFAULT_CHARS else "..."


def _comment(mark: str, text: str) -> str:
    return f"  {mark} {text}" if text else ""


def dts(functions: Iterable[HostFunction], *, docs: bool = False) -> str:
    """TypeScript declarations of `functions`, which are of one namespace, and of the records they
    use.

    Arguments are named, as one object; every function returns a promise. `docs` adds each
    docstring's first line, the descriptions of parameters and fields, and defaults, for a reader.
    """
    known = _Types(functions, _TYPESCRIPT)
    defined = [_function(known, function, docs) for function in known.functions]
    records = [f"  interface {name} {_members(fields, docs)}\n" for name, fields in known.records()]
    namespace = known.functions[0].namespace if known.functions else "none"
    return f"declare namespace {namespace} {{\n{''.join(records + defined)}}}\n"


def _function(known: _Types, function: HostFunction, docs: bool) -> str:
    entries = known.parameters(function)
    optional = "?" if all(entry.optional for entry in entries) else ""
    args = f"args{optional}: {_members(entries, docs)}" if entries else ""
    summary = function.summary.replace("*/", "* /")
    told = f"  /** {summary} */\n" if docs and summary else ""
    return f"{told}  function {function.name}({args}): Promise<{known.result(function)}>;\n"


def _members(entries: list[_Entry], docs: bool) -> str:
    members = []
    for entry in entries:
        plain = entry.name.isascii() and entry.name.isidentifier()
        name = entry.name if plain else _quoted(entry.name)
        shown = entry.optional and entry.default is not None and _default(entry.default) != "..."
        default = f"Default {_quoted(entry.default)}." if shown else ""
        told = " ".join(filter(None, [entry.description, default])) if docs else ""
        members.append((f"{name}{'?' if entry.optional else ''}: {entry.type}", told))
    if any(told for _, told in members):
        lines = (f"    {text};{_comment('//', told)}\n" for text, told in members)
        return f"{{\n{''.join(lines)}  }}"
    return f"{{ {'; '.join(text for text, _ in members)} }}" if members else "{}"


def _quoted(value: object) -> str:
    """A scalar in JavaScript; single quotes cost less than double ones once the text stands inside
    a JSON string.
    """
    text = json.dumps(value, ensure_ascii=False)
    single = isinstance(value, str) and text == f'"{value}"' and "'" not in value
    return f"'{value}'" if single else text
