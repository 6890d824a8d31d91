"""What each notebook writes from scratch says what the package says, and fails where the notebook
says that it does; what a title claims is what was measured.
"""

import base64
import csv
import io
import json
import os
from collections import Counter
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from apis import EACH_API
from histories import histories
from inline import cell_with, inline, title
from stores import refilled
from toolresults.agent.anthropic import ANTHROPIC
from toolresults.agent.history import clear_tool_results
from toolresults.agent.loop import run
from toolresults.agent.openai_chat import OPENAI_CHAT
from toolresults.audit.weigh import fields_of, weigh_fields
from toolresults.codemode.execute import open_sandbox
from toolresults.codemode.functions import HostFunction
from toolresults.results.budget import clamp, largest_fit
from toolresults.results.cursor import RESTART, CursorError, Cursors
from toolresults.results.payload import window
from toolresults.results.redact import redact
from toolresults.results.shape import clean, cut, describe_binary, shape
from toolresults.scripted import STYLES, Reply, ScriptedModel
from toolresults.tokens import count_tokens, estimate_tokens, repair, to_json
from workbook.bench.code_mode_company import Company
from workbook.bench.code_mode_questions import WEEK_CODE
from workbook.bench.four_ways import RATE_CODE, load
from workbook.bench.headline import headline
from workbook.bench.ten_turns import against
from workbook.examples.assistant import CITIES, POSTS, assistant_tools
from workbook.examples.orders.data import classic_orders, plain_order
from workbook.examples.orders.functions import order_functions
from workbook.examples.orders.store import REGIONS, STATUSES, OrderFilter, OrderStore

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
PLAIN = st.text(st.characters(exclude_categories=["C"]), max_size=60)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**18), 10**18) | TEXT
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXT, inner, max_size=5),
    max_leaves=20,
)  # fmt: skip
# the rows of notebook 04: short texts without control characters, numbers, nothing
COLUMNS = ("customer", "status", "amount", "note")
ROWS = st.fixed_dictionaries(
    dict.fromkeys(COLUMNS, st.none() | st.booleans() | st.integers() | PLAIN)
)
COLOURED = st.lists(PLAIN | st.sampled_from(["\x1b[31m", "\x1b[1;32m", "\x1b[m", "\x1b[0m"]))
PICTURES = st.binary(min_size=40).map(
    lambda data: base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + data).decode()
)

