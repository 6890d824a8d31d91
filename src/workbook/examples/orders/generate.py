"""Makes the real account: 10,000 invented orders, the same from the same seed.

`python -m workbook.examples.orders.generate` writes `data/orders.parquet` anew and prints its
sha256. Names and addresses come from Faker, which is needed only here, and another release of Faker
makes other names; everything else reads the committed file.
"""

import hashlib
import random
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

from workbook.examples.orders.gateway import payload
from workbook.examples.orders.store import OrderStore
from workbook.examples.orders.vocabulary import (
    COLOUR_NOTE,
    LOCALES,
    PRODUCTS,
    SENTENCES,
    SPEAKERS,
    SPECIAL_TOKEN_NOTE,
)
from workbook.paths import data_path

SEED = 20260701
"""The seed of the committed account."""

FIRST_DAY, DAYS = datetime(2026, 1, 1), 181  # January to June
LANGUAGE_SHARES = {"English": 40, "Vietnamese": 25, "German": 20, "Japanese": 15}
REGION_SHARES = {"north": 36, "south": 38, "central": 26}
REFUNDED_PERCENT = {"north": 18, "south": 25, "central": 33}
"""Regions truly differ: central has the highest rate, south the most refunds (a count alone would
mislead).
"""

UNKNOWN_AMOUNTS = 12
"""Orders in 10,000 whose amount the gateway never reported: NULL, which is not zero."""

# Ranks from the newest order (0). Some are on the first page of any listing, so that a reader meets
# them at once.
LONG_NOTES = (
    4,
    17,
    38,
    120,
    610,
    1_500,
    2_222,
    3_100,
    4_040,
    5_005,
    6_300,
    7_007,
    8_080,
    8_900,
    9_500,
    9_990,
)
LARGE_PAYLOADS = (9, 27, 300, 1_111, 2_750, 4_500, 5_800, 7_300, 8_600, 9_700)
PICTURE, SPECIAL_TOKEN, COLOUR = 27, 2, 12


def generate_orders(n: int = 10_000, seed: int = SEED) -> list[dict]:
    """`n` invented orders in order of their ids, which is the order in which the shop learned of
    them.

    Many share their `placed_at` (whole seconds, UTC), and late imports make an id no guide to a
    time. Raises `ImportError` without Faker.
    """
    rng = random.Random(f"orders {seed}")
    customers = _customers(max(4, n // 4), seed)
    arrivals = sorted((_placed_at(rng) for _ in range(n)), key=lambda times: times[1])
    unknown = set(rng.sample(range(n), n * UNKNOWN_AMOUNTS // 10_000))
    orders = []
    for i, (placed_at, _) in enumerate(arrivals):
        customer = rng.choice(customers)
        region = _pick(rng, REGION_SHARES)
        refunded = REFUNDED_PERCENT[region]
        order = {
            "order_id": f"ord_{i + 1:06d}",
            **{key: customer[key] for key in ("customer", "email", "address")},
            "status": _pick(
                rng, {"refunded": refunded, "pending": 8, "failed": 6, "paid": 86 - refunded}
            ),
            "region": region,
            "amount": None if i in unknown else _amount(rng),
            "placed_at": placed_at,
            "note": _note(rng, customer["language"]),
        }
        orders.append(order)
    newest_first = sorted(
        orders, key=lambda order: (order["placed_at"], order["order_id"]), reverse=True
    )
    for rank, order in enumerate(newest_first):
        _make_special(rng, order, rank)
    return orders


def _make_special(rng: random.Random, order: dict, rank: int) -> None:
    """Adds the payload, and what makes some orders hard to show."""
    if rank in LONG_NOTES:
        language = tuple(LOCALES)[LONG_NOTES.index(rank) % len(LOCALES)]
        order["note"] = _chat(rng, language, order["placed_at"], rng.randint(2_000, 8_000))
    elif rank == SPECIAL_TOKEN:
        order["note"] = SPECIAL_TOKEN_NOTE
    elif rank == COLOUR:
        order["note"] = COLOUR_NOTE
    size = rng.randint(110_000, 380_000) if rank in LARGE_PAYLOADS else 0
    order["raw_payload"] = payload(rng, order, size, picture=rank == PICTURE)


def _customers(n: int, seed: int) -> list[dict]:
    from faker import Faker

    people = []
    for language, share in LANGUAGE_SHARES.items():
        fake = Faker(LOCALES[language])
        fake.seed_instance(seed)
        for _ in range(max(1, n * share // 100)):
            address = ", ".join(fake.address().splitlines())
            number = len(people) + 1
            email = fake.ascii_safe_email().replace(
                "@", f"{number}@"
            )  # numbered: nobody shares an address
            people.append(
                {"customer": fake.name(), "email": email, "address": address, "language": language}
            )
    return people


def _placed_at(rng: random.Random) -> tuple[datetime, datetime]:
    """When an order was placed, and when the shop learned of it."""
    day = FIRST_DAY + timedelta(days=rng.randrange(DAYS))
    kind = rng.randrange(100)
    if (
        kind < 10
    ):  # a sale that opens at noon of the month's last days: a hundred and more in one second
        placed = datetime(2026, rng.randint(1, 6), 28, 12)
        return placed, placed + timedelta(seconds=rng.randrange(3_600))
    if kind < 45:  # a marketplace that sends its orders four times a day, some days late
        placed = day + timedelta(hours=rng.choice((0, 6, 12, 18)))
        return placed, placed + timedelta(
            hours=rng.choice((0, 0, 0, 24, 72)), seconds=rng.randrange(600)
        )
    placed = day + timedelta(hours=7, seconds=rng.randrange(16 * 3_600))
    return placed, placed


def _amount(rng: random.Random) -> Decimal:
    whole = rng.randint(5, 500) if rng.randrange(20) else rng.randint(500, 2_500)
    return Decimal(100 * whole + rng.choice((0, 50, 90, 95, 99, rng.randrange(100)))).scaleb(-2)


def _pick(rng: random.Random, shares: dict[str, int]) -> str:
    return rng.choices(list(shares), weights=list(shares.values()))[0]


def _sentence(rng: random.Random, language: str) -> str:
    product, number, hour = rng.choice(PRODUCTS[language]), rng.randint(2, 9), rng.randint(9, 20)
    return rng.choice(SENTENCES[language]).format(product=product, number=number, hour=hour)


def _note(rng: random.Random, language: str) -> str | None:
    sentences = [_sentence(rng, language) for _ in range(rng.choice((0, 0, 1, 1, 2)))]
    return " ".join(sentences) or None


def _chat(rng: random.Random, language: str, start: datetime, length: int) -> str:
    """A support chat pasted into a note, of at least `length` characters."""
    lines, total = [], 0
    while total < length:
        at = start + timedelta(minutes=3 * len(lines))
        who = SPEAKERS[language][len(lines) % 2]
        lines.append(
            f"[{at:%Y-%m-%d %H:%M}] {who}: {_sentence(rng, language)} {_sentence(rng, language)}"
        )
        total += len(lines[-1]) + 1
    return "\n".join(lines)


def write_account(path: Path | str, orders: list[dict] | None = None, seed: int = SEED) -> str:
    """Writes `orders` (the real account by default) to `path` as Parquet, and returns the file's
    sha256.

    Seed and Faker's release are written into the file. The same rows and the same DuckDB give the
    same bytes.
    """
    import faker

    made = {"faker": faker.VERSION, "seed": str(seed)}
    with OrderStore(generate_orders(seed=seed) if orders is None else orders) as store:
        store.write_parquet(path, made)
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


if __name__ == "__main__":
    print(write_account(data_path("orders.parquet")))
