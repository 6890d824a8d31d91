"""Checks for the exercises of 11_code_mode."""

from . import say

CHOICES = {"morning": "ready-made", "booking": "plain", "analyst": "code"}
"""What to give the model in each situation of exercise 1."""

HINTS = {
    "morning": "the question is always the same: who should work out how to answer it, the model or you, once?",
    "booking": "how much do six definitions weigh, against a search and a piece of code in every question?",
    "analyst": "300 definitions in every turn, many rows, and no question that you could prepare for.",
}


def exercise_1(answer: object) -> None:
    """*answer* is a dict like `CHOICES`."""
    wrong = [
        name
        for name in CHOICES
        if not isinstance(answer, dict) or answer.get(name) != CHOICES[name]
    ]
    say(
        answer,
        not wrong,
        "a tool for what is asked often, few tools for few functions, code for what nobody could prepare.",
        HINTS[wrong[0]] if wrong else "",
    )


def exercise_2(answer: object) -> None:
    """*answer* is the first whole number at which code mode reads fewer: 2 and 3 turns, 120, 400
    and 1,200 tokens.
    """
    hint = "what does code mode read in all its turns? What does one more function add to all turns of the other way?"
    tie = "with 10 functions both ways read the same: from how many on does code mode read fewer?"
    say(
        answer,
        lambda functions: functions == (3 * 400 + 1_200) // (2 * 120) + 1,
        "code mode reads 3 × 400 + 1,200 = 2,400 tokens. So do 10 functions the other way, 2 × 120 each; 11 are more.",
        tie if isinstance(answer, int | float) and answer == 10 else hint,
    )


def exercise_3(answer: object) -> None:
    """*answer* is the name of the function that lets code choose the tenant."""
    say(
        answer,
        lambda name: str(getattr(name, "__name__", name)).removesuffix("()") == "list_notes",
        "whatever stands in the signature, the code may give; also what has a default.",
        "which function takes something from the code that the host alone should know?",
    )
