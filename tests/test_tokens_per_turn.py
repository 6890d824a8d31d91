"""Benchmark b1: sessions billed as the real SDKs would meter them, and a results file that can be
made again.
"""

import json
import re
from collections import Counter
from datetime import datetime
from functools import cache
from hashlib import sha256

import pytest
from anthropic import BadRequestError as AnthropicError
from matplotlib import pyplot
from openai import BadRequestError as OpenAIError

from toolresults.agent.anthropic import ANTHROPIC
from toolresults.agent.openai_chat import OPENAI_CHAT
from toolresults.tokens import count_tokens
from workbook import plots
from workbook.bench import tokens_per_turn as bench
from workbook.bench.careful_agent import ROUNDS, TEN, THIRTY, Agent, truth
from workbook.bench.harness import APIS, MODELS, MOST_CALLS, GiveUp, results_path, see
from workbook.bench.techniques import ADDED, TECHNIQUES
from workbook.bench.tokens_per_turn import WINDOW, ask
from workbook.examples.orders.store import OrderFilter, OrderStore
from workbook.paths import data_path

BOTH = pytest.mark.parametrize("api", APIS.values(), ids=APIS)


@pytest.fixture(scope="module")
def store():
    with OrderStore.open() as opened:
        yield opened


@pytest.fixture(scope="module")
def asked(store):
    """Sessions that several tests look at, each played once."""
    return cache(lambda api, name, some=THIRTY: ask(api, TECHNIQUES[name], store, some))


@pytest.fixture(scope="module")
def frame():
    return bench.load()


def line(frame, name, api):
    return frame[(frame["technique"] == name) & (frame["api"] == api.name)].reset_index(drop=True)


@BOTH
@pytest.mark.parametrize(
    ("name", "questions"),
    [
        *((name, TEN) for name in ("budget", "refs", "code", "clearing every turn")),
        ("clearing", THIRTY),
    ],
)
def test_the_bill_is_what_the_real_sdk_meters(store, asked, api, name, questions):
    sent = ask(api, TECHNIQUES[name], store, questions, window=WINDOW)
    # the session of all questions begins with that of the first ten, and another test plays it
    # for one API
    ours = asked(api, name) if api is OPENAI_CHAT else asked(api, name, questions)
    messages, turns = len(sent.messages), len(sent.ledger.turns)
    assert ours.messages[:messages] == sent.messages and api.fault(sent.messages) is None
    assert all(map(api.is_question, ours.messages[messages : messages + 1]))
    usage = [turn.usage for turn in sent.ledger.turns]
    assert [turn.usage for turn in ours.ledger.turns[:turns]] == usage


@pytest.mark.parametrize(
    ("api", "refusal"), [(OPENAI_CHAT, OpenAIError), (ANTHROPIC, AnthropicError)], ids=APIS
)
def test_the_naive_session_is_refused_with_its_first_result(store, frame, api, refusal):
    with pytest.raises(refusal) as caught:
        ask(api, TECHNIQUES["naive"], store, TEN, window=WINDOW)
    read = line(frame, "naive", api)["input"][1]
    assert read > 5_500_000 and str(read) in str(caught.value)
    refused = bench.summary(frame, api.name)["refused"].dropna()
    turns = refused[["naive", "filter", "cap", "concise"]].to_list()
    assert turns == [2, 8, 13, 14] and "budget" not in refused


@pytest.mark.parametrize("name", [name for name in TECHNIQUES if not name.startswith("naive")])
def test_the_committed_results_are_made_again(asked, frame, name):
    """The first round of the dear lines, the whole of the others; `workbook bench` makes them
    all.
    """
    api = ANTHROPIC if name in ("filter", "cap", "concise") else OPENAI_CHAT
    turns = asked(api, name, THIRTY if api is OPENAI_CHAT else TEN).ledger.turns
    committed = line(frame, name, api)[: len(turns)]
    for column in ("input", "cached_read", "cache_write", "output"):
        assert [getattr(turn.usage, column) for turn in turns] == committed[column].to_list()
    assert [turn.result_tokens for turn in turns] == committed["result_tokens"].to_list()
    assert [float(turn.money) for turn in turns] == committed["money"].to_list()
    assert [turn.tags.get("outcome", "") for turn in turns] == committed["outcome"].to_list()


def test_the_naive_line_is_made_again(store, frame):
    turns = ask(OPENAI_CHAT, TECHNIQUES["naive"], store, TEN[:2]).ledger.turns
    committed = line(frame, "naive", OPENAI_CHAT)["input"][:4]
    assert [turn.usage.input for turn in turns] == committed.to_list()


def test_the_file_says_what_it_was_measured_with():
    text = results_path(bench.NAME).read_text(encoding="utf-8")
    about = dict(re.findall(r"^# (\w+): (.*)$", text, re.MULTILINE))
    now = bench.about()
    # a newer release of genai-prices may well have the same prices: the rows tell
    for told in (about, now):
        assert told.pop("versions") and told.pop("prices").startswith(" and ".join(MODELS.values()))
    assert about == now
    digest = sha256(text.encode("utf-8")).hexdigest()
    assert digest in data_path("README.md").read_text(encoding="utf-8")


