"""The scripted model behind the real SDKs: as strict as the real APIs, and exact about what a
request weighs.
"""

import json
import threading

import anthropic
import httpx2
import openai
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apis import APIS, EACH_API, request_text
from toolresults.agent.anthropic import ANTHROPIC
from toolresults.agent.api import UNPARSED, tokens_of
from toolresults.agent.openai_chat import OPENAI_CHAT
from toolresults.scripted import Reply, ScriptedModel
from toolresults.tokens import count_tokens
from wire_cases import ACCEPTED, BROKEN, EVERY_BROKEN, USER, assistant, result, text, tool, user

TOOLS = {
    "openai": [
        {"type": "function", "function": {"name": name, "parameters": {}}}
        for name in ("count", "find")
    ],
    "anthropic": [{"name": name, "input_schema": {"type": "object"}} for name in ("count", "find")],
}
BAD_REQUEST = (openai.BadRequestError, anthropic.BadRequestError)


def say(*replies: Reply):
    """A policy that gives its replies one after the other, and the last one for ever."""
    left = list(replies)
    return lambda messages: left.pop(0) if len(left) > 1 else left[0]


def ask(model: ScriptedModel, api: str, messages: list, **options):
    """One request through the real SDK of `api`."""
    if api is OPENAI_CHAT:
        return model.client(OPENAI_CHAT).chat.completions.create(
            model="m", messages=messages, **options
        )
    return model.client(ANTHROPIC).messages.create(
        model="m", messages=messages, **{"max_tokens": 1_000, **options}
    )


def spent(api: str, response) -> tuple[int, int]:
    """Input and output tokens of a response, cached ones among them."""
    usage = response.usage
    if api is OPENAI_CHAT:
        assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
        return usage.prompt_tokens, usage.completion_tokens
    read, written = usage.cache_read_input_tokens, usage.cache_creation_input_tokens
    return usage.input_tokens + read + written, usage.output_tokens


@EACH_API
def test_a_reply_comes_back_through_the_real_client(api):
    model = ScriptedModel(
        say(Reply("Let me look.", calls=[("count", {"name": "Việt"}), ("find", "")]))
    )
    message, stop, _ = api.received(ask(model, api, [USER], tools=TOOLS[api.name]))
    found = api.calls(message)
    assert [call.name for call in found] == ["count", "find"]
    if api is OPENAI_CHAT:
        assert isinstance(ask(model, api, [USER]), openai.types.chat.ChatCompletion)
        assert (stop, message["content"]) == ("tool_calls", "Let me look.")
        assert [call.arguments for call in found] == ['{"name":"Việt"}', "{}"]
    else:
        assert isinstance(ask(model, api, [USER]), anthropic.types.Message)
        assert (stop, message["content"][0]) == ("tool_use", text("Let me look."))
        assert [call.arguments for call in found] == [{"name": "Việt"}, {}]
    assert model.requests[0]["messages"] == [USER] and model.requests[0]["tools"] == TOOLS[api.name]


@EACH_API
def test_accepted_lists_get_an_answer(api):
    for messages in ACCEPTED[api.name]:
        assert api.received(ask(ScriptedModel(say(Reply("ok"))), api, messages)).message["content"]


@pytest.mark.parametrize(("api", "why"), EVERY_BROKEN)
def test_each_broken_rule_is_http_400_naming_its_culprit(api, why):
    messages, culprit = BROKEN[api.name][why]
    model = ScriptedModel(say(Reply("The policy was asked.")))
    with pytest.raises(BAD_REQUEST) as caught:
        ask(model, api, messages)
    assert caught.value.status_code == 400 and culprit in str(caught.value)
    assert len(model.requests) == 1  # refused at once, not retried


