"""Code mode's two tools: any number of functions behind `search` and `execute` (cases 38, 39)."""

import json
import sqlite3
import threading
from typing import Annotated, Literal, TypedDict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

from toolresults.codemode.registry import LEAST_BUDGET, Registry, SearchIndex, words
from toolresults.results.budget import BudgetError
from toolresults.tokens import count_tokens, to_json
from toolresults.tools import Tool

LANGUAGES = ("python", "javascript")


class Task(TypedDict):
    id: int
    owner: str


def list_tasks(
    owner: Annotated[str | None, Field(description="Only theirs.")] = None,
    status: Literal["open", "done", "stuck"] = "open",
) -> list[Task]:
    """Lists tasks, the earliest due first.

    Also: to-do, chore.
    """
    return [{"id": n, "owner": owner or "ana"} for n in range(3)]


def add_note(task_id: int, text: str) -> None:
    """Adds a note to a task."""


def get_salary(username: str) -> float:
    """Reads what an employee earns."""
    return 5.5


def registered(**options) -> Registry:
    registry = Registry(**options)
    registry.register(list_tasks, "crm")
    registry.register(add_note, "crm")
    registry.register(get_salary, "hr")
    return registry


@pytest.fixture(scope="module")
def registry():
    with registered() as registry:
        yield registry


def numbered(n: int):
    def function(first: int, second: str = "x") -> list[Task]: ...

    function.__doc__ = f"Does thing number {n} to the machine."
    return function


def crowd(count: int, **options) -> Registry:
    registry = Registry(**options)
    for n in range(count):
        registry.register(numbered(n), f"unit{n % 40}", f"thing_{n}")
    return registry


def found(registry: Registry, query: str, detail: str = "brief") -> dict:
    text = registry.search(query, detail)
    assert count_tokens(text) <= registry.budget
    return json.loads(text)


def paths(registry: Registry, query: str) -> list[str]:
    return [line.partition(":")[0] for line in found(registry, query)["items"]]


# search


def test_words_find_a_function_by_its_name_docstring_parameters_and_values(registry):
    for query in (
        "list tasks",
        "listTasks",
        "which to-do is the earliest",
        "chores",
        "stuck",
        "OWNER",
    ):
        assert paths(registry, query)[0] == "crm.list_tasks"
    assert paths(registry, "what does this employee earn") == ["hr.get_salary"]


def test_brief_is_one_line_a_function(registry):
    assert found(registry, "notes of a task") == {
        "total_matches": 2,
        "shown": 2,
        "items": [
            "crm.add_note: Adds a note to a task.",
            "crm.list_tasks: Lists tasks, the earliest due first.",
        ],
    }


def test_a_function_without_a_docstring_shows_its_parameters():
    def plain(a: int, b: int = 2): ...

    with Registry() as registry:
        registry.register(plain, "misc")
        assert found(registry, "plain")["items"] == ["misc.plain(a, b)"]


def carrying(n: int) -> int:
    """Adds one."""
    return n + 1


carrying.search_words = "increment, tally-ho"


@pytest.mark.parametrize("language", LANGUAGES)
def test_search_words_are_found_and_never_shown(language):
    with Registry(language=language) as registry:
        registry.register(carrying, "sums", "carried")
        registry.register(carrying, "sums", "other", words="bumpIt, one higher")
        registry.register(carrying, "sums", "none", words="")
        assert paths(registry, "incremented") == paths(registry, "tally") == ["sums.carried"]
        assert paths(registry, "bump") == ["sums.other"]
        answers = [
            registry.search(query, how)
            for query in ("increment bump", "sums")
            for how in ("brief", "full")
        ]
        answers += [
            to_json(tool.definition(api))
            for tool in registry.tools()
            for api in ("openai", "anthropic")
        ]
        answers += [to_json(Tool(carrying).definition(api)) for api in ("openai", "anthropic")]
        for word in ("increment", "tally", "bump", "higher"):
            assert not any(word in text.lower() for text in answers)


def test_a_search_word_counts_less_than_a_name_and_more_than_a_parameter():
    def plain():
        """Works."""

    def charge(tariff: int):
        """Works."""

    with Registry() as registry:
        registry.register(charge, "a", "charge")
        registry.register(plain, "b", "sums", words="tariff")
        registry.register(plain, "c", "tariff")
        assert paths(registry, "tariff rates") == ["c.tariff", "b.sums", "a.charge"]


STUB = """\
# module crm
class Task(TypedDict):
    id: int
    owner: str
# Lists tasks, the earliest due first.
def list_tasks(
    owner: str | None = None,  # Only theirs.
    status: Literal['open', 'done', 'stuck'] = 'open',
) -> list[Task]: ...
"""