# notebooks 02 and 03: four orders a minute, every fifth without an amount, and amounts that meet
# the bounds below exactly
START = datetime(2026, 7, 1)
MINUTES = st.integers(-1, 27).map(lambda n: START + timedelta(minutes=n))
ORDERS = [
    plain_order(
        n,
        placed_at=START + timedelta(minutes=n // 4),
        amount=None if n % 5 == 0 else Decimal(n % 7),
    )
    for n in range(1, 101)
]
STORE = OrderStore(ORDERS)
SORTED = ["placed_at", "order_id"]


def keys(rows) -> list[tuple]:
    return [(row["placed_at"], row["order_id"]) for row in rows]


KEYS = sorted(keys(ORDERS), reverse=True)


def first_window(text: str, offset: int, size: int) -> dict:
    """The package's window without what only the package's has."""
    shown = json.loads(window(text, ref="p", offset=offset, max_chars=size))
    return {name: value for name, value in shown.items() if name not in ("payload_ref", "note")}


SAME = [  # notebook, function, its arguments, the package's own
    ("01", "estimate", st.tuples(st.text()), estimate_tokens),
    ("01", "to_text", st.tuples(JSON), to_json),
    ("03", "cap", st.tuples(st.integers()), lambda limit: clamp("limit", limit, 1, 50)[0]),
    (
        "03",
        "keyset_page",
        st.tuples(st.just(KEYS), st.none() | st.sampled_from(KEYS), st.integers(1, 110)),
        lambda _, after, limit: keys(STORE.page(after=after, limit=limit, columns=SORTED)),
    ),
    (
        "03",
        "offset_page",
        st.tuples(st.just(KEYS), st.integers(0, 110), st.integers(1, 110)),
        lambda _, offset, limit: keys(
            STORE.offset_page(offset=offset, limit=limit, columns=SORTED)
        ),
    ),
    ("04", "keep", st.tuples(ROWS, st.sets(st.sampled_from(COLUMNS)).map(sorted)), shape),
    ("04", "strip_codes", st.tuples(COLOURED.map("".join)), clean),
    ("04", "cut_to", st.tuples(st.text(), st.integers(1, 300)), cut),
    ("06", "describe", st.tuples(PLAIN | PICTURES), describe_binary),
    (
        "06",
        "window",
        TEXT.filter(lambda text: redact(text) == text).flatmap(
            lambda text: st.tuples(
                st.just(text), st.integers(0, max(len(text) - 1, 0)), st.integers(-5, 120)
            )
        ),
        first_window,
    ),
    (
        "08",
        "against",
        st.tuples(st.integers(1, 100_000), st.integers(0, 100_000)),
        lambda b, g: pytest.approx(against(b, g)),
    ),
]


@pytest.mark.parametrize(
    ("number", "name", "arguments", "package"),
    SAME,
    ids=[f"{number}-{name}" for number, name, *_ in SAME],
)
@given(data=st.data())
def test_what_is_written_from_scratch_says_what_the_package_says(
    number, name, arguments, package, data
):
    drawn = data.draw(arguments)
    assert inline(number)[name](*drawn) == package(*drawn)


@pytest.fixture(scope="module")
def exact() -> dict[str, int]:
    """Exact tokens of each step of the headline table."""
    return dict(headline().set_index("step")["exact"])


def four_ways(way: str):
    return load().set_index(["api", "question", "way"]).loc[("openai", "rate", way)]


CLAIMS = {  # notebook: what its title holds, from the headline table
    "02": lambda exact: [f"{exact['naive']:,}", f"{exact['filtered']:,}"],
    "03": lambda exact: [f"{exact['filtered']:,}", f"{exact['capped']:,}"],
    "04": lambda exact: [f"{exact['capped']:,}", f"{exact['concise']:,}"],
    "05": lambda exact: [f"it uses {exact['budget']}"],
    "06": lambda exact: [f"{exact['payload ref']} tokens"],
    "07": lambda exact: [
        f"**{four_ways('code').call_tokens + four_ways('code').result_tokens} tokens**",
        f"{four_ways('naive').result_tokens:,}",
    ],
}


@pytest.mark.parametrize("number", CLAIMS)
def test_the_title_claims_what_was_measured(number, exact):
    assert [claim for claim in CLAIMS[number](exact) if claim not in title(number)] == []


# --- 00 to 02: measure, filter ---


def test_the_naive_tool_sends_the_same_values_as_the_package():
    orders = classic_orders(20)
    sent = inline("00")["list_orders"](orders)
    assert json.loads(sent) == json.loads(to_json(orders)) == orders


def test_fields_weigh_what_the_audit_says():
    orders = classic_orders(100)
    whole = count_tokens(to_json(orders))
    audited = {f.key: f.tokens / whole for f in weigh_fields(fields_of(orders))}
    assert audited == dict(inline("01")["weigh"](orders)["tokens"])


WANTED = {
    "status": st.sampled_from(STATUSES),
    "region": st.sampled_from(REGIONS),
    "min_amount": st.integers(-1, 8),
    "placed_after": MINUTES,
    "placed_before": MINUTES,
}


@given(st.fixed_dictionaries({}, optional=WANTED))
def test_the_filter_from_scratch_keeps_the_rows_that_the_store_keeps(wanted):
    ours = {order["order_id"] for order in ORDERS if inline("02")["matches"](order, **wanted)}
    theirs = STORE.page(OrderFilter(**wanted), limit=1_000, columns=["order_id"])
    assert ours == {row["order_id"] for row in theirs}
    assert STORE.count(OrderFilter(**wanted)) == len(theirs)


# --- 03: cursors ---

CURSORS = Cursors(["key"], clock=lambda: 0)
POSITIONS = st.tuples(st.integers(0, 2**40), st.from_regex(r"ord_[0-9]{6}", fullmatch=True))
BINDINGS = st.fixed_dictionaries(
    {"tool": st.sampled_from("ab"), "status": st.sampled_from(["paid", None])}
)


def ours(cursor, binding):
    """The position that the strict reader from scratch finds, or None if it refuses."""
    try:
        return tuple(inline("03")["read_strictly"](cursor, binding))
    except ValueError as error:
        assert str(error) == RESTART  # the same one message as the package's
        return None


def theirs(cursor, binding):
    try:
        return CURSORS.read(cursor, binding=binding)
    except CursorError:
        return None


SIGNERS = [
    (lambda position, binding: inline("03")["sign"](position, binding), ours),
    (lambda position, binding: CURSORS.sign(position, binding=binding), theirs),
]


@given(POSITIONS, BINDINGS, BINDINGS, st.data())
def test_both_read_a_cursor_unedited_for_its_own_binding_and_no_other(
    position, binding, other, data
):
    for sign, reader in SIGNERS:
        cursor = sign(position, binding)
        assert reader(cursor, other) == (position if binding == other else None)
        at, drop = data.draw(st.integers(0, len(cursor))), data.draw(st.integers(0, 2))
        new = data.draw(st.characters(max_codepoint=126) | st.just(""))
        edited = cursor[:at] + new + cursor[at + drop :]
        assert reader(edited, binding) == (position if edited == cursor else None)


def test_without_the_strict_reader_other_spellings_pass():
    cursor = inline("03")["sign"]((1, "ord_000001"), "list")
    assert inline("03")["read"](cursor + "=", "list") == [1, "ord_000001"]
    assert ours(cursor + "=", "list") is None


# --- 04: formats ---


@given(st.lists(ROWS, min_size=1))
def test_every_format_holds_every_row(rows):
    table = json.loads(inline("04")["as_columns"](rows))
    assert [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]] == rows
    as_text = [
        {name: "" if value is None else str(value) for name, value in row.items()} for row in rows
    ]
    assert list(csv.DictReader(io.StringIO(inline("04")["as_csv"](rows)), strict=True)) == as_text


