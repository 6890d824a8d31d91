"""Both loops, each driven by its real SDK client against the scripted model, streamed and not
(cases 25 to 37).
"""

import asyncio
import io
import json
import threading
from dataclasses import replace
from decimal import Decimal

import anthropic
import httpx2
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apis import EACH_API, answered
from toolresults.agent import loop
from toolresults.agent.anthropic import ANTHROPIC, blocks
from toolresults.agent.api import StreamError
from toolresults.agent.bill import Ledger, Price, Prices, SpendingLimit, SpendingLimitReached
from toolresults.agent.log import json_log
from toolresults.agent.loop import STOPS
from toolresults.agent.openai_chat import OPENAI_CHAT
from toolresults.agent.transcript import Transcript, read_messages
from toolresults.scripted import Reply, ScriptedModel
from toolresults.tokens import count_tokens
from toolresults.tools import Tool, ToolError, ToolResult, Whole

STREAMS = pytest.mark.parametrize("stream", [False, True], ids=["whole", "streamed"])


def run(api, model, question, tools, /, **options):
    """A run with the real client of `api`; `model` is a ScriptedModel."""
    client = model.client(api, **options.pop("client", {}))
    return loop.run(api, client, question, tools, **{"model": "scripted", **options})


def script(*replies, **options):
    """A model that says these replies, one after the other."""
    left = iter(replies)
    return ScriptedModel(lambda messages: next(left), **options)


def results(api, messages):
    """The texts of all tool results, in order."""
    if api is OPENAI_CHAT:
        return [message["content"] for message in messages if message["role"] == "tool"]
    return [block["content"] for message in messages for block in blocks(message, "tool_result")]


def stays_usable(api, outcome):
    """Whether the history takes another question: the model, as strict as the API, answers it."""
    history = [*outcome.messages, {"role": "user", "content": "And now?"}]
    assert api.fault(history) is None
    return run(api, script(Reply("Still here.")), history, []).text == "Still here."


class Sent:
    """A tool with an effect, and a record of how often it ran."""

    def __init__(self):
        self.ran = []
        self.tool = Tool(self.send)

    def send(self, text: str = "") -> str:
        """Sends a text."""
        self.ran.append(text)
        return f"sent {text}"


def weather(city: str) -> dict:
    """The weather in a city."""
    return {"city": city, "sky": "clear"}


def search_blog(query: str) -> list:
    """Finds posts."""
    return [{"title": query, "id": 7}]


def get_blog(id: Whole) -> dict:
    """One post."""
    return {"id": id, "body": "Ship small."}


# --- the six steps ---


@EACH_API
@STREAMS
def test_one_question_makes_four_messages_and_two_model_calls(api, stream):
    model = script(Reply(calls=[("weather", {"city": "Huế"})]), Reply("Clear in Huế."))
    question = [{"role": "user", "content": "Weather in Huế?"}]
    outcome = run(api, model, question, [Tool(weather)], stream=stream)
    assert (outcome.text, outcome.stop, outcome.turns) == ("Clear in Huế.", "answer", 2)
    assert (
        outcome.reasons
        == {"openai": ("tool_calls", "stop"), "anthropic": ("tool_use", "end_turn")}[api.name]
    )
    roles = {
        "openai": ["user", "assistant", "tool", "assistant"],
        "anthropic": ["user", "assistant"] * 2,
    }[api.name]
    assert [message["role"] for message in outcome.messages] == roles
    assert results(api, outcome.messages) == ['{"city":"Huế","sky":"clear"}']
    assert len(question) == 1, "the caller's list is not changed"
    assert model.requests[1]["messages"] == outcome.messages[:3]
    assert stays_usable(api, outcome)


@EACH_API
@STREAMS
def test_a_call_can_depend_on_the_result_of_another(api, stream):
    def policy(messages):
        told = results(api, messages)
        if not told:
            return Reply(calls=[("search_blog", {"query": "release"})])
        found = json.loads(told[-1])
        return (
            Reply(calls=[("get_blog", {"id": found[0]["id"]})])
            if isinstance(found, list)
            else Reply(found["body"])
        )

    outcome = run(
        api, ScriptedModel(policy), "Find it.", [Tool(search_blog), Tool(get_blog)], stream=stream
    )
    assert (outcome.text, outcome.turns) == ("Ship small.", 3)


@EACH_API
@STREAMS
def test_parallel_calls_run_in_parallel_and_are_all_answered_in_order(api, stream):
    ended = [threading.Event() for _ in range(10)]

    def part(number: Whole) -> str:
        """One part."""
        if number < 9:  # the first ends last: one by one, every call but the last would fail
            assert ended[number + 1].wait(20)
        ended[number].set()
        return f"part {number}"

    model = script(
        Reply("On it.", calls=[("part", {"number": n}) for n in range(10)]), Reply("Done.")
    )
    outcome = run(api, model, "All parts.", [Tool(part)], stream=stream, at_once=10)
    assert results(api, outcome.messages) == [f"part {n}" for n in range(10)]
    ids = [call.id for call in api.calls(outcome.messages[1])]
    assert [id for message in outcome.messages for id in answered(api, message)] == ids
    if api is ANTHROPIC:
        answers = outcome.messages[2]["content"]
        assert (
            len(outcome.messages) == 4
            and [block["type"] for block in answers] == ["tool_result"] * 10
        )
    else:
        assert [message["role"] for message in outcome.messages[2:-1]] == ["tool"] * 10


