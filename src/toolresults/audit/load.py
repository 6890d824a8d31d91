"""From a file to rows: decode it, parse it, and find the list that matters.

    text, size = read_text("orders.json", is_json=True)
    found = find_rows(text, "orders.json")     # found.rows, found.path, found.warnings

A file holds JSON, JSON Lines, or JSON texts one after another. A tool result is seldom a bare list:
the rows sit under `data` or `items`, in a map from id to object, or as JSON text inside an MCP
result. The longest list of objects is taken, and it is said where it was.

Every fault is an `InputError` whose message is one line that says what to do next. No message
quotes the file.
"""

import json
import os
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

MAX_BYTES = 500_000_000
"""Largest file that is read. An audit was measured to take 12 to 14 times a file's size in memory
(rows of text, and rows of numbers) and 250 MB for the vocabularies: 7 GB here, which a laptop still
has.
"""

_NAME_CHARS = 60
"""A field name longer than this is cut in the report: a name that long is data, and may be
secret.
"""

MAP_ENTRIES = 10
"""Fewest entries for an object whose values are all objects to be taken for a map of rows, not for
one record.
"""

_PACKED = {
    b"\x1f\x8b": "gzip",
    b"PK\x03\x04": "zip",
    b"\x28\xb5\x2f\xfd": "zstandard",
    b"BZh": "bzip2",
    b"\xfd7zXZ": "xz",
    b"PAR1": "Parquet",
}
_ODDITIES = {
    "NaN or Infinity": "JSON has no such number, read as null",
    "a key twice in one object": "most readers keep the last one, as here",
    "an integer of over 4,300 digits": "read as text",
}
# JSON's white space, the record separator of RFC 7464, and a mark left by joined files
_SPACE = " \t\n\r\x1e\ufeff"


class InputError(ValueError):
    """A file that cannot be read or understood; the message is one line for the person who gave
    it.
    """


@dataclass
class Rows:
    """Rows, and where they were found. `text` is what the model would see as it is written."""

    text: str
    document: object
    kind: str  # json, json lines, mcp, json text
    warnings: list[str]
    rows: list = field(default_factory=list)
    path: str = "$"  # "$.data"; "$" is the whole document
    others: list[tuple[str, int]] = field(default_factory=list)  # other lists: path, length


def read_text(source: str, *, is_json: bool = False) -> tuple[str, int]:
    """The text of the file *source* (`-`: standard input) and its size in bytes.

    UTF-8 is expected; a byte-order mark says otherwise. So do the zero bytes of UTF-16 and UTF-32
    where the text *is_json*, and begins with two ASCII characters therefore (RFC 4627, section 3).
    Raises `InputError`.
    """
    name = "standard input" if source == "-" else _printable(source)
    data = _read_bytes(source, name)
    for magic, kind in _PACKED.items():
        if data.startswith(magic):
            what_to_do = "unpack it (or export it as JSON) and give the text inside"
            raise InputError(f"{name} is a {kind} file: {what_to_do}")
    encoding = json.detect_encoding(data)
    if not is_json and encoding.endswith(("-le", "-be")):  # it went by zero bytes, not by a mark
        encoding = "utf-8"
    try:
        return data.decode(encoding), len(data)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not {encoding.removesuffix('-sig').upper()} text (byte {error.start:,}): "
            "save it as UTF-8, or, if it is a binary file, give the JSON that it was made from"
        ) from None


def _read_bytes(source: str, name: str) -> bytes:
    if source == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed: name a file, or pipe the text in")
        return sys.stdin.buffer.read()
    if not source:
        what_to_do = "name a file, or give - for standard input"
        raise InputError(f"there is no file with an empty name: {what_to_do}")
    path, most = Path(source), MAX_BYTES // 1_000_000
    try:
        if path.is_dir():
            fault = "is a folder: give one file inside it"
        elif path.stat().st_size > MAX_BYTES:
            fault = f"is over {most} MB: its first few thousand rows say as much, so give those"
        else:
            return path.read_bytes()
    except FileNotFoundError:
        fault = f"does not exist: check the path (this folder is {_printable(os.getcwd())})"
    except OSError as error:
        fault = f"cannot be read: {error.strerror or error}"
    except ValueError as error:
        fault = f"is not a path: {error}"
    raise InputError(f"{name} {fault}")


