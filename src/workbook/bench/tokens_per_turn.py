"""Tokens and money of each turn of a session, one technique added at a time, on both wire formats
(notebook b1).

    workbook bench tokens_per_turn      measures, and writes data/results/tokens_per_turn.csv again

A session is the questions of `questions.ROUNDS`; its first round is the session of ten turns.
Everything is charged where it falls: tool definitions, notes, cursors, refs, placeholders, calls
that go on, error turns. Results are compact JSON for every technique, the naive one too. A session
that is larger than the model's window (`WINDOW`) is billed as if a window were large enough, and
`summary` says at which turn the real one refuses it.
"""

import csv
import io
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd
from toolresults.agent.prices import Prices
from toolresults.agent.scripted import WINDOW
from toolresults.agent.wire import APIS

from workbook.examples.orders.store import OrderStore
from workbook.paths import data_path

from .holding import hold
from .questions import ROUNDS, TEN, THIRTY
from .recall import OUTCOMES
from .sessions import MODELS
from .techniques import TECHNIQUES, Technique

RESULTS = "results/tokens_per_turn.csv"

COLUMNS = (
    "technique",
    "api",
    "turn",
    "question",
    "kind",
    "call",
    "input",
    "cached_read",
    "cache_write",
    "output",
)
COLUMNS += ("result_tokens", "money", "outcome", "further_calls")
"""The results file: a row a turn of the session of thirty. Tokens; money in US dollars, exactly;
the last two stand on the turn that answers."""


VERSIONS = ("toolresults", "toktok-rs", "duckdb", "pydantic", "pydantic-monty")
"""Packages that the results depend on."""


def rows(api: str, technique: Technique, store: OrderStore) -> list[dict[str, Any]]:
    """A row a turn of the session of thirty: what stands in the results file."""
    found, question = [], 1
    for number, turn in enumerate(hold(api, technique, store).turns, 1):
        used, tags = (
            turn.usage,
            {"kind": "", "call": "", "outcome": "", "further_calls": "", **turn.tags},
        )
        tokens = [used.input, used.cached_read, used.cache_write, used.output, turn.result_tokens]
        values = [
            technique.name,
            api,
            number,
            question,
            tags["kind"],
            tags["call"],
            *tokens,
            turn.money,
        ]
        found.append(
            dict(zip(COLUMNS, [*values, tags["outcome"], tags["further_calls"]], strict=True))
        )
        question += bool(tags["outcome"])
    return found


def about() -> dict[str, str]:
    """What the results were measured with."""
    corpus = data_path("orders.parquet").read_bytes()
    prices = Prices.load()
    return {
        "corpus": f"orders.parquet sha256 {sha256(corpus).hexdigest()}",
        "n": f"{len(THIRTY)} questions in {len(ROUNDS)} rounds, {len(TECHNIQUES)} techniques, {len(APIS)} wire formats",
        "tokenizer": "o200k_base (for Claude, whose tokenizer is not public, an estimate)",
        "versions": ", ".join(f"{name} {version(name)}" for name in VERSIONS),
        "prices": "; ".join(
            f"{price.model} as of {price.as_of}, {price.source}"
            for price in map(prices.__getitem__, MODELS.values())
        ),
        "window": f"{WINDOW} tokens; a session larger than that is billed as if the window were large enough",
    }


def measure() -> str:
    """The results file: what `about` says, as comments, and a row a turn."""
    text = io.StringIO()
    text.writelines(f"# {name}: {value}\n" for name, value in about().items())
    with OrderStore.open() as store:
        out = csv.DictWriter(text, COLUMNS, lineterminator="\n")
        out.writeheader()
        for technique in TECHNIQUES.values():
            for api in APIS:
                out.writerows(rows(api, technique, store))
    return text.getvalue()


def load(path: Path | None = None) -> pd.DataFrame:
    """The committed results, a row a turn."""
    return pd.read_csv(
        path or data_path(RESULTS),
        comment="#",
        keep_default_na=False,
        na_values={"further_calls": ""},
    )


