"""What to do first: compact, drop, ref, shorten, then page. Each piece of advice carries what it
saves, counted exactly.

A field gets one piece of advice at most, so the savings add up. Advice about fields comes in order
of saving; paging comes last, because how many rows fit a page depends on what is left of each row.
"""

import json
import statistics
from collections.abc import Callable
from dataclasses import dataclass

from toolresults.audit.load import Rows
from toolresults.audit.weigh import EMPTY, Field, Weights, dump, into_pages, row_texts
from toolresults.results.shape import TEXT_CAP, cut, describe_binary
from toolresults.tokens import count_tokens

_LEAST_SHARE = 0.01
"""Advice that saves less than this share of the whole is left out: it would hide the advice that
matters.
"""

_LEAST_TOKENS = 100
"""Advice that saves fewer tokens than this is left out as well: one more call and its result cost
as much.
"""

CONSTANT_ROWS = 5
"""Fewest rows before "the same in every row" is taken for a property of the field, and not for
chance.
"""

_MOSTLY_EMPTY = 0.5
"""Share of rows from which an empty value is worth leaving out: the model takes "not there" for
"none" just as well.
"""

_REF_CHARS = 2_000
"""A text above this many characters is huge, and becomes a ref: it is more than one window of
`get_order_payload`.
"""

_OPAQUE_CHARS = 100
"""ASCII without a space for this long (base64, hashes, tokens, signed links) is not for reading: a
part of it is worth nothing, so it is not cut but becomes a ref. An ordinary link, or two UUIDs, are
shorter."""

_NESTED_CHARS = 500
"""A nested value above this many characters a row, on average, is a result of its own: seven
concise rows' worth.
"""

_SAMPLE = 50
"""Long values looked at to tell what kind of text a field holds. What a change saves is counted
over all of them.
"""

REF = "ref_000123"
"""What a ref is taken to look like, and so to cost."""

_MANY_PAGES = 5
"""From here on an agent should ask a narrower question instead of reading on: five pages of 25,000
tokens already fill most of a context of 200,000."""

_FILTER_VALUES = range(2, 21)
"""How many different values make a field a good filter: more than one, and few enough to list in a
tool's schema.
"""

_MANY_FIELDS = 8
"""More fields than this in a row of a listing, and most are there because the table has them."""


@dataclass(frozen=True)
class Advice:
    """One thing to do. `saves` is in tokens, None for advice that moves rows to later calls instead
    of saving them. Advice about a field has its `key` (`Field.id`), and in `texts` the values
    afterwards as JSON, None where the value is left out.
    """

    action: str  # compact, drop, ref, shorten, page, filter
    field: str | None
    reason: str
    saves: int | None = None
    key: tuple[str, bool] | None = None
    texts: list[str | None] | None = None


_Change = Callable[[object, str], str | None]
"""From a value and its JSON to the JSON that replaces it, None to leave the value out."""


def advise(found: Rows, weights: Weights, budget: int) -> tuple[list[Advice], dict]:
    """What to do, in order, and what the rows weigh once all advice about text and fields is
    followed (the report's "after").
    """
    advice = _advise_text(found, weights.as_written.exact, weights.compact.exact)
    advice += _advise_fields(weights.fields, len(found.rows), weights.compact.exact)
    after, last = _advise_pages(found, weights.fields, advice, budget)
    return advice + last, after


def _advise_text(found: Rows, written: int, compact: int) -> list[Advice]:
    """What the way the file is written costs: indents, spaces, and one escape for every character
    beyond ASCII. `written` and `compact` are in tokens.
    """
    waste = written - compact
    if waste < max(_LEAST_TOKENS, _LEAST_SHARE * written):
        return []
    escapes = 0
    if "\\u" in found.text:
        escaped = json.dumps(found.document, separators=(",", ":"))
        escapes = count_tokens(escaped) - compact
    if escapes >= _LEAST_SHARE * compact:
        cost = f"{escapes:,} tokens, white space {max(0, waste - escapes):,}"
        reason = f"escapes like \\u00e9 cost {cost}: write UTF-8, compact"
    else:
        reason = "white space (indents, a space after each comma): write compact JSON"
    return [Advice("compact", None, reason, waste)]


def _advise_fields(fields: list[Field], rows: int, total: int) -> list[Advice]:
    """What to do about each field, where that saves enough of *total* tokens; the largest saving
    first.
    """
    least = max(_LEAST_TOKENS, _LEAST_SHARE * total)
    first: dict[int, Field] = {}  # by hash of all values: the field that others repeat
    result = []
    # of two equal fields, the one with the shorter name stays
    for field in sorted(fields, key=lambda field: len(field.key)):
        full = len(field.texts) == rows > 1
        twin = first.setdefault(hash(tuple(field.texts)), field) if full else field
        if field.tokens < least:
            continue
        repeats = twin.name if twin is not field and twin.texts == field.texts else None
        if not (remedy := _drop(field, rows, repeats) or _shrink(field)):
            continue
        action, reason, change = remedy
        texts = [change(*pair) for pair in zip(field.values, field.texts, strict=True)]
        kept = [text for text in texts if text is not None]
        saves = field.tokens - count_tokens(field.side_by_side(kept))
        if saves >= least:
            result.append(Advice(action, field.name, reason, saves, field.id, texts))
    return sorted(result, key=lambda advice: -advice.saves)


