"""Less history in each request, without breaking it: clear old tool results, keep a window of
turns, or summarise.

    send = clear_tool_results(messages, api=OPENAI_CHAT, trigger=20_000, clear_at_least=5_000)
    run(…, trim=partial(window, api=OPENAI_CHAT, turns=8))

Each takes the whole history, which the program keeps, and gives what to send: a new list of the
same messages, none of them changed. Calls and their results stay together, and any history that an
API accepts is still accepted.

A decision must come out the same when it is made again on a longer history: else the beginning of
the request changes every turn, and a provider's prompt cache with it. So each function replays the
history group by group, and acts wherever it would have acted then. It follows that trimming twice
changes nothing, and that a program may as well keep only what it sent last, and go on from there.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from ..tokens import count_many, count_tokens, to_json
from .api import Api, Message, Usage, part
from .bill import Ledger

TRIGGER = 100_000
"""Tokens of messages above which trimming begins: the default of Anthropic's context editing."""

KEEP = 3
"""Newest tool results that are never cleared: the default of Anthropic's context editing."""

CLEAR_AT_LEAST = 20_000
"""Tokens that one round must free. Anthropic's default is none; its page advises a value where a
cache is used."""

CLEARED = "[Cleared to save context: "
"""How every placeholder begins. A result that begins so has been cleared already."""

SUMMARY = "[Summary of the conversation so far]\n"
"""How the user message with a summary begins."""


