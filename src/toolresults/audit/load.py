"""From a file to values: decode it, then parse it as JSON, JSON Lines, or JSON texts one after
another.

    text, size = read_text("orders.json")
    document = parse(text, "orders.json")     # document.values, document.warnings

Every fault is an `InputError` whose message is one line that says what to do next. No message
quotes the file.
"""

import codecs
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

MAX_BYTES = 500_000_000
"""Largest file that is read: its parsed values take about ten times as much memory, which a laptop
still has.
"""

# The UTF-32 mark of little-endian machines begins with the UTF-16 one: longest first.
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_PACKED = (
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"),
    (b"\x28\xb5\x2f\xfd", "zstandard"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"PAR1", "Parquet"),
)
_ODDITIES = {
    "NaN or Infinity": "JSON has no such number, read as null",
    "a key twice in one object": "most readers keep the last one, as here",
    "an integer of over 4,300 digits": "read as text",
}

LONGEST_INTEGER = 4_300
"""Digits of the longest integer that Python reads (its guard against slow conversion)."""

_SPACE = " \t\n\r\x1e\ufeff"  # JSON's white space, the record separator of RFC 7464, and a mark left by joined files


class InputError(ValueError):
    """A file that cannot be read or understood; the message is one line for the person who gave
    it.
    """


@dataclass
class Document:
    """The values of a file in order: one for JSON, one a line for JSON Lines."""

    values: list
    warnings: list[str] = field(default_factory=list)


def read_text(source: str, *, is_json: bool = False) -> tuple[str, int]:
    """The text of the file *source* (`-`: standard input) and its size in bytes.

    UTF-8 is expected; a byte-order mark says otherwise. So do the zero bytes of UTF-16 and UTF-32
    where the text *is_json*, and begins with two ASCII characters therefore (RFC 4627, section 3).
    Raises `InputError`.
    """
    name = "standard input" if source == "-" else _shown(source)
    data = _read_bytes(source, name)
    for magic, kind in _PACKED:
        if data.startswith(magic):
            raise InputError(
                f"{name} is a {kind} file: unpack it (or export it as JSON) and give the text inside"
            )
    encoding = next((codec for mark, codec in _MARKS if data.startswith(mark)), None)
    encoding = encoding or (json.detect_encoding(data) if is_json else "utf-8")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"{name} is not {encoding.removesuffix('-sig').upper()} text (byte {error.start:,}): "
            "save it as UTF-8, or, if it is a binary file, give the JSON that it was made from"
        ) from None
    return text, len(data)


def _read_bytes(source: str, name: str) -> bytes:
    if source == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed: name a file, or pipe the text in")
        return sys.stdin.buffer.read()
    if not source:
        raise InputError(
            "there is no file with an empty name: name a file, or give - for standard input"
        )
    path = Path(source)
    try:
        if path.is_dir():
            raise InputError(f"{name} is a folder: give one file inside it")
        if path.stat().st_size > MAX_BYTES:
            raise InputError(
                f"{name} is over {MAX_BYTES // 1_000_000} MB: its first few thousand rows say as much, so give those"
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(
            f"{name} does not exist: check the path (this folder is {_shown(os.getcwd())})"
        ) from None
    except OSError as error:
        raise InputError(f"{name} cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{name} is not a path: {error}") from None


def _shown(path: str) -> str:
    """A path safe to print: undecodable bytes and control characters escaped, and not endless."""
    text = path.encode("utf-8", "backslashreplace").decode("utf-8")
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text if len(text) <= 200 else text[:200] + "…"


def parse(text: str, name: str) -> Document:
    """Every JSON value in *text*, with a warning for what is not quite JSON. Raises
    `InputError`.
    """
    if not text.strip(_SPACE):
        raise InputError(f"{_shown(name)} is empty: save what the tool returned and try again")
    try:
        return _parse(text, name)
    except RecursionError:
        raise InputError(
            f"{_shown(name)} is nested too deeply to be a tool result: flatten it first"
        ) from None
    except InputError:
        raise
    except (
        ValueError
    ):  # an integer that Python refuses to read; seeing each one is slower, so it is done only now
        return _parse(text, name, long_integers=True)


def _parse(text: str, name: str, long_integers: bool = False) -> Document:
    oddities = dict.fromkeys(_ODDITIES, 0)

    def constant(_: str) -> None:
        oddities["NaN or Infinity"] += 1

    def number(digits: str) -> float | None:
        value = float(digits)
        return value if abs(value) != float("inf") else constant(digits)

    def pairs(items: list) -> dict:
        result = dict(items)
        oddities["a key twice in one object"] += len(result) < len(items)
        return result

    def integer(digits: str) -> int | str:
        if len(digits) <= LONGEST_INTEGER:
            return int(digits)
        oddities["an integer of over 4,300 digits"] += 1
        return digits

    options = {"parse_int": integer} if long_integers else {}
    decoder = json.JSONDecoder(
        object_pairs_hook=pairs, parse_constant=constant, parse_float=number, **options
    )
    values, position, a_line_each = [], _skip(text, 0), True
    while position < len(text):
        start = position
        try:
            value, position = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            in_line = _error_in_line(text, start) if a_line_each else None
            raise _not_json(in_line or error, name, len(values)) from None
        values.append(value)
        a_line_each = a_line_each and text.find("\n", start, position) < 0
        position = _skip(text, position)
    warnings = [
        f"{what}, {'once' if n == 1 else f'{n:,} times'}: {_ODDITIES[what]}"
        for what, n in oddities.items()
        if n
    ]
    return Document(values, warnings)


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
    if (
        end < 0 or len(line) < 2
    ):  # one that holds nothing but a bracket opens an ordinary, indented value
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
    if not before and error.pos == len(error.doc) - len(error.doc.lstrip(_SPACE)):
        return InputError(
            f"{_shown(name)} is not JSON ({place}: {reason}): give a JSON list or object, or one JSON value a line"
        )
    done = f" after {before:,} good value{'s' * (before > 1)}" if before else ""
    return InputError(
        f"{_shown(name)} stops being JSON at {place}{done} ({reason}): mend or remove that part"
    )
