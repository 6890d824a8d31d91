"""The payload that a payment gateway leaves with each order: nested JSON text, with secrets inside.

Everything secret here is invented or a published test value. `SECRET` finds it all, so that a test
can say that none of it ever reaches a model. Only integers are drawn, so that every platform makes
the same text.
"""

import base64
import json
import random
import re
import struct
import zlib
from datetime import timedelta

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
