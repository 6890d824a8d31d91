"""Checks for benchmark b1, tokens and money of each turn."""

from workbook.checks import Verdict, exercise

_OTHER_LINES = {
    "small budget": "it has a small bill, and few answers to divide it by.",
    "naive": "it answers everything, and look at its bill.",
    "refs": "the cheapest without code: one line answers more, for less money.",
    "clearing": "it answers as many as refs, for a little more money.",
}
"""What to say to a wrong answer of exercise 3."""


@exercise
def exercise_1(answer: str) -> Verdict:
    """Which line reads fewer tokens than refs, raises Claude's bill, and answers as many questions.

    Correct: it reads a third fewer tokens than refs, and pays for writing the cache again, and for
    calls made again.

    Not yet: two lines have a plus under change: compare what they answer (correct and recoverable)
    with refs.
    """
    return answer.strip().lower() == "clearing"


@exercise
def exercise_2(answer: int) -> Verdict:
    """After how many turns a round of clearing has paid for the cache that it breaks: it frees
    12,000 tokens, and 6,000 stand behind the first change.

    The prices are Claude Sonnet's in US dollars a million tokens, 3.75 for a cache write and 0.30
    for a cached read: the numbers of the exercise, which do not follow the price table.

    Correct: writing again costs 20,700 units more than reading, and each turn saves 3,600.

    Not yet: compare what writing the rest again costs more than reading it, once, with what not
    reading the freed tokens saves, each turn.
    """
    once, each = 6_000 * (3.75 - 0.30), 12_000 * 0.30
    return answer == -(-once // each)


@exercise
def exercise_3(answer: str) -> Verdict:
    """The line that costs least for an answer.

    Correct: all eighteen answers, and the smallest bill too. Without code it is refs.

    Not yet: answer with the name of a line, such as 'cap'.
    """
    line = answer.strip().lower()
    otherwise = "divide each bill by the answers that it bought."
    return line == "code" or (False, _OTHER_LINES.get(line, otherwise))
