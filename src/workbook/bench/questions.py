"""The eighteen questions of `needs`, in three rounds: a round is what a session of ten turns
holds.
"""

import json
import re
from typing import Any

from .needs import WHOLE_WINDOW, Agent, Need

DETAILED = ("order_id", "placed_at", "note", "raw_payload")


def _days(first: str, before: str) -> dict[str, str]:
    return {"placed_after": first, "placed_before": before}


MAY = {"status": "refunded", "region": "north", **_days("2026-05-01", "2026-06-01")}
CHAT = {"status": "refunded", "region": "central", **_days("2026-05-23", "2026-05-24")}
DELIVERIES = {"status": "refunded", "region": "south", **_days("2026-06-11", "2026-06-12")}
LARGE = {"status": "refunded", "region": "central", "min_amount": 500}
WAITING = {"status": "pending", "region": "central", "min_amount": 300}
DECLINED = {"region": "north", **_days("2026-03-01", "2026-04-01")}


def _rows(*fields: str, **filters: Any) -> str:
    """The call that fetches these rows in code, as a model writes it."""
    given = "".join(f", {name}={json.dumps(value)}" for name, value in filters.items())
    return f"orders.rows({json.dumps(fields)}{given})"


def _of(order_id: str, what: str, field: str, **filters: Any) -> str:
    """Code that fetches something of one order, by its id."""
    return f'[{what} for row in {_rows("order_id", field, **filters)} if row["order_id"] == "{order_id}"]'


LAST_LINE = _of("ord_007758", '(row["note"] or "").splitlines()[-1]', "note", **CHAT)

AROUND_84 = 'import re\nre.findall(r".{60}\\b84\\b.{60}", orders.payload("ord_008870"))'
"""What stands around every 84: whoever writes it has not seen how the gateway writes a delivery."""


def amount(order_id: str, **filters: Any) -> Need:
    def program(agent: Agent) -> float | None:
        row = agent.first(lambda row: row["order_id"] == order_id, DETAILED, **filters)
        return row and row["amount"]

    return Need("lookup", f"What is the amount of {order_id}? It was {_words(filters)}.", program)


def over(least: int, **filters: Any) -> Need:
    code = f'[row["customer"] for row in {_rows("customer", "amount", **filters)} if (row["amount"] or 0) > {least}]'

    def program(agent: Agent) -> list[str]:
        if agent.technique.code:
            return agent.compute(code)
        rows = agent.all(("customer", "amount"), **filters)
        return [row["customer"] for row in rows if (row["amount"] or 0) > least]

    return Need("filter", f"Whose orders are over {least:,}, of those {_words(filters)}?", program)


def declined() -> Need:
    """The user's word for a status is not the shop's: an agent that can filter tries it first, and
    is told.
    """

    def named(agent: Agent, status: str) -> list[str]:
        if agent.technique.code:
            rows = _rows("customer", "amount", status=status, **DECLINED)
            return agent.compute(
                f'sorted({{row["customer"] for row in {rows} if (row["amount"] or 0) > 400}})'
            )
        rows = agent.all(("customer",), status=status, **DECLINED)
        return sorted({row["customer"] for row in rows if (row["amount"] or 0) > 400})

    def program(agent: Agent) -> list[str]:
        if agent.technique.filters:
            try:
                return named(agent, "declined")
            except ValueError:  # it names the statuses that there are
                pass
        return named(agent, "failed")

    return Need(
        "filter", f"Whose orders over 400 were declined, of those {_words(DECLINED)}?", program
    )


def when(order_id: str, **filters: Any) -> Need:
    code = _of(order_id, 'row["placed_at"]', "placed_at", **filters)

    def program(agent: Agent) -> str | None:
        if agent.technique.code:
            return agent.compute(code)[0]
        row = agent.first(lambda row: row["order_id"] == order_id, DETAILED, **filters)
        return row and row["placed_at"]

    return Need(
        "needle",
        f"At what time was {order_id} placed? It is one of those {_words(filters)}.",
        program,
    )