def _printable(path: str) -> str:
    """A path safe to print: undecodable bytes and control characters escaped, and not endless."""
    text = path.encode("utf-8", "backslashreplace").decode("utf-8")
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= 200 else text[:200] + "…"


def shown(name: str) -> str:
    """A field name that is safe to print: no control characters, at most `_NAME_CHARS`."""
    text = "".join(c if c.isprintable() else "\ufffd" for c in name[: _NAME_CHARS + 1])
    return text if len(text) <= _NAME_CHARS else text[: _NAME_CHARS - 1] + "…"


def too_deep(name: str) -> InputError:
    """What to raise for values that Python's own stack cannot hold."""
    return InputError(
        f"{_printable(name)} is nested too deeply to be a tool result: flatten it first"
    )


def parse(text: str, name: str) -> tuple[list, list[str]]:
    """Every JSON value in *text*, and a warning for each thing that is not quite JSON. Raises
    `InputError`.
    """
    odd = Counter()

    def constant(_: str) -> None:
        odd["NaN or Infinity"] += 1

    def number(digits: str) -> float | None:
        value = float(digits)
        return value if abs(value) != float("inf") else constant(digits)

    def integer(digits: str) -> int | str:
        try:
            return int(digits)
        except ValueError:  # Python's guard against slow conversion
            odd["an integer of over 4,300 digits"] += 1
            return digits

    def pairs(items: list) -> dict:
        result = dict(items)
        odd["a key twice in one object"] += len(result) < len(items)
        return result

    decoder = json.JSONDecoder(
        object_pairs_hook=pairs, parse_constant=constant, parse_float=number, parse_int=integer
    )
    values, position, a_line_each = [], _skip(text, 0), True
    if position == len(text):
        raise InputError(f"{_printable(name)} is empty: save what the tool returned and try again")
    while position < len(text):
        start = position
        try:
            value, position = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            in_line = _error_in_line(text, start) if a_line_each else None
            raise _not_json(in_line or error, _printable(name), len(values)) from None
        except RecursionError:
            raise too_deep(name) from None
        values.append(value)
        a_line_each = a_line_each and text.find("\n", start, position) < 0
        position = _skip(text, position)
    times = {what: "once" if odd[what] == 1 else f"{odd[what]:,} times" for what in +odd}
    return values, [f"{w}, {times[w]}: {told}" for w, told in _ODDITIES.items() if w in times]


def _skip(text: str, position: int) -> int:
    while position < len(text) and text[position] in _SPACE:
        position += 1
    return position


def _error_in_line(text: str, start: int) -> json.JSONDecodeError | None:
    """What is wrong with the line at *start* of JSON Lines, None where the text is not that.

    A line that breaks off is read on into the next ones, and the fault then found is lines away
    from the cause.
    """
    end = text.find("\n", start)
    line, rest = text[start:end].rstrip(_SPACE), text[end:].lstrip(_SPACE)
    # a line that holds nothing but a bracket opens an ordinary, indented value
    if end < 0 or len(line) < 2:
        return None
    try:  # the next line is whole in JSON Lines; one in the middle of a value is not
        json.loads(rest.partition("\n")[0])
    except (ValueError, RecursionError):
        return None
    try:
        json.JSONDecoder().raw_decode(line)
    except json.JSONDecodeError as error:
        return json.JSONDecodeError(error.msg, text, start + error.pos)
    except ValueError:
        pass
    return None


def _not_json(error: json.JSONDecodeError, name: str, before: int) -> InputError:
    place = f"line {error.lineno:,}, column {error.colno:,}"
    reason = error.msg[:1].lower() + error.msg[1:]
    if not before and error.pos == _skip(error.doc, 0):
        what_to_do = "give a JSON list or object, or one JSON value a line"
        return InputError(f"{name} is not JSON ({place}: {reason}): {what_to_do}")
    done = f" after {before:,} good value{'s' * (before > 1)}" if before else ""
    return InputError(
        f"{name} stops being JSON at {place}{done} ({reason}): mend or remove that part"
    )


