"""A value as plain JSON values: dict, list, str, int, float, bool and None, and nothing else.

What an API or a database returns holds dates, decimals, identifiers, data frames. This says once
what becomes of each.
"""

import dataclasses
import datetime as dt
import decimal
import enum
import json
import math
import os
import uuid
from collections.abc import Mapping, Set

MAX_DEPTH = 200
"""Deepest nesting, in levels, that `plain` accepts: far above real API results, far below Python's
1,000 frames.
"""


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
    except (
        RecursionError
    ):  # the caller is deep in the stack already, or an attribute of the value never ends
        raise ValueError(
            "nested too deep for what is left of Python's stack: flatten it first"
        ) from None


Place = tuple["Place", str | int] | None
"""Where a value stands, innermost key first; made into text only for an error."""


def _at(where: Place) -> str:
    steps = []
    while where:
        where, step = where
        steps.append(f"[{step}]" if isinstance(step, int) else f".{step[:40]}")
    return "$" + "".join(reversed(steps))


_SMALL = 10**18


def _plain(value: object, where: Place, parents: list[int]) -> object:
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
    if isinstance(
        value, type
    ):  # a class has the attributes of its instances, but none of their values
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
            raise ValueError(
                f"{_at(where)} is a data frame with two columns of one name: rename one"
            )
        return _plain(value.to_dict("records"), where, parents)
    return _scalar(value, where)


def _from_numpy(value: object, where: Place) -> object:
    """What a numpy scalar or array, or a pandas Series or Index, holds, in Python's own types."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind in ("m", "M") and hasattr(value, "astype"):
        # `tolist` gives bare integers for nanoseconds, for months and years, and past the year 9999
        unit = "datetime64" if kind == "M" else "timedelta64"
        value = value.astype(f"{unit}[us]")
        found = value.tolist()
        if any(type(item) is int for item in (found if isinstance(found, list) else [found])):
            raise ValueError(
                f"{_at(where)} holds a {unit} that Python's own dates cannot hold: convert it to text"
            )
        return found
    found = value.tolist()
    if type(found) is type(
        value
    ):  # Python has nothing like it: a longdouble, which is rounded, or a complex of those
        return float(found) if hasattr(found, "is_integer") else _scalar(found, where)
    return found


def _container(value: object, where: Place, parents: list[int]) -> object:
    if id(value) in parents:
        raise ValueError(f"{_at(where)} holds itself: a cycle has no JSON")
    if len(parents) >= MAX_DEPTH:
        raise ValueError(
            f"nested deeper than {MAX_DEPTH} levels: flatten it before it becomes a tool result"
        )
    parents.append(id(value))
    if type(value) is not dict and dataclasses.is_dataclass(value):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        result = {}
        for key, item in value.items():
            name = repair(key) if type(key) is str else _key(key, where)
            if name in result:
                raise ValueError(
                    f"{_at(where)} has two keys that are both {name[:40]!r} in JSON: rename one"
                )
            result[name] = _plain(item, (where, name), parents)
    else:
        result = [_plain(item, (where, i), parents) for i, item in enumerate(value)]
        if isinstance(
            value, Set
        ):  # a set has no order of its own; the text must be the same every time
            result.sort(key=_rank)
    parents.pop()
    return result


def _rank(item: object) -> tuple[int, object]:
    """The order of a set in JSON: numbers by size, then texts, then the rest by its JSON."""
    if isinstance(item, int | float) and not isinstance(item, bool):
        return 0, item
    return (1, item) if isinstance(item, str) else (2, json.dumps(item, sort_keys=True))


def _key(key: object, where: Place) -> str:
    if hasattr(key, "tolist") and not isinstance(key, type):
        key = _from_numpy(key, where)
    name = key if isinstance(key, tuple | frozenset) else _scalar(key, where)
    if isinstance(name, str):
        return name
    if name is None or isinstance(name, bool | int | float):
        return json.dumps(name)
    raise ValueError(
        f"{_at(where)} has the key {str(key)[:40]!r} ({type(key).__name__}): JSON keys are text"
    )


def _scalar(value: object, where: Place) -> object:
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
    raise ValueError(
        f"{_at(where)} is of type {type(value).__name__}, which has no JSON: convert it first"
    )


def _integer(value: int, where: Place) -> int:
    try:
        str(value)
    except ValueError:
        raise ValueError(
            f"{_at(where)} is an integer of over 4,300 digits: send it as text"
        ) from None
    return int(value)


def _number(value: float, where: Place) -> float | None:
    if math.isnan(value):
        return None
    if math.isinf(value):
        raise ValueError(f"{_at(where)} is infinite, which JSON cannot say: send null or text")
    return float(value)


def _decimal(value: decimal.Decimal, where: Place) -> float | str | None:
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
        import base64

        return "data:application/octet-stream;base64," + base64.b64encode(value).decode("ascii")
