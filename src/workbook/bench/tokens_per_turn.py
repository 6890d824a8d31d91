"""Tokens and money of each turn of a session, one technique added at a time, on both wire formats
(notebook b1).

    workbook bench tokens_per_turn      measures, and writes data/results/tokens_per_turn.csv again

A session is the questions of `careful_agent.ROUNDS`; its first round is the session of ten turns.
Everything is charged where it falls: tool definitions, notes, cursors, refs, placeholders, calls
that go on, error turns. Results are compact JSON for every technique, the naive one too. A session
that is larger than the model's window (`WINDOW`) is billed as if a window were large enough, and
`summary` says at which turn the real one refuses it.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from toolresults.agent.api import Api
from toolresults.scripted import WINDOW
from workbook.examples.orders.store import OrderStore

from . import harness
from .careful_agent import ROUNDS, TEN, THIRTY, CarefulPolicy, Question, truth
from .harness import APIS, MODELS, OUTCOMES, Session, count_outcomes, judge, new_cache, play
from .techniques import ADDED, SYSTEM, TECHNIQUES, Technique

NAME = "tokens_per_turn"


def ask(
    api: Api,
    technique: Technique,
    store: OrderStore,
    questions: Sequence[Question] = THIRTY,
    *,
    window: int | None = None,
) -> Session:
    """The questions put to the careful agent with one technique.

    Each turn of the ledger is tagged with its question's number and kind and with the tool that it
    calls; the turn that answers with the answer, the outcome and the further calls too. With a
    `window` in tokens, the SDK's `BadRequestError` is raised for a request that is larger.
    """
    tools = technique.tools(store)
    policy = CarefulPolicy(api, technique, tools, questions)
    session = play(
        api,
        policy,
        tools,
        [question.text for question in questions],
        system=SYSTEM,
        cache=new_cache(api),
        trim=technique.trim and technique.trim(api),
        window=window,
    )
    answered = iter(policy.answered)
    replies = [message for message in session.messages if message["role"] == "assistant"]
    for message, turn in zip(replies, session.ledger.turns, strict=True):
        calls = api.calls(message)
        turn.tags["kind"] = questions[turn.tags["question"] - 1].kind
        turn.tags["call"] = calls[0].name if calls else ""
        if not calls:
            question, answer, further = next(answered)
            outcome = judge(answer, truth(question, store), further)
            turn.tags |= {"answer": answer, "outcome": outcome, "further_calls": further}
    return session


def rows(api: Api, technique: Technique, store: OrderStore) -> Iterator[dict[str, Any]]:
    """A row a turn of the session of thirty: what stands in the results file. Tokens; money in US
    dollars, exactly; the last two stand on the turn that answers."""
    for number, turn in enumerate(ask(api, technique, store).ledger.turns, 1):
        used, tags = turn.usage, turn.tags
        yield {
            "technique": technique.name,
            "api": api.name,
            "turn": number,
            **{name: tags[name] for name in ("question", "kind", "call")},
            "input": used.input,
            "cached_read": used.cached_read,
            "cache_write": used.cache_write,
            "output": used.output,
            "result_tokens": turn.result_tokens,
            "money": turn.money,
            **{name: tags.get(name, "") for name in ("outcome", "further_calls")},
        }


def about() -> dict[str, str]:
    """What the results were measured with."""
    sizes = f"{len(THIRTY)} questions in {len(ROUNDS)} rounds, {len(TECHNIQUES)} techniques"
    return harness.about(f"{sizes}, {len(APIS)} wire formats") | harness.WINDOW_LIFTED


def load() -> pd.DataFrame:
    """The committed results, a row a turn."""
    return harness.load(NAME, na_values={"further_calls": ""})


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
        lines[name] = {
            "turns": len(turns),
            "calls": int((turns["call"] != "").sum()),
            "results": int(turns["result_tokens"].sum()),
            "peak": int(turns["input"].max()),
            "input": int(turns["input"].sum()),
            "output": int(turns["output"].sum()),
            "money": float(turns["money"].sum()),
            **count_outcomes(turns["outcome"]),
            "refused": turns.loc[turns["input"] > WINDOW, "turn"].min(),
        }
    table = pd.DataFrame(lines.values(), index=pd.Index(lines, name="technique"))
    table["answered"] = table["correct"] + table["recoverable"]
    table["money_per_answer"] = table["money"] / table["answered"]
    before = dict(zip(ADDED[1:], ADDED, strict=False))
    table["base"] = [TECHNIQUES[name].after or before.get(name) for name in table.index]
    table["change"] = table["money"] / table["money"].reindex(table["base"]).to_numpy()
    return table


def kinds(frame: pd.DataFrame, api: str) -> pd.DataFrame:
    """What became of each kind of question (columns) with each technique: the outcomes of its
    rounds, one word each."""
    part = frame[(frame["api"] == api) & (frame["outcome"] != "")]
    further = "+" + part["further_calls"].astype(int).astype(str)
    said = part["outcome"].where(part["outcome"] != "recoverable", further)
    said = said.replace({"correct": "ok", "silently wrong": "WRONG"})
    table = said.groupby([part["technique"], part["kind"]], sort=False).agg(" ".join)
    return table.unstack()[list(dict.fromkeys(part["kind"]))].reindex(list(TECHNIQUES))


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """A `summary` as a reader sees it, every value a text. `change` is in money, against what the
    line stands on."""
    shown = table[["turns", "results", "peak", "input"]].map("{:,}".format)
    shown["money"] = table["money"].map("${:,.2f}".format)
    change = (table["change"] - 1).map("{:+.0%}".format).replace({"+0%": "0%", "-0%": "0%"})
    shown["change"] = change.where(table["change"].notna(), "")
    shown[list(OUTCOMES)] = table[list(OUTCOMES)].astype(str)
    turn = table["refused"].map("turn {:.0f}".format)
    shown["refused"] = turn.where(table["refused"].notna(), "")
    return shown


def report() -> str:
    """Measures, writes the results file, and returns the summary for the terminal."""
    with OrderStore.open() as store:
        pairs = [(technique, api) for technique in TECHNIQUES.values() for api in APIS.values()]
        found = [row for technique, api in pairs for row in rows(api, technique, store)]
    said = [f"wrote {harness.record(NAME, about(), found).name}"]
    for api in APIS:
        for questions in (TEN, THIRTY):
            table = readable(summary(load(), api, len(questions)))
            said.append(f"{MODELS[api]}, {len(questions)} questions\n{table.to_string()}")
    return "\n\n".join(said)
