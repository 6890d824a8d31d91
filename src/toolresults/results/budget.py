"""Fitting rows into a budget of exact tokens, with a note that says what was left out and what to
do next.

A page is a JSON object:

    {"total_matches":2481,"shown":50,"items":[…],"note":"…","next_cursor":"…"}

It always parses, never counts one token more than its budget, and holds as many rows as fit.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from ..tokens import count_many, count_tokens, to_json
from .shape import TEXT_CAP

BUDGET = 25_000
"""Tokens that one tool result may take: Claude Code's cap (Anthropic, "Writing effective tools for
agents", 2025).
"""

CUT = "Text cut to fit."
"""Said when not even one row fitted as it was."""

SLACK = 24
"""Most tokens by which note and cursor of two pages of one listing differ."""

SEAMS = 3
"""Most tokens that are saved where the rows and what stands around them touch."""


class BudgetError(ValueError):
    """The host's mistake: a budget too small for any result. Raised to the host, never shown to a
    model.
    """


def clamp(name: str, value: int, least: int, most: int) -> tuple[int, str | None]:
    """`value` within `least` and `most`, and a note for the model if it had to be changed."""
    if value > most:
        return most, f"{name} lowered to {most}, the most allowed."
    if value < least:
        return least, f"{name} raised to {least}, the least allowed."
    return value, None


def largest_fit(
    rows: Sequence[str],
    frame: Callable[[int], tuple[str, str]],
    budget: int,
    encoding: str = "o200k_base",
) -> tuple[int, str]:
    """The largest number of `rows` (JSON texts) that fits the budget, and the text; (0, "") if not
    one row fits.

    `frame(n)` gives what stands before and after the rows when `n` are shown. Since note and cursor
    change with `n`, the length is not quite monotone, and halving or bisecting can miss the best
    page. Instead each row is counted once, which gives nearly the length of every page; from above,
    the search goes down in jumps that cannot pass over a page that fits, and only a page that
    should fit is counted whole: about one exact count a page.
    """
    # A row counted from the letter of its first key, with the `,{"` that follows, costs what it
    # adds to a page: a tokenizer does not join what stands before that letter with the letter.
    costs = count_many([row[2:] + ',{"' for row in rows], encoding)
    below = [0, *accumulate(costs)]
    n = len(rows)
    while n > 0:
        head, tail = frame(n)
        excess = count_tokens(head + tail, encoding) + below[n] - SEAMS - budget
        if excess <= 0:
            text = head + ",".join(rows[:n]) + tail
            if count_tokens(text, encoding) <= budget:
                return n, text
        target = below[n] - max(excess - SLACK, 1)
        n = next((k for k in range(n - 1, 0, -1) if below[k] <= target), 0)
    return 0, ""


def page(
    rows: Sequence[Mapping[str, object]],
    *,
    total: int,
    cursor_after: Callable[[int], str | None],
    budget: int = BUDGET,
    notes: Sequence[str] = (),
    advice: str = "",
    shrink: Callable[[int], Mapping[str, object]] | None = None,
    encoding: str = "o200k_base",
) -> str:
    """The text of one page of a listing.

    - `rows`: the rows that the limit allows, already shaped and redacted.
    - `total`: how many rows match in all.
    - `cursor_after(n)`: the cursor that continues after the first `n` rows, None if nothing remains
      then.
    - `notes`: what else the model must know, such as a limit that was lowered.
    - `advice`: what to add to the note when the budget cuts rows, such as a parameter that makes
      rows smaller.
    - `shrink(max_chars)`: the first row again, its texts cut to so many characters; used if not
      even it fits.

    Raises `BudgetError` if one row does not fit even so.
    """
    texts = [to_json(row) for row in rows]

    def frame(n: int, cut: Sequence[str] = ()) -> tuple[str, str]:
        said = [*notes, *cut]
        if n < len(rows):
            said += [f"The {budget}-token budget cut {len(rows)} rows to {n}.", advice]
            said.append("Pass next_cursor as cursor for more.")
        note = f'"note":{to_json(" ".join(filter(None, said)))},' if said else ""
        head = f'{{"total_matches":{total},"shown":{n},"items":['
        return head, f'],{note}"next_cursor":{to_json(cursor_after(n))}}}'

    n, text = largest_fit(texts, frame, budget, encoding) if rows else (0, "".join(frame(0)))
    if rows and n == 0 and shrink:
        head, tail = frame(1, [CUT])
        text = longest_fit(lambda chars: head + to_json(shrink(chars)) + tail, budget, encoding)
    if not text or count_tokens(text, encoding) > budget:
        raise BudgetError(
            f"a budget of {budget} tokens cannot hold one row of this listing: raise it"
        )
    return text


def longest_fit(
    render: Callable[[int], str], budget: int, encoding: str = "o200k_base", *, most: int = TEXT_CAP
) -> str:
    """`render(chars)` for the largest number of characters, 1 to `most`, found to fit by bisection;
    "" if none is.
    """
    best, low, high = "", 1, most
    while low <= high:
        middle = (low + high) // 2
        text = render(middle)
        if count_tokens(text, encoding) <= budget:
            best, low = text, middle + 1
        else:
            high = middle - 1
    return best
