"""What a session used and what it cost, call by call, in one table for every API.

    ledger = Ledger(model="gpt-5.4-mini")
    ledger.add(OPENAI_CHAT, response.usage, result_tokens=412)
    ledger.frame()       # a row a call: input, cached_read, cache_write, output, …, money

The vendors count differently: OpenAI's `prompt_tokens` holds the cached tokens, Anthropic's
`input_tokens` is only what was neither read from the cache nor written to it. Here `input` is
always every token that the model read, and `cached_read` and `cache_write` are parts of it: so the
same call costs the same from both.

A price is a dated fact. Prices come from the package genai-prices, whose version is their date and
which needs no network; a reader's own price goes before it. Nothing here guesses: a model without a
price is an error, never zero.

Live runs cost money, so a `SpendingLimit` stops before the call that would pass it. The next call's
price is not known before it is made, so it is taken at its worst.
"""

import copy
import re
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from importlib.metadata import version
from math import ceil
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..tokens import to_json
from .api import Api, Usage
from .cache import PromptCache

if TYPE_CHECKING:
    import pandas

COLUMNS = ("turn", "api", "model", "input", "cached_read", "cache_write", "output")
COLUMNS += ("result_tokens", "cumulative_input", "money")
"""The columns of `Ledger.frame`; tags come after them. Tokens, and money in the prices' currency:
US dollars in genai-prices."""

_MILLION = 1_000_000

LONG_WRITE = 2
"""Writing to Anthropic's one-hour cache costs this many times the input price (its documentation,
prompt caching)."""

_RELEASE = re.compile(r"-(\d{8}|\d{4}-\d\d-\d\d|latest)$")


class Priced(Protocol):
    """A price: what one call costs, exactly."""

    def money(self, usage: Usage) -> Decimal: ...


@dataclass(frozen=True)
class Price:
    """A price of one's own, in any currency, a million tokens.

    `cache_write` is for the cache that lives five minutes; None where writing has no charge of its
    own, as on OpenAI's models before GPT-5.6: those tokens are ordinary input. Raises `ValueError`
    for a price that is no number from 0.
    """

    input: Decimal | str
    cached_read: Decimal | str
    output: Decimal | str
    cache_write: Decimal | str | None = None

    def __post_init__(self):
        for name in ("input", "cached_read", "output", "cache_write"):
            given = getattr(self, name)
            value = Decimal(str(self.input if given is None else given))
            if not value.is_finite() or value < 0:
                raise ValueError(f"{name} is {given!r}, which is not a price (a number from 0)")
            object.__setattr__(self, name, value)

    def money(self, usage: Usage) -> Decimal:
        """What a call costs, exactly."""
        hour = usage.cache_write_1h
        plain = usage.input - usage.cached_read - usage.cache_write
        total = (
            self.input * (plain + LONG_WRITE * hour)
            + self.cached_read * usage.cached_read
            + self.cache_write * (usage.cache_write - hour)
            + self.output * usage.output
        )
        return total / _MILLION


class Prices:
    """Prices by model: those of `own` first, then those of genai-prices.

    `at` is the time whose prices hold, for a model whose price has a date (None: now). A dated
    release (`gpt-4o-mini-2024-07-18`, `…-latest`) has the price of its model.
    """

    def __init__(self, own: Mapping[str, Price] | None = None, *, at: datetime | None = None):
        self.own, self.at = dict(own or {}), at
        self._known: dict[tuple[str, str | None], Priced] = {}

    source = f"genai-prices {version('genai-prices')}"

    def of(self, model: str, provider: str | None = None) -> Priced:
        """The price of `model`. Raises `KeyError` for one that has none.

        `provider` is whose price list to look in (`Api.provider`); None looks for a provider that
        sells a model of this name.
        """
        key = (model, provider)
        names = (model, _RELEASE.sub("", model))
        own = [self.own[name] for name in names if name in self.own]
        listed = [_Listed(name, provider, self.at) for name in names]
        for price in () if key in self._known else [*own, *listed]:
            with suppress(LookupError):
                price.money(Usage(0, 0))
                return self._known.setdefault(key, price)
        if key in self._known:
            return self._known[key]
        raise KeyError(
            f"no price for {model!r}: {self.source} has none. Give one of your own: "
            f"Prices({{{model!r}: Price(input=…, cached_read=…, output=…)}}), per million tokens"
        )