def test_thinking_is_returned_unchanged_while_its_turn_lasts():
    script = [Reply(calls=[("count", {})], thinking="Count them.")] * 2 + [Reply("Seven.")]
    model = ScriptedModel(say(*script))
    first = ANTHROPIC.received(ask(model, ANTHROPIC, [USER])).message
    assert [block["type"] for block in first["content"]] == ["thinking", "tool_use"]
    answer = user(result("toolu_1"))
    bare = {**first, "content": first["content"][1:]}
    with pytest.raises(anthropic.BadRequestError, match="toolu_1"):
        ask(model, ANTHROPIC, [USER, bare, answer])
    second = ANTHROPIC.received(ask(model, ANTHROPIC, [USER, first, answer])).message
    going_on = [second, user(result("toolu_2"))]
    with pytest.raises(
        anthropic.BadRequestError, match="toolu_1"
    ):  # two model calls back, and still the same turn
        ask(model, ANTHROPIC, [USER, bare, answer, *going_on])
    third = ANTHROPIC.received(ask(model, ANTHROPIC, [USER, first, answer, *going_on])).message
    ask(model, ANTHROPIC, [USER, bare, answer, *going_on, third, USER])


@EACH_API
def test_a_request_over_the_window_is_refused_as_the_real_api_does(api):
    messages = [{"role": "user", "content": "one two three " * 50}]
    size = api.request_tokens({"messages": messages})
    assert ask(ScriptedModel(say(Reply("ok")), window=size), api, messages)
    with pytest.raises(BAD_REQUEST) as caught:
        ask(ScriptedModel(say(Reply("ok")), window=size - 1), api, messages)
    assert str(size) in str(caught.value) and str(size - 1) in str(caught.value)
    if api is OPENAI_CHAT:
        assert caught.value.code == "context_length_exceeded"
    else:
        assert caught.value.type == "invalid_request_error"
        assert f"prompt is too long: {size} tokens > {size - 1} maximum" in str(caught.value)


def session(api: str, turns: int = 4) -> tuple[list, list[tuple[int, int]]]:
    """The history and the (input, output) tokens of a small session: a call a turn, then a word."""
    replies = [
        Reply("Look.", calls=[("count", {"page": k})], thinking="hm") for k in range(turns)
    ] + [Reply("Seven.")]
    model, messages, used = ScriptedModel(say(*replies)), [USER], []
    for _ in replies:
        response = ask(model, api, messages, tools=TOOLS[api.name])
        used.append(spent(api, response))
        messages.append(api.received(response).message)
        ids = [call.id for call in api.calls(messages[-1])]
        if ids:
            said = '{"total_matches":7}'
            messages += (
                [tool(id, said) for id in ids]
                if api is OPENAI_CHAT
                else [user(*(result(id, said) for id in ids))]
            )
    return messages, used


@EACH_API
def test_usage_is_exact_and_repeats(api):
    messages, used = session(api)
    assert session(api) == (messages, used)
    sent = [k for k, message in enumerate(messages) if message["role"] == "assistant"]
    for k, (read, _) in zip(sent, used, strict=True):
        body = {"tools": TOOLS[api.name], "messages": messages[:k]}
        assert read == api.request_tokens(body) == count_tokens(request_text(api, body))


@EACH_API
def test_what_a_turn_puts_out_and_its_results_are_what_the_next_one_reads_more(api):
    messages, used = session(api)
    answers = [
        message
        for message in messages
        if message["role"] == ("tool" if api is OPENAI_CHAT else "user")
    ]
    answers = [message for message in answers if message is not USER]
    hidden = (
        count_tokens("assistant\nhm\n") if api is OPENAI_CHAT else 0
    )  # OpenAI bills its thinking and keeps it
    for (read, out), (read_next, _), answer in zip(used, used[1:], answers, strict=False):
        assert read_next - read == out - hidden + tokens_of(api.parts(answer))


def test_a_result_weighs_what_its_own_text_does():
    said = '{"note":"say \\"hi\\"","items":[1,2,3]}'
    for api, empty, full in (
        (OPENAI_CHAT, tool("call_1", ""), tool("call_1", said)),
        (ANTHROPIC, user(result("toolu_1", "")), user(result("toolu_1", said))),
    ):
        header = api.request_tokens({"messages": [empty]})
        assert (
            header + count_tokens(said) - 1
            <= api.request_tokens({"messages": [full]})
            <= header + count_tokens(said)
        )


values = st.text() | st.sampled_from(
    [" ", "\n", "/", "a/\n", "  \n ", "<|endoftext|>", "\ud83d", "'s"]
)


