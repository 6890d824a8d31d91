"""Runs the tool calls of one turn: at the same time, each within its time limit, and every call
gets an answer.

    answers = execute(calls_of("openai", message), {"add": Tool(add)}, timeout=5.0)
    [answer.id for answer in answers]  # in the order of the calls, whichever ended first

Nothing that a model or a tool does raises here. An unknown tool, arguments that are no JSON, an
exception, an empty result, a tool that hangs, a call that keeps failing: each becomes an answer
that the model can read.
"""

import contextvars
import json
import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

from ..results.shape import clean, cut
from ..tokens import count_tokens, repair, to_json
from .calllog import log_call
from .failures import FailureMemory
from .wire import UNPARSED, Call

logger = logging.getLogger(__name__)

TIMEOUT = 30.0
"""Seconds that one call may take, unless said otherwise."""

AT_ONCE = 8
"""Calls that run at the same time, unless said otherwise: what an ordinary API server bears from
one client.
"""


class Runnable(Protocol):
    """What `execute` needs of a tool; `toolresults.tools.Tool` has it."""

    name: str

    def call(self, arguments: Mapping[str, object] | str) -> Any: ...


@dataclass(frozen=True)
class Answer:
    """What goes back to the model for one call, and how the call went.

    `ms` is how long the tool ran, in milliseconds. `status` is "ok", "error" (the tool's own error
    result, or an exception), "timeout", "unknown_tool", "bad_json" (arguments that never parsed),
    "repeated" (failed too often before) or "not_run" (the model's reply was cut off or stopped).
    """

    id: str
    name: str
    text: str
    is_error: bool
    ms: float
    status: str

    @cached_property
    def tokens(self) -> int:
        """Exact tokens of `text` (o200k_base)."""
        return count_tokens(self.text)


def execute(
    calls: Sequence[Call],
    tools: Mapping[str, Runnable],
    *,
    timeout: float | Mapping[str, float] = TIMEOUT,
    at_once: int = AT_ONCE,
    memory: FailureMemory | None = None,
    save: Callable[[Answer], object] | None = None,
    log: logging.Logger | None = None,
    turn: int = 1,
    tags: Mapping[str, object] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Answer]:
    """Runs `calls`, at most `at_once` at the same time, and returns one answer a call, in the order
    of the calls.

    `timeout` is in seconds, one for all tools or by tool name. A call that is over it is answered,
    and its thread left behind: Python cannot stop a thread, but it no longer counts and does not
    keep the process from ending. `save` and the log see each answer as soon as its call ends, in
    the caller's thread. Tools see the caller's context variables, and run in threads of their own:
    one that calls `asyncio.run` works in Jupyter too. Raises `ValueError` for an `at_once` under 1,
    and whatever `save` raises.
    """
    if at_once < 1:
        raise ValueError(f"at_once must be at least 1, got {at_once}")
    memory = FailureMemory() if memory is None else memory
    ended: queue.SimpleQueue[tuple[int, Answer]] = queue.SimpleQueue()
    keys = [memory.key(call) for call in calls]
    waiting, running, answers = (
        list(range(len(calls))),
        {},
        {},
    )  # running: index → when its time is over

    def done(index: int, answer: Answer) -> None:
        answers[index] = answer
        log_call(log, calls[index].arguments, answer, turn=turn, tags=tags)
        if save:
            save(answer)

    while waiting or running:
        for index in list(waiting):
            call, key = calls[index], keys[index]
            answer = _refusal(call, tools) or _repeated(call, key, memory)
            if answer:
                waiting.remove(index)
                done(index, answer)
            # of equal calls no more run at once than may still fail: the third waits to see how the
            # first two end
            elif (
                len(running) < at_once
                and memory.failures(key) + [keys[i] for i in running].count(key) < memory.most
            ):
                waiting.remove(index)
                running[index] = time.monotonic() + _limit(timeout, call.name)
                _start(
                    partial(_run, call, tools[call.name], clock),
                    lambda answer, i=index: ended.put((i, answer)),
                )
        if not running:
            continue
        try:
            until = min(running.values()) - time.monotonic()
            index, answer = ended.get(timeout=min(max(until, 0), threading.TIMEOUT_MAX))
        except queue.Empty:
            index = min(running, key=running.get)
            answer = _timed_out(calls[index], _limit(timeout, calls[index].name))
        if running.pop(index, None) is not None:  # None: it was answered already, as timed out
            memory.note(keys[index], answer)
            done(index, answer)
    return [answers[index] for index in range(len(calls))]


def not_run(calls: Sequence[Call], why: str) -> list[Answer]:
    """Answers to calls that must not be run: every one an error that says `why`."""
    return [_error(call, f"This call was not run: {why}", "not_run") for call in calls]


def _limit(timeout: float | Mapping[str, float], name: str) -> float:
    return timeout.get(name, TIMEOUT) if isinstance(timeout, Mapping) else timeout


def _start(work: Callable[[], Answer], put: Callable[[Answer], None]) -> None:
    # each thread gets its own copy of the context: threads do not inherit one, and one cannot be
    # entered twice
    run = contextvars.copy_context().run
    # a daemon: a thread of a pool that hangs would be waited for when Python exits
    threading.Thread(target=lambda: put(run(work)), daemon=True, name="tool").start()


def _run(call: Call, tool: Runnable, clock: Callable[[], float]) -> Answer:
    start = clock()
    try:
        result = tool.call(call.arguments)
        text, is_error = repair(result.text), bool(result.is_error)
    except (
        BaseException
    ) as error:  # SystemExit too: a thread that dies silently would look like one that hangs
        logger.exception("tool %s failed", call.name)
        text = _message(
            f"{call.name} failed ({type(error).__name__}). This is not caused by your arguments."
        )
        is_error = True
    ms = round((clock() - start) * 1000, 1)
    return Answer(
        call.id, call.name, text if text.strip() else "(no output)", is_error, ms, _status(is_error)
    )


def _status(is_error: bool) -> str:
    return "error" if is_error else "ok"


def _refusal(call: Call, tools: Mapping[str, Runnable]) -> Answer | None:
    """The answer to a call that names no tool, or whose arguments never became JSON."""
    if call.name not in tools:
        names = cut(", ".join(tools), 1_000) or "none"
        return _error(
            call,
            f'There is no tool "{cut(str(call.name), 60)}". The tools are: {names}.',
            "unknown_tool",
        )
    if _never_parsed(call.arguments):
        return _error(
            call, "The arguments must be one JSON object; these cannot be read as one.", "bad_json"
        )
    return None


def _never_parsed(arguments: str | Mapping[str, object]) -> bool:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            return True
    return isinstance(arguments, Mapping) and list(arguments) == [UNPARSED]


def _repeated(call: Call, key: str, memory: FailureMemory) -> Answer | None:
    if memory.failures(key) < memory.most:
        return None
    told = (
        f"This call failed {memory.most} times with the same arguments, so it was not run again. Change the arguments, "
        f"use another tool, or answer without it. Its last error: {cut(memory.last_error(key), 200)}"
    )
    return _error(call, told, "repeated")


def _timed_out(call: Call, limit: float) -> Answer:
    told = f"{call.name} did not end within {limit:g} seconds. It may still take effect. Ask for less, or do without it."
    return _error(call, told, "timeout", ms=limit * 1000)


def _error(call: Call, message: str, status: str, ms: float = 0.0) -> Answer:
    return Answer(call.id, call.name, _message(message), True, ms, status)


def _message(message: str) -> str:
    """An error in the form that `Tool` gives its own."""
    return to_json({"error": " ".join(clean(repair(message)).split())})
