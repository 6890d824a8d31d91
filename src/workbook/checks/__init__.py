"""Checks for the exercises: one module a notebook (``n01``, ``n02``, …), each with
``exercise_1(answer)`` and so on.

An exercise cell sets ``answer_1 = ...``; Python's ``...`` (Ellipsis) stands for "not tried yet".
"""

from collections.abc import Callable

NOT_TRIED = (
    "Not tried yet. Replace the ... in the cell above with your answer, then run both cells again."
)


def tried(answer: object) -> bool:
    """Whether *answer* is more than ``...`` (or a list, tuple or dict that still holds a
    ``...``).
    """
    if isinstance(answer, dict):
        return all(value is not ... for value in answer.values())
    if isinstance(answer, list | tuple):
        return all(value is not ... for value in answer)
    return answer is not ...


def say(answer: object, ok: Callable[[object], object] | bool, right: str, hint: str) -> None:
    """Print "Not tried yet. …", "Correct: *right*" or "Not yet: *hint*".

    Give *ok* as a function of the answer, so that an answer of a strange type, or a function of the
    learner's that raises, is "Not yet" and never a traceback: nothing but a keyboard interrupt gets
    out of here.
    """
    try:
        if not tried(answer):
            print(NOT_TRIED)
            return
        correct = bool(ok(answer) if callable(ok) else ok)
    except KeyboardInterrupt:
        raise
    except BaseException:  # SystemExit and a native extension's panic included
        correct = False
    print(f"Correct: {right}" if correct else f"Not yet: {hint}")