@EACH_API
def test_a_question_may_follow_and_sees_the_results_before_it(api):
    tools = [Tool(weather)]
    first = run(
        api,
        script(Reply(calls=[("weather", {"city": "Bonn"})]), Reply("Clear.")),
        "Weather?",
        tools,
    )
    model = ScriptedModel(lambda messages: Reply(results(api, messages)[-1]))
    again = run(
        api, model, [*first.messages, {"role": "user", "content": "Which city was that?"}], tools
    )
    assert (again.text, again.turns) == ('{"city":"Bonn","sky":"clear"}', 1)
    assert again.messages[:4] == first.messages


@EACH_API
def test_the_system_prompt_is_in_each_request_and_not_in_the_history(api):
    model = script(Reply(calls=[("weather", {"city": "Bonn"})]), Reply("Clear."))
    outcome = run(
        api, model, "Weather?", [Tool(weather)], system="Be brief.", options={"metadata": {}}
    )
    for body in model.requests:
        said = body["system"] if api is ANTHROPIC else body["messages"][0]
        assert said == (
            "Be brief." if api is ANTHROPIC else {"role": "system", "content": "Be brief."}
        )
        assert body["metadata"] == {}
    assert "Be brief." not in json.dumps(outcome.messages)


@EACH_API
def test_max_steps_ends_with_a_history_that_can_go_on(api):
    sent = Sent()
    model = ScriptedModel(lambda messages: Reply(calls=[("send", {"text": str(len(messages))})]))
    outcome = run(api, model, "Go.", [sent.tool], max_steps=3)
    assert (outcome.stop, outcome.turns, len(model.requests), len(sent.ran)) == (
        "max_steps",
        3,
        3,
        3,
    )
    assert results(api, outcome.messages)[-1] == f"sent {sent.ran[-1]}"
    assert stays_usable(api, outcome)
    assert run(api, ScriptedModel(model.policy), "Go.", [sent.tool]).turns == 10
    with pytest.raises(ValueError, match="max_steps"):
        run(api, model, "Go.", [], max_steps=0)


# --- stop reasons ---

CALL = [("send", {"text": "hello"})]
ENDS = [
    # api, a reply, how the run ends, how often the tool ran
    (OPENAI_CHAT, Reply("Hi.", stop="end"), "answer", 0),
    (OPENAI_CHAT, Reply("Hi.", stop="length"), "length", 0),
    (OPENAI_CHAT, Reply("Hi.", stop="content_filter"), "content_filter", 0),
    (OPENAI_CHAT, Reply("Hi.", calls=CALL, stop="content_filter"), "content_filter", 0),
    (OPENAI_CHAT, Reply("I cannot.", stop="refusal"), "refusal", 0),
    (ANTHROPIC, Reply("Hi.", stop="end"), "answer", 0),
    (ANTHROPIC, Reply("", stop="end"), "answer", 0),
    (ANTHROPIC, Reply(" \n", stop="end"), "answer", 0),
    (ANTHROPIC, Reply("Hi.", stop="max_tokens"), "length", 0),
    (ANTHROPIC, Reply("Hi.", stop="stop_sequence"), "stop_sequence", 0),
    (ANTHROPIC, Reply("Hi.", calls=CALL, stop="stop_sequence"), "stop_sequence", 0),
    (ANTHROPIC, Reply("Hi.", stop="refusal"), "refusal", 0),
    (ANTHROPIC, Reply("", stop="refusal"), "refusal", 0),
    (ANTHROPIC, Reply("Hi.", calls=CALL, stop="refusal"), "refusal", 0),
    (ANTHROPIC, Reply("Hi.", stop="model_context_window_exceeded"), "context_window", 0),
    (
        ANTHROPIC,
        Reply("Hi.", calls=CALL, stop="model_context_window_exceeded"),
        "context_window",
        0,
    ),
]


@pytest.mark.parametrize(("api", "reply", "stop", "ran"), ENDS)
@STREAMS
def test_every_stop_reason_has_its_branch(api, reply, stop, ran, stream):
    sent = Sent()
    outcome = run(api, ScriptedModel(lambda messages: reply), "Hello.", [sent.tool], stream=stream)
    assert (outcome.stop, len(sent.ran), outcome.turns) == (stop, ran, 1)
    assert outcome.text == reply.text.strip()
    for told in results(api, outcome.messages):
        assert "was not run: the reply" in told
    assert stays_usable(api, outcome)


@STREAMS
def test_a_paused_turn_goes_on_with_what_the_model_had(stream):
    model = script(Reply("Searching the web.", stop="pause"), Reply("Found it."))
    outcome = run(ANTHROPIC, model, "Search.", [], stream=stream)
    assert (outcome.stop, outcome.text, outcome.turns) == ("answer", "Found it.", 2)
    assert model.requests[1]["messages"][-1] == outcome.messages[1]
    assert stays_usable(ANTHROPIC, outcome)


