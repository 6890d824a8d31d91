"""Streams put together: the message that an unstreamed reply would have been, or a clear refusal,
and never a guess.
"""

import json
from typing import Annotated

import anthropic
import httpx2
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from apis import EACH_API
from toolresults.agent.anthropic import ANTHROPIC
from toolresults.agent.api import UNPARSED, StreamError
from toolresults.agent.openai_chat import OPENAI_CHAT
from toolresults.scripted import STYLES, Reply, ScriptedModel
from toolresults.tools import Tool
from wire_cases import USER

TRICKY = Reply(
    "Xin chào 😀 \u2028\x85\r\n```json\n{} {}\n```",
    calls=[
        ("search", '{"q":"h\\u00e9\\ud83d\\ude00 \\"x\\"","n":[1,2]}'),
        ("now", {}),
        ("search", {"q": "😀 Việt"}),
    ],
    thinking="Hm. 😀",
)


class Wire:
    """Both real clients on one model that can be exchanged, with the response's bytes cut wherever
    a test wants.
    """

    def __init__(self):
        client = httpx2.Client(transport=httpx2.MockTransport(self.handle))
        options = {"api_key": "x", "http_client": client, "max_retries": 0}
        self.openai = openai.OpenAI(base_url="https://model.invalid/v1", **options)
        self.anthropic = anthropic.Anthropic(base_url="https://model.invalid", **options)
        self.cuts = ()

    def handle(self, request):
        response = self.model.handle(request)
        body = response.read()
        edges = [0, *sorted(cut % (len(body) + 1) for cut in self.cuts), len(body)]

        class Pieces(httpx2.SyncByteStream):
            def __iter__(self):
                return (body[start:end] for start, end in zip(edges, edges[1:], strict=False))

        headers = {"content-type": response.headers["content-type"]}
        return httpx2.Response(response.status_code, stream=Pieces(), headers=headers)

    def ask(self, api, reply, *, stream, fragments=None, cuts=(), usage=True, **options):
        self.model, self.cuts = ScriptedModel(lambda messages: reply, fragments=fragments), cuts
        if api is OPENAI_CHAT:
            if stream and usage:
                options["stream_options"] = {"include_usage": True}
            return self.openai.chat.completions.create(
                model="m", messages=[USER], stream=stream, **options
            )
        options = {"max_tokens": 10_000, **options}
        return self.anthropic.messages.create(model="m", messages=[USER], stream=stream, **options)


WIRE = Wire()


@pytest.mark.parametrize("style", STYLES)
@EACH_API
def test_streamed_and_unstreamed_are_the_same(api, style):
    whole = api.received(WIRE.ask(api, TRICKY, stream=False))
    pieces = api.assemble(WIRE.ask(api, TRICKY, stream=True, fragments=style))
    assert pieces == whole
    assert json.dumps(pieces.message) == json.dumps(
        whole.message
    )  # and the same bytes, for a prompt cache


@EACH_API
def test_awkward_goes_through_every_awkward_style(api):
    model = ScriptedModel(lambda messages: TRICKY, fragments="awkward")
    seen = set()
    for _ in range(len(STYLES) - 2):
        WIRE.model = model
        request = {"model": "m", "messages": [USER], "stream": True, "max_tokens": 10_000}
        path = "/v1/chat/completions" if api is OPENAI_CHAT else "/v1/messages"
        body = (
            model.handle(httpx2.Request("POST", f"https://model.invalid{path}", json=request))
            .read()
            .decode()
        )
        seen.add(body.replace("chatcmpl-", "").replace("msg_", ""))
    assert len(seen) == len(STYLES) - 2


texts = st.text(max_size=30) | st.sampled_from(
    ["😀" * 9, "\u2028\x85\x0b\r\n", 'data: {"a":1}\n\n', "{}{}"]
)
arguments = st.dictionaries(
    st.text(max_size=5), st.text(max_size=8) | st.integers() | st.lists(st.none()), max_size=3
)
replies = st.builds(
    Reply,
    texts,
    calls=st.lists(st.tuples(st.sampled_from(["search", "now"]), arguments), max_size=3),
    thinking=st.none() | texts,
)


@EACH_API
@settings(max_examples=30)
@given(
    reply=replies,
    style=st.sampled_from(sorted(STYLES)),
    cuts=st.lists(st.integers(0, 10**6), max_size=40),
)
def test_any_reply_in_any_style_survives_any_cut_of_its_bytes(api, reply, style, cuts):
    whole = api.received(WIRE.ask(api, reply, stream=False))
    assert api.assemble(WIRE.ask(api, reply, stream=True, fragments=style, cuts=cuts)) == whole


