"""The experiment of notebook 11: both ways right, by an oracle that notices, and billed as
committed.
"""

from functools import partial

import pandas as pd
import pytest
from toolresults.agent.wire import APIS, fault

from toolresults.tokens import to_json
from workbook.bench import code_mode
from workbook.bench.code_mode_agent import must_show
from workbook.bench.code_mode_break_even import METERS, break_even, crossing, formula, mistakes_eat
from workbook.bench.code_mode_company import CALLER, Company
from workbook.bench.code_mode_mistakes import CAREFUL, HALF_WAY, MISTAKES
from workbook.bench.code_mode_oracle import overdue_tasks, true_answer, verdict
from workbook.bench.code_mode_questions import QUESTIONS, WEEK
from workbook.bench.code_mode_schemas import KINDS, definition, sizes
from workbook.bench.code_mode_ways import WAYS, play

RESULTS = code_mode.load()
PLAYED = [(question, way) for question in QUESTIONS.values() for way in code_mode.ways(question)]
# 44 turns of one call each take long: one API is enough for those
ON_BOTH = [
    (*pair, api)
    for pair in PLAYED
    for api in APIS
    if pair[1] != code_mode.ONE_BY_ONE or api == "openai"
]


@pytest.fixture(scope="module")
def company():
    with Company(5) as company:
        yield company


@pytest.mark.parametrize(
    ("question", "way", "api"), ON_BOTH, ids=lambda part: getattr(part, "name", part)
)
def test_every_way_is_right_and_costs_what_is_committed(company, question, way, api):
    row = code_mode.row(company, question, way, api)
    assert row["verdict"] == "right"
    same = RESULTS[
        (RESULTS["question"] == question.name) & (RESULTS["way"] == way) & (RESULTS["api"] == api)
    ]
    [committed] = same[(same["functions"] == 5) & (same["mistake"] == "")].to_dict("records")
    assert {name: str(value) for name, value in row.items() if not name.startswith("money")} == {
        name: str(value) for name, value in committed.items() if not name.startswith("money")
    }
    assert [float(row[name]) for name in ("money", "money_warm")] == [
        committed[name] for name in ("money", "money_warm")
    ]


@pytest.mark.parametrize("api", APIS)
def test_the_api_accepts_what_was_said(company, api):
    for way in ("all definitions", "definitions found", "code"):
        assert fault(api, play(api, company, WEEK, way).messages) is None
        company.forget()


@pytest.mark.parametrize("api", APIS)
def test_a_warm_cache_holds_the_definitions_on_the_first_turn_and_nothing_of_the_question(api):
    with Company(20) as larger:
        played = play(api, larger, QUESTIONS["one call"], "all definitions")
    cold, warm = (ledger.turns[0].usage for ledger in (played.ledger, played.warm))
    assert cold.cached_read == 0 and played.definitions - 128 < warm.cached_read < cold.input
    assert (
        played.warm.money < played.ledger.money
        and played.warm.cumulative_input == played.ledger.cumulative_input
    )


def test_committed_verdicts_and_tables():
    wrong = RESULTS[RESULTS["verdict"] != "right"].set_index("mistake")["verdict"].to_dict()
    assert wrong == {
        "stopped half-way, runs again": "5 notes too many",
        "a missing key, unseen": "7 notes are missing",
    }
    faultless = RESULTS[(RESULTS["question"] == WEEK.name) & (RESULTS["mistake"] == "")]
    assert faultless["state"].nunique() == 1, "all ways leave the same tables"
    plays = sum(
        len(code_mode.ways(question, n)) for question in QUESTIONS.values() for n in code_mode.SIZES
    )
    assert len(RESULTS) == 2 * (plays + len(MISTAKES))


def test_two_tools_weigh_the_same_whatever_is_behind_them():
    code = RESULTS[(RESULTS["way"] == "code") & (RESULTS["mistake"] == "")]
    assert code.groupby("api")["definitions"].nunique().to_dict() == {"openai": 1, "anthropic": 1}
    assert code["definitions"].max() <= 600
    plain = RESULTS[RESULTS["way"] == "all definitions"]
    assert plain.loc[plain["functions"] == 500, "definitions"].min() > 40_000


@pytest.mark.parametrize("way", [way for way in WAYS if way.startswith("code")])
def test_code_pays_from_the_first_function_on_for_many_calls_and_late_for_one(way):
    for api in APIS:
        for meter in METERS:
            assert break_even(RESULTS, WEEK.name, api, meter, way) == 0
        tokens, cold, warm = (break_even(RESULTS, "one call", api, meter, way) for meter in METERS)
        assert 5 < tokens < cold < warm < 500


