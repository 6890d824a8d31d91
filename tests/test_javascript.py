"""The JavaScript sandbox: what code finds there, what comes back of it, and what is left behind:
nothing.
"""

import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from toolresults.codemode.execute import open_sandbox
from toolresults.codemode.functions import HostFunction
from toolresults.codemode.javascript import EngineError
from toolresults.codemode.sandbox import Limits
from toolresults.tokens import count_tokens
from toolresults.tools import ToolError


class Refused(ToolError, PermissionError):
    pass


def rows(count: int = 3, region: str = "EMEA") -> list[dict]:
    """Rows of six keys."""
    return [
        {
            "id": i,
            "region": region,
            "customer": f"customer {i}",
            "status": "open",
            "amount": i / 4,
            "note": "fine",
        }
        for i in range(count)
    ]


def salary(name: str) -> int:
    """Nobody may see it."""
    raise Refused("you need the scope hr:salary")


def sandbox(*functions, **options):
    made = {
        f"crm.{function.__name__}": HostFunction(function, "crm")
        for function in (rows, salary, *functions)
    }
    return open_sandbox("javascript", made, **options)


def run(code, *functions, **options):
    with sandbox(*functions, **options) as opened:
        return opened.run(code)


def value(code, *functions, **options):
    ran = run(code, *functions, **options)
    assert (ran.error, ran.stopped) == (None, None)
    return ran.value