def test_a_format_with_one_header_has_a_column_for_every_key():
    rows = [{"id": 1, "note": "a"}, {"id": 2, "note_ref": "n2"}]
    assert inline("04")["as_csv"](rows) == "id,note,note_ref\n1,a,\n2,,n2\n"
    assert json.loads(inline("04")["as_columns"](rows))["rows"] == [[1, "a", None], [2, None, "n2"]]
    assert inline("04")["as_markdown"](rows).split("\n")[2:] == ["| 1 | a |  |", "| 2 |  | n2 |"]


# --- 05: budgets ---

ROW = st.fixed_dictionaries(
    {
        "customer": st.text(max_size=30),
        "amount": st.integers(0, 10**6),
        "note": st.text(max_size=60),
    }
)


def framed(size: int, more: bool):
    """A frame with a note and a cursor that come and go, as those of a tool do."""

    def frame(n):
        at = (1_782_000_000 + n, f"ord_{n:06d}")
        cursor = CURSORS.sign(at, binding="") if more or n < size else None
        note = f"The budget cut {size} rows to {n}. Pass next_cursor as cursor."
        said = f'"note":"{note}",' if n < size else ""
        head = f'{{"total_matches":{size},"shown":{n},"items":['
        return head, f'],{said}"next_cursor":{to_json(cursor)}}}'

    return frame


@given(st.lists(ROW.map(to_json), max_size=12), st.booleans(), st.integers(20, 500))
def test_fitting_finds_the_page_of_the_package_and_of_brute_force_and_the_usual_ways_no_better(
    rows, more, budget
):
    fits, frame = inline("05"), framed(len(rows), more)
    pages = {k: fits["text_with"](rows, frame, k) for k in range(1, len(rows) + 1)}
    best = max((k for k in pages if count_tokens(pages[k]) <= budget), default=0)
    n, text, _ = fits["fit_exactly"](rows, frame, budget)
    assert (n, text) == largest_fit(rows, frame, budget) == (best, pages.get(best, ""))
    for way in ("halve", "bisect"):
        n, text = fits[way](rows, frame, budget)
        assert n <= best and text == pages.get(n, "") and count_tokens(text) <= budget


def test_bisection_misses_a_page_that_is_shorter_because_it_is_complete():
    rows, frame = [to_json({"id": i}) for i in range(6)], framed(6, more=False)
    budget = count_tokens(inline("05")["text_with"](rows, frame, 6))
    assert inline("05")["fit_exactly"](rows, frame, budget)[0] == 6
    assert inline("05")["bisect"](rows, frame, budget)[0] < 6


