"""The shop's HTTP API, over the wire that needs no port."""

import asyncio
import base64
from concurrent.futures import ThreadPoolExecutor
from datetime import date, datetime
from itertools import islice

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolresults.tokens import to_json
from workbook.examples.orders.api import OrdersAPIError, OrdersClient, create_app
from workbook.examples.orders.data import plain_order
from workbook.examples.orders.store import COLUMNS, OrderFilter, OrderStore


def hundred() -> OrderStore:
    # three orders a minute, so that the sort key ties; a name whose bytes are more than its
    # characters
    changes = [
        {"placed_at": datetime(2026, 5, 1, 12, i // 3), "customer": f"Vũ Thị Ánh {i}"}
        for i in range(101)
    ]
    return OrderStore([plain_order(i, **changes[i]) for i in range(1, 101)])


@pytest.fixture(scope="module")
def store():
    """For all tests that write nothing."""
    with hundred() as store:
        yield store


@pytest.fixture
def client(store):
    with OrdersClient(create_app(store)) as client:
        yield client


@pytest.fixture(scope="module")
def steady():
    """A client for many examples, whose store does not change."""
    with (
        OrderStore([plain_order(i) for i in range(1, 31)]) as store,
        OrdersClient(create_app(store)) as client,
    ):
        yield client


def ids(orders) -> list[str]:
    return [order["order_id"] for order in orders]


def expected_ids(store, **wanted) -> list[str]:
    return ids(store.page(OrderFilter(**wanted), limit=1_000))


def test_a_page_holds_rows_newest_first_and_the_way_on(client, store):
    page = client.orders(limit=40)
    assert ids(page["data"]) == expected_ids(store)[:40]
    assert list(page["data"][0]) == list(COLUMNS)
    assert to_json(page["data"]) == to_json(store.page(limit=40))
    rest = client.orders(limit=60, cursor=page["next"])
    assert ids(rest["data"]) == expected_ids(store)[40:]
    assert rest["next"] is None  # exactly `limit` rows remained


@pytest.mark.parametrize("paging", ["keyset", "offset"])
@pytest.mark.parametrize("limit", [3, 50, 100, 1_000])
def test_all_pages_hold_every_order_once(store, paging, limit):
    with OrdersClient(create_app(store, paging)) as client:
        assert ids(islice(client.all_orders(limit=limit), 1_000)) == expected_ids(store)
        assert client.requests == -(-100 // limit)
        assert ids(client.all_orders(limit=limit, status="refunded")) == expected_ids(
            store, status="refunded"
        )


def test_filters_and_ranges(client, store):
    noon, later = datetime(2026, 5, 1, 12, 5), datetime(2026, 5, 1, 12, 20)
    wanted = {
        "region": "south",
        "min_amount": 50,
        "max_amount": 400,
        "placed_after": noon,
        "placed_before": later,
    }
    found = ids(client.orders(**wanted)["data"])
    assert found and found == expected_ids(store, **wanted)
    assert client.orders(placed_after=date(2026, 5, 2)) == {"data": [], "next": None}
    zone = client.orders(
        placed_after="2026-05-01T19:05:00+07:00",
        placed_before="2026-05-01T12:20:00Z",
        region="south",
    )
    assert ids(zone["data"]) == expected_ids(
        store, region="south", placed_after=noon, placed_before=later
    )
    assert client.orders(status=None, limit=1)["data"]


def test_fewer_fields_are_fewer_bytes(client):
    client.orders(limit=50)
    everything = client.bytes_received
    client.reset()
    page = client.orders(limit=50, fields=["customer", "amount"])
    assert list(page["data"][0]) == ["customer", "amount"]
    assert client.requests == 1
    assert client.bytes_received == len(to_json(page).encode())  # the body, to the byte
    assert client.bytes_received < everything / 4
    assert len(client.orders(limit=50, fields="customer,amount", cursor=page["next"])["data"]) == 50


def test_one_order(client, store):
    assert to_json(client.order("ord_000007")) == to_json(store.get("ord_000007"))
    assert client.order("ord_000007", fields="status") == {"status": plain_order(7)["status"]}
    with pytest.raises(OrdersAPIError, match="no such order") as caught:
        client.order("ord_999999")
    assert caught.value.status == 404


@pytest.mark.parametrize("first", ["keyset", "offset"])
def test_the_back_end_changes_its_paging_and_no_caller_notices(store, first):
    """Every page is asked for under the other way of paging than the page before it."""
    app = create_app(store, first)
    with OrdersClient(app) as client:
        seen, cursor, kinds = [], None, set()
        for _ in range(20):  # twelve pages are enough; a cursor that goes back must fail, not hang
            page = client.orders(limit=9, cursor=cursor)
            seen += ids(page["data"])
            cursor = page["next"]
            if cursor is None:
                break
            kinds.add(base64.b64decode(cursor + "==")[:8])
            app.state.paging = "offset" if app.state.paging == "keyset" else "keyset"
    assert seen == expected_ids(store)
    assert len(kinds) == 2


def test_offset_paging_repeats_and_skips_while_keyset_does_not():
    store = hundred()
    app = create_app(store, "offset")
    with OrdersClient(app) as client:
        page = client.orders(limit=20)
        store.insert([plain_order(i, placed_at=datetime(2026, 6, 1)) for i in range(200, 203)])
        again = client.orders(limit=20, cursor=page["next"])
        assert len(set(ids(page["data"])) & set(ids(again["data"]))) == 3
        store.delete([f"ord_{i:06d}" for i in range(200, 203)] + ids(page["data"])[:5])
        skipped = client.orders(limit=20, cursor=page["next"])
        assert ids(skipped["data"])[0] == expected_ids(store)[20] != expected_ids(store)[15]
        app.state.paging = "keyset"
        page = client.orders(limit=20)
        last = ids(page["data"])[-1]
        store.delete([last])
        store.insert([plain_order(300, placed_at=datetime(2026, 6, 1))])
        following = ids(client.orders(limit=20, cursor=page["next"])["data"])
        assert not set(following) & set(ids(page["data"]))
        assert following == expected_ids(store)[20:40]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"limit": 0}, "limit is a whole number from 1 to 1000"),
        ({"limit": 1_001}, "limit is a whole number from 1 to 1000"),
        ({"limit": "٣"}, "limit"),
        ({"limit": "1e2"}, "limit"),
        ({"limit": ""}, "limit"),
        ({"status": "done"}, "use paid, pending, refunded, failed"),
        ({"region": "south' OR 1=1 --"}, "use north, south, central"),
        ({"min_amount": "NaN"}, "min_amount"),
        ({"max_amount": "1e400"}, "max_amount"),
        ({"placed_after": "yesterday"}, "placed_after"),
        ({"placed_before": "2026-02-30"}, "placed_before"),
        ({"placed_after": "0001-01-01T00:00:00+09:00"}, "placed_after"),
        ({"fields": "id"}, "fields takes names"),
        ({"fields": ""}, "fields takes names"),
        ({"page": 2}, "unknown parameter 'page'"),
        ({"cursor": ""}, "start again"),
    ],
)
def test_a_bad_parameter_gets_one_clear_line(client, wrong, said):
    with pytest.raises(OrdersAPIError) as caught:
        client.orders(**wrong)
    assert caught.value.status == 400
    assert said in str(caught.value) and "\n" not in str(caught.value)


