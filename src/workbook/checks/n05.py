"""Checks for notebook 05, a budget and its notes."""

from workbook.checks import say

NOTES = {
    "a": "Result truncated.",
    "b": "Use pagination to see more.",
    "c": "Showing part of the results. Use limit=10 to see fewer.",
    "d": "The 500-token budget cut 10 rows to 4. Pass next_cursor as cursor for more.",
}
"""Candidates of exercise 1, for a tool with the parameters query, limit and cursor, called with
limit=10.
"""

RESULTS = (
    {"total_matches": 241, "shown": 30, "items": ["…"], "next_cursor": "…"},
    {"total_matches": 0, "shown": 0, "items": [], "next_cursor": None},
    {"total_matches": 3, "shown": 3, "items": ["…"], "next_cursor": None},
)
"""Results of exercise 3, in which the order that is asked for does not appear."""


def exercise_1(answer: object) -> None:
    """The one note that says which limit held and names a parameter that goes on."""
    hints = {
        "a": "it does not say what to do next.",
        "b": "the tool has no parameter of that name, so an agent has to guess.",
        "c": "the call had limit=10 already: an agent that obeys asks the same again.",
    }
    letter = answer.strip().lower() if isinstance(answer, str) else answer
    say(
        answer,
        lambda _: letter == "d",
        "it says which limit held, and the parameter that it names exists and goes on.",
        hints.get(letter, "answer with one letter, such as 'a'.")
        if isinstance(letter, str)
        else "answer with a letter.",
    )


def exercise_2(answer: object) -> None:
    """(rows by halving, rows by exact fitting) for 50 rows of 75 tokens, a frame of 80, a budget of
    900.
    """
    say(
        answer,
        lambda pair: list(pair) == [6, 10],
        "halving tries 50, 25, 12 and 6; exact fitting takes (900 - 80) // 75 = 10.",
        "a page of n rows costs 80 + 75 n. Halving tries 50, 25, 12, …; exact fitting takes the largest n that fits.",
    )


def exercise_3(answer: object) -> None:
    """Whether each of `RESULTS` lets the model say that an order does not exist."""
    say(
        answer,
        lambda verdicts: list(verdicts) == [False, True, True],
        "only a result that shows everything that matches can prove that a row is not there.",
        "compare shown with total_matches: what about the rows that are not shown?",
    )
