"""Checks of what a caller filled in, with a message that says what would do."""

import datetime as dt
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TypeVar

from .access import BadValue, shown
from .shapes import to_day

MAX_AMOUNT = 1_000_000_000
MAX_TEXT = 2_000
"""Longest text that is stored, in characters."""

Given = TypeVar("Given")
Checked = TypeVar("Checked")


def optional(check: Callable[[Given], Checked], value: Given | None) -> Checked | None:
    """`check(value)`, or None if there is no value."""
    return None if value is None else check(value)


def containing(column: str, text: str | None) -> dict[str, object]:
    """The condition that `text` occurs in `column`: as plain text, in which % and * are only
    themselves.
    """
    return {f"contains(strip_accents(lower({column})), strip_accents(lower(?)))": text}


def choice(name: str, value: str | None, choices: Sequence[str]) -> str | None:
    """The value, if it is None or one of `choices`. Raises `BadValue`, naming them."""
    if value is not None and value not in choices:
        raise BadValue(f"{name} is one of {', '.join(choices)}, not {shown(repr(value))}.")
    return value


def day(name: str, value: dt.date | str | None) -> dt.date | None:
    """A date, also from ISO 8601 text. Raises `BadValue`."""
    try:
        value = to_day(value)
    except ValueError as error:
        raise BadValue(f"{name}: {error}") from None
    if value is not None and (not isinstance(value, dt.date) or isinstance(value, dt.datetime)):
        raise BadValue(f"{name} is a date such as 2026-03-01.")
    return value


def amount(name: str, value: float | None) -> Decimal | None:
    """Money with two decimals, from 0 to `MAX_AMOUNT`. Raises `BadValue`."""
    if value is None:
        return None
    if not 0 <= value <= MAX_AMOUNT:  # NaN is neither
        raise BadValue(f"{name} is between 0 and {MAX_AMOUNT:,}.")
    return Decimal(str(value)).quantize(Decimal("0.01"))


def text(name: str, value: str, most: int = MAX_TEXT) -> str:
    """Text to be stored, without blanks around it. Raises `BadValue` if it is empty or over `most`
    characters.
    """
    value = value.strip()
    if not 1 <= len(value) <= most:
        raise BadValue(f"{name} has 1 to {most:,} characters, not {len(value):,}.")
    return value
