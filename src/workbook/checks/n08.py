"""Checks for the exercises of 08_history_trimming."""

from workbook.checks import Verdict, exercise, wrong_names

_TREATMENT = {
    "search_orders": "call again",
    "issue_refund": "do not repeat",
    "ask_customer": "keep",
    "get_order_payload": "call again",
}
"""What to do with old results of each tool of exercise 2."""

_HINTS = {
    "search_orders": "search_orders only reads: what does it cost to call it again?",
    "issue_refund": "what would happen if the model called issue_refund again, just to see its "
    "result?",
    "ask_customer": "can the answer of ask_customer be had again, without asking a person twice?",
    "get_order_payload": "get_order_payload only reads, and its call stays in the history with its "
    "ref.",
}


@exercise
def exercise_1(answer: tuple[int, float]) -> Verdict:
    """*answer* is (tokens of ten calls, times a question of two calls) for b = 2,000 and g = 500.

    Correct: 10 b + 45 g = 42,500, and a question reads 2 b + g = 4,500: 9.4 times as much.

    Not yet: ten calls read 10 b + 45 g; a question of two calls reads b, and then b + g.
    """
    return len(answer) == 2 and answer[0] == 42_500 and abs(answer[1] - 42_500 / 4_500) < 0.06


@exercise
def exercise_2(answer: dict[str, str]) -> Verdict:
    """*answer* says of each tool: "call again", "do not repeat" or "keep".

    Correct: what only reads may be called again, what changes something may not, and what nobody
    can give again stays.
    """
    wrong = wrong_names(answer, _TREATMENT)
    return not wrong or (False, _HINTS[wrong[0]])


@exercise
def exercise_3(answer: float) -> Verdict:
    """*answer* is the number of later calls after which a round of clearing has paid for itself.

    Correct: 16,900 tokens' worth at once, 1,500 saved a call: twelve calls.

    Not yet: at once: what is written, less what the call would have read from the cache. Later: the
    freed tokens, read.
    """
    freed, behind, write, read = 15_000, 16_000, 1.25, 0.1
    at_once = behind * write - (freed + behind) * read
    return at_once / (freed * read) <= answer <= 12
