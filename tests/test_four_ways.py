"""The ways to answer a question about all orders: the bill of each, and whether its answer is
right.
"""

import csv
import json
from hashlib import sha256

import pytest
from anthropic import BadRequestError as AnthropicError
from matplotlib import pyplot
from openai import BadRequestError as OpenAIError
from toolresults.agent.scripted import WINDOW

from toolresults.tokens import count_tokens
from workbook import plots
from workbook.bench import four_ways as bench
from workbook.bench.oracle import seen_in
from workbook.bench.techniques import workbook_tools
from workbook.bench.ways import QUESTIONS, WAYS
from workbook.examples.orders.data import plain_order
from workbook.examples.orders.store import REGIONS, OrderStore
from workbook.paths import data_path

APIS = ["openai", "anthropic"]
BOTH = pytest.mark.parametrize("api", APIS)
SHORT = [way for way in WAYS if way not in ("naive", "all pages")]


@pytest.fixture(scope="module")
def store():
    with OrderStore.open() as opened:
        yield opened


@pytest.fixture(scope="module")
def small():
    """300 orders, of which the newest 50 tell little: the account's order numbers decide what each
    is like.
    """
    rows = [
        plain_order(
            number,
            region=REGIONS[number % 3],
            status="refunded" if number % (3 + number % 3) == 0 and number < 240 else "paid",
            amount=None if number % 50 == 0 else number,
        )
        for number in range(1, 301)
    ]
    with OrderStore(rows) as opened:
        yield opened


@pytest.fixture(scope="module")
def lines():
    text = data_path(bench.RESULTS).read_text(encoding="utf-8")
    rows = csv.DictReader(line for line in text.splitlines() if not line.startswith("#"))
    return {(row["api"], row["question"], row["way"]): row for row in rows}


def test_the_truths_are_those_of_sql(store):
    with store._db.cursor() as cursor:
        rate = "ROUND(AVG(CAST(status = 'refunded' AS INT)), 4)"
        sql = f"SELECT region, {rate} FROM orders GROUP BY 1 ORDER BY 2 DESC"
        assert QUESTIONS["rate"].truth(store) == cursor.execute(sql).fetchone()
        groups = "FROM orders WHERE status IN ('paid', 'refunded')"
        sql = f"SELECT region || ' ' || status, ROUND(MEDIAN(amount), 2) {groups} GROUP BY 1"
        medians = {name: float(value) for name, value in cursor.execute(sql).fetchall()}
        unknown = cursor.execute(f"SELECT COUNT(*) - COUNT(amount) {groups}").fetchone()[0]
    assert QUESTIONS["median"].truth(store) == medians | {"unknown": unknown}


@BOTH
@pytest.mark.parametrize("way", SHORT)
def test_the_committed_results_are_what_the_real_sdk_meters(store, lines, api, way):
    for question in QUESTIONS:
        measured = {
            name: str(value) for name, value in bench.row(api, question, way, store).items()
        }
        assert measured == lines[api, question, way]


def test_the_rows_of_all_pages_and_of_the_one_result_weigh_what_the_tools_return(store, lines):
    tool, sizes = workbook_tools(store)["search_orders"], []
    for region in REGIONS:
        asked = {"region": region, "limit": 50}
        while asked:
            text = tool.call(asked).text
            sizes.append(count_tokens(text))
            cursor = json.loads(text)["next_cursor"]
            asked = {**asked, "cursor": cursor} if cursor else None
    for api in APIS:
        walk = lines[api, "rate", "all pages"]
        assert (int(walk["calls"]), int(walk["result_tokens"])) == (len(sizes), sum(sizes))
        assert int(lines[api, "rate", "naive"]["result_tokens"]) == 5_582_153  # step 01 of `steps`


def test_the_results_file_is_the_one_that_the_readme_describes_and_covers_every_session(lines):
    digest = sha256(data_path(bench.RESULTS).read_bytes()).hexdigest()
    assert digest in data_path("README.md").read_text(encoding="utf-8")
    assert list(lines) == [
        (api, question, way) for api in APIS for question in QUESTIONS for way in WAYS
    ]


@BOTH
@pytest.mark.parametrize("question", list(QUESTIONS))
def test_every_way_that_reads_all_rows_is_right_and_a_first_page_is_not(small, api, question):
    outcomes = {way: bench.row(api, question, way, small)["outcome"] for way in WAYS}
    able = "correct" if question == "rate" else "lost"
    assert outcomes == {
        "naive": "correct",
        "all pages": "correct",
        "first page": "silently wrong",
        "counts": able,
        "aggregate tool": able,
        "code": "correct",
        "code, mended": "correct",
    }


def test_the_model_answers_from_what_it_is_shown_and_from_nothing_else(store):
    """With a first page that holds all there is, the guess is right."""
    few = [
        plain_order(n, region=REGIONS[n % 3], status="refunded" if n % 4 == 0 else "paid")
        for n in range(1, 40)
    ]
    few = [row for row in few if row["status"] == "paid" or row["region"] != "north"]
    with OrderStore(few) as opened:
        assert bench.row("openai", "rate", "first page", opened)["outcome"] == "correct"
    played = bench.play("openai", "code", "median", store)
    shown = list(seen_in("openai", played.messages))
    assert [one.name for one in shown] == ["execute"] and shown[0].result["value"] == played.answer


@BOTH
def test_the_rate_of_ten_thousand_rows_by_code_takes_under_300_tokens_of_call_and_result(
    lines, api
):
    code = lines[api, "rate", "code"]
    assert code["answer"] == '["central",0.3278]' and code["outcome"] == "correct"
    assert int(code["call_tokens"]) + int(code["result_tokens"]) < 300
    assert int(lines[api, "rate", "aggregate tool"]["input"]) < int(code["input"]), (
        "the ready-made tool is cheaper"
    )


@BOTH
@pytest.mark.parametrize("question", list(QUESTIONS))
def test_a_mistake_costs_one_turn_and_says_what_was_wrong(store, lines, api, question):
    code, mended = (lines[api, question, way] for way in ("code", "code, mended"))
    assert int(mended["turns"]) == int(code["turns"]) + 1
    assert int(mended["input"]) > int(code["input"]) and mended["answer"] == code["answer"]
    first = next(seen_in(api, bench.play(api, "code, mended", question, store).messages))
    told = {"rate": 'got "state"', "median": "'NoneType'"}[question]
    assert (
        told in first.result["error"]
        and "line " in first.result["error"]
        and "value" not in first.result
    )


@pytest.mark.parametrize(("api", "error"), [("openai", OpenAIError), ("anthropic", AnthropicError)])
def test_a_result_larger_than_the_window_is_refused(small, api, error):
    with pytest.raises(error):
        bench.play(api, "naive", "rate", small, window=5_000)
    assert bench.play(api, "code", "rate", small, window=5_000).answer == QUESTIONS["rate"].truth(
        small
    )


def test_a_way_that_no_window_takes_is_marked_in_the_table_and_the_figure():
    frame = bench.load()
    assert frame.loc[~frame["fits"], "way"].unique().tolist() == ["naive"]
    ways = frame.query("api == 'openai' and question == 'rate'").set_index("way")
    ax = plots.answer_ways(ways, WINDOW)
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == ways["input"].tolist()[::-1] and ax.get_xscale() == "log"
    colours = dict(zip(ways.index[::-1], [bar.get_facecolor() for bar in ax.patches], strict=True))
    assert colours["naive"] != colours["all pages"] == colours["code"] != colours["first page"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "correct", "correct, but larger than the window", "silently wrong"
    ]  # fmt: skip
    pyplot.close("all")
