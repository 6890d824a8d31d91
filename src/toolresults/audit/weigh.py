"""What weighs: the whole text in each encoding, each row, each field.

A field is weighed by putting its keys and values from all rows side by side,
`"status":"paid","status":"paid",…`, and counting that text once. Its neighbours are the same as in
the rows, so the weights add up to the whole but for the braces between rows.
"""

import json
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import accumulate

from toolresults.audit.load import Rows, shown
from toolresults.tokens import ENCODINGS, count_many, count_tokens, estimate_tokens, repair

ENCODING = ENCODINGS[0]
"""What everything but the whole text is counted in, and the budget too."""

_NESTED_SHARE = 0.5
"""A nested path is followed while it holds this share of its field: below that, no one part is to
blame.
"""

_FOLLOW_SHARE = 0.05
"""Fields from this share of the whole up are searched for their heaviest nested path."""

EMPTY = frozenset(("null", '""', "[]", "{}"))
"""What counts as empty, as JSON."""

_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
).encode
_quick = {int: repr, float: repr, type(None): lambda _: "null"}  # a fifth of the encoder's time


def dump(value: object) -> str:
    """`to_json` for values that came out of a JSON parser: the same text, without its walk over
    every value.
    """
    return _quick.get(type(value), _encode)(value)


@dataclass(frozen=True)
class Text:
    """A text's size in every unit. `tokens` is exact, by encoding; the estimate is characters ÷
    4.
    """

    characters: int
    bytes: int
    tokens: dict[str, int]
    estimate: int

    @property
    def exact(self) -> int:
        """Tokens in `ENCODING`."""
        return self.tokens[ENCODING]

    @property
    def estimate_error_percent(self) -> float | None:
        """How far the estimate is from the exact count, in percent of it: negative where it is too
        low.
        """
        return round(100 * (self.estimate - self.exact) / self.exact, 1) if self.exact else None

    def to_dict(self) -> dict:
        return asdict(self) | {"estimate_error_percent": self.estimate_error_percent}

    @classmethod
    def of(cls, text: str) -> "Text":
        text = repair(text)
        size = len(text) if text.isascii() else len(text.encode("utf-8"))
        tokens = {encoding: count_tokens(text, encoding) for encoding in ENCODINGS}
        return cls(len(text), size, tokens, estimate_tokens(text))


@dataclass
class Field:
    """A top-level field over all rows. `values`, and their JSON in `texts`, are in row order,
    without the rows that lack the field."""

    key: str
    named: (
        bool  # a key of objects; else a position in a list, or "(value)" for a row that is neither
    )
    values: list
    texts: list[str]
    tokens: int = 0
    heaviest: str | None = None  # the nested path that weighs most, "address.lines[]"
    heaviest_tokens: int = 0

    @property
    def id(self) -> tuple[str, bool]:
        """The key, and whether it is one: a position in a list may look like a key."""
        return self.key, self.named

    @property
    def name(self) -> str:
        return shown(self.key)

    @property
    def prefix(self) -> str:
        return dump(self.key) + ":" if self.named else ""

    @cached_property
    def empty(self) -> int:
        """Rows in which the value is null, or an empty text, list or object."""
        return sum(text in EMPTY for text in self.texts)

    def side_by_side(self, texts: list[str]) -> str:
        """The text that the field is weighed by, where its values are *texts*."""
        return self.prefix + f",{self.prefix}".join(texts) if texts else ""


def fields_of(rows: list) -> list[Field]:
    """Every field that occurs in *rows*, in the order of their first row."""
    columns: dict[tuple[str, bool], list] = {}
    for row in rows:
        named = isinstance(row, dict)
        for key, value in row.items() if named else _unnamed(row):
            if (column := columns.get((key, named))) is None:
                column = columns[key, named] = []
            column.append(value)
    return [Field(*key, values, list(map(dump, values))) for key, values in columns.items()]