@EACH_API
def test_a_stop_reason_nobody_knows_runs_nothing(api):
    sent, model = Sent(), script(Reply(calls=CALL))

    def odd(request):
        body = model.handle(request).read().decode()
        for word in ("tool_calls", "tool_use"):
            body = body.replace(f'reason": "{word}"', 'reason": "moon"')
        return httpx2.Response(200, text=body, headers={"content-type": "application/json"})

    client = {"http_client": httpx2.Client(transport=httpx2.MockTransport(odd))}
    outcome = run(api, model, "Hello.", [sent.tool], client=client)
    assert (outcome.stop, sent.ran, outcome.reasons) == ("unknown", [], ("moon",))
    assert stays_usable(api, outcome)


@EACH_API
@STREAMS
def test_a_reply_that_was_cut_is_asked_for_once_more_with_a_larger_limit(api, stream):
    sent, ledger, events = Sent(), Ledger(), []
    text = "a long text " * 40
    model = ScriptedModel(
        lambda messages: (
            Reply("Done.") if results(api, messages) else Reply(calls=[("send", {"text": text})])
        )
    )
    outcome = run(
        api,
        model,
        "Send.",
        [sent.tool],
        stream=stream,
        max_tokens=60,
        ledger=ledger,
        on_event=events.append,
    )
    name = {"openai": "max_completion_tokens", "anthropic": "max_tokens"}[api.name]
    assert [body[name] for body in model.requests] == [60, 240, 60]
    assert (outcome.stop, outcome.turns, sent.ran) == ("answer", 2, [text])
    assert len(outcome.messages) == 4, "what was cut is not in the history"
    assert [turn.usage.output for turn in ledger.turns][0] <= 60 and len(ledger.turns) == 3, (
        "but it is in the bill"
    )
    assert {"event": "retry", "turn": 1, "max_tokens": 240} in events


@EACH_API
def test_a_retry_that_is_refused_leaves_the_first_replys_row_its_results(api):
    sent, ledger = Sent(), Ledger()
    replies = [Reply(calls=[("send", {"text": "hello there"})], arguments_cut=9), Reply("Done.")]
    left = iter(replies)
    model = ScriptedModel(lambda messages: next(left), errors=[None, 400])
    outcome = run(api, model, "Send.", [sent.tool], ledger=ledger)
    assert (outcome.stop, sent.ran) == ("answer", [])
    told = count_tokens(results(api, outcome.messages)[0])
    assert [turn.result_tokens for turn in ledger.turns] == [told, 0]


@EACH_API
@STREAMS
@pytest.mark.parametrize("cut", [0, 1, 9, 15])
def test_half_an_argument_is_never_run_and_the_session_goes_on(api, stream, cut):
    sent = Sent()

    def policy(messages):
        told = results(api, messages)
        if not told:
            return Reply(
                calls=[("send", {"text": "whole"}), ("send", {"text": "hello there"})],
                arguments_cut=cut,
            )
        return Reply(calls=[("send", {"text": "short"})]) if len(told) < 3 else Reply("Sent.")

    model = ScriptedModel(policy)
    outcome = run(api, model, "Send.", [sent.tool], stream=stream)
    assert (outcome.stop, outcome.text, sent.ran) == ("answer", "Sent.", ["short"])
    first, second, _ = results(api, outcome.messages)
    assert "cut off at the limit of tokens" in first and "cut off at the limit of tokens" in second
    assert len(model.requests) == 4, "one retry, and no more"
    if api is OPENAI_CHAT:  # servers that parse the arguments of a history must be able to
        assert all(
            isinstance(json.loads(call.arguments), dict) for call in api.calls(outcome.messages[1])
        )
    assert stays_usable(api, outcome)


@EACH_API
def test_a_larger_limit_that_the_server_refuses_is_no_error(api):
    model = script(Reply("Once upon", stop="length"), errors=[None, 400])
    outcome = run(api, model, "A story.", [])
    assert (outcome.stop, outcome.text, len(model.requests)) == ("length", "Once upon", 2)
    big = script(
        Reply("Once upon", stop="length"), Reply("Once upon a time.")
    )  # Anthropic's SDK wants a stream for this
    assert run(api, big, "A story.", [], max_tokens=20_000).text.startswith("Once upon")


# --- tool_choice ---

OPENAI_TOOL = {"type": "function", "function": {"name": "send"}}
ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [OPENAI_TOOL]}}
ALLOWED_AUTO = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [OPENAI_TOOL]}}
CHOICES = [
    # api, tool_choice, what the first request says, what the second says
    (OPENAI_CHAT, "auto", "auto", "auto"),
    (OPENAI_CHAT, "required", "required", "auto"),
    (OPENAI_CHAT, "send", OPENAI_TOOL, "auto"),
    (OPENAI_CHAT, OPENAI_TOOL, OPENAI_TOOL, "auto"),
    (OPENAI_CHAT, ALLOWED, ALLOWED, ALLOWED_AUTO),
    (ANTHROPIC, "auto", {"type": "auto"}, {"type": "auto"}),
    (ANTHROPIC, "required", {"type": "any"}, {"type": "auto"}),
    (ANTHROPIC, "any", {"type": "any"}, {"type": "auto"}),
    (ANTHROPIC, "send", {"type": "tool", "name": "send"}, {"type": "auto"}),
    (
        ANTHROPIC,
        {"type": "tool", "name": "send"},
        {"type": "tool", "name": "send"},
        {"type": "auto"},
    ),
]


