"""What weighs: the whole text in each encoding, each row, each field.

A field is weighed by putting its keys and values from all rows side by side,
`"status":"paid","status":"paid",…`, and counting that text once. Its neighbours are the same as in
the rows, so the weights add up to the whole but for the braces between rows.
"""

import json
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from toolresults.tokens import count_many, count_tokens, estimate_tokens, repair

NAME_CHARS = 60
"""A field name longer than this is cut in the report: a name that long is data, and may be
secret.
"""

NESTED_SHARE = 0.5
"""A nested path is followed while it holds this share of its field: below that, no one part is to
blame.
"""

EMPTY = ("null", '""', "[]", "{}")

_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
).encode
_quick = {
    str: json.encoder.encode_basestring,
    int: int.__repr__,
    float: float.__repr__,
    bool: {True: "true", False: "false"}.get,
    type(None): lambda _: "null",
}


def dump(value: object) -> str:
    """`to_json` for values that came out of a JSON parser: the same text, without its walk over
    every value.
    """
    return (_quick.get(type(value)) or _encode)(value)


@dataclass(frozen=True)
class Text:
    """A text's size in every unit. `tokens` is exact, by encoding; the estimate is characters ÷
    4.
    """

    characters: int
    bytes: int
    tokens: dict[str, int]
    estimate: int

    def error_percent(self, encoding: str) -> float | None:
        """How far the estimate is from the exact count, in percent of it: negative where it is too
        low.
        """
        exact = self.tokens[encoding]
        return round(100 * (self.estimate - exact) / exact, 1) if exact else None

    @classmethod
    def of(cls, text: str, tokens: dict[str, int]) -> "Text":
        text = repair(text)
        size = len(text) if text.isascii() else len(text.encode("utf-8"))
        return cls(len(text), size, tokens, estimate_tokens(text))


@dataclass
class Field:
    """A top-level field over all rows. `values`, and their JSON in `texts`, are in row order,
    without the rows that lack the field."""

    key: str
    named: bool  # a key of objects; otherwise a position in lists, or "(value)" for rows that are neither
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
        counts = Counter(text for text in self.texts if len(text) <= 4)
        return sum(counts[text] for text in EMPTY)

    @property
    def nulls(self) -> int:
        return self.texts.count("null")

    def text(self) -> str:
        """What the field is weighed by."""
        return side_by_side(self.prefix, self.texts)


def shown(name: str) -> str:
    """A field name that is safe to print: no control characters, at most `NAME_CHARS`."""
    text = "".join(
        c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in name[: NAME_CHARS + 1]
    )
    return text if len(text) <= NAME_CHARS else text[: NAME_CHARS - 1] + "…"


def fields_of(rows: list) -> list[Field]:
    """Every field that occurs in *rows*, in the order of their first row."""
    columns: dict[tuple[str, bool], list] = {}
    for row in rows:
        named = isinstance(row, dict)
        for key, value in row.items() if named else _unnamed(row):
            if (column := columns.get((key, named))) is None:
                column = columns[key, named] = []
            column.append(value)
    return [
        Field(*key, values, [dump(value) for value in values]) for key, values in columns.items()
    ]


def _unnamed(row: object) -> list[tuple[str, object]]:
    return (
        [(f"[{i}]", value) for i, value in enumerate(row)]
        if isinstance(row, list)
        else [("(value)", row)]
    )


def weigh(fields: list[Field], encoding: str) -> list[Field]:
    """The fields with their exact tokens, heaviest first."""
    for field, tokens in zip(
        fields, count_many((field.text() for field in fields), encoding), strict=True
    ):
        field.tokens = tokens
    return sorted(fields, key=lambda field: -field.tokens)


def side_by_side(prefix: str, texts: list[str]) -> str:
    """The text that a field is weighed by."""
    return prefix + f",{prefix}".join(texts) if texts else ""


def row_texts(rows: list, fields: list[Field], changed: dict | None = None) -> list[str]:
    """Each row as compact JSON, put together from the fields' texts. `changed` gives other texts,
    by a field's `id`; None among them leaves the field out of that row."""
    texts = {field.id: (changed or {}).get(field.id, field.texts) for field in fields}
    streams = {
        key: (f"{dump(key[0])}:" if key[1] else "", iter(column)) for key, column in texts.items()
    }
    result = []
    for row in rows:
        named = isinstance(row, dict)
        parts = []
        for key in row if named else [key for key, _ in _unnamed(row)]:
            prefix, stream = streams[key, named]
            text = next(stream)
            if text is not None:
                parts.append(prefix + text)
        inside = ",".join(parts)
        result.append(
            f"{{{inside}}}"
            if named
            else f"[{inside}]"
            if isinstance(row, list)
            else inside or "null"
        )
    return result


def find_heaviest(field: Field, encoding: str) -> None:
    """Follow the heaviest nested path of *field* and note it, if any one path is to blame."""
    values, path = field.values, ""
    while True:
        dicts = [value for value in values if isinstance(value, dict) and value]
        lists = [item for value in values if isinstance(value, list) for item in value]
        if not dicts and lists:
            values, path = lists, path + "[]"
            continue
        inner = weigh(fields_of(dicts), encoding) if dicts else []
        if not inner or inner[0].tokens < NESTED_SHARE * field.tokens:
            break
        path, values = f"{path}.{inner[0].name}", inner[0].values
        field.heaviest, field.heaviest_tokens = shown(field.name + path), inner[0].tokens


def row_tokens(texts: list[str], encoding: str) -> list[int]:
    """Tokens that each row adds to a JSON list.

    The list is split after `{"`, where a tokenizer parts punctuation from the first key's letter,
    so that the parts add up to the whole; split after `,`, each row would seem a token dearer.
    Close, not exact, for rows of another shape.
    """
    named = [text.startswith('{"') for text in texts]
    parts = [
        text[2:] + ',{"' if is_named else text + ","
        for text, is_named in zip(texts, named, strict=True)
    ]
    return count_many(parts, encoding)


def rows_that_fit(texts: list[str], tokens: list[int], budget: int, encoding: str) -> int:
    """How many of the first rows fit *budget* as one compact JSON list: exact, counted on the final
    text.
    """

    def fits(n: int) -> bool:
        return count_tokens(f"[{','.join(texts[:n])}]", encoding) <= budget

    n = bisect_right(list(accumulate(tokens)), budget)
    while n and not fits(n):
        n -= 1
    while n < len(texts) and fits(n + 1):
        n += 1
    return n


def pages(tokens: list[int], budget: int) -> int:
    """How many pages the rows need if each takes as many as fit *budget*; a row above it has a page
    of its own.
    """
    count, used = 0, budget
    for n in tokens:
        if used + n > budget:
            count, used = count + 1, 0
        used += n
    return count
