"""Ten turns against one question: the claim that an agent's loop costs "5 to 10 times a single
turn", measured.

One question is worked on for ten model calls: nine ask for a page each, the tenth answers. With a
first input of b tokens, and g more on each turn, the ten calls read 10b + 45g. What "a single turn"
is decides the factor:

- against one model call (b), it is 10 + 45g/b, and never under 10;
- against one question of two calls (a call and an answer, 2b + g), it is from 5, where results are
  tiny, to 45.

So 5 to 10 holds against the two calls, while a turn adds no more than 2/7 of the first input.
"""

from collections.abc import Sequence
from functools import partial

import pandas as pd

from toolresults.agent.api import Api
from toolresults.agent.history import clear_tool_results, window

from .harness import bill
from .long_session import Exchange, account, next_page, play_script, search

TURNS = 10

PAGES = (("concise", 1), ("concise", 5), ("concise", 20), ("concise", 50), ("detailed", 50))
"""What each of the nine calls asks for: response format, and orders on a page."""

QUESTION = "Go through the refunded orders of the south, page by page."


def against(first: float, growth: float) -> tuple[float, float]:
    """How many times one call (b), and one question of two calls (2b + g), ten turns read (10b +
    45g).
    """
    total = TURNS * first + TURNS * (TURNS - 1) / 2 * growth
    return total / first, total / (2 * first + growth)


def grid(
    firsts: Sequence[int] = (300, 1_000, 3_000, 10_000),
    growths: Sequence[int] = (50, 300, 1_000, 4_000),
):
    """`against` one question, for first inputs (rows, in tokens) and growths a turn (columns)."""
    rows = [[against(first, growth)[1] for growth in growths] for first in firsts]
    table = pd.DataFrame(rows, index=firsts, columns=growths)
    return table.rename_axis(index="first", columns="growth")


def walk(response_format: str, limit: int) -> Exchange:
    """The question, nine pages one after the other, and a short answer."""
    first = search(limit, response_format, status="refunded", region="south")
    turns = [lambda read: [next_page(read) if read else first]] * (TURNS - 1)
    return Exchange(QUESTION, turns, f"I went through {(TURNS - 1) * limit} orders.")


def ten_turns(api: Api, pages: Sequence[tuple[str, int]] = PAGES) -> pd.DataFrame:
    """A row a kind of page, in tokens: `first` input (b), mean `growth` a turn (g), `total` input
    of the ten calls, `formula` (10b + 45g), and the total with results cleared on every turn, and
    with a window of three turns.

    `against_one_call` and `against_one_question` say how many times one call, or a question of two,
    the total is.
    """
    tools, rows = account(), []
    clear = partial(clear_tool_results, api=api, trigger=0, clear_at_least=0)
    for response_format, limit in pages:
        session = play_script(api, [walk(response_format, limit)], tools)
        inputs = [turn.usage.input for turn in session.ledger.turns]
        first, growth = inputs[0], (inputs[-1] - inputs[0]) / (TURNS - 1)
        cleared = bill(session, clear).cumulative_input
        total, question = sum(inputs), inputs[0] + inputs[1]
        rows.append({
            "page": f"{limit} {response_format}",
            "first": first,
            "growth": growth,
            "total": total,
            "formula": first * against(first, growth)[0],
            "cleared": cleared,
            "windowed": bill(session, partial(window, api=api, turns=3)).cumulative_input,
            "against_one_call": total / first,
            "against_one_question": total / question,
            "cleared_against_one_question": cleared / question,
        })  # fmt: skip
    return pd.DataFrame(rows)
