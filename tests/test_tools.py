"""Tools: one signature for every API, strict arguments, no exception that reaches a model (cases 3,
13, 28, 34).
"""

import json
import logging
from typing import Annotated, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from apis import ANTHROPIC, OPENAI_CHAT
from toolresults.results.budget import BudgetError
from toolresults.tokens import count_tokens
from toolresults.tools import Moment, Number, Tool, ToolError, Whole


def find(
    kind: Annotated[Literal["a", "b"] | None, Field(description="Only this kind.")] = None,
    limit: Annotated[Whole, Field(description="Rows.")] = 20,
    least: Number | None = None,
    since: Moment | None = None,
    title: str = "",
) -> dict:
    """Finds things."""
    return {"kind": kind, "limit": limit, "least": least, "since": since, "title": title}


def error_of(tool, arguments):
    result = tool.call(arguments)
    assert result.is_error
    return json.loads(result.text)["error"]


def test_one_signature_gives_both_definitions():
    schema = {
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "kind": {"type": "string", "enum": ["a", "b"], "description": "Only this kind."},
            "limit": {"type": "integer", "default": 20, "description": "Rows."},
            "least": {"type": "number"},
            "since": {"type": "string", "format": "date-time"},
            "title": {"type": "string", "default": ""},
        },
    }
    function = {"name": "find", "description": "Finds things.", "parameters": schema}
    assert OPENAI_CHAT.definition(Tool(find)) == {"type": "function", "function": function}
    assert ANTHROPIC.definition(Tool(find)) == {
        "name": "find",
        "description": "Finds things.",
        "input_schema": schema,
    }


def test_a_tool_without_parameters_has_an_empty_schema():
    assert Tool(lambda: 1, name="one").schema()["properties"] == {}


def test_an_untyped_parameter_is_the_hosts_mistake():
    with pytest.raises(TypeError, match="parameter x needs a type hint"):
        Tool(lambda x: x, name="untyped")


@pytest.mark.parametrize(
    ("arguments", "seen"),
    [
        ({"limit": "10"}, {"limit": 10}),
        ({"limit": 5.0}, {"limit": 5}),
        ('{"limit": 1e9}', {"limit": 10**9}),
        ({"limit": None, "title": None}, {"limit": 20, "title": ""}),
        ({"limit": 10**30}, {"limit": 10**30}),
        ({"least": "12.50"}, {"least": 12.5}),
        ({"least": 7}, {"least": 7.0}),
        ({"kind": None}, {"kind": None}),
        ({"since": "2026-03-01"}, {"since": "2026-03-01T00:00:00"}),
        ({"since": "2026-03-01T10:00:00+02:00"}, {"since": "2026-03-01T08:00:00"}),
        ("", {"limit": 20}),
        ('{"title":"\\ud83d\\ude00"}', {"title": "😀"}),
        ('{"title":"a\\ud83d b"}', {"title": "a\ufffd b"}),
    ],
)
def test_arguments_that_are_sure_are_taken(arguments, seen):
    result = Tool(find).call(arguments)
    assert not result.is_error
    assert seen.items() <= json.loads(result.text).items()


@pytest.mark.parametrize(
    "limit",
    [True, 10.5, float("nan"), float("inf"), "1e4", "٣", "", "-1", "+1", " 1", "1_0", [1], {}],
)
def test_a_limit_that_is_not_a_whole_number_is_refused(limit):
    assert error_of(Tool(find), {"limit": limit}).startswith("limit: it should be a whole number")


@pytest.mark.parametrize("least", [True, float("nan"), float("inf"), "1e4", "٣", "NaN", []])
def test_an_amount_that_is_not_a_finite_number_is_refused(least):
    assert error_of(Tool(find), {"least": least}).startswith("least: ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"page": 2}, 'unknown argument "page": this tool takes kind, limit, least, since, title'),
        ({"kind": "A"}, "kind: it should be 'a' or 'b', got \"A\""),
        ({"since": "yesterday"}, "since: use an ISO 8601 date or time such as"),
        ({"since": "0001-01-01T00:00:00+14:00"}, "since: use an ISO 8601"),
        ("[1]", "The arguments must be one JSON object, not [1]."),
        ("null", "The arguments must be one JSON object, not null."),
        ({"limit": True}, "limit: it should be a whole number, got true"),
        ('{"kind":', "The arguments are not valid JSON. Send one JSON object."),
        ("[" * 100_000, "The arguments are not valid JSON"),
    ],
)
def test_other_mistakes_get_one_line_that_says_what_is_valid(arguments, message):
    error = error_of(Tool(find), arguments)
    assert error.startswith(message)
    assert "\n" not in error


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)
names = st.sampled_from(["kind", "limit", "least", "since", "title"]) | st.text()


@settings(max_examples=40)
@given(
    st.dictionaries(names, json_values, max_size=4) | st.text() | json_values.map(json.dumps),
    st.integers(60, 400),
)
def test_no_argument_whatever_raises_and_the_answer_is_json_within_the_budget(arguments, budget):
    tool = Tool(find, budget=budget)
    result = tool.call(arguments)
    json.loads(result.text)
    assert count_tokens(result.text) <= budget


def test_a_failure_inside_is_told_without_paths_or_secrets(caplog):
    def broken() -> str:
        raise OSError("cannot open /srv/secret/key.pem with key sk_live_123456")

    with caplog.at_level(logging.ERROR, logger="toolresults.tools"):
        assert (
            error_of(Tool(broken), {})
            == "broken failed (OSError). This is not caused by your arguments."
        )
    assert "key.pem" in caplog.text  # the host can read what happened


def test_a_tools_own_error_reaches_the_model():
    def picky() -> str:
        raise ToolError("Use \x1b[31mstatus\x1b[0m.\nThen retry.")

    assert error_of(Tool(picky), {}) == "Use status. Then retry."


def test_a_budget_error_reaches_the_host():
    def tight() -> str:
        raise BudgetError("too small")

    with pytest.raises(BudgetError):
        Tool(tight).call({})


@pytest.mark.parametrize("nothing", [None, "", "\n"])
def test_nothing_is_said_to_be_nothing(nothing):
    assert Tool(lambda: nothing, name="quiet").call({}).text == "(no output)"


def test_a_result_over_the_budget_is_refused_with_its_size():
    def dump(limit: Whole = 20) -> list:
        """Lists."""
        return ["word"] * 500

    assert error_of(Tool(dump, budget=300), {}) == (
        "This result of 1001 tokens is over the budget of 300, so nothing is shown. "
        "Ask for less. Parameters: limit."
    )
    assert not Tool(dump, budget=1001).call({}).is_error
    assert Tool(dump, budget=1000).call({}).is_error


def _any(*args: int) -> int:
    return len(args)


def _named(**kwargs: int) -> int:
    return len(kwargs)


def _placed(a: int, /) -> int:
    return a


def _private(_a: int = 1) -> int:
    return _a


async def _later() -> int:
    return 1


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (_any, "args has no name"),
        (_named, "kwargs has no name"),
        (_placed, "a has no name"),
        (_private, "_a needs another name"),
        (_later, "is async"),
    ],
)
def test_a_function_that_no_model_could_call_is_refused_when_it_becomes_a_tool(function, told):
    with pytest.raises(TypeError, match=told):
        Tool(function)
