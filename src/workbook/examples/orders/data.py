"""The classic orders, of which most tutorials on tool results use a version, and a few made on the
spot.
"""

import random
from datetime import datetime, timedelta
from decimal import Decimal

from workbook.examples.orders.store import REGIONS, STATUSES, OrderStore


def classic_orders(n: int = 10_000) -> list[dict]:
    """The classic data set: the same `n` orders every time, each with a payload of 400 times one
    letter.

    10,000 of them are 5,444,677 characters with `json.dumps`' own separators and 1,012,478 tokens
    (o200k_base); as compact JSON, 5,324,678 characters and 892,479 tokens. Amounts are floats, as
    in a first draft.
    """
    rng = random.Random(1)
    orders = []
    for i in range(n):
        # status, amount, region: drawn in this order, or every figure changes
        status = rng.choice(("paid", "pending", "refunded", "failed"))
        amount = round(rng.uniform(5, 500), 2)
        region = rng.choice(("north", "south", "central"))
        orders.append(
            {
                "order_uuid": f"7f3a-{i:05d}-c91e",
                "customer_name": f"Customer {i % 800}",
                "status": status,
                "amount": amount,
                "region": region,
                "raw_payload": "x" * 400,
            }
        )
    return orders


def plain_order(number: int, **changes: object) -> dict:
    """One small order for a store, made without chance; `changes` replace its fields.

    Order 1 was placed at midnight, 1 July 2026, after all of the real account's, and each next one
    a minute later.
    """
    order = {
        "order_id": f"ord_{number:06d}",
        "customer": f"Customer {number % 800}",
        "email": f"customer{number % 800}@example.com",
        "address": f"{number % 97 + 1} Example Street",
        "status": STATUSES[number % 4],
        "region": REGIONS[number % 3],
        "amount": Decimal(500 + number * 7_919 % 49_500).scaleb(-2),
        "placed_at": datetime(2026, 7, 1) + timedelta(minutes=number - 1),
        "note": None,
        "raw_payload": f'{{"gateway":"examplepay","card_token":"tok_live_example{number:012d}"}}',
    }
    return order | changes


def million_orders(n: int = 1_000_000) -> OrderStore:
    """A larger account, made inside DuckDB in a few seconds: `n` orders with small payloads, the
    same every time.

    About four orders share each minute, and about a quarter are refunded.
    """
    store = OrderStore()
    store.insert_select(
        # chance comes from MD5, which no release of any engine will change
        """
        SELECT 'ord_' || lpad(CAST(i AS VARCHAR), 7, '0'), 'Customer ' || h % 80000,
            'customer' || h % 80000 || '@example.com', h % 97 || ' Example Street',
            CASE WHEN h // 100 % 100 < 25 THEN 'refunded' WHEN h // 100 % 100 < 33 THEN 'pending'
                 WHEN h // 100 % 100 < 39 THEN 'failed' ELSE 'paid' END,
            CASE WHEN h % 100 < 36 THEN 'north' WHEN h % 100 < 74 THEN 'south' ELSE 'central' END,
            CAST(500 + h // 10000 % 49500 AS DECIMAL(10,0)) / 100,
            TIMESTAMP '2026-01-01' + INTERVAL (h // 1000000000 % 260640) MINUTE, NULL,
            '{"card_token":"tok_live_example' || lpad(CAST(i AS VARCHAR), 12, '0') || '"}'
        FROM (SELECT i, md5_number_lower(CAST(i AS VARCHAR)) AS h
              FROM range(1, ? + 1) AS numbers(i))
        """,
        [n],
    )
    return store
