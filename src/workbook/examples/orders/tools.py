"""The two tools that an agent gets in front of the order system: `search_orders` and
`get_order_payload`.

The host gives the store, keys, caller, budget and clock when it builds them; the model gives the
rest.

    tools = order_tools(OrderStore.open(), keys=["secret"], caller="ana")
    tools["search_orders"].call({"status": "refunded", "limit": 10}).text
"""

import re
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from toolresults.results.budget import BUDGET, BudgetError, clamp, page
from toolresults.results.cursor import Cursors
from toolresults.results.payload import window
from toolresults.results.redact import redact
from toolresults.results.shape import TEXT_CAP, cut, shape
from toolresults.tools import Moment, Number, Tool, ToolError, Whole

from .store import REGIONS, STATUSES, OrderFilter, OrderStore

MAX_LIMIT = 50
"""Most orders on one page, whatever is asked."""

LEAST_BUDGET = {"concise": 120, "detailed": 200}
"""Least budget, in tokens, in which one row of each format always fits, in any script."""

_COLUMNS = ("customer", "status", "amount", "region", "placed_at", "order_id", "note")
FIELDS = {"concise": _COLUMNS[:3], "detailed": (*_COLUMNS, "payload_ref")}
"""What each response format shows of an order."""

Status = Annotated[Literal[STATUSES] | None, Field(description="Only this status.")]
Region = Annotated[Literal[REGIONS] | None, Field(description="Only this region.")]
Least = Annotated[Number | None, Field(description="Only orders of at least this amount.")]
After = Annotated[Moment | None, Field(description="Only orders placed at or after this time.")]
Before = Annotated[Moment | None, Field(description="Only orders placed before this time.")]

_CURSOR = WithJsonSchema(
    {"type": "string", "description": "next_cursor of the page before, with the same filters."}
)
_REFS = {"pay": "raw_payload", "note": "note"}


def order_tools(
    store: OrderStore,
    *,
    keys: Sequence[str | bytes],
    caller: str,
    budget: int = BUDGET,
    clock: Callable[[], float] = time.time,
    formats: Sequence[str] = ("concise", "detailed"),
) -> dict[str, Tool]:
    """The tools by name, for one caller.

    `keys` sign cursors (oldest first), `caller` is bound into them, `budget` is in tokens per
    result, `clock` gives the time in seconds. `formats` are the response formats on offer. Raises
    `BudgetError` for a budget under `LEAST_BUDGET` of any of them.
    """
    for name in formats:
        if budget < LEAST_BUDGET[name]:
            raise BudgetError(
                f"{name} results need a budget of {LEAST_BUDGET[name]} tokens at least, "
                f"got {budget}"
            )
    cursors = Cursors(keys, clock=clock)
    advice = 'response_format="concise" fits more.' if "concise" in formats else ""

    def search_orders(
        status: Status = None,
        region: Region = None,
        min_amount: Least = None,
        placed_after: After = None,
        placed_before: Before = None,
        limit: Annotated[Whole, Field(description=f"Orders per page, 1 to {MAX_LIMIT}.")] = 20,
        cursor: Annotated[object, _CURSOR] = None,
        response_format: Annotated[
            Literal[tuple(formats)],
            Field(description="detailed adds region, time, id, note and payload_ref."),
        ] = formats[0],
    ) -> str:
        """Lists orders, newest first. Filter first; total_matches counts all that match, shown those on this page."""  # noqa: E501 (a model reads it as it stands)
        wanted = to_filter(status, region, min_amount, placed_after, placed_before)
        limit, lowered = clamp("limit", limit, 1, MAX_LIMIT)
        binding = {
            "tool": "search_orders",
            "filter": wanted,
            "sort": "placed_at,order_id desc",
            "caller": caller,
        }
        after = None if cursor is None else _key(cursors.read(cursor, binding=binding))
        total, found = store.snapshot_page(wanted, after=after, limit=limit + 1, columns=_COLUMNS)
        rows, more = [_safe(row) for row in found[:limit]], len(found) > limit

        def cursor_after(n: int) -> str | None:
            if n == len(rows) and not more:
                return None
            return cursors.sign(_position(rows[n - 1]), binding=binding)

        return page(
            [_shape(row, response_format) for row in rows],
            total=total,
            cursor_after=cursor_after,
            budget=budget,
            notes=[lowered] if lowered else [],
            advice=advice if response_format != "concise" else "",
            shrink=lambda chars: _shape(rows[0], response_format, chars),
        )

    def get_order_payload(
        payload_ref: Annotated[str, Field(description="payload_ref or note_ref of search_orders.")],
        offset: Annotated[
            Whole, Field(description="First character to show; next_offset continues.")
        ] = 0,
        max_chars: Annotated[
            Whole, Field(description="Most characters to show, up to 8000.")
        ] = 2000,
    ) -> str:
        """Reads a long field of an order in windows of characters. Secrets are redacted."""
        text = _field(store, payload_ref)
        return window(text, ref=payload_ref, offset=offset, max_chars=max_chars, budget=budget)

    return {tool.__name__: Tool(tool, budget=budget) for tool in (search_orders, get_order_payload)}


def to_filter(
    status: str | None,
    region: str | None,
    min_amount: float | None,
    placed_after: datetime | None,
    placed_before: datetime | None,
) -> OrderFilter:
    """The filter that a model asked for. Raises `ToolError` for a range of times that holds
    none.
    """
    if placed_after and placed_before and placed_after >= placed_before:
        raise ToolError("placed_after must be earlier than placed_before.")
    return OrderFilter(status, region, min_amount, None, placed_after, placed_before)


def _position(row: dict) -> tuple[int, str]:
    """The sort key of a row as a cursor holds it: seconds since 1970 are half the tokens of a
    date.
    """
    return int(row["placed_at"].replace(tzinfo=UTC).timestamp()), row["order_id"]


def _key(position: tuple) -> tuple[datetime, str]:
    seconds, order_id = position
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None), order_id


def _safe(row: dict) -> dict:
    """The row with secrets out of its texts, which must come before any cut."""
    return {name: redact(value) if isinstance(value, str) else value for name, value in row.items()}


def _shape(row: dict, response_format: str, max_chars: int = TEXT_CAP) -> dict:
    number = row["order_id"].removeprefix("ord_")
    whole = {**row, "payload_ref": f"pay_{number}"}
    caps = dict.fromkeys(("customer", "note"), max_chars)
    return shape(
        whole,
        FIELDS[response_format],
        caps=caps,
        ref=lambda _, field: f"note_{number}" if field == "note" else None,
    )


def _field(store: OrderStore, ref: str) -> str:
    """The text that `ref` (`pay_000123`, `note_000123`) stands for. Raises `ToolError` if there is
    none.
    """
    match = re.fullmatch(r"(pay|note)_([0-9]{1,12})", ref)
    row = store.get(f"ord_{match[2]}", [_REFS[match[1]]]) if match else None
    if row is None:
        raise ToolError(
            f"No payload {cut(ref, 40)!r}. Use a payload_ref or note_ref that search_orders "
            "returned."
        )
    return row[_REFS[match[1]]] or ""
