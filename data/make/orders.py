"""Makes the real account: 10,000 invented orders, the same from the same seed.

`python data/make/orders.py` writes `data/orders.parquet` anew and prints its sha256. Names and
addresses come from Faker, which is needed only here, and another release of Faker makes other
names. What the shop's staff write in a note stands in `order_words.json` beside this file, in the
languages of its customers, invented for this project.

Everything secret in a payload is invented or a published test value. `SECRET` finds it all, so that
a test can say that none of it ever reaches a model. Only integers are drawn, so that every platform
makes the same text.
"""

import base64
import hashlib
import json
import random
import re
import struct
import zlib
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path

from workbook.examples.orders.store import OrderStore
from workbook.paths import data_path

WORDS = json.loads(Path(__file__).with_name("order_words.json").read_text(encoding="utf-8"))

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
        language = tuple(WORDS["locales"])[LONG_NOTES.index(rank) % len(WORDS["locales"])]
        order["note"] = _chat(rng, language, order["placed_at"], rng.randint(2_000, 8_000))
    elif rank == SPECIAL_TOKEN:
        order["note"] = WORDS["special_token_note"]
    elif rank == COLOUR:
        order["note"] = WORDS["colour_note"]
    size = rng.randint(110_000, 380_000) if rank in LARGE_PAYLOADS else 0
    order["raw_payload"] = payload(rng, order, size, picture=rank == PICTURE)


def _customers(n: int, seed: int) -> list[dict]:
    from faker import Faker

    people = []
    for language, share in LANGUAGE_SHARES.items():
        fake = Faker(WORDS["locales"][language])
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
    product, number, hour = (
        rng.choice(WORDS["products"][language]),
        rng.randint(2, 9),
        rng.randint(9, 20),
    )
    return rng.choice(WORDS["sentences"][language]).format(
        product=product, number=number, hour=hour
    )


def _note(rng: random.Random, language: str) -> str | None:
    sentences = [_sentence(rng, language) for _ in range(rng.choice((0, 0, 1, 1, 2)))]
    return " ".join(sentences) or None


def _chat(rng: random.Random, language: str, start: datetime, length: int) -> str:
    """A support chat pasted into a note, of at least `length` characters."""
    lines, total = [], 0
    while total < length:
        at = start + timedelta(minutes=3 * len(lines))
        who = WORDS["speakers"][language][len(lines) % 2]
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


# The payload that a payment gateway leaves with each order: nested JSON text

TEST_CARDS = (
    ("visa", "4242424242424242"),
    ("visa", "4111111111111111"),
    ("mastercard", "5555555555554444"),
    ("discover", "6011111111111117"),
    ("jcb", "3530111333300000"),
)
"""Card numbers that payment companies publish for testing: they pass the checksum and belong to
nobody.
"""

SECRET = re.compile(
    r"tok_live_example[a-z0-9]{12}|gw_example_[a-z2-7]{24}|"
    + "|".join(" ?".join((pan[:4], pan[4:8], pan[8:12], pan[12:])) for _, pan in TEST_CARDS)
)
"""Finds every secret in a payload: card tokens, authorization values, card numbers with or without
blanks.
"""

_EVENTS = {
    "paid": "captured",
    "pending": "authorized",
    "refunded": "refunded",
    "failed": "declined",
}
_WEBHOOKS = (
    "charge.authorized",
    "charge.captured",
    "dispute.evidence",
    "payout.scheduled",
    "charge.updated",
)


