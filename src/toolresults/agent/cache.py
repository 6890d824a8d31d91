"""A prompt cache, modelled as both vendors document theirs, so that it can be asked offline.

    cache = PromptCache(ANTHROPIC.caching, clock=lambda: now)
    cached, written = cache.read(ANTHROPIC.request_parts(body))  # tokens; from now on it is cached

Both vendors match the beginning of a request exactly: after the first byte that differs, nothing
comes from the cache.

What is assumed here, from the vendors' pages on prompt caching as they stood in November 2026:

- **OpenAI**, models before GPT-5.6 (later ones charge for writing, and have breakpoints):
  automatic; the longest common prefix with a recent request, if that is `LEAST` tokens or more,
  rounded down to steps of `STEP`; no charge for writing; kept until 5 to 10 minutes have passed
  without use. Here: 5, the shorter.
- **Anthropic**: only up to marked blocks, at most `MOST_BREAKPOINTS`; a prefix under 1,024 tokens
  is not cached, and nothing says so (512 to 4,096 by model: `least`); kept for 5 minutes or an hour
  from its last use; looked up at each mark and at the 19 blocks before it. The one-hour marks come
  first.
- Tokens are o200k's for both, which for Claude is an estimate. A cache is always found again: real
  ones are spread over machines, and may miss. One cache is for one model.
"""

import os.path
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import accumulate
from typing import Any, NamedTuple

import toktok

from ..tokens import count_many, count_tokens, repair
from .api import Part

LEAST = 1_024
"""Tokens of the shortest prefix that is cached (OpenAI; Anthropic's for most models)."""

STEP = 128
"""OpenAI's cached prefixes grow in steps of so many tokens."""

MOST_BREAKPOINTS = 4
"""Marked blocks that Anthropic accepts in one request."""

LOOKBACK = 20
"""Blocks at which Anthropic looks for a cached prefix, from a marked block backward, that one
included.
"""

LIFETIME = {"5m": 300.0, "1h": 3_600.0}
"""Seconds from its last use for which a prefix is kept."""


class CacheUse(NamedTuple):
    """Tokens of one request that were read from the cache, and that were written to it."""

    cached: int
    written: int


@dataclass
class _Entry:
    """What is cached, and until when: an OpenAI request, or the tokens of an Anthropic prefix."""

    until: float
    lifetime: float
    texts: list[str] = field(default_factory=list)


