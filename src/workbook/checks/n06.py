"""Checks for notebook 06, refs and windows."""

from workbook.checks import say

FIELDS = {
    "ticket_id": (6, 90),
    "subject": (14, 80),
    "summary": (60, 85),
    "tags": (9, 2),
    "html_body": (4_200, 10),
    "screenshot": (61_000, 1),
}
"""Fields of exercise 1: tokens of a usual value, and the share of questions that need it, in per
cent.
"""

STEPS = ("redact", "cut", "encode", "count")
"""The right order of exercise 2."""


def exercise_1(answer: object) -> None:
    """*answer* is the set of the names in `FIELDS` that belong behind a ref."""
    say(
        answer,
        lambda answer: not isinstance(answer, str) and set(answer) == {"html_body", "screenshot"},
        "large, and seldom needed. A ref to tags would cost as much as the tags.",
        "a ref costs about nine tokens in every row, and a second call when it is used: what is worth that?",
    )


def exercise_2(answer: object) -> None:
    """*answer* is the list of `STEPS`, first to last."""
    place = (
        {step: i for i, step in enumerate(answer)}
        if isinstance(answer, list | tuple) and answer
        else {}
    )
    hint = "give the four steps as a list."
    if set(place) == set(STEPS):
        if place["redact"] > place["cut"]:
            hint = "a secret that lies across the cut would no longer be recognised."
        elif place["cut"] > place["encode"]:
            hint = "cut before you encode, or the cut may fall inside a character or an escape."
        else:
            hint = "count what is really sent."
    say(
        answer,
        lambda answer: tuple(answer) == STEPS,
        "whole text, then characters, then the final text.",
        hint,
    )


def exercise_3(answer: object) -> None:
    """*answer* is (windows for all, windows on average) for 90,000 characters and windows of
    8,000.
    """
    say(
        answer,
        lambda answer: answer[0] == 12 and 6 <= answer[1] <= 6.5,
        "twelve for all of it, half of that on average; and the turn after each window reads them all again.",
        "how many windows does the whole take, the last one short? If the fact is as likely anywhere, half way.",
    )
