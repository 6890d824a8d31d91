"""Checks for benchmark b1, tokens and money of each turn."""

from toolresults.checks import say

PRICE = {"input": 3.00, "cached read": 0.30, "cache write": 3.75}
"""Claude Sonnet, US dollars a million tokens: the numbers of exercise 2, which do not follow the price table."""

FREED, REWRITTEN = 12_000, 6_000
"""Tokens that one round of clearing frees, and tokens behind the first change, in exercise 2."""


def exercise_1(answer: object) -> None:
    """Which technique lowers the tokens that are read on every line of the table, and raises Claude's bill."""
    text = answer.strip().lower() if isinstance(answer, str) else answer
    say(
        answer,
        lambda _: text == "clearing",
        "it reads a third fewer tokens than refs, and pays for writing the cache again, and for calls made again.",
        "look for a technique (not a variant) whose input goes down and whose change has a plus.",
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
        "small budget": "it has the smallest bill, and few answers to divide it by.",
        "naive": "it answers everything, and look at its bill.",
        "clearing": "close: it answers as many as another line, for a little more.",
    }
    text = answer.strip().lower() if isinstance(answer, str) else answer
    say(
        answer,
        lambda _: text == "refs",
        "as many answers as clearing for less money; the smallest bill bought half as many.",
        hints.get(text, "divide each bill by the answers that it bought.")
        if isinstance(text, str)
        else "answer with the name of a line, such as 'cap'.",
    )
