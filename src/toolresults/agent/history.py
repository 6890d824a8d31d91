"""Less history in each request, without breaking it: clear old tool results, keep a window of
turns, or summarise.

    send = clear_tool_results(messages, api="openai", trigger=20_000, clear_at_least=5_000)
    run(client, question, tools, model=…, trim=partial(window, api="openai", turns=8))

Each takes the whole history, which the program keeps, and gives what to send: a new list of the
same messages, none of them changed. Calls and their results stay together, and any history that an
API accepts is still accepted.

A decision must come out the same when it is made again on a longer history: else the beginning of
the request changes every turn, and a provider's prompt cache with it. So each function replays the
history group by group, and acts wherever it would have acted then. It follows that trimming twice
changes nothing, and that a program may as well keep only what it sent last, and go on from there.
"""

from collections.abc import Callable, Sequence

from ..tokens import count_tokens, to_json
from .clearing import CLEAR_AT_LEAST, CLEARED, KEEP, TRIGGER, clear_tool_results
from .groups import Message, begin_at, groups, is_system, sizes
from .usage import Ledger, Usage
from .wire import turns as turns_of

__all__ = [
    "CLEARED", "CLEAR_AT_LEAST", "KEEP", "SUMMARY", "TRIGGER", "Remembered", "clear_tool_results", "summarise", "window"
]  # fmt: skip

SUMMARY = "[Summary of the conversation so far]\n"
"""How the user message with a summary begins."""


def window(
    messages: Sequence[Message], *, api: str, turns: int, every: int = 1, note: str = ""
) -> list[Message]:
    """The newest `turns` turns, with the system messages and the question that they belong to.

    With `every` above 1 the window moves that many turns at a time: it holds `turns` to `turns +
    every - 1`, and the beginning of the request stays the same in between. `note` is a user message
    in place of what was left out; without one, nothing tells the model that something was. Raises
    `ValueError` for `turns` or `every` under 1.
    """
    if turns < 1 or every < 1:
        raise ValueError(f"turns and every must be at least 1, got {turns} and {every}")
    found = turns_of(api, messages)
    dropped = max(len(found) - turns, 0) // every * every
    if not dropped:
        return list(messages)
    return begin_at(
        api,
        messages,
        found[dropped].start,
        note,
        lambda message: bool(note) and message["content"] == note,
    )


def summarise(
    messages: Sequence[Message],
    *,
    api: str,
    summary: Callable[[list[Message]], str],
    keep: int = KEEP,
    trigger: int = TRIGGER,
    clear_at_least: int = CLEAR_AT_LEAST,
) -> list[Message]:
    """The newest `keep` turns, and a summary of all that came before them.

    Whenever the messages pass `trigger` tokens, and those before the newest `keep` turns hold
    `clear_at_least` or more, they give way to a user message with the text of `summary(older)`.
    `older` holds no system message, since those stay; the summary before, if there was one, stands
    at its beginning.

    A replay asks for the same summaries again. Wrap a function that costs something, or that does
    not always say the same, in `Remembered`, which also meters it. Raises `ValueError` for `keep`
    under 1 or a negative number.
    """
    if keep < 1 or trigger < 0 or clear_at_least < 0:
        raise ValueError(
            f"keep must be at least 1, the rest not negative: got {keep}, {trigger}, {clear_at_least}"
        )
    all_weights = sizes(api, messages)
    view: list[Message] = []
    weights: list[int] = []
    for group in groups(api, messages):
        view += [messages[i] for i in group]
        weights += [all_weights[i] for i in group]
        found = turns_of(api, view) if sum(weights) > trigger else []
        if len(found) <= keep:
            continue
        start = found[-keep].start
        older = [i for i in range(start) if not is_system(view[i])]
        if sum(weights[i] for i in older) >= clear_at_least:
            text = SUMMARY + summary([view[i] for i in older])
            view = begin_at(api, view, start, text, _is_summary)
            weights = sizes(api, view)
    return view


def _is_summary(message: Message) -> bool:
    return isinstance(message["content"], str) and message["content"].startswith(SUMMARY)


class Remembered:
    """A summary function that is asked once for the same messages, and whose cost is charged.

    - `summary(messages)` gives a text. `instructions` is what it sends to its model besides the
      messages, if anything.
    - `spent` has a `Usage` for each time that it was really asked: the messages and instructions
      read, the text written, counted over `request_text`. Each goes to `ledger` too, if one is
      given. A function that meters its own model calls needs neither.
    """

    def __init__(
        self,
        summary: Callable[[list[Message]], str],
        *,
        api: str,
        instructions: str = "",
        ledger: Ledger | None = None,
    ):
        self.summary, self.api, self.instructions, self.ledger = summary, api, instructions, ledger
        self.spent: list[Usage] = []
        self._known: dict[str, str] = {}

    def __call__(self, messages: list[Message]) -> str:
        key = to_json(messages)
        if key not in self._known:
            text = self._known[key] = self.summary(messages)
            read = sum(sizes(self.api, messages)) + count_tokens(self.instructions)
            self.spent.append(Usage(input=read, output=count_tokens(text)))
            if self.ledger is not None:
                self.ledger.add(self.api, self.spent[-1])
        return self._known[key]
