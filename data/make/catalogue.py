"""Makes definitions of what a company's other systems could do: seven functions for each object of
`catalogue.json`.

`python data/make/catalogue.py` writes `data/company_catalogue.json` anew, and prints its sha256.
The table holds, for each namespace, its objects with their fields (text, a number, a date, the id
of another object, or a choice), and two actions of each: a verb and the rest of its sentence, so
that `send`: `to the customer` of an invoice is `send_invoice`, "Sends an invoice to the customer."
What people call the objects and the verbs becomes the functions' search words: a company would
write them for all its functions, and words for some alone would make those easier to find among
hundreds than they are.
"""

import hashlib
import json
from collections.abc import Iterator
from itertools import chain

from workbook.paths import data_path

TABLE = json.loads(data_path("make/catalogue.json").read_text(encoding="utf-8"))

_TEXT, _WHOLE = {"type": "string"}, {"type": "integer"}
_KINDS = {
    "text": _TEXT,
    "number": {"type": "number"},
    "whole": _WHOLE,
    "date": {"type": "string", "format": "date"},
}
_LISTED = {"limit": {"$ref": "Limit", "default": 50}, "cursor": {"$ref": "Cursor", "default": None}}
_PAGE = {
    "total": _WHOLE,
    "next_cursor": {"anyOf": [_TEXT, {"type": "null"}]},
    "note": {**_TEXT, "optional": True},
}


def make_catalogue() -> dict[str, dict]:
    """The records by name, and the functions by path: the namespaces take turns, object by object,
    so that the first eighty or so functions already name them all.
    """
    records, functions = {}, {}
    groups = [
        [(namespace, name, told) for name, told in objects.items()]
        for namespace, objects in TABLE["objects"].items()
    ]
    for namespace, name, told in chain.from_iterable(zip(*groups, strict=True)):
        record = name.title().replace("_", "")
        fields = {f"{name}_id": _TEXT}
        for field, kind in told["fields"].items():
            fields[field] = _TEXT if kind == "id" else _schema(field, kind)
        page = {"items": {"type": "array", "items": {"$ref": record}}, **_PAGE}
        records |= {record: fields, f"{record}Page": page}
        for function, definition in _functions(namespace, name, told, record):
            functions[f"{namespace}.{function}"] = definition
    return {"records": records, "functions": functions}


def _functions(
    namespace: str, name: str, told: dict, record: str
) -> Iterator[tuple[str, dict[str, object]]]:
    """The seven functions of one object, by name."""
    label, many = name.replace("_", " "), _plural(name)
    article, plural = "an" if label[0] in "aeio" else "a", many.replace("_", " ")
    inputs = {field: _schema(field, kind) for field, kind in told["fields"].items()}
    first = next(iter(inputs))
    narrow = _optional({first: inputs[first]})
    key = {
        f"{name}_id": {**_TEXT, "description": f"Id of the {label}, from {namespace}.list_{many}."}
    }
    one, page = {"$ref": record}, {"$ref": f"{record}Page"}
    counts = {"type": "object", "additionalProperties": _WHOLE}

    def made(verb: str, noun: str, doc: str, parameters: dict, returns: dict) -> tuple[str, dict]:
        return f"{verb}_{noun}", {
            "description": doc,
            "search_words": f"{TABLE['verbs'][verb]}, {told['search_words']}",
            "parameters": parameters,
            "returns": returns,
        }

    yield made("list", many, f"Lists {plural}, the newest first.", narrow | _LISTED, page)
    yield made("get", name, f"Reads one {label}.", key, one)
    yield made(
        "create", name, f"Creates {article} {label}, and returns it with its id.", inputs, one
    )
    changed = f"Changes {article} {label}; what is left out stays."
    yield made("update", name, changed, key | _optional(inputs), one)
    since = _optional({"since": _KINDS["date"]})
    by = f"Counts {plural} by {first.replace('_', ' ')}."
    yield made("count", many, by, narrow | since, counts)
    comment = {"anyOf": [_TEXT, {"type": "null"}], "description": "Kept with the change."}
    for verb, rest in told["actions"].items():
        doc = f"{_third_person(verb)} {article} {label} {rest}."
        yield made(verb, name, doc, key | {"comment": {**comment, "default": None}}, one)


def _schema(field: str, kind: str | list[str]) -> dict[str, object]:
    """A field as a parameter, in JSON Schema."""
    if isinstance(kind, list):
        return {"enum": kind}
    if kind == "id":
        what = field.removesuffix("_id").replace("_", " ")
        return {**_TEXT, "description": f"Id of the {what}."}
    return _KINDS[kind]


def _optional(parameters: dict[str, dict]) -> dict[str, dict]:
    return {
        name: {"anyOf": [schema, {"type": "null"}], "default": None}
        for name, schema in parameters.items()
    }


def _plural(name: str) -> str:
    if name.endswith("y") and name[-2] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}s"


def _third_person(verb: str) -> str:
    """`check_in` as "Checks in", `verify` as "Verifies"."""
    first, *more = verb.split("_")
    first = _plural(first) if not first.endswith(("ch", "sh", "ss", "x")) else f"{first}es"
    return " ".join([first.capitalize(), *more])


def as_text(catalogue: dict[str, dict]) -> str:
    """The file's text: JSON with a record or a function a line."""
    parts = (
        f'"{part}": {{\n'
        + ",\n".join(f'"{name}": {json.dumps(told)}' for name, told in entries.items())
        + "\n}"
        for part, entries in catalogue.items()
    )
    return "{\n" + ",\n".join(parts) + "\n}\n"


if __name__ == "__main__":
    _bytes = as_text(make_catalogue()).encode()
    data_path("company_catalogue.json").write_bytes(_bytes)
    print(hashlib.sha256(_bytes).hexdigest())