def test_a_round_has_each_kind_once_and_is_ten_turns_where_one_result_holds_everything(frame):
    assert [len({question.kind for question in round}) for round in ROUNDS] == [6, 6, 6]
    naive = line(frame, "naive", OPENAI_CHAT)
    assert len(naive) == 30 and (naive["question"] <= 6).sum() == 10
    assert bench.summary(frame, "openai", len(TEN))["turns"]["naive"] == 10


def test_the_truths_are_those_of_the_store(store):
    truths = {question.text: truth(question, store) for question in THIRTY}
    assert None not in truths.values()
    found = store.page(OrderFilter(status="refunded", region="south"), limit=2_000)
    total = float(sum(row["amount"] for row in found if row["amount"] is not None))
    assert truths["What do all orders refunded in the south come to?"] == pytest.approx(total)
    count = store.count(OrderFilter(status="failed", region="north"))
    assert truths["How many orders are there failed in the north?"] == count
    payload = store.get("ord_008870")["raw_payload"]
    status = re.search(r'"attempt":84,"status":(\d+)', payload)[1]
    assert [value for text, value in truths.items() if "attempt 84" in text] == [status]
    assert [value for text, value in truths.items() if " Is " in text] == ["yes", "no", "no"]


@BOTH
def test_what_each_technique_does_to_the_bill(frame, api):
    table = bench.summary(frame, api.name)
    assert ADDED[-2:] == ["refs", "code"]
    assert (table.loc[ADDED[1:], "change"] < 1).all(), "each lowers the bill"
    assert (
        table["input"]["clearing"] < table["input"]["refs"]
        and table["peak"]["clearing"] < table["peak"]["refs"]
    )
    assert (table["change"]["clearing"] > 1) == (api is ANTHROPIC), (
        "clearing raises it where writing is charged"
    )
    assert table["change"]["clearing every turn"] > 1.4
    assert table["money"].nsmallest(2).index.to_list() == ["code", "small budget"]
    assert table["answered"].idxmin() == "small budget" and table["answered"]["code"] == len(THIRTY)
    assert table["turns"]["budget"] < table["turns"]["refs"] < table["turns"]["clearing"]
    assert (
        table["turns"]["code"] < table["turns"]["refs"]
        and table["peak"]["code"] < table["peak"]["refs"] / 3
    )
    assert (
        table[["correct", "recoverable", "lost", "silently wrong"]].sum(axis=1) == len(THIRTY)
    ).all()


def test_only_results_that_do_not_say_what_they_left_out_mislead(frame):
    wrong = frame.loc[frame["outcome"] == "silently wrong", "technique"]
    assert set(wrong) == {"no note"}
    kinds = bench.kinds(frame, "anthropic")
    assert kinds["aggregate"]["no note"] == "WRONG WRONG WRONG"
    assert kinds["needle"][["concise", "budget", "refs"]].to_list() == [
        "+1 ok ok",
        "+1 ok lost",
        "+1 +1 +3",
    ]


@BOTH
def test_code_answers_what_takes_all_rows_and_shows_nothing_to_look_back_at(frame, api):
    kinds = bench.kinds(frame, api.name)
    asked, looking_back = ["lookup", "filter", "needle", "aggregate"], ["join", "absence"]
    assert kinds.loc["refs", asked].to_list() == [
        "ok ok ok",
        "ok +1 +1",
        "+1 +1 +3",
        "lost ok lost",
    ]
    assert kinds.loc["code", asked].to_list() == ["ok ok ok", "ok +1 ok", "ok ok ok", "ok ok ok"]
    assert kinds.loc["refs", looking_back].to_list() == ["+2 +1 +1", "ok ok +1"]
    assert kinds.loc["code", looking_back].to_list() == ["+2 +2 +1", "+1 ok +1"]
    turns = line(frame, "code", api)
    sums = turns[(turns["call"] == "execute") & (turns["kind"] == "aggregate")]
    assert len(sums) == 3 and sums["result_tokens"].max() <= 10


@BOTH
def test_the_tool_that_runs_code_is_paid_for_whether_or_not_it_is_used(store, api):
    lookups = [question for question in THIRTY if question.kind == "lookup"]
    refs, code = (ask(api, TECHNIQUES[name], store, lookups) for name in ("refs", "code"))
    assert code.messages == refs.messages
    plain, tools = (TECHNIQUES[name].tools(store) for name in ("refs", "code"))
    assert list(tools) == [*plain, "execute"]
    text = tools["execute"].description
    assert "def rows(" in text and "def payload(" in text and "def refund_rates(" not in text
    defined = [api.request_tokens({"tools": one.definitions}) for one in (refs, code)]
    pairs = zip(refs.ledger.turns, code.ledger.turns, strict=True)
    more = [two.usage.input - one.usage.input for one, two in pairs]
    assert more == [defined[1] - defined[0]] * 6 and more[0] > 300
    assert code.ledger.money > refs.ledger.money