@settings(max_examples=50)
@given(st.lists(st.tuples(values, values), min_size=1, max_size=5))
def test_parts_add_up_to_the_whole_text(pairs):
    """So a cache may count a prefix made of whole parts, and still agree with the whole to the
    token.
    """
    messages = [
        message
        for said, got in pairs
        for message in (assistant(text(said)), user(result("toolu_1", got)))
    ]
    body = {"system": pairs[0][0], "messages": messages}
    assert ANTHROPIC.request_tokens(body) == count_tokens(request_text(ANTHROPIC, body))
    messages = [
        m
        for said, got in pairs
        for m in ({"role": "assistant", "content": said}, tool("call_1", got))
    ]
    assert OPENAI_CHAT.request_tokens({"messages": messages}) == count_tokens(
        request_text(OPENAI_CHAT, {"messages": messages})
    )


def test_null_fields_and_cache_marks_weigh_nothing():
    mark = {"cache_control": {"type": "ephemeral"}}
    plain = {
        "tools": TOOLS["anthropic"],
        "system": [text("Be brief.")],
        "messages": [user(text("Hi"))],
    }
    marked = {
        "tools": [*TOOLS["anthropic"][:1], TOOLS["anthropic"][1] | mark],
        "system": [text("Be brief.") | mark],
        "messages": [
            user(
                text("Hi")
                | {"citations": None}
                | {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
            )
        ],
    }
    assert request_text(ANTHROPIC, plain) == request_text(ANTHROPIC, marked)
    assert [part.breakpoint for part in ANTHROPIC.request_parts(marked)] == [
        False,
        True,
        True,
        "1h",
    ]
    automatic = ANTHROPIC.request_parts(plain | mark)
    assert [part.breakpoint for part in automatic] == [False, False, False, True]
    said = {"role": "assistant", "content": "Hi"}
    empty = said | {"refusal": None, "tool_calls": None, "audio": None}
    assert request_text(OPENAI_CHAT, {"messages": [said]}) == request_text(
        OPENAI_CHAT, {"messages": [empty]}
    )


class HalfCached:
    """A cache that holds the first part of every request, and writes the second."""

    written_1h = 0

    def read(self, parts):
        return tokens_of(parts[:1]), tokens_of(parts[1:2])


@EACH_API
def test_cached_tokens_are_reported_as_each_vendor_does(api):
    messages = [user(text("one two three")), user(text("four five")), user(text("six"))]
    response = ask(ScriptedModel(say(Reply("ok")), cache=HalfCached()), api, messages)
    uncached = ask(ScriptedModel(say(Reply("ok"))), api, messages)
    assert spent(api, response) == spent(api, uncached)
    parts, usage = api.request_parts({"messages": messages}), response.usage
    if api is OPENAI_CHAT:
        assert usage.prompt_tokens_details.cached_tokens == tokens_of(parts[:1])
    else:
        assert usage.cache_read_input_tokens == tokens_of(parts[:1])
        assert usage.cache_creation_input_tokens == tokens_of(parts[1:2])
        assert usage.cache_creation.ephemeral_5m_input_tokens == tokens_of(parts[1:2])
        assert usage.input_tokens == tokens_of(parts[2:])


@EACH_API
def test_the_sdks_retry_what_may_pass(api):
    model = ScriptedModel(say(Reply("ok")), errors=(429, 529))
    assert api.received(ask(model, api, [USER])).message["content"]
    assert len(model.requests) == 3
    model = ScriptedModel(say(Reply("ok")), errors=(None, 500, 500, 500))
    ask(model, api, [USER])
    with pytest.raises((openai.InternalServerError, anthropic.InternalServerError)):
        ask(model, api, [USER])  # the SDKs give up after two retries
    assert len(model.requests) == 4


@EACH_API
def test_a_policy_that_fails_is_seen_at_once(api):
    def broken(messages):
        raise LookupError("page 3")

    model = ScriptedModel(broken)
    with pytest.raises(
        (openai.InternalServerError, anthropic.InternalServerError), match="LookupError: page 3"
    ):
        ask(model, api, [USER])
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    ("stop", "openai_word", "anthropic_word"),
    [
        ("end", "stop", "end_turn"),
        ("length", "length", "max_tokens"),
        ("max_tokens", "length", "max_tokens"),
        ("content_filter", "content_filter", "refusal"),
        ("refusal", "stop", "refusal"),
        ("pause_turn", "stop", "pause_turn"),
        ("stop_sequence", "stop", "stop_sequence"),
        ("stop", "stop", "end_turn"),
        ("model_context_window_exceeded", "length", "model_context_window_exceeded"),
    ],
)
def test_every_stop_reason_can_be_scripted(stop, openai_word, anthropic_word):
    model = ScriptedModel(say(Reply("No.", stop=stop)))
    message, why, _ = OPENAI_CHAT.received(ask(model, OPENAI_CHAT, [USER]))
    assert why == openai_word and (message.get("refusal") == "No.") == (stop == "refusal")
    assert ANTHROPIC.received(ask(model, ANTHROPIC, [USER])).stop == anthropic_word
    with pytest.raises(ValueError, match="weary"):
        Reply("x", stop="weary")


