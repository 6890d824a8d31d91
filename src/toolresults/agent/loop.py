"""What the two loops share: the history, running a turn's calls, saving, metering, and how a run
ends.

The six steps of a turn, and where they stand:
1. query    the messages so far go to the model, with the tools' definitions (`Loop.ask`);
2. decide   the model answers, or asks for calls; its stop reason is read first (`openai_loop`,
   `anthropic_loop`);
3. call     the calls are read from its message (`wire.calls_of`);
4. execute  the program, not the model, runs them (`Loop.run_calls`);
5. return   every call gets exactly one answer, in order (`Loop.run_calls`, in the API's own form);
6. answer   with the results before it, the model answers or calls again: the next turn.
"""

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from ..tokens import repair
from .calllog import check_tags, log_call
from .execute import AT_ONCE, TIMEOUT, Answer, FailureMemory, Runnable, execute, not_run
from .outcome import STOPPED, Outcome
from .received import Received, StreamError
from .spending import SpendingLimit, SpendingLimitReached
from .wire import Call, calls_of, fault

logger = logging.getLogger(__name__)

MAX_STEPS = 10
"""Turns that a run may take, unless said otherwise."""

MAX_TOKENS = 4_096
"""Output tokens of one reply, unless said otherwise."""

LARGER = 4
"""How many times `MAX_TOKENS` a reply that was cut may have when it is asked for once more."""


class Settings(TypedDict, total=False):
    """What both loops take besides what goes into the request; the defaults are `Loop`'s."""

    max_steps: int
    timeout: float | Mapping[str, float]
    at_once: int
    on_event: Callable[[dict[str, Any]], object] | None
    transcript: Any
    ledger: Any
    log: logging.Logger | None
    tags: Mapping[str, object] | None
    trim: Callable[[list[dict[str, Any]]], Sequence[Mapping[str, Any]]] | None
    spending: SpendingLimit | None
    clock: Callable[[], float]


Body = Callable[[list[dict[str, Any]], int | None], dict[str, Any]]
"""Makes the body of a request, from the messages to send and the limit of output tokens."""

Send = Callable[[dict[str, Any]], Received]
"""Sends a body with the SDK."""


@dataclass(frozen=True)
class Dialect:
    """What one API does its own way: its name, the text of a reply, and the messages that answer
    its calls.
    """

    api: str
    text_of: Callable[[Mapping[str, Any]], str]
    answer_messages: Callable[[Sequence[Answer]], list[dict[str, Any]]]
    cut: str
    """The stop reason of a reply that was cut at the limit of tokens."""


