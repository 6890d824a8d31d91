"""Checks for the exercises of 02_filtering."""

from datetime import date

from toolresults.tokens import count_tokens, to_json
from workbook.checks import Verdict, exercise, wrong_names
from workbook.examples.orders.api import OrdersClient, create_app
from workbook.examples.orders.store import OrderFilter, OrderStore

WAYS = {
    "Which invoices of March are still unpaid?": "filter",
    "How much did we bill in each month?": "aggregate",
    "What is the phone number of customer 4711?": "get one",
    "Is there a ticket that mentions a gas leak?": "filter",
}
"""Each question of exercise 1, and its way."""

_BUDGET = 300
"""Tokens that the answer of exercise 3 may take."""

_WHO = "Who should do the work: the system that has all the rows, or the model that reads them?"


@exercise
def exercise_1(answer: dict[str, str]) -> Verdict:
    """*answer* gives each question its way: "filter", "aggregate" or "get one".

    Correct: the system finds, adds and looks up; the model reads only what is left.

    Not yet: give each question one of the three ways. Who should do the work: the system that has
    all the rows, or the model that reads them?
    """
    if isinstance(answer, dict) and (wrong := wrong_names(answer, WAYS)):
        return False, f'think again about "{wrong[0]}". {_WHO}'
    return answer == WAYS


@exercise
def exercise_2(answer: list[tuple[str, str]]) -> Verdict:
    """*answer* is a list of (placed_after, placed_before), as ISO dates, that cut January to June
    2026 in quarters.

    Correct: the two quarters meet on 1 April and share no order.

    Not yet: together the ranges must hold each order once. placed_after is on or after,
    placed_before is strictly before.
    """
    ranges = [tuple(map(date.fromisoformat, (after, before))) for after, before in answer]
    with OrderStore.open() as store:
        counts = [
            store.count(OrderFilter(placed_after=after, placed_before=before))
            for after, before in ranges
        ]
        (_, end), (start, _) = ranges
        return end == start == date(2026, 4, 1) and sum(counts) == store.count()


@exercise
def exercise_3(answer: dict[str, object]) -> Verdict:
    """*answer* is a dict of parameters of `GET /orders`.

    Correct: the right orders and nothing else, in under 300 tokens.

    Not yet: ask for status, region, both ends of the range of dates, an amount, and two fields
    (customer,amount).
    """
    june = {"placed_after": date(2026, 6, 1), "placed_before": date(2026, 7, 1)}
    wanted = OrderFilter(status="refunded", region="central", min_amount=500, **june)
    with OrderStore.open() as store:
        right = [(row["customer"], float(row["amount"])) for row in store.page(wanted, limit=1_000)]
        with OrdersClient(create_app(store)) as api:
            page = api.orders(**answer)
    got = [(row["customer"], row["amount"]) for row in page["data"]]
    return got == right and count_tokens(to_json(page)) < _BUDGET
