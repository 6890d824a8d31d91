"""Checks for the exercises of 11_code_mode."""

from workbook.checks import Verdict, exercise, wrong_names

_HINTS = {
    "morning": "the question is always the same: who should work out how to answer it, the model "
    "or you, once?",
    "booking": "how much do six definitions weigh, against a search and a piece of code in every "
    "question?",
    "analyst": "300 definitions in every turn, many rows, and no question that you could prepare "
    "for.",
}


@exercise
def exercise_1(answer: dict[str, str]) -> Verdict:
    """What to give the model in each situation: "ready-made", "plain" or "code".

    Correct: a tool for what is asked often, few tools for few functions, code for what nobody could
    prepare.
    """
    right = {"morning": "ready-made", "booking": "plain", "analyst": "code"}
    wrong = wrong_names(answer, right)
    return not wrong or (False, _HINTS[wrong[0]])


@exercise
def exercise_2(answer: int) -> Verdict:
    """*answer* is the first whole number at which code mode reads fewer: 2 and 3 turns, 120, 400
    and 1,200 tokens.

    Correct: code mode reads 3 × 400 + 1,200 = 2,400 tokens. So do 10 functions the other way, 2 ×
    120 each; 11 are more.

    Not yet: what does code mode read in all its turns? What does one more function add to all turns
    of the other way?
    """
    if answer == 10:
        tie = "with 10 functions both ways read the same"
        return False, f"{tie}: from how many on does code mode read fewer?"
    return answer == (3 * 400 + 1_200) // (2 * 120) + 1


@exercise
def exercise_3(answer: object) -> Verdict:
    """*answer* is the name of the function that lets code choose the tenant.

    Correct: whatever stands in the signature, the code may give; also what has a default.

    Not yet: which function takes something from the code that the host alone should know?
    """
    return str(getattr(answer, "__name__", answer)).removesuffix("()") == "list_notes"