def find_rows(text: str, name: str, wanted: str | None = None) -> Rows:
    """The rows in *text*. `wanted` is the path of a list to take instead of the longest. Raises
    `InputError`.
    """
    values, warnings = parse(text, name)
    kind = "json" if len(values) == 1 else "json lines"
    found = Rows(text, _one_or_all(values), kind, warnings)
    _unwrap(found)
    lists = _lists_of_objects(found.document)
    if wanted:
        path = wanted if wanted.startswith("$") else f"$.{wanted}"
        if path not in lists:
            there = ", ".join(list(lists)[:5]) or "none"
            raise InputError(f"no list of objects at {wanted[:80]}: there is {there}")
    else:  # the first of the longest: they come outermost first
        path = max(lists, key=lambda path: len(lists[path]), default=None)
        others = [(other, len(rows)) for other, rows in lists.items() if other != path]
        found.others = sorted(others, key=lambda other: -other[1])[:3]
    if path:
        found.path, found.rows = path, lists[path]
    else:
        found.rows = found.document if isinstance(found.document, list) else [found.document]
    return found


def _one_or_all(values: list) -> object:
    return values[0] if len(values) == 1 else values


def _unwrap(found: Rows) -> None:
    """Replace an MCP result, or JSON kept as a string, by what the model is shown."""
    value = found.document
    if isinstance(value, str):
        if inner := _json_inside(value):
            found.text, found.kind, found.document = value, "json text", _one_or_all(inner[0])
            found.warnings += inner[1]
        return
    if isinstance(value, dict) and "jsonrpc" in value and isinstance(value.get("result"), dict):
        value = value["result"]
    blocks = value.get("content") if isinstance(value, dict) else value
    if not isinstance(blocks, list):
        return
    if not all(isinstance(block, dict) and "type" in block for block in blocks):
        return
    texts = [block.get("text") for block in blocks if block["type"] == "text"]
    texts = [text for text in texts if isinstance(text, str)]
    if not texts:
        return
    values, without_json = [], "a text block holds no JSON: it is measured as text"
    for text in texts:
        inner, warnings = _json_inside(text) or ([text], [without_json])
        values += inner
        found.warnings += warnings
    found.text, found.kind, found.document = "\n".join(texts), "mcp", _one_or_all(values)
    if isinstance(value, dict) and value.get("structuredContent") is not None:
        twice = "structuredContent is there beside the text: a host that sends both pays twice"
        found.warnings.append(twice)
    if other := len(blocks) - len(texts):
        blocks_not_counted = f"{other:,} content block{'s' * (other > 1)} without text"
        found.warnings.append(f"{blocks_not_counted} (images, links) not counted")


def _json_inside(text: str) -> tuple[list, list[str]] | None:
    try:
        return parse(text, "the text") if text.lstrip()[:1] in ("{", "[") else None
    except InputError:
        return None


def _lists_of_objects(document: object) -> dict[str, list]:
    """Every list of objects that is not inside another one, by path, outermost first."""
    found: dict[str, list] = {}
    queue: list[tuple[str, object]] = [("$", document)]
    for path, value in queue:  # grows as it is walked: breadth first, and no recursion
        if isinstance(value, list):
            if len(value) == 1 and path == "$" and _holds_rows(value[0]):
                queue.append(("$[0]", value[0]))
            elif any(isinstance(item, dict) for item in value):
                found[path] = value
            elif value and all(isinstance(item, list) for item in value):
                flat = [item for page in value for item in page]
                if flat and all(isinstance(item, dict) for item in flat):
                    found[f"{path}[*]"] = flat
        elif isinstance(value, dict):
            if len(value) >= MAP_ENTRIES and all(isinstance(item, dict) for item in value.values()):
                found[f"{path}.*"] = list(value.values())
            else:
                queue += [(f"{path}.{shown(key)}", item) for key, item in value.items()]
    return found


def _holds_rows(value: object) -> bool:
    return isinstance(value, dict) and any(
        isinstance(item, list) and len(item) > 1 and isinstance(item[0], dict)
        for item in value.values()
    )
