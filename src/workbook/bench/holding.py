"""One session held with one technique: the agent of `needs` against its tools, and what every turn
of it costs.

    hold("anthropic", TECHNIQUES["refs"], store)            # any size: no network, no window, nothing copied
    through_sdk("anthropic", TECHNIQUES["refs"], store)     # the same session through the real SDK and the loop

The naive session is larger than any model's window. `hold` bills it as if a window were large
enough; `through_sdk` refuses it, as the real APIs do.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolresults.agent.execute import execute
from toolresults.agent.groups import Message
from toolresults.agent.reply import Reply
from toolresults.agent.request_text import message_parts, request_parts, tokens_of
from toolresults.agent.scripted import DIALECTS, WINDOW, ScriptedModel
from toolresults.agent.streaming import received
from toolresults.agent.usage import Ledger, Turn, Usage
from toolresults.agent.wire import calls_of, is_question

from toolresults.agent import anthropic_loop, openai_loop
from toolresults.agent.cache import LEAST, STEP
from toolresults.tokens import count_tokens
from workbook.examples.orders.store import OrderStore

from .needs import Agent, Need, reply, solve
from .questions import TEN, THIRTY
from .sessions import MODELS, SYSTEM, Session, Trim, new_cache
from .techniques import TECHNIQUES, Technique, Tools, everything

LOOPS = {"openai": openai_loop, "anthropic": anthropic_loop}

NEEDS = {need.text: need for need in THIRTY}


@dataclass(frozen=True)
class Held:
    """A session as it was held. Each turn of the ledger is tagged with its question; its last, with
    the outcome too.
    """

    session: Session
    answers: list[Any]

    @property
    def turns(self) -> list[Turn]:
        return self.session.ledger.turns


def policy(api: str, technique: Technique):
    """The agent as the policy of a scripted model: it knows nothing but the messages that are
    sent.
    """

    def next_reply(messages: Sequence[Message]):
        question = next(m["content"] for m in reversed(messages) if is_question(api, m))
        text = question if isinstance(question, str) else question[0]["text"]
        return reply(*solve(Agent(api, messages, technique, NEEDS[text])))

    return next_reply


def through_sdk(
    api: str,
    technique: Technique,
    store: OrderStore,
    needs: Sequence[Need] = TEN,
    window: int = WINDOW,
) -> Session:
    """The session through the real SDK and the loop, with a scripted model that has a window and a
    prompt cache.

    Raises the SDK's `BadRequestError` where a request is larger than the window.
    """
    model = ScriptedModel(policy(api, technique), window=window, cache=new_cache(api))
    client = model.openai() if api == "openai" else model.anthropic()
    ledger, messages = Ledger(model=MODELS[api]), []
    options = {"model": MODELS[api], "system": SYSTEM, "ledger": ledger, "at_once": 1}
    if technique.trim:
        options["trim"] = technique.trim(api)
    with technique.opened(store) as tools:
        for need in needs:
            asked = [*messages, {"role": "user", "content": need.text}]
            messages = LOOPS[api].run(client, asked, tools, **options).messages
    return Session(api, messages, [tool.definition(api) for tool in tools.values()], ledger)


def hold(api: str, technique: Technique, store: OrderStore, needs: Sequence[Need] = THIRTY) -> Held:
    """The session without a network, a window or copies of 20 MB: the same messages and usage as
    `through_sdk`.
    """
    with technique.opened(store) as tools:
        return _hold(api, technique, store, needs, tools)


def _hold(
    api: str, technique: Technique, store: OrderStore, needs: Sequence[Need], tools: Tools
) -> Held:
    trim = technique.trim(api) if technique.trim else None
    session = Session(
        api, [], [tool.definition(api) for tool in tools.values()], Ledger(model=MODELS[api])
    )
    meter, answers, dialect, calls = _Meter(session, trim), [], DIALECTS[api], 0
    for need in needs:
        session.messages.append({"role": "user", "content": need.text})
        while True:
            sent = trim(session.messages) if trim else session.messages
            agent = Agent(api, sent, technique, need)
            call, answer = solve(agent)
            said = reply(call, answer)
            ids = [f"{dialect.ID}{calls + 1}"] if call else []
            calls += len(ids)
            turn = meter.add(sent, dialect.size(said, ids))
            turn.tags |= {"kind": need.kind, "call": call[0] if call else ""}
            session.messages.append(_message(api, said, ids))
            if not call:
                break
            done = execute(calls_of(api, session.messages[-1]), tools, at_once=1, timeout=60)
            turn.result_tokens = sum(_tokens(one.text) for one in done)
            session.messages.extend(LOOPS[api].DIALECT.answer_messages(done))
        answers.append(answer)
        turn.tags |= {
            "further_calls": agent.further,
            "outcome": outcome(answer, truth(need, store), agent.further),
        }
    return Held(session, answers)


def outcome(answer: Any, true: Any, further: int) -> str:
    """One of `recall.OUTCOMES`."""
    if answer is None:
        return "lost"
    if answer != true:
        return "silently wrong"
    return "recoverable" if further else "correct"


@lru_cache(maxsize=len(THIRTY))
def truth(need: Need, store: OrderStore) -> Any:
    """The answer from the whole account: the same program, with every row of it in front."""
    given = {
        "id": "call_1",
        "type": "function",
        "function": {"name": "search_orders", "arguments": "{}"},
    }
    messages = [
        {"role": "user", "content": need.text},
        {"role": "assistant", "content": None, "tool_calls": [given]},
        {"role": "tool", "tool_call_id": "call_1", "content": everything(store)},
    ]
    return solve(Agent("openai", messages, TECHNIQUES["naive"], need))[1]


def _message(api: str, said: Reply, ids: Sequence[str]) -> Message:
    """A reply as the loop keeps it in the history."""
    message = DIALECTS[api].message(said, ids)
    if api == "anthropic":
        return received(api, {"content": message["content"], "stop_reason": ""}).message
    return received(api, {"choices": [{"message": message, "finish_reason": ""}]}).message


_tokens = lru_cache(maxsize=64)(count_tokens)


class _Meter:
    """What each request costs.

    A history that is never trimmed only grows, so each request begins with the whole of the one
    before: only what is new is counted, and what a prompt cache gives is known without comparing
    texts. Where a history is trimmed, the whole request is counted, and `sessions.new_cache` asked.
    """

    def __init__(self, session: Session, trim: Trim | None):
        self.session, self.cache = session, new_cache(session.api) if trim else None
        self.total, self.counted = tokens_of(request_parts(session.api, session.body([]))), 0

    def add(self, sent: Sequence[Message], output: int) -> Turn:
        api = self.session.api
        if self.cache:
            parts = request_parts(api, self.session.body(sent))
            total, (cached, written) = tokens_of(parts), self.cache.read(parts)
        else:
            known = self.total if self.counted and self.total >= LEAST else 0
            new = [part for message in sent[self.counted :] for part in message_parts(api, message)]
            self.total, self.counted = self.total + tokens_of(new), len(sent)
            total, cached, written = (
                self.total,
                known,
                self.total - known if self.total >= LEAST else 0,
            )
            if api == "openai":
                cached, written = known // STEP * STEP, 0
        return self.session.ledger.add(api, Usage(total, output, cached, written))
