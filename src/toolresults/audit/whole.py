"""Advice about the whole: how it is written, and how to give out what is left of it in pages."""

import json
import statistics

from toolresults.audit.advise import LEAST_SHARE, LEAST_TOKENS, Advice
from toolresults.audit.measure import Field, pages, row_texts, row_tokens, rows_that_fit
from toolresults.audit.rows import Rows
from toolresults.tokens import count_tokens

MANY_PAGES = 5
"""From here on an agent should ask a narrower question instead of reading on: five pages of 25,000
tokens already fill most of a context of 200,000."""

FILTER_VALUES = range(2, 21)
"""How many different values make a field a good filter: more than one, and few enough to list in a
tool's schema.
"""

MANY_FIELDS = 8
"""More fields than this in a row of a listing, and most are there because the table has them."""


def advise_text(found: Rows, written: int, compact: int, encoding: str) -> list[Advice]:
    """What the way the file is written costs: indents, spaces, and one escape for every character
    beyond ASCII.
    """
    waste = written - compact
    if waste < max(LEAST_TOKENS, LEAST_SHARE * written):
        return []
    escapes = 0
    if "\\u" in found.text:
        escapes = (
            count_tokens(json.dumps(found.document, separators=(",", ":")), encoding) - compact
        )
    if escapes >= LEAST_SHARE * compact:
        spaces = max(0, waste - escapes)
        reason = f"escapes like \\u00e9 cost {escapes:,} tokens, white space {spaces:,}: write UTF-8, compact"
    else:
        reason = "white space (indents, a space after each comma): write compact JSON"
    return [Advice("compact", None, reason, waste)]


def advise_pages(
    found: Rows, fields: list[Field], advice: list[Advice], budget: int, encoding: str
) -> tuple[dict, list[Advice]]:
    """What is left of the rows when *advice* is followed (see "after" in `report`), and what to do
    about that.
    """
    changed = {one.key: one.texts for one in advice if one.texts}
    texts = row_texts(found.rows, fields, changed)
    each = row_tokens(texts, encoding)
    tokens = count_tokens(f"[{','.join(texts)}]", encoding)
    fit, count = rows_that_fit(texts, each, budget, encoding), pages(each, budget)
    after = {
        "tokens": tokens,
        "budgets_filled": round(tokens / budget, 2),
        "rows_that_fit": fit,
        "pages": count,
    }
    left = [field for field in fields if any(changed.get(field.id, field.texts))]
    last = []
    a_row = sum(len(field.texts) for field in left) // max(1, len(texts))
    if tokens > budget and a_row > MANY_FIELDS:
        reason = f"a row still has {a_row:,} fields: return the few that tell rows apart, and the rest on request"
        last.append(Advice("drop", None, reason))
    if tokens > budget and len(texts) > 1:
        page = count_tokens(f"[{','.join(texts[:fit])}]", encoding)
        most = f"{fit:,} fit a budget" if fit else "the first alone is over a budget"
        typical = 20 * statistics.median_low(each)
        reason = f"give it a limit and a cursor: 20 rows take about {typical:,} tokens, {most}, {count:,} pages in all"
        last.append(Advice("page", None, reason, tokens - page if fit else None))
    elif tokens > budget:
        reason = "one record, and still over a budget: let the caller name the parts that it wants"
        last.append(Advice("filter", None, reason))
    if count > MANY_PAGES:
        good = [
            f.name
            for f in left
            if len(f.texts) == len(texts) and len(set(f.texts)) in FILTER_VALUES
        ]
        by = f" (by {', '.join(good[:3])}, say)" if good else ""
        reason = f"{count:,} pages are too many to read: take filters{by}, and answer totals with an aggregate"
        last.append(Advice("filter", None, reason))
    return after, last
