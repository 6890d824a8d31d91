"""Checks for the exercises of 02_filtering."""

from datetime import date

from toolresults.tokens import count_tokens, to_json
from workbook.examples.orders.api import OrdersClient, create_app
from workbook.examples.orders.store import OrderFilter, OrderStore

from . import say

WAYS = {
    "Which invoices of March are still unpaid?": "filter",
    "How much did we bill in each month?": "aggregate",
    "What is the phone number of customer 4711?": "get one",
    "Is there a ticket that mentions a gas leak?": "filter",
}

BUDGET = 300
"""Tokens that the answer of exercise 3 may take."""


def exercise_1(answer: object) -> None:
    """*answer* gives each question its way: "filter", "aggregate" or "get one"."""
    wrong = [
        question
        for question, way in WAYS.items()
        if isinstance(answer, dict) and answer.get(question) != way
    ]
    hint = (
        f'think again about "{wrong[0]}"' if wrong else "give each question one of the three ways"
    )
    say(
        answer,
        lambda answer: answer == WAYS,
        "the system finds, adds and looks up; the model reads only what is left.",
        f"{hint}. Who should do the work: the system that has all the rows, or the model that has to read them?",
    )


def exercise_2(answer: object) -> None:
    """*answer* is a list of (placed_after, placed_before), as ISO dates, that cut January to June
    2026 in quarters.
    """
    say(
        answer,
        _tiles,
        "the two quarters meet on 1 April and share no order.",
        "together the ranges must hold each order once. placed_after is on or after, placed_before is strictly before.",
    )


def exercise_3(answer: object) -> None:
    """*answer* is a dict of parameters of `GET /orders`."""
    say(
        answer,
        _fits,
        f"the right orders and nothing else, in under {BUDGET} tokens.",
        "ask for status, region, both ends of the range of dates, an amount, and two fields (customer,amount).",
    )


def _tiles(answer: list) -> bool:
    ranges = [(date.fromisoformat(after), date.fromisoformat(before)) for after, before in answer]
    with OrderStore.open() as store:
        counts = [
            store.count(OrderFilter(placed_after=after, placed_before=before))
            for after, before in ranges
        ]
        return (
            len(ranges) == 2
            and ranges[0][1] == ranges[1][0] == date(2026, 4, 1)
            and sum(counts) == store.count()
        )


def _fits(answer: dict) -> bool:
    with OrderStore.open() as store:
        wanted = OrderFilter(
            status="refunded",
            region="central",
            min_amount=500,
            placed_after=date(2026, 6, 1),
            placed_before=date(2026, 7, 1),
        )
        right = [(row["customer"], float(row["amount"])) for row in store.page(wanted, limit=1_000)]
        with OrdersClient(create_app(store)) as api:
            page = api.orders(**answer)
    got = [(row["customer"], row["amount"]) for row in page["data"]]
    return got == right and count_tokens(to_json(page)) < BUDGET
