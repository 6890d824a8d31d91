"""Tools for everything against two tools over a registry, as the registry grows from 5 functions to
500 (notebook 11).

    workbook bench code_mode      measures, and writes data/results/code_mode.csv again

    with Company(50) as company:
        session = play(OPENAI_CHAT, company, WEEK, "code")
        session.ledger.cumulative_input, session.texts
    break_even(load(), "one call", "openai", "input")            # 10.0 functions

Everything is charged: definitions in every request, searches, code, error turns. Both ways are made
right by the same oracle, and leave the same tables behind. The script decides nothing: no model's
skill is measured.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import pandas as pd

from toolresults.agent.api import Api
from toolresults.agent.bill import Ledger
from toolresults.tools import Tool
from workbook.examples.crm.generate import SEED

from . import harness
from .code_mode_company import Company
from .code_mode_questions import MISTAKES, QUESTIONS, WEEK, Question, verdict
from .harness import APIS, Dialogue

SIZES = (5, 10, 15, 20, 30, 50, 100, 200, 500)
"""Functions in the registry."""

MISTAKEN_AT = 50
"""Functions where the model makes its mistakes."""

SYSTEM = "You work in a company's systems for one of its employees. Use the tools."


class Way(NamedTuple):
    """A way to give a model n functions: the tools that it may call, and what it says. Only the
    first `defined` of the tools (None: all) are defined in each request.
    """

    tools: Callable[[Company, Api], Sequence[Tool]]
    dialogue: Callable[[Question], Dialogue]
    defined: int | None = None


def _for_each(company: Company, api: Api) -> Sequence[Tool]:
    return list(company.tools.values())


def _with_search(company: Company, api: Api) -> Sequence[Tool]:
    return [company.find_tools(api), *company.tools.values()]


def _ready_made(company: Company, api: Api) -> Sequence[Tool]:
    return [company.follow_up]


def _python(company: Company, api: Api) -> Sequence[Tool]:
    return company.registry().tools()


def _javascript(company: Company, api: Api) -> Sequence[Tool]:
    return company.registry("javascript").tools()


ONE_BY_ONE = "all definitions, one call a turn"

WAYS = {
    "all definitions": Way(_for_each, lambda question: question.plain()),
    ONE_BY_ONE: Way(_for_each, lambda question: question.plain(at_once=False)),
    "definitions found": Way(_with_search, Question.found, defined=1),
    "ready-made tool": Way(_ready_made, Question.ready_made),
    "code": Way(_python, Question.coded),
    "code, looks twice": Way(_python, lambda question: question.coded(looks=("brief", "full"))),
    "code in JavaScript": Way(_javascript, lambda question: question.coded("javascript")),
}
"""A tool for each function, definitions found on demand, or two tools over a registry. "code" looks
once, for whole stubs, and runs Python; "looks twice": names first."""


def ways(question: Question, functions: int = MISTAKEN_AT) -> list[str]:
    """The ways that are measured for a question: two are for the week's alone. One of them, 44
    turns with all definitions in each, takes long: it is measured at the smallest size and at
    `MISTAKEN_AT`.
    """
    if question is not WEEK:
        return [way for way in WAYS if way not in (ONE_BY_ONE, "ready-made tool")]
    return [way for way in WAYS if way != ONE_BY_ONE or functions in (SIZES[0], MISTAKEN_AT)]


def play(
    api: Api, company: Company, question: Question, way: str, mistake: str = ""
) -> harness.Session:
    """Asks `question` in one of `WAYS`, or the week's question with one of `MISTAKES` in it, of a
    scripted model that has a prompt cache.
    """
    tools = WAYS[way].tools(company, api)
    dialogue = MISTAKES[way, mistake]() if mistake else WAYS[way].dialogue(question)
    defined = tools[: WAYS[way].defined]
    system = _system(api)
    return harness.ask(api, question.text, dialogue, tools, system=system, defined=defined)[0]


def _system(api: Api) -> str | list[dict[str, Any]]:
    """The system prompt. Where caching goes by marks, it ends what is cached of itself: with it,
    the definitions before it.
    """
    if api.caching == "prefix":
        return SYSTEM
    return [{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}]


def meters(session: harness.Session) -> dict[str, Any]:
    """`harness.meters`, with a prompt cache that is empty at first, and what it costs with a warm
    one.
    """
    return harness.meters(session) | {"money_warm": warm(session).money}


def warm(session: harness.Session) -> Ledger:
    """The bill of the same requests when another question was asked with the same tools just
    before.
    """
    kept = harness.new_cache(session.api)
    kept.read(session.api.request_parts(session.body([{"role": "user", "content": "Hello"}])))
    return harness.bill(session, cache=kept)


def row(
    company: Company, question: Question, way: str, api: Api, mistake: str = ""
) -> dict[str, Any]:
    """One question, played and judged, as a row of the results file. What it wrote is taken back.

    `state` is a digest of all tables afterwards, for the question that writes.
    """
    session = play(api, company, question, way, mistake)
    said = {"question": question.name, "way": way, "mistake": mistake}
    said |= {"functions": len(company.functions), "api": api.name, **meters(session)}
    said["verdict"] = verdict(company, question, session.texts[0], company.written())
    said["state"] = company.state() if question is WEEK else ""
    company.forget()
    return said


def rows() -> Iterator[dict[str, Any]]:
    """All that stands in the results file."""
    for functions in SIZES:
        with Company(functions) as company:
            for api in APIS.values():
                for question in QUESTIONS.values():
                    for way in ways(question, functions):
                        yield row(company, question, way, api)
                for way, mistake in MISTAKES if functions == MISTAKEN_AT else ():
                    yield row(company, WEEK, way, api, mistake)


def report() -> str:
    """Measures, writes the results file, and returns the break-even numbers for the terminal."""
    about = harness.about(
        f"{len(QUESTIONS)} questions, {len(WAYS)} ways, {len(SIZES)} sizes, "
        f"{len(MISTAKES)} mistakes, {len(APIS)} APIs",
        corpus=f"the generated company, seed {SEED}",
        packages=(*harness.PACKAGES, "mini-racer"),
    )
    path = harness.record("code_mode", about, rows())
    return f"wrote results/{path.name}\n\n{break_even_table(load()).map(said).to_string()}"


def load() -> pd.DataFrame:
    """The committed results, a row a play; `mistake` is empty where none was made."""
    return harness.load("code_mode")


# From how many functions on two tools cost less than a tool for each. The cost of a tool for each
# grows as a straight line with the number of functions, the cost of code hardly at all.

METERS = ("input", "money", "money_warm")


def costs(frame: pd.DataFrame, question: str, api: str, meter: str) -> pd.DataFrame:
    """`meter` by number of functions (rows) and way (columns), where no mistake was made."""
    part = frame[(frame["question"] == question) & (frame["api"] == api) & (frame["mistake"] == "")]
    return part.pivot(index="functions", columns="way", values=meter)[part["way"].unique()]


def crossing(plain: pd.Series, code: pd.Series) -> float:
    """The number of functions (the index of both) from which on `code` stays the cheaper.

    Between two measured sizes both are taken for straight lines. 0 if `plain` is cheaper at none of
    them, infinity if it still is at the largest.
    """
    gap = code - plain
    dearer = gap.index[gap > 0]
    if not len(dearer):
        return 0.0
    last = dearer[-1]
    larger = gap.index[gap.index > last]
    if not len(larger):
        return math.inf
    return last + (larger[0] - last) * gap[last] / (gap[last] - gap[larger[0]])


def break_even(
    frame: pd.DataFrame, question: str, api: str, meter: str, way: str = "code"
) -> float:
    """The number of functions from which on `way` costs less than a tool for each, in one of
    `METERS`.
    """
    table = costs(frame, question, api, meter)
    return crossing(table["all definitions"], table[way])


def break_even_table(frame: pd.DataFrame, way: str = "code") -> pd.DataFrame:
    """The break-even for each question (columns), by API and meter."""
    found = {
        (api, meter): {name: break_even(frame, name, api, meter, way) for name in QUESTIONS}
        for api in APIS
        for meter in METERS
    }
    return pd.DataFrame.from_dict(found, orient="index")


def said(functions: float) -> str:
    """A break-even in words."""
    words = {0: "at once", math.inf: "never"}
    return words[functions] if functions in words else f"{math.ceil(functions)}"


def mistakes_eat(
    frame: pd.DataFrame, api: str, meter: str, functions: int, mistake: str, made_at: int
) -> float:
    """How many times `mistake` may be made in code until its gain over plain tools is gone, for the
    week's question.

    A mistake in code costs about the same whatever the number of functions: what it cost at
    `made_at` is taken.
    """
    table = costs(frame, WEEK.name, api, meter)
    wrong = frame.query("way == 'code' and mistake == @mistake and api == @api")[meter].iloc[0]
    gain = table["all definitions"] - table["code"]
    return float(gain[functions] / (wrong - table["code"][made_at]))