def inside(order_id: str, field: str, what: str, pattern: str, code: str, **filters: Any) -> Need:
    """`pattern` finds the answer in the field, and in the text that `code` ends with."""

    def program(agent: Agent) -> str | None:
        if agent.technique.code:
            return re.search(pattern, agent.compute(code)[0])[1]
        row = agent.first(lambda row: row["order_id"] == order_id, DETAILED, **filters)
        return row and agent.read(row, field, pattern, WHOLE_WINDOW)

    return Need("needle", f"{what} {order_id}, {_words(filters)}?", program)


def total(**filters: Any) -> Need:
    code = f'round(sum(row["amount"] or 0 for row in {_rows("amount", **filters)}), 2)'

    def program(agent: Agent) -> float:
        if agent.technique.code:
            return agent.compute(code)
        return round(sum(row["amount"] or 0 for row in agent.all(("amount",), **filters)), 2)

    return Need("aggregate", f"What do all orders {_words(filters)} come to?", program)


def count(**filters: Any) -> Need:
    code = f"len({_rows('order_id', **filters)})"

    def program(agent: Agent) -> int:
        if agent.technique.code:
            return agent.compute(code)
        return next(agent.pages(("amount",), **filters))[0]

    return Need("aggregate", f"How many orders are there {_words(filters)}?", program)


def card(place: int, **filters: Any) -> Need:
    def program(agent: Agent) -> str:
        rows = next(agent.pages(DETAILED, **filters))[2]
        if len(rows) < place:
            return agent.read(
                agent.all(DETAILED, **filters)[place - 1], "raw_payload", r'"network":"(\w+)"'
            )
        return agent.read(rows[place - 1], "raw_payload", r'"network":"(\w+)"')

    text = f"You listed those {_words(filters)}. What card paid for number {place} of them?"
    return Need("join", text, program, looks_back=True)


def among(order_id: str, **filters: Any) -> Need:
    code = f'"{order_id}" in [row["order_id"] for row in {_rows("order_id", **filters)}]'

    def program(agent: Agent) -> str:
        if agent.technique.code and not agent.listed(DETAILED, **filters):
            return "yes" if agent.compute(code) else "no"
        found = agent.first(lambda row: row["order_id"] == order_id, DETAILED, **filters)
        return "yes" if found else "no"

    return Need(
        "absence",
        f"You listed those {_words(filters)}. Is {order_id} one of them?",
        program,
        looks_back=True,
    )


def _words(filters: dict[str, Any]) -> str:
    said = {
        "status": "{}",
        "region": "in the {}",
        "min_amount": "of {} or more",
        "placed_after": "from {}",
        "placed_before": "until before {}",
    }
    return " ".join(said[name].format(value) for name, value in filters.items()).replace(
        "central", "centre"
    )


ROUNDS: tuple[tuple[Need, ...], ...] = (
    (
        amount("ord_006610", status="refunded", region="south", **_days("2026-05-01", "2026-05-03")),
        over(1_500, **LARGE),
        when("ord_007445", **MAY),
        total(status="refunded", region="south"),
        card(3, **LARGE),
        among("ord_007445", **MAY),
    ),
    (
        amount("ord_001384", status="pending", region="north", **_days("2026-01-28", "2026-01-30")),
        declined(),
        inside("ord_007758", "note", "What does the last line of the note say, of", r"([^\n]+)$", LAST_LINE, **CHAT),
        count(status="failed", region="north"),
        card(2, **CHAT),
        among("ord_007717", **CHAT),
    ),
    (
        amount("ord_002977", status="paid", region="central", **_days("2026-02-27", "2026-03-01")),
        over(1_000, **WAITING),
        inside("ord_008870", "raw_payload", "What status did delivery attempt 84 get, of",
               r'"attempt":84,"status":(\d+)', AROUND_84, **DELIVERIES),
        total(status="failed", region="central"),
        card(5, **LARGE),
        among("ord_006700", **MAY),
    ),
)  # fmt: skip
"""Each round has every kind once."""

TEN, THIRTY = ROUNDS[0], sum(ROUNDS, ())
"""The questions of a session of ten turns, and of thirty."""