def _unnamed(row: object) -> list[tuple[str, object]]:
    if isinstance(row, list):
        return [(f"[{i}]", value) for i, value in enumerate(row)]
    return [("(value)", row)]


def weigh_fields(fields: list[Field]) -> list[Field]:
    """The fields with their exact tokens, heaviest first."""
    weights = count_many(field.side_by_side(field.texts) for field in fields)
    for field, tokens in zip(fields, weights, strict=True):
        field.tokens = tokens
    return sorted(fields, key=lambda field: -field.tokens)


def _find_heaviest(field: Field) -> None:
    """Follow the heaviest nested path of *field* and note it, if any one path is to blame."""
    values, path = field.values, ""
    while True:
        dicts = [value for value in values if isinstance(value, dict) and value]
        lists = [item for value in values if isinstance(value, list) for item in value]
        if not dicts and lists:
            values, path = lists, path + "[]"
            continue
        inner = weigh_fields(fields_of(dicts))
        if not inner or inner[0].tokens < _NESTED_SHARE * field.tokens:
            break
        path, values = f"{path}.{inner[0].name}", inner[0].values
        field.heaviest, field.heaviest_tokens = shown(field.name + path), inner[0].tokens


def row_texts(rows: list, fields: list[Field], changed: Mapping = {}) -> list[str]:
    """Each row as compact JSON, put together from the fields' texts. `changed` gives other texts,
    by a field's `id`; None among them leaves the field out of that row."""
    columns = {
        field.id: (field.prefix, iter(changed.get(field.id, field.texts))) for field in fields
    }
    result = []
    for row in rows:
        named = isinstance(row, dict)
        parts = []
        for key in row if named else [key for key, _ in _unnamed(row)]:
            prefix, texts = columns[key, named]
            if (text := next(texts)) is not None:
                parts.append(prefix + text)
        inside = ",".join(parts)
        unnamed = f"[{inside}]" if isinstance(row, list) else inside or "null"
        result.append(f"{{{inside}}}" if named else unnamed)
    return result


def into_pages(texts: list[str], budget: int) -> tuple[list[int], int, int]:
    """Rows as JSON lists of at most *budget* tokens: what each row adds in tokens, how many of the
    first rows fit one such list, and how many lists all of them need.

    The first is close, and exact for objects. The second is exact, counted on the final text. In
    the third, a row above the budget has a page of its own.
    """
    # The list is split after `{"`, where a tokenizer parts punctuation from the first key's letter,
    # so that the parts add up to the whole; split after `,`, each row would seem a token dearer.
    each = count_many(text[2:] + ',{"' if text[:2] == '{"' else text + "," for text in texts)

    def fits(n: int) -> bool:
        return count_tokens(f"[{','.join(texts[:n])}]") <= budget

    fit = bisect_right(list(accumulate(each)), budget)
    while fit and not fits(fit):
        fit -= 1
    while fit < len(texts) and fits(fit + 1):
        fit += 1
    pages, used = 0, budget
    for tokens in each:
        if used + tokens > budget:
            pages, used = pages + 1, 0
        used += tokens
    return each, fit, pages


@dataclass(frozen=True)
class Weights:
    """What a file's rows weigh, in tokens of `ENCODING` but for the two texts."""

    as_written: Text
    compact: Text
    fields: list[Field]  # heaviest first
    row_tokens: list[int]  # what each row adds to the whole
    rows_that_fit: int
    pages: int


def weigh(found: Rows, budget: int) -> Weights:
    """Count everything that there is to count; *budget* is the most tokens of one page."""
    fields = fields_of(found.rows)
    texts = row_texts(found.rows, fields)
    whole = f"[{','.join(texts)}]" if found.rows is found.document else dump(found.document)
    as_written, compact = Text.of(found.text), Text.of(whole)
    fields = weigh_fields(fields)
    for field in fields:
        if field.tokens >= _FOLLOW_SHARE * compact.exact:
            _find_heaviest(field)
    return Weights(as_written, compact, fields, *into_pages(texts, budget))
