"""The classic orders, the committed account, and the generator that makes it."""

import base64
import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from decimal import Decimal

import duckdb
import pytest

from makers import maker
from toolresults.tokens import count_tokens, estimate_tokens, to_json
from workbook.examples.orders.data import classic_orders, million_orders, plain_order
from workbook.examples.orders.store import COLUMNS, OrderFilter, OrderStore
from workbook.paths import data_path

MAKER = maker("orders")
SECRET = MAKER.SECRET
ACCOUNT = data_path("orders.parquet")


@pytest.fixture(scope="module")
def orders() -> list[dict]:
    with OrderStore.open() as store:
        return store.page(limit=20_000)


def test_classic_orders_have_the_published_size():
    orders = classic_orders()
    text = json.dumps(orders)
    assert len(text) == 5_444_677
    assert estimate_tokens(text) == 1_361_169
    assert count_tokens(text) == 1_012_478
    assert count_tokens(to_json(orders)) == 892_479


def test_fewer_classic_orders_are_the_first_of_them():
    assert classic_orders(20) == classic_orders()[:20]


FILES = sorted(
    path.relative_to(data_path()).as_posix()
    for path in data_path().rglob("*.*")
    if path.name != "README.md" and data_path("make") not in path.parents
)


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_the_one_that_the_readme_names(name):
    digest = hashlib.sha256(data_path(name).read_bytes()).hexdigest()
    readme = data_path("README.md").read_text(encoding="utf-8")
    [line] = [line for line in readme.splitlines() if line.startswith(f"| `{name}` |")]
    assert line.endswith(f"| `{digest}` |")
    assert data_path(name).stat().st_size < 6_000_000


def test_the_readme_says_what_the_account_holds(orders):
    readme = data_path("README.md").read_text(encoding="utf-8")
    sizes = sorted(len(order["raw_payload"]) for order in orders)
    notes = sorted(len(order["note"]) for order in orders if order["note"])
    amounts = [order["amount"] for order in orders if order["amount"] is not None]
    times = Counter(order["placed_at"] for order in orders)
    refunded = Counter(order["region"] for order in orders if order["status"] == "refunded")
    said = [
        f"{n:,} {name}"
        for field in ("status", "region")
        for name, n in Counter(o[field] for o in orders).items()
    ]
    said += [
        f"{sizes[0]:,} to {sizes[-11]:,} characters, "
        f"and in ten orders {sizes[-10]:,} to {sizes[-1]:,}"
    ]
    said += [f"NULL in {10_000 - len(notes):,} orders; else {notes[0]} to {notes[-1]:,} characters"]
    said += [f"{min(amounts)} to {max(amounts):,}; NULL in {10_000 - len(amounts)} orders"]
    said += [f"{len(times):,} different times, up to {max(times.values())} orders at one"]
    said += [
        f"{len({order['email'] for order in orders}):,} customers",
        f"most refunds\n({refunded['south']})",
    ]
    assert [words for words in said if words not in readme] == []


def test_the_generator_makes_the_committed_rows_again(orders, tmp_path):
    faker = pytest.importorskip("faker")
    generate_orders, write_account = MAKER.generate_orders, MAKER.write_account

    made = duckdb.execute(
        "SELECT decode(key), decode(value) FROM parquet_kv_metadata(?)", [str(ACCOUNT)]
    ).fetchall()
    if (release := dict(made)["faker"]) != faker.VERSION:
        pytest.skip(
            f"the account was made with Faker {release}; "
            f"this is {faker.VERSION}, which makes other names"
        )
    again = generate_orders()
    assert again == sorted(orders, key=lambda order: order["order_id"])
    writers = {
        duckdb.execute("SELECT created_by FROM parquet_file_metadata(?)", [str(path)]).fetchone()
        for path in (ACCOUNT, tmp_path / "again.parquet")
        if path == ACCOUNT or write_account(path, again)
    }
    if len(writers) == 1:  # the same release of DuckDB: the bytes agree too
        assert (tmp_path / "again.parquet").read_bytes() == ACCOUNT.read_bytes()


def test_ids_are_no_guide_to_time(orders):
    assert sorted(order["order_id"] for order in orders) == [
        f"ord_{i:06d}" for i in range(1, 10_001)
    ]
    assert orders[0]["order_id"] != "ord_010000"
    newer_with_a_lower_id = sum(
        a["order_id"] < b["order_id"] for a, b in zip(orders, orders[1:], strict=False)
    )
    assert newer_with_a_lower_id > 500


def test_many_orders_share_their_second(orders):
    times = Counter(order["placed_at"] for order in orders)
    assert max(times.values()) > 100  # more than two pages of 50 with one sort key
    assert sum(n for n in times.values() if n > 1) > 4_000
    assert all(order["placed_at"].microsecond == 0 for order in orders)


def test_a_dozen_amounts_are_unknown_and_the_rest_in_cents(orders):
    amounts = [order["amount"] for order in orders]
    assert amounts.count(None) == 12
    assert all(
        isinstance(a, Decimal) and a.as_tuple().exponent == -2 and a > 0
        for a in amounts
        if a is not None
    )


