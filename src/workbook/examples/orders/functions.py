"""What a model's code may call in front of the order system: all rows at once, since they go to
code, not to a model.

    functions = order_functions(OrderStore.open())
    functions["orders.rows"](fields=["region", "status"])       # 10,000 rows
    Tool(functions["orders.refund_rates"]).call({"by": "region"})  # such a function is a tool, too

They are plain typed functions: a sandbox can offer them under their names, and each can be made a
tool. As with the tools, secrets are redacted, and e-mail and postal addresses are never handed out.
"""

from collections import Counter
from collections.abc import Callable
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal, NotRequired, TypedDict

from pydantic import Field

from toolresults.results.budget import clamp
from toolresults.results.redact import redact
from toolresults.results.shape import clean
from toolresults.tools import Moment, Number, ToolError, Whole

from .store import REGIONS, STATUSES, OrderFilter, OrderStore

_MOST_ROWS = 20_000
"""Most rows that one call gives to code, unless the host says otherwise."""

_MOST_GROUPS = 50
"""Most groups that `orders.refund_rates` gives, whatever is asked."""

FIELDS = ("order_id", "customer", "status", "region", "amount", "placed_at", "note")
"""The fields of a row that code may ask for."""


class OrderRow(TypedDict, total=False):
    """An order as code gets it: the fields that it asked for."""

    order_id: str
    customer: str
    status: Literal[STATUSES]
    region: Literal[REGIONS]
    amount: Annotated[Decimal | None, Field(description="None if unknown.")]
    placed_at: Annotated[datetime, Field(description="UTC.")]
    note: str | None


class RefundRate(TypedDict):
    """A group of orders: how many, how many of them refunded, and the share."""

    group: str
    orders: int
    refunded: int
    rate: float


class RefundRates(TypedDict):
    """Refund rates by group, the highest first."""

    total_groups: int
    shown: int
    items: list[RefundRate]
    note: NotRequired[str]


Status = Annotated[Literal[STATUSES] | None, Field(description="Only this status.")]
Region = Annotated[Literal[REGIONS] | None, Field(description="Only this region.")]
Least = Annotated[Number | None, Field(description="Only orders of at least this amount.")]
After = Annotated[Moment | None, Field(description="Only orders placed at or after this time.")]
Before = Annotated[Moment | None, Field(description="Only orders placed before this time.")]
Fields = Annotated[list[Literal[FIELDS]], Field(description="Fields of each row.", min_length=1)]


def order_functions(
    store: OrderStore, *, most: int = _MOST_ROWS
) -> dict[str, Callable[..., object]]:
    """The functions by path ("orders.rows"). `most` is the number of rows over which `orders.rows`
    refuses.
    """

    def rows(
        fields: Fields,
        status: Status = None,
        region: Region = None,
        min_amount: Least = None,
        placed_after: After = None,
        placed_before: Before = None,
    ) -> list[OrderRow]:
        """All orders that match, newest first, with these fields. An unknown amount is None."""
        wanted = _filter(status, region, min_amount, placed_after, placed_before)
        columns = list(dict.fromkeys(fields))
        total, found = store.snapshot_page(wanted, limit=most, columns=columns)
        if total > most:
            raise ToolError(
                f"{total} orders match, and {most} is the most at once: "
                "filter by status, region, min_amount, or read a time at a time "
                "with placed_after and placed_before."
            )
        return [_safe(row) for row in found] if {"customer", "note"} & set(columns) else found

    def count(
        status: Status = None,
        region: Region = None,
        min_amount: Least = None,
        placed_after: After = None,
        placed_before: Before = None,
    ) -> int:
        """How many orders match."""
        return store.count(_filter(status, region, min_amount, placed_after, placed_before))

    def payload(order_id: Annotated[str, Field(description="An order_id of orders.rows.")]) -> str:
        """What the payment gateway sent with an order, as text. Secrets are redacted."""
        row = store.get(order_id, ["raw_payload"])
        if row is None:
            raise NoSuchOrder("There is no such order. Use an order_id of orders.rows.")
        return clean(redact(row["raw_payload"]))

    def refund_rates(
        by: Annotated[Literal["region", "day"], Field(description="What to group by.")],
        limit: Annotated[Whole, Field(description=f"Groups to show, 1 to {_MOST_GROUPS}.")] = 10,
    ) -> RefundRates:
        """Refund rate (refunded orders ÷ all orders) by group, the highest first."""
        limit, note = clamp("limit", limit, 1, _MOST_GROUPS)
        orders: dict[str, Counter] = {}
        for row in store.aggregate(
            by=[by, "status"]
        ):  # one statement: both counts are of one moment
            orders.setdefault(str(row[by]), Counter())[row["status"]] = row["n"]
        rates = [
            _rate(group, counts.total(), counts["refunded"]) for group, counts in orders.items()
        ]
        rates.sort(key=lambda row: row["rate"], reverse=True)
        shown = rates[:limit]
        return {
            "total_groups": len(rates),
            "shown": len(shown),
            "items": shown,
            **({"note": note} if note else {}),
        }

    return {
        f"orders.{function.__name__}": function for function in (rows, count, payload, refund_rates)
    }


class NoSuchOrder(ToolError, LookupError):
    """There is no order with this id. Code can catch it as a LookupError."""


def _filter(status, region, min_amount, placed_after, placed_before) -> OrderFilter:
    if placed_after and placed_before and placed_after >= placed_before:
        raise ToolError("placed_after must be earlier than placed_before.")
    return OrderFilter(status, region, min_amount, None, placed_after, placed_before)


def _safe(row: dict) -> dict:
    """The row with secrets and control characters out of its texts."""
    return {
        name: clean(redact(value)) if isinstance(value, str) else value
        for name, value in row.items()
    }


def _rate(group: str, orders: int, refunded: int) -> RefundRate:
    return {
        "group": group,
        "orders": orders,
        "refunded": refunded,
        "rate": round(refunded / orders, 4),
    }
