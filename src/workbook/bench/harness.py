"""What every experiment needs, once: play a session, see its calls, judge an answer, bill, record.

    session = play(OPENAI_CHAT, policy, tools, ["Which orders were refunded?"], system="…")
    see(session.api, session.messages)                  # its calls, and what they gave
    judge(answer, truth, further=2)                     # one of OUTCOMES
    bill(session, partial(window, api=OPENAI_CHAT, turns=6), cache=new_cache(OPENAI_CHAT))
    record("my_experiment", about(n="…"), rows)         # data/results/my_experiment.csv
    load("my_experiment")

A turn is one model call, with the tool calls that it asks for. The model is scripted: its policy, a
plain function from the messages of a request to the next `Reply`, decides nothing, and makes no
mistake that is not written down. All tokens are o200k_base's; money is in US dollars.
"""

import csv
import json
import math
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache, partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from toolresults.agent.anthropic import ANTHROPIC
from toolresults.agent.api import AnyTool, Api, Message, Request, Usage, tokens_of
from toolresults.agent.bill import Ledger, Prices
from toolresults.agent.cache import LEAST, STEP, PromptCache
from toolresults.agent.history import CLEARED, Remembered
from toolresults.agent.loop import run
from toolresults.agent.openai_chat import OPENAI_CHAT
from toolresults.scripted import WINDOW, Reply, ScriptedModel
from workbook.paths import data_path

APIS = {api.name: api for api in (OPENAI_CHAT, ANTHROPIC)}
"""The APIs on which everything is measured, by name."""

MODELS = {"openai": "gpt-5.4-mini", "anthropic": "claude-sonnet-4-6"}
"""The model whose prices a bill takes, by the API's name."""

PRICES = Prices(at=datetime(2026, 7, 1, 12))
"""Those of the day on which the generated accounts end."""

_MOST_STEPS = 100
"""Turns that one question may take."""

OUTCOMES = ("correct", "recoverable", "lost", "silently wrong")
"""What may become of a question; see `judge`."""

MOST_CALLS = 3
"""Further calls that may be made for one question, where a careful program answers it."""

Made = tuple[str, dict[str, Any]]
"""A call that a program makes: tool name and arguments."""

Trim = Callable[[Sequence[Message]], list[Message]]
"""From the whole history to what is sent of it."""


class GiveUp(Exception):
    """A program that answers from what it was shown cannot tell."""


# See


@dataclass(frozen=True)
class Seen:
    """A call that stands in the messages, with the text that answers it there."""

    id: str
    name: str
    arguments: dict[str, Any]
    text: str

    @property
    def cleared(self) -> bool:
        """Whether a placeholder stands where the result was."""
        return self.text.startswith(CLEARED)

    @property
    def result(self) -> Any:
        """What the call gave: JSON parsed (once: do not change it), other text as it is, None if
        it was cleared."""
        return None if self.cleared else _parsed(self.text)


def see(api: Api, messages: Sequence[Message]) -> list[Seen]:
    """The calls in the messages, in order, with what they gave."""
    texts = {result.id: result.text for message in messages for result in api.results(message)}
    return [
        Seen(call.id, call.name, _arguments(call.arguments), texts.get(call.id, ""))
        for message in messages
        for call in api.calls(message)
    ]


def see_newest(api: Api, messages: Sequence[Message]) -> list[Seen]:
    """The calls of the newest turn; none if a question was asked since, or none was made."""
    turns = api.turns(messages)
    return see(api, messages[turns[-1]]) if turns and turns[-1].stop == len(messages) else []


def _arguments(given: str | dict[str, Any]) -> dict[str, Any]:
    return json.loads(given) if isinstance(given, str) else given


@lru_cache(maxsize=256)
def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


# Play


@dataclass(frozen=True)
class Session:
    """A session as it was played: the whole history, what every request has besides, and what the
    loop metered. Each turn of the ledger has the tag "question", its number from 1."""

    api: Api
    system: Any
    definitions: list[dict[str, Any]]
    messages: list[Message]
    ledger: Ledger
    texts: list[str]
    """What the model said last to each question."""

    @property
    def requests(self) -> list[list[Message]]:
        """The history at each model call, untrimmed."""
        replies = (i for i, message in enumerate(self.messages) if message["role"] == "assistant")
        return [self.messages[:i] for i in replies]

    def body(self, messages: Sequence[Message]) -> dict[str, Any]:
        """The body of a request with these messages."""
        choice = self.api.choice("auto", True)
        request = Request(MODELS[self.api.name], self.system, self.definitions, choice)
        return self.api.body(request, messages)


