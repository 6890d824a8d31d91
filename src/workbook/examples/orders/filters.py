"""Which orders are wanted, as plain values, and as a WHERE clause with bound parameters."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, InvalidOperation

STATUSES = ("paid", "pending", "refunded", "failed")
REGIONS = ("north", "south", "central")

_CENT = Decimal("0.01")
_MOST = Decimal("100000000.00")  # one cent more than the column DECIMAL(10,2) holds


@dataclass(frozen=True)
class OrderFilter:
    """Which orders are wanted; None means any.

    Bounds on the amount are inclusive, and an order whose amount is unknown meets none.
    `placed_after` means on or after, `placed_before` strictly before, so that two adjoining ranges
    share no order. Values are brought to one form (bounds in cents, times as naive datetimes in
    UTC), so that filters that mean the same are equal.

    Raises `ValueError` for a status, region, amount or time that cannot be.
    """

    status: str | None = None
    region: str | None = None
    min_amount: Decimal | int | float | None = None
    max_amount: Decimal | int | float | None = None
    placed_after: datetime | date | None = None
    placed_before: datetime | date | None = None

    def __post_init__(self) -> None:
        for name, known in (("status", STATUSES), ("region", REGIONS)):
            value = getattr(self, name)
            if value is not None and value not in known:
                raise ValueError(f"unknown {name} {value!r}: use {', '.join(known)}")
        for name, rounding in (("min_amount", ROUND_CEILING), ("max_amount", ROUND_FLOOR)):
            value = getattr(self, name)
            if value is not None:
                # amounts are whole cents: rounding a bound inwards keeps its meaning
                bound = max(-_MOST, min(_MOST, _finite(value)))
                object.__setattr__(self, name, bound.quantize(_CENT, rounding))
        for name in ("placed_after", "placed_before"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _utc(value, name))

    def where(self) -> tuple[str, list]:
        """The SQL condition, with a `?` for each value, and the values."""
        conditions = {
            "status = ?": self.status,
            "region = ?": self.region,
            "amount >= ?": self.min_amount,
            "amount <= ?": self.max_amount,
            "placed_at >= ?": self.placed_after,
            "placed_at < ?": self.placed_before,
        }
        wanted = {sql: value for sql, value in conditions.items() if value is not None}
        return " AND ".join(wanted) or "TRUE", list(wanted.values())


def to_amount(value: Decimal | int | float) -> Decimal:
    """`value` in cents, exactly. Raises `ValueError` for a fraction of a cent or more than
    DECIMAL(10,2) holds.
    """
    amount = _finite(value)
    if abs(amount) >= _MOST or amount != amount.quantize(_CENT, ROUND_FLOOR):
        raise ValueError(f"an amount has two decimals and eight digits before them, not {value!r}")
    return amount.quantize(_CENT)


def _finite(value: Decimal | int | float) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, Decimal | int | float):
        raise ValueError(f"an amount is a number, not {value!r}")
    try:
        amount = Decimal(
            str(value)
        )  # through text: a float's own digits (10.1), not its binary expansion
    except (InvalidOperation, ValueError):
        raise ValueError("an amount has at most a few thousand digits") from None
    if not amount.is_finite():
        raise ValueError(f"an amount is finite, not {value!r}")
    return amount


def _utc(value: datetime | date, name: str) -> datetime:
    if not isinstance(value, date):
        raise ValueError(f"{name} is a date or a datetime, not {value!r}")
    if not isinstance(value, datetime):
        return datetime.combine(value, time())
    try:
        return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    except OverflowError:
        raise ValueError(f"{name} is out of range: {value!r}") from None
