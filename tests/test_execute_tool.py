"""The tool that runs code: one JSON object within its budget, whatever the code did."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolresults.codemode.execute import (
    ADVICE,
    DONE,
    EMPTY,
    LEAST,
    execute_tool,
    open_sandbox,
    render,
)
from toolresults.codemode.functions import HostFunction
from toolresults.codemode.sandbox import Limits, Run
from toolresults.results.budget import BudgetError
from toolresults.tokens import count_tokens, to_json
from toolresults.tools import Tool, ToolResult

TEXT = st.text(
    alphabet=st.one_of(st.sampled_from('ab \n"\\0漢🐢'), st.characters(codec="utf-8")), max_size=400
)
VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(TEXT, inner, max_size=5),
    max_leaves=40,
)
RUNS = st.builds(
    Run,
    printed=TEXT | st.integers(1, 3000).map(lambda n: "a,b " * n),
    value=VALUE | st.integers(1, 3000).map(lambda n: ["x y"] * n),
    error=st.none() | TEXT,
    host_calls=st.sampled_from((0, 1, 1_000)),
)


@given(RUNS, st.integers(LEAST, 2000))
def test_answer_is_one_json_object_within_the_budget_and_says_so_if_anything_was_cut(run, budget):
    text = render(run, budget)
    answer = json.loads(text)
    assert count_tokens(text) <= budget
    whole = {"printed": run.printed or None, "value": run.value, "error": run.error or None}
    whole = {name: what for name, what in whole.items() if what is not None}
    done = DONE.format(run.host_calls) if run.error and run.host_calls else ""
    assert answer.get("note", "").startswith(done)
    if done and answer["note"] == done:
        assert {**answer, "note": ""} == {**whole, "note": ""}
    elif not whole:
        assert answer == {"value": None, "note": EMPTY}
    elif "note" not in answer:
        assert answer == whole
    else:
        assert answer.keys() == {*whole, "note"} and answer["note"].endswith(ADVICE)
        told = {**whole, "note": done} if done else whole
        assert count_tokens(to_json(told)) > budget  # nothing is cut that fits
        cut = [name for name in whole if f"{name} cut: " in answer["note"]]
        assert cut and all(answer[name].endswith("…") for name in cut)
        assert all(answer[name] == whole[name] for name in whole if name not in cut)


@pytest.mark.parametrize("budget", [LEAST, 300, 1000])
def test_as_much_is_shown_as_fits(budget):
    for run in (
        Run(printed="word " * 9000),
        Run(value=["word"] * 9000),
        Run(printed="w " * 9000, value="v " * 9000),
    ):
        assert count_tokens(render(run, budget)) > budget - 12


def test_note_counts_what_was_cut_and_says_how_to_print_less():
    note = json.loads(render(Run(printed="x" * 51_000), 200))["note"]
    shown = len(json.loads(render(Run(printed="x" * 51_000), 200))["printed"])
    assert note == f"printed cut: {shown:,} of 51,000 characters shown. {ADVICE}"


def test_error_is_the_last_thing_to_be_cut():
    error = "ValueError: " + "word " * 40
    answer = json.loads(render(Run(printed="word " * 5000, error=error), LEAST))
    assert answer["error"] == error and len(answer["printed"]) < len(error)
    assert json.loads(render(Run(printed="word " * 5000, error="word " * 400), LEAST))[
        "error"
    ].endswith("…")


def test_value_that_was_cut_is_a_text():
    answer = json.loads(render(Run(value=[{"id": i} for i in range(2000)]), 150))
    assert answer["value"].startswith('[{"id":0},{"id":1},')


def test_a_value_that_was_too_long_to_keep_is_escaped_once_and_the_advice_is_given_once():
    with open_sandbox("python", limits=Limits(output_tokens=300)) as sandbox:
        answer = json.loads(
            execute_tool(sandbox, budget=250).call({"code": "[{'id': i} for i in range(900)]"}).text
        )
    assert answer["value"].startswith('[{"id":0},{"id":1},')
    assert f"{answer['error']} {answer['note']}".count("Print totals") == 1


def test_budget_too_small_for_any_answer_is_the_hosts_mistake():
    with pytest.raises(BudgetError, match=f"at least {LEAST}"):
        render(Run(), LEAST - 1)


@pytest.fixture
def tool():
    with open_sandbox("python", limits=Limits(seconds=2, output_tokens=200)) as sandbox:
        yield execute_tool(sandbox, about="def crm.f() -> int")


def test_tool_answers_with_what_the_code_said(tool):
    assert tool.call({"code": "print('a')\n{'n': 1}"}) == ToolResult(
        '{"printed":"a\\n","value":{"n":1}}'
    )
    assert tool.call({"code": "x = 1"}) == ToolResult(to_json({"value": None, "note": EMPTY}))


def test_failed_run_is_an_error_result_that_keeps_what_was_printed(tool):
    result = tool.call({"code": "print('a')\n1 / 0"})
    assert result.is_error
    assert json.loads(result.text) == {
        "printed": "a\n",
        "error": "ZeroDivisionError: division by zero (line 2: 1 / 0)",
    }


def test_a_run_that_failed_half_way_says_that_its_calls_are_not_undone():
    written = []

    def write(text: str) -> int:
        """Writes."""
        written.append(text)
        return len(written)

    with open_sandbox("python", {"notes.write": HostFunction(write, "notes")}) as sandbox:
        tool = execute_tool(sandbox)
        failed = json.loads(tool.call({"code": "notes.write('a')\nnotes.write('b')\n{}['c']"}).text)
        whole = json.loads(tool.call({"code": "notes.write('c')"}).text)
    assert written == ["a", "b", "c"]
    assert failed["note"] == "The functions that were called before that are not undone (calls: 2)."
    assert whole == {"value": 3}


def test_stopped_run_is_an_error_result_that_says_what_to_do(tool):
    result = tool.call({"code": "while True: print('a')"})
    assert result.is_error
    answer = json.loads(result.text)
    assert answer["error"].startswith("stopped at 200 tokens of output. Print totals")
    assert answer["printed"].startswith("a\na\n")


def test_what_the_limit_lets_through_the_default_budget_holds(tool):
    code = """print('"' * 150)\n[1] * 60"""
    assert json.loads(tool.call({"code": code}).text) == {
        "printed": '"' * 150 + "\n",
        "value": [1] * 60,
    }


def test_definition_has_one_parameter_and_says_what_the_language_lacks(tool):
    definition = tool.definition("anthropic")
    assert (
        list(definition["input_schema"]["properties"]) == ["code"]
        and definition["name"] == "execute"
    )
    assert "lacks yield" in definition["description"] and definition["description"].endswith(
        "def crm.f() -> int"
    )


def test_definition_leaves_room_for_a_search_tool_beside_it():
    with open_sandbox("python") as sandbox:
        assert all(
            count_tokens(to_json(execute_tool(sandbox).definition(api))) <= 300
            for api in ("openai", "anthropic")
        )


def test_function_of_a_tool_may_return_its_own_error_result():
    def check() -> ToolResult:
        """Checks."""
        return ToolResult('{"error":"no","line":3}', is_error=True)

    assert Tool(check).call({}) == ToolResult('{"error":"no","line":3}', is_error=True)
    over = Tool(check, budget=5).call({})
    assert over.is_error and "line" not in over.text