@EACH_API
def test_one_byte_at_a_time(api):
    whole = api.received(WIRE.ask(api, TRICKY, stream=False))
    stream = WIRE.ask(api, TRICKY, stream=True, fragments="characters", cuts=range(20_000))
    assert api.assemble(stream) == whole


@EACH_API
@given(data=st.data())
@settings(max_examples=15)
def test_a_connection_that_breaks_off_makes_no_reply(api, data):
    """Cut anywhere before the reason for stopping, a stream gives an error: no half reply is taken
    for a whole.
    """
    lines = list(WIRE.ask(api, TRICKY, stream=True, fragments="tidy"))
    last = next(
        i
        for i, event in enumerate(lines)
        if '"tool_' in event.model_dump_json() and _stops(api, event)
    )
    with pytest.raises(StreamError):
        api.assemble(lines[: data.draw(st.integers(0, last))])
    assert api.assemble(lines).stop in ("tool_calls", "tool_use")


def _stops(api, event):
    if api is OPENAI_CHAT:
        return bool(event.choices and event.choices[0].finish_reason)
    return event.type == "message_delta"


@EACH_API
def test_the_host_hears_of_calls_and_text_as_they_come(api):
    said, calling = [], []
    stream = WIRE.ask(api, TRICKY, stream=True)
    seen_at = []

    def watched():
        for event in stream:
            yield event
            seen_at.append(len(calling))

    got = api.assemble(watched(), on_call=calling.append, on_text=said.append)
    assert calling == [call.name for call in api.calls(got.message)] == ["search", "now", "search"]
    assert "".join(said) == TRICKY.text and len(said) > 1
    assert 1 in seen_at and 2 in seen_at  # told while the stream was still going on


def test_usage_is_none_where_the_server_sends_none():
    assert (
        OPENAI_CHAT.assemble(WIRE.ask(OPENAI_CHAT, TRICKY, stream=True, usage=False)).usage is None
    )


@Tool
def count(status: Annotated[str, Field(description="One of paid, refunded.")] = "paid") -> dict:
    """Counts orders."""
    return {"n": 7, "status": status}


@pytest.mark.parametrize("style", ["tidy", "characters", "whole"])
@pytest.mark.parametrize("cut", [0, 1, 9, 20])
def test_arguments_cut_at_the_limit_never_become_a_plausible_call(style, cut):
    reply = Reply(calls=[("count", {"status": "refunded"})], arguments_cut=cut)
    got = OPENAI_CHAT.assemble(WIRE.ask(OPENAI_CHAT, reply, stream=True, fragments=style))
    assert got.stop == "length"
    text = OPENAI_CHAT.calls(got.message)[0].arguments
    half = {UNPARSED: '{"status":"refunded"}'[:cut]}
    assert json.loads(text) == (half if cut else {})
    got = ANTHROPIC.assemble(WIRE.ask(ANTHROPIC, reply, stream=True, fragments=style))
    assert got.stop == "max_tokens"
    value = ANTHROPIC.calls(got.message)[0].arguments
    assert value == (half if cut else {})
    if cut:  # and run by accident, it is refused
        assert count.call(text).is_error and count.call(value).is_error


@pytest.mark.parametrize("text", ['{"a":', "[1]", '"x"', "NaN", '{"a":NaN}', "{'a':1}"])
def test_malformed_arguments_reach_the_tool_as_malformed(text):
    reply = Reply(calls=[("count", text)])
    got = OPENAI_CHAT.assemble(WIRE.ask(OPENAI_CHAT, reply, stream=True)).message
    arguments = OPENAI_CHAT.calls(got)[0].arguments
    assert arguments == text or json.loads(arguments) == {UNPARSED: text}
    assert count.call(arguments).is_error
    got = ANTHROPIC.assemble(WIRE.ask(ANTHROPIC, reply, stream=True)).message
    assert ANTHROPIC.calls(got)[0].arguments == {UNPARSED: text}


def piece(arguments="", **more):
    """One fragment of a call; `name` and the rest as given."""
    function = {"arguments": arguments} | ({"name": more.pop("name")} if "name" in more else {})
    return more | {"function": function}


def openai_stream(*fragments, stop="tool_calls"):
    deltas = [{"choices": [{"index": 0, "delta": {"tool_calls": [one]}}]} for one in fragments]
    return [
        *deltas,
        {"choices": [{"index": 0, "delta": {}, "finish_reason": stop}]},
        {"choices": [], "usage": {"n": 1}},
    ]


A, B = {"id": "a", "name": "f"}, {"id": "b", "name": "g"}