def test_regions_differ_in_refunds_and_the_count_misleads(orders):
    n = Counter(order["region"] for order in orders)
    refunded = Counter(order["region"] for order in orders if order["status"] == "refunded")
    rate = {region: refunded[region] / n[region] for region in n}
    assert rate["north"] + 0.05 < rate["south"] < rate["central"] - 0.05
    assert refunded["south"] == max(refunded.values())
    assert 0.22 < sum(refunded.values()) / len(orders) < 0.28


def test_the_account_speaks_four_languages(orders):
    for field in ("customer", "address", "note"):
        text = " ".join(order[field] or "" for order in orders)
        for some in ("[a-z]{3}", "[ạảấầẩậắằếềểệ]", "[äöüß]", "[\u3040-\u30ff\u4e00-\u9fff]"):
            assert re.search(some, text), (field, some)
    assert sum("\n" in order["address"] for order in orders) == 0
    assert all(re.search(r"@example\.(com|net|org)$", order["email"]) for order in orders)


def test_every_payload_is_json_with_its_token_plain_and_escaped(orders):
    for order in orders:
        text = order["raw_payload"]
        content = json.loads(text)
        token = content["card"]["card_token"]
        assert content["order_id"] == order["order_id"]
        assert f'"card_token":"{token}"' in text and f'\\"card_token\\":\\"{token}\\"' in text
        assert json.loads(content["raw_response"])["card_token"] == token
        assert token in SECRET.findall(text)
        assert not SECRET.search(to_json({**order, "raw_payload": None}))
    assert (
        len({json.loads(order["raw_payload"])["card"]["card_token"] for order in orders}) == 10_000
    )


def test_payloads_hold_other_secrets_too(orders):
    payloads = [order["raw_payload"] for order in orders]
    for secret in (
        r'"authorization":"Bearer gw_example_',
        r'"pan":"\d{16}"',
        r"card \d{4} \d{4} \d{4} \d{4} not",
    ):
        found = [match for text in payloads if (match := re.search(secret, text))]
        assert 300 < len(found) < 5_000
        assert all(SECRET.search(match.string[match.start() : match.end() + 30]) for match in found)


def test_ten_payloads_are_huge_and_one_holds_a_picture(orders):
    sizes = sorted(len(order["raw_payload"]) for order in orders)
    assert sizes[0] >= 300 and sizes[-11] <= 3_000
    assert sizes[-10] >= 100_000 and sizes[-1] <= 400_000
    huge = [order["raw_payload"] for order in orders if len(order["raw_payload"]) > 3_000]
    assert all(
        estimate_tokens(text) / 2 < count_tokens(text) for text in huge
    )  # not one letter repeated
    pictures = [text for text in huge if '"image/png"' in text]
    assert len(pictures) == 1
    png = base64.b64decode(json.loads(pictures[0])["receipt"]["data"], validate=True)
    assert png.startswith(b"\x89PNG\r\n\x1a\n") and len(png) > 50_000


def test_notes_hold_what_breaks_careless_code(orders):
    notes = [order["note"] for order in orders if order["note"] is not None]
    assert 3_000 < len(notes) < 8_000
    assert all(note.strip() for note in notes)
    assert sum(2_000 <= len(note) <= 8_200 for note in notes) == 16
    assert sum("<|endoftext|>" in note for note in notes) == 1
    assert sum("\x1b[" in note and "👨‍👩‍👧" in note for note in notes) == 1


def test_the_first_page_holds_hard_orders(orders):
    first = orders[:50]
    assert any(len(order["raw_payload"]) > 100_000 for order in first)
    assert any(len(order["note"] or "") > 2_000 for order in first)


def test_a_plain_order_fits_a_store():
    first, second = plain_order(1), plain_order(2, status="failed", amount=None)
    assert (
        second["status"] == "failed"
        and second["amount"] is None
        and first["placed_at"] < second["placed_at"]
    )
    assert SECRET.search(first["raw_payload"])
    assert OrderStore([first, second]).page(limit=5) == [second, first]


def test_a_larger_account_is_the_same_every_time():
    with million_orders(50_000) as store, million_orders(50_000) as again:
        assert store.count() == 50_000
        assert 0.24 < store.count(OrderFilter(status="refunded")) / 50_000 < 0.26
        assert store.aggregate(by=("region", "status")) == again.aggregate(by=("region", "status"))
        assert store.page(limit=20) == again.page(limit=20)
        assert set(store.page(limit=1)[0]) == set(COLUMNS)
        assert store.aggregate()[0]["total_amount"] == Decimal("12630148.48")


def test_data_path_stays_in_its_folder():
    assert data_path("results/x.csv").parent.parent == data_path()
    for name in ("../pyproject.toml", "/etc/hosts", "a/../../b"):
        with pytest.raises(ValueError, match="leaves the data folder"):
            data_path(name)


def test_reading_orders_loads_no_heavy_library():
    heavy = "{'faker', 'httpx2', 'numpy', 'pandas', 'pyarrow', 'starlette'}"
    code = (
        "import sys, workbook.examples.orders.data as d, workbook.examples.orders.store as s; "
        "s.OrderStore.open().page(limit=2); d.classic_orders(2); "
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout.strip() == "[]"
