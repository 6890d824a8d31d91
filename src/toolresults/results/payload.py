"""Large fields behind a reference: a listing shows the ref, a second tool reads the field in
windows.

A model that reads a window and needs more asks again with its `next_offset`.

    window("abc" * 9000, ref="pay_000123", offset=0, max_chars=2000)
    # {"payload_ref":"pay_000123","offset":0,"text":"…","next_offset":2000,"total_chars":27000,
    # "truncated":true}
"""

from ..tokens import count_tokens, to_json
from .budget import BUDGET, BudgetError, clamp, longest_fit
from .redact import redact

CEILING = 8000
"""Most characters that one window shows, whatever is asked: about 2,000 tokens of English."""


class OffsetError(ValueError):
    """An offset outside the payload; its message names the offsets that exist."""


def window(
    text: str,
    *,
    ref: str,
    offset: int = 0,
    max_chars: int = 2000,
    ceiling: int = CEILING,
    budget: int = BUDGET,
    encoding: str = "o200k_base",
) -> str:
    """One window of a large field, as the text of a tool result of at most `budget` tokens.

    `text` is the whole field, not yet redacted: it is redacted here, before the cut, so that no
    secret can lie across two windows. `offset`, `max_chars` and `ceiling` are in characters of the
    redacted text. The windows that `next_offset` leads to give back that text, every character
    once. The cut counts characters, so it splits none.

    Raises `OffsetError` for an offset outside the text, `BudgetError` if not one character fits.
    """
    text = redact(text)
    if not 0 <= offset <= max(len(text) - 1, 0):
        raise OffsetError(
            f"offset {offset} is outside this payload: use 0 to {max(len(text) - 1, 0)}."
        )
    size, changed = clamp("max_chars", max_chars, 1, ceiling)
    size = max(min(size, len(text) - offset), 1)

    def render(chars: int) -> str:
        end = offset + chars
        more = end < len(text)
        result = {
            "payload_ref": ref,
            "offset": offset,
            "text": text[offset:end],
            "next_offset": end if more else None,
            "total_chars": len(text),
            "truncated": more,
        }
        notes = [changed] if changed else []
        if chars < size:
            notes.append(f"The {budget}-token budget cut this window to {chars} characters.")
        if note := " ".join(notes):
            result["note"] = note
        return to_json(result)

    shown = render(size)
    if count_tokens(shown, encoding) > budget:
        shown = longest_fit(render, budget, encoding, most=size)
    if not shown:
        raise BudgetError(
            f"a budget of {budget} tokens cannot hold a window of this payload: raise it"
        )
    return shown