DECLARATION = """\
declare namespace crm {
  interface Task { id: number; owner: string }
  /** Lists tasks, the earliest due first. */
  function list_tasks(args?: {
    owner?: string | null;  // Only theirs.
    status?: 'open' | 'done' | 'stuck';  // Default 'open'.
  }): Promise<Task[]>;
}
"""


@pytest.mark.parametrize(("language", "stub"), [("python", STUB), ("javascript", DECLARATION)])
def test_full_is_typed_stubs_in_the_language_of_the_sandbox(language, stub):
    with registered(language=language) as registry:
        assert found(registry, "crm.list_tasks", "full") == {
            "total_matches": 1,
            "shown": 1,
            "stubs": stub,
        }


def test_full_groups_by_namespace(registry):
    stubs = found(registry, "hr.get_salary crm.add_note", "full")["stubs"]
    assert stubs == (
        "# module hr\n# Reads what an employee earns.\ndef get_salary(username: str) -> float: ...\n"
        "# module crm\n# Adds a note to a task.\ndef add_note(task_id: int, text: str) -> None: ...\n"
    )


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("crm.list_tasks", ["crm.list_tasks"]),
        (" `CRM.List_Tasks()`, ", ["crm.list_tasks"]),
        ("hr.get_salary, crm.add_note", ["hr.get_salary", "crm.add_note"]),
        ("crm", ["crm.list_tasks", "crm.add_note"]),
        ("crm.*", ["crm.list_tasks", "crm.add_note"]),
        ("hr.* crm.add_note", ["hr.get_salary", "crm.add_note"]),
    ],
)
def test_a_path_or_a_namespace_gives_just_that(registry, query, expected):
    assert paths(registry, query) == expected


@pytest.mark.parametrize(
    "query",
    [
        "crm.list_tasks and something about pay",
        "crm.list_tasks, crm.list_taks",
        "crm.list_tasks(overdue=True)",
    ],
)
@pytest.mark.parametrize("detail", ["brief", "full"])
def test_a_path_that_stands_among_words_comes_first(registry, query, detail):
    answer = json.loads(registry.search(query, detail))
    shown = answer["items"][0] if detail == "brief" else answer["stubs"]
    assert "list_tasks" in shown and (detail == "full" or shown.startswith("crm.list_tasks"))


def test_a_long_list_of_paths_is_no_search_in_words():
    registry = Registry(budget=20_000)
    for i in range(120):
        registry.register(lambda: None, "crm", f"a_function_with_a_long_name_{i}")
    paths = [path for path in registry.functions if not path.endswith("7")]
    answer = json.loads(registry.search(", ".join(paths)))
    assert answer["total_matches"] == answer["shown"] == len(paths) == 108


def test_no_match_says_what_there_is_and_is_no_error(registry):
    search = registry.tools()[0]
    result = search.call({"query": "zebra"})
    note = "No function matches. Use other words, or a namespace: crm (2), hr (1)."
    assert not result.is_error
    assert json.loads(result.text) == {"total_matches": 0, "shown": 0, "items": [], "note": note}
    for query in ("", "  \n", "\0"):
        assert "crm (2), hr (1)." in found(registry, query)["note"]
    with Registry() as empty:
        assert found(empty, "zebra")["note"] == "There are no functions."


def test_of_many_namespaces_as_many_are_named_as_fit():
    with crowd(200, budget=LEAST_BUDGET) as registry:
        assert found(registry, "zebra")["note"].endswith("unit26 (5) and 20 more.")
    with Registry(budget=LEAST_BUDGET) as registry:
        for n in range(40):
            registry.register(numbered(n), f"{chr(97 + n % 26) * 55}{n}", "f")
        assert found(registry, "zebra")["note"].endswith(" more.")


def test_an_unknown_detail_is_the_tools_own_error(registry):
    result = registry.tools()[0].call({"query": "tasks", "detail": "all"})
    assert result.is_error
    assert json.loads(result.text)["error"] == "detail: it should be 'brief' or 'full', got \"all\""
    with pytest.raises(ValueError, match="use brief or full"):
        registry.search("tasks", "all")


def test_the_budget_cuts_a_listing_and_says_so():
    with crowd(100, budget=400) as registry:
        for n in range(60):
            registry.register(numbered(n), "big", f"part_{n}")
        answer = found(registry, "big")
        shown = answer["shown"]
        assert (answer["total_matches"], len(answer["items"])) == (60, shown)
        assert 15 < shown < 60
        assert (
            answer["note"]
            == f"The 400-token budget cut 60 functions to {shown}. Search in words for fewer."
        )
        # one more would not have fitted
        assert (
            count_tokens(to_json({**answer, "items": [*answer["items"], answer["items"][-1]]}))
            > 400
        )


