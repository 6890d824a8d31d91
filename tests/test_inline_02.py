"""What notebook 02 writes from scratch agrees with the package, and its figures are those of the
headline table.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.bench.headline import headline_steps
from workbook.checks import n02
from workbook.examples.orders.data import plain_order
from workbook.examples.orders.store import REGIONS, STATUSES, OrderFilter, OrderStore
from workbook.runner import read

NOTEBOOK = read(Path(__file__).resolve().parents[1] / "notebooks" / "02_filtering.ipynb")
INLINE = {}
for cell in NOTEBOOK.cells:
    if "inline" in cell.metadata.get("tags", []):
        exec(cell.source, INLINE)

START = datetime(2026, 7, 1)
# four orders a minute, every fifth without an amount, and amounts that meet the bounds below
# exactly
ORDERS = [
    plain_order(
        n,
        placed_at=START + timedelta(minutes=n // 4),
        amount=None if n % 5 == 0 else Decimal(n % 7),
    )
    for n in range(1, 101)
]
STORE = OrderStore(ORDERS)
MOMENTS = st.integers(-1, 27).map(lambda minutes: START + timedelta(minutes=minutes))


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "status": st.sampled_from(STATUSES),
            "region": st.sampled_from(REGIONS),
            "min_amount": st.integers(-1, 8),
            "placed_after": MOMENTS,
            "placed_before": MOMENTS,
        },
    )
)
def test_the_filter_from_scratch_keeps_the_rows_that_the_store_keeps(wanted):
    ours = {order["order_id"] for order in ORDERS if INLINE["matches"](order, **wanted)}
    theirs = STORE.page(OrderFilter(**wanted), limit=1_000, columns=["order_id"])
    assert ours == {row["order_id"] for row in theirs}
    assert STORE.count(OrderFilter(**wanted)) == len(theirs)


def test_the_headline_of_the_notebook_is_that_of_the_table():
    with OrderStore.open() as store:
        naive, filtered = islice(headline_steps(store), 2)
    title = NOTEBOOK.cells[0].source
    assert f"{naive.exact:,}" in title
    assert f"{filtered.exact:,}" in title


MARCH_LOST = [("2026-01-01", "2026-03-31"), ("2026-04-01", "2026-07-01")]
SHARED_DAY = [("2026-01-01", "2026-04-02"), ("2026-04-01", "2026-07-01")]
JUNE = {
    "status": "refunded",
    "region": "central",
    "placed_after": "2026-06-01",
    "placed_before": "2026-07-01",
}


@pytest.mark.parametrize(
    ("check", "answer", "starts"),
    [
        (
            n02.exercise_1,
            {**n02.WAYS, "How much did we bill in each month?": "filter"},
            "Not yet: think again about",
        ),
        (n02.exercise_1, dict.fromkeys(n02.WAYS, ...), "Not tried yet."),
        (n02.exercise_2, [("2026-01-01", "2026-04-01"), ("2026-04-01", "2026-07-01")], "Correct:"),
        (n02.exercise_2, MARCH_LOST, "Not yet:"),
        (n02.exercise_2, SHARED_DAY, "Not yet:"),
        (n02.exercise_2, [("2026-01-01", "2026-07-01")], "Not yet:"),
        (n02.exercise_2, "January", "Not yet:"),
        (n02.exercise_3, {**JUNE, "min_amount": 500, "fields": "customer,amount"}, "Correct:"),
        (
            n02.exercise_3,
            {**JUNE, "min_amount": 500},
            "Not yet:",
        ),  # the right rows, at far too many tokens
        (
            n02.exercise_3,
            {**JUNE, "min_amount": 501, "limit": 1, "fields": "customer,amount"},
            "Not yet:",
        ),
        (n02.exercise_3, {"state": "refunded"}, "Not yet:"),  # the API refuses it
    ],
)
def test_a_check_tells_right_from_wrong(check, answer, starts, capsys):
    check(answer)
    assert capsys.readouterr().out.startswith(starts)
