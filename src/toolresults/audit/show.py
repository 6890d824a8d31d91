"""The report for a person: tables in a terminal, the same words as plain text in a pipe."""

from statistics import median_low
from textwrap import fill, indent
from typing import TextIO

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text as Styled

from toolresults.audit.measure import shown
from toolresults.audit.report import ENCODING, Report
from toolresults.tokens import ENCODINGS

TOP_FIELDS = 12
"""Fields that the table shows; the rest are one line."""

OUTSIDE_SHARE = 0.05
"""From this share up it is said how much of the text is not in the rows."""

PIPE_WIDTH = 120
"""Columns when the output is not a terminal, which would say."""


def show(report: Report, file: TextIO) -> None:
    """Print *report* to *file*. No value of the audited file is shown, only names of fields."""
    console = Console(file=file, highlight=False, markup=False, emoji=False, soft_wrap=False)
    if not console.is_terminal:
        console = Console(
            file=file,
            highlight=False,
            markup=False,
            emoji=False,
            width=PIPE_WIDTH,
            color_system=None,
        )
    _head(report, console)
    _sizes(report, console)
    _fields(report, console)
    _advice(report, console)


def _head(report: Report, console: Console) -> None:
    found = report.found
    console.print(
        Styled(report.file if report.file.isprintable() else shown(report.file), style="bold")
    )
    kind = {
        "json lines": "JSON Lines",
        "mcp": "the text of an MCP result",
        "json text": "JSON inside a string",
    }
    rows = len(found.rows)
    line = f"{rows:,} row{'s' * (rows != 1)} at {found.path}, {kind.get(found.kind, 'JSON')}"
    console.print(line)
    if found.others:
        others = ", ".join(f"{shown(path)} ({n:,})" for path, n in found.others)
        console.print(f"other lists of objects, for --rows: {others}")
    for warning in found.warnings:
        console.print(Styled(f"warning: {warning}", style="yellow"))


def _sizes(report: Report, console: Console) -> None:
    table = _table(console, "", "as written", "compact JSON")
    pair = (report.as_written, report.compact)
    table.add_row("characters", *(f"{text.characters:,}" for text in pair))
    table.add_row("bytes", *(f"{text.bytes:,}" for text in pair))
    for encoding in ENCODINGS:
        table.add_row(f"tokens, {encoding}", *(f"{text.tokens[encoding]:,}" for text in pair))
    table.add_row("estimate (÷ 4)", *(f"{text.estimate:,}" for text in pair))
    errors = (text.error_percent(ENCODING) for text in pair)
    table.add_row("its error", *("" if error is None else f"{error:+.1f}%" for error in errors))
    table.add_row(
        f"budgets of {report.budget:,}",
        *(f"{t.tokens[ENCODING] / report.budget:,.1f}" for t in pair),
    )
    console.print(table)
    if len(report.found.rows) > 1:
        console.print(_rows(report))
    if report.outside >= OUTSIDE_SHARE * report.tokens and report.outside > 100:
        hint = (
            f": audit {shown(report.found.others[0][0])} too, with --rows"
            if report.found.others
            else ""
        )
        console.print(
            f"Outside the rows: {report.outside:,} tokens ({report.percent(report.outside):.0f}%){hint}."
        )


def _rows(report: Report) -> str:
    rows, fit, each = len(report.found.rows), report.rows_that_fit, sorted(report.row_tokens)
    fitting = (
        f"All {rows:,} rows fit a budget"
        if fit == rows
        else f"The first {fit:,} of {rows:,} rows fit a budget"
        if fit
        else "Not even the first row fits a budget"
    )
    spread = f"{each[0]:,} tokens"
    if each[0] != each[-1]:
        spread = f"{each[0]:,} to {each[-1]:,} tokens (median {median_low(each):,})"
    return f"{fitting} as compact JSON; a row is {spread}."


def _fields(report: Report, console: Console) -> None:
    if not report.fields:
        return
    table = _table(console, "field", "tokens", "share", "in rows", "empty")
    rows = len(report.found.rows)
    for field in report.fields[:TOP_FIELDS]:
        there, empty = len(field.texts) / rows, field.empty / len(field.texts)
        table.add_row(
            field.name,
            f"{field.tokens:,}",
            f"{report.percent(field.tokens):.1f}%",
            _share(there),
            _share(empty),
        )
        if field.heaviest:
            share = f"{report.percent(field.heaviest_tokens):.1f}%"
            table.add_row(f"  in it {field.heaviest}", f"{field.heaviest_tokens:,}", share, "", "")
    console.print(table)
    rest = report.fields[TOP_FIELDS:]
    if rest:
        tokens = sum(field.tokens for field in rest)
        console.print(
            f"and {len(rest):,} lighter fields, {tokens:,} tokens ({report.percent(tokens):.1f}%)"
        )


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
        saves = (
            ""
            if one.saves is None
            else f"  saves {one.saves:,} tokens ({report.saves_percent(one):.0f}%)"
        )
        title = (
            Styled(f"{number}. ")
            .append(one.action, style="bold cyan")
            .append(f" {one.field or ''}".rstrip())
        )
        console.print(title.append(saves, style="green"))
        console.print(indent(fill(one.reason, console.width - 3), "   "))
    if any(one.change for one in report.advice):
        after = report.after
        rows = (
            f", {after['rows_that_fit']:,} rows to a budget" if len(report.found.rows) > 1 else ""
        )
        share = f"{report.percent(after['tokens']):.0f}%"
        console.print(f"With the fields done: {after['tokens']:,} tokens ({share}){rows}.")


def _table(console: Console, first: str, *others: str) -> Table:
    table = Table(
        box=SIMPLE_HEAD if console.is_terminal else None, pad_edge=False, padding=(0, 2, 0, 0)
    )
    table.add_column(first, overflow="fold", max_width=40)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table