@pytest.mark.parametrize(("api", "choice", "first", "second"), CHOICES)
@STREAMS
def test_a_choice_of_tools_is_forced_on_the_first_turn_only(api, choice, first, second, stream):
    sent = Sent()
    model = ScriptedModel(
        lambda messages: Reply("Done.") if results(api, messages) else Reply(calls=CALL)
    )
    outcome = run(
        api, model, "Send.", [sent.tool, Tool(weather)], tool_choice=choice, stream=stream
    )
    assert [body["tool_choice"] for body in model.requests] == [first, second]
    assert (outcome.stop, outcome.text, sent.ran) == ("answer", "Done.", ["hello"])


@EACH_API
def test_none_means_no_tool_at_all(api):
    model = script(Reply("From memory."))
    outcome = run(api, model, "Hello.", [Tool(weather)], tool_choice="none", parallel=False)
    assert (
        model.requests[0]["tool_choice"]
        == {"openai": "none", "anthropic": {"type": "none"}}[api.name]
    )
    assert (outcome.text, outcome.turns) == ("From memory.", 1)
    bare = script(Reply("Hi."))
    run(api, bare, "Hello.", [])
    assert not {"tools", "tool_choice"} & set(bare.requests[0])
    with pytest.raises(ValueError, match="use auto, none, required, .*weather"):
        run(api, bare, "Hello.", [Tool(weather)], tool_choice="wether")


@EACH_API
@pytest.mark.parametrize("own_form", [False, True])
def test_one_call_at_a_time_can_be_asked_for(api, own_form):
    model, choice = script(Reply(calls=CALL), Reply("Done.")), "required"
    if own_form and api is ANTHROPIC:
        choice = {"type": "any"}
    run(api, model, "Send.", [Sent().tool], parallel=False, tool_choice=choice)
    for body, choice in zip(model.requests, ("any", "auto"), strict=True):
        if api is OPENAI_CHAT:
            assert body["parallel_tool_calls"] is False
        else:
            assert body["tool_choice"] == {"type": choice, "disable_parallel_tool_use": True}


# --- streams and arguments ---


@EACH_API
@pytest.mark.parametrize(
    "fragments", ["tidy", "characters", "arguments_first", "empty_id", "no_index", "extras"]
)
def test_a_stream_makes_the_same_session_as_whole_replies(api, fragments):
    replies = [
        Reply("Việt 🎉", calls=[("weather", {"city": "Việt \ud83c\udf89"})], thinking="Hm."),
        Reply(calls=[("send", "")]),
        Reply("Xong."),
    ]
    tools = [Tool(weather), Sent().tool]
    whole = run(api, script(*replies), "Go.", tools)
    streamed = run(api, script(*replies, fragments=fragments), "Go.", tools, stream=True)
    assert streamed == whole
    assert results(api, whole.messages) == ['{"city":"Việt 🎉","sky":"clear"}', "sent "]


@EACH_API
@STREAMS
def test_the_caller_is_told_what_happens(api, stream):
    events = []
    model = script(Reply("Looking.", calls=[("weather", {"city": "Bonn"})]), Reply("Clear."))
    run(api, model, "Weather?", [Tool(weather)], stream=stream, on_event=events.append)
    said = "".join(event["text"] for event in events if event["event"] == "text")
    assert said == ("Looking.Clear." if stream else "")
    steps = [
        (event["event"], event["turn"], event.get("name"))
        for event in events
        if event["event"] != "text"
    ]
    assert steps == [("calling", 1, "weather"), ("answered", 1, "weather"), ("stop", 2, None)]
    assert [event.get("status") for event in events if event["event"] == "answered"] == ["ok"]


@EACH_API
@STREAMS
@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("find", {"limit": "5"}, '{"limit":5}'),
        ("find", "[1]", "must be one JSON object"),
        ("find", '{"limit": true}', "limit: it should be a whole number"),
        ("find", '{"a":', "must be one JSON object"),
        ("find", {"limits": 5}, "this tool takes limit"),
        ("multi_tool_use.parallel", {"tool_uses": []}, "The tools are: find, bad."),
        ("bad", {}, "bad failed (RuntimeError)"),
    ],
)
def test_a_bad_call_is_answered_and_the_session_goes_on(api, stream, name, arguments, told):
    if api is ANTHROPIC and isinstance(arguments, str) and not arguments.startswith('{"limit'):
        stream = True  # an unstreamed response of this API holds only objects

    def find(limit: Whole = 1) -> dict:
        """Finds."""
        return {"limit": limit}

    def bad() -> str:
        """Fails."""
        raise RuntimeError

    model = script(Reply(calls=[(name, arguments), ("find", {"limit": 2})]), Reply("On."))
    outcome = run(api, model, "Go.", [Tool(find), Tool(bad)], stream=stream)
    first, second = results(api, outcome.messages)
    assert told in first and second == '{"limit":2}'
    assert outcome.text == "On."
    if api is ANTHROPIC:
        marks = [block.get("is_error", False) for block in outcome.messages[2]["content"]]
        assert marks == ["error" in first, False]


