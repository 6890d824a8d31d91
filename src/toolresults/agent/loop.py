"""The tool loop: one function, `run`, for every API.

    run(OPENAI_CHAT, openai.OpenAI(), "What is 2 + 3?", [Tool(add)], model="gpt-5.4-mini").text

The six steps of a turn, and where they stand:
1. query    the messages so far go to the model, with the tools' definitions (`Run._ask`);
2. decide   the model answers, or asks for calls; its stop reason is read first (`Api.verdict`);
3. call     the calls are read from its message (`Api.calls`);
4. execute  the program, not the model, runs them (`execute`);
5. return   every call gets exactly one answer, in order, in the API's form (`Api.answers`);
6. answer   with the results before it, the model answers or calls again: the next turn.

A plain function: it works where an event loop is running, as in Jupyter. Retries after a lost
connection, HTTP 429, 529 or a server's error, with growing waits, are the SDK's own (`max_retries`
of the client).
"""

import contextvars
import json
import logging
import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from typing import Any

from ..results.shape import clean, cut
from ..tokens import repair, to_json
from .api import UNPARSED, Answer, AnyTool, Api, Call, Message, Received, Request, StreamError
from .bill import Ledger, SpendingLimit, SpendingLimitReached, Turn
from .log import check_tags, log_call
from .transcript import Transcript

logger = logging.getLogger(__name__)

MAX_STEPS = 10
"""Turns that a run may take, unless said otherwise."""

MAX_TOKENS = 4_096
"""Output tokens of one reply, unless said otherwise."""

LARGER = 4
"""How many times `MAX_TOKENS` a reply that was cut may have when it is asked for once more."""

TIMEOUT = 30.0
"""Seconds that one call may take, unless said otherwise."""

AT_ONCE = 8
"""Calls that run at the same time, unless said otherwise: what an ordinary API server bears from
one client."""

MOST_FAILURES = 2
"""Failures after which the same call is not run again."""

_STOPPED = "the program was stopped before the call ended, so it may have taken effect."

