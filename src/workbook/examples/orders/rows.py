"""What an order's row is: its columns, and the check that each passes on its way into a store."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from toolresults.tokens import repair
from workbook.examples.orders.filters import REGIONS, STATUSES, to_amount

TYPES = {
    "order_id": "VARCHAR",
    "customer": "VARCHAR",
    "email": "VARCHAR",
    "address": "VARCHAR",
    "status": "VARCHAR",
    "region": "VARCHAR",
    "amount": "DECIMAL(10,2)",
    "placed_at": "TIMESTAMP",
    "note": "VARCHAR",
    "raw_payload": "VARCHAR",
}
"""The SQL type of each column."""

NULLABLE = ("amount", "note")

COLUMNS = tuple(TYPES)
"""The keys of a row. `amount` is a `Decimal` and may be None, as may `note`; `placed_at` is a naive
datetime in UTC.
"""


def check_columns(columns: Sequence[str]) -> None:
    """Raises `ValueError` unless `columns` is a list of names from `COLUMNS`, with at least one."""
    if isinstance(columns, str) or not columns:
        raise ValueError("columns is a list of names, with at least one")
    if unknown := [name for name in columns if name not in COLUMNS]:
        raise ValueError(f"no column {unknown[0]!r}: use {', '.join(COLUMNS)}")


def checked(row: Mapping) -> tuple:
    """The values of `row` in the order of `COLUMNS`; text is repaired here, once.

    Raises `ValueError` for other keys than `COLUMNS` and for a value that cannot be.
    """
    if set(row) != set(COLUMNS):
        raise ValueError(
            f"an order has the keys {', '.join(COLUMNS)}; got {', '.join(map(str, row))}"
        )
    return tuple(_checked(name, row[name]) for name in COLUMNS)


def _checked(name: str, value: object) -> object:
    if value is None and name in NULLABLE:
        return None
    if name == "amount":
        return to_amount(value)
    if name == "placed_at":
        if not isinstance(value, datetime) or value.tzinfo or value.microsecond:
            raise ValueError(
                f"placed_at is a naive datetime in UTC, in whole seconds, not {value!r}"
            )
        return value
    if not isinstance(value, str):
        raise ValueError(f"{name} is text, not {value!r}")
    for column, known in (("status", STATUSES), ("region", REGIONS)):
        if name == column and value not in known:
            raise ValueError(f"unknown {name} {value!r}: use {', '.join(known)}")
    return repair(value)