def clear_tool_results(
    messages: Sequence[Message],
    *,
    api: Api,
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
    results = list(_clearable(api, messages, exclude_tools, read_only))
    freed = [0, *accumulate(result.saves for result in results)]
    weights = api.sizes(messages)
    # results cleared, results so far, those of the newest turn, tokens so far
    done = seen = unread = size = 0
    for group in _groups(api, messages):
        answers = sum(len(api.answered(messages[i])) for i in group)
        unread = answers if messages[group.start]["role"] == "assistant" else unread
        seen += answers
        size += sum(weights[i] for i in group)
        upto = seen - max(keep, unread)
        least = max(clear_at_least, 1)
        if size > trigger and upto > done and freed[upto] - freed[done] >= least:
            size -= freed[upto] - freed[done]
            done = upto
    placeholders: dict[int, dict[str, str | None]] = {}
    for result in results[:done]:
        if result.saves:
            placeholders.setdefault(result.message, {})[result.id] = result.placeholder
    return [
        api.with_results(message, placeholders[i]) if i in placeholders else message
        for i, message in enumerate(messages)
    ]


class _Clearable(NamedTuple):
    """A tool result: its message's number, its call, what may stand there instead, and the tokens
    that this would free: 0 for one that must stay, or would not get shorter."""

    message: int
    id: str
    placeholder: str
    saves: int


def _clearable(
    api: Api, messages: Sequence[Message], exclude: Collection[str], read_only: Collection[str]
) -> Iterator[_Clearable]:
    names: dict[str, str] = {}
    for i, message in enumerate(messages):
        names |= {call.id: call.name for call in api.calls(message)}
        for id, text, header in api.results(message):
            name = names[id]
            again = "Call it again with the same arguments to see it."
            advice = again if name in read_only else "Do not repeat the call just to see it."
            placeholder = f"{CLEARED}the result of {name}, {count_tokens(text)} tokens. {advice}]"
            before, after = count_many(part(header, one).text for one in (text, placeholder))
            stays = name in exclude or text.startswith(CLEARED)
            yield _Clearable(i, id, placeholder, 0 if stays else max(before - after, 0))


def window(
    messages: Sequence[Message], *, api: Api, turns: int, every: int = 1, note: str = ""
) -> list[Message]:
    """The newest `turns` turns, with the system messages and the question that they belong to.

    With `every` above 1 the window moves that many turns at a time: it holds `turns` to
    `turns + every - 1`, and the beginning of the request stays the same in between. `note` is a
    user message in place of what was left out; without one, nothing tells the model that something
    was. Raises `ValueError` for `turns` or `every` under 1.
    """
    if turns < 1 or every < 1:
        raise ValueError(f"turns and every must be at least 1, got {turns} and {every}")
    found = api.turns(messages)
    dropped = max(len(found) - turns, 0) // every * every
    if not dropped:
        return list(messages)
    start = found[dropped].start
    return _begin_at(api, messages, start, note, lambda old: bool(note) and old["content"] == note)


def summarise(
    messages: Sequence[Message],
    *,
    api: Api,
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
        got = f"{keep}, {trigger}, {clear_at_least}"
        raise ValueError(f"keep must be at least 1, the rest not negative: got {got}")
    all_weights = api.sizes(messages)
    view: list[Message] = []
    weights: list[int] = []
    for group in _groups(api, messages):
        view += [messages[i] for i in group]
        weights += [all_weights[i] for i in group]
        found = api.turns(view) if sum(weights) > trigger else []
        if len(found) <= keep:
            continue
        start = found[-keep].start
        older = [i for i in range(start) if not _is_system(view[i])]
        if sum(weights[i] for i in older) >= clear_at_least:
            text = SUMMARY + summary([view[i] for i in older])
            view = _begin_at(api, view, start, text, _is_summary)
            weights = api.sizes(view)
    return view


class Remembered:
    """A summary function that is asked once for the same messages, and whose cost is charged.

    - `summary(messages)` gives a text. `instructions` is what it sends to its model besides the
      messages, if anything.
    - `spent` has a `Usage` for each time that it was really asked: the messages and instructions
      read, the text written. Each goes to `ledger` too, if one is given. A function that meters its
      own model calls needs neither.
    """

    def __init__(
        self,
        summary: Callable[[list[Message]], str],
        *,
        api: Api,
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
            read = sum(self.api.sizes(messages)) + count_tokens(self.instructions)
            self.spent.append(Usage(input=read, output=count_tokens(text)))
            if self.ledger is not None:
                self.ledger.add(self.api, self.spent[-1])
        return self._known[key]


def _groups(api: Api, messages: Sequence[Message]) -> Iterator[range]:
    """The groups, which no trimming may cut, as ranges of the messages' numbers: a turn, or a
    single message outside of turns."""
    at = 0
    for turn in api.turns(messages):
        yield from (range(i, i + 1) for i in range(at, turn.start))
        yield range(turn.start, turn.stop)
        at = turn.stop
    yield from (range(i, i + 1) for i in range(at, len(messages)))


def _begin_at(
    api: Api, messages: Sequence[Message], start: int, first: str, ours: Callable[[Message], bool]
) -> list[Message]:
    """The history from the turn at `start` on, with what it cannot do without before it.

    That is the system messages, then `first` as a user message if it is not empty, then the
    question that the turn works on: Anthropic wants a user message first, and the model wants to
    know what it is doing. `ours(message)` tells an earlier `first` from a question. Where a
    question shares its message with results (Anthropic), those are left out, as their calls are.
    """

    def asks(i: int) -> bool:
        return i >= 0 and api.is_question(messages[i]) and not ours(messages[i])

    end = next((i for i in range(start - 1, -1, -1) if asks(i)), -1) + 1
    begin = end
    while asks(begin - 1) and not (begin < end and api.answered(messages[begin])):
        begin -= 1
    kept = [message for message in messages[:start] if _is_system(message)]
    kept += [{"role": "user", "content": first}] if first else []
    for message in messages[begin:end]:
        gone: Mapping[str, str | None] = dict.fromkeys(api.answered(message))
        kept.append(api.with_results(message, gone) if gone else message)
    return [*kept, *messages[start:]]


def _is_system(message: Message) -> bool:
    """A system prompt, or instructions that came later (OpenAI; Anthropic's are no messages)."""
    return message["role"] in ("system", "developer")


def _is_summary(message: Message) -> bool:
    return isinstance(message["content"], str) and message["content"].startswith(SUMMARY)
