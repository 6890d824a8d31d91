"""Running a turn's calls: in parallel, within limits, every call answered (cases 27, 28, 36,
37).
"""

import asyncio
import contextvars
import io
import json
import logging
import subprocess
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolresults.agent.api import UNPARSED, Call
from toolresults.agent.log import close_log, json_log
from toolresults.agent.loop import FailureMemory, execute, not_run
from toolresults.tokens import count_tokens
from toolresults.tools import Tool, ToolError, ToolResult

SOON = 0.05
"""Seconds after which a tool that hangs is given up in these tests."""


def tools_of(*functions):
    return {function.__name__: Tool(function) for function in functions}


def call(name, arguments="{}", id="c1"):
    return Call(id, name, arguments)


def only(answers):
    [answer] = answers
    return answer


def test_calls_run_at_the_same_time_and_are_answered_in_their_order():
    ended = [threading.Event() for _ in range(4)]

    def wait(number: int) -> str:
        if (
            number < 3
        ):  # each can end only when the next one has: run one by one, they would all time out
            assert ended[number + 1].wait(20)
        ended[number].set()
        return f"number {number}"

    saved = []
    calls = [Call(f"c{n}", "wait", {"number": n}) for n in range(4)]
    answers = execute(calls, tools_of(wait), save=lambda answer: saved.append(answer.id))
    assert [(answer.id, answer.text, answer.status) for answer in answers] == [
        (f"c{n}", f"number {n}", "ok") for n in range(4)
    ]
    assert sorted(saved) == ["c0", "c1", "c2", "c3"]


def test_no_more_run_at_once_than_the_ceiling_says():
    pair, three = threading.Barrier(2), threading.Barrier(3)

    def work(number: int) -> str:
        pair.wait(20)  # two must be here together for either to go on
        try:
            three.wait(0.2)
        except threading.BrokenBarrierError:  # and no third comes
            return "two at once"
        return "three at once"

    answers = execute(
        [Call(f"c{n}", "work", {"number": n}) for n in range(6)], tools_of(work), at_once=2
    )
    assert [answer.text for answer in answers] == ["two at once"] * 6
    with pytest.raises(ValueError, match="at_once"):
        execute([], {}, at_once=0)


def test_a_tool_that_hangs_is_answered_and_gives_its_place_free():
    never = threading.Event()

    def hang() -> str:
        never.wait()
        return "late"

    def quick() -> str:
        return "here"

    calls = [call("hang", id="a"), call("quick", id="b")]
    slow, fast = execute(calls, tools_of(hang, quick), timeout={"hang": SOON}, at_once=1)
    assert (slow.id, slow.status, slow.is_error, slow.ms) == ("a", "timeout", True, SOON * 1000)
    assert "did not end within 0.05 seconds" in slow.text and "may still take effect" in slow.text
    assert (fast.text, fast.status) == ("here", "ok")
    never.set()


def test_a_tool_that_hangs_does_not_keep_the_process_from_ending():
    program = """
import threading
from toolresults.agent.loop import execute
from toolresults.agent.api import Call
from toolresults.tools import Tool
def hang() -> str:
    threading.Event().wait()
print(execute([Call("c", "hang", "{}")], {"hang": Tool(hang)}, timeout=0.01)[0].status)
"""
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )
    assert (result.stdout.strip(), result.returncode) == ("timeout", 0), result.stderr


def test_tools_see_the_callers_context():
    user = contextvars.ContextVar("user")
    user.set("ann")

    def who() -> str:
        return user.get()

    both = execute([call("who", id="a"), call("who", id="b")], tools_of(who))
    assert [answer.text for answer in both] == ["ann", "ann"]


def test_an_asynchronous_library_can_be_used_where_an_event_loop_runs():
    def later() -> str:
        return asyncio.run(asyncio.sleep(0, "from a coroutine"))

    async def notebook():
        return only(execute([call("later")], tools_of(later)))

    assert asyncio.run(notebook()).text == "from a coroutine"


def test_each_answer_is_saved_as_its_call_ends_in_the_callers_thread():
    first_saved, here = threading.Event(), threading.get_ident()

    def fast() -> str:
        return "fast"

    def slow() -> str:
        assert first_saved.wait(20)  # ends only after the other's answer was saved
        return "slow"

    seen = []

    def save(answer):
        seen.append((answer.text, threading.get_ident()))
        first_saved.set()

    execute([call("slow", id="a"), call("fast", id="b")], tools_of(slow, fast), save=save)
    assert seen == [("fast", here), ("slow", here)]