@EACH_API
def test_a_reply_is_cut_at_max_tokens(api):
    words = "one two three four five six seven eight nine ten " * 20
    model = ScriptedModel(say(Reply(words, calls=[("find", {"text": words})], thinking="Hm. " * 5)))
    whole, stop, _ = api.received(ask(model, api, [USER]))
    assert stop == ("tool_calls" if api is OPENAI_CHAT else "tool_use")
    for most in (1, 40, 120, 300):
        response = ask(model, api, [USER], max_tokens=most)
        message, stop, _ = api.received(response)
        assert stop == ("length" if api is OPENAI_CHAT else "max_tokens")
        assert spent(api, response)[1] <= max(most, 3)  # an empty OpenAI message is a header line
        calls = api.calls(message)
        assert len(calls) == (most == 300)
        if calls:
            cut = calls[0].arguments
            assert (
                cut == {}
                if api is ANTHROPIC
                else api.calls(whole)[0].arguments.startswith(json.loads(cut)[UNPARSED])
            )


@EACH_API
def test_ids_count_up_and_never_meet_one_in_the_history(api):
    prefix = {"openai": "call_", "anthropic": "toolu_"}[api.name]
    model = ScriptedModel(say(Reply(calls=[("count", {}), ("find", {})])))
    found = [
        [call.id for call in api.calls(api.received(ask(model, api, [USER])).message)]
        for _ in range(2)
    ]
    assert found == [[f"{prefix}1", f"{prefix}2"], [f"{prefix}3", f"{prefix}4"]]
    resumed, fresh = (
        ScriptedModel(say(Reply(calls=[("count", {})]))),
        api.received(ask(model, api, [USER])).message,
    )
    ids = [call.id for call in api.calls(fresh)]
    answers = (
        [tool(id) for id in ids] if api is OPENAI_CHAT else [user(*(result(id) for id in ids))]
    )
    again = api.received(ask(resumed, api, [USER, fresh, *answers])).message
    assert [call.id for call in api.calls(again)] == [f"{prefix}7"]


