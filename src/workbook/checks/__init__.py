"""Checks for the exercises: one module a notebook (``n01``, ``n02``, …), each with
``exercise_1(answer)`` and so on.

An exercise cell sets ``answer_1 = ...``; Python's ``...`` (Ellipsis) stands for "not tried yet".
"""

import functools
import inspect
from collections.abc import Callable, Mapping

Verdict = bool | tuple[bool, str]
"""Whether an answer is right, and what to say about it where the docstring's words do not do."""

_NOT_TRIED = (
    "Not tried yet. Replace the ... in the cell above with your answer, then run both cells again."
)


def exercise(judge: Callable[..., Verdict]) -> Callable[[object], None]:
    """Make a check of a function that judges an answer. The check prints "Not tried yet. …", or the
    paragraph of the function's docstring that begins with "Correct:" or "Not yet:", or one of these
    with the text that the function returns beside its verdict.

    An answer of a strange type, or a function of the learner's that raises, is "Not yet" and never
    a traceback: nothing but a keyboard interrupt gets out of here.
    """
    paragraphs = (inspect.getdoc(judge) or "").split("\n\n")
    texts = dict(" ".join(text.split()).partition(": ")[::2] for text in paragraphs)

    @functools.wraps(judge)
    def check(answer: object) -> None:
        try:
            if not _tried(answer):
                print(_NOT_TRIED)
                return
            verdict = judge(answer)
            correct, said = verdict if isinstance(verdict, tuple) else (verdict, "")
            correct = bool(correct)
        except KeyboardInterrupt:
            raise
        except BaseException:  # SystemExit and a native extension's panic included
            correct, said = False, ""
        heading = "Correct" if correct else "Not yet"
        print(f"{heading}: {said or texts.get(heading, '')}")

    return check


def _tried(answer: object) -> bool:
    """Whether *answer* is more than ``...`` (or a list, tuple or dict that still holds one)."""
    if isinstance(answer, dict):
        answer = answer.values()
    elif not isinstance(answer, list | tuple):
        answer = [answer]
    return all(part is not ... for part in answer)


def wrong_names(answer: object, right: Mapping) -> list:
    """The names to which *answer* does not give what *right* gives them: all, if it is no dict."""
    given = answer if isinstance(answer, dict) else {}
    return [name for name, value in right.items() if given.get(name) != value]
