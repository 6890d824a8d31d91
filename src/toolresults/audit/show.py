"""The report of an audit: as values for programs, as tables for people.

The keys of `Report.to_dict()`, which is what `toolresults audit --json` prints, are stable:

    file, format          what was read; format is "json", "json lines", "mcp" or "json text" (JSON
                          inside a string)
    rows, rows_path       how many rows, and where they were found ("$.data")
    encoding, budget      what the counts below and the budget are in: tokens of "o200k_base"
    as_written, compact   the text as it is in the file, and as compact JSON; for each: characters,
                          bytes, tokens (by encoding), estimate, estimate_error_percent
    budgets_filled        compact tokens ÷ budget
    outside_rows_tokens   what of the compact text is not in the rows: other members, the keys of a
                          map
    rows_that_fit         how many of the first rows fit one budget as compact JSON
    pages                 pages of at most one budget that all rows need (a row above the budget
                          counts as a page)
    row_tokens            min, median, max
    fields                name, tokens, share_percent, present, null, empty (rows), heaviest_path,
                          heaviest_tokens
    advice                action (compact, drop, ref, shorten, page, filter), field, reason,
                          saves_tokens, saves_percent (of compact JSON; for "compact", of the text
                          as written)
    after                 the rows when all advice about text and fields is followed: tokens,
                          budgets_filled, rows_that_fit, pages
    warnings              what was odd about the file
"""

from dataclasses import dataclass
from statistics import median_low
from textwrap import fill, indent
from typing import TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text as Styled

from toolresults.audit.advise import Advice, advise
from toolresults.audit.load import Rows, find_rows, read_text, shown, too_deep
from toolresults.audit.weigh import ENCODING, Weights, weigh
from toolresults.tokens import ENCODINGS

_TOP_FIELDS = 12
"""Fields that the table shows; the rest are one line."""

_OUTSIDE_SHARE = 0.05
"""From this share up it is said how much of the text is not in the rows."""

_PIPE_WIDTH = 120
"""Columns when the output is not a terminal, which would say."""

KINDS = {
    "json": "JSON",
    "json lines": "JSON Lines",
    "mcp": "the text of an MCP result",
    "json text": "JSON inside a string",
}
"""The formats in words."""