@EACH_API
def test_half_an_emoji_breaks_no_request(api):
    def echo(text: str) -> ToolResult:
        """Says it back."""
        return "cut in half: \ud83c"

    model = script(
        Reply(calls=[("echo", '{"text": "\\ud83c"}')]), Reply("So it is \ud83c."), Reply("Yes.")
    )
    outcome = run(api, model, "Go.", [Tool(echo)])
    assert results(api, outcome.messages) == ["cut in half: \ufffd"]
    assert stays_usable(api, outcome)


@pytest.mark.parametrize("stream", [False, True])
def test_thinking_goes_back_as_it_came(stream):
    """The scripted model refuses a thinking block that was changed or dropped (case 30)."""
    model = script(
        Reply("", calls=CALL, thinking="First …\n"),
        Reply("", calls=CALL, thinking="Then …"),
        Reply("Done."),
    )
    outcome = run(ANTHROPIC, model, "Go.", [Sent().tool], stream=stream)
    assert outcome.turns == 3
    assert [block["thinking"] for m in outcome.messages for block in blocks(m, "thinking")] == [
        "First …\n",
        "Then …",
    ]


# --- failures ---


@EACH_API
@STREAMS
def test_retries_with_growing_waits_are_the_sdks(api, stream):
    model = script(Reply(calls=CALL), Reply("Done."), errors=[429, 500, None, 529])
    sent = Sent()
    outcome = run(api, model, "Send.", [sent.tool], stream=stream)
    assert (outcome.text, sent.ran) == ("Done.", ["hello"])
    assert len(model.requests) == 5 and model.requests[0] == model.requests[1] == model.requests[2]


@EACH_API
def test_an_error_that_stays_is_raised_with_what_was_done(api):
    kinds = {"openai": openai.RateLimitError, "anthropic": anthropic.RateLimitError}
    model = script(Reply(calls=CALL), errors=[None, 429])
    with pytest.raises(kinds[api.name]) as caught:
        run(api, model, "Send.", [Sent().tool], client={"max_retries": 0})
    outcome = caught.value.outcome
    assert (outcome.stop, outcome.turns, results(api, outcome.messages)) == (
        "error",
        1,
        ["sent hello"],
    )
    assert stays_usable(api, outcome)


@EACH_API
def test_a_stream_that_makes_no_sense_is_raised_with_what_was_done(api):
    model = script(Reply(calls=CALL), Reply("I call nothing.", stop="calls"))
    with pytest.raises(StreamError, match="no call came") as caught:
        run(api, model, "Send.", [Sent().tool], stream=True)
    assert results(api, caught.value.outcome.messages) == ["sent hello"]
    assert stays_usable(api, caught.value.outcome)


@EACH_API
def test_an_interrupt_leaves_no_call_without_an_answer(api):
    def interrupt(event):
        if event["event"] == "answered":
            raise KeyboardInterrupt

    model = script(Reply(calls=[("send", {"text": "a"}), ("send", {"text": "b"})]))
    with pytest.raises(KeyboardInterrupt) as caught:
        run(api, model, "Send.", [Sent().tool], on_event=interrupt, at_once=1)
    first, second = results(api, caught.value.outcome.messages)
    assert first == "sent a" and "may have taken effect" in second
    assert stays_usable(api, caught.value.outcome)


@EACH_API
def test_the_same_failing_call_is_not_run_a_third_time_in_a_run(api):
    ran = []

    def book(seat: Whole) -> str:
        """Books."""
        ran.append(seat)
        raise ToolError("taken")

    model = ScriptedModel(lambda messages: Reply(calls=[("book", {"seat": 4})]))
    outcome = run(api, model, "Book.", [Tool(book)], max_steps=5)
    assert ran == [4, 4] and outcome.turns == 5
    assert all("was not run again" in text for text in results(api, outcome.messages)[2:])
    run(api, model, "Book.", [Tool(book)], max_steps=1)
    assert ran == [4, 4, 4], "a new run may try again"


@EACH_API
def test_a_tool_that_hangs_is_answered_and_the_session_goes_on(api):
    never = threading.Event()

    def hang() -> str:
        """Hangs."""
        never.wait()
        return ""

    outcome = run(
        api,
        script(Reply(calls=[("hang", {})]), Reply("It hangs.")),
        "Go.",
        [Tool(hang)],
        timeout=0.02,
    )
    assert outcome.text == "It hangs." and "did not end within" in results(api, outcome.messages)[0]
    never.set()


@EACH_API
@STREAMS
def test_a_loop_runs_inside_a_running_event_loop(api, stream):
    async def cell():
        return run(
            api, script(Reply(calls=CALL), Reply("Done.")), "Go.", [Sent().tool], stream=stream
        )

    assert asyncio.run(cell()).text == "Done."


