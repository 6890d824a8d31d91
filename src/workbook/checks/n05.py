"""Checks for notebook 05, a budget and its notes."""

from workbook.checks import Verdict, exercise

_OTHER_NOTES = {
    "a": "it does not say what to do next.",
    "b": "the tool has no parameter of that name, so an agent has to guess.",
    "c": "the call had limit=10 already: an agent that obeys asks the same again.",
}
"""What to say to a wrong answer of exercise 1."""


@exercise
def exercise_1(answer: str) -> Verdict:
    """The one note that says which limit held and names a parameter that goes on.

    Correct: it says which limit held, and the parameter that it names exists and goes on.

    Not yet: answer with a letter.
    """
    letter = answer.strip().lower()
    otherwise = "answer with one letter, such as 'a'."
    return letter == "d" or (False, _OTHER_NOTES.get(letter, otherwise))


@exercise
def exercise_2(answer: tuple[int, int]) -> Verdict:
    """(rows by halving, rows by exact fitting) for 50 rows of 75 tokens, a frame of 80, a budget of
    900.

    Correct: halving tries 50, 25, 12 and 6; exact fitting takes (900 - 80) // 75 = 10.

    Not yet: a page of n rows costs 80 + 75 n. Halving tries 50, 25, 12, …; exact fitting takes the
    largest n that fits.
    """
    return list(answer) == [6, 10]


@exercise
def exercise_3(answer: tuple[bool, bool, bool]) -> Verdict:
    """Whether each of three results, in which the order that is asked for does not appear, lets the
    model say that it does not exist: 30 of 241 shown, 0 of 0, 3 of 3.

    Correct: only a result that shows everything that matches can prove that a row is not there.

    Not yet: compare shown with total_matches: what about the rows that are not shown?
    """
    return list(answer) == [False, True, True]
