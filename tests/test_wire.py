"""Who answers what in a message list, and which lists an API refuses."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apis import EACH_API, answered
from toolresults.agent.anthropic import ANTHROPIC
from toolresults.agent.api import Call
from toolresults.agent.openai_chat import OPENAI_CHAT
from wire_cases import (
    ACCEPTED,
    BROKEN,
    EVERY_BROKEN,
    USER,
    assistant,
    calls,
    result,
    text,
    tool,
    user,
    uses,
)

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)
words = st.sampled_from(
    [
        "role",
        "content",
        "type",
        "text",
        "tool_calls",
        "tool_call_id",
        "id",
        "tool_use_id",
        "input",
        "function",
        "name",
    ]
)
kinds = st.sampled_from(
    [
        "user",
        "assistant",
        "tool",
        "system",
        "text",
        "tool_use",
        "tool_result",
        "thinking",
        "function",
    ]
)
nearly_messages = st.recursive(
    kinds | json_values,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=6),
    max_leaves=20,
)


@st.composite
def sessions(draw, api):
    """A history that a correct loop makes: questions, turns of up to three calls, answers in
    order.
    """
    messages, number = [USER], 0
    for _ in range(draw(st.integers(1, 5))):
        ids = [f"id_{number + k}" for k in range(draw(st.integers(0, 3)))]
        number += len(ids)
        if not ids:
            messages += [{"role": "assistant", "content": "Seven."}, USER]
        elif api is OPENAI_CHAT:
            messages += [calls(*ids), *(tool(id) for id in ids)]
        else:
            messages += [uses(*ids), user(*(result(id) for id in ids))]
    return messages


@EACH_API
def test_what_real_loops_send_is_accepted(api):
    for messages in ACCEPTED[api.name]:
        assert api.fault(messages) is None


@pytest.mark.parametrize(("api", "why"), EVERY_BROKEN)
def test_each_broken_rule_is_found_and_names_its_culprit(api, why):
    messages, culprit = BROKEN[api.name][why]
    assert culprit in api.fault(messages)


@EACH_API
@settings(max_examples=50)
@given(data=st.data())
def test_an_orphan_anywhere_is_found_by_its_id(api, data):
    messages = data.draw(sessions(api))
    assert api.fault(messages) is None
    answers = [i for i, message in enumerate(messages) if answered(api, message)]
    if answers:
        gone = data.draw(st.sampled_from(answers))
        broken = api.fault(messages[:gone] + messages[gone + 1 :])
        assert any(id in broken for id in answered(api, messages[gone]))
        asking = next(i for i in range(gone, -1, -1) if api.calls(messages[i]))
        broken = api.fault(messages[:asking] + messages[asking + 1 :])
        assert any(call.id in broken for call in api.calls(messages[asking]))


@EACH_API
@settings(max_examples=50)
@given(messages=st.lists(nearly_messages, max_size=4) | json_values)
def test_any_json_gets_an_answer(api, messages):
    found = api.fault(messages, {})
    assert found is None or isinstance(found, str)


def test_thinking_of_the_turn_in_progress_comes_back_as_it_was_sent():
    thought = {"type": "thinking", "thinking": "Count them.", "signature": "abc"}
    issued = {"toolu_a": [thought], "toolu_b": []}
    asked = [
        USER,
        uses("toolu_a", before=(thought,)),
        user(result("toolu_a")),
        uses("toolu_b"),
        user(result("toolu_b")),
    ]
    assert ANTHROPIC.fault(asked, issued) is None
    for changed in (
        (),
        ({**thought, "thinking": "Count."},),
        ({**thought, "signature": "abd"},),
        (thought, thought),
    ):
        broken = [USER, uses("toolu_a", before=changed), *asked[2:]]
        assert "toolu_a" in ANTHROPIC.fault(broken, issued)
        assert (
            ANTHROPIC.fault(broken) is None
        )  # without a record of what was sent there is nothing to compare
        after = [*broken, assistant(text("Seven.")), USER]
        assert ANTHROPIC.fault(after, issued) is None  # an earlier turn's thinking may go
    added = [*asked[:3], uses("toolu_b", before=(thought,)), asked[4]]
    assert "toolu_b" in ANTHROPIC.fault(added, issued)


def test_calls_and_answers_are_read_in_order():
    said = {**calls("call_a", "call_b")}
    assert OPENAI_CHAT.calls(said) == [Call("call_a", "count", "{}"), Call("call_b", "count", "{}")]
    assert ANTHROPIC.calls(uses("toolu_b", "toolu_a", before=(text("I look."),))) == [
        Call("toolu_b", "count", {}),
        Call("toolu_a", "count", {}),
    ]
    assert OPENAI_CHAT.calls(tool("call_a")) == ANTHROPIC.calls(user(result("toolu_a"))) == []
    assert ANTHROPIC.calls({"role": "assistant", "content": "Seven."}) == []
    assert answered(OPENAI_CHAT, tool("call_a")) == ["call_a"]
    assert (
        answered(OPENAI_CHAT, said)
        == answered(OPENAI_CHAT, USER)
        == answered(ANTHROPIC, USER)
        == []
    )
    assert answered(ANTHROPIC, user(result("toolu_b"), result("toolu_a"), text("?"))) == [
        "toolu_b",
        "toolu_a",
    ]


@pytest.mark.parametrize(
    ("api", "messages", "expected"),
    [
        (OPENAI_CHAT, [USER], []),
        (
            OPENAI_CHAT,
            [{"role": "system", "content": "x"}, USER, calls("a", "b"), tool("a"), tool("b"), USER],
            [(2, 5)],
        ),
        (
            OPENAI_CHAT,
            [
                USER,
                calls("a"),
                tool("a"),
                calls("b"),
                tool("b"),
                {"role": "assistant", "content": "7"},
            ],
            [(1, 3), (3, 5), (5, 6)],
        ),
        (
            ANTHROPIC,
            [USER, uses("a", "b"), user(result("a"), result("b")), assistant(text("7")), USER],
            [(1, 3), (3, 4)],
        ),
        (
            ANTHROPIC,
            [USER, uses("a"), user(result("a"), text("And?")), uses("b"), user(result("b"))],
            [(1, 3), (3, 5)],
        ),
        (
            ANTHROPIC,
            [USER, assistant(text("pause")), assistant(text("on")), USER],
            [(1, 2), (2, 3)],
        ),
    ],
)
def test_a_turn_is_a_message_with_its_answers(api, messages, expected):
    assert api.fault(messages) is None
    assert [(turn.start, turn.stop) for turn in api.turns(messages)] == expected


def test_a_result_in_an_odd_form_still_answers_its_call():
    for content in ([{"text": "x"}], ["x"], 5, {"a": 1}):
        assert OPENAI_CHAT.answered({**tool("call_a"), "content": content}) == ["call_a"]
        odd = {**result("toolu_a"), "content": content}
        assert ANTHROPIC.answered(user(odd)) == ["toolu_a"]


def test_a_question_is_more_than_results():
    assert OPENAI_CHAT.is_question(USER) and ANTHROPIC.is_question(USER)
    assert ANTHROPIC.is_question(user(result("a"), text("And?")))
    assert not ANTHROPIC.is_question(user(result("a"), result("b")))
    assert not OPENAI_CHAT.is_question(tool("a")) and not ANTHROPIC.is_question(
        assistant(text("7"))
    )