def play(
    api: Api,
    policy: Callable[[list[dict[str, Any]]], Reply],
    tools: Mapping[str, AnyTool] | Sequence[AnyTool],
    questions: Iterable[str],
    *,
    system: Any,
    defined: Iterable[Any] | None = None,
    cache: PromptCache | None = None,
    trim: Trim | None = None,
    window: int | None = WINDOW,
    max_steps: int = _MOST_STEPS,
) -> Session:
    """Asks the questions one after the other, by the loop and `api`'s real SDK, of a scripted model
    that follows `policy`.

    - `tools` may be called; `defined` are those whose definitions are sent, if not all of them.
    - `cache`: the vendor's prompt cache (`new_cache`), None for none. `trim` is the loop's.
    - `window` is the model's, in tokens; the SDK's `BadRequestError` is raised for a request that
      is larger. None lifts it: for results of 20 MB the same loop then runs without the SDK, so
      that nothing is turned into JSON and back; messages and usage are the same.

    Raises `RuntimeError` for a question without an answer after `max_steps` turns.
    """
    lifted = window is None
    model = ScriptedModel(policy, window=math.inf if lifted else window, cache=cache)
    speaking = _without_http(api, grows=trim is None) if lifted else api
    client = model if lifted else model.client(api)
    given = tools.values() if isinstance(tools, Mapping) else tools
    definitions = [api.definition(tool) for tool in (defined or given)]
    ledger, messages, texts = Ledger(PRICES), [], []
    for number, question in enumerate(questions, 1):
        asked = {"role": "user", "content": question}
        outcome = run(
            speaking, client, [*messages, asked], tools, model=MODELS[api.name], system=system,
            options={"tools": definitions}, max_steps=max_steps, trim=trim, ledger=ledger,
            tags={"question": number}, timeout=60,
            at_once=1,  # one call at a time: the order in a store's log then repeats too
        )  # fmt: skip
        if outcome.stop != "answer":
            raise RuntimeError(f"question {number} ended with {outcome.stop}")
        messages = outcome.messages
        texts.append(outcome.text)
    return Session(api, system, definitions, messages, ledger, texts)


Dialogue = Generator[Sequence[Made], list[Any], Any]
"""What a model does about one question: yields the calls of one turn, is sent what they gave (see
`Seen.result`), and returns its answer."""


def ask(
    api: Api,
    question: str,
    dialogue: Dialogue,
    tools: Mapping[str, AnyTool] | Sequence[AnyTool],
    *,
    say: Callable[[Any], str] = str,
    **options: Any,
) -> tuple[Session, Any]:
    """One question to a model that goes through `dialogue` and has an empty prompt cache: the
    session, and what the dialogue returned.

    `say` puts that into the words of the model's last message; `options` are those of `play`.
    """
    answer = None

    def policy(messages: list[dict[str, Any]]) -> Reply:
        nonlocal answer
        results = [one.result for one in see_newest(api, messages)]
        try:
            return Reply(calls=dialogue.send(results or None))
        except StopIteration as done:
            answer = done.value
            return Reply(say(answer))

    return play(api, policy, tools, [question], cache=new_cache(api), **options), answer


def new_cache(api: Api) -> PromptCache:
    """An empty prompt cache; a session takes no time, so nothing in it expires. Anthropic's marks
    are automatic."""
    return PromptCache(api.caching, clock=lambda: 0.0, automatic=api.caching == "marks")


def _without_http(api: Api, grows: bool) -> Api:
    """The same API, whose client is the scripted model itself.

    A history that only `grows` begins with the whole of the request before: so only what is new is
    counted, and what a prompt cache gives is known without comparing texts.
    """
    seen = total = 0

    def count(model: ScriptedModel, body: Mapping[str, Any]) -> tuple[int, int, int]:
        nonlocal seen, total
        new = {"messages": body["messages"][seen:]} if seen else body
        seen, known = len(body["messages"]), total if total >= LEAST else 0
        total += tokens_of(api.request_parts(new))
        if model.cache is None or total < LEAST:
            return total, 0, 0
        if api.caching == "prefix":
            return total, known // STEP * STEP, 0
        return total, known, total - known

    class WithoutHttp(type(api)):
        def send(self, client: ScriptedModel, body: dict[str, Any]) -> Any:
            return client.answer(api, body, use=count(client, body) if grows else None)

    return WithoutHttp()


# Judge


def judge(answer: Any, truth: Any, further: int) -> str:
    """What became of a question, one of `OUTCOMES`.

    - "correct": right, from what was shown; "recoverable": right, after `further` calls;
    - "lost": no answer (None); "silently wrong": an answer, and not the right one.
    """
    if answer is None:
        return "lost"
    if answer != truth:
        return "silently wrong"
    return "recoverable" if further else "correct"