STOPS = {
    "answer": "the model answered",
    "max_steps": "all the turns allowed were taken, and their calls answered: a run can go on",
    "length": "the answer was cut off at the limit of tokens, also with a larger limit",
    "stop_sequence": "one of the caller's own stop sequences (Anthropic; to OpenAI an answer)",
    "refusal": "the model declined",
    "content_filter": "the provider's filter took something out (OpenAI)",
    "context_window": "cut off where the context window ends (Anthropic): trim the history",
    "spending_limit": "the next model call could have passed the limit in money, and was not made",
    "unknown": "a stop reason that this loop does not know; no call of that reply was run",
}
"""Every way in which a run ends, as `Outcome.stop`. An exception of the SDK's is raised, with
`.outcome` set."""


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    `messages` is the whole history, never trimmed, every call answered: add a user message and run
    again. `text` is what the model said last, `stop` a key of `STOPS` ("error" on an exception's
    `.outcome`), `turns` the number of turns taken, and `reasons` the API's own stop reason of each.
    """

    messages: list[dict[str, Any]]
    text: str
    stop: str
    turns: int
    reasons: tuple[str, ...] = ()


def run(
    api: Api,
    client: Any,
    messages: str | Sequence[Message],
    tools: Mapping[str, AnyTool] | Sequence[AnyTool],
    **settings: Any,
) -> Outcome:
    """Asks the model, runs the calls that it makes, and asks again, until it answers or has taken
    `max_steps` turns.

    `client` is the SDK's; `messages` is a question or a history, which is not changed. `settings`
    are those of `Run`: `model` is needed, the rest has defaults. The SDK's exceptions are raised,
    with what was done so far as `.outcome`. Raises `ValueError` for an unknown `tool_choice`, two
    tools of one name, and settings that cannot work.
    """
    return Run(api, client, messages, tools, **settings).drive()


@dataclass
class Run:
    """One run: its settings, its history and its meters.

    What is asked:
    - `system`: the system prompt of each request; it is no part of the history.
    - `tool_choice`: "auto", "none", "required", the name of a tool, or the API's own form; what it
      forces holds for the first turn only, or the model could never answer. `parallel=False` asks
      for one call at a time.
    - `max_tokens`: output tokens of one reply. A reply that was cut is asked for once more with
      `LARGER` times as many, in the same turn.
    - `options`: further parameters of the SDK's `create` (thinking, stop_sequences, …).
    - `trim(messages)`: gives what is sent in place of the whole history.

    How calls are run: see `execute` for `timeout` (seconds), `at_once` and `clock`.

    What is kept and told:
    - `on_event(event)`: sees a dict with "event" and "turn": "calling" (name), "answered" (name,
      id, status, ms), "retry" (max_tokens), "stop" (stop) and, if the reply is streamed, "text"
      (text, a piece as it arrives).
    - `transcript`: gets each message before what follows from it, each answer as it comes.
    - `ledger`: gets a row a model call. `log`: a logger (`log.json_log`), gets a record a call.
      Both carry `tags`. `spending`: the most that may be spent.
    """

    api: Api
    client: Any
    messages: Any
    tools: Any
    _: KW_ONLY
    model: str
    system: Any = None
    tool_choice: str | Mapping[str, Any] = "auto"
    parallel: bool = True
    stream: bool = False
    max_tokens: int | None = MAX_TOKENS
    options: Mapping[str, Any] = field(default_factory=dict)
    max_steps: int = MAX_STEPS
    timeout: float | Mapping[str, float] = TIMEOUT
    at_once: int = AT_ONCE
    on_event: Callable[[dict[str, Any]], object] | None = None
    transcript: Transcript | None = None
    ledger: Ledger | None = None
    log: logging.Logger | None = None
    tags: Mapping[str, object] | None = None
    trim: Callable[[list[dict[str, Any]]], Sequence[Message]] | None = None
    spending: SpendingLimit | None = None
    clock: Callable[[], float] = time.perf_counter

    def __post_init__(self) -> None:
        if self.max_steps < 1 or self.at_once < 1:
            got = f"{self.max_steps} and {self.at_once}"
            raise ValueError(f"max_steps and at_once must be at least 1, got {got}")
        given = list(self.tools.values() if isinstance(self.tools, Mapping) else self.tools)
        self.tools = {tool.name: tool for tool in given}
        if len(self.tools) < len(given):
            raise ValueError("two tools have the same name: a model could not tell them apart")
        self.options, self.tags = dict(self.options or {}), check_tags(self.tags)
        names = self.api.limit_names
        self._limit_name = next((name for name in names if name in self.options), names[0])
        self.max_tokens = self.options.pop(self._limit_name, self.max_tokens)
        definitions = [self.api.definition(tool) for tool in given]
        self._request = Request(
            self.model, self.system, definitions, self._choice(), self.parallel, self.stream
        )
        if isinstance(self.messages, str):
            self.messages = [{"role": "user", "content": self.messages}]
        self.messages = list(self.messages)
        if self.transcript is not None:
            if self.transcript.api is not self.api:
                held = self.transcript.api.name
                raise ValueError(
                    f"the transcript is for the API {held}, and this run for {self.api.name}"
                )
            self.transcript.sync(self.messages)
        self.turn, self._memory, self._said, self._row = 0, FailureMemory(), "", None
        self._reasons: list[str] = []
        self._open: dict[str, tuple[Call, Answer | None]] = {}

    def _choice(self) -> Any:
        known_word = isinstance(self.tool_choice, str) and self.tool_choice in self.api.choices
        if not isinstance(self.tool_choice, str) or known_word or self.tool_choice in self.tools:
            return self.api.choice(self.tool_choice, self.parallel)
        known = ", ".join([*self.api.choices, *self.tools])
        raise ValueError(f"unknown tool_choice {self.tool_choice!r}: use {known}")

    def drive(self) -> Outcome:
        """Takes turns until one says how the run ends, or there have been `max_steps`."""
        stop = None
        try:
            while stop is None:
                self.turn += 1
                stop = self._take_turn()
                if stop is None and self.turn >= self.max_steps:
                    stop = "max_steps"
        except SpendingLimitReached:
            stop = "spending_limit"
        except BaseException as error:  # an interrupt in a notebook too: what was done is not lost
            error.outcome = self._outcome("error")
            raise
        self._event("stop", stop=stop)
        return self._outcome(stop)

    def _take_turn(self) -> str | None:
        message, verdict = self._ask(self.max_tokens)
        calls = self.api.calls(message)
        if verdict.refuse is None:
            self._run_calls(calls)
        else:
            self._refuse_calls(calls, verdict.refuse)
        return verdict.end

    def _ask(self, limit: int | None) -> tuple[dict[str, Any], Any]:
        """One model call, and one more with a larger limit if its reply was cut. The message joins
        the history."""
        reply, self._row = self._call(limit)
        if reply.stop == self.api.cut_stop and limit:
            if larger := self._larger(limit * LARGER):
                reply, self._row = larger
        message = _mend(reply.message)
        self._check(message)
        self._reasons.append(reply.stop)
        self._said = self.api.text(message)
        self._open = {call.id: (call, None) for call in self.api.calls(message)}
        if message["content"] != []:  # Anthropic refuses an empty message that is not the last
            self._add([message])
        return message, self.api.verdict(reply.stop, message)

    def _check(self, message: dict[str, Any]) -> None:
        """Raises `StreamError`, with nothing run, for calls that no answer could match: an id
        missing or used."""
        calls = self.api.calls(message)
        if not calls:
            return
        answers = self.api.answers(not_run(calls, _STOPPED))
        broken = self.api.fault([{"role": "user", "content": "?"}, message, *answers])
        before = {call.id for old in self.messages for call in self.api.calls(old)}
        if again := before & {call.id for call in calls}:
            broken = f"the id {sorted(again)[0]} was used before"
        if broken:
            raise StreamError(
                f"the model's calls cannot be answered, so none was run ({broken}): ask again"
            )

    def _larger(self, limit: int) -> tuple[Received, Turn | None] | None:
        self._event("retry", max_tokens=limit)
        try:
            return self._call(limit)
        except SpendingLimitReached:
            return None
        except Exception as error:
            # Refused, as a 400 is for more than this model can write: the first reply is kept,
            # since it was paid for. The SDK itself asks for streaming where a reply may take
            # minutes.
            asks_to_stream = type(error) is ValueError and "treaming" in str(error)
            if getattr(error, "status_code", None) or asks_to_stream:
                return None
            raise

    def _call(self, limit: int | None) -> tuple[Received, Turn | None]:
        """One model call: the reply, and its row in the ledger."""
        sent = self.trim(list(self.messages)) if self.trim else self.messages
        request = self._request
        if self.turn > 1:
            request = replace(request, choice=self.api.unforced(request.choice))
        body = self.api.body(request, list(sent))
        body |= ({self._limit_name: limit} if limit else {}) | self.options
        row = None
        if self.spending:
            with self.spending.hold(self.api, body) as hold:
                reply = self._send(body)
                hold.settle(reply.usage)
        else:
            reply = self._send(body)
        if self.ledger is not None and reply.usage is None:
            logger.warning("the server sent no usage, so the ledger lacks this model call")
        elif self.ledger is not None:
            try:
                model = body["model"]
                row = self.ledger.add(self.api, reply.usage, model=model, tags=self.tags)
            except ValueError as error:  # a reply that was paid for is not lost over an odd usage
                logger.warning("the ledger lacks this model call: %s", error)
        return reply, row

    def _send(self, body: dict[str, Any]) -> Received:
        if not self.stream:
            return self.api.received(self.api.send(self.client, body))
        with self.api.send(self.client, body) as chunks:
            return self.api.assemble(
                chunks, self._calling, lambda piece: self._event("text", text=piece)
            )

    def _calling(self, name: str) -> None:
        """The model calls a tool; in a stream, before its arguments are there."""
        self._event("calling", name=name)

    def _event(self, kind: str, **more: Any) -> None:
        if self.on_event:
            self.on_event({"event": kind, "turn": self.turn, **more})

    def _run_calls(self, calls: Sequence[Call]) -> None:
        for call in () if self.stream else calls:
            self._calling(call.name)
        answers = execute(
            calls, self.tools, timeout=self.timeout, at_once=self.at_once, memory=self._memory,
            save=self._save, log=self.log, turn=self.turn, tags=self.tags, clock=self.clock,
        )  # fmt: skip
        self._give_back(answers)

    def _refuse_calls(self, calls: Sequence[Call], why: str) -> None:
        """Answers calls that must not be run, so that the history can still be sent."""
        answers = not_run(calls, why)
        for call, answer in zip(calls, answers, strict=True):
            log_call(self.log, call.arguments, answer, turn=self.turn, tags=self.tags)
            self._save(answer)
        self._give_back(answers)

    def _save(self, answer: Answer) -> None:
        self._open[answer.id] = (self._open[answer.id][0], answer)
        if self.transcript is not None:
            self.transcript.save_answer(answer)
        self._event("answered", name=answer.name, id=answer.id, status=answer.status, ms=answer.ms)

    def _give_back(self, answers: Sequence[Answer]) -> None:
        if self._row is not None:
            self._row.result_tokens = sum(answer.tokens for answer in answers)
        if answers:
            self._add(self.api.answers(answers))
        self._open = {}

    def _add(self, messages: list[dict[str, Any]]) -> None:
        if self.transcript is not None:
            self.transcript.save(messages)
        self.messages += messages

    def _outcome(self, stop: str) -> Outcome:
        """How things stand. Calls whose answers did not come are answered: "may have taken
        effect"."""
        messages = list(self.messages)
        if self._open and messages[-1]["role"] == "assistant":
            both = self._open.values()
            answers = [answer or not_run([call], _STOPPED)[0] for call, answer in both]
            messages += self.api.answers(answers)
        return Outcome(messages, self._said, stop, len(self._reasons), tuple(self._reasons))


