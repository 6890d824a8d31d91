"""A sandbox, in every language: what comes back of a run, what its limits hold, and what the host's
functions see.
"""

import asyncio
import contextvars
import dataclasses
import datetime as dt
import decimal
import threading
import time

import pytest

from attacks import functions
from toolresults.codemode.execute import open_sandbox
from toolresults.codemode.functions import HostFunction
from toolresults.codemode.sandbox import Limits
from toolresults.tokens import count_tokens, to_json

LANGUAGES = ("python", "javascript")

CODE = {
    "value": ("[1, {'a': 2.5}, None, True, 'x']", "return [1, {a: 2.5}, null, true, 'x']"),
    "print": ("print('a', 1)\nprint('b')", "console.log('a', 1)\nconsole.log('b')"),
    "print, then fail": (
        "print('first')\nx = 1\n\n[][x]",
        "console.log('first')\nconst x = 1\n\nnull.x",
    ),
    "fail in a function": (
        "def f(x):\n    return [][x]\n\nf(3)",
        "function f(x) {\n  return x.y.z\n}\nf({})",
    ),
    "syntax": ("x = 1\ny = (", "const x = 1\nconst y = ("),
    "named": (
        "len(crm.list_tasks(owner='ana', limit=3))",
        "return (await crm.list_tasks({owner: 'ana', limit: 3})).length",
    ),
    "by position": ("crm.add_note(1, 'abc')", "return await crm.add_note(1, 'abc')"),
    "catch": (
        "try:\n    crm.refuse()\nexcept PermissionError as e:\n    print('refused')",
        "try { await crm.refuse() } catch (e) { if (e.name === 'PermissionError') console.log('refused') }",
    ),
    "wrong argument": ("crm.note(*['a'])", "return await crm.note('a')"),
    "many rows": (
        "sum(row['amount'] for row in crm.rows(5000))",
        "let sum = 0\nfor (const row of await crm.rows(5000)) sum += row.amount\nreturn sum",
    ),
    "all rows printed": (
        "for row in crm.rows(5000): print(row)",
        "for (const row of await crm.rows(5000)) console.log(row)",
    ),
    "all rows returned": ("crm.rows(5000)", "return await crm.rows(5000)"),
    "print for ever": ("while True: print('word')", "for (;;) console.log('word')"),
    "print, then return": (
        "print('word ' * 40)\n'word ' * 40",
        "console.log('word '.repeat(40)); return 'word '.repeat(40)",
    ),
    "loop": ("print('begun')\nwhile True: pass", "console.log('begun'); for (;;);"),
    "hang": ("crm.hang()", "await crm.hang()"),
    "call n times": (
        "for i in range({n}): crm.echo('a')",
        "for (let i = 0; i < {n}; i++) await crm.echo('a')",
    ),
    "memory": (
        "x = []\nwhile True: x.append('y' * 100_000 + str(len(x)))",
        "const x = []; for (;;) x.push(Array(1e5).fill(x.length))",
    ),
    "later": ("hr.late()", "return await hr.late()"),
    "meet": ("crm.meet()", "return await crm.meet()"),
    "who": ("crm.who()", "return await crm.who()"),
    "dates": ("crm.dates()", "return await crm.dates()"),
    "file": (
        "import json\nlen(json.load(open('/data/orders.json')))",
        "return JSON.parse(await files.read('orders.json')).length",
    ),
    "nothing": ("x = 1", "const x = 1"),
    "unicode": (
        "print('żółw 🐢', len('🐢'))\n'żółw 🐢'",
        "console.log('żółw 🐢', [...'🐢'].length); return 'żółw 🐢'",
    ),
}
"""The same thing, done in Python and in JavaScript."""


@pytest.fixture(params=LANGUAGES)
def language(request):
    return request.param


@pytest.fixture
def run(language):
    """Runs a piece of `CODE` in a fresh sandbox with the host's functions, and those given."""

    def go(name, *more, limits=None, files=None, **values):
        code = CODE[name][LANGUAGES.index(language)]
        for key, value in values.items():
            code = code.replace(f"{{{key}}}", str(value))
        known = functions(language) | {
            f"crm.{one.__name__}": HostFunction(one, "crm") for one in more
        }
        with open_sandbox(language, known, limits=limits, files=files) as sandbox:
            return sandbox.run(code)

    return go


