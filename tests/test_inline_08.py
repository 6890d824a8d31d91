"""What notebook 08 writes from scratch agrees with the package, and fails where the notebook says
that it does.
"""

from pathlib import Path

import matplotlib
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toolresults.agent.wire import fault

from histories import histories
from toolresults.agent.history import clear_tool_results
from workbook import plots
from workbook.bench.ten_turns import against
from workbook.checks import n08
from workbook.runner import read

NOTEBOOK = read(Path(__file__).resolve().parents[1] / "notebooks" / "08_history_trimming.ipynb")
INLINE = {}
for cell in NOTEBOOK.cells:
    if "inline" in cell.metadata.get("tags", []):
        exec(cell.source, INLINE)

LONG = st.integers(100, 300).map(lambda n: "row " * n)


def changed(before, after):
    assert len(before) == len(after)
    return [i for i, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]]


@st.composite
def one_call_a_turn(draw):
    """A history on OpenAI's format in which every turn asks for one long result, which the next
    turn has read.
    """
    messages = [{"role": "user", "content": "Go on."}]
    for n, text in enumerate(draw(st.lists(LONG, min_size=1, max_size=12))):
        call = {
            "id": f"call_{n}",
            "type": "function",
            "function": {"name": "search", "arguments": "{}"},
        }
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": f"call_{n}", "content": text},
        ]
    return messages


@settings(max_examples=40)
@given(one_call_a_turn(), st.integers(1, 5))
def test_the_six_lines_clear_the_results_that_the_package_clears_without_limits(messages, n):
    naive = INLINE["keep_newest"](messages, n)
    ours = clear_tool_results(messages, api="openai", keep=n, trigger=0, clear_at_least=0)
    assert changed(messages, naive) == changed(messages, ours)
    assert len(changed(messages, ours)) == max(len(messages) // 2 - n, 0)


@settings(max_examples=40)
@given(histories("openai"), st.integers(1, 4))
def test_the_six_lines_keep_pairs_on_openai_and_do_not_touch_the_history(messages, n):
    before = [dict(message) for message in messages]
    assert fault("openai", INLINE["keep_newest"](messages, n)) is None
    assert messages == before


@settings(max_examples=40)
@given(histories("anthropic"), st.integers(1, 4))
def test_the_six_lines_do_nothing_on_anthropic(messages, n):
    assert INLINE["keep_newest"](messages, n) == messages


def exchange(*ids):
    return [
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": id, "name": "f", "input": {}} for id in ids],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": id, "content": "row " * 99} for id in ids
            ],
        },
    ]


def test_the_fix_for_anthropic_parts_a_call_from_its_result_and_the_package_does_not():
    messages = [
        {"role": "user", "content": "Go on."},
        *exchange("toolu_1"),
        *exchange("toolu_2", "toolu_3"),
    ]
    assert "toolu_1" in fault("anthropic", INLINE["keep_newest_users"](messages, 1))
    ours = clear_tool_results(messages, api="anthropic", keep=1, trigger=0, clear_at_least=0)
    assert fault("anthropic", ours) is None
    assert changed(messages, ours) == [2], "the newest turn's results are unread, and stay"


def test_the_six_lines_with_nothing_to_keep_clear_nothing():
    messages = [
        {"role": "user", "content": "Go on."},
        {"role": "tool", "tool_call_id": "call_1", "content": "row"},
    ]
    assert INLINE["keep_newest"](messages, 0) == messages


@given(st.integers(1, 100_000), st.integers(0, 100_000))
def test_ten_turns_against_one_are_those_of_the_package(b, g):
    assert INLINE["against"](b, g) == pytest.approx(against(b, g))
    assert INLINE["against"](b, g)[0] >= 10
    assert 5 <= INLINE["against"](b, g)[1] < 45


@pytest.fixture
def drawing():
    matplotlib.use("Agg")
    yield
    plots.look.matplotlib.pyplot.close("all")


def test_the_triangle_parts_what_is_new_from_what_was_read_before(drawing):
    ax = plots.history_triangle([10, 30, 60])
    before, new = ([bar.get_height() for bar in bars] for bars in ax.containers)
    assert (before, new) == ([0, 10, 30], [10, 20, 30])
    assert "60 different tokens, and 100 read" in (ax.get_title(), ax.get_title(loc="left"))


def test_the_bill_of_each_api_says_how_many_times_the_first_the_last_comes_to(drawing):
    frame = pd.DataFrame({"untrimmed": [1.0, 2.0], "windowed": [1.0, 5.0]}, index=[1, 2])
    (ax,) = plots.trimmed_money({"openai": frame}).axes
    assert [list(line.get_ydata()) for line in ax.lines] == [[1, 2], [1, 5]]
    assert "openai: windowed costs 2.5 × untrimmed" in (ax.get_title(), ax.get_title(loc="left"))


def test_batches_are_drawn_in_per_cent_beside_the_untrimmed_session(drawing):
    ax = plots.clearing_batches(pd.DataFrame({"openai": [1.1, 0.75]}, index=[0, 12_000]))
    assert list(ax.lines[0].get_ydata()) == pytest.approx([110, 75])
    assert set(ax.lines[1].get_ydata()) == {100}


GOOD = {
    "search_orders": "call again",
    "issue_refund": "do not repeat",
    "ask_customer": "keep",
    "get_order_payload": "call again",
}


@pytest.mark.parametrize(
    ("exercise", "answer", "said"),
    [
        (n08.exercise_1, (42_500, 9.4), "Correct"),
        (n08.exercise_1, [42_500, 42_500 / 4_500], "Correct"),
        (n08.exercise_1, (42_500, 21.25), "Not yet"),
        (n08.exercise_1, (50_000, 9.4), "Not yet"),
        (n08.exercise_1, 42_500, "Not yet"),
        (n08.exercise_2, GOOD, "Correct"),
        (
            n08.exercise_2,
            GOOD | {"issue_refund": "call again"},
            "Not yet: what would happen if the model called issue",
        ),
        (
            n08.exercise_2,
            GOOD | {"ask_customer": "do not repeat"},
            "Not yet: can the answer of ask_customer",
        ),
        (n08.exercise_2, list(GOOD.values()), "Not yet"),
        (n08.exercise_2, {}, "Not yet"),
        (n08.exercise_3, 12, "Correct"),
        (n08.exercise_3, 11.27, "Correct"),
        (n08.exercise_3, 11, "Not yet"),
        (n08.exercise_3, 14, "Not yet"),
        (n08.exercise_3, "twelve", "Not yet"),
    ],
)
def test_an_answer_is_judged(exercise, answer, said, capsys):
    exercise(answer)
    assert capsys.readouterr().out.startswith(said)