def children():
    """The processes of this one that run JavaScript."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            parent = int(
                (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1]
            )
            if parent == os.getpid() and b"javascript_child" in (folder / "cmdline").read_bytes():
                found.append(folder)
        except (OSError, ValueError, IndexError):  # no process, or one that has just ended
            continue
    return found


def test_aggregate_over_ten_thousand_rows():
    ran = run(
        """
        const totals = {};
        for (const region of ["EMEA", "APAC"]) {
          for (const row of await crm.rows({count: 5000, region})) {
            totals[row.region] = (totals[row.region] ?? 0) + row.amount;
          }
        }
        console.log("regions:", Object.keys(totals).length);
        return totals;
        """
    )
    total = sum(i / 4 for i in range(5000))
    assert (ran.error, ran.value) == (None, {"EMEA": total, "APAC": total})
    assert (ran.printed, ran.host_calls) == ("regions: 2\n", 2)


def test_arguments_by_name_and_by_place():
    code = """
    const named = await crm.rows({region: "LATAM", count: 1}), placed = await crm.rows(2, "APAC");
    return [named.length, named[0].region, placed.length, placed[0].region];
    """
    assert value(code) == [1, "LATAM", 2, "APAC"]


def test_calls_at_once_come_back_in_order():
    assert value(
        "return (await Promise.all([3, 1, 2].map(n => crm.rows(n)))).map(rows => rows.length)"
    ) == [3, 1, 2]


def test_calls_that_are_not_awaited_are_made_before_the_run_ends():
    ran = run("crm.rows(1); crm.rows(2); return 'done'")
    assert (ran.value, ran.host_calls) == ("done", 2)


def test_errors_of_the_host_can_be_caught_and_told_apart():
    code = """
    const told = [];
    for (const call of [() => crm.salary("ana"), () => crm.rows({cont: 1}), () => crm.rows(true)]) {
      try { await call() } catch (e) { told.push([e instanceof Error, e instanceof TypeError, e.name, e.message]) }
    }
    return told;
    """
    refused, unknown, wrong = value(code)
    assert refused == [True, False, "PermissionError", "you need the scope hr:salary"]
    assert unknown[:3] == [True, True, "TypeError"] and 'unknown argument "cont"' in unknown[3]
    assert wrong[:3] == [True, True, "TypeError"] and "count" in wrong[3]


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (
            "const a = 1;\nreturn a.b.c",
            "TypeError: Cannot read properties of undefined (reading 'c') (line 2: return a.b.c)",
        ),
        (
            "\n\nawait crm.salary('ana')",
            "PermissionError: you need the scope hr:salary (line 3: await crm.salary('ana'))",
        ),
        (
            "const f = () => {\n  throw new RangeError('no');\n};\n[1].map(f)",
            "RangeError: no (line 2: throw new RangeError('no');)",
        ),
        ("let a = 1;\nlet b = ;", "SyntaxError: Unexpected token ';' (line 2: let b = ;)"),
        ("let a = 1;\nif (a) {\n  a = 2;", "SyntaxError: Unexpected end of input (line 3: a = 2;)"),
        (
            "return reports.list()",
            "ReferenceError: reports is not defined (line 1: return reports.list())",
        ),
    ],
)
def test_errors_have_the_line_of_the_model_s_own_code(code, error):
    assert run(code).error == error


def test_nothing_runs_of_code_with_a_syntax_error():
    ran = run("console.log('ran'); await crm.rows(1);\nlet = 1 2")
    assert (ran.printed, ran.host_calls) == ("", 0) and ran.error.startswith("SyntaxError")


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("'a', 1, true, null, undefined, NaN", "a 1 true null undefined NaN"),
        ("{a: [1, {b: 2}]}, [1, 2]", '{"a":[1,{"b":2}]} [1,2]'),
        (
            "new Map([['a', 1]]), new Set([1, 2]), 10n, new Date(0)",
            '{"a":1} [1,2] 10 1970-01-01T00:00:00.000Z',
        ),
        (
            "new TypeError('no'), {error: new Error('x')}, () => 1",
            'TypeError: no {"error":"Error: x"} [function]',
        ),
        ("", ""),
    ],
)
def test_what_is_printed_can_be_read(code, shown):
    assert run(f"console.log({code})").printed == shown + "\n"


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("return", None),
        ("return undefined", None),
        ("return [undefined, NaN, 1n, 2n ** 70n]", [None, None, 1, "1180591620717411303424"]),
        (
            "return {m: new Map([['a', new Set([1])]]), d: new Date(0)}",
            {"m": {"a": [1]}, "d": "1970-01-01T00:00:00.000Z"},
        ),
        ("const a = {b: 1}; return [a, a]", [{"b": 1}, {"b": 1}]),
        ("x = 5; return this.x", 5),
    ],
)
def test_values_come_back_as_plain_json(code, expected):
    assert value(code) == expected


def test_an_infinity_and_a_promise_are_errors_and_not_null_and_nothing():
    assert run("return 1 / 0").error == "TypeError: Infinity has no JSON: give null or text"
    assert "await it first" in run("return [1, 2].map(async n => n)").error


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(-1e15, 1e15)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
)


@settings(
    max_examples=10, deadline=None, phases=[Phase.explicit, Phase.reuse, Phase.generate]
)  # a shrink takes minutes
@given(st.lists(json_values, max_size=30))
def test_any_json_of_the_host_goes_in_and_comes_back_unchanged(values):
    def everything() -> list:
        """All of it."""
        return values

    back = value("return await crm.everything()", everything, limits=Limits(output_tokens=100_000))
    assert back == HostFunction(everything, "crm").call([], {})


def test_a_whole_number_that_javascript_would_round_comes_as_its_digits():
    def ids() -> list:
        """Identifiers."""
        return [2**53 - 1, 2**53 + 1, {"id": -1234567890123456789}]

    code = "const ids = await crm.ids(); return [ids[0] === 9007199254740991, ids[1], ids[2].id]"
    assert value(code, ids) == [True, "9007199254740993", "-1234567890123456789"]


def test_functions_registered_between_runs_are_there():
    functions = {}
    with open_sandbox("javascript", functions) as opened:
        assert opened.run("return typeof crm").value == "undefined"
        functions["crm.rows"] = HostFunction(rows, "crm")
        assert opened.run("return (await crm.rows(2)).length").value == 2


def test_a_namespace_that_javascript_needs_itself_is_refused():
    function = HostFunction(rows, "weak")
    function.namespace, function.path = (
        "WeakMap",
        "WeakMap.rows",
    )  # such names are refused, as far as they are known
    with open_sandbox("javascript", {"WeakMap.rows": function}) as opened:
        assert (
            "the namespace WeakMap is JavaScript's own" in opened.run("return WeakMap.rows()").error
        )


def test_what_was_printed_before_the_time_was_over_is_kept():
    ran = run("console.log('before'); while (true) {}", limits=Limits(seconds=0.2))
    assert (ran.printed, ran.stopped) == ("before\n", "time")


def test_a_value_over_the_limit_comes_back_as_its_beginning():
    ran = run("return await crm.rows(1000)", limits=Limits(output_tokens=100))
    assert ran.stopped == "output" and ran.value.startswith('[{"id":0,"region":"EMEA"')
    assert count_tokens(ran.value) <= 100


def test_two_runs_at_once_do_not_meet():
    meeting = threading.Barrier(2, timeout=20)

    def meet(name: str) -> str:
        """Waits for the other run."""
        meeting.wait()
        return name

    with sandbox(meet) as opened, ThreadPoolExecutor(2) as pool:
        codes = [f"globalThis.mine = await crm.meet('{name}'); return mine" for name in "ab"]
        assert [ran.value for ran in pool.map(opened.run, codes)] == ["a", "b"]


@pytest.mark.skipif(sys.platform != "linux", reason="processes are found in /proc")
def test_the_process_knows_no_environment_and_ends_with_the_run(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    seen = []

    def look() -> int:
        """Looks at the process that called."""
        seen.extend(
            ((child / "environ").read_bytes(), os.readlink(child / "cwd")) for child in children()
        )
        return len(seen)

    assert value("return await crm.look()", look) == 1
    assert seen == [(b"", "/")]
    run("while (true) {}", limits=Limits(seconds=0.2))
    assert children() == []


def test_files_are_read_in_windows_and_only_by_their_names(tmp_path):
    (tmp_path / "a.txt").write_text("0123456789", encoding="utf-8")
    (tmp_path / "b.bin").write_bytes(b"\xff\xfeab")
    (tmp_path / "folder").mkdir()
    code = """
    const parts = [await files.read("a.txt"), await files.read("a.txt", 8), await files.read("a.txt", 2, 3)];
    parts.push(await files.read({name: "a.txt", offset: 10}), await files.read("b.bin"));
    let error;
    try { await files.read("folder") } catch (e) { error = e.name }
    return [await files.list(), parts, error];
    """
    expected = [
        ["a.txt", "b.bin"],
        ["0123456789", "89", "234", "", "\ufffd\ufffdab"],
        "LookupError",
    ]
    assert value(code, files=tmp_path) == expected
    assert value("return typeof files") == "undefined"


def test_a_large_file_is_read_whole(tmp_path):
    (tmp_path / "rows.json").write_text(
        "[" + ",".join(['{"note":"ä fine note"}'] * 200_000) + "]", encoding="utf-8"
    )
    assert (
        value("return JSON.parse(await files.read('rows.json')).length", files=tmp_path) == 200_000
    )


def test_not_a_number_is_no_argument():
    """As null it would leave the argument out, and a filter that came to nothing would let
    everything through.
    """
    assert (
        "count is NaN, which is no argument (line 1"
        in run("return await crm.rows({count: undefined * 2})").error
    )


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (
            "let n = 0; ['a', 'b'].forEach(async (x) => { await crm.salary({name: x}); n++ }); return n",
            True,
        ),
        ("async function main() { await crm.salary({name: 'a'}); }\nmain()", True),
        ("async function main() { console.log((await crm.rows()).length); }\nmain()", False),
        ("return (await Promise.all([crm.rows(), crm.rows()])).length", False),
    ],
)
def test_code_that_does_not_wait_for_its_calls_is_told_so(code, told):
    assert ("await each" in run(code).printed) is told


def test_a_form_feed_is_not_a_line():
    assert "(line 2: null.x)" in run("const a = '\x0c';\r\nnull.x").error


def test_without_the_package_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "py_mini_racer", None)
    with pytest.raises(ImportError, match="pip install mini-racer"):
        open_sandbox("javascript")


def test_an_engine_that_does_not_load_is_said_in_one_line(tmp_path):
    opened = sandbox()
    opened._engine = tmp_path
    with pytest.raises(EngineError, match="JavaScript's engine did not start: OSError.*mini_racer"):
        opened.run("return 1")
    assert sys.platform != "linux" or children() == []


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("() => 1", "owner is a function, which is no argument (line 1"),
        ("Symbol('a')", "owner is a symbol, which is no argument (line 1"),
        ("new Date('2026-13-01')", "owner is no valid date or value (line 1"),
    ],
)
def test_an_argument_that_would_vanish_is_an_error_and_undefined_is_left_out(value, told):
    def rows(owner: str | None = None) -> str:
        """Rows."""
        return f"of {owner}"

    with open_sandbox("javascript", {"crm.rows": HostFunction(rows, "crm")}) as sandbox:
        assert told in sandbox.run(f"return await crm.rows({{owner: {value}}})").error
        assert sandbox.run("return await crm.rows({owner: undefined})").value == "of None"
        assert (
            sandbox.run("return await crm.rows({owner: new Date(0)})").value
            == "of 1970-01-01T00:00:00.000Z"
        )