def test_value_comes_back_as_plain_json(run):
    result = run("value")
    assert (result.value, result.printed, result.error) == (
        [1, {"a": 2.5}, None, True, "x"],
        "",
        None,
    )


def test_what_is_printed_comes_back(run):
    result = run("print")
    assert (result.printed, result.value, result.error, result.stopped) == (
        "a 1\nb\n",
        None,
        None,
        None,
    )


def test_a_run_without_output_is_not_an_error(run):
    result = run("nothing")
    assert (result.printed, result.value, result.error) == ("", None, None)


def test_text_of_every_alphabet_crosses_both_ways(run):
    result = run("unicode")
    assert (result.printed, result.value) == ("żółw 🐢 1\n", "żółw 🐢")


def test_error_has_its_kind_and_the_line_of_the_code_and_what_was_printed_before_is_kept(
    run, language
):
    result = run("print, then fail")
    assert result.printed == "first\n" and result.stopped is None
    assert result.error.startswith(
        {"python": "IndexError: ", "javascript": "TypeError: "}[language]
    )
    assert "line 4: " + {"python": "[][x]", "javascript": "null.x"}[language] in result.error
    assert len(result.error.splitlines()) <= 3


def test_error_in_a_function_says_where(run, language):
    error = run("fail in a function").error
    assert "line 2: return" in error
    if language == "python":
        assert "called from line 4" in error


def test_syntax_error_is_reported_with_a_line(run):
    error = run("syntax").error
    assert error.startswith("SyntaxError: ") and "line 2" in error


def test_functions_take_named_arguments_and_positions(run):
    assert run("named").value == 3
    result = run("by position")
    assert (result.value, result.host_calls) == (3, 1)


def test_refusal_reaches_the_code_as_the_exception_that_it_is(run):
    assert run("catch").printed == "refused\n"


def test_arguments_are_checked_before_the_function_runs(run):
    seen = []

    def note(task: int) -> None:
        seen.append(task)

    error = run("wrong argument", note).error
    assert error.startswith("TypeError: crm.note: task: it should be a whole number")
    assert seen == []


def test_code_may_hold_rows_that_are_far_over_the_limit_of_output(run):
    result = run("many rows", limits=Limits(output_tokens=50))
    assert (result.value, result.error) == (7500.0, None)


@pytest.mark.parametrize(
    "code", ["all rows printed", "all rows returned", "print for ever", "print, then return"]
)
@pytest.mark.parametrize("most", [1, 60, 300])
def test_output_stops_at_the_limit_to_the_token(code, most, run):
    if code == "print, then return" and most == 300:
        pytest.skip("it fits")
    result = run(code, limits=Limits(output_tokens=most))
    said = count_tokens(result.printed) + (
        0 if result.value is None else count_tokens(to_json(result.value))
    )
    assert result.stopped == "output"
    assert f"stopped at {most} tokens of output. Print totals" in result.error
    assert most * 0.8 - 1 <= said <= most


def test_output_stops_while_the_code_is_printing(run):
    result = run("print for ever", limits=Limits(seconds=20))
    assert result.stopped == "output" and result.seconds < 10


def test_value_that_is_cut_is_the_beginning_of_its_json(run):
    value = run("all rows returned", limits=Limits(output_tokens=60)).value
    assert value.startswith('[{"id":0,"owner":"ana","amount":1.5},{"id":1,') and value.endswith("…")


@pytest.mark.parametrize("code", ["loop", "hang"])
def test_time_is_wall_time_whether_the_code_or_the_host_is_slow(code, run):
    started = time.monotonic()
    result = run(code, limits=Limits(seconds=0.4))
    assert time.monotonic() - started < 3
    assert (result.stopped, result.error) == (
        "time",
        "stopped at 0.4 s. Ask the functions for fewer rows, or do less in one run",
    )
    assert 0.4 <= result.seconds < 3