def test_words_show_the_ten_best_of_all_that_match():
    with crowd(50) as registry:
        answer = found(registry, "machine")
        assert (answer["total_matches"], answer["shown"]) == (50, 10)
        # equally good: by path, the same ones every time
        assert [line.partition(":")[0] for line in answer["items"][:3]] == [
            "unit0.thing_0",
            "unit0.thing_40",
            "unit1.thing_1",
        ]


def wide(fields: int, docs: bool = True):
    row = TypedDict(f"Wide{fields}", {f"field_number_{n}": str for n in range(fields)})

    def function(
        key: Annotated[str, Field(description="The key of it. " * (40 if docs else 0))],
    ) -> row: ...

    function.__doc__ = "Reads a wide row."
    return function


def test_stubs_that_do_not_fit_are_named_and_smaller_ones_take_their_place():
    with Registry(budget=500) as registry:
        registry.register(wide(200), "misc", "wide_row")
        registry.register(wide(3, docs=False), "misc", "slim_row")
        answer = found(registry, "misc.wide_row misc.slim_row", "full")
        assert (answer["total_matches"], answer["shown"]) == (2, 1)
        assert "def slim_row(" in answer["stubs"]
        assert answer["note"] == "The 500-token budget left out misc.wide_row. Ask for fewer."


def test_a_stub_too_large_with_its_comments_comes_without_and_one_too_large_at_all_as_its_line():
    with Registry(budget=500) as registry:
        registry.register(wide(40), "misc", "middling_row")
        registry.register(wide(400), "misc", "huge_row")
        assert (
            "def middling_row(key: str) -> Wide40: ...\n"
            in found(registry, "misc.middling_row", "full")["stubs"]
        )
        assert found(registry, "misc.huge_row", "full") == {
            "total_matches": 1,
            "shown": 1,
            "items": ["misc.huge_row: Reads a wide row."],
            "note": "No stub fits into 500 tokens.",
        }


def test_the_least_budget_holds_the_longest_names_and_lines():
    def function(): ...

    function.__doc__ = "😀" * 5_000
    with Registry(budget=LEAST_BUDGET) as registry:
        registry.register(function, "q" * 63, "z" * 63)
        for detail in ("brief", "full"):
            answer = found(registry, f"{'q' * 63}.{'z' * 63}", detail)
            assert answer["shown"] == 1
    with pytest.raises(BudgetError, match="300 tokens at least"):
        Registry(budget=LEAST_BUDGET - 1)


AWKWARD = [
    *(
        '"',
        "'",
        "AND OR NOT",
        "tasks NEAR(2)",
        "tasks* ^list",
        "name:tasks",
        "(((",
        "-tasks",
        "\0tasks",
        "tasks;--",
    ),
    *(
        "đơn hàng",
        "日本語",
        "😀",
        "\ud800",
        "x" * 10_000,
        "tasks " * 5_000,
        " ".join(f"w{n}" for n in range(5_000)),
    ),
]
LOADED = ["crm", "tasks", "crm.*", "hr.get_salary", '"', "*", "NOT", "AND", "("]


@pytest.mark.parametrize("query", AWKWARD)
def test_any_text_is_a_query(registry, query):
    found(registry, query)
    assert ("crm.list_tasks" in paths(registry, query)) == ("tasks" in query)


def test_only_the_first_64_words_of_a_query_count(registry):
    assert paths(registry, " ".join([*(f"w{n}" for n in range(63)), "tasks"]))
    assert not paths(registry, " ".join([*(f"w{n}" for n in range(64)), "tasks"]))


@given(
    st.lists(st.one_of(st.text(max_size=40), st.sampled_from(LOADED))),
    st.sampled_from(["brief", "full"]),
)
def test_no_query_breaks_search_or_its_budget(registry, parts, detail):
    answer = found(registry, " ".join(parts), detail)
    assert answer["shown"] <= answer["total_matches"]


NAMES = st.from_regex(r"[a-z][A-Za-z0-9_]{0,20}", fullmatch=True).filter(words)


@settings(max_examples=40)
@given(st.lists(NAMES, min_size=1, max_size=8, unique_by=lambda name: tuple(words(name))))
def test_every_function_is_found_by_its_path_and_first_by_the_words_of_its_name(names):
    with Registry(budget=LEAST_BUDGET * 2) as registry:
        for n, name in enumerate(names):
            registry.register(numbered(n), "space_", f"{name}_do")
        for name in names:
            assert paths(registry, f"space_.{name}_do") == [f"space_.{name}_do"]
            assert paths(registry, " ".join(words(f"{name}_do")))[0] == f"space_.{name}_do"