def test_ids_are_unique_when_sessions_run_side_by_side():
    model, found = ScriptedModel(say(Reply(calls=[("count", {})]))), []
    client = model.client(OPENAI_CHAT)

    def one_session():
        for _ in range(5):
            response = client.chat.completions.create(model="m", messages=[USER])
            found.append(response.choices[0].message.tool_calls[0].id)

    threads = [threading.Thread(target=one_session) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(f"call_{k}" for k in range(1, 21))


OPENAI_COUNT = {"type": "function", "function": {"name": "count"}}
ALLOWED = {"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [OPENAI_COUNT]}}


@pytest.mark.parametrize(
    ("api", "choice", "right", "wrong"),
    [
        (OPENAI_CHAT, "none", [], ["count"]),
        (OPENAI_CHAT, "required", ["find"], []),
        (OPENAI_CHAT, OPENAI_COUNT, ["count"], ["find"]),
        (OPENAI_CHAT, ALLOWED, ["count"], ["find"]),
        (OPENAI_CHAT, ALLOWED, ["count"], []),
        (ANTHROPIC, {"type": "none"}, [], ["count"]),
        (ANTHROPIC, {"type": "any"}, ["find"], []),
        (ANTHROPIC, {"type": "tool", "name": "count"}, ["count"], ["find"]),
    ],
)
def test_a_script_that_breaks_tool_choice_fails_loudly(api, choice, right, wrong):
    def run(names):
        model = ScriptedModel(say(Reply("ok", calls=[(name, {}) for name in names])))
        return api.received(ask(model, api, [USER], tools=TOOLS[api.name], tool_choice=choice))

    assert [call.name for call in api.calls(run(right).message)] == right
    with pytest.raises(
        (openai.InternalServerError, anthropic.InternalServerError), match="tool_choice"
    ):
        run(wrong)


def test_a_call_forced_by_name_ends_with_stop():
    model = ScriptedModel(say(Reply(calls=[("count", {})])))
    said = {"tools": TOOLS["openai"], "tool_choice": OPENAI_COUNT}
    assert OPENAI_CHAT.received(ask(model, OPENAI_CHAT, [USER], **said)).stop == "stop"


@pytest.mark.parametrize(
    ("api", "options", "culprit"),
    [
        (OPENAI_CHAT, {"tool_choice": "required"}, "tool_choice"),
        (
            OPENAI_CHAT,
            {
                "tools": TOOLS["openai"],
                "tool_choice": {"type": "function", "function": {"name": "sum"}},
            },
            "sum",
        ),
        (OPENAI_CHAT, {"tools": [{"type": "function"}]}, "tools"),
        (ANTHROPIC, {"tool_choice": {"type": "any"}}, "tool_choice"),
        (
            ANTHROPIC,
            {"tools": TOOLS["anthropic"], "tool_choice": {"type": "tool", "name": "sum"}},
            "sum",
        ),
        (
            ANTHROPIC,
            {"system": [text("x") | {"cache_control": {"type": "ephemeral"}}] * 5},
            "cache_control",
        ),
        (ANTHROPIC, {"system": 5}, "system"),
        (
            ANTHROPIC,
            {
                "system": [
                    text("x") | {"cache_control": {"type": "ephemeral", "ttl": ttl}}
                    for ttl in ("5m", "1h")
                ]
            },
            "1h",
        ),
    ],
)
def test_odd_requests_are_refused_too(api, options, culprit):
    with pytest.raises(BAD_REQUEST, match=culprit):
        ask(ScriptedModel(say(Reply("ok"))), api, [USER], **options)


def test_anthropics_counting_endpoint_agrees_with_usage():
    model = ScriptedModel(say(Reply("ok")))
    counted = model.client(ANTHROPIC).messages.count_tokens(
        model="m", messages=[USER], system="Be brief."
    )
    assert (
        counted.input_tokens == ask(model, ANTHROPIC, [USER], system="Be brief.").usage.input_tokens
    )


def test_what_does_not_exist_is_404():
    with pytest.raises(openai.NotFoundError):
        ScriptedModel(say(Reply("ok"))).client(OPENAI_CHAT).embeddings.create(model="m", input="x")


def test_nothing_goes_to_a_network_even_when_the_environment_names_a_server(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    for api in APIS:
        assert api.received(ask(ScriptedModel(say(Reply("ok"))), api, [USER])).message["content"]


def test_unknown_fragments_are_the_hosts_mistake():
    with pytest.raises(ValueError, match="shredded"):
        ScriptedModel(say(Reply("ok")), fragments="shredded")


def test_arguments_that_no_unstreamed_message_can_hold():
    reply = Reply(calls=[("count", '{"a":')])
    with pytest.raises(anthropic.InternalServerError, match="count"):
        ask(ScriptedModel(say(reply)), ANTHROPIC, [USER])
    assert OPENAI_CHAT.received(ask(ScriptedModel(say(reply)), OPENAI_CHAT, [USER])).message[
        "tool_calls"
    ]
    with pytest.raises(ValueError, match="arguments_cut"):
        Reply("x", arguments_cut=3)


def test_the_transport_can_be_used_without_an_sdk():
    transport = httpx2.MockTransport(ScriptedModel(say(Reply("Seven."))).handle)
    with httpx2.Client(transport=transport) as client:
        answer = client.post(
            "http://any/v1/chat/completions", json={"model": "m", "messages": [USER]}
        )
    assert answer.json()["choices"][0]["message"]["content"] == "Seven."
