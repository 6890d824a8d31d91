"""Checks for notebook 06, refs and windows."""

from workbook.checks import Verdict, exercise

_STEPS = ("redact", "cut", "encode", "count")
"""The right order of exercise 2."""


@exercise
def exercise_1(answer: set[str]) -> Verdict:
    """*answer* is the set of the names of the fields that belong behind a ref.

    Correct: large, and seldom needed. A ref to tags would cost as much as the tags.

    Not yet: a ref costs about nine tokens in every row, and a second call when it is used: what is
    worth that?
    """
    return set(answer) == {"html_body", "screenshot"}


@exercise
def exercise_2(answer: list[str]) -> Verdict:
    """*answer* is the list of the four steps, first to last.

    Correct: whole text, then characters, then the final text.

    Not yet: give the four steps as a list.
    """
    place = {step: i for i, step in enumerate(answer)} if isinstance(answer, list | tuple) else {}
    if tuple(answer) == _STEPS or set(place) != set(_STEPS):
        return tuple(answer) == _STEPS
    if place["redact"] > place["cut"]:
        return False, "a secret that lies across the cut would no longer be recognised."
    if place["cut"] > place["encode"]:
        return False, "cut before you encode, or the cut may fall inside a character or an escape."
    return False, "count what is really sent."


@exercise
def exercise_3(answer: tuple[int, float]) -> Verdict:
    """*answer* is (windows for all, windows on average) for 90,000 characters and windows of 8,000.

    Correct: twelve for all of it, half of that on average; and the turn after each window reads
    them all again.

    Not yet: how many windows does the whole take, the last one short? If the fact is as likely
    anywhere, half way.
    """
    return answer[0] == 12 and 6 <= answer[1] <= 6.5