@dataclass(frozen=True)
class _Listed:
    """A price of genai-prices: tiers by size and dates are its matter."""

    model: str
    provider: str | None
    at: datetime | None

    def money(self, usage: Usage) -> Decimal:
        import genai_prices  # late: its table takes half a second to load

        tokens = genai_prices.Usage(
            input_tokens=usage.input,
            output_tokens=usage.output,
            cache_read_tokens=usage.cached_read,
            cache_write_tokens=usage.cache_write,
            cache_write_1h_tokens=usage.cache_write_1h,
        )
        found = genai_prices.calc_price(
            tokens, self.model, provider_id=self.provider, genai_request_timestamp=self.at
        )
        return found.total_price.normalize() + 0  # without zeros at its end, and no "1E+1"


def context_window(model: str, provider: str | None = None) -> int | None:
    """The context window of a model, in tokens, None where genai-prices does not say.

    Raises `LookupError` for a model that it does not know.
    """
    import genai_prices

    zero = genai_prices.Usage(input_tokens=0)
    return genai_prices.calc_price(zero, model, provider_id=provider).model.context_window


@dataclass
class Turn:
    """One model call in the ledger. `money` is None for a model without a price."""

    api: str
    model: str | None
    usage: Usage
    money: Decimal | None
    result_tokens: int = 0
    tags: dict[str, Any] = field(default_factory=dict)


class Ledger:
    """Every model call of a session, of any API.

    `model` is the model of calls that name none. A call of a model without a price is metered all
    the same; its money is missing (NaN in the frame), and never zero.
    """

    def __init__(self, prices: Prices | None = None, *, model: str | None = None):
        self._prices = prices or Prices()
        self._model = model
        self.turns: list[Turn] = []

    def add(
        self,
        api: Api,
        usage: Any,
        result_tokens: int = 0,
        *,
        model: str | None = None,
        tags: Mapping[str, Any] | None = None,
    ) -> Turn:
        """Adds a model call: its `usage` as the vendor reports it (see `Api.usage`), or a `Usage`.

        `result_tokens` are those of the tool results that the call's answer asked for; they are
        often known only later, so they may be set on the turn that this returns. `tags` become
        columns of the frame.
        """
        used = usage if isinstance(usage, Usage) else api.usage(usage)
        model = model or self._model
        try:
            money = self._prices.of(model, api.provider).money(used) if model else None
        except KeyError:
            money = None
        turn = Turn(api.name, model, used, money, result_tokens, dict(tags or {}))
        self.turns.append(turn)
        return turn

    @property
    def peak(self) -> int:
        """Tokens of the largest input: how much context the session needed."""
        return max((turn.usage.input for turn in self.turns), default=0)

    @property
    def cumulative_input(self) -> int:
        """Tokens that were read in all calls together, cached or not."""
        return sum(turn.usage.input for turn in self.turns)

    @property
    def money(self) -> Decimal:
        """What all calls together cost, exactly. Raises `KeyError` if one of them has no price."""
        for turn in self.turns:
            if turn.money is None:
                raise KeyError(f"no price: a call of {turn.model or 'no named model'} has none")
        return sum((turn.money for turn in self.turns), Decimal(0))

    def frame(self) -> "pandas.DataFrame":
        """One row a turn, with `COLUMNS` and a column for each tag."""
        import pandas as pd  # late: it takes as long to import as the rest of this package together

        rows, total = [], 0
        for number, turn in enumerate(self.turns, 1):
            used = turn.usage
            total += used.input
            money = float("nan") if turn.money is None else float(turn.money)
            values = (
                number, turn.api, turn.model, used.input, used.cached_read, used.cache_write,
                used.output, turn.result_tokens, total, money,
            )  # fmt: skip
            row = dict(zip(COLUMNS, values, strict=True))
            rows.append(row | {name: v for name, v in turn.tags.items() if name not in row})
        return pd.DataFrame(rows, columns=None if rows else list(COLUMNS))


class SpendingLimitReached(Exception):
    """The next model call could pass the limit, and was not made."""