def test_a_mistake_is_paid_with_a_turn_and_many_of_them_eat_the_gain():
    one = RESULTS[
        (RESULTS["mistake"] == "a wrong argument") & (RESULTS["api"] == "openai")
    ].set_index("way")
    right = RESULTS[
        (RESULTS["mistake"] == "")
        & (RESULTS["question"] == WEEK.name)
        & (RESULTS["functions"] == 50)
    ]
    right = right[right["api"] == "openai"].set_index("way")
    assert (one["turns"] == right.loc[one.index, "turns"] + 1).all()
    assert one.loc["all definitions", "input"] > 3 * one.loc["code", "input"]
    eaten = partial(
        mistakes_eat, RESULTS, "openai", "input", mistake="a wrong argument", made_at=50
    )
    assert 1 < eaten(functions=5) < eaten(functions=50) < eaten(functions=500)


def test_a_script_may_not_use_what_its_search_did_not_show():
    must_show(["def list_tasks(", "crm_add_note"], ["list_tasks", "crm_add_note"])
    with pytest.raises(LookupError, match="did not find add_note"):
        must_show(["def list_tasks("], ["list_tasks", "add_note"])


def test_where_two_lines_cross():
    sizes = [10, 20, 40]
    rising, level = pd.Series([100, 200, 400], sizes), pd.Series([250, 250, 250], sizes)
    assert crossing(rising, level) == pytest.approx(25)
    assert crossing(rising, pd.Series([90, 90, 90], sizes)) == 0
    assert crossing(rising, pd.Series([90, 250, 250], sizes)) == pytest.approx(25), (
        "cheaper, dearer, and cheaper again"
    )
    assert crossing(rising, pd.Series([500, 500, 500], sizes)) == float("inf")


def test_the_formula_is_the_crossing_of_two_such_lines():
    turns, each, surface, rest = (2, 3), 96, 326, 700
    n = formula(turns, each, surface, rest)
    assert turns[0] * each * n == pytest.approx(turns[1] * surface + rest)


class TestOracle:
    def notes(self, company):
        tasks = overdue_tasks(company.store, "acme")
        return [
            (
                task["task_id"],
                CALLER.user,
                f"Follow up: {task['title']} was due on {task['due_on']}.",
            )
            for task in tasks
        ]

    def judge(self, company, notes, answer=None):
        answer = answer or true_answer(company.store, "acme", WEEK)
        return verdict(company.store, CALLER, WEEK, answer, notes)

    def test_what_is_right(self, company):
        assert len(self.notes(company)) == 42
        assert self.judge(company, self.notes(company)) == "right"

    def test_what_is_wrong(self, company):
        notes = self.notes(company)
        about, author, text = notes[0]
        assert self.judge(company, notes[1:]) == "1 notes are missing"
        assert self.judge(company, [*notes, notes[0]]) == "1 notes too many"
        assert self.judge(company, [(about, "mai.ho", text), *notes[1:]]) == "1 notes are missing"
        assert self.judge(company, notes, "41 sales tasks are overdue.") == "a wrong answer"


def test_a_run_that_looks_first_writes_only_what_is_missing(company):
    registry = company.registry()
    assert "KeyError" in registry.execute(HALF_WAY)
    assert len(company.written()) == 5
    # with five functions there is no list_notes: the careful run needs the thirty
    with Company(30) as larger:
        larger.registry().execute(HALF_WAY)
        larger.registry().execute(CAREFUL)
        assert len({about for about, _, _ in larger.written()}) == len(larger.written()) == 42
    company.forget()
    assert company.written() == []


@pytest.mark.parametrize("api", APIS)
def test_a_richer_definition_says_more_and_weighs_more(company, api):
    tools = company.tools.values()
    thin, normal, rich = (sizes(tools, kind, api) for kind in KINDS)
    assert all(a < b < c for a, b, c in zip(thin, normal, rich, strict=True))
    for tool in tools:
        assert '"description":"' not in to_json(definition(tool, "thin", api)).replace(
            '"description":""', ""
        )
        assert definition(tool, "normal", api) == tool.definition(api)
        whole = definition(tool, "rich", api)
        whole = whole.get("function", whole)
        schema = whole.get("parameters") or whole["input_schema"]
        assert all(one["description"] for one in schema["properties"].values())
        assert set(schema["examples"][0]) == set(schema["properties"])
        assert whole["description"].startswith(
            tool.description + "\n\nReturns JSON of this schema: {"
        )
    with pytest.raises(ValueError, match="unknown kind"):
        definition(tool, "huge", api)


def test_the_figure_marks_a_break_even_that_was_measured_and_no_other():
    import matplotlib.pyplot as plt

    from workbook import plots

    frame = pd.DataFrame({"all definitions": [10, 200], "code": [50, 50]}, index=[5, 500])
    figure = plots.break_even_growth(
        {"inside": (frame, "tokens", 10.2), "at once": (frame, "tokens", 0.0)}
    )
    inside, at_once = figure.axes
    assert [text.get_text() for text in inside.texts] == ["11"] and not at_once.texts
    assert [line.get_label() for line in at_once.get_lines()] == list(frame.columns)
    plt.close(figure)
