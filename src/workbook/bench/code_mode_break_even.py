"""From how many functions on two tools cost less than a tool for each: the break-even, by question,
API and meter.

    break_even(frame, "one call", "openai", "input")            # 10.0 functions
    formula((2, 3), each=94, surface=326, rest=1_200)           # about the same, from one's own numbers

The cost of a tool for each grows as a straight line with the number of functions, the cost of code
hardly at all.
"""

import math

import pandas as pd
from toolresults.agent.wire import APIS

from .code_mode_questions import QUESTIONS, WEEK

METERS = ("input", "money", "money_warm")


def costs(frame: pd.DataFrame, question: str, api: str, meter: str) -> pd.DataFrame:
    """`meter` by number of functions (rows) and way (columns), where no mistake was made."""
    part = frame[(frame["question"] == question) & (frame["api"] == api) & (frame["mistake"] == "")]
    return part.pivot(index="functions", columns="way", values=meter)[
        list(dict.fromkeys(part["way"]))
    ]


def crossing(plain: pd.Series, code: pd.Series) -> float:
    """The number of functions (the index of both) from which on `code` stays the cheaper.

    Between two measured sizes both are taken for straight lines. 0 if `plain` is cheaper at none of
    them, infinity if it still is at the largest.
    """
    gap = code - plain
    dearer = [n for n, extra in gap.items() if extra > 0]
    if not dearer:
        return 0.0
    last = dearer[-1]
    larger = [n for n in gap.index if n > last]
    if not larger:
        return math.inf
    return last + (larger[0] - last) * gap[last] / (gap[last] - gap[larger[0]])


def break_even(
    frame: pd.DataFrame,
    question: str,
    api: str,
    meter: str,
    way: str = "code",
    against: str = "all definitions",
) -> float:
    """The number of functions from which on `way` costs less than `against`, in one of `METERS`."""
    table = costs(frame, question, api, meter)
    return crossing(table[against], table[way])


def break_even_table(
    frame: pd.DataFrame, way: str = "code", against: str = "all definitions"
) -> pd.DataFrame:
    """The break-even for each question (columns), by API and meter."""
    rows = {
        (api, meter): {
            name: break_even(frame, name, api, meter, way, against) for name in QUESTIONS
        }
        for api in APIS
        for meter in METERS
    }
    return pd.DataFrame.from_dict(rows, orient="index")


def said(functions: float) -> str:
    """A break-even in words."""
    return (
        "at once"
        if functions == 0
        else "never"
        if functions == math.inf
        else f"{math.ceil(functions)}"
    )


def formula(turns: tuple[int, int], each: float, surface: float, rest: float) -> float:
    """The break-even in input tokens, from one's own numbers.

    `turns` with a tool for each, and in code mode; `each`: tokens of one definition; `surface`:
    tokens of the two tools; `rest`: tokens that code mode reads besides its tools (stubs, code,
    results) more than the other way does.
    """
    plain, code = turns
    return (code * surface + rest) / (plain * each)


def mistakes_eat(
    frame: pd.DataFrame, api: str, meter: str, functions: int, mistake: str, made_at: int
) -> float:
    """How many times `mistake` may be made in code until its gain over plain tools is gone, for the
    week's question.

    A mistake in code costs about the same whatever the number of functions: what it cost at
    `made_at` is taken.
    """
    table = costs(frame, WEEK.name, api, meter)
    wrong = frame[(frame["way"] == "code") & (frame["mistake"] == mistake) & (frame["api"] == api)][
        meter
    ].iloc[0]
    return float(
        (table["all definitions"] - table["code"])[functions] / (wrong - table["code"][made_at])
    )
