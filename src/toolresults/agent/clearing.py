"""Clearing: old tool results become placeholders, in rounds, so that a prompt cache is broken
seldom and on purpose.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from ..tokens import count_many
from .groups import Message, groups, sizes
from .request_text import message_parts
from .wire import answered, blocks, calls_of

TRIGGER = 100_000
"""Tokens of messages above which trimming begins: the default of Anthropic's context editing."""

KEEP = 3
"""Newest tool results that are never cleared: the default of Anthropic's context editing."""

CLEAR_AT_LEAST = 20_000
"""Tokens that one round must free. Anthropic's default is none; its page advises a value where a
cache is used.
"""

CLEARED = "[Cleared to save context: "
"""How every placeholder begins. A result that begins so has been cleared already."""


def clear_tool_results(
    messages: Sequence[Message],
    *,
    api: str,
    keep: int = KEEP,
    trigger: int = TRIGGER,
    clear_at_least: int = CLEAR_AT_LEAST,
    exclude_tools: Collection[str] = (),
    read_only: Collection[str] = (),
) -> list[Message]:
    """`messages` with old tool results replaced by placeholders; calls, ids, order and all else
    stay as they are.

    Whenever the messages, with what is cleared so far, pass `trigger` tokens, all results but the
    newest `keep` are cleared, if that frees `clear_at_least` tokens: seldom, and much at a time.
    Always kept are results that the model has not read yet, those of `exclude_tools`, and any that
    a placeholder would not make shorter. A placeholder says what was there. For a tool named in
    `read_only` it says to call it again; for any other, not to repeat the call, since that might
    pay or refund twice.

    The parameters are named, and `keep` and `trigger` set, as in Anthropic's
    `clear_tool_uses_20250919` (documentation on context editing), which does this on the server;
    there, `trigger` counts the tools and the system prompt too. Raises `ValueError` for a negative
    number.
    """
    for name, value in {"keep": keep, "trigger": trigger, "clear_at_least": clear_at_least}.items():
        if value < 0:
            raise ValueError(f"{name} must not be negative, got {value}")
    results = list(_results(api, messages, exclude_tools, read_only))
    freed = [0, *accumulate(result.saves for result in results)]
    weights = sizes(api, messages)
    done = seen = unread = size = (
        0  # results cleared, results so far, those of the newest turn, tokens so far
    )
    for group in groups(api, messages):
        answers = sum(len(answered(api, messages[i])) for i in group)
        unread = answers if messages[group.start]["role"] == "assistant" else unread
        seen += answers
        size += sum(weights[i] for i in group)
        upto = seen - max(keep, unread)
        if size > trigger and upto > done and freed[upto] - freed[done] >= max(clear_at_least, 1):
            size -= freed[upto] - freed[done]
            done = upto
    return _replaced(messages, [result for result in results[:done] if result.saves])


class _Result(NamedTuple):
    """A tool result: where it stands, what may stand there instead, and the tokens that this would
    free.
    """

    message: int
    block: int
    cleared: dict[str, Any]
    saves: int


def _results(
    api: str, messages: Sequence[Message], exclude: Collection[str], read_only: Collection[str]
) -> Iterator[_Result]:
    """All tool results, oldest first; one that must stay, or would not get shorter, saves 0."""
    names: dict[str, str] = {}
    for i, message in enumerate(messages):
        names |= {call.id: call.name for call in calls_of(api, message)}
        if not answered(api, message):
            continue
        for j, result in enumerate([message] if api == "openai" else blocks(message)):
            id = result.get("tool_call_id") or result.get("tool_use_id")
            if not id:
                continue
            name, part = names[id], _part(api, result)
            text = part.partition("\n")[2].removesuffix("\n")
            cleared = {**result, "content": _placeholder(name, text, name in read_only)}
            before, after = count_many([part, _part(api, cleared)])
            stays = name in exclude or text.startswith(CLEARED)
            yield _Result(i, j, cleared, 0 if stays else max(before - after, 0))


def _part(api: str, result: Mapping[str, Any]) -> str:
    """The text that a result adds to a request: a header line, its own text, a line break."""
    return message_parts(api, result if api == "openai" else {"role": "user", "content": [result]})[
        0
    ].text


def _placeholder(name: str, text: str, again: bool) -> str:
    advice = (
        "Call it again with the same arguments to see it."
        if again
        else "Do not repeat the call just to see it."
    )
    return f"{CLEARED}the result of {name}, {count_many([text])[0]} tokens. {advice}]"


def _replaced(messages: Sequence[Message], results: Sequence[_Result]) -> list[Message]:
    found = list(messages)
    for i, j, cleared, _ in results:
        if "tool_call_id" in cleared:
            found[i] = cleared
        else:
            content = list(found[i]["content"])
            content[j] = cleared
            found[i] = {**found[i], "content": content}
    return found