def test_what_was_printed_before_time_ran_out_is_kept(run):
    assert run("loop", limits=Limits(seconds=0.8)).printed == "begun\n"


def test_memory_is_limited(run):
    result = run("memory", limits=Limits(seconds=20))
    assert result.stopped == "memory" and "64 MiB" in result.error


def test_host_calls_are_limited_to_the_call(run):
    assert run("call n times", n=7, limits=Limits(host_calls=7)).error is None
    result = run("call n times", n=8, limits=Limits(host_calls=7))
    assert (result.stopped, result.host_calls) == ("host calls", 7)


def test_source_that_is_too_long_is_not_run(language):
    printing = {"python": "print(1)\n#", "javascript": "console.log(1)\n//"}[language]
    with open_sandbox(language, limits=Limits(source_chars=50)) as sandbox:
        assert sandbox.run(printing.ljust(50, "x")).printed == "1\n"
        result = sandbox.run(printing.ljust(51, "x"))
    assert (result.stopped, result.printed) == ("source", "")


def test_function_registered_after_the_sandbox_was_opened_is_there(language):
    known = functions(language)
    code = CODE["later"][LANGUAGES.index(language)]

    def late() -> str:
        return "in time"

    with open_sandbox(language, known) as sandbox:
        assert sandbox.run(code).error
        known["hr.late"] = HostFunction(late, "hr")
        assert sandbox.run(code).value == "in time"


def test_two_runs_go_on_at_once(language):
    barrier = threading.Barrier(2, timeout=20)

    def meet() -> int:
        return barrier.wait() * 0 + 1

    results = []
    with open_sandbox(
        language, {"crm.meet": HostFunction(meet, "crm")}, limits=Limits(seconds=20)
    ) as sandbox:
        code = CODE["meet"][LANGUAGES.index(language)]
        threads = [
            threading.Thread(target=lambda: results.append(sandbox.run(code))) for _ in range(2)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert [result.value for result in results] == [1, 1]


def test_runs_inside_a_running_event_loop(run):
    async def cell():
        return run("named")

    assert asyncio.run(cell()).value == 3


def test_functions_see_the_caller_bound_by_the_host(run):
    caller = contextvars.ContextVar("caller")
    caller.set("ana")

    def who() -> str:
        return caller.get()

    assert run("who", who).value == "ana"


def test_results_cross_as_plain_json(run):
    def dates() -> dict:
        return {
            "at": dt.datetime(2026, 3, 1, 10),
            "amount": decimal.Decimal("12.50"),
            "ids": (1, 2),
        }

    assert run("dates", dates).value == {"at": "2026-03-01T10:00:00", "amount": 12.5, "ids": [1, 2]}


def test_files_are_read_where_they_are_given(run, tmp_path):
    (tmp_path / "orders.json").write_text("[1, 2, 3]", encoding="utf-8")
    assert run("file", files=tmp_path).value == 3
    assert run("file").error


def test_calls_and_time_are_reported(run):
    result = run("call n times", n=3)
    assert result.host_calls == 3 and 0 < result.seconds < 5


def test_closing_twice_is_safe(language):
    sandbox = open_sandbox(language)
    sandbox.close()
    sandbox.close()


def test_description_names_every_limit_that_the_model_can_meet(language):
    with open_sandbox(
        language, limits=Limits(seconds=7.5, memory=96 * 2**20, host_calls=321, output_tokens=432)
    ) as it:
        assert all(said in it.description for said in ("7.5 s", "96 MiB", "321", "432"))
        assert count_tokens(it.description) < 280


def test_mistakes_of_the_host_are_told_at_once(tmp_path):
    with pytest.raises(ValueError, match="unknown language 'ruby': use python or javascript"):
        open_sandbox("ruby")
    with pytest.raises(NotADirectoryError, match="files must be a directory"):
        open_sandbox("python", files=tmp_path / "none")
    for field in dataclasses.fields(Limits):
        with pytest.raises(ValueError, match=f"{field.name} must be above zero"):
            Limits(**{field.name: 0})