def payload(rng: random.Random, order: dict, size: int = 0, picture: bool = False) -> str:
    """The gateway's payload for `order`, as JSON text.

    300 to 3,000 characters; with `size`, a list of deliveries is added until the text has at least
    that many characters; with `picture`, a scanned receipt too, as a base64 PNG. Each holds the
    order's card token twice, once plain and once in JSON inside JSON.
    """
    token = f"tok_live_example{_letters(rng, 12)}"
    network, pan = rng.choice(TEST_CARDS)
    amount = None if order["amount"] is None else str(order["amount"])
    card = {
        "network": network,
        "last4": pan[-4:],
        "expires": f"{rng.randint(1, 12):02d}/{rng.randint(27, 31)}",
    }
    card["card_token"] = token
    if rng.randrange(12) == 0:
        card["pan"] = pan
    inner = {"code": f"{rng.randrange(100):02d}", "trace": _hex(rng, 12), "card_token": token}
    if rng.randrange(10) == 0:  # JSON in JSON in JSON, as a proxy in front of a bank writes it
        message = f"card {pan[:4]} {pan[4:8]} {pan[8:12]} {pan[12:]} not present"
        inner["upstream"] = _json({"bank_token": token, "message": message})
    envelope = {
        "gateway": "examplepay",
        "event": f"charge.{_EVENTS[order['status']]}",
        "id": f"evt_{_hex(rng, 16)}",
        "order_id": order["order_id"],
        "amount": {"value": amount, "currency": "EUR"},
        "card": card,
    }
    parts = _parts(rng, order, token)
    for name in sorted(rng.sample(sorted(parts), rng.choice((0, 1, 1, 1, 2, 2, 3, 5)))):
        envelope[name] = parts[name]
    envelope["raw_response"] = _json(inner)
    if picture:
        envelope["receipt"] = {
            "type": "image/png",
            "data": base64.b64encode(receipt_png(rng)).decode("ascii"),
        }
    if size:
        envelope["deliveries"] = deliveries = []
        length = len(_json(envelope))
        while length < size:
            deliveries.append(_delivery(rng, order, len(deliveries), token))
            length += len(_json(deliveries[-1])) + 1
    return _json(envelope)


def _parts(rng: random.Random, order: dict, token: str) -> dict:
    """What a payload may hold besides the least."""
    authorization = f"Bearer gw_example_{_letters(rng, 24)}"
    return {
        "attempts": [_delivery(rng, order, i, token) for i in range(rng.randint(1, 6))],
        "billing": {
            "name": order["customer"],
            "email": order["email"],
            "address": order["address"],
        },
        "request": {
            "method": "POST",
            "path": "/v2/charges",
            "headers": {
                "authorization": authorization,
                "idempotency-key": _hex(rng, 32),
                "user-agent": "shop/4.2",
            },
        },
        "risk": {
            "score": rng.randint(1, 99),
            "rules": ["velocity", "country"][: rng.randint(0, 2)],
            "ip": "192.0.2.10",
        },
        "three_ds": {
            "version": "2.2.0",
            "eci": f"{rng.randint(5, 7):02d}",
            "transaction": _hex(rng, 32),
        },
    }


def _delivery(rng: random.Random, order: dict, number: int, token: str) -> dict:
    """One attempt to tell the shop about the charge."""
    at = order["placed_at"] + timedelta(seconds=90 * number + rng.randint(1, 60))
    kind = rng.choice(_WEBHOOKS)
    body = {"order_id": order["order_id"], "type": kind, "card_token": token, "nonce": _hex(rng, 8)}
    return {
        "id": f"dlv_{_hex(rng, 10)}",
        "at": f"{at.isoformat()}Z",
        "attempt": number + 1,
        "status": rng.choice((200, 200, 200, 202, 429, 500, 503)),
        "milliseconds": rng.randint(18, 2_400),
        "body": _json(body),
    }


def receipt_png(rng: random.Random, width: int = 240, height: int = 320) -> bytes:
    """A grey picture of a printed receipt, with a scanner's noise, as the bytes of a PNG.

    Stored without compression: zlib's output differs from one build to another, and the account
    must not.
    """
    rows = bytearray()
    for y in range(height):
        ink = y % 20 in range(6, 14)
        end = 30 + (y // 20 * 53) % 170
        rows.append(0)  # PNG's filter byte: none
        noise = rng.randbytes(width)
        rows += bytes(
            (70 if ink and 20 < x < end and x % 9 < 6 else 236) + noise[x] % 16
            for x in range(width)
        )
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", _stored(bytes(rows))), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))
        for name, body in chunks
    )


def _stored(data: bytes) -> bytes:
    """`data` as a zlib stream of stored blocks (RFC 1950, and RFC 1951 section 3.2.4)."""
    blocks = [data[i : i + 65_535] for i in range(0, len(data), 65_535)]
    stream = b"\x78\x01"
    for i, block in enumerate(blocks):
        stream += struct.pack("<BHH", i == len(blocks) - 1, len(block), len(block) ^ 0xFFFF) + block
    return stream + struct.pack(">I", zlib.adler32(data))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _letters(rng: random.Random, length: int) -> str:
    return "".join(rng.choices("abcdefghijklmnopqrstuvwxyz234567", k=length))


def _hex(rng: random.Random, length: int) -> str:
    return f"{rng.getrandbits(4 * length):0{length}x}"


if __name__ == "__main__":
    print(write_account(data_path("orders.parquet")))
