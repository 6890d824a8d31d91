"""Typed stubs from signatures: what a type checker needs for a model's code, and what a model reads
before it writes.

pyi(functions)   # one namespace's module: `def list_tasks(owner: str | None = None) -> list[Task]:
...` dts(functions)   # `declare namespace crm { function list_tasks(args?: { owner?: string | null
}): Promise<Task[]>; }`
"""

import builtins
import inspect
import json
import keyword
import math
import re
from collections.abc import Iterable

from .functions import HostFunction
from .stub_types import Entry, Types

DEFAULT_CHARS = 40
"""Longest default that a stub shows, in characters."""

_IMPORTS = ("Any", "Literal", "NotRequired", "TypedDict")


class _Python(Types):
    TEXT, WHOLE, FRACTION, TRUTH, NOTHING, ANY = "str", "int", "float", "bool", "None", "Any"
    TAKEN = frozenset((*_IMPORTS, *dir(builtins)))

    def literal(self, values):
        return f"Literal[{', '.join(repr(value) for value in values)}]"

    def array(self, item):
        return f"list[{item}]"

    def mapping(self, value):
        return f"dict[str, {value}]"


class _TypeScript(Types):
    TEXT, WHOLE, FRACTION, TRUTH, NOTHING, ANY = (
        "string",
        "number",
        "number",
        "boolean",
        "null",
        "unknown",
    )
    TAKEN = frozenset(("Array", "Promise", "Record"))

    def literal(self, values):
        return " | ".join(_quoted(value) for value in values)

    def array(self, item):
        return f"({item})[]" if " | " in item else f"{item}[]"

    def mapping(self, value):
        return f"Record<string, {value}>"


def pyi(functions: Iterable[HostFunction], *, docs: bool = False) -> str:
    """The `.pyi` text of the module that holds `functions`, which are of one namespace, and the
    records they use.

    `docs` is for a reader: no imports, but each docstring's first line, and what parameters and
    fields are for.
    """
    types = _Python(functions)
    defined = [_def(types, function, docs) for function in types.functions]
    body = [_typed_dict(name, fields, docs) for name, fields in types.records()] + defined
    text = "".join(body)
    used = [] if docs else [name for name in _IMPORTS if re.search(rf"\b{name}\b", text)]
    return f"from typing import {', '.join(used)}\n{text}" if used else text


def _def(types: _Python, function: HostFunction, docs: bool) -> str:
    parameters, keyword_only = [], False
    for entry in types.parameters(function):
        if (
            function.signature.parameters[entry.name].kind is inspect.Parameter.KEYWORD_ONLY
            and not keyword_only
        ):
            parameters.append(("*", ""))
            keyword_only = True
        default = f" = {_default(entry.default)}" if entry.optional else ""
        parameters.append(
            (f"{entry.name}: {entry.type}{default}", entry.description if docs else "")
        )
    if any(description for _, description in parameters):
        lines = (f"    {text},{_comment('#', description)}\n" for text, description in parameters)
        inside = f"\n{''.join(lines)}"
    else:
        inside = ", ".join(text for text, _ in parameters)
    # a comment is a few tokens less than a docstring, and needs no quotes, which cost more inside a
    # JSON string
    told = f"# {function.summary}\n" if docs and function.summary else ""
    return f"{told}def {function.name}({inside}) -> {types.result(function)}: ...\n"


def _typed_dict(name: str, fields: list[Entry], docs: bool) -> str:
    typed = [
        (entry, f"NotRequired[{entry.type}]" if entry.optional else entry.type) for entry in fields
    ]
    if all(entry.name.isidentifier() and not keyword.iskeyword(entry.name) for entry in fields):
        lines = (
            f"    {entry.name}: {told}{_comment('#', entry.description, docs)}\n"
            for entry, told in typed
        )
        return f"class {name}(TypedDict):\n" + ("".join(lines) or "    pass\n")
    inside = ", ".join(f"{entry.name!r}: {told}" for entry, told in typed)
    return f"{name} = TypedDict({name!r}, {{{inside}}})\n"


def _default(value: object) -> str:
    """A default as it stands in a stub: a short scalar in full, anything else (an enum, a list) as
    `...`.
    """
    plain = (
        type(value) in (type(None), bool, int, str) or type(value) is float and math.isfinite(value)
    )
    return repr(value) if plain and len(repr(value)) <= DEFAULT_CHARS else "..."


def _comment(mark: str, text: str, wanted: bool = True) -> str:
    return f"  {mark} {text}" if wanted and text else ""


def dts(functions: Iterable[HostFunction], *, docs: bool = False) -> str:
    """TypeScript declarations of `functions`, which are of one namespace, and of the records they
    use.

    Arguments are named, as one object; every function returns a promise. `docs` adds each
    docstring's first line, the descriptions of parameters and fields, and defaults, for a reader.
    """
    types = _TypeScript(functions)
    defined = [_function(types, function, docs) for function in types.functions]
    records = [
        f"  interface {name} {_members(fields, docs, '  ')}\n" for name, fields in types.records()
    ]
    namespace = types.functions[0].namespace if types.functions else "none"
    return f"declare namespace {namespace} {{\n{''.join(records + defined)}}}\n"


def _function(types: _TypeScript, function: HostFunction, docs: bool) -> str:
    entries = types.parameters(function)
    optional = "?" if all(entry.optional for entry in entries) else ""
    args = f"args{optional}: {_members(entries, docs, '  ')}" if entries else ""
    summary = function.summary.replace("*/", "* /")
    told = f"  /** {summary} */\n" if docs and summary else ""
    return f"{told}  function {function.name}({args}): Promise<{types.result(function)}>;\n"


def _members(entries: list[Entry], docs: bool, indent: str) -> str:
    members = []
    for entry in entries:
        name = (
            entry.name
            if entry.name.isascii() and entry.name.isidentifier()
            else _quoted(entry.name)
        )
        known = entry.optional and entry.default is not None and _default(entry.default) != "..."
        default = f"Default {_quoted(entry.default)}." if known else ""
        told = " ".join(filter(None, [entry.description, default])) if docs else ""
        members.append((f"{name}{'?' if entry.optional else ''}: {entry.type}", told))
    if any(told for _, told in members):
        lines = (f"{indent}  {text};{_comment('//', told)}\n" for text, told in members)
        return f"{{\n{''.join(lines)}{indent}}}"
    return f"{{ {'; '.join(text for text, _ in members)} }}" if members else "{}"


def _quoted(value: object) -> str:
    """A scalar in JavaScript; single quotes cost less than double ones once the text stands inside
    a JSON string.
    """
    text = json.dumps(value, ensure_ascii=False)
    return (
        f"'{value}'"
        if isinstance(value, str) and text == f'"{value}"' and "'" not in value
        else text
    )
