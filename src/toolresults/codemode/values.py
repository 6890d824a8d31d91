"""The size of what comes out of a sandbox, found before it is copied: a kilobyte of code can hold a
terabyte of list.

`x = [0] * 1000; x = [x] * 1000; x = [x] * 1000` takes a few kilobytes, because the rows are one
row; as JSON it is two gigabytes.
"""

import datetime as dt
import decimal
import json
from pathlib import PurePath

from ..tokens import repair

_SHORT = (float, bool, type(None))
_TEXT = (decimal.Decimal, PurePath, dt.date, dt.time, dt.timedelta)


def is_over(value: object, most: int) -> bool:
    """Whether the JSON of `value` surely takes more than `most` characters.

    Goes down level by level. What stands in a level more than once is looked at once, and counted
    as often.
    """
    chars, level = 0, {id(value): (value, 1)}
    while level and chars <= most:
        deeper: dict[int, tuple[object, int]] = {}
        for item, times in level.values():
            if isinstance(item, str | bytes):
                chars += len(item) * times
            elif isinstance(item, dict | list | tuple | set | frozenset):
                chars += 2 * len(item) * times  # each item takes a character and a comma
                if chars > most:
                    return True
                for part in (*item, *item.values()) if isinstance(item, dict) else item:
                    if isinstance(part, str):
                        chars += len(part) * times
                    elif type(part) is int:  # a bit is 0.301 digits
                        chars += part.bit_length() * 3 // 10 * times
                    elif isinstance(part, _TEXT):
                        chars += len(str(part)) * times
                        if chars > most:
                            return True
                    elif type(part) not in _SHORT:
                        deeper[id(part)] = (part, times + deeper.get(id(part), (None, 0))[1])
        level = deeper
    return chars > most


def beginning(value: object, most: int) -> str:
    """The first `most` characters of the JSON of `value`, made piece by piece, so that the rest
    costs nothing.
    """
    encoder = json.JSONEncoder(
        ensure_ascii=False, separators=(",", ":"), skipkeys=True, default=_other
    )
    text = ""
    try:
        for piece in encoder.iterencode(value):
            text += piece[:most]
            if len(text) >= most:
                break
    except (RecursionError, ValueError):
        pass  # nested too deep for the stack: the beginning is what there is
    return repair(text[:most])


def _other(value: object) -> object:
    """What stands for a value that JSON has no form for. An object's own text may be as long as all
    that it holds.
    """
    if isinstance(value, set | frozenset):
        return list(value)
    return str(value) if isinstance(value, _TEXT) else type(value).__name__
