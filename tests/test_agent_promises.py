"""Promises of `execute` and `Transcript` that break unseen, each shown at the moment that decides
it.
"""

import threading

from apis import OPENAI_CHAT
from toolresults.agent.api import Call
from toolresults.agent.loop import FailureMemory, execute
from toolresults.agent.transcript import INTERRUPTED, Transcript
from toolresults.tools import Tool, ToolError

WAIT = 10
"""Seconds for what comes at once in a program that is right."""


def test_two_at_once_are_two_and_never_three():
    third, second = threading.Barrier(3), threading.Barrier(2)

    def work(number: int) -> str:
        try:
            third.wait(0.2)
            return "three at once"
        except threading.BrokenBarrierError:
            second.wait(WAIT)
            return "two at once"

    calls = [Call(f"c{n}", "work", {"number": n}) for n in range(4)]
    answers = execute(calls, {"work": Tool(work)}, at_once=2)
    assert [answer.text for answer in answers] == ["two at once"] * 4


def test_a_result_that_comes_after_its_time_changes_no_answer():
    given_up, saved, late = threading.Event(), [], []

    def hang() -> str:
        late.append(threading.current_thread())
        assert given_up.wait(WAIT)
        return "late"

    def other() -> str:
        """Ends when the late result is there, so that both are to be looked at."""
        assert given_up.wait(WAIT)
        late[0].join(WAIT)
        return "in time"

    def save(answer):
        saved.append((answer.id, answer.status))
        given_up.set()

    calls = [Call("a", "hang", {}), Call("b", "other", {})]
    tools = {"hang": Tool(hang), "other": Tool(other)}
    answers = execute(calls, tools, timeout={"hang": 0.2}, save=save)
    assert saved == [("a", "timeout"), ("b", "ok")]
    assert [answer.status for answer in answers] == ["timeout", "ok"]


def test_failures_before_a_success_are_forgotten():
    ends, ran = iter("fail succeed fail fail".split()), []

    def book() -> str:
        ran.append(next(ends))
        if ran[-1] == "fail":
            raise ToolError("taken")
        return "booked"

    memory = FailureMemory()
    statuses = [
        execute([Call("c", "book", {})], {"book": Tool(book)}, memory=memory)[0].status
        for _ in range(5)
    ]
    assert statuses == ["error", "ok", "error", "error", "repeated"]


def test_an_id_that_is_used_again_does_not_get_the_answer_of_the_turn_before(tmp_path):
    function = {"name": "write", "arguments": "{}"}
    call = {"id": "c1", "type": "function", "function": function}
    asking = {"role": "assistant", "content": None, "tool_calls": [call]}
    turn = [{"role": "user", "content": "Write it down."}, asking]
    with Transcript(tmp_path / "chats.db", "s", OPENAI_CHAT) as transcript:
        answer = {"role": "tool", "tool_call_id": "c1", "content": "written"}
        transcript.save(turn)
        transcript.save_answer(
            execute([Call("c1", "write", {})], {"write": Tool(lambda: "written", name="write")})[0]
        )
        transcript.save([answer, *turn])
        assert transcript.resume()[-1]["content"] == INTERRUPTED
