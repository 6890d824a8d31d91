"""What tokens cost: a dated table, which a reader can replace by their own.

A price is a fact with a date. `data/prices.csv` says for each model when its prices were read, and
where. Nothing here guesses: a model that is not in the table has no price, and asking for one is an
error, never zero.

    price = Prices.load()["gpt-4o-mini"]
    price.money(input=17_111, cached_read=17_102, output=200)   # Decimal('0.00140400')
"""

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from pathlib import Path

COLUMNS = ("model", "input", "cached_read", "cache_write", "output", "currency", "as_of", "source")
MILLION = 1_000_000

LONG_WRITE = 2
"""Writing to Anthropic's one-hour cache costs this many times the input price (its documentation,
prompt caching).
"""

_RELEASE = re.compile(r"-(\d{8}|\d{4}-\d\d-\d\d|latest)$")


@dataclass(frozen=True)
class Price:
    """The price of one model, in `currency` a million tokens.

    `cache_write` is for the cache that lives five minutes. On OpenAI's models before GPT-5.6
    writing has no charge of its own: those tokens are ordinary input, so `cache_write` equals
    `input`.
    """

    model: str
    input: Decimal
    cached_read: Decimal
    cache_write: Decimal
    output: Decimal
    currency: str = "USD"
    as_of: str = ""
    source: str = ""

    def money(
        self,
        *,
        input: int = 0,
        cached_read: int = 0,
        cache_write: int = 0,
        cache_write_1h: int = 0,
        output: int = 0,
    ) -> Decimal:
        """What one call costs, exactly, in `currency`.

        `input` is every token that the model read. `cached_read` and `cache_write` are parts of it,
        at prices of their own, and `cache_write_1h` is the part of `cache_write` that went to the
        one-hour cache.
        """
        total = (
            self.input * (input - cached_read - cache_write + LONG_WRITE * cache_write_1h)
            + self.cached_read * cached_read
            + self.cache_write * (cache_write - cache_write_1h)
            + self.output * output
        )
        return total / MILLION


class Prices(Mapping[str, Price]):
    """Prices by model name. A dated release (`gpt-4o-mini-2024-07-18`, `…-latest`) has the price of
    its model.

    A family's row (`claude-sonnet`) stands for the version that was sold at its date, and versions
    differ in price, so no version takes its family's price by itself: say so with
    `named("claude-sonnet-4-5", like="claude-sonnet")`.
    """

    def __init__(self, prices: Iterable[Price]):
        self._prices = {price.model: price for price in prices}

    @classmethod
    def load(cls, path: str | Path | None = None) -> "Prices":
        """The table in `path`, a CSV file with the columns `COLUMNS`; the project's own without a
        path.

        An empty `cache_write` means no charge of its own. Raises `ValueError`, with the line, for a
        missing column or a price that is not a number from 0.
        """
        path = Path(path or Path(__file__).parents[3] / "data" / "prices.csv")
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            missing = [column for column in COLUMNS if column not in (rows.fieldnames or ())]
            if missing:
                raise ValueError(
                    f"{path.name} has no column {', '.join(missing)}: it needs {', '.join(COLUMNS)}"
                )
            return cls([_price(row, f"{path.name}, line {rows.line_num}") for row in rows])

    def named(self, model: str, *, like: str) -> "Prices":
        """These prices and one more: `model` costs what `like` costs."""
        return Prices([*self._prices.values(), replace(self[like], model=model)])

    def __getitem__(self, model: str) -> Price:
        """The price of `model`. Raises `KeyError`, naming the models in the table, for one that is
        not there.
        """
        price = self._prices.get(model) or self._prices.get(_RELEASE.sub("", model))
        if price is None:
            raise KeyError(
                f"no price for {model!r}: the table has {', '.join(self)}. Add a row to a table of your own "
                f"(Prices.load(path)), or say which row it costs the same as (prices.named({model!r}, like=…))"
            )
        return price

    def __iter__(self) -> Iterator[str]:
        return iter(self._prices)

    def __len__(self) -> int:
        return len(self._prices)


def _price(row: Mapping[str, str], where: str) -> Price:
    def number(column: str) -> Decimal:
        text = (row[column] or "").strip()
        if column == "cache_write" and not text:
            return number("input")
        try:
            value = Decimal(text)
        except InvalidOperation:
            value = Decimal("NaN")
        if not value.is_finite() or value < 0:
            raise ValueError(
                f"{where}: {column} is {text!r}, which is not a price (a number from 0)"
            )
        return value

    texts = {
        column: (row[column] or "").strip() for column in ("model", "currency", "as_of", "source")
    }
    if not texts["model"]:
        raise ValueError(f"{where}: the row names no model")
    return Price(
        **texts,
        **{column: number(column) for column in ("input", "cached_read", "cache_write", "output")},
    )