def count_outcomes(outcomes: Iterable[str]) -> dict[str, int]:
    """How many there are of each of `OUTCOMES`."""
    outcomes = list(outcomes)
    return {outcome: outcomes.count(outcome) for outcome in OUTCOMES}


# Bill


def bill(session: Session, trim: Trim | None = None, *, cache: PromptCache | None = None) -> Ledger:
    """The ledger of the same session with `trim` before each request: what `play` would meter,
    without playing it.

    What is sent differs, and nothing else: a real model might call more tools after a trimming, or
    fewer. Each turn has the tags "for": "turn" and "changed": whether the beginning of the request
    is another than the time before. Where `trim` takes a `Remembered` summary, each is made anew
    and charged, "for": "summary", before the turn that it was made for.
    """
    ledger, metered = Ledger(PRICES, model=MODELS[session.api.name]), session.ledger.turns
    trim, summary = _anew(trim)
    charged = 0
    for (sent, unchanged), turn in zip(replay(session, trim), metered, strict=True):
        for usage in summary.spent[charged:] if summary else ():
            ledger.add(session.api, usage, tags={"for": "summary", "changed": False})
            charged += 1
        parts = session.api.request_parts(session.body(sent))
        cached, written = cache.read(parts) if cache else (0, 0)
        usage = Usage(tokens_of(parts), turn.usage.output, cached, written)
        tags = {"for": "turn", "changed": sent != unchanged}
        ledger.add(session.api, usage, turn.result_tokens, tags=tags)
    return ledger


def replay(
    session: Session, trim: Trim | None
) -> Iterator[tuple[Sequence[Message], Sequence[Message]]]:
    """For each turn the messages that are sent, and those that would be if `trim` had changed
    nothing since the turn before."""
    sent: Sequence[Message] = []
    before = 0
    for history in session.requests:
        unchanged = [*sent, *history[before:]]
        sent, before = trim(history) if trim else history, len(history)
        yield sent, unchanged


def _anew(trim: Trim | None) -> tuple[Trim | None, Remembered | None]:
    """The same trimming with no summary made yet, and its summaries."""
    old = getattr(trim, "keywords", {}).get("summary")
    if not isinstance(old, Remembered):
        return trim, None
    new = Remembered(old.summary, api=old.api, instructions=old.instructions)
    return partial(trim, summary=new), new


def meters(session: Session) -> dict[str, Any]:
    """What a session used. Tokens: of the definitions in each request, of all results, of the
    largest request, and of all requests and replies together; `cached_read` and `cache_write` are
    parts of `input`. `money` is in US dollars, exactly."""
    ledger, used = session.ledger, [turn.usage for turn in session.ledger.turns]
    return {
        "turns": len(used),
        "calls": len(see(session.api, session.messages)),
        "definitions": session.api.request_tokens({"tools": session.definitions}),
        "results": sum(turn.result_tokens for turn in ledger.turns),
        "peak": ledger.peak,
        "input": ledger.cumulative_input,
        "output": sum(one.output for one in used),
        "cached_read": sum(one.cached_read for one in used),
        "cache_write": sum(one.cache_write for one in used),
        "money": ledger.money,
    }


# Record

PACKAGES = ("toolresults", "toktok-rs", "duckdb", "pydantic", "pydantic-monty")


def about(
    n: str, *, corpus: str = "orders.parquet", packages: Sequence[str] = PACKAGES
) -> dict[str, str]:
    """What results were measured with: `corpus` is a file of `data/`, or says itself what it is."""
    path = data_path(corpus)
    digest = f" sha256 {sha256(path.read_bytes()).hexdigest()}" if path.is_file() else ""
    return {
        "corpus": f"{corpus}{digest}",
        "n": n,
        "tokenizer": "o200k_base (for Claude, whose tokenizer is not public, an estimate)",
        "versions": ", ".join(f"{name} {version(name)}" for name in packages),
        "prices": f"{' and '.join(MODELS.values())}, {PRICES.source}",
    }


WINDOW_LIFTED = {
    "window": f"{WINDOW} tokens; a session larger than that is billed as if the window were large "
    "enough"
}
"""What `about` is joined with where sessions are played with the window lifted."""


def results_path(name: str) -> Path:
    """Where the results of an experiment are."""
    return data_path(f"results/{name}.csv")


def record(name: str, told: Mapping[str, str], rows: Iterable[Mapping[str, Any]]) -> Path:
    """Writes a results file: what `about` told, as comments, then the rows, whose keys are the
    columns."""
    rows, path = list(rows), results_path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"# {key}: {value}\n" for key, value in told.items())
        out = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    return path


def load(name: str, **options: Any) -> pd.DataFrame:
    """The committed results of an experiment; empty texts stay empty. `options` are pandas's."""
    return pd.read_csv(results_path(name), comment="#", keep_default_na=False, **options)
