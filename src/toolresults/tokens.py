"""What the model pays for: one way to turn a value into text, and an exact count of that text.

- `to_json` is the only way a value becomes text in this project. What an API or a database returns
  holds dates, decimals, identifiers, data frames; `plain` says once what becomes of each.
- `count_tokens` counts that text exactly; `estimate_tokens` is the usual rule of thumb (characters
  ÷ 4).

Counting is done by toktok, whose vocabularies are inside its wheel, so the first count needs no
network. It counts as tiktoken does, but for the letters, marks and digits that Unicode 17.0 added
in 2025, which tiktoken 0.14 does not know.
"""

import base64
import dataclasses
import datetime as dt
import decimal
import enum
import json
import math
import os
import uuid
from collections.abc import Iterable, Mapping, Set
from functools import lru_cache

import toktok

ENCODINGS = ("o200k_base", "cl100k_base", "qwen3.5")
"""The encodings that `count_tokens` knows: GPT-4o and later, GPT-4, and Qwen 3.5."""

MAX_DEPTH = 200
"""Deepest nesting, in levels, that `plain` accepts: far above real API results, far below Python's
1,000 frames.
"""


def count_tokens(text: str, encoding: str = "o200k_base") -> int:
    """Exact number of tokens in `text`, for any `str` whatsoever.

    Text that looks like a special token (`<|endoftext|>`) is counted as plain text, since that is
    how an API treats it in a message. Raises `ValueError` for an unknown encoding and `TypeError`
    for anything but a `str`.
    """
    return count_many([text], encoding)[0]


def count_many(texts: Iterable[str], encoding: str = "o200k_base") -> list[int]:
    """Exact number of tokens in each text, in order; see `count_tokens`."""
    if encoding not in ENCODINGS:
        raise ValueError(f"unknown encoding {encoding!r}: use one of {', '.join(ENCODINGS)}")
    texts = list(texts)
    for text in texts:
        if not isinstance(text, str):
            kind = type(text).__name__
            what_to_do = "pass to_json(value) to count a value"
            raise TypeError(f"count_tokens takes text, got {kind}: {what_to_do}")
    return toktok.batch_count([repair(text) for text in texts], encoding, threads=1)


def estimate_tokens(text: str) -> int:
    """The estimate that most vendors use: characters ÷ 4, rounded down."""
    return len(text) // 4


