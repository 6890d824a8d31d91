"""Checks for notebook 01, naive measurement."""

from collections.abc import Callable

from toolresults.tokens import count_tokens, estimate_tokens, repair
from workbook.checks import say, tried

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


def exercise_1(answer: object) -> None:
    """A guard, ``fits(text, budget)``, that never lets a text through that is over the budget, and
    no other back.
    """
    wrong = _first_wrong(answer) if callable(answer) else None
    if not callable(answer):
        hint = "give a function of (text, budget) that returns True or False."
    elif wrong:
        hint = f"wrong for {wrong}. What does the model pay for: characters, or tokens?"
    else:
        hint = ""
    right = "it is exact, whatever the script, and never raises."
    say(answer, lambda guard: callable(guard) and wrong is None, right, hint)


def _first_wrong(guard: Callable[[str, int], object]) -> str | None:
    for name, text in _TEXTS.items():
        exact = count_tokens(text)
        for budget in (exact, exact - 1):
            try:
                if bool(guard(text, budget)) != (exact <= budget):
                    return name
            except Exception as error:
                return f"{name} (it raised {type(error).__name__})"
    return None


def exercise_2(answer: object) -> None:
    """Which limits the 386,560 tokens of runpod/runpod-mcp issue 3 are over."""
    limits = {"cap of 25,000": True, "window of 200,000": True, "window of 1,000,000": False}
    hint = "use the three names as keys, each with True (386,560 is over it) or False."
    if isinstance(answer, dict) and set(answer) == set(limits):
        hint = "compare 386,560 with each of the three numbers."
    right = "15 times a cap is under twice one window, and well inside the other. Always ask: times what?"
    say(answer, lambda given: given == limits, right, hint)


def exercise_3(answer: object) -> None:
    """A tool result of the reader's own, as text."""
    good = isinstance(answer, str) and len(answer) >= 20
    right = ""
    if good and tried(answer):
        text = repair(answer)
        exact, estimate = count_tokens(text), estimate_tokens(text)
        error = 100 * (estimate - exact) / exact
        side = "low" if error < 0 else "high"
        right = f"{exact:,} tokens; the estimate says {estimate:,}, which is {abs(error):.0f}% too {side}."
    say(
        answer,
        good,
        right,
        "give the text of one of your tool results, of 20 characters or more, as a str.",
    )