class Loop:
    """One run: its history and its meters. Raises `ValueError` for settings that cannot work.

    - `max_steps`: the most turns. A reply that is asked for again with a larger limit is still the
      same turn.
    - `timeout`, `at_once`: seconds a call may take, for all tools or by name; how many run at the
      same time.
    - `on_event(event)`: sees a dict with "event" and "turn": "calling" (name), "answered" (name,
      id, status, ms), "retry" (max_tokens), "stop" (stop) and, if the reply is streamed, "text"
      (text, a piece as it arrives).
    - `transcript`: a `transcript.Transcript`; gets each message before what follows from it, each
      answer as it comes.
    - `ledger`: a `usage.Ledger`; gets a row a model call. `log`: a logger (`calllog.json_log`);
      gets a record a call. Both carry `tags`.
    - `trim(messages)`: gives what is sent in place of the whole history. `spending`: a
      `spending.SpendingLimit`.
    - `clock`: seconds from which the `ms` of a call are taken.
    """

    def __init__(
        self,
        dialect: Dialect,
        messages: str | Sequence[Mapping[str, Any]],
        tools: Mapping[str, Runnable] | Sequence[Runnable],
        *,
        max_steps: int = MAX_STEPS,
        timeout: float | Mapping[str, float] = TIMEOUT,
        at_once: int = AT_ONCE,
        on_event: Callable[[dict[str, Any]], object] | None = None,
        transcript: Any = None,
        ledger: Any = None,
        log: logging.Logger | None = None,
        tags: Mapping[str, object] | None = None,
        trim: Callable[[list[dict[str, Any]]], Sequence[Mapping[str, Any]]] | None = None,
        spending: SpendingLimit | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ):
        if max_steps < 1 or at_once < 1:
            raise ValueError(
                f"max_steps and at_once must be at least 1, got {max_steps} and {at_once}"
            )
        self.dialect, self.messages, self.tools = dialect, as_messages(messages), tool_map(tools)
        self.turn, self.max_steps = 0, max_steps
        self._on_event, self._transcript, self._ledger, self._trim = (
            on_event,
            transcript,
            ledger,
            trim,
        )
        self._spending, self._log, self._tags = spending, log, check_tags(tags)
        self._execute = {
            "timeout": timeout,
            "at_once": at_once,
            "memory": FailureMemory(),
            "clock": clock,
        }
        self._reasons: list[str | None] = []
        self._said, self._row = "", None
        self._open: dict[str, tuple[Call, Answer | None]] = {}
        if transcript is not None:
            transcript.sync(self.messages)

    def event(self, kind: str, **more: Any) -> None:
        """Tells the caller's `on_event`."""
        if self._on_event:
            self._on_event({"event": kind, "turn": self.turn, **more})

    def calling(self, name: str) -> None:
        """Tells the caller that the model calls a tool; in a stream, before its arguments are
        there.
        """
        self.event("calling", name=name)

    def text(self, piece: str) -> None:
        """Tells the caller a piece of a streamed reply."""
        self.event("text", text=piece)

    def ask(self, body_of: Body, send: Send, limit: int | None) -> Received:
        """One model call, and one more with a larger limit if its reply was cut. The message joins
        the history.
        """
        reply = self._call(body_of, send, limit)
        if reply.stop == self.dialect.cut and limit:
            reply = self._larger(body_of, send, limit * LARGER) or reply
        message = mend(reply.message)
        self._check(message)
        self._reasons.append(reply.stop)
        self._said = self.dialect.text_of(message)
        self._open = {call.id: (call, None) for call in calls_of(self.dialect.api, message)}
        if message["content"] != []:  # Anthropic refuses an empty message that is not the last
            self._add([message])
        return Received(message, reply.stop, reply.usage)

    def _check(self, message: dict[str, Any]) -> None:
        """Raises `StreamError`, with nothing run, for calls that no answer could match: an id
        missing or used.
        """
        api = self.dialect.api
        if not (calls := calls_of(api, message)):
            return
        answers = self.dialect.answer_messages(not_run(calls, STOPPED))
        broken = fault(api, [{"role": "user", "content": "?"}, message, *answers])
        before = {
            call.id
            for old in self.messages
            if old["role"] == "assistant"
            for call in calls_of(api, old)
        }
        if again := before & {call.id for call in calls}:
            broken = f"the id {sorted(again)[0]} was used before"
        if broken:
            raise StreamError(
                f"the model's calls cannot be answered, so none was run ({broken}): ask again"
            )

    def _larger(self, body_of: Body, send: Send, limit: int) -> Received | None:
        self.event("retry", max_tokens=limit)
        try:
            return self._call(body_of, send, limit)
        except SpendingLimitReached:
            return None
        except Exception as error:
            # Refused, as a 400 is for more than this model can write: the first reply is kept,
            # since it was paid for. The SDK itself asks for streaming where a reply may take
            # minutes.
            if getattr(error, "status_code", None) or (
                type(error) is ValueError and "treaming" in str(error)
            ):
                return None
            raise

    def _call(self, body_of: Body, send: Send, limit: int | None) -> Received:
        sent = self._trim(list(self.messages)) if self._trim else self.messages
        body, self._row = body_of(list(sent), limit), None
        if self._spending:
            with self._spending.hold(self.dialect.api, body) as hold:
                reply = send(body)
                hold.settle(reply.usage)
        else:
            reply = send(body)
        if self._ledger is not None and reply.usage is None:
            logger.warning("the server sent no usage, so the ledger lacks this model call")
        elif self._ledger is not None:
            try:
                self._row = self._ledger.add(
                    self.dialect.api, reply.usage, model=body["model"], tags=self._tags
                )
            except (
                ValueError
            ) as error:  # a reply that was paid for is not lost over a usage that cannot be
                logger.warning("the ledger lacks this model call: %s", error)
        return reply

    def run_calls(self, calls: Sequence[Call], told: bool) -> None:
        """Executes the calls of the turn, and adds their answers to the history. `told`: the caller
        knows of them.
        """
        for call in () if told else calls:
            self.calling(call.name)
        tell = {"turn": self.turn, "tags": self._tags, "log": self._log, "save": self._save}
        self._return(execute(calls, self.tools, **tell, **self._execute))

    def refuse_calls(self, calls: Sequence[Call], why: str) -> None:
        """Answers calls that must not be run, so that the history can still be sent."""
        answers = not_run(calls, why)
        for call, answer in zip(calls, answers, strict=True):
            log_call(self._log, call.arguments, answer, turn=self.turn, tags=self._tags)
            self._save(answer)
        self._return(answers)

    def _save(self, answer: Answer) -> None:
        self._open[answer.id] = (self._open[answer.id][0], answer)
        if self._transcript is not None:
            self._transcript.save_answer(answer)
        self.event("answered", name=answer.name, id=answer.id, status=answer.status, ms=answer.ms)

    def _return(self, answers: Sequence[Answer]) -> None:
        if self._row is not None:
            self._row.result_tokens = sum(answer.tokens for answer in answers)
        if answers:
            self._add(self.dialect.answer_messages(answers))
        self._open = {}

    def _add(self, messages: list[dict[str, Any]]) -> None:
        if self._transcript is not None:
            self._transcript.save(messages)
        self.messages += messages

    def outcome(self, stop: str) -> Outcome:
        """How things stand. Calls whose answers did not come are answered: "may have taken
        effect".
        """
        messages = list(self.messages)
        if self._open and messages[-1]["role"] == "assistant":
            answers = [
                answer or not_run([call], STOPPED)[0] for call, answer in self._open.values()
            ]
            messages += self.dialect.answer_messages(answers)
        return Outcome(messages, self._said, stop, len(self._reasons), tuple(self._reasons))

    def drive(self, take_turn: Callable[[], str | None]) -> Outcome:
        """Takes turns until one says how the run ends, or there have been `max_steps`."""
        stop = None
        try:
            while stop is None:
                self.turn += 1
                stop = take_turn() or ("max_steps" if self.turn >= self.max_steps else None)
        except SpendingLimitReached:
            stop = "spending_limit"
        except (
            BaseException
        ) as error:  # an interrupt in a notebook as well: what was done is not lost
            error.outcome = self.outcome("error")
            raise
        self.event("stop", stop=stop)
        return self.outcome(stop)


def tool_map(tools: Mapping[str, Runnable] | Sequence[Runnable]) -> dict[str, Runnable]:
    """The tools by the names that their definitions give the model. Raises `ValueError` if two
    share one.
    """
    given = list(tools.values() if isinstance(tools, Mapping) else tools)
    found = {tool.name: tool for tool in given}
    if len(found) < len(given):
        raise ValueError("two tools have the same name: a model could not tell them apart")
    return found


def as_messages(messages: str | Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A new list of messages; a plain text is one question of the user's."""
    return [{"role": "user", "content": messages}] if isinstance(messages, str) else list(messages)


def mend(message: dict[str, Any]) -> dict[str, Any]:
    """The message without lone surrogates, which models produce and no request can carry (UTF-8 has
    none).
    """
    text = json.dumps(message, ensure_ascii=False)
    return message if repair(text) == text else json.loads(repair(text))