@pytest.mark.parametrize(
    ("fragments", "expected"),
    [
        ([piece("", index=0, **A)], [("a", "{}")]),
        ([piece("", index=0, **A), piece(" ", index=0)], [("a", "{}")]),
        ([piece('{"x":', index=0), piece("1}", index=0), piece("", index=0, **A)],
         [("a", '{"x":1}')]),
        ([piece("{}", index=0, **A), piece("{}", index=0, **B)], [("a", "{}"), ("b", "{}")]),
        ([piece("{", index=0, **A), piece("{", index=0, **B),
          piece("}", index=0, id="a"), piece("}", index=0, id="b")],
         [("a", "{}"), ("b", "{}")]),
        ([piece("{", **A), piece("}"), piece("{", **B), piece("}")], [("a", "{}"), ("b", "{}")]),
        ([piece("{", index=0, **A), piece("{", index=1, **B),
          piece("}", index=0), piece("}", index=1)],
         [("a", "{}"), ("b", "{}")]),
        ([piece("{}", index=1, **B), piece("{}", index=0, **A)], [("b", "{}"), ("a", "{}")]),
        ([piece("{", index=0, **A), piece("}", index=0, id="", name=None)], [("a", "{}")]),
        ([piece('{"x":"', index=0, **A), piece("\ud83d", index=0), piece('\ude00"}', index=0)],
         [("a", '{"x":"😀"}')]),
        ([piece(None, index=0, **A), piece("{}", index=0)], [("a", "{}")]),
    ],
)  # fmt: skip
def test_openai_fragments_with_one_place_to_belong(fragments, expected):
    got = OPENAI_CHAT.assemble(openai_stream(*fragments))
    assert [(call.id, call.arguments) for call in OPENAI_CHAT.calls(got.message)] == expected
    assert got.usage == {"n": 1}


@pytest.mark.parametrize(
    ("fragments", "why"),
    [
        ([piece("{}")], "without an index"),
        ([piece("{}", index=0)], "id"),
        ([piece("{}", index=0, id="a")], "name"),
        ([piece("{", index=0, **A), piece("{", index=0, **B), piece("}", index=0)], "to a or to b"),
        ([piece("", index=0, **A), piece("", index=0, **B), piece("{}", index=0)], "to a or to b"),
        ([piece("", index=0, **A), piece("", index=1, **B), piece("{}")], "to a or to b"),
        (
            [piece("", index=0, **A), piece("{}", index=0), piece("", index=0, **B)],
            "of b may have gone to another",
        ),
        (
            [
                piece("{}", index=0),
                piece("", index=0, **A),
                piece("{}", index=0),
                piece("", index=0, **B),
            ],
            "two calls",
        ),
        ([piece("{}", index=0), piece("", **A)], "came before"),
        ([piece('{"x":1}', index=0, **A), piece('{"x":2}', index=0, **A)], "two calls"),
        ([piece("{}", index=0, **A), piece("{}", index=1, **A)], "two calls have the id a"),
        ([piece("{}", index=0, **A), piece("", index=0, id="a", name="g")], "two names"),
        ([piece({"x": 1}, index=0, **A)], "dict"),
        ([], "no call came"),
    ],
)
def test_openai_fragments_that_could_belong_to_two_are_refused(fragments, why):
    with pytest.raises(StreamError, match=why):
        OPENAI_CHAT.assemble(openai_stream(*fragments))


def test_more_than_one_choice_is_refused():
    with pytest.raises(StreamError, match="n=1"):
        OPENAI_CHAT.assemble(
            [{"choices": [{"index": 1, "delta": {"content": "x"}, "finish_reason": "stop"}]}]
        )


@st.composite
def muddled(draw):
    """Two calls in pieces, mixed up, with indexes and ids there or not; and what they were."""
    truth, queues = [], []
    for k, (id, name) in enumerate((("a", "f"), ("b", "g"))):
        text = draw(st.sampled_from(["", "{}", '{"x":1}', '{"x":{"y":2}}', '{"x":"} {"}', "{ }"]))
        edges = sorted(draw(st.lists(st.integers(0, len(text)), max_size=3)))
        pieces = [text[i:j] for i, j in zip([0, *edges], [*edges, len(text)], strict=True)]
        index = draw(st.sampled_from([k, 0, None]))
        queue = [piece(pieces[0], id=id, name=name) | ({} if index is None else {"index": index})]
        for more in pieces[1:]:
            place = {} if index is None or draw(st.booleans()) else {"index": index}
            queue.append(
                piece(more)
                | place
                | draw(st.sampled_from([{}, {"id": ""}, {"id": None}, {"id": id}]))
            )
        truth.append((id, json.loads(text or "{}")))
        queues.append(queue)
    mixed = []
    while any(queues):
        mixed.append(draw(st.sampled_from([queue for queue in queues if queue])).pop(0))
    return mixed, sorted(truth)