@pytest.mark.parametrize("budget", [0, 3, 50])
def test_a_mark_added_after_measuring_is_over_every_small_budget(budget):
    assert count_tokens(inline("05")["cut_then_mark"]("some words " * 200, budget)) > budget


# --- 07: running code ---


def program(name: str) -> str:
    """The code that a cell of the notebook puts into `name`."""
    start = f'\n{name} = """'
    return cell_with("07", f"{start}\n").source.partition(start)[2].partition('"""')[0]


ACCOUNTS = st.lists(
    st.builds(
        lambda number, cents, status, region, customer: plain_order(
            number,
            amount=None if cents is None else Decimal(cents).scaleb(-2),
            status=status,
            region=region,
            customer=customer,
        ),
        st.integers(1, 999_999),
        st.none() | st.integers(500, 50_000),
        st.sampled_from(STATUSES),
        st.sampled_from(REGIONS),
        st.sampled_from(["Ana", "Ben", "Chi", "Dũng", "田中", "O'Neil"]),
    ),
    max_size=30,
    unique_by=lambda order: order["order_id"],
)


@settings(max_examples=15)
@given(ACCOUNTS)
def test_exec_and_the_sandbox_print_the_same(account):
    function = HostFunction(order_functions(refilled(account))["orders.rows"], "orders")
    rows = staticmethod(lambda **given: function.call([], given))
    names = {"orders": type("Orders", (), {"rows": rows})}
    for code in (program("code"), program("largest")):
        done = open_sandbox("python", {"orders.rows": function}).run(code)
        assert done.error is None
        assert done.printed == inline("07")["run"](code, names)


def test_the_program_of_the_notebook_is_the_one_that_was_measured():
    *start, last = program("code").strip().splitlines()
    assert [*start, last.removeprefix("print(").removesuffix(")")] == RATE_CODE.strip().splitlines()


def test_exec_is_as_open_as_the_notebook_says(monkeypatch):
    monkeypatch.setenv("SHOP_KEY", "a key")
    run, run_without_builtins = inline("07")["run"], inline("07")["run_without_builtins"]
    assert run("import os; print(os.environ['SHOP_KEY'])", {}) == "a key\n"
    with pytest.raises(ImportError):
        run_without_builtins("import os", {})
    assert run_without_builtins(program("detour"), {}) == "a key\n"
    assert run_without_builtins("print(sum(range(4)))", {}) == "6\n"
    done = open_sandbox("python").run(program("detour"))
    assert "a key" not in done.printed + str(done.value) + done.error


def test_a_method_is_no_value_in_this_python_as_the_notebook_warns():
    sandbox, rates = open_sandbox("python"), "rates = {'a': 1, 'b': 2}\n"
    assert "AttributeError" in sandbox.run(f"{rates}max(rates, key=rates.get)").error
    assert sandbox.run(f"{rates}max(rates, key=lambda name: rates[name])").value == "b"


# --- 08: trimming ---


def changed(before, after) -> list[int]:
    return [i for i, (old, new) in enumerate(zip(before, after, strict=True)) if old != new]


def one_call_a_turn(results: list[str]) -> list[dict]:
    """A history on OpenAI's format: each turn asks for one result, which the next one has read."""
    messages = [{"role": "user", "content": "Go on."}]
    for n, text in enumerate(results):
        function = {"name": "search", "arguments": "{}"}
        call = {"id": f"call_{n}", "type": "function", "function": function}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call["id"], "content": text},
        ]
    return messages


LONG = st.integers(100, 300).map(lambda n: "row " * n)