def _mend(message: dict[str, Any]) -> dict[str, Any]:
    """The message without lone surrogates, which models produce and no request can carry (UTF-8 has
    none)."""
    text = json.dumps(message, ensure_ascii=False)
    return message if repair(text) == text else json.loads(repair(text))


# Running calls


def execute(
    calls: Sequence[Call],
    tools: Mapping[str, AnyTool],
    *,
    timeout: float | Mapping[str, float] = TIMEOUT,
    at_once: int = AT_ONCE,
    memory: "FailureMemory | None" = None,
    save: Callable[[Answer], object] | None = None,
    log: logging.Logger | None = None,
    turn: int = 1,
    tags: Mapping[str, object] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> list[Answer]:
    """Runs `calls`, at most `at_once` at the same time; one answer a call, in the calls' order.

    Nothing that a model or a tool does raises here. An unknown tool, arguments that are no JSON, an
    exception, an empty result, a tool that hangs, a call that keeps failing: each becomes an answer
    that the model can read.

    `timeout` is in seconds, one for all tools or by tool name. A call that is over it is answered,
    and its thread left behind: Python cannot stop a thread, but it no longer counts and does not
    keep the process from ending. `save` and the log see each answer as soon as its call ends, in
    the caller's thread. Tools see the caller's context variables, and run in threads of their own:
    one that calls `asyncio.run` works in Jupyter too. `clock` gives the seconds from which the `ms`
    of an answer are taken. Raises `ValueError` for an `at_once` under 1, and whatever `save`
    raises.
    """
    if at_once < 1:
        raise ValueError(f"at_once must be at least 1, got {at_once}")
    memory = FailureMemory() if memory is None else memory
    ended: queue.SimpleQueue[tuple[int, Answer]] = queue.SimpleQueue()
    keys = [memory.key(call) for call in calls]
    waiting = list(range(len(calls)))
    running: dict[int, float] = {}  # when its time is over
    answers: dict[int, Answer] = {}

    def done(index: int, answer: Answer) -> None:
        answers[index] = answer
        log_call(log, calls[index].arguments, answer, turn=turn, tags=tags)
        if save:
            save(answer)

    while waiting or running:
        for index in list(waiting):
            call, key = calls[index], keys[index]
            # of equal calls no more run at once than may still fail: the third waits to see how
            # the first two end
            equal = memory.failures(key) + [keys[i] for i in running].count(key)
            if answer := _refusal(call, tools) or memory.refusal(call, key):
                waiting.remove(index)
                done(index, answer)
            elif len(running) < at_once and equal < memory.most:
                waiting.remove(index)
                running[index] = time.monotonic() + _limit(timeout, call.name)
                work = partial(_run_one, call, tools[call.name], clock)
                _start(work, lambda answer, i=index: ended.put((i, answer)))
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


@dataclass
class FailureMemory:
    """Which calls failed, so that the same one (name and arguments) is not run a third time. One
    for each run.

    A success wipes the slate: what failed by bad luck may fail again later.
    """

    most: int = MOST_FAILURES
    _failed: dict[str, list[str]] = field(default_factory=dict)

    @staticmethod
    def key(call: Call) -> str:
        """The call as one text in which neither the order of keys nor white space counts."""
        arguments = call.arguments
        try:
            parsed = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
            arguments = json.dumps(parsed, sort_keys=True, separators=(",", ":"))
        except (ValueError, TypeError, RecursionError):
            arguments = str(arguments)
        return f"{call.name} {arguments}"

    def failures(self, key: str) -> int:
        return len(self._failed.get(key, ()))

    def note(self, key: str, answer: Answer) -> None:
        """Remembers how a call ended that was run."""
        if answer.is_error:
            self._failed.setdefault(key, []).append(answer.text)
        else:
            self._failed.pop(key, None)

    def refusal(self, call: Call, key: str) -> Answer | None:
        """The answer to a call that failed too often, None if it may run."""
        if self.failures(key) < self.most:
            return None
        text = self._failed[key][-1]
        try:
            text = str(json.loads(text)["error"])
        except (ValueError, TypeError, LookupError, RecursionError):
            pass
        told = (
            f"This call failed {self.most} times with the same arguments, so it was not run again. "
            "Change the arguments, use another tool, or answer without it. "
            f"Its last error: {cut(text, 200)}"
        )
        return _error(call, told, "repeated")


def _limit(timeout: float | Mapping[str, float], name: str) -> float:
    return timeout.get(name, TIMEOUT) if isinstance(timeout, Mapping) else timeout


def _start(work: Callable[[], Answer], put: Callable[[Answer], None]) -> None:
    # each thread gets its own copy of the context: threads do not inherit one, and one cannot be
    # entered twice
    run = contextvars.copy_context().run
    # a daemon: a thread of a pool that hangs would be waited for when Python exits
    threading.Thread(target=lambda: put(run(work)), daemon=True, name="tool").start()


def _run_one(call: Call, tool: AnyTool, clock: Callable[[], float]) -> Answer:
    start = clock()
    try:
        result = tool.call(call.arguments)
        text, is_error = repair(result.text), bool(result.is_error)
    # SystemExit too: a thread that dies silently would look like one that hangs
    except BaseException as error:
        logger.exception("tool %s failed", call.name)
        kind = type(error).__name__
        text = _message(f"{call.name} failed ({kind}). This is not caused by your arguments.")
        is_error = True
    ms = round((clock() - start) * 1000, 1)
    text = text if text.strip() else "(no output)"
    return Answer(call.id, call.name, text, is_error, ms, "error" if is_error else "ok")


def _refusal(call: Call, tools: Mapping[str, AnyTool]) -> Answer | None:
    """The answer to a call that names no tool, or whose arguments never became JSON."""
    if call.name not in tools:
        names = cut(", ".join(tools), 1_000) or "none"
        told = f'There is no tool "{cut(str(call.name), 60)}". The tools are: {names}.'
        return _error(call, told, "unknown_tool")
    if _never_parsed(call.arguments):
        told = "The arguments must be one JSON object; these cannot be read as one."
        return _error(call, told, "bad_json")
    return None


def _never_parsed(arguments: str | Mapping[str, object]) -> bool:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            return True
    return isinstance(arguments, Mapping) and list(arguments) == [UNPARSED]


def _timed_out(call: Call, limit: float) -> Answer:
    told = (
        f"{call.name} did not end within {limit:g} seconds. "
        "It may still take effect. Ask for less, or do without it."
    )
    return _error(call, told, "timeout", ms=limit * 1000)


def _error(call: Call, message: str, status: str, ms: float = 0.0) -> Answer:
    return Answer(call.id, call.name, _message(message), True, ms, status)


def _message(message: str) -> str:
    """An error in the form that `Tool` gives its own."""
    return to_json({"error": " ".join(clean(repair(message)).split())})