@settings(max_examples=100)
@given(muddled())
def test_muddled_calls_are_right_or_refused(case):
    fragments, truth = case
    try:
        got = OPENAI_CHAT.assemble(openai_stream(*fragments))
    except StreamError:
        return
    assert (
        sorted((call.id, json.loads(call.arguments)) for call in OPENAI_CHAT.calls(got.message))
        == truth
    )


def start(index, kind="tool_use", **fields):
    block = {
        "type": kind,
        **({"id": "a", "name": "f", "input": {}} if kind == "tool_use" else {}),
        **fields,
    }
    return {"type": "content_block_start", "index": index, "content_block": block}


def delta(index, text, kind="input_json_delta", field="partial_json"):
    return {"type": "content_block_delta", "delta": {"type": kind, field: text}} | (
        {} if index is None else {"index": index}
    )


def end(index):
    return {"type": "content_block_stop"} | ({} if index is None else {"index": index})


STOP = {
    "type": "message_delta",
    "delta": {"stop_reason": "tool_use"},
    "usage": {"output_tokens": 1},
}


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ([start(0), delta(0, ""), end(0)], [("a", {})]),
        ([start(0, input={"x": 1}), end(0)], [("a", {"x": 1})]),
        ([start(0), delta(None, '{"x":'), delta(None, "1}"), end(None)], [("a", {"x": 1})]),
        ([start(0), delta(0, "{}"), end(0), start(0, id="b"), end(0)], [("a", {}), ("b", {})]),
        ([start(0), start(1, id="b"), delta(1, '{"x":1}'), delta(0, '{"x":2}'), end(0), end(1)],
         [("a", {"x": 2}), ("b", {"x": 1})]),
        ([start(0), delta(0, '{"x":"\ud83d'), delta(0, '\ude00"}'), {"type": "sunrise"}, end(0)],
         [("a", {"x": "😀"})]),
        ([start(0, "text", text=""), delta(0, " ", "text_delta", "text"), end(0), start(1), end(1)],
         [("a", {})]),
    ],
)  # fmt: skip
def test_anthropic_events_with_one_place_to_belong(events, expected):
    got = ANTHROPIC.assemble([*events, STOP])
    assert [
        (block["id"], block["input"]) for block in got.message["content"]
    ] == expected  # blank text is gone


@pytest.mark.parametrize(
    ("events", "why"),
    [
        ([start(0), delta(0, "{}"), end(0)], "stop_reason"),
        ([start(0), delta(0, "{}"), STOP], "inside a block"),
        ([start(0), start(0, id="b"), delta(0, "{}"), end(0), end(0), STOP], "2 open blocks"),
        ([start(0), start(1, id="b"), delta(None, "{}"), end(0), end(1), STOP], "2 open blocks"),
        ([start(0), end(0), delta(0, "{}"), STOP], "0 open blocks"),
        ([delta(0, "{}"), STOP], "0 open blocks"),
        (
            [start(0), delta(0, "hi", "text_delta", "text"), end(0), STOP],
            "text_delta came for a tool_use",
        ),
        (
            [start(0, "text", text=""), delta(0, "{}"), end(0), STOP],
            "input_json_delta came for a text",
        ),
        ([start(0), delta(0, '{"x":1}{"x":2}'), end(0), STOP], "two calls"),
        ([start(0), end(0), start(1), end(1), STOP], "id"),
        ([start(0, id=""), end(0), STOP], "id"),
        ([start(0, name=""), end(0), STOP], "name"),
        ([start(0, "text", text="x"), end(0), STOP], "no call came"),
        ([{"type": "error", "error": {"type": "overloaded_error"}}], "overloaded_error"),
    ],
)
def test_anthropic_events_that_make_no_sense_are_refused(events, why):
    with pytest.raises(StreamError, match=why):
        ANTHROPIC.assemble(events)


def test_thinking_comes_back_whole_and_redacted_thinking_as_it_is():
    hidden = {"type": "redacted_thinking", "data": "xyz"}
    events = [
        start(0, "thinking", thinking="", signature=""),
        delta(0, "Count", "thinking_delta", "thinking"),
        delta(0, " them.\n", "thinking_delta", "thinking"),
        delta(0, "sig", "signature_delta", "signature"),
        end(0),
        {"type": "content_block_start", "index": 1, "content_block": hidden},
        end(1),
        start(2),
        end(2),
        STOP,
    ]
    content = ANTHROPIC.assemble(events).message["content"]
    assert content[:2] == [
        {"type": "thinking", "thinking": "Count them.\n", "signature": "sig"},
        hidden,
    ]