def test_two_tools_of_one_name_are_refused():
    with pytest.raises(ValueError, match="same name"):
        run(OPENAI_CHAT, script(), "Go.", [Tool(weather), Tool(weather)])


# --- meters, log, transcript, trimming ---


@EACH_API
@STREAMS
def test_the_ledger_has_a_row_a_turn(api, stream):
    ledger = Ledger(model="scripted")
    model = script(Reply(calls=[*CALL, ("weather", {"city": "Bonn"})]), Reply("Done."))
    outcome = run(
        api,
        model,
        "Go.",
        [Sent().tool, Tool(weather)],
        stream=stream,
        ledger=ledger,
        tags={"user": "ann"},
    )
    frame = ledger.frame()
    assert list(frame.input) == [api.request_tokens(body) for body in model.requests]
    assert list(frame.result_tokens) == [sum(map(count_tokens, results(api, outcome.messages))), 0]
    assert list(frame.user) == ["ann"] * 2


@EACH_API
def test_the_log_has_a_record_a_call_with_its_turn_and_tags(api):
    stream = io.StringIO()
    replies = (
        Reply(calls=[*CALL, ("wether", {})]),
        Reply(calls=CALL, arguments_cut=4),
        Reply(calls=CALL, arguments_cut=4),
    )
    tags = {"user": "ann", "feature": "refunds"}
    run(
        api, script(*replies, Reply("Done.")), "Go.", [Sent().tool], log=json_log(stream), tags=tags
    )
    records = [json.loads(line) for line in stream.getvalue().splitlines()]
    seen = [(r["turn"], r["name"], r["status"], r["user"], r["feature"]) for r in records]
    assert sorted(seen) == [
        (1, "send", "ok", "ann", "refunds"),
        (1, "wether", "unknown_tool", "ann", "refunds"),
        (2, "send", "not_run", "ann", "refunds"),
    ]


@EACH_API
@STREAMS
def test_each_result_is_saved_as_its_call_ends_and_each_turn_before_the_next(api, stream, tmp_path):
    file = tmp_path / "chats.db"
    saved_before = []

    def policy(messages):
        saved_before.append(read_messages(file, "s") == messages)
        return Reply("Done.") if results(api, messages) else Reply(calls=CALL * 2)

    def check(event):
        if event["event"] == "answered":
            assert event["id"] not in [call.id for call in transcript.unfinished()]

    with Transcript(file, "s", api) as transcript:
        outcome = run(
            api,
            ScriptedModel(policy),
            "Go.",
            [Sent().tool],
            transcript=transcript,
            stream=stream,
            on_event=check,
        )
        assert transcript.messages() == outcome.messages
        history = [*transcript.resume(), {"role": "user", "content": "More."}]
        again = run(api, ScriptedModel(policy), history, [], transcript=transcript)
        assert transcript.messages() == again.messages
    assert saved_before == [True, True, True]


@EACH_API
def test_what_is_sent_can_be_trimmed_and_the_history_stays_whole(api):
    model = script(*[Reply(calls=CALL)] * 3, Reply("Done."))
    outcome = run(
        api, model, "Go.", [Sent().tool], trim=lambda messages: [messages[0], *messages[1:][-2:]]
    )
    assert [len(body["messages"]) for body in model.requests] == [1, 3, 3, 3]
    assert len(outcome.messages) == 8


# --- money ---

PRICES = Prices({"scripted": Price(input=3, cached_read="0.3", cache_write="3.75", output=15)})


@EACH_API
@STREAMS
def test_the_limit_stops_before_the_call_that_would_pass_it(api, stream):
    ledger, sent = Ledger(PRICES), Sent()
    limit = SpendingLimit("0.02", prices=PRICES)
    model = ScriptedModel(lambda messages: Reply(calls=[("send", {"text": "x" * 200})]))
    outcome = run(
        api,
        model,
        "Go.",
        [sent.tool],
        stream=stream,
        ledger=ledger,
        spending=limit,
        max_tokens=300,
        max_steps=99,
    )
    assert outcome.stop == "spending_limit" and 0 < outcome.turns < 99
    assert ledger.money == limit.spent <= limit.most
    body = {**model.requests[-1], "messages": outcome.messages}
    assert limit.spent + limit.worst(api, body) > limit.most, (
        "the call that was not made could have passed it"
    )
    assert len(sent.ran) == outcome.turns and stays_usable(api, outcome)


@EACH_API
def test_a_limit_too_small_for_the_first_call_costs_nothing(api):
    model, limit = script(Reply("Hi.")), SpendingLimit(0, prices=PRICES)
    outcome = run(api, model, "Go.", [], spending=limit)
    assert (outcome.stop, outcome.turns, outcome.text, model.requests, limit.spent) == (
        "spending_limit",
        0,
        "",
        [],
        0,
    )