class PromptCache:
    """The prompt cache of one model; the module says what is assumed.

    - `caching`: by "prefix" (OpenAI) or by "marks" (Anthropic): `Api.caching`.
    - `least`: the shortest prefix that is cached, in tokens.
    - `ttl`: "5m" or "1h", for marks that name none. OpenAI's prefixes always live 5 minutes from
      their last use.
    - `clock`: the time in seconds.
    - `automatic`: Anthropic's top-level `cache_control`: the last block of each request is marked
      too.

    Raises `ValueError` for an unknown caching or ttl.
    """

    def __init__(
        self,
        caching: str,
        *,
        least: int = LEAST,
        ttl: str = "5m",
        clock: Callable[[], float] = time.monotonic,
        automatic: bool = False,
    ):
        if caching not in ("prefix", "marks"):
            raise ValueError(f"unknown caching {caching!r}: use prefix or marks")
        self.caching, self.least, self.ttl = caching, least, _ttl(ttl)
        self.clock, self.automatic = clock, automatic
        self.written_1h = 0
        """Tokens that the last `read` wrote to the one-hour cache, a part of its `written`."""
        self._entries: dict[str, _Entry] = {}

    def read(self, parts: Sequence[Any]) -> CacheUse:
        """(cached, written) in tokens for a request, which then is in the cache itself.

        `parts` are its pieces, in the order in which a provider lays them out (tools, system,
        messages): texts, or anything with a `text` and a `breakpoint` (`api.Part`). Raises
        `ValueError` for more than four marks, or a five-minute mark before a one-hour one.
        """
        now = self.clock()
        self._entries = {key: entry for key, entry in self._entries.items() if entry.until > now}
        blocks, self.written_1h = [_block(part) for part in parts], 0
        if not blocks:
            return CacheUse(0, 0)
        return self._prefix(blocks, now) if self.caching == "prefix" else self._marks(blocks, now)

    @staticmethod
    def tokens(parts: Sequence[Any]) -> int:
        """Tokens of a request's parts together."""
        return sum(count_many(_block(part).text for part in parts))

    def _prefix(self, blocks: list[Part], now: float) -> CacheUse:
        texts = [block.text for block in blocks]
        counts = count_many(texts)
        shared = max((_shared(entry, texts, counts) for entry in self._entries.values()), default=0)
        # a request that goes on from an older one holds all that the older one could give
        older = [
            key for key, entry in self._entries.items() if entry.texts == texts[: len(entry.texts)]
        ]
        for key in older:
            del self._entries[key]
        self._entries[_digests(texts)[-1]] = _Entry(now + LIFETIME["5m"], LIFETIME["5m"], texts)
        return CacheUse(shared // STEP * STEP if shared >= self.least else 0, 0)

    def _marks(self, blocks: list[Part], now: float) -> CacheUse:
        marks = {
            i: self.ttl if block.breakpoint is True else _ttl(block.breakpoint)
            for i, block in enumerate(blocks)
            if block.breakpoint
        }
        if self.automatic:
            marks.setdefault(len(blocks) - 1, self.ttl)
        if len(marks) > MOST_BREAKPOINTS:
            raise ValueError(
                f"a request takes at most {MOST_BREAKPOINTS} cache breakpoints, got {len(marks)}"
            )
        if list(marks.values()) != sorted(marks.values()):  # "1h" sorts before "5m"
            raise ValueError("one-hour breakpoints must come before five-minute ones")
        if not marks:
            return CacheUse(0, 0)
        digests = _digests([block.text for block in blocks])
        sizes = list(accumulate(count_many(block.text for block in blocks)))
        looked = {i for mark in marks for i in range(max(mark - LOOKBACK + 1, 0), mark + 1)}
        hit = max((i for i in looked if digests[i] in self._entries), default=-1)
        cached = sizes[hit] if hit >= 0 else 0
        # what is written runs from the hit to the last mark; the part up to the last one-hour mark
        # is kept for an hour
        ends = {
            ttl: max((sizes[i] for i, name in marks.items() if name == ttl), default=0)
            for ttl in LIFETIME
        }
        ends = {ttl: end if end >= self.least else 0 for ttl, end in ends.items()}
        self.written_1h = max(ends["1h"] - cached, 0)
        for i in looked:
            if i <= hit and (entry := self._entries.get(digests[i])):
                entry.until = now + entry.lifetime
        for i, ttl in marks.items():
            if i > hit and sizes[i] >= self.least:
                self._entries[digests[i]] = _Entry(now + LIFETIME[ttl], LIFETIME[ttl])
        return CacheUse(cached, max(max(ends.values()) - cached, 0))


def _block(part: Any) -> Part:
    return Part(part) if isinstance(part, str) else Part(part.text, part.breakpoint)


def _ttl(name: object) -> str:
    if name not in LIFETIME:
        raise ValueError(f"unknown ttl {name!r}: use {' or '.join(LIFETIME)}")
    return str(name)


def _digests(texts: Sequence[str]) -> list[str]:
    """One for each prefix made of whole texts; where a text ends counts too."""
    digest, found = sha256(), []
    for text in texts:
        digest.update(sha256(text.encode("utf-8", "surrogatepass")).digest())
        found.append(digest.hexdigest())
    return found


def _shared(entry: _Entry, texts: Sequence[str], counts: Sequence[int]) -> int:
    """Tokens at the beginning that an earlier request and this one have in common."""
    total = 0
    for old, new, count in zip(entry.texts, texts, counts, strict=False):
        if old != new:
            return total + _shared_tokens(repair(old), repair(new))
        total += count
    return total


def _shared_tokens(one: str, other: str) -> int:
    """Tokens at the beginning that two texts have in common: a token that only begins alike is not
    one of them.
    """
    length = len(os.path.commonprefix([one, other]))
    tokens = count_tokens(one[:length])
    while tokens:
        first, second = (toktok.truncate(text, tokens, "o200k_base")[0] for text in (one, other))
        if first == second and len(first) <= length:
            return tokens
        tokens -= 1
    return 0