@dataclass
class Report:
    """Everything that one audit found out; `Report.to_dict` gives it to programs."""

    file: str
    found: Rows
    budget: int
    weights: Weights
    advice: list[Advice]
    after: dict

    @property
    def tokens(self) -> int:
        """Exact tokens as compact JSON, the baseline of every share."""
        return self.weights.compact.exact

    @property
    def outside(self) -> int:
        """Tokens of the compact text that are not in the rows."""
        return max(0, self.tokens - sum(self.weights.row_tokens))

    def percent(self, tokens: int) -> float:
        return round(100 * tokens / self.tokens, 1) if self.tokens else 0.0

    def saves_percent(self, one: Advice) -> float | None:
        """What *one* piece of advice saves, in percent of compact JSON; "compact" itself of the
        text as written.
        """
        if one.saves is None:
            return None
        if one.action == "compact":
            return round(100 * one.saves / self.weights.as_written.exact, 1)
        return self.percent(one.saves)

    def to_dict(self) -> dict:
        """The report as plain values, under the keys in this module's docstring."""
        each = self.weights.row_tokens or [0]
        return {
            "file": self.file,
            "format": self.found.kind,
            "rows": len(self.found.rows),
            "rows_path": self.found.path,
            "encoding": ENCODING,
            "budget": self.budget,
            "as_written": self.weights.as_written.to_dict(),
            "compact": self.weights.compact.to_dict(),
            "budgets_filled": round(self.tokens / self.budget, 2),
            "outside_rows_tokens": self.outside,
            "rows_that_fit": self.weights.rows_that_fit,
            "pages": self.weights.pages,
            "row_tokens": {"min": min(each), "median": median_low(each), "max": max(each)},
            "fields": [
                {
                    "name": field.name,
                    "tokens": field.tokens,
                    "share_percent": self.percent(field.tokens),
                    "present": len(field.texts),
                    "null": field.texts.count("null"),
                    "empty": field.empty,
                    "heaviest_path": field.heaviest,
                    "heaviest_tokens": field.heaviest_tokens,
                }
                for field in self.weights.fields
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


def audit_file(source: str, *, budget: int = 25_000, rows: str | None = None) -> Report:
    """Audit the file *source* (`-`: standard input).

    `budget` is in tokens; `rows` is the path of the list to take, where the longest is the wrong
    one. Raises `InputError`, with a message of one line, for a file that cannot be used.
    """
    text, _ = read_text(source, is_json=True)
    name = "standard input" if source == "-" else source
    try:
        found = find_rows(text, name, rows)
        weights = weigh(found, budget)
        return Report(name, found, budget, weights, *advise(found, weights, budget))
    except RecursionError:
        raise too_deep(name) from None


def show(report: Report, file: TextIO) -> None:
    """Print *report* to *file*. No value of the audited file is shown, only names of fields."""
    plain = {"highlight": False, "markup": False, "emoji": False}
    console = Console(file=file, **plain)
    if not console.is_terminal:
        console = Console(file=file, **plain, width=_PIPE_WIDTH, color_system=None)
    _head(report, console)
    _sizes(report, console)
    _fields(report, console)
    _advice(report, console)


def _head(report: Report, console: Console) -> None:
    found, rows = report.found, len(report.found.rows)
    name = report.file if report.file.isprintable() else shown(report.file)
    console.print(Styled(name, style="bold"))
    console.print(f"{rows:,} row{'s' * (rows != 1)} at {found.path}, {KINDS[found.kind]}")
    if found.others:
        others = ", ".join(f"{shown(path)} ({n:,})" for path, n in found.others)
        console.print(f"other lists of objects, for --rows: {others}")
    for warning in found.warnings:
        console.print(Styled(f"warning: {warning}", style="yellow"))


def _sizes(report: Report, console: Console) -> None:
    table = _table(console, "", "as written", "compact JSON")
    pair = (report.weights.as_written, report.weights.compact)
    table.add_row("characters", *(f"{text.characters:,}" for text in pair))
    table.add_row("bytes", *(f"{text.bytes:,}" for text in pair))
    for encoding in ENCODINGS:
        table.add_row(f"tokens, {encoding}", *(f"{text.tokens[encoding]:,}" for text in pair))
    table.add_row("estimate (÷ 4)", *(f"{text.estimate:,}" for text in pair))
    errors = [text.estimate_error_percent for text in pair]
    table.add_row("its error", *("" if error is None else f"{error:+.1f}%" for error in errors))
    filled = [f"{text.exact / report.budget:,.1f}" for text in pair]
    table.add_row(f"budgets of {report.budget:,}", *filled)
    console.print(table)
    if len(report.found.rows) > 1:
        console.print(_rows(report))
    if report.outside >= _OUTSIDE_SHARE * report.tokens and report.outside > 100:
        others = [shown(path) for path, _ in report.found.others]
        hint = f": audit {others[0]} too, with --rows" if others else ""
        share = f"{report.outside:,} tokens ({report.percent(report.outside):.0f}%)"
        console.print(f"Outside the rows: {share}{hint}.")


def _rows(report: Report) -> str:
    rows, fit, each = (
        len(report.found.rows),
        report.weights.rows_that_fit,
        sorted(report.weights.row_tokens),
    )
    if fit == rows:
        fitting = f"All {rows:,} rows fit a budget"
    elif fit:
        fitting = f"The first {fit:,} of {rows:,} rows fit a budget"
    else:
        fitting = "Not even the first row fits a budget"
    spread = f"{each[0]:,} tokens"
    if each[0] != each[-1]:
        spread = f"{each[0]:,} to {each[-1]:,} tokens (median {median_low(each):,})"
    return f"{fitting} as compact JSON; a row is {spread}."


def _fields(report: Report, console: Console) -> None:
    if not report.weights.fields:
        return
    table = _table(console, "field", "tokens", "share", "in rows", "empty")
    for field in report.weights.fields[:_TOP_FIELDS]:
        there, empty = len(field.texts) / len(report.found.rows), field.empty / len(field.texts)
        weight = f"{field.tokens:,}", f"{report.percent(field.tokens):.1f}%"
        table.add_row(field.name, *weight, _share(there), _share(empty))
        if field.heaviest:
            share = f"{report.percent(field.heaviest_tokens):.1f}%"
            table.add_row(f"  in it {field.heaviest}", f"{field.heaviest_tokens:,}", share, "", "")
    console.print(table)
    if rest := report.weights.fields[_TOP_FIELDS:]:
        tokens = sum(field.tokens for field in rest)
        share = f"{tokens:,} tokens ({report.percent(tokens):.1f}%)"
        console.print(f"and {len(rest):,} lighter fields, {share}")


def _share(part: float) -> str:
    return "<1%" if 0 < part < 0.01 else f"{part:.0%}"


def _advice(report: Report, console: Console) -> None:
    console.print()
    fits = report.tokens <= report.budget
    if fits:
        console.print(Styled("It fits one budget: nothing has to be done.", style="bold green"))
    if not report.advice:
        return
    console.print(Styled("You could still save:" if fits else "What to do first:", style="bold"))
    for number, one in enumerate(report.advice, 1):
        title = Styled(f"{number}. ").append(one.action, style="bold cyan")
        title.append(f" {one.field}" if one.field else "")
        if one.saves is not None:
            saves = f"  saves {one.saves:,} tokens ({report.saves_percent(one):.0f}%)"
            title.append(saves, style="green")
        console.print(title)
        console.print(indent(fill(one.reason, console.width - 3), "   "))
    if any(one.texts for one in report.advice):
        after = report.after
        fit = f", {after['rows_that_fit']:,} rows to a budget" * (len(report.found.rows) > 1)
        share = f"{report.percent(after['tokens']):.0f}%"
        console.print(f"With the fields done: {after['tokens']:,} tokens ({share}){fit}.")


def _table(console: Console, first: str, *others: str) -> Table:
    box = SIMPLE_HEAD if console.is_terminal else None
    table = Table(box=box, pad_edge=False, padding=(0, 2, 0, 0))
    table.add_column(first, overflow="fold", max_width=40)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table
