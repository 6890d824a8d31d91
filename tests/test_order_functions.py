"""What a model's code may call in front of the orders: right rows, right rates, and nothing that it
must not see.
"""

import re
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from makers import maker
from toolresults.codemode.functions import HostError, HostFunction
from toolresults.tools import Tool, ToolError
from workbook.examples.orders.data import plain_order
from workbook.examples.orders.functions import FIELDS, order_functions
from workbook.examples.orders.store import REGIONS, STATUSES, OrderStore

SECRET = maker("orders").SECRET

START = datetime(2026, 3, 1)
ORDERS = st.builds(
    lambda number, day, amount, status, region: plain_order(
        number, placed_at=START + timedelta(days=day), amount=amount, status=status, region=region
    ),
    st.integers(1, 999_999),
    st.integers(0, 5),
    st.none() | st.integers(500, 50_000).map(lambda cents: Decimal(cents).scaleb(-2)),
    st.sampled_from(STATUSES),
    st.sampled_from(REGIONS),
)
ACCOUNTS = st.lists(ORDERS, max_size=40, unique_by=lambda order: order["order_id"])


@pytest.fixture(scope="module")
def real():
    with OrderStore.open() as store:
        yield order_functions(store)


@settings(max_examples=40)
@given(
    ACCOUNTS,
    st.none() | st.sampled_from(STATUSES),
    st.none() | st.sampled_from(REGIONS),
    st.none() | st.integers(0, 500),
    st.none() | st.integers(0, 2),
    st.none() | st.integers(3, 6),
    st.lists(st.sampled_from(FIELDS), min_size=1, max_size=4),
)
def test_all_rows_that_match_come_newest_first_with_the_fields_asked_for(
    account, status, region, least, first, last, fields
):
    after, before = (None if day is None else START + timedelta(days=day) for day in (first, last))
    with OrderStore(account) as store:
        functions = order_functions(store)
        asked = {
            "status": status,
            "region": region,
            "min_amount": least,
            "placed_after": after,
            "placed_before": before,
        }
        found, count = functions["orders.rows"](fields, **asked), functions["orders.count"](**asked)
    expected = [
        {name: order[name] for name in fields}
        for order in sorted(
            account, key=lambda order: (order["placed_at"], order["order_id"]), reverse=True
        )
        if status in (None, order["status"])
        and region in (None, order["region"])
        and (least is None or (order["amount"] is not None and order["amount"] >= least))
        and (after is None or order["placed_at"] >= after)
        and (before is None or order["placed_at"] < before)
    ]
    assert found == expected
    assert count == len(expected)


@settings(max_examples=40)
@given(ACCOUNTS, st.sampled_from(["region", "day"]), st.integers(-1, 60))
def test_refund_rates_are_those_of_the_rows_and_the_highest_come_first(account, by, limit):
    with OrderStore(account) as store:
        result = order_functions(store)["orders.refund_rates"](by, limit)
    key = (
        (lambda order: order["region"])
        if by == "region"
        else (lambda order: f"{order['placed_at']:%Y-%m-%d}")
    )
    orders = Counter(map(key, account))
    refunded = Counter(key(order) for order in account if order["status"] == "refunded")
    assert result["total_groups"] == len(orders)
    assert result["shown"] == len(result["items"]) == min(len(orders), max(1, min(limit, 50)))
    assert ("note" in result) == (limit not in range(1, 51))
    for row in result["items"]:
        assert (row["orders"], row["refunded"]) == (orders[row["group"]], refunded[row["group"]])
        assert row["rate"] == round(row["refunded"] / row["orders"], 4)
    shown = [row["rate"] for row in result["items"]]
    assert (
        shown
        == sorted((round(refunded[group] / n, 4) for group, n in orders.items()), reverse=True)[
            : len(shown)
        ]
    )


def test_more_rows_than_code_should_hold_are_refused_with_what_to_do():
    with OrderStore([plain_order(number, status="paid") for number in range(1, 12)]) as store:
        assert len(order_functions(store, most=11)["orders.rows"](["status"])) == 11
        rows = order_functions(store, most=10)["orders.rows"]
        with pytest.raises(
            ToolError, match=r"11 orders match, and 10 is the most.*filter by status"
        ):
            rows(["status"])
        assert rows(["status"], status="refunded") == []


def test_no_secret_and_no_address_is_handed_out(real):
    assert not {"email", "address", "raw_payload"} & set(FIELDS)
    payload = real["orders.payload"]("ord_009973")
    assert len(payload) > 100_000 and not SECRET.search(payload)
    card = "Paid with card 4242 4242 4242 4242, \x1b[31mplease check"
    with OrderStore([plain_order(1, note=card)]) as store:
        (row,) = order_functions(store)["orders.rows"](["note"])
    assert row["note"] == "Paid with card [redacted], please check"


def test_code_gets_plain_values_and_errors_that_it_can_catch(real):
    rows = HostFunction(real["orders.rows"], "orders").call(
        [["placed_at", "amount"]], {"region": "north"}
    )
    assert len(rows) == 3_555 and sum(row["amount"] is None for row in rows) == 6
    assert re.fullmatch(r"2026-06-\d\dT\d\d:\d\d:\d\d", rows[0]["placed_at"])
    for path, arguments, kind, told in (
        ("orders.rows", {"fields": ["email"]}, "TypeError", "fields"),
        ("orders.rows", {"fields": []}, "TypeError", "fields"),
        ("orders.rows", {"fields": ["status"], "state": "paid"}, "TypeError", "state"),
        ("orders.rows", {"fields": ["status"], "status": "lost"}, "TypeError", "refunded"),
        ("orders.rows",
         {"fields": ["status"], "placed_after": "2026-03-01", "placed_before": "2026-02-01"},
         "RuntimeError", "earlier"),
        ("orders.payload", {"order_id": "ord_999999"}, "LookupError", "no such order"),
    ):  # fmt: skip
        with pytest.raises(HostError, match=told) as caught:
            HostFunction(real[path], "orders").call([], arguments)
        assert caught.value.kind == kind


def test_the_rates_of_the_real_account_as_a_tool(real):
    result = Tool(real["orders.refund_rates"]).call({"by": "region"})
    assert result.text == (
        '{"total_groups":3,"shown":3,"items":[{"group":"central","orders":2639,"refunded":865,"rate":0.3278},'
        '{"group":"south","orders":3806,"refunded":951,"rate":0.2499},'
        '{"group":"north","orders":3555,"refunded":614,"rate":0.1727}]}'
    )
