"""Checks for benchmark b1, tokens and money of each turn."""

from workbook.checks import say

PRICE = {"input": 3.00, "cached read": 0.30, "cache write": 3.75}
"""Claude Sonnet, US dollars a million tokens: the numbers of exercise 2, which do not follow the
price table.
"""

FREED, REWRITTEN = 12_000, 6_000
"""Tokens that one round of clearing frees, and tokens behind the first change, in exercise 2."""


def exercise_1(answer: object) -> None:
    """Which line reads fewer tokens than refs, raises Claude's bill, and answers as many
    questions.
    """
    text = answer.strip().lower() if isinstance(answer, str) else answer
    say(
        answer,
        lambda _: text == "clearing",
        "it reads a third fewer tokens than refs, and pays for writing the cache again, and for calls made again.",
        "two lines have a plus under change: compare what they answer (correct and recoverable) with refs.",
    )


def exercise_2(answer: object) -> None:
    """After how many turns a round of clearing has paid for the cache that it breaks."""
    once = REWRITTEN * (PRICE["cache write"] - PRICE["cached read"])
    each = FREED * PRICE["cached read"]
    turns = -(-once // each)
    say(
        answer,
        lambda given: given == turns,
        f"writing again costs {once:,.0f} units more than reading, and each turn saves {each:,.0f}.",
        "compare what writing the rest again costs more than reading it, once, with what not reading the freed "
        "tokens saves, each turn.",
    )


def exercise_3(answer: object) -> None:
    """The line that costs least for an answer."""
    hints = {
        "small budget": "it has a small bill, and few answers to divide it by.",
        "naive": "it answers everything, and look at its bill.",
        "refs": "the cheapest without code: one line answers more, for less money.",
        "clearing": "it answers as many as refs, for a little more money.",
    }
    text = answer.strip().lower() if isinstance(answer, str) else answer
    say(
        answer,
        lambda _: text == "code",
        "all eighteen answers, and the smallest bill too. Without code it is refs.",
        hints.get(text, "divide each bill by the answers that it bought.")
        if isinstance(text, str)
        else "answer with the name of a line, such as 'cap'.",
    )
