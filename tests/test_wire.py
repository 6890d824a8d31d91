"""Who answers what in a message list, and which lists an API refuses."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolresults.agent.wire import APIS, Call, answered, calls_of, fault, is_question, turns
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
        elif api == "openai":
            messages += [calls(*ids), *(tool(id) for id in ids)]
        else:
            messages += [uses(*ids), user(*(result(id) for id in ids))]
    return messages


@pytest.mark.parametrize("api", APIS)
def test_what_real_loops_send_is_accepted(api):
    for messages in ACCEPTED[api]:
        assert fault(api, messages) is None


@pytest.mark.parametrize(("api", "why"), EVERY_BROKEN)
def test_each_broken_rule_is_found_and_names_its_culprit(api, why):
    messages, culprit = BROKEN[api][why]
    assert culprit in fault(api, messages)


@pytest.mark.parametrize("api", APIS)
@settings(max_examples=50)
@given(data=st.data())
def test_an_orphan_anywhere_is_found_by_its_id(api, data):
    messages = data.draw(sessions(api))
    assert fault(api, messages) is None
    answers = [i for i, message in enumerate(messages) if answered(api, message)]
    if answers:
        gone = data.draw(st.sampled_from(answers))
        broken = fault(api, messages[:gone] + messages[gone + 1 :])
        assert any(id in broken for id in answered(api, messages[gone]))
        asking = next(i for i in range(gone, -1, -1) if calls_of(api, messages[i]))
        broken = fault(api, messages[:asking] + messages[asking + 1 :])
        assert any(call.id in broken for call in calls_of(api, messages[asking]))


@pytest.mark.parametrize("api", APIS)
@settings(max_examples=50)
@given(messages=st.lists(nearly_messages, max_size=4) | json_values)
def test_any_json_gets_an_answer(api, messages):
    found = fault(api, messages, {})
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
    assert fault("anthropic", asked, issued) is None
    for changed in (
        (),
        ({**thought, "thinking": "Count."},),
        ({**thought, "signature": "abd"},),
        (thought, thought),
    ):
        broken = [USER, uses("toolu_a", before=changed), *asked[2:]]
        assert "toolu_a" in fault("anthropic", broken, issued)
        assert (
            fault("anthropic", broken) is None
        )  # without a record of what was sent there is nothing to compare
        after = [*broken, assistant(text("Seven.")), USER]
        assert fault("anthropic", after, issued) is None  # an earlier turn's thinking may go
    added = [*asked[:3], uses("toolu_b", before=(thought,)), asked[4]]
    assert "toolu_b" in fault("anthropic", added, issued)


def test_calls_and_answers_are_read_in_order():
    said = {**calls("call_a", "call_b")}
    assert calls_of("openai", said) == [
        Call("call_a", "count", "{}"),
        Call("call_b", "count", "{}"),
    ]
    assert calls_of("anthropic", uses("toolu_b", "toolu_a", before=(text("I look."),))) == [
        Call("toolu_b", "count", {}),
        Call("toolu_a", "count", {}),
    ]
    assert (
        calls_of("openai", tool("call_a")) == calls_of("anthropic", user(result("toolu_a"))) == []
    )
    assert calls_of("anthropic", {"role": "assistant", "content": "Seven."}) == []
    assert answered("openai", tool("call_a")) == ["call_a"]
    assert answered("openai", said) == answered("openai", USER) == answered("anthropic", USER) == []
    assert answered("anthropic", user(result("toolu_b"), result("toolu_a"), text("?"))) == [
        "toolu_b",
        "toolu_a",
    ]


@pytest.mark.parametrize(
    ("api", "messages", "expected"),
    [
        ("openai", [USER], []),
        (
            "openai",
            [{"role": "system", "content": "x"}, USER, calls("a", "b"), tool("a"), tool("b"), USER],
            [(2, 5)],
        ),
        (
            "openai",
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
            "anthropic",
            [USER, uses("a", "b"), user(result("a"), result("b")), assistant(text("7")), USER],
            [(1, 3), (3, 4)],
        ),
        (
            "anthropic",
            [USER, uses("a"), user(result("a"), text("And?")), uses("b"), user(result("b"))],
            [(1, 3), (3, 5)],
        ),
        (
            "anthropic",
            [USER, assistant(text("pause")), assistant(text("on")), USER],
            [(1, 2), (2, 3)],
        ),
    ],
)
def test_a_turn_is_a_message_with_its_answers(api, messages, expected):
    assert fault(api, messages) is None
    assert [(turn.start, turn.stop) for turn in turns(api, messages)] == expected


def test_a_question_is_more_than_results():
    assert is_question("openai", USER) and is_question("anthropic", USER)
    assert is_question("anthropic", user(result("a"), text("And?")))
    assert not is_question("anthropic", user(result("a"), result("b")))
    assert not is_question("openai", tool("a")) and not is_question(
        "anthropic", assistant(text("7"))
    )


@pytest.mark.parametrize("function", [fault, turns, is_question, calls_of, answered])
def test_an_unknown_api_is_the_hosts_mistake(function):
    with pytest.raises(ValueError, match="mistral"):
        function("mistral", [USER] if function in (fault, turns) else USER)