def _drop(field: Field, rows: int, repeats: str | None) -> tuple[str, str, _Change] | None:
    there = len(field.texts)
    if field.empty == there:
        return "drop", "empty in every row that has it", _gone
    if there == rows >= CONSTANT_ROWS and field.texts.count(field.texts[0]) == rows:
        return "drop", "the same in every row: say it once, if at all", _gone
    if repeats:
        return "drop", f"repeats {repeats} in every row", _gone
    if field.empty >= _MOSTLY_EMPTY * there:
        return "drop", f"leave it out where it is empty ({field.empty / there:.0%})", _if_full
    return None


def _shrink(field: Field) -> tuple[str, str, _Change] | None:
    texts = [value for value in field.values if isinstance(value, str)]
    nested = [text for text in field.texts if text[0] in "[{"]
    if len(nested) > len(texts):
        mean = sum(map(len, nested)) // len(nested)
        if mean < _NESTED_CHARS:
            return None
        where = f", most of it in {field.heaviest}" if field.heaviest else ""
        reason = f"nested, {mean:,} characters a row{where}: keep what a row needs, ref the rest"
        return "ref", reason, _ref_nested
    if kind := _kind([text for text in texts if len(text) > _OPAQUE_CHARS]):
        return "ref", f"{kind}: give a ref, fetched on demand", _ref_opaque
    long = [text for text in texts if len(text) > TEXT_CAP]
    if not long:
        return None
    huge = [text for text in long if len(text) > _REF_CHARS]
    up_to = f"(to {max(map(len, long)):,} characters)"
    if sum(map(len, huge)) * 2 > sum(map(len, texts)):
        what = f"{len(huge):,} huge value{'s' * (len(huge) > 1)} {up_to}"
        return "ref", f"{what}: the first {TEXT_CAP}, and a ref", _cap
    what = f"{len(long):,} long value{'s' * (len(long) > 1)} {up_to}"
    return "shorten", f"{what}: cap at {TEXT_CAP}", _cap


def _kind(long: list[str]) -> str | None:
    """What long texts are, if most of them are nothing to read."""
    sample = long[:: max(1, len(long) // _SAMPLE)]
    kinds = [kind for kind in map(_kind_of, sample) if kind]
    return max(kinds, key=kinds.count) if len(kinds) * 2 > len(sample) else None


def _kind_of(text: str) -> str | None:
    if binary := describe_binary(text):
        return f"a file as base64 ({binary['media_type']})"
    if text[:1] in ("{", "["):
        try:
            json.loads(text)
            return "JSON kept as text"
        except (ValueError, RecursionError):
            pass
    return "opaque text" if text.isascii() and not any(c in text for c in " \n\t") else None


def _gone(value: object, text: str) -> None:
    return None


def _if_full(value: object, text: str) -> str | None:
    return None if text in EMPTY else text


def _ref_nested(value: object, text: str) -> str:
    return dump(REF) if text[0] in "[{" else text


def _ref_opaque(value: object, text: str) -> str:
    return dump(REF) if isinstance(value, str) and len(value) > _OPAQUE_CHARS else text


def _cap(value: object, text: str) -> str:
    return dump(cut(value, TEXT_CAP)) if isinstance(value, str) else text


def _advise_pages(
    found: Rows, fields: list[Field], advice: list[Advice], budget: int
) -> tuple[dict, list[Advice]]:
    """What is left of the rows when *advice* is followed, and how to give that out in pages of at
    most *budget* tokens.
    """
    changed = {one.key: one.texts for one in advice if one.texts}
    texts = row_texts(found.rows, fields, changed)
    each, fit, pages = into_pages(texts, budget)
    tokens = count_tokens(f"[{','.join(texts)}]")
    filled = round(tokens / budget, 2)
    after = {"tokens": tokens, "budgets_filled": filled, "rows_that_fit": fit, "pages": pages}
    left = [field for field in fields if any(changed.get(field.id, field.texts))]
    a_row = sum(len(field.texts) for field in left) // max(1, len(texts))
    last = []
    if tokens > budget and a_row > _MANY_FIELDS:
        what_to_do = "return the few that tell rows apart, and the rest on request"
        last.append(Advice("drop", None, f"a row still has {a_row:,} fields: {what_to_do}"))
    if tokens > budget and len(texts) > 1:
        page = count_tokens(f"[{','.join(texts[:fit])}]")
        most = f"{fit:,} fit a budget" if fit else "the first alone is over a budget"
        take = f"20 rows take about {20 * statistics.median_low(each):,} tokens, {most}"
        reason = f"give it a limit and a cursor: {take}, {pages:,} pages in all"
        last.append(Advice("page", None, reason, tokens - page if fit else None))
    elif tokens > budget:
        reason = "one record, and still over a budget: let the caller name the parts that it wants"
        last.append(Advice("filter", None, reason))
    if pages > _MANY_PAGES:
        in_all_rows = [field for field in left if len(field.texts) == len(texts)]
        good = [field.name for field in in_all_rows if len(set(field.texts)) in _FILTER_VALUES]
        filters = f"filters (by {', '.join(good[:3])}, say)" if good else "filters"
        reason = f"take {filters}, and answer totals with an aggregate"
        last.append(Advice("filter", None, f"{pages:,} pages are too many to read: {reason}"))
    return after, last
