"""What a session used, turn by turn, in one table for both APIs.

    ledger = Ledger(model="gpt-4o-mini")
    ledger.add("openai", response.usage, result_tokens=412)
    ledger.frame()       # a row a turn: input, cached_read, cache_write, output, result_tokens, …, money

The vendors count differently. OpenAI's `prompt_tokens` holds the cached tokens; Anthropic's
`input_tokens` is only what was neither read from the cache nor written to it. Here `input` is
always every token that the model read, and `cached_read` and `cache_write` are parts of it: so the
two can be compared, and the same call costs the same from both.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from .prices import Price, Prices

if TYPE_CHECKING:
    import pandas

COLUMNS = ("turn", "api", "model", "input", "cached_read", "cache_write", "output", "result_tokens")
COLUMNS += ("cumulative_input", "money")
"""The columns of `Ledger.frame`; tags come after them. Tokens, and money in the currency of the
price table.
"""


@dataclass(frozen=True)
class Usage:
    """Tokens of one model call. `cached_read` and `cache_write` are parts of `input`,
    `cache_write_1h` of that.
    """

    input: int
    output: int
    cached_read: int = 0
    cache_write: int = 0
    cache_write_1h: int = 0

    @classmethod
    def read(cls, api: str, usage: Any) -> "Usage":
        """From the `usage` of a response: the SDK's object, or its JSON as a dict.

        Raises `ValueError` without a usage, for a number that is missing or no count, and for parts
        that are larger than their whole.
        """
        if usage is None:
            raise ValueError(
                "the response has no usage: a stream of OpenAI's needs stream_options include_usage"
            )
        if api == "openai":
            details = _get(usage, "prompt_tokens_details")
            found = cls(
                input=_count(usage, "prompt_tokens", needed=True),
                output=_count(usage, "completion_tokens", needed=True),
                cached_read=_count(details, "cached_tokens"),
                cache_write=_count(details, "cache_write_tokens"),
            )
        elif api == "anthropic":
            read, write = (
                _count(usage, "cache_read_input_tokens"),
                _count(usage, "cache_creation_input_tokens"),
            )
            found = cls(
                input=_count(usage, "input_tokens", needed=True) + read + write,
                output=_count(usage, "output_tokens", needed=True),
                cached_read=read,
                cache_write=write,
                cache_write_1h=_count(_get(usage, "cache_creation"), "ephemeral_1h_input_tokens"),
            )
        else:
            raise ValueError(f"unknown api {api!r}: use openai or anthropic")
        if (
            found.cached_read + found.cache_write > found.input
            or found.cache_write_1h > found.cache_write
        ):
            raise ValueError(f"this usage has parts larger than their whole: {found}")
        return found

    def money(self, price: Price) -> Decimal:
        """What the call costs at `price`, exactly."""
        return price.money(
            input=self.input,
            cached_read=self.cached_read,
            cache_write=self.cache_write,
            cache_write_1h=self.cache_write_1h,
            output=self.output,
        )


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
    """Every model call of a session, of either API.

    `prices` is the project's table unless given, `model` the model of calls that name none. A call
    of a model without a price is metered all the same; its money is missing (NaN in the frame), and
    never zero.
    """

    def __init__(self, prices: Prices | None = None, *, model: str | None = None):
        self._prices = Prices.load() if prices is None else prices
        self._model = model
        self.turns: list[Turn] = []

    def add(
        self,
        api: str,
        usage: Any,
        result_tokens: int = 0,
        *,
        model: str | None = None,
        tags: Mapping[str, Any] | None = None,
    ) -> Turn:
        """Adds a model call: its `usage` as the vendor reports it (see `Usage.read`), or a `Usage`.

        `result_tokens` are those of the tool results that the call's answer asked for; they are
        often known only later, so they may be set on the turn that this returns. `tags` become
        columns of the frame.
        """
        used = usage if isinstance(usage, Usage) else Usage.read(api, usage)
        model = model or self._model
        try:
            money = used.money(self._prices[model]) if model else None
        except KeyError:
            money = None
        turn = Turn(api, model, used, money, result_tokens, dict(tags or {}))
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
                raise KeyError(
                    str(self._prices[turn.model].model)
                    if turn.model
                    else "no price: a call named no model"
                )
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
                number,
                turn.api,
                turn.model,
                used.input,
                used.cached_read,
                used.cache_write,
                used.output,
            )
            row = dict(zip(COLUMNS, (*values, turn.result_tokens, total, money), strict=True))
            rows.append(row | {name: value for name, value in turn.tags.items() if name not in row})
        return pd.DataFrame(rows, columns=None if rows else list(COLUMNS))


def _get(values: Any, name: str) -> Any:
    return values.get(name) if isinstance(values, Mapping) else getattr(values, name, None)


def _count(values: Any, name: str, *, needed: bool = False) -> int:
    value = _get(values, name)
    if value is None and not needed:
        return 0
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"usage: {name} is {value!r}, and should be a count of tokens")
    return value