def cursor_of(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        cursor_of(text)
        for text in (
            '{"offset": -1}',
            '{"offset": true}',
            '{"offset": 1.5}',
            '{"offset": 1e400}',
            f'{{"offset": {10**30}}}',
            f'{{"offset": {"9" * 5_000}}}',
            '{"after": ["2026-05-01", 7]}',
            '{"after": ["soon", "ord_000001"]}',
            '{"after": ["2026-05-01T00:00:00", "\\ud800"]}',
            '{"after": ["2026-05-01T00:00:00Z", "ord_000001"]}',
            "[" * 20_000,
            "null",
        )
    ]
    + ["!", "é", "\ud83d", "a", "AAAA"],
)
def test_a_cursor_that_is_none_of_ours_gets_one_answer(client, cursor):
    with pytest.raises(
        OrdersAPIError, match="cursor is not one of this API's: start again without it"
    ) as caught:
        client.orders(cursor=cursor)
    assert caught.value.status == 400


@settings(max_examples=50)
@given(
    st.sampled_from(["status", "limit", "min_amount", "placed_after", "fields", "cursor", "x"]),
    st.text(max_size=12),
)
def test_any_text_is_answered(steady, name, value):
    try:
        assert set(steady.orders(**{name: value})) == {"data", "next"}
    except OrdersAPIError as error:
        assert error.status == 400


@settings(max_examples=40)
@given(
    st.datetimes(timezones=st.none()), st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
)
def test_an_edited_cursor_starts_where_it_says(steady, time, order_id):
    page = steady.orders(
        cursor=cursor_of(to_json({"after": [time, order_id]})), fields="order_id,placed_at"
    )
    assert all(
        (order["placed_at"], order["order_id"]) < (time.isoformat(), order_id)
        for order in page["data"]
    )


def test_a_parameter_given_twice_is_refused(store):
    async def ask() -> httpx2.Response:
        transport = httpx2.ASGITransport(create_app(store))
        async with httpx2.AsyncClient(
            transport=transport, base_url="http://orders.example"
        ) as http:
            return await http.get("/orders?limit=1&limit=2")

    response = asyncio.run(ask())
    assert (response.status_code, response.json()) == (400, {"error": "limit is given twice"})


def test_an_unknown_way_of_paging_is_the_hosts_mistake(store):
    with pytest.raises(ValueError, match="use keyset or offset"):
        create_app(store, "pages")


def test_the_client_works_where_a_loop_is_running(client):
    """As in Jupyter, where each cell runs inside one."""

    async def cell() -> dict:
        return client.orders(limit=1)

    assert asyncio.run(cell()) == client.orders(limit=1)


def test_the_client_counts_from_many_threads(client):
    with ThreadPoolExecutor(5) as pool:
        pages = list(pool.map(lambda _: client.orders(limit=5), range(40)))
    assert client.requests == 40
    assert client.bytes_received == 40 * len(to_json(pages[0]).encode())


def test_closing_a_client_twice_is_fine(store):
    client = OrdersClient(create_app(store))
    client.close()
    client.close()