def summary(frame: pd.DataFrame, api: str, questions: int = len(THIRTY)) -> pd.DataFrame:
    """A row a technique, for the first `questions` of the session.

    `turns`, `calls`, the meters in tokens (`results`, `peak`, `input` cumulative, `output`) and
    `money` in US dollars, a column for each outcome, `answered` (correct or recoverable),
    `money_per_answer`, and `refused`: the turn at which a window of `WINDOW` tokens refuses the
    request, NaN if none does. `change` is `money` as a multiple of that of `base`: the technique
    before it, or what it varies.
    """
    part, lines = frame[(frame["api"] == api) & (frame["question"] <= questions)], {}
    for name, turns in part.groupby("technique", sort=False):
        outcomes = turns["outcome"].value_counts()
        over = turns.loc[turns["input"] > WINDOW, "turn"]
        lines[name] = {
            "turns": len(turns),
            "calls": int((turns["call"] != "").sum()),
            "results": int(turns["result_tokens"].sum()),
            "peak": int(turns["input"].max()),
            "input": int(turns["input"].sum()),
            "output": int(turns["output"].sum()),
            "money": float(turns["money"].sum()),
            **{outcome: int(outcomes.get(outcome, 0)) for outcome in OUTCOMES},
            "refused": over.min() if len(over) else float("nan"),
        }
    table = pd.DataFrame(lines.values(), index=pd.Index(lines, name="technique"))
    table["answered"] = table["correct"] + table["recoverable"]
    table["money_per_answer"] = table["money"] / table["answered"]
    table["base"] = [_base(name) for name in table.index]
    table["change"] = table["money"] / table["money"].reindex(table["base"]).to_numpy()
    return table


def _base(name: str) -> str | None:
    names = [technique.name for technique in TECHNIQUES.values() if technique.added]
    return TECHNIQUES[name].after or (names[names.index(name) - 1] if names.index(name) else None)


def kinds(frame: pd.DataFrame, api: str, questions: int = len(THIRTY)) -> pd.DataFrame:
    """What became of each kind of question (columns) with each technique: the outcomes of its
    rounds, one word each.
    """
    part = frame[
        (frame["api"] == api) & (frame["question"] <= questions) & (frame["outcome"] != "")
    ]
    said = part["outcome"].where(
        part["outcome"] != "recoverable",
        "+" + part["further_calls"].fillna(0).astype(int).astype(str),
    )
    said = said.replace({"correct": "ok", "silently wrong": "WRONG"})
    table = said.groupby([part["technique"], part["kind"]], sort=False).agg(" ".join)
    return table.unstack()[list(dict.fromkeys(part["kind"]))].reindex(list(TECHNIQUES))


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """A `summary` as a reader sees it, every value a text. `change` is in money, against what the
    line stands on.
    """
    shown = table[["turns", "results", "peak", "input"]].map("{:,}".format)
    shown["money"] = table["money"].map("${:,.2f}".format)
    change = (table["change"] - 1).map("{:+.0%}".format).replace({"+0%": "0%", "-0%": "0%"})
    shown["change"] = change.where(table["change"].notna(), "")
    shown[list(OUTCOMES)] = table[list(OUTCOMES)].astype(str)
    shown["refused"] = (
        table["refused"].map("turn {:.0f}".format).where(table["refused"].notna(), "")
    )
    return shown


def report() -> str:
    """Measures, writes the results file, and returns the summary for the terminal."""
    path = data_path(RESULTS)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(measure(), encoding="utf-8", newline="\n")
    frame, said = load(path), [f"wrote {RESULTS}"]
    for api in APIS:
        for needs in (TEN, THIRTY):
            table = readable(summary(frame, api, len(needs)))
            said.append(f"{MODELS[api]}, {len(needs)} questions\n{table.to_string()}")
    return "\n\n".join(said)
