"""What to do first: drop, ref, shorten, then page. Each piece of advice carries what it saves,
counted exactly.

A field gets one piece of advice at most, so the savings add up. Advice about fields comes in order
of saving; paging comes last, because how many rows fit a page depends on what is left of each row.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, replace

from toolresults.audit.measure import Field, dump, side_by_side
from toolresults.results.shape import TEXT_CAP, cut, describe_binary
from toolresults.tokens import count_tokens

LEAST_SHARE = 0.01
"""Advice that saves less than this share of the whole is left out: it would hide the advice that
matters.
"""

LEAST_TOKENS = 100
"""Advice that saves fewer tokens than this is left out as well: one more call and its result cost
as much.
"""

CONSTANT_ROWS = 5
"""Fewest rows before "the same in every row" is taken for a property of the field, and not for
chance.
"""

MOSTLY_EMPTY = 0.5
"""Share of rows from which an empty value is worth leaving out: the model takes "not there" for
"none" just as well.
"""

REF_CHARS = 2_000
"""A text above this many characters is huge, and becomes a ref: it is more than one window of
`get_order_payload`.
"""

OPAQUE_CHARS = 100
"""ASCII without a space for this long (base64, hashes, tokens, signed links) is not for reading: a
part of it is worth nothing, so it is not cut but becomes a ref. An ordinary link, or two UUIDs, are
shorter."""

NESTED_CHARS = 500
"""A nested value above this many characters a row, on average, is a result of its own: seven
concise rows' worth.
"""

SAMPLE = 50
"""Long values looked at to tell what kind of text a field holds. What a change saves is counted
over all of them.
"""

REF = "ref_000123"
"""What a ref is taken to look like, and so to cost."""

GONE = object()
"""A change's answer for a value that is left out."""


@dataclass(frozen=True)
class Advice:
    """One thing to do. `saves` is in tokens, None for advice that moves rows to later calls instead
    of saving them.
    """

    action: str  # compact, drop, ref, shorten, page, filter
    field: str | None
    reason: str
    saves: int | None = None
    key: tuple[str, bool] | None = None  # `Field.id`
    change: Callable[[object], object] | None = None  # does it to one value
    texts: list[str | None] | None = (
        None  # the field's values afterwards, as JSON; None where it is left out
    )


def advise_fields(fields: list[Field], rows: int, total: int, encoding: str) -> list[Advice]:
    """What to do about each field, where that saves enough of *total* tokens; the largest saving
    first.
    """
    least = max(LEAST_TOKENS, LEAST_SHARE * total)
    first: dict[int, Field] = {}  # by hash of all values: the field that others repeat
    result = []
    for field in sorted(
        fields, key=lambda field: len(field.key)
    ):  # of two equal fields, the shorter name stays
        full = len(field.texts) == rows > 1
        twin = first.setdefault(hash(tuple(field.texts)), field) if full else field
        if field.tokens < least:
            continue
        repeats = twin.name if twin is not field and twin.texts == field.texts else None
        advice = _drop(field, rows, repeats) or _shrink(field)
        if advice:
            texts = [
                None if value is GONE else dump(value) for value in map(advice.change, field.values)
            ]
            kept = [text for text in texts if text is not None]
            saves = field.tokens - count_tokens(side_by_side(field.prefix, kept), encoding)
            if saves >= least:
                result.append(
                    replace(advice, field=field.name, saves=saves, key=field.id, texts=texts)
                )
    return sorted(result, key=lambda advice: -advice.saves)


def _drop(field: Field, rows: int, repeats: str | None) -> Advice | None:
    there = len(field.texts)
    if field.empty == there:
        return Advice("drop", None, "empty in every row that has it", change=_gone)
    if there == rows >= CONSTANT_ROWS and field.texts.count(field.texts[0]) == rows:
        return Advice("drop", None, "the same in every row: say it once, if at all", change=_gone)
    if repeats:
        return Advice("drop", None, f"repeats {repeats} in every row", change=_gone)
    if field.empty >= MOSTLY_EMPTY * there:
        return Advice(
            "drop",
            None,
            f"leave it out where it is empty ({field.empty / there:.0%})",
            change=_if_full,
        )
    return None


def _shrink(field: Field) -> Advice | None:
    texts = [value for value in field.values if isinstance(value, str)]
    nested = [
        t
        for t, value in zip(field.texts, field.values, strict=True)
        if isinstance(value, dict | list)
    ]
    if len(nested) > len(texts):
        mean = sum(map(len, nested)) // len(nested)
        if mean < NESTED_CHARS:
            return None
        where = f", most of it in {field.heaviest}" if field.heaviest else ""
        reason = f"nested, {mean:,} characters a row{where}: keep what a row needs, ref the rest"
        return Advice("ref", None, reason, change=_ref_nested)
    kind = _kind([text for text in texts if len(text) > OPAQUE_CHARS])
    if kind:
        return Advice("ref", None, f"{kind}: give a ref, fetched on demand", change=_ref_opaque)
    long = [text for text in texts if len(text) > TEXT_CAP]
    if not long:
        return None
    huge = [text for text in long if len(text) > REF_CHARS]
    longest = max(map(len, long))
    if sum(map(len, huge)) * 2 > sum(map(len, texts)):
        what = f"{len(huge):,} huge value{'s' * (len(huge) > 1)} (to {longest:,} characters)"
        return Advice("ref", None, f"{what}: the first {TEXT_CAP}, and a ref", change=_cap)
    what = f"{len(long):,} long value{'s' * (len(long) > 1)} (to {longest:,} characters)"
    return Advice("shorten", None, f"{what}: cap at {TEXT_CAP}", change=_cap)


def _kind(long: list[str]) -> str | None:
    """What long texts are, if most of them are nothing to read."""
    sample = long[:: max(1, len(long) // SAMPLE)]
    kinds = [kind for kind in map(_kind_of, sample) if kind]
    return max(kinds, key=kinds.count) if len(kinds) * 2 > len(sample) else None


def _kind_of(text: str) -> str | None:
    binary = describe_binary(text)
    if binary:
        return f"a file as base64 ({binary['media_type']})"
    if text[:1] in ("{", "["):
        try:
            json.loads(text)
            return "JSON kept as text"
        except (ValueError, RecursionError):
            pass
    return "opaque text" if text.isascii() and not any(c in text for c in " \n\t") else None


def _gone(value: object) -> object:
    return GONE


def _if_full(value: object) -> object:
    return GONE if value is None or value in ("", [], {}) else value


def _ref_nested(value: object) -> object:
    return REF if isinstance(value, dict | list) else value


def _ref_opaque(value: object) -> object:
    return REF if isinstance(value, str) and len(value) > OPAQUE_CHARS else value


def _cap(value: object) -> object:
    return cut(value, TEXT_CAP) if isinstance(value, str) else value