def flaky(failures):
    """A tool that fails so many times for each argument, and how often it ran."""
    runs = []

    def book(seat: int, row: int = 1) -> str:
        """Books a seat."""
        runs.append(seat)
        if runs.count(seat) <= failures:
            raise ToolError(f"seat {seat} is taken")
        return "booked"

    return {"book": Tool(book)}, runs


def test_the_same_failing_call_is_not_run_a_third_time():
    tools, runs = flaky(99)
    memory = FailureMemory()
    same = ['{"seat": 4, "row": 2}', {"row": 2, "seat": 4}, '{"row":2,"seat":4}']
    answers = [only(execute([call("book", arguments)], tools, memory=memory)) for arguments in same]
    assert [answer.status for answer in answers] == ["error", "error", "repeated"]
    assert runs == [4, 4]
    assert "seat 4 is taken" in answers[-1].text and "was not run again" in answers[-1].text
    assert only(execute([call("book", {"seat": 5})], tools, memory=memory)).status == "error"
    assert runs == [4, 4, 5], "other arguments are another call"


def test_three_equal_failing_calls_of_one_turn_run_twice():
    tools, runs = flaky(99)
    answers = execute([call("book", {"seat": 4}, id=f"c{n}") for n in range(3)], tools)
    assert runs == [4, 4]
    assert sorted(answer.status for answer in answers) == ["error", "error", "repeated"]


def test_a_success_wipes_the_slate_and_equal_calls_that_work_all_run():
    tools, runs = flaky(1)
    memory = FailureMemory()
    answers = [only(execute([call("book", {"seat": 4})], tools, memory=memory)) for _ in range(4)]
    assert [answer.status for answer in answers] == ["error", "ok", "ok", "ok"]
    assert (
        len(
            execute([call("book", {"seat": 4}, id=f"c{n}") for n in range(5)], tools, memory=memory)
        )
        == 5
    )
    assert len(runs) == 9


@pytest.mark.parametrize("name", ["get_wether", "multi_tool_use.parallel", "", "x" * 10_000])
def test_an_unknown_tool_is_answered_with_the_tools_there_are(name):
    tools, _ = flaky(0)
    tools["search"] = Tool(lambda: "", name="search")
    answer = only(execute([call(name)], tools))
    assert (answer.status, answer.is_error) == ("unknown_tool", True)
    assert "The tools are: book, search." in answer.text
    assert len(answer.text) < 300


@pytest.mark.parametrize(
    "error", [RuntimeError(""), ToolError(""), SystemExit(1), KeyboardInterrupt(), StopIteration()]
)
def test_whatever_a_tool_raises_both_calls_are_answered(error, caplog):
    def bad() -> str:
        raise error

    def good() -> str:
        return "fine"

    first, second = execute([call("bad", id="a"), call("good", id="b")], tools_of(bad, good))
    assert (first.id, first.status, first.is_error) == ("a", "error", True)
    assert json.loads(first.text)["error"]
    assert (second.id, second.text) == ("b", "fine")


@pytest.mark.parametrize("nothing", ["", "\n", None])
def test_an_empty_result_says_so(nothing):
    def quiet() -> str | None:
        return nothing

    assert only(execute([call("quiet")], tools_of(quiet))).text == "(no output)"


class Plain:
    """A tool of somebody else's: it checks nothing."""

    name = "plain"

    def __init__(self, result=""):
        self.result, self.ran = result, 0

    def call(self, arguments):
        self.ran += 1
        return ToolResult(self.result)


@pytest.mark.parametrize("result", ["", " \t", "half an emoji: \ud83d"])
def test_any_tools_result_can_be_sent(result):
    text = only(execute([call("plain")], {"plain": Plain(result)})).text
    assert text.strip() and text.encode("utf-8")


@pytest.mark.parametrize(
    "arguments",
    ['{"to": "a', "nonsense", {UNPARSED: '{"to": "a'}, '{"INVALID_JSON": "{"}', "[" * 9_999],
)
def test_arguments_that_are_no_json_are_never_run(arguments):
    tool = Plain("sent")
    answer = only(execute([call("plain", arguments)], {"plain": tool}))
    assert (tool.ran, answer.status, answer.is_error) == (0, "bad_json", True)
    assert "must be one JSON object" in answer.text


