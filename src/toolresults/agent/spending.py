"""Live runs cost money: a client from the environment, and a limit that stops before the call that
would pass it.

    client = live_client("openai")                     # None without OPENAI_API_KEY or OPENAI_BASE_URL
    limit = SpendingLimit("0.05")                      # in the currency of the price table
    run(client, question, tools, model="gpt-4o-mini", spending=limit)   # ends with stop "spending_limit"
    limit.spent                                        # Decimal('0.0021…')

The next call's price is not known before it is made, so it is taken at its worst: every input token
at the dearest price for input, and as many output tokens as the request allows. It is made only if
that still fits.
"""

import os
import threading
from contextlib import suppress
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from ..tokens import to_json
from .prices import LONG_WRITE, MILLION, Price, Prices
from .request_text import request_tokens
from .usage import Usage

if TYPE_CHECKING:
    import anthropic
    import openai

MARGINS = {"openai": (Decimal("1.1"), 100), "anthropic": (Decimal("1.5"), 1_000)}
"""Our count of a request times the first, plus the second, is taken for the most that the vendor
may count.

Ours is o200k_base over a text of our own (`request_text`). Claude's tokenizer is not public and
finds more tokens, and Anthropic adds a hidden system prompt of some hundred tokens when tools are
given. Assumptions, on the safe side.
"""


class SpendingLimitReached(Exception):
    """The next model call could pass the limit, and was not made."""


class SpendingLimit:
    """At most `most` may be spent, by any number of runs together, in several threads too.

    `most` and `spent` are in the currency of `prices` (the project's table unless given). Not
    covered: calls of server-side tools that a vendor bills apart, and a second bill where an SDK
    repeats a call after a lost connection. Raises `ValueError` for a limit that is not a number
    from 0.
    """

    def __init__(self, most: str | int | float | Decimal, *, prices: Prices | None = None):
        self.most = Decimal(str(most))
        if not self.most.is_finite() or self.most < 0:
            raise ValueError(f"a limit is an amount of money from 0, got {most}")
        self.prices = Prices.load() if prices is None else prices
        self.spent = Decimal(0)
        self._held = Decimal(0)
        self._lock = threading.Lock()

    def worst(self, api: str, body: dict[str, Any]) -> Decimal:
        """The most that a request can cost. Raises `KeyError` for a model without a price,
        `ValueError` for a request without a limit of output tokens."""
        price = self.prices[body["model"]]
        output = max(body.get("max_tokens") or 0, body.get("max_completion_tokens") or 0) * (
            body.get("n") or 1
        )
        if not output:
            raise ValueError("a request without max_tokens may cost any amount: set it")
        factor, extra = MARGINS[api]
        return (
            _dearest(price, body) * (request_tokens(api, body) * factor + extra)
            + price.output * output
        ) / MILLION

    def hold(self, api: str, body: dict[str, Any]) -> "Hold":
        """Keeps the worst price of a call free while it is made. Raises `SpendingLimitReached` if
        it does not fit.
        """
        worst = self.worst(api, body)
        with self._lock:
            if self.spent + self._held + worst > self.most:
                raise SpendingLimitReached(
                    f"the next call may cost {worst:.6f}; {self.spent:.6f} of {self.most} are spent"
                )
            self._held += worst
        return Hold(self, api, body["model"], worst)


class Hold:
    """Money kept free for one call that is being made; a context manager. `settle` says what it
    cost.
    """

    def __init__(self, limit: SpendingLimit, api: str, model: str, worst: Decimal):
        self._limit, self._api, self._model, self._worst, self._cost = (
            limit,
            api,
            model,
            worst,
            worst,
        )

    def settle(self, usage: Any) -> None:
        """What the vendor counted; without a usage (None) the call is taken to have cost its
        worst.
        """
        if usage is not None:
            with suppress(ValueError):  # a usage that cannot be: the call keeps its worst price
                self._cost = Usage.read(self._api, usage).money(self._limit.prices[self._model])

    def __enter__(self) -> "Hold":
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        # a call that the server refused is free; one whose connection broke may have been billed in
        # full
        cost = Decimal(0) if getattr(error, "status_code", None) else self._cost
        with self._limit._lock:
            self._limit._held -= self._worst
            self._limit.spent += cost


def _dearest(price: Price, body: dict[str, Any]) -> Decimal:
    """The highest price that an input token of this request can have."""
    for_an_hour = price.input * LONG_WRITE if '"ttl":"1h"' in to_json(body) else price.input
    return max(price.input, price.cached_read, price.cache_write, for_an_hour)


def live_client(api: str, **options: Any) -> "openai.OpenAI | anthropic.Anthropic | None":
    """A real client for a real model, or None if the environment has no access to one.

    "openai" needs `OPENAI_API_KEY`, or `OPENAI_BASE_URL` of any server that speaks its API (a local
    one takes any key); "anthropic" needs `ANTHROPIC_API_KEY`. `options` go to the SDK's
    constructor.
    """
    if api == "anthropic":
        if not os.environ.get("ANTHROPIC_API_KEY"):
            return None
        import anthropic

        return anthropic.Anthropic(**options)
    if api != "openai":
        raise ValueError(f"unknown api {api!r}: use openai or anthropic")
    if not (os.environ.get("OPENAI_API_KEY") or os.environ.get("OPENAI_BASE_URL")):
        return None
    import openai

    return openai.OpenAI(**{"api_key": os.environ.get("OPENAI_API_KEY") or "none", **options})
