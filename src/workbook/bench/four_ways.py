"""A question about all the orders, answered in several ways, each through the real SDK and the loop
(notebook 07).

    workbook bench four_ways               measures, and writes data/results/four_ways.csv again
    play("openai", "code", "rate", store)     one session: its ledger, and the answer that was given

The model is scripted: a program that uses only what stands in the messages of the request in front
of it. It makes the right calls, writes the right code at once, and never miscounts. So a figure is
what a way costs when nothing goes wrong; the way "code, mended" shows what one wrong program adds.
A session that is larger than a model's window is billed as if a window were large enough, and
`fits` says that it is not.
"""

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from toolresults.agent.reply import Reply
from toolresults.agent.request_text import request_parts, tokens_of
from toolresults.agent.scripted import WINDOW, ScriptedModel
from toolresults.agent.usage import Ledger
from toolresults.agent.wire import APIS

from toolresults.tokens import to_json
from workbook.examples.orders.store import OrderStore
from workbook.paths import data_path

from .holding import LOOPS
from .oracle import seen_in
from .script import SYSTEM
from .sessions import MODELS, new_cache
from .tokens_per_turn import about
from .ways import QUESTIONS, WAYS

RESULTS = "results/four_ways.csv"

COLUMNS = (
    "api",
    "question",
    "way",
    "turns",
    "calls",
    "definitions",
    "call_tokens",
    "result_tokens",
    "peak",
    "input",
)
COLUMNS += ("output", "money", "answer", "outcome")
"""The results file: a row a session. `calls` is a number; `definitions`, `call_tokens` (what the
model wrote to call), `result_tokens`, `peak`, `input` (cumulative) and `output` are exact tokens;
`money` is in US dollars, with a prompt cache; `answer` is JSON."""

NO_WINDOW = 10**8
"""Tokens of a context window that no session fills."""

MOST_TURNS = 100


@dataclass(frozen=True)
class Played:
    """A session: what it used, its messages, the tools' definitions, and the answer (None: the
    model cannot tell).
    """

    ledger: Ledger
    messages: list[dict[str, Any]]
    definitions: list[dict[str, Any]]
    answer: Any


def play(
    api: str, way: str, question: str, store: OrderStore, *, window: int = NO_WINDOW
) -> Played:
    """Asks a question (a key of `QUESTIONS`) through the SDK of `api` and its loop, in a way (a key
    of `WAYS`).

    Raises the SDK's `BadRequestError` where a request is larger than `window`.
    """
    program, answers = WAYS[way].programs.get(question), []

    def policy(messages: list[dict[str, Any]]) -> Reply:
        step = program(list(seen_in(api, messages))) if program else None
        if isinstance(step, list):
            return Reply(calls=step)
        answers.append(step)
        return Reply(
            "I cannot tell with these tools." if step is None else f"The answer is {to_json(step)}."
        )

    model = ScriptedModel(policy, window=window, cache=new_cache(api))
    client = model.openai() if api == "openai" else model.anthropic()
    tools, ledger = WAYS[way].tools(store), Ledger(model=MODELS[api])
    # one call at a time: the answers of a turn are then made in the same order on every run
    options = {
        "model": MODELS[api],
        "system": SYSTEM,
        "ledger": ledger,
        "at_once": 1,
        "max_steps": MOST_TURNS,
    }
    outcome = LOOPS[api].run(client, QUESTIONS[question].text, tools, **options)
    return Played(
        ledger, outcome.messages, [tool.definition(api) for tool in tools.values()], answers[-1]
    )


def row(api: str, question: str, way: str, store: OrderStore) -> dict[str, Any]:
    """One session as a row of the results file."""
    played = play(api, way, question, store)
    turns, answer = played.ledger.turns, played.answer
    right = answer == QUESTIONS[question].truth(store)
    return {
        "api": api,
        "question": question,
        "way": way,
        "turns": len(turns),
        "calls": len(list(seen_in(api, played.messages))),
        "definitions": tokens_of(request_parts(api, {"tools": played.definitions})),
        "call_tokens": sum(turn.usage.output for turn in turns[:-1]),
        "result_tokens": sum(turn.result_tokens for turn in turns),
        "peak": played.ledger.peak,
        "input": played.ledger.cumulative_input,
        "output": sum(turn.usage.output for turn in turns),
        "money": played.ledger.money,
        "answer": to_json(answer),
        "outcome": "lost" if answer is None else "correct" if right else "silently wrong",
    }


def measure() -> str:
    """The results file: what it was measured with, as comments, and a row a session."""
    text = io.StringIO()
    told = about() | {
        "n": f"{len(QUESTIONS)} questions, {len(WAYS)} ways, {len(APIS)} wire formats, each once"
    }
    text.writelines(f"# {name}: {value}\n" for name, value in told.items())
    out = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    out.writeheader()
    with OrderStore.open() as store:
        out.writerows(
            row(api, question, way, store) for api in APIS for question in QUESTIONS for way in WAYS
        )
    return text.getvalue()


def load(path: Path | None = None) -> pd.DataFrame:
    """The committed results, a row a session, with `fits`: whether a window of `WINDOW` tokens
    takes it.
    """
    frame = pd.read_csv(path or data_path(RESULTS), comment="#", keep_default_na=False)
    return frame.assign(fits=frame["peak"] <= WINDOW)


def report() -> str:
    """Measures, writes the results file, and returns it for the terminal."""
    path = data_path(RESULTS)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(measure(), encoding="utf-8", newline="\n")
    return f"wrote {RESULTS}\n\n{load(path).drop(columns='answer').to_string(index=False)}"