def test_a_call_without_arguments_runs_with_none():
    def ping() -> str:
        return "pong"

    assert only(execute([call("ping", "")], tools_of(ping))).text == "pong"


def test_calls_that_must_not_run_are_answered_with_the_reason():
    answers = not_run(
        [call("book", '{"se', id="a"), call("book", id="b")], "the reply was cut off."
    )
    assert [(answer.id, answer.is_error, answer.status) for answer in answers] == [
        ("a", True, "not_run"),
        ("b", True, "not_run"),
    ]
    assert all("the reply was cut off." in answer.text for answer in answers)


NAMES = st.sampled_from(["ok", "fails", "empty", "nowhere"])
ARGUMENTS = st.one_of(
    st.text(),
    st.sampled_from(["{}", '{"x": 1}']),
    st.dictionaries(st.text(), st.text() | st.integers()),
)


@settings(max_examples=40)
@given(st.lists(st.tuples(NAMES, ARGUMENTS), max_size=8), st.integers(1, 4))
def test_every_call_gets_one_answer_in_order_and_none_is_empty(given_calls, at_once):
    def fails() -> str:
        raise ToolError("no")

    def empty() -> None:
        return None

    calls = [Call(f"c{n}", name, arguments) for n, (name, arguments) in enumerate(given_calls)]
    tools = {"ok": Plain("fine"), **tools_of(fails, empty)}
    stream = io.StringIO()
    answers = execute(calls, tools, at_once=at_once, log=json_log(stream))
    assert [answer.id for answer in answers] == [made.id for made in calls]
    assert all(answer.text.strip() and answer.text.encode("utf-8") for answer in answers)
    assert len(stream.getvalue().splitlines()) == len(calls)


def search(customer: str, api_key: str = "") -> dict:
    """Searches."""
    return {"found": customer}


def test_the_log_holds_one_json_line_a_call(tmp_path):
    file = tmp_path / "calls.jsonl"
    log = json_log(file, clock=lambda: 1_700_000_000.25)
    ticks = iter([10.0, 10.25])
    arguments = {"customer": "Việt", "api_key": "sk-1234567890abcdefghij"}
    answer = only(
        execute(
            [call("search", arguments, id="c7")],
            tools_of(search),
            log=log,
            turn=3,
            tags={"user": "ann", "feature": "refunds"},
            clock=lambda: next(ticks),
        )
    )
    execute([call("serch", {}, id="c8")], tools_of(search), log=log, turn=4)
    close_log(log)
    first, second = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert first == {
        "time": 1_700_000_000.25,
        "turn": 3,
        "id": "c7",
        "name": "search",
        "arguments": '{"customer":"Việt","api_key":"[redacted]"}',
        "status": "ok",
        "ms": 250.0,
        "result_tokens": count_tokens(answer.text),
        "user": "ann",
        "feature": "refunds",
    }
    assert (second["turn"], second["status"], second["arguments"]) == (4, "unknown_tool", "{}")
    assert "Việt" in file.read_text(encoding="utf-8"), "no escapes: a person greps this file"


def test_a_log_that_cannot_be_written_stops_nothing(capfd):
    class Full(io.StringIO):
        def write(self, text):
            raise OSError("no space left on device")

    assert (
        only(
            execute([call("search", {"customer": "a"})], tools_of(search), log=json_log(Full()))
        ).status
        == "ok"
    )
    assert "no space left" in capfd.readouterr().err


def test_long_arguments_are_cut_in_the_log_after_their_secrets_are_gone():
    stream = io.StringIO()
    text = (
        "x" * 1_970 + " sk-1234567890abcdefghij " + "x" * 100
    )  # cut first, too little of the key would be left to see
    execute([call("search", {"customer": text})], {}, log=json_log(stream))
    logged = json.loads(stream.getvalue())["arguments"]
    assert len(logged) == 2_000 and "sk-" not in logged


def test_any_logger_of_the_hosts_will_do(caplog):
    with caplog.at_level(logging.INFO, logger="host"):
        execute(
            [call("search", {"customer": "a"})],
            tools_of(search),
            log=logging.getLogger("host"),
            turn=2,
        )
    assert (caplog.records[0].msg["turn"], caplog.records[0].msg["name"]) == (2, "search")


def test_a_tag_cannot_hide_a_field():
    with pytest.raises(ValueError, match="status"):
        execute(
            [call("search")], tools_of(search), log=json_log(io.StringIO()), tags={"status": "gold"}
        )
