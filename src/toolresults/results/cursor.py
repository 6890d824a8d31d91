"""Cursors that a model can hand back but not make up: signed, bound to their query, expiring.

A cursor says where a listing stopped: the sort key and id of the last row shown (keyset paging). It
is readable, since that row was shown anyway, but it cannot be changed. What it is bound to (tool,
filter, sort, caller) is not inside it: it is mixed into the signing key, which costs no tokens.

    cursors = Cursors(["secret"])
    binding = {"tool": "search", "status": "paid", "caller": "ana"}
    cursor = cursors.sign((1767225600, "ord_000123"), binding=binding)
    cursors.read(cursor, binding=binding)  # (1767225600, "ord_000123")
"""

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from urllib.parse import quote, unquote

from itsdangerous import BadData, TimestampSigner
from itsdangerous.signer import HMACAlgorithm

from ..tokens import to_json

RESTART = "This cursor is not valid here. Start again without a cursor."
"""The one message for every fault, so that a caller cannot learn which check failed."""

MAX_AGE = 3600
"""Seconds for which a cursor is good, unless the host says otherwise."""

MAX_CHARS = 400
"""Longest cursor that is looked at, in characters; a longer one was not made here."""

Position = tuple[int | str, ...]


class CursorError(Exception):
    """A cursor that cannot be used; its message is `RESTART`, whatever the fault."""

    def __init__(self):
        super().__init__(RESTART)


class _Half(HMACAlgorithm):
    """HMAC-SHA256 cut to 128 bits, as RFC 2104 section 5 allows: 22 characters in place of 43."""

    def get_signature(self, key: bytes, value: bytes) -> bytes:
        return super().get_signature(key, value)[:16]


class _Signer(TimestampSigner):
    def __init__(self, keys: list[bytes], salt: bytes, now: int):
        super().__init__(keys, salt=salt, key_derivation="hmac", algorithm=_Half(hashlib.sha256))
        self.now = now

    def get_timestamp(self) -> int:
        return self.now


class Cursors:
    """Signs and reads the cursors of one host.

    `keys` are the host's secrets, oldest first: the last one signs, all of them are accepted, so a
    key is rotated by appending a new one and retired by removing the old one. `clock` gives the
    time in seconds; `max_age` is in seconds. Raises `ValueError` without a key.
    """

    def __init__(
        self,
        keys: Sequence[str | bytes],
        *,
        clock: Callable[[], float] = time.time,
        max_age: int = MAX_AGE,
    ):
        self._keys = [key.encode() if isinstance(key, str) else bytes(key) for key in keys]
        if not self._keys or not all(self._keys):
            raise ValueError("cursors need at least one key, and no key may be empty")
        self._clock = clock
        self._max_age = max_age

    def sign(self, position: Position, *, binding: object) -> str:
        """The cursor for `position` (integers and strings), good only with an equal `binding` (any
        JSON value).
        """
        return self._signer(self._keys, binding).sign(_write(position)).decode("ascii")

    def read(self, cursor: object, *, binding: object) -> Position:
        """The position inside `cursor`. Raises `CursorError` unless signed here, lately, for
        `binding`.
        """
        if not isinstance(cursor, str) or len(cursor) > MAX_CHARS or not cursor.isascii():
            raise CursorError
        try:
            signer = self._signer(self._keys, binding)
            value, signed_at = signer.unsign(cursor, max_age=self._max_age, return_timestamp=True)
        except BadData:
            raise CursorError from None
        # base64 has several spellings of the same bytes: only the one that we would write ourselves
        # is accepted
        now = int(signed_at.timestamp())
        ours = (self._signer([key], binding, now).sign(value).decode("ascii") for key in self._keys)
        if cursor not in ours:
            raise CursorError
        return _read(value.decode("ascii"))

    def _signer(self, keys: list[bytes], binding: object, now: int | None = None) -> _Signer:
        canonical = json.dumps(json.loads(to_json(binding)), sort_keys=True)
        salt = hashlib.sha256(canonical.encode()).digest()
        return _Signer(keys, salt, int(self._clock()) if now is None else now)


def _write(position: Position) -> str:
    """Integers as digits and strings behind `~`: fewer tokens than base64 of the same thing."""
    return ":".join(
        str(part) if isinstance(part, int) else "~" + quote(part, safe="") for part in position
    )


def _read(text: str) -> Position:
    return tuple(
        unquote(part[1:]) if part.startswith("~") else int(part) for part in text.split(":")
    )
