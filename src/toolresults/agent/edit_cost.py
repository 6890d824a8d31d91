"""What an edit of the history costs: it frees tokens, and the cached prefix now ends at the first
byte that changed.

edit_cost(cache, before, after, price)    # EditCost(as_it_is=…, edited=…, tokens_freed=…,
saved_a_turn=…, …)
"""

import copy
from collections.abc import Sequence
from decimal import Decimal
from math import ceil
from typing import Any, NamedTuple

from .cache import PromptCache
from .prices import Price


class EditCost(NamedTuple):
    """The price of an edit, in money for input alone; see `edit_cost`."""

    as_it_is: Decimal
    edited: Decimal
    tokens_freed: int
    saved_a_turn: Decimal
    pays_after: int | None

    @property
    def extra(self) -> Decimal:
        """What the edit costs at once; under zero if it saves money from the first call on."""
        return self.edited - self.as_it_is


def edit_cost(
    cache: PromptCache, before: Sequence[Any], after: Sequence[Any], price: Price
) -> EditCost:
    """What the next call costs with the history as it is (`before`) and as edited (`after`), given
    what `cache` holds.

    Both are the parts of a whole request, as `PromptCache.read` takes them. `saved_a_turn` is what
    each later call saves, if it comes before the cache expires; `pays_after` is how many later
    calls it takes until the edit has paid for itself: 0 if it does at once, None if never. What
    later turns add costs the same either way, and is left out. Nothing is sent, and `cache` stays
    as it is.
    """
    (as_it_is, later), (edited, edited_later) = (
        _twice(cache, before, price),
        _twice(cache, after, price),
    )
    saved, extra = later - edited_later, edited - as_it_is
    pays_after = 0 if extra <= 0 else ceil(extra / saved) if saved > 0 else None
    return EditCost(as_it_is, edited, cache.tokens(before) - cache.tokens(after), saved, pays_after)


def _twice(cache: PromptCache, parts: Sequence[Any], price: Price) -> tuple[Decimal, Decimal]:
    """What a request costs now, and when it is sent again right after."""
    twin, size, costs = copy.deepcopy(cache), cache.tokens(parts), []
    for _ in range(2):
        use = twin.read(parts)
        costs.append(
            price.money(
                input=size,
                cached_read=use.cached,
                cache_write=use.written,
                cache_write_1h=twin.written_1h,
            )
        )
    return costs[0], costs[1]