@lru_cache
def tiktoken_encoding(name: str = "o200k_base"):
    """OpenAI's own tokenizer as a `tiktoken.Encoding`, built without a download.

    tiktoken fetches its vocabulary on first use. The same bytes are inside toktok's wheel, so they
    are taken from there. Raises `ValueError` for an encoding that tiktoken does not have.
    """
    import tiktoken
    from tiktoken_ext import openai_public

    # ordinary tokens, before the special ones
    sizes = {"o200k_base": 199_998, "cl100k_base": 100_256}
    if name not in sizes:
        raise ValueError(f"tiktoken has no encoding {name!r}: use {' or '.join(sizes)}")
    source = toktok._encoding(name)

    def from_wheel(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
        return {source.decode_single_token_bytes(i): i for i in range(sizes[name])}

    constructor = openai_public.ENCODING_CONSTRUCTORS[name]
    offline = type(constructor)(
        constructor.__code__, {**constructor.__globals__, "load_tiktoken_bpe": from_wheel}
    )
    return tiktoken.Encoding(**offline())


def to_json(value: object) -> str:
    """`value` as compact JSON text: no spaces, no ASCII escapes, always valid.

    What becomes of dates, decimals, data frames and the rest: see `plain`, which raises
    `ValueError` for what has no honest JSON.
    """
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def repair(text: str) -> str:
    """`text` with its surrogates mended, so that it can be written as UTF-8.

    A pair of surrogates becomes the character that it stands for; a lone one becomes U+FFFD. Such
    text comes from JSON that was cut inside an escape: `"\\ud83d` without its second half.
    """
    try:
        text.encode()  # three times as fast as looking for surrogates, and nearly all text passes
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def plain(value: object) -> object:
    """`value` made of dict, list, str, int, float, bool and None alone.

    Dates become ISO 8601, UUIDs and paths their text, a `Decimal` a number (its digits as a string
    where a float would change them), an `Enum` its value, a set a sorted list, bytes their UTF-8
    text (a `data:` URI where they are not text), a duration its seconds, a data class, pydantic
    model or data frame its fields. A missing value (`None`, NaN, `pandas.NA`, `NaT`) becomes
    `null`. numpy and pandas scalars become what they hold.

    Raises `ValueError`, naming the place, for what has no honest JSON: an infinity, keys that
    collide (`1` and `"1"`), keys that are not scalars, a cycle, nesting deeper than `MAX_DEPTH`, an
    unknown type.
    """
    try:
        return _plain(value, None, [])
    # the caller is deep in the stack already, or an attribute of the value never ends
    except RecursionError:
        too_deep = "nested too deep for what is left of Python's stack: flatten it first"
        raise ValueError(too_deep) from None


_Place = tuple["_Place", str | int] | None
"""Where a value stands, innermost key first; made into text only for an error."""


def _at(where: _Place) -> str:
    steps = []
    while where:
        where, step = where
        steps.append(f"[{step}]" if isinstance(step, int) else f".{step[:40]}")
    return "$" + "".join(reversed(steps))


_SMALL = 10**18


def _plain(value: object, where: _Place, parents: list[int]) -> object:
    """`value` made of dict, list, str, int, float, bool and None alone."""
    kind = type(value)
    if kind is str:
        return repair(value)
    # nearly all values end here: 10,000 rows go through in a quarter of the time
    if value is None or kind is bool or (kind is int and -_SMALL < value < _SMALL):
        return value
    if kind is float and math.isfinite(value):
        return value
    if kind is dict or kind is list:
        return _container(value, where, parents)
    # a class has the attributes of its instances, but none of their values
    if isinstance(value, type):
        return _scalar(value, where)
    if isinstance(value, enum.Enum):
        return _plain(value.value, where, parents)
    if isinstance(value, Mapping | list | tuple | Set) or dataclasses.is_dataclass(value):
        return _container(value, where, parents)
    if hasattr(value, "model_dump"):  # a pydantic model
        return _plain(value.model_dump(), where, parents)
    if hasattr(value, "tolist"):
        return _plain(_from_numpy(value, where), where, parents)
    if hasattr(value, "to_dict") and hasattr(value, "columns"):  # a data frame: a record a row
        if not getattr(value.columns, "is_unique", True):
            what = "a data frame with two columns of one name"
            raise ValueError(f"{_at(where)} is {what}: rename one")
        return _plain(value.to_dict("records"), where, parents)
    return _scalar(value, where)


def _from_numpy(value: object, where: _Place) -> object:
    """What a numpy scalar or array, or a pandas Series or Index, holds, in Python's own types."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind in ("m", "M") and hasattr(value, "astype"):
        # `tolist` gives bare integers for nanoseconds, for months and years, and past the year 9999
        unit = "datetime64" if kind == "M" else "timedelta64"
        value = value.astype(f"{unit}[us]")
        found = value.tolist()
        if any(type(item) is int for item in (found if isinstance(found, list) else [found])):
            what = f"a {unit} that Python's own dates cannot hold"
            raise ValueError(f"{_at(where)} holds {what}: convert it to text")
        return found
    found = value.tolist()
    # Python has nothing like it: a longdouble, which is rounded, or a complex of those
    if type(found) is type(value):
        return float(found) if hasattr(found, "is_integer") else _scalar(found, where)
    return found


def _container(value: object, where: _Place, parents: list[int]) -> object:
    if id(value) in parents:
        raise ValueError(f"{_at(where)} holds itself: a cycle has no JSON")
    if len(parents) >= MAX_DEPTH:
        what_to_do = "flatten it before it becomes a tool result"
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels: {what_to_do}")
    parents.append(id(value))
    if type(value) is not dict and dataclasses.is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        result = {}
        for key, item in value.items():
            name = repair(key) if type(key) is str else _key(key, where)
            if name in result:
                what = f"two keys that are both {name[:40]!r} in JSON"
                raise ValueError(f"{_at(where)} has {what}: rename one")
            result[name] = _plain(item, (where, name), parents)
    else:
        result = [_plain(item, (where, i), parents) for i, item in enumerate(value)]
        # a set has no order of its own; the text must be the same every time
        if isinstance(value, Set):
            result.sort(key=_rank)
    parents.pop()
    return result


def _rank(item: object) -> tuple[int, object]:
    """The order of a set in JSON: numbers by size, then texts, then the rest by its JSON."""
    if isinstance(item, int | float) and not isinstance(item, bool):
        return 0, item
    return (1, item) if isinstance(item, str) else (2, json.dumps(item, sort_keys=True))


def _key(key: object, where: _Place) -> str:
    if hasattr(key, "tolist") and not isinstance(key, type):
        key = _from_numpy(key, where)
    name = key if isinstance(key, tuple | frozenset) else _scalar(key, where)
    if isinstance(name, str):
        return name
    if name is None or isinstance(name, bool | int | float):
        return json.dumps(name)
    what = f"the key {str(key)[:40]!r} ({type(key).__name__})"
    raise ValueError(f"{_at(where)} has {what}: JSON keys are text")


def _scalar(value: object, where: _Place) -> object:
    match value:
        case None | bool():
            return value
        case enum.Enum():
            return _scalar(value.value, where)
        case str():
            return repair(str(value))
        case int():
            return _integer(value, where)
        case float():
            return _number(value, where)
        case decimal.Decimal():
            return _decimal(value, where)
        case dt.timedelta():
            return _number(value.total_seconds(), where)
        case dt.datetime() | dt.date() | dt.time():
            text = value.isoformat()
            return None if text == "NaT" else text
        case uuid.UUID() | os.PathLike():
            return repair(str(value))
        case bytes() | bytearray() | memoryview():
            return _bytes(bytes(value))
    if type(value).__name__ == "NAType":  # pandas.NA, recognised without importing pandas
        return None
    what = f"of type {type(value).__name__}, which has no JSON"
    raise ValueError(f"{_at(where)} is {what}: convert it first")


def _integer(value: int, where: _Place) -> int:
    try:
        str(value)
    except ValueError:
        what = "an integer of over 4,300 digits"
        raise ValueError(f"{_at(where)} is {what}: send it as text") from None
    return int(value)


def _number(value: float, where: _Place) -> float | None:
    if math.isnan(value):
        return None
    if math.isinf(value):
        raise ValueError(f"{_at(where)} is infinite, which JSON cannot say: send null or text")
    return float(value)


def _decimal(value: decimal.Decimal, where: _Place) -> float | str | None:
    if value.is_nan():
        return None
    if value.is_infinite():
        raise ValueError(f"{_at(where)} is infinite, which JSON cannot say: send null or text")
    as_float = float(value)
    # repr(float) is what JSON will show: only if it names the same number is nothing lost
    exact = not math.isinf(as_float) and decimal.Decimal(repr(as_float)) == value
    return as_float if exact else str(value)


def _bytes(value: bytes) -> str:
    try:
        return value.decode("utf-8")
    except UnicodeDecodeError:
        return "data:application/octet-stream;base64," + base64.b64encode(value).decode("ascii")