class SpendingLimit:
    """At most `most` may be spent, by any number of runs together, in several threads too.

    `most` and `spent` are in the currency of `prices`. Not covered: calls of server-side tools that
    a vendor bills apart, and a second bill where an SDK repeats a call after a lost connection.
    Raises `ValueError` for a limit that is not a number from 0.
    """

    def __init__(self, most: str | int | float | Decimal, *, prices: Prices | None = None):
        self.most = Decimal(str(most))
        if not self.most.is_finite() or self.most < 0:
            raise ValueError(f"a limit is an amount of money from 0, got {most}")
        self.prices = prices or Prices()
        self.spent = Decimal(0)
        self._held = Decimal(0)
        self._lock = threading.Lock()

    def worst(self, api: Api, body: dict[str, Any]) -> Decimal:
        """The most that a request can cost: all input at its dearest, all the output it allows.

        Raises `KeyError` for a model without a price, `ValueError` for a request without a limit of
        output tokens.
        """
        price = self.prices.of(body["model"], api.provider)
        output = (api.most_output(body) or 0) * (body.get("n") or 1)
        if not output:
            raise ValueError(f"a request without {api.limit_names[0]} may cost any amount: set it")
        factor, extra = api.margin
        most = ceil(api.request_tokens(body) * factor + extra)
        uses = [Usage(most, output), Usage(most, output, cache_write=most)]
        uses.append(Usage(most, output, cached_read=most))
        if '"ttl":"1h"' in to_json(body):
            uses.append(Usage(most, output, cache_write=most, cache_write_1h=most))
        return max(map(price.money, uses))

    def hold(self, api: Api, body: dict[str, Any]) -> "Hold":
        """Keeps the worst price of a call free while it is made. Raises `SpendingLimitReached` if
        it does not fit."""
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
    cost."""

    def __init__(self, limit: SpendingLimit, api: Api, model: str, worst: Decimal):
        self._limit, self._api, self._model = limit, api, model
        self._worst = self._cost = worst

    def settle(self, usage: Any) -> None:
        """What the vendor counted; without a usage (None) the call is taken to have cost its
        worst."""
        if usage is not None:
            with suppress(ValueError):  # a usage that cannot be: the call keeps its worst price
                price = self._limit.prices.of(self._model, self._api.provider)
                self._cost = price.money(self._api.usage(usage))

    def __enter__(self) -> "Hold":
        return self

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        # a call that the server refused is free; one whose connection broke may have been billed
        cost = Decimal(0) if getattr(error, "status_code", None) else self._cost
        with self._limit._lock:
            self._limit._held -= self._worst
            self._limit.spent += cost


class EditCost(NamedTuple):
    """The price of an edit of the history, in money for input alone; see `edit_cost`."""

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
    cache: PromptCache, before: Sequence[Any], after: Sequence[Any], price: Priced
) -> EditCost:
    """What the next call costs with the history as it is (`before`) and as edited (`after`), given
    what `cache` holds: an edit frees tokens, and the cached prefix now ends where it begins.

    Both are the parts of a whole request, as `PromptCache.read` takes them. `saved_a_turn` is what
    each later call saves, if it comes before the cache expires; `pays_after` is how many later
    calls it takes until the edit has paid for itself: 0 if it does at once, None if never. What
    later turns add costs the same either way, and is left out. Nothing is sent, and `cache` stays
    as it is.
    """
    as_it_is, later = _twice(cache, before, price)
    edited, edited_later = _twice(cache, after, price)
    saved, extra = later - edited_later, edited - as_it_is
    pays_after = 0 if extra <= 0 else ceil(extra / saved) if saved > 0 else None
    freed = cache.tokens(before) - cache.tokens(after)
    return EditCost(as_it_is, edited, freed, saved, pays_after)


def _twice(cache: PromptCache, parts: Sequence[Any], price: Priced) -> tuple[Decimal, Decimal]:
    """What a request costs now, and when it is sent again right after."""
    twin, size, costs = copy.deepcopy(cache), cache.tokens(parts), []
    for _ in range(2):
        use = twin.read(parts)
        costs.append(price.money(Usage(size, 0, use.cached, use.written, twin.written_1h)))
    return costs[0], costs[1]
