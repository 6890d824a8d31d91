"""A history in groups, which no trimming may cut, and their weight.

A group is a turn (an assistant message, with the messages that answer its calls) or a single
message outside of turns.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..tokens import count_many
from .request_text import message_parts
from .wire import answered, blocks, is_question, turns

Message = Mapping[str, Any]


def groups(api: str, messages: Sequence[Message]) -> Iterator[range]:
    """The groups in order, as ranges of the messages' numbers."""
    at = 0
    for turn in turns(api, messages):
        yield from (range(i, i + 1) for i in range(at, turn.start))
        yield range(turn.start, turn.stop)
        at = turn.stop
    yield from (range(i, i + 1) for i in range(at, len(messages)))


def sizes(api: str, messages: Sequence[Message]) -> list[int]:
    """Tokens of each message, over the text of `request_text`."""
    texts = [[part.text for part in message_parts(api, message)] for message in messages]
    counts = iter(count_many([text for parts in texts for text in parts]))
    return [sum(next(counts) for _ in parts) for parts in texts]


def is_system(message: Message) -> bool:
    """Whether a message is a system prompt, or instructions that came later (OpenAI; Anthropic's
    are no messages).
    """
    return message["role"] in ("system", "developer")


def begin_at(
    api: str, messages: Sequence[Message], start: int, first: str, ours: Callable[[Message], bool]
) -> list[Message]:
    """The history from the turn at `start` on, with what it cannot do without before it.

    That is the system messages, then `first` as a user message if it is not empty, then the
    question that the turn works on: Anthropic wants a user message first, and the model wants to
    know what it is doing. `ours(message)` tells an earlier `first` from a question.
    """

    def asks(i: int) -> bool:
        return i >= 0 and is_question(api, messages[i]) and not ours(messages[i])

    end = next((i for i in range(start - 1, -1, -1) if asks(i)), -1) + 1
    begin = end
    while asks(begin - 1) and not (begin < end and answered(api, messages[begin])):
        begin -= 1
    kept = [message for message in messages[:start] if is_system(message)]
    kept += [{"role": "user", "content": first}] if first else []
    kept += [_without_results(api, message) for message in messages[begin:end]]
    return [*kept, *messages[start:]]


def _without_results(api: str, message: Message) -> Message:
    """A question without the tool results in its message (Anthropic), whose calls are left out."""
    if not answered(api, message):
        return message
    return {
        **message,
        "content": [block for block in blocks(message) if block["type"] != "tool_result"],
    }