def test_without_fts5_the_error_says_what_is_missing(monkeypatch):
    class Bare(sqlite3.Connection):
        def execute(self, sql, *arguments):
            return super().execute(sql.replace("fts5", "fts0"), *arguments)

    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *args, **options: connect(*args, factory=Bare, **options)
    )
    with pytest.raises(
        RuntimeError,
        match=r"needs SQLite's FTS5, which this Python's sqlite3 lacks \(no such module",
    ):
        SearchIndex()


# register


def test_a_path_is_registered_once_and_must_be_one_that_code_can_write(registry):
    with pytest.raises(ValueError, match="'crm.list_tasks' is registered already"):
        registry.register(list_tasks, "crm")
    for namespace, name in (
        ("json", "it"),
        ("lambda", "it"),
        ("crm", "import"),
        ("crm", "a-b"),
        ("", "it"),
    ):
        with pytest.raises(ValueError, match="cannot be called from code"):
            registry.register(list_tasks, namespace, name)
    assert list(registry.functions) == ["crm.list_tasks", "crm.add_note", "hr.get_salary"]
    assert registry.namespaces == {"crm": 2, "hr": 1}


def test_an_unknown_language_is_the_hosts_mistake():
    with pytest.raises(ValueError, match="use python or javascript"):
        Registry(language="perl")


def test_threads_may_register_and_search_at_once():
    with Registry() as registry:
        failures = []

        def work(n):
            try:
                for k in range(25):
                    registry.register(numbered(n), f"unit{n}", f"thing_{k}")
                    assert paths(registry, f"unit{n}.thing_{k}") == [f"unit{n}.thing_{k}"]
                    found(registry, "machine", "full")
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        assert found(registry, "machine")["total_matches"] == len(registry.functions) == 100


# the surface


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_definitions_are_small_and_the_same_for_5_functions_and_for_500(language):
    with crowd(5, language=language) as small, crowd(500, language=language) as large:
        for api in ("openai", "anthropic"):
            definitions = to_json([tool.definition(api) for tool in small.tools()])
            assert definitions == to_json([tool.definition(api) for tool in large.tools()])
            assert count_tokens(definitions) <= 600
        assert [tool.name for tool in large.tools()] == ["search", "execute"]


RUNS = {
    "python": (
        "crm.list_tasks(owner='bo')[0]['owner']",
        "crm.list_task()",
        "crm.nope()",
        "crn.list_tasks()",
    ),
    "javascript": (
        "return (await crm.list_tasks({owner: 'bo'}))[0].owner",
        "return await crm.list_task()",
        "return await crm.nope()",
        "return await crn.list_tasks()",
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_execute_runs_code_with_the_functions_and_says_which_are_not_there(language):
    good, near, far, wrong = RUNS[language]
    with registered(language=language) as registry:
        execute = registry.tools()[1]
        assert execute.call({"code": good}).text == registry.execute(good) == '{"value":"bo"}'
        for code, hint in (
            (
                near,
                "Did you mean list_tasks?"
                if language == "python"
                else "Did you mean crm.list_tasks?",
            ),
            (far, "There is no crm.nope. Find the function with search."),
            (wrong, "There is no crn.list_tasks. Did you mean crm.list_tasks?"),
        ):
            result = execute.call({"code": code})
            assert result.is_error
            assert json.loads(result.text)["error"].count(hint) == 1
            assert result.text.count("Did you mean") <= 1


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_answer_of_execute_is_within_the_budget(language):
    code = {"python": "'word ' * 1_500", "javascript": "return 'word '.repeat(1500)"}[language]
    with Registry(language=language, budget=LEAST_BUDGET) as registry:
        text = registry.execute(code)
        assert count_tokens(text) <= LEAST_BUDGET
        assert json.loads(text)["value"].startswith("word word")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_function_registered_in_mid_session_is_found_and_run_and_no_definition_changes(language):
    code = {"python": "late.double(n=21)", "javascript": "return await late.double({n: 21})"}[
        language
    ]

    def double(n: int) -> int:
        """Doubles a number."""
        return 2 * n

    with registered(language=language) as registry:
        search, execute = registry.tools()
        before = to_json([search.definition(), execute.definition()])
        assert execute.call({"code": code}).is_error
        thread = threading.Thread(target=registry.register, args=(double, "late"))
        thread.start()
        thread.join()
        assert json.loads(search.call({"query": "double a number"}).text)["items"] == [
            "late.double: Doubles a number."
        ]
        assert execute.call({"code": code}).text == '{"value":42}'
        assert to_json([search.definition(), execute.definition()]) == before