def test_the_code_is_charged_as_output_and_only_its_answer_is_read(store):
    session = ask(OPENAI_CHAT, TECHNIQUES["code"], store, [TEN[3]])
    [call] = see(OPENAI_CHAT, session.messages)
    rows = 'orders.rows(["amount"], status="refunded", region="south")'
    code = f'round(sum(row["amount"] or 0 for row in {rows}), 2)'
    assert call.arguments == {"code": code}
    assert session.ledger.turns[0].usage.output > count_tokens(code)
    assert json.loads(call.text) == {"value": truth(TEN[3], store)}


def test_a_word_that_the_shop_does_not_know_fails_before_anything_is_run(store):
    some = [question for question in THIRTY if "declined" in question.text]
    session = ask(OPENAI_CHAT, TECHNIQUES["code"], store, some)
    error = see(OPENAI_CHAT, session.messages)[0].result["error"]
    assert "declined" in error and "failed" in error
    tags = session.ledger.turns[-1].tags
    assert tags["outcome"] == "recoverable" and tags["further_calls"] == 1


def test_code_looks_again_only_where_no_listing_is_shown(store):
    """The question in the middle of round two lists what the last one looks back at."""
    join, absence = (question for question in ROUNDS[1] if question.looks_back)
    alone, after = (
        ask(OPENAI_CHAT, TECHNIQUES["code"], store, some).ledger.turns
        for some in ([absence], [join, absence])
    )
    assert alone[-1].tags["answer"] == after[-1].tags["answer"] == "no"
    assert [turn.tags["call"] for turn in alone] == ["execute", ""]
    calls = ["search_orders", "get_order_payload", "", ""]
    assert [turn.tags["call"] for turn in after] == calls


def test_the_end_of_a_text_that_was_cut_is_not_taken_for_its_end(store):
    agent = Agent(TECHNIQUES["budget"].tools(store), THIRTY[0])
    assert agent.read({"note": "one\ntwo"}, "note", r"([^\n]+)$") == "two"
    with pytest.raises(GiveUp):
        agent.read({"note": "one\ntw…"}, "note", r"([^\n]+)$")


def test_no_question_takes_more_further_calls_than_are_allowed(frame):
    assert frame["further_calls"].max() == MOST_CALLS
    assert not frame.loc[frame["outcome"] == "correct", "further_calls"].any()


@BOTH
def test_an_error_turn_is_charged_where_a_tool_filters(frame, api):
    turns = Counter(frame[(frame["question"] == 8) & (frame["api"] == api.name)]["technique"])
    assert turns["naive"] == 2 and turns["filter"] == turns["refs"] == turns["code"] == 3


def test_a_budgeted_page_of_whole_rows_keeps_its_budget_and_ends(store):
    """The tool from before refs: cursors lead to every row, and no result is over the budget."""
    tool = TECHNIQUES["budget"].tools(store)["search_orders"]
    given = {
        "status": "refunded",
        "region": "south",
        "placed_after": "2026-06-10",
        "response_format": "detailed",
    }
    given["placed_before"] = "2026-06-13"
    seen, cursor = [], None
    while not seen or cursor:
        text = tool.call(given | ({"cursor": cursor} if cursor else {})).text
        assert count_tokens(text) <= 25_000
        page = json.loads(text)
        seen, cursor = seen + [row["order_id"] for row in page["items"]], page["next_cursor"]
    days = {"placed_after": datetime(2026, 6, 10), "placed_before": datetime(2026, 6, 13)}
    wanted = OrderFilter(status="refunded", region="south", **days)
    assert seen == [row["order_id"] for row in store.page(wanted, limit=100)]


def test_a_bare_result_holds_rows_and_nothing_else(store):
    tool = TECHNIQUES["no note"].tools(store)["search_orders"]
    assert "cursor" not in tool.parameters
    assert tool.call({"status": "refunded", "limit": 50}).text.startswith('[{"customer":')


def test_the_figure_marks_what_raises_the_bill_and_what_no_window_takes(frame):
    tables = {api: bench.summary(frame, api) for api in ("anthropic", "openai")}
    left, right = plots.technique_bill(tables, 7, "a title").axes
    red = {text.get_text() for text in left.texts if text.get_color() == plots.RED}
    assert len(red) == 3 and all("(+" in text for text in red)
    pale = [bar.get_alpha() < 1 for bar in left.patches]
    assert pale == [*tables["anthropic"]["refused"].notna(), *tables["openai"]["refused"].notna()]
    assert [bar.get_width() for bar in left.patches[:3]] == tables["anthropic"]["money"][
        :3
    ].to_list()
    assert sum(bar.get_width() for bar in right.patches) == len(THIRTY) * len(TECHNIQUES)
    pyplot.close("all")
