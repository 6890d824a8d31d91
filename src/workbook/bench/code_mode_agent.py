"""What the scripted model says to answer a question in each way: by plain calls, by calls that it
finds, or by code.

The model of this script makes no mistake; `code_mode_mistakes` has those.
"""

import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from toolresults.agent.groups import Message
from toolresults.agent.reply import Reply
from toolresults.agent.wire import answered, blocks

from .code_mode_questions import Dialogue, Question
from .code_mode_schemas import tool_name


def by_tool(dialogue: Dialogue) -> Dialogue:
    """The same dialogue with the names of tools in place of paths."""
    results = None
    while True:
        try:
            calls = dialogue.send(results)
        except StopIteration as done:
            return done.value
        results = yield [(tool_name(path), arguments) for path, arguments in calls]


def plain(question: Question, at_once: bool = True) -> Dialogue:
    """With a tool for every function: independent calls in one turn, or one call a turn."""
    return by_tool(question.plain(at_once))


def found(question: Question) -> Dialogue:
    """With tools whose definitions are found first."""
    results = yield [("find_tools", {"query": text}) for text in question.searches]
    must_show(results, map(tool_name, question.needs))
    return (yield from plain(question))


def ready_made(question: Question) -> Dialogue:
    """With one tool that was made for the week's question."""
    [owners] = yield [("follow_up_overdue", {"team": "sales"})]
    return question.answer(owners)


def search(question: Question, detail: str = "full") -> Dialogue:
    """The turn in which the model looks for the functions that a question needs."""
    results = yield [("search", {"query": text, "detail": detail}) for text in question.searches]
    must_show(results, (path.partition(".")[2] for path in question.needs))


def must_show(results: Sequence[Any], names: Iterable[str]) -> None:
    """Raises `LookupError` for a name that the results do not show: the model could not have used
    it.
    """
    text = str(results)
    if hidden := [name for name in names if name not in text]:
        raise LookupError(f"the search did not find {', '.join(hidden)}")


def code(
    question: Question, language: str = "python", searches: Sequence[str] = ("full",)
) -> Dialogue:
    """With `search` and `execute`: a search for each detail in `searches`, then the code, then the
    answer.
    """
    for detail in searches:
        yield from search(question, detail)
    [ran] = yield [("execute", {"code": question.code[language]})]
    return question.answer(ran["value"])


def policy(api: str, dialogue: Dialogue) -> Callable[[Sequence[Message]], Reply]:
    """The dialogue as a policy of a scripted model, for one question."""
    started = False

    def next_reply(messages: Sequence[Message]) -> Reply:
        nonlocal started
        results, started = newest_results(api, messages) if started else None, True
        try:
            return Reply(calls=dialogue.send(results))
        except StopIteration as done:
            return Reply(done.value)

    return next_reply


def newest_results(api: str, messages: Sequence[Message]) -> list[Any]:
    """What the calls of the newest turn gave, in order: JSON parsed, other text as it is."""
    turn = []
    for message in reversed(messages):
        if not answered(api, message):
            break
        turn.insert(0, message)
    if api == "openai":
        texts = [message["content"] for message in turn]
    else:
        texts = [block["content"] for message in turn for block in blocks(message, "tool_result")]
    return [_parsed(text) for text in texts]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
