"""Checks for notebook 01, naive measurement."""

from collections.abc import Callable

from toolresults.tokens import count_tokens, estimate_tokens, repair
from workbook.checks import Verdict, exercise

_TEXTS = {
    "Japanese, which the estimate takes for small": "荷物は火曜日に届きました。" * 40,
    "base64, which the estimate takes for small": "8J+TpkxpZ2h0IGJyb2tlbiwgc2VuZCBhIG5ldyBvbmU"
    * 20,
    "a run of one letter, which the estimate takes for large": "x" * 4_000,
    "a run of spaces, which the estimate takes for large": " " * 40_000,
    "English": "The lamp inside was broken. " * 50,
    "text that looks like a special token": "<|endoftext|>" * 30,
    "half a character": "a\ud83d b" * 60,
    "no text at all": "",
}
"""What a guard meets. For each, the budget is once exactly enough and once a token too small."""


@exercise
def exercise_1(guard: Callable[[str, int], object]) -> Verdict:
    """A guard, ``fits(text, budget)``, that never lets a text through that is over the budget, and
    no other back.

    Correct: it is exact, whatever the script, and never raises.

    Not yet: give a function of (text, budget) that returns True or False.
    """
    pays = "What does the model pay for: characters, or tokens?"
    for name, text in _TEXTS.items() if callable(guard) else ():
        exact = count_tokens(text)
        for budget in (exact, exact - 1):
            try:
                if bool(guard(text, budget)) != (exact <= budget):
                    return False, f"wrong for {name}. {pays}"
            except Exception as error:
                return False, f"wrong for {name} (it raised {type(error).__name__}). {pays}"
    return callable(guard)


@exercise
def exercise_2(answer: dict[str, bool]) -> Verdict:
    """Which limits the 386,560 tokens of runpod/runpod-mcp issue 3 are over.

    Correct: 15 times a cap is under twice one window, and well inside the other. Always ask: times
    what?

    Not yet: use the three names as keys, each with True (386,560 is over it) or False.
    """
    limits = {"cap of 25,000": True, "window of 200,000": True, "window of 1,000,000": False}
    if answer != limits and set(answer) == set(limits):
        return False, "compare 386,560 with each of the three numbers."
    return answer == limits


@exercise
def exercise_3(answer: str) -> Verdict:
    """A tool result of the reader's own, as text.

    Not yet: give the text of one of your tool results, of 20 characters or more, as a str.
    """
    if not isinstance(answer, str) or len(answer) < 20:
        return False
    text = repair(answer)
    exact, estimate = count_tokens(text), estimate_tokens(text)
    error = 100 * (estimate - exact) / exact
    off = f"which is {abs(error):.0f}% too {'low' if error < 0 else 'high'}"
    return True, f"{exact:,} tokens; the estimate says {estimate:,}, {off}."
