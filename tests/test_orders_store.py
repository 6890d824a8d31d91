"""The store against plain Python over the same rows."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stores import refilled
from workbook.examples.orders.data import plain_order
from workbook.examples.orders.store import (
    COLUMNS,
    GROUPS,
    REGIONS,
    STATUSES,
    OrderFilter,
    OrderStore,
)

START = datetime(2026, 3, 1)

orders = st.lists(
    st.builds(
        lambda number, status, region, cents, second, note: plain_order(
            number,
            status=status,
            region=region,
            amount=None if cents is None else Decimal(cents).scaleb(-2),
            placed_at=START + timedelta(seconds=second),  # few seconds for many rows: ties
            note=note,
        ),
        st.integers(0, 999_999),
        st.sampled_from(STATUSES),
        st.sampled_from(REGIONS),
        st.none() | st.integers(-300, 300),
        st.integers(0, 5),
        st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    ),
    unique_by=lambda order: order["order_id"],
    max_size=25,
)
amounts = (
    st.none()
    | st.integers(-4, 4)
    | st.integers(-300, 300).map(lambda cents: Decimal(cents).scaleb(-2))
)
times = st.none() | st.integers(-1, 7).map(lambda second: START + timedelta(seconds=second))
filters = st.builds(
    OrderFilter,
    status=st.none() | st.sampled_from(STATUSES),
    region=st.none() | st.sampled_from(REGIONS),
    min_amount=amounts,
    max_amount=amounts,
    placed_after=times,
    placed_before=times,
)


def key(order: dict) -> tuple:
    return order["placed_at"], order["order_id"]


def matching(rows: list[dict], wanted: OrderFilter) -> list[dict]:
    """What `wanted` means, in plain Python, newest first."""

    def holds(order: dict) -> bool:
        amount = order["amount"]
        if (wanted.min_amount is not None or wanted.max_amount is not None) and amount is None:
            return False
        return (
            wanted.status in (None, order["status"])
            and wanted.region in (None, order["region"])
            and (wanted.min_amount is None or amount >= wanted.min_amount)
            and (wanted.max_amount is None or amount <= wanted.max_amount)
            and (wanted.placed_after is None or order["placed_at"] >= wanted.placed_after)
            and (wanted.placed_before is None or order["placed_at"] < wanted.placed_before)
        )

    return sorted((order for order in rows if holds(order)), key=key, reverse=True)


@settings(max_examples=30)
@given(orders, filters, st.integers(1, 9), st.integers(0, 30))
def test_listing_agrees_with_python(rows, wanted, limit, offset):
    expected = matching(rows, wanted)
    store = refilled(rows)
    assert store.count(wanted) == len(expected)
    assert store.page(wanted, limit=100) == expected
    assert (
        store.offset_page(wanted, offset=offset, limit=limit) == expected[offset : offset + limit]
    )
    seen, after = [], None
    while page := store.page(wanted, after=after, limit=limit):
        assert store.snapshot_page(wanted, after, limit) == (len(expected), page)
        seen += page
        after = key(page[-1])
        assert store.position(wanted, after) == len(seen)
    assert seen == expected


@settings(max_examples=40)
@given(orders, filters, st.sampled_from([None, *GROUPS, ("region", "status")]))
def test_aggregates_agree_with_python(rows, wanted, by):
    names = [by] if isinstance(by, str) else list(by or ())
    groups = {} if names else {(): []}
    for order in matching(rows, wanted):
        values = {**order, "day": order["placed_at"].date()}
        groups.setdefault(tuple(values[name] for name in names), []).append(order["amount"])
    expected = [
        {
            **dict(zip(names, group, strict=True)),
            "n": len(found),
            "total_amount": sum((a for a in found if a is not None), Decimal(0)),
            "null_amounts": found.count(None),
        }
        for group, found in sorted(groups.items())
    ]
    assert refilled(rows).aggregate(wanted, by) == expected


@settings(max_examples=30)
@given(orders, orders, filters, st.integers(1, 6), st.randoms(use_true_random=False))
def test_keyset_pages_neither_repeat_nor_skip_while_orders_come_and_go(
    rows, arriving, wanted, limit, rng
):
    taken = {order["order_id"] for order in rows}
    arriving = [order for order in arriving if order["order_id"] not in taken]
    store = refilled(rows)
    seen, gone, after = [], set(), None
    while page := store.page(wanted, after=after, limit=limit):
        seen += page
        after = key(page[-1])
        if arriving:
            store.insert([arriving.pop()])
        leaving = {
            page[-1]["order_id"],
            rng.choice(rows)["order_id"],
        }  # the row that the next page starts after too
        gone |= leaving
        store.delete(leaving)
    ids = [order["order_id"] for order in seen]
    assert len(ids) == len(set(ids))
    assert {order["order_id"] for order in matching(rows, wanted)} - gone <= set(ids)


@pytest.fixture
def store() -> OrderStore:
    return OrderStore([plain_order(i) for i in range(1, 101)])


@pytest.fixture(scope="module")
def kept() -> OrderStore:
    """The same store, for tests of many cases that change nothing in it."""
    return OrderStore([plain_order(i) for i in range(1, 101)])


def test_columns_come_as_asked(store):
    assert list(store.page(limit=1, columns=["amount", "order_id"])[0]) == ["amount", "order_id"]
    assert tuple(store.get("ord_000007")) == COLUMNS
    assert store.get("ord_000007") == plain_order(7)
    assert store.get("ord_000007", ["region"]) == {"region": plain_order(7)["region"]}
    assert store.get("' OR 1=1 --") is None
    assert store.get("\ud800") is None


@pytest.mark.parametrize("columns", [["order_id; DROP TABLE orders"], ["id"], [], "order_id"])
def test_only_known_columns_reach_the_statement(kept, columns):
    for ask in (
        lambda: kept.page(limit=1, columns=columns),
        lambda: kept.offset_page(offset=0, limit=1, columns=columns),
        lambda: kept.get("ord_000001", columns),
    ):
        with pytest.raises(ValueError, match="column"):
            ask()


def test_bad_groups_and_numbers_are_refused(store):
    with pytest.raises(ValueError, match="cannot group by 'note'"):
        store.aggregate(by="note")
    for limit in (-1, 1.5, True, "5", None, 2**63):
        with pytest.raises(ValueError, match="limit"):
            store.page(limit=limit)
    with pytest.raises(ValueError, match="offset"):
        store.offset_page(offset=-1, limit=1)
    assert store.page(limit=0) == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("status", "Refunded"),
        ("region", "east"),
        ("status", "\ud800"),
        ("min_amount", float("nan")),
        ("max_amount", Decimal("Infinity")),
        ("min_amount", True),
        ("min_amount", "10"),
        ("placed_after", "2026-01-01"),
        ("placed_before", 5),
        ("placed_after", datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=9)))),
    ],
)
def test_a_filter_that_cannot_be_is_refused(field, value):
    with pytest.raises(ValueError, match=r"unknown|amount|date|range"):
        OrderFilter(**{field: value})


def test_an_unknown_status_names_the_valid_ones():
    with pytest.raises(ValueError, match="paid, pending, refunded, failed"):
        OrderFilter(status="done")


def test_filters_that_mean_the_same_are_equal():
    assert (
        OrderFilter(min_amount=10)
        == OrderFilter(min_amount=10.0)
        == OrderFilter(min_amount=Decimal("9.995"))
    )
    assert OrderFilter(max_amount=10.1) == OrderFilter(max_amount=Decimal("10.109"))
    noon = datetime(2026, 5, 1, 12)
    in_hanoi = datetime(2026, 5, 1, 19, tzinfo=timezone(timedelta(hours=7)))
    assert OrderFilter(placed_after=noon) == OrderFilter(placed_after=in_hanoi)
    assert OrderFilter(placed_after=noon) == OrderFilter(placed_after=noon.replace(tzinfo=UTC))
    assert OrderFilter(placed_before=date(2026, 5, 1)) == OrderFilter(
        placed_before=datetime(2026, 5, 1)
    )


@pytest.mark.parametrize("huge", [1e300, Decimal("1e5000"), 10**40, 10**9])
def test_bounds_beyond_every_amount_are_taken(kept, huge):
    assert kept.count(OrderFilter(min_amount=huge)) == 0
    assert (
        kept.count(OrderFilter(max_amount=huge)) == kept.count(OrderFilter(min_amount=-huge)) == 100
    )


def test_adjoining_ranges_share_no_order(store):
    middle = plain_order(50)["placed_at"]
    before, after = OrderFilter(placed_before=middle), OrderFilter(placed_after=middle)
    assert (store.count(before), store.count(after)) == (49, 51)


def test_inserting_is_all_or_nothing(store):
    for rows in ([plain_order(200), plain_order(7)], [plain_order(200), plain_order(200)]):
        with pytest.raises(ValueError, match="nothing was inserted"):
            store.insert(rows)
    assert store.count() == 100 and store.get("ord_000200") is None
    assert store.insert([plain_order(200)]) == 1
    assert store.insert([]) == 0
    assert store.delete(["ord_000200", "ord_000200", "ord_999999", "\ud800"]) == 1
    assert store.insert(iter([plain_order(200)])) == 1  # a deleted id is free again


@pytest.mark.parametrize(
    "change",
    [
        {"status": "done"},
        {"region": None},
        {"amount": Decimal("1.005")},
        {"amount": Decimal("1e9")},
        {"amount": float("nan")},
        {"placed_at": "2026-01-01"},
        {"placed_at": datetime(2026, 1, 1, tzinfo=UTC)},
        {"placed_at": datetime(2026, 1, 1, 0, 0, 0, 5)},
        {"customer": 7},
        {"raw_payload": None},
        {"colour": "red"},
    ],
)
def test_a_row_that_cannot_be_is_refused(kept, change):
    with pytest.raises(ValueError):
        kept.insert([plain_order(200, **change)])
    assert kept.count() == 100


def test_text_of_any_kind_comes_back(store):
    odd = "nul \x00 quote ' \" \\ tok <|endoftext|> 👨‍👩‍👧 \x1b[31m"
    store.insert([plain_order(200, note=odd), plain_order(201, note="cut \ud83d here")])
    assert store.get("ord_000200")["note"] == odd
    assert store.get("ord_000201")["note"] == "cut \ufffd here"  # repaired once, on entry


def test_reads_run_at_once_and_each_sees_one_moment(store):
    """A writer adds and removes ten orders at a time; a total must always be that of the rows
    beside it.
    """
    stop = threading.Event()

    def write() -> None:
        while not stop.is_set():
            store.insert([plain_order(i) for i in range(500, 510)])
            store.delete([f"ord_{i:06d}" for i in range(500, 510)])

    writer = threading.Thread(target=write)
    writer.start()
    try:
        with ThreadPoolExecutor(6) as pool:
            pages = list(
                pool.map(
                    lambda _: store.snapshot_page(limit=1_000, columns=["order_id"]), range(100)
                )
            )
    finally:
        stop.set()
        writer.join()
    assert all(total == len(rows) and total in (100, 110) for total, rows in pages)


def test_the_real_account_opens_and_takes_writes():
    with OrderStore.open() as store:
        assert store.count() == 10_000
        assert store.delete([store.page(limit=1)[0]["order_id"]]) == 1
        assert store.insert([plain_order(20_001)]) == 1
        assert store.page(limit=1)[0] == plain_order(20_001)
    with OrderStore.open() as fresh:
        assert fresh.get("ord_020001") is None


def test_a_file_written_opens_again(store, tmp_path):
    store.write_parquet(tmp_path / "some orders.parquet")
    with OrderStore.open(tmp_path / "some orders.parquet") as again:
        assert again.page(limit=200) == store.page(limit=200)


def test_a_closed_store_says_so():
    store = OrderStore()
    store.close()
    with pytest.raises(Exception, match=r"[Cc]losed"):
        store.count()