@settings(max_examples=40)
@given(
    st.lists(LONG, min_size=1, max_size=12).map(one_call_a_turn),
    histories(OPENAI_CHAT),
    histories(ANTHROPIC),
    st.integers(1, 5),
)
def test_the_six_lines_clear_what_the_package_clears_without_limits_and_on_openai_only(
    long, openai, anthropic, n
):
    keep_newest = inline("08")["keep_newest"]
    package = clear_tool_results(long, api=OPENAI_CHAT, keep=n, trigger=0, clear_at_least=0)
    assert changed(long, keep_newest(long, n)) == changed(long, package)
    assert len(changed(long, package)) == max(len(long) // 2 - n, 0)
    before = [dict(message) for message in openai]
    assert OPENAI_CHAT.fault(keep_newest(openai, n)) is None
    assert openai == before
    assert keep_newest(anthropic, n) == anthropic
    assert keep_newest(one_call_a_turn(["row"]), 0) == one_call_a_turn(["row"]), "nothing to keep"


def exchange(*ids):
    uses = [{"type": "tool_use", "id": id, "name": "f", "input": {}} for id in ids]
    results = [{"type": "tool_result", "tool_use_id": id, "content": "row " * 99} for id in ids]
    return [{"role": "assistant", "content": uses}, {"role": "user", "content": results}]


def test_the_fix_for_anthropic_parts_a_call_from_its_result_and_the_package_does_not():
    messages = [
        {"role": "user", "content": "Go on."},
        *exchange("toolu_1"),
        *exchange("toolu_2", "toolu_3"),
    ]
    assert "toolu_1" in ANTHROPIC.fault(inline("08")["keep_newest_users"](messages, 1))
    package = clear_tool_results(messages, api=ANTHROPIC, keep=1, trigger=0, clear_at_least=0)
    assert ANTHROPIC.fault(package) is None
    assert changed(messages, package) == [2], "the newest turn's results are unread, and stay"


@given(st.integers(1, 100_000), st.integers(0, 100_000))
def test_ten_turns_read_ten_times_one_call_at_least(b, g):
    one_call, one_question = inline("08")["against"](b, g)
    assert one_call >= 10 and 5 <= one_question < 45


# --- 09: the loop ---

TOOLS = assistant_tools()
QUESTION = [{"role": "user", "content": "Well?"}]
CITY = st.fixed_dictionaries({"city": st.sampled_from([*CITIES, "Atlantis", "Huế 🌧"])})
CALL = st.one_of(
    st.tuples(st.sampled_from(["weather", "time"]), CITY),
    st.tuples(st.just("get_blog"), st.fixed_dictionaries({"post_id": st.integers(0, 20)})),
    st.tuples(st.just("search_blog"), st.fixed_dictionaries({"query": st.text(max_size=20)})),
)


def script(*replies):
    return inline("09")["script"](*replies)


def without_nulls(messages):
    return [{k: v for k, v in message.items() if v is not None} for message in messages]


@settings(max_examples=30)
@given(
    st.lists(st.lists(CALL, min_size=1, max_size=4), max_size=4), st.text(min_size=1, max_size=30)
)
def test_the_loop_from_scratch_writes_the_history_of_the_packages_loop(rounds, answer):
    # the same failing call is not run a third time by the package, and is by the loop from scratch
    assume(max(Counter(to_json(c) for calls in rounds for c in calls).values(), default=0) < 3)
    replies = [*(Reply(calls=calls) for calls in rounds), Reply(answer)]
    by_hand = inline("09")["ask"](script(*replies).client(OPENAI_CHAT), QUESTION, TOOLS)
    outcome = run(
        OPENAI_CHAT, script(*replies).client(OPENAI_CHAT), QUESTION, TOOLS, model="scripted"
    )
    assert without_nulls(by_hand) == without_nulls(outcome.messages)
    assert len(QUESTION) == 1


def test_what_the_notebook_says_of_the_loop_from_scratch_is_so():
    ask, no_tool = inline("09")["ask"], [Reply(calls=[("send_mail", {})]), Reply("Done.")]
    with pytest.raises(KeyError):
        ask(script(*no_tool).client(OPENAI_CHAT), QUESTION, TOOLS)
    outcome = run(
        OPENAI_CHAT, script(*no_tool).client(OPENAI_CHAT), QUESTION, TOOLS, model="scripted"
    )
    assert outcome.text == "Done."
    cut_off = Reply(calls=[("weather", {"city": "Hanoi"})], arguments_cut=5)
    assert ask(script(cut_off).client(OPENAI_CHAT), QUESTION, TOOLS)[-1]["role"] == "assistant"
    restless = ScriptedModel(lambda messages: Reply(calls=[("weather", {"city": "Hanoi"})]))
    assert ask(restless.client(OPENAI_CHAT), QUESTION, TOOLS)[-1]["role"] == "tool"
    assert len(restless.requests) == 10


@settings(max_examples=30)
@given(
    st.lists(CALL, min_size=1, max_size=4),
    st.sampled_from(["tidy", "whole", "characters", "empty_id"]),
)
def test_pieces_by_index_make_the_calls_of_the_package_where_servers_are_tidy(calls, style):
    model = ScriptedModel(lambda messages: Reply(calls=calls), fragments=style)
    create = model.client(OPENAI_CHAT).chat.completions.create
    chunks = list(create(model="scripted", messages=QUESTION, stream=True))
    made = [call["function"] for call in OPENAI_CHAT.assemble(chunks).message["tool_calls"]]
    by_index = inline("09")["by_index"](chunks)  # the halves of an emoji are joined here
    assert [(name, repair(text)) for name, text in by_index] == [
        (call["name"], call["arguments"]) for call in made
    ]


def test_every_style_of_the_notebooks_table_is_shown():
    shown = cell_with("09", "def verdict").outputs[1]["data"]["text/plain"]
    assert [line.split()[0] for line in shown.splitlines()[1:]] == list(STYLES)


@EACH_API
def test_results_are_read_from_the_histories_of_both_apis(api):
    calls = [("weather", {"city": "Hanoi"}), ("time", {"city": "Berlin"})]
    client = script(Reply("On it.", calls=calls), Reply("Done.")).client(api)
    messages = run(api, client, QUESTION, TOOLS, model="scripted").messages
    results = inline("09")["results"]
    assert results(messages) == [TOOLS[name].call(given).text for name, given in calls]
    assert results(QUESTION) == []


@EACH_API
def test_a_search_and_a_read_take_three_turns_on_both(api):
    client = ScriptedModel(inline("09")["blog"]).client(api)
    outcome = run(api, client, QUESTION, TOOLS, model="scripted")
    assert (outcome.turns, outcome.text) == (3, POSTS[1][2])


# --- 11: code mode ---


@pytest.fixture(scope="module")
def company():
    with Company(30) as company:
        yield company


@pytest.fixture(scope="module")
def both(company):
    """Runs a piece of code in both ways, and gives the two values."""
    registry = company.registry()

    def run(code):
        mine = json.loads(inline("11")["execute"](code, company.functions))
        company.forget()
        answer = json.loads(registry.execute(code))
        company.forget()
        return mine, answer["value"]

    return run


def test_the_weeks_code_gives_the_same_answer(both):
    mine, theirs = both(WEEK_CODE["python"])
    assert mine == theirs and sum(mine.values()) == 42


VALUES = [
    "len(page['items'])",
    "page['total']",
    "[t['task_id'] for t in page['items']]",
    "page['items'][:2]",
]
TEAMS = ["sales", "support", "finance"]


@settings(max_examples=20)  # a run in a sandbox each
@given(st.sampled_from(TEAMS), st.booleans(), st.integers(1, 60), st.sampled_from(VALUES))
def test_code_gives_the_same_value_in_both(both, team, overdue, limit, value):
    page = f"page = crm.list_tasks(team={team!r}, overdue={overdue}, limit={limit})"
    mine, theirs = both(f"{page}\n{value}")
    assert mine == theirs


def test_both_searches_put_a_function_first_whose_words_are_asked_for(company):
    for path in ("crm.move_deal", "hr.org_chart", "crm.pipeline_summary"):
        words = path.replace(".", " ").replace("_", " ")
        query = f"{words} {company.functions[path].__doc__.splitlines()[0]}"
        assert inline("11")["search"](query, company.functions)[0].startswith(path)
        assert json.loads(company.registry().search(query))["items"][0].startswith(path)


def test_the_code_from_scratch_is_as_unsafe_as_the_notebook_says(company, monkeypatch):
    monkeypatch.setenv("CRM_PASSWORD", "only the host knows")
    spy = "__import__('os').environ['CRM_PASSWORD']"
    assert json.loads(inline("11")["execute"](spy, company.functions)) == os.environ["CRM_PASSWORD"]
    assert os.environ["CRM_PASSWORD"] not in company.registry().execute(spy)
