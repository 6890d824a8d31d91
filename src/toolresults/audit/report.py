"""One audit, from a file to a report.

The keys of `Report.to_dict()`, which is what `toolresults audit --json` prints, are stable:

    file, format          what was read; format is "json", "json lines", "mcp" or "json text" (JSON inside a string)
    rows, rows_path       how many rows, and where they were found ("$.data")
    encoding, budget      what the counts below and the budget are in: tokens of "o200k_base"
    as_written, compact   the text as it is in the file, and as compact JSON; for each: characters, bytes, tokens (by
                          encoding), estimate, estimate_error_percent
    budgets_filled        compact tokens ÷ budget
    outside_rows_tokens   what of the compact text is not in the rows: other members, the keys of a map
    rows_that_fit         how many of the first rows fit one budget as compact JSON
    pages                 pages of at most one budget that all rows need (a row above the budget counts as a page)
    row_tokens            min, median, max
    fields                name, tokens, share_percent, present, null, empty (rows), heaviest_path, heaviest_tokens
    advice                action (compact, drop, ref, shorten, page, filter), field, reason, saves_tokens, saves_percent
                          (of compact JSON; for "compact", of the text as written)
    after                 the rows when all advice about text and fields is followed: tokens, budgets_filled,
                          rows_that_fit, pages
    warnings              what was odd about the file
"""

import statistics
from dataclasses import asdict, dataclass

from toolresults.audit.advise import Advice, advise_fields
from toolresults.audit.load import InputError, read_text
from toolresults.audit.measure import (
    Field,
    Text,
    dump,
    fields_of,
    find_heaviest,
    pages,
    row_texts,
    row_tokens,
    rows_that_fit,
    weigh,
)
from toolresults.audit.rows import Rows, find_rows
from toolresults.audit.tally import Helper
from toolresults.audit.whole import advise_pages, advise_text
from toolresults.tokens import ENCODINGS, count_tokens

ENCODING = ENCODINGS[0]

FOLLOW_SHARE = 0.05
"""Fields from this share up are searched for their heaviest nested path."""


@dataclass
class Report:
    """Everything that one audit found out; `Report.to_dict` gives it to programs."""

    file: str
    found: Rows
    budget: int
    as_written: Text
    compact: Text
    row_tokens: list[int]
    rows_that_fit: int
    pages: int
    fields: list[Field]
    advice: list[Advice]
    after: dict

    @property
    def tokens(self) -> int:
        """Exact tokens as compact JSON, the baseline of every share."""
        return self.compact.tokens[ENCODING]

    @property
    def outside(self) -> int:
        """Tokens of the compact text that are not in the rows."""
        return max(0, self.tokens - sum(self.row_tokens))

    def percent(self, tokens: int) -> float:
        return round(100 * tokens / self.tokens, 1) if self.tokens else 0.0

    def saves_percent(self, one: Advice) -> float | None:
        """What *one* piece of advice saves, in percent of compact JSON; "compact" itself of the
        text as written.
        """
        if one.saves is None:
            return None
        if one.action == "compact":
            return round(100 * one.saves / self.as_written.tokens[ENCODING], 1)
        return self.percent(one.saves)

    def to_dict(self) -> dict:
        """The report as plain values, under the keys in this module's docstring."""
        sizes = {}
        for name in ("as_written", "compact"):
            text = getattr(self, name)
            sizes[name] = asdict(text) | {"estimate_error_percent": text.error_percent(ENCODING)}
        each = self.row_tokens or [0]
        return {
            "file": self.file,
            "format": self.found.kind,
            "rows": len(self.found.rows),
            "rows_path": self.found.path,
            "encoding": ENCODING,
            "budget": self.budget,
            **sizes,
            "budgets_filled": round(self.tokens / self.budget, 2),
            "outside_rows_tokens": self.outside,
            "rows_that_fit": self.rows_that_fit,
            "pages": self.pages,
            "row_tokens": {
                "min": min(each),
                "median": statistics.median_low(each),
                "max": max(each),
            },
            "fields": [
                {
                    "name": field.name,
                    "tokens": field.tokens,
                    "share_percent": self.percent(field.tokens),
                    "present": len(field.texts),
                    "null": field.nulls,
                    "empty": field.empty,
                    "heaviest_path": field.heaviest,
                    "heaviest_tokens": field.heaviest_tokens,
                }
                for field in self.fields
            ],
            "advice": [
                {
                    "action": one.action,
                    "field": one.field,
                    "reason": one.reason,
                    "saves_tokens": one.saves,
                    "saves_percent": self.saves_percent(one),
                }
                for one in self.advice
            ],
            "after": self.after,
            "warnings": self.found.warnings,
        }


def audit_file(
    source: str, *, budget: int = 25_000, rows: str | None = None, cold: bool = False
) -> Report:
    """Audit the file *source* (`-`: standard input).

    `budget` is in tokens; `rows` is the path of the list to take, where the longest is the wrong
    one; `cold` says that this process has counted nothing yet, and that a second one should help.
    Raises `InputError`, with a message of one line, for a file that cannot be used.
    """
    with Helper(ENCODINGS[1:], start=cold) as helper:
        text, size = read_text(source, is_json=True)
        name = "standard input" if source == "-" else source
        try:
            return _audit(find_rows(text, size, name, rows), name, budget, helper)
        except RecursionError:
            raise InputError(
                f"{name} is nested too deeply to be a tool result: flatten it first"
            ) from None


def _audit(found: Rows, name: str, budget: int, helper: Helper) -> Report:
    fields = fields_of(found.rows)
    texts = row_texts(found.rows, fields)
    whole = f"[{','.join(texts)}]" if found.rows is found.document else dump(found.document)
    helper.send([found.text, whole])
    written, total = (count_tokens(text, ENCODING) for text in (found.text, whole))
    each = row_tokens(texts, ENCODING)
    fields = weigh(fields, ENCODING)
    for field in fields:
        if field.tokens >= FOLLOW_SHARE * total:
            find_heaviest(field, ENCODING)
    advice = advise_text(found, written, total, ENCODING)
    advice += advise_fields(fields, len(found.rows), total, ENCODING)
    after, last = advise_pages(found, fields, advice, budget, ENCODING)
    others = helper.counts()
    return Report(
        file=name,
        found=found,
        budget=budget,
        as_written=Text.of(found.text, {ENCODING: written} | {e: n[0] for e, n in others.items()}),
        compact=Text.of(whole, {ENCODING: total} | {e: n[1] for e, n in others.items()}),
        row_tokens=each,
        rows_that_fit=rows_that_fit(texts, each, budget, ENCODING),
        pages=pages(each, budget),
        fields=fields,
        advice=advice + last,
        after=after,
    )