@EACH_API
def test_a_refused_call_is_free_and_a_broken_one_counts_at_its_worst(api):
    limit = SpendingLimit(1, prices=PRICES)
    with pytest.raises((openai.BadRequestError, anthropic.BadRequestError)):
        run(api, script(window=1), "Go.", [], spending=limit)
    assert limit.spent == 0

    def lost(request):
        raise httpx2.ReadTimeout("gone", request=request)

    client = {"http_client": httpx2.Client(transport=httpx2.MockTransport(lost)), "max_retries": 0}
    with pytest.raises((openai.APITimeoutError, anthropic.APITimeoutError)):
        run(api, script(), "Go.", [], spending=limit, client=client, max_tokens=1_000)
    assert limit.spent > Decimal("0.015"), "1,000 tokens of output, and the question"


def test_runs_at_the_same_time_cannot_pass_a_limit_together():
    limit = SpendingLimit("0.03", prices=PRICES)
    body = {
        "model": "scripted",
        "max_tokens": 1_000,
        "messages": [{"role": "user", "content": "Hi."}],
    }
    with limit.hold(OPENAI_CHAT, body) as hold:
        with pytest.raises(SpendingLimitReached, match="may cost"):
            limit.hold(OPENAI_CHAT, body)
        hold.settle({"prompt_tokens": 10, "completion_tokens": 1})
    assert limit.spent == Decimal("0.000045")
    limit.hold(OPENAI_CHAT, body)


def test_what_cannot_be_bounded_is_not_begun():
    limit = SpendingLimit(1, prices=PRICES)
    with pytest.raises(KeyError, match="no price"):
        run(OPENAI_CHAT, script(), "Go.", [], model="unheard-of", spending=limit)
    with pytest.raises(ValueError, match="max_completion_tokens"):
        run(OPENAI_CHAT, script(), "Go.", [], max_tokens=None, spending=limit)
    with pytest.raises(ValueError, match="amount"):
        SpendingLimit("nan")


def test_a_live_client_comes_from_the_environment_or_not_at_all(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    assert OPENAI_CHAT.live_client() is None and ANTHROPIC.live_client() is None
    monkeypatch.setenv("ANTHROPIC_API_KEY", "key of a test")
    assert isinstance(ANTHROPIC.live_client(), anthropic.Anthropic)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://localhost:9/v1")
    client = OPENAI_CHAT.live_client(max_retries=5)
    assert isinstance(client, openai.OpenAI) and client.max_retries == 5
    assert str(client.base_url) == "http://localhost:9/v1/"


@EACH_API
def test_a_server_that_counts_nothing_is_told_of_and_paid_for_at_its_worst(api, caplog):
    model, limit, ledger = script(Reply("Hi.")), SpendingLimit(1, prices=PRICES), Ledger(PRICES)

    def silent(request):
        body = json.loads(model.handle(request).read())
        return httpx2.Response(
            200, json={name: value for name, value in body.items() if name != "usage"}
        )

    client = {"http_client": httpx2.Client(transport=httpx2.MockTransport(silent))}
    outcome = run(
        api, model, "Hello.", [], client=client, spending=limit, ledger=ledger, max_tokens=1_000
    )
    assert (outcome.text, ledger.turns) == ("Hi.", [])
    assert "no usage" in caplog.text and limit.spent > Decimal("0.015")


# --- anything at all ---

ARGUMENTS = st.sampled_from([{}, {"text": "a"}, {"text": 1}, {"no": 1}]) | st.text(max_size=8)
REPLIES = st.builds(
    Reply,
    text=st.sampled_from(["", " ", "Hm.", "Việt \ud83c"]),
    calls=st.lists(st.tuples(st.sampled_from(["send", "fails", "nowhere"]), ARGUMENTS), max_size=3),
    stop=st.sampled_from(
        [
            None,
            None,
            "end",
            "length",
            "refusal",
            "content_filter",
            "pause",
            "stop_sequence",
            "window",
        ]
    ),
    thinking=st.sampled_from([None, "So."]),
)


@EACH_API
@settings(max_examples=40)
@given(
    replies=st.lists(REPLIES, min_size=1, max_size=4),
    stream=st.booleans(),
    limit=st.sampled_from([5, 30, 4_096]),
)
def test_whatever_a_model_says_the_run_ends_and_its_history_can_go_on(api, replies, stream, limit):
    def fails() -> str:
        """Fails."""
        raise ToolError("no")

    if api is ANTHROPIC and not stream:  # an unstreamed response holds only objects
        replies = [
            replace(reply, calls=[(name, {"text": text}) for name, text in reply.calls])
            for reply in replies
        ]
    turn = iter(replies * 99)
    model = ScriptedModel(lambda messages: next(turn))
    outcome = run(
        api, model, "Go.", [Sent().tool, Tool(fails)], stream=stream, max_tokens=limit, max_steps=4
    )
    assert outcome.stop in STOPS and 1 <= outcome.turns <= 4
    assert len(model.requests) <= 2 * outcome.turns
    assert all(text.strip() for text in results(api, outcome.messages))
    assert api.fault([*outcome.messages, {"role": "user", "content": "And now?"}]) is None


# --- replies that are in nobody's form ---


def raw_openai(*replies):
    """A real client whose server sends these bodies, whatever is asked."""
    left = iter(replies)
    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, json=next(left)))
    return openai.OpenAI(
        api_key="none", max_retries=0, http_client=httpx2.Client(transport=transport)
    )


