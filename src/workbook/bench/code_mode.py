"""Tools for everything against two tools over a registry, as the registry grows from 5 functions to
500 (notebook 11).

    workbook bench code_mode      measures, and writes data/results/code_mode.csv again

Everything is charged: definitions in every request, searches, code, error turns. Both ways are made
right by the same oracle, and leave the same tables behind. The script decides nothing: no model's
skill is measured.
"""

import csv
import io
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from toolresults.agent.prices import Prices
from toolresults.agent.wire import APIS

from workbook.examples.crm.generate import SEED
from workbook.paths import data_path

from .code_mode_company import Company
from .code_mode_mistakes import MISTAKES, Mistake
from .code_mode_oracle import verdict
from .code_mode_questions import QUESTIONS, WEEK, Question
from .code_mode_ways import WAYS, Played, play
from .sessions import MODELS

RESULTS = "results/code_mode.csv"

SIZES = (5, 10, 15, 20, 30, 50, 100, 200, 500)
"""Functions in the registry."""

MISTAKEN_AT = 50
"""Functions where the model makes its mistakes."""

ONE_BY_ONE = "all definitions, one call a turn"
"""44 turns with all definitions in each: measured at the smallest size and at `MISTAKEN_AT`, since
it takes long.
"""

COLUMNS = (
    "question",
    "way",
    "mistake",
    "functions",
    "api",
    "turns",
    "calls",
    "definitions",
    "results",
    "peak",
)
COLUMNS += (
    "input",
    "output",
    "cached_read",
    "cache_write",
    "money",
    "money_warm",
    "verdict",
    "state",
)
"""The results file. Tokens; money in US dollars, exactly: with an empty prompt cache, and (warm)
with one that has the definitions from a question before. `state` is a digest of all tables
afterwards."""


def ways(question: Question, functions: int = MISTAKEN_AT) -> list[str]:
    """The ways that are measured for a question: two are for the week's alone, and one of them not
    at every size.
    """
    left_out = set() if functions in (SIZES[0], MISTAKEN_AT) else {ONE_BY_ONE}
    left_out |= set() if question is WEEK else {ONE_BY_ONE, "ready-made tool"}
    return [way for way in WAYS if way not in left_out]


def row(
    company: Company, question: Question, way: str, api: str, mistake: Mistake | None = None
) -> dict[str, Any]:
    """One question, played and judged. What it wrote is taken back."""
    played = mistake.play(api, company) if mistake else play(api, company, question, way)
    said = verdict(company.store, company.caller, question, played.answer, company.written())
    state = company.state() if question is WEEK else ""
    company.forget()
    values = (question.name, way, mistake.name if mistake else "", len(company.functions), api)
    return dict(zip(COLUMNS, (*values, *meters(played), said, state), strict=True))


def meters(played: Played) -> tuple[Any, ...]:
    """What stands in the columns from turns to money_warm."""
    turns = played.ledger.turns
    used = [turn.usage for turn in turns]
    return (
        len(turns),
        played.calls,
        played.definitions,
        sum(turn.result_tokens for turn in turns),
        played.ledger.peak,
        played.ledger.cumulative_input,
        sum(one.output for one in used),
        sum(one.cached_read for one in used),
        sum(one.cache_write for one in used),
        played.ledger.money,
        played.warm.money,
    )


def rows() -> Iterator[dict[str, Any]]:
    """All that stands in the results file."""
    for functions in SIZES:
        with Company(functions) as company:
            for api in APIS:
                for question in QUESTIONS.values():
                    yield from (
                        row(company, question, way, api) for way in ways(question, functions)
                    )
                if functions == MISTAKEN_AT:
                    yield from (row(company, WEEK, wrong.way, api, wrong) for wrong in MISTAKES)


def about() -> dict[str, str]:
    """What the results were measured with."""
    prices = Prices.load()
    packages = ("toolresults", "toktok-rs", "duckdb", "pydantic", "pydantic-monty", "mini-racer")
    return {
        "corpus": f"the generated company, seed {SEED}",
        "n": f"{len(QUESTIONS)} questions, {len(WAYS)} ways, {len(SIZES)} sizes, {len(MISTAKES)} mistakes, 2 APIs",
        "tokenizer": "o200k_base (for Claude, whose tokenizer is not public, an estimate)",
        "versions": ", ".join(f"{name} {version(name)}" for name in packages),
        "prices": "; ".join(
            f"{price.model} as of {price.as_of}, {price.source}"
            for price in map(prices.__getitem__, MODELS.values())
        ),
    }


def measure() -> str:
    """The results file: what `about` says, as comments, and a row for each play."""
    text = io.StringIO()
    text.writelines(f"# {name}: {value}\n" for name, value in about().items())
    out = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    out.writeheader()
    out.writerows(rows())
    return text.getvalue()


def load(path: Path | None = None) -> pd.DataFrame:
    """The committed results, a row a play; `mistake` is empty where none was made."""
    return pd.read_csv(path or data_path(RESULTS), comment="#", keep_default_na=False)


def report() -> str:
    """Measures, writes the results file, and returns the break-even numbers for the terminal."""
    from .code_mode_break_even import break_even_table, said

    path = data_path(RESULTS)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(measure(), encoding="utf-8", newline="\n")
    return f"wrote {RESULTS}\n\n{break_even_table(load(path)).map(said).to_string()}"