def completion(calls=(), usage=None, **message):
    """A Chat Completions body; `calls` are (id, name)."""
    tool_calls = [
        {"id": i, "type": "function", "function": {"name": n, "arguments": "{}"}} for i, n in calls
    ]
    said = {"role": "assistant", "content": None, **message} | (
        {"tool_calls": tool_calls} if calls else {}
    )
    choice = {"index": 0, "message": said, "finish_reason": "tool_calls" if calls else "stop"}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    return body | ({"usage": usage} if usage else {})


@pytest.mark.parametrize(
    "calls", [[("a", "send"), ("a", "send")], [("", "send")], [(None, "send")]]
)
def test_calls_that_no_answer_could_match_are_not_run(calls):
    sent = Sent()
    with pytest.raises(StreamError, match="none was run") as caught:
        loop.run(OPENAI_CHAT, raw_openai(completion(calls)), "Go.", [sent.tool], model="m")
    assert sent.ran == []
    assert OPENAI_CHAT.fault(caught.value.outcome.messages) is None


def test_an_id_that_was_used_before_is_not_run_again():
    sent = Sent()
    client = raw_openai(completion([("a", "send")]), completion([("a", "send")]))
    with pytest.raises(StreamError, match="the id a was used before"):
        loop.run(OPENAI_CHAT, client, "Go.", [sent.tool], model="m")
    assert len(sent.ran) == 1


@pytest.mark.parametrize("choices", [[], None, [{"index": 0}]])
def test_a_response_without_a_message_is_a_clear_error(choices):
    body = {**completion(), "choices": choices}
    with pytest.raises(StreamError, match="not in the API's form"):
        loop.run(OPENAI_CHAT, raw_openai(body), "Go.", [], model="m")


def test_calls_beside_a_refusal_are_not_run():
    sent = Sent()
    reply = Reply("I won't.", calls=[("send", {})], stop="refusal")
    outcome = run(OPENAI_CHAT, script(reply), "Go.", [sent.tool])
    assert (outcome.stop, sent.ran) == ("refusal", [])
    assert stays_usable(OPENAI_CHAT, outcome)


def test_a_turn_without_usage_leaves_the_row_before_alone():
    usage = {"prompt_tokens": 10, "completion_tokens": 1, "total_tokens": 11}
    client = raw_openai(
        completion([("a", "send")], usage),
        completion([("b", "weather")]),
        completion(content="Done."),
    )
    ledger = Ledger()
    loop.run(OPENAI_CHAT, client, "Go.", [Sent().tool, Tool(weather)], model="m", ledger=ledger)
    frame = ledger.frame()
    assert frame["result_tokens"].tolist() == [count_tokens("sent ")]


@EACH_API
def test_a_limit_among_the_options_is_the_limit(api):
    model = script(Reply("word " * 100), Reply("word " * 100))
    outcome = run(api, model, "Go.", [], options={"max_tokens": 50})
    limits = [body.get("max_tokens") for body in model.requests]
    assert (outcome.stop, limits) == ("answer", [50, 200])


def test_the_worst_price_counts_every_choice_asked_for():
    limit = SpendingLimit("1", prices=PRICES)
    body = {
        "model": "scripted",
        "messages": [{"role": "user", "content": "Hi"}],
        "max_completion_tokens": 4096,
    }
    one, eight = (
        limit.worst(OPENAI_CHAT, body),
        limit.worst(OPENAI_CHAT, {**body, "n": 8, "max_tokens": 1}),
    )
    assert eight - one == 7 * 4096 * Decimal(15) / 1_000_000


def test_the_worst_price_is_the_dearest_that_input_can_have():
    dear = Price(input=1, cached_read=5, output=1)
    limit = SpendingLimit("1", prices=Prices({"scripted": dear}))
    body = {"model": "scripted", "messages": [{"role": "user", "content": "Hi"}], "max_tokens": 1}
    assert limit.worst(OPENAI_CHAT, body) > 5 * Decimal(100) / 1_000_000, "all of it cached"


def test_a_usage_that_cannot_be_does_not_lose_the_reply():
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    body = completion(
        content="Done.", usage={**usage, "prompt_tokens_details": {"cached_tokens": 9}}
    )
    ledger = Ledger()
    outcome = loop.run(OPENAI_CHAT, raw_openai(body), "Go.", [], model="m", ledger=ledger)
    assert (outcome.text, len(ledger.frame())) == ("Done.", 0)


def test_a_second_try_that_is_overloaded_keeps_the_first_reply():
    cut = completion(content="Half an ans")
    cut["choices"][0]["finish_reason"] = "length"
    answers = iter(
        [httpx2.Response(200, json=cut), httpx2.Response(529, json={"error": {"message": "busy"}})]
    )
    transport = httpx2.MockTransport(lambda request: next(answers))
    client = openai.OpenAI(
        api_key="none", max_retries=0, http_client=httpx2.Client(transport=transport)
    )
    outcome = loop.run(OPENAI_CHAT, client, "Go.", [], model="m")
    assert (outcome.text, outcome.stop) == ("Half an ans", "length")
