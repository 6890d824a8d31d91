"""Python in the sandbox: what the type checker refuses before anything runs, errors, and the
description's truth.
"""

import datetime as dt
import json
import re
import subprocess
import sys
from typing import Literal, NotRequired, TypedDict

import pytest

from toolresults.codemode.functions import HostFunction
from toolresults.codemode.python import PROCESSES, PythonSandbox
from toolresults.codemode.sandbox import Limits
from toolresults.tools import ToolError


class Task(TypedDict):
    id: int
    title: str
    owner: str | None
    status: Literal["open", "done"]
    amount: float
    due: NotRequired[str]


class Host:
    """Four functions, and how often they were called."""

    def __init__(self):
        self.calls = 0

        def list_tasks(
            owner: str | None = None, status: Literal["open", "done"] | None = None, limit: int = 3
        ) -> list[Task]:
            """Lists tasks."""
            self.calls += 1
            return [
                {
                    "id": i,
                    "title": f"t{i}",
                    "owner": "ana" if i else None,
                    "status": "open",
                    "amount": 2.5,
                }
                for i in range(limit)
            ]

        def get_task(task_id: int) -> Task:
            """One task."""
            self.calls += 1
            return list_tasks(limit=1)[0]

        def add_note(task_id: int, text: str, tags: list[str] | None = None) -> dict:
            """Adds a note."""
            self.calls += 1
            return {"note_id": 7, "tags": tags}

        def due_by(day: str) -> int:
            """Counts the tasks that are due."""
            self.calls += 1
            return 4

        made = [list_tasks, get_task, add_note, due_by]
        self.functions = {f"crm.{one.__name__}": HostFunction(one, "crm") for one in made}


@pytest.fixture
def host():
    return Host()


@pytest.fixture
def run(host):
    return PythonSandbox(host.functions).run


RIGHT = {
    "totals in a dict": "t = {}\nfor r in crm.list_tasks():\n    t[r['owner']] = t.get(r['owner'], 0) + r['amount']\nt",
    "a key of one's own": "rows = crm.list_tasks()\nfor r in rows:\n    r['vat'] = r['amount'] * 0.2\nrows[0]['vat']",
    "a key by update": "rows = crm.list_tasks()\nfor r in rows: r.update(extra=1)\nrows[0]['extra']",
    "a dict that changes type": "r = {'a': len(crm.list_tasks())}\nr['b'] = 'x'\nr",
    "a list of mixed types": "x = [len(crm.list_tasks())]\nx.append('a')\nx[1].upper()",
    "arguments by **": "filters = {'owner': 'ana', 'limit': 2}\ncrm.list_tasks(**filters)",
    "arguments by ** of one type": "crm.list_tasks(**{'owner': 'ana'})",
    "a text among numbers": "x = [1, 'a', 2]\ncrm.add_note(1, x[len(crm.list_tasks()) - 2])",
    "arguments by *": "args = ['ana', 'open', 2]\ncrm.list_tasks(*args)",
    "words in a loop": "for s in ['open', 'done']: crm.list_tasks(status=s)",
    "words from a dict": "for s in {'open': 1}: crm.list_tasks(status=s)",
    "an owner that may be None": "for r in crm.list_tasks(): crm.list_tasks(owner=r['owner'])",
    "a text that may be None": "for r in crm.list_tasks():\n    if r['owner']: crm.add_note(r['id'], r['owner'])",
    "a text that is None elsewhere": "for r in crm.list_tasks()[1:]: crm.add_note(r['id'], r['owner'])",
    "what JSON said": "import json\nd = json.loads('{\"id\": 1}')\ncrm.get_task(d['id'])",
    "what a function without types said": "def pick(r): return r['id']\ncrm.add_note(pick(crm.list_tasks()[0]), 'x')",
    "an optional key": "[r.get('due', '?') for r in crm.list_tasks()]",
    "get of a key that is not there": "[r.get('priority') for r in crm.list_tasks()]",
    "a date for a text": "import datetime\ncrm.due_by(datetime.date(2026, 3, 1))",
    "a tuple for a list": "crm.add_note(1, 'a', ('x', 'y'))",
    "a built-in that the checker does not know": "list(map(lambda r: r['id'], filter(None, crm.list_tasks())))",
    "getattr": "getattr(crm, 'list_tasks')(limit=1)",
    "an import with a way around": "try:\n    import statistics\nexcept ImportError:\n    n = len(crm.list_tasks())\nn",
    "import as": "import crm as c\nc.list_tasks()",
    "from import": "from crm import list_tasks\nlist_tasks(owner='ana')",
    "an exception that the checker does not know": "try:\n    crm.list_tasks()\nexcept PermissionError: pass",
    "sorted by a key": "sorted(crm.list_tasks(), key=lambda r: (r['owner'] or '', -r['amount']))[0]['id']",
    "Counter": "from collections import Counter\nCounter(r['owner'] for r in crm.list_tasks()).most_common(1)",
    "defaultdict": "from collections import defaultdict\nd = defaultdict(list)\n"
    "for r in crm.list_tasks(): d[r['owner']].append(r)\nlen(d)",
    "async for nothing": "async def main():\n    return crm.list_tasks()\nlen(await main())",
    "a name made by exec": "exec('limit = 2')\ncrm.list_tasks(limit=eval('limit'))",
    "a function of one's own with the same name": "def add_note(text): return text\nadd_note('a'), crm.list_tasks()",
    "a dict keyed by rows": "by = {r['id']: r for r in crm.list_tasks()}\nby[1]['title'] + by[2]['title']",
}

WRONG = {
    "an argument that is not there": (
        "crm.list_tasks(ownr='ana')",
        "ownr",
        "It takes owner: str | None = None",
    ),
    "a function that is not there": (
        "crm.list_task()",
        "no member list_task",
        "Did you mean list_tasks?",
    ),
    "an argument that is missing": ("crm.add_note(1)", "text", "It takes task_id: int, text: str"),
    "an argument too many": ("crm.get_task(1, 2)", "Too many", "It takes task_id: int"),
    "a text for a number": ("crm.get_task('T-1')", "Expected int", "T-1"),
    "a text for a number, from a row": (
        "crm.get_task(crm.list_tasks()[0]['title'])",
        "Expected int",
        "found str",
    ),
    "a number for a text": (
        "crm.add_note(1, crm.list_tasks()[0]['id'])",
        "Expected str",
        "found int",
    ),
    "a word that is none of the words": (
        "crm.list_tasks(status='opne')",
        'Literal["open", "done"]',
        "opne",
    ),
    "a key that is not there": (
        "crm.list_tasks()[0]['price']",
        "price",
        "It has id, title, owner, status, amount",
    ),
    "a dict as an object": ("crm.list_tasks()[0].owner", "owner", 'It is a dict: use ["owner"]'),
    "a name that is not there": (
        "rows = crm.list_tasks()\nlen(row)",
        "Name row used when not defined",
        "line 2",
    ),
    "a library that is not there": (
        "import pandas as pd\npd.DataFrame(crm.list_tasks())",
        "pandas",
        "line 1",
    ),
    "a name that cannot be imported": (
        "from crm import list_all\nlist_all()",
        "list_all",
        "line 1",
    ),
    "a bracket that is not closed": (
        "rows = crm.list_tasks()\nprint(len(rows)",
        "SyntaxError",
        "line 2",
    ),
    "a mistake far down": (
        "crm.add_note(1, 'a')\nfor r in crm.list_tasks():\n    crm.get_task(id=r['id'])",
        "id",
        "line 3",
    ),
}


@pytest.mark.parametrize("code", RIGHT.values(), ids=RIGHT.keys())
def test_right_code_is_not_refused(code, run, host):
    result = run(code)
    assert result.error is None
    assert host.calls > 0


@pytest.mark.parametrize(("code", "what", "help"), WRONG.values(), ids=WRONG.keys())
def test_wrong_code_is_refused_before_anything_runs(code, what, help, run, host):
    result = run(code)
    assert result.error.startswith("Nothing was run. ")
    assert what in result.error and help in result.error
    assert (host.calls, result.host_calls, result.printed, result.stopped) == (0, 0, "", None)


def test_three_mistakes_are_shown_with_their_lines_and_no_more(run):
    error = run("\n".join(f"crm.nothing_{i}()" for i in range(9))).error
    assert [int(line) for line in re.findall(r"\(line (\d+): ", error)] == [1, 2, 3]


def test_refusal_is_short_however_long_the_line(run):
    assert len(run(f"crm.get_task('{'x' * 10_000}')").error) < 500


def test_code_that_the_checker_dislikes_runs_and_fails_on_its_own_line(run, host):
    result = run("n = len(crm.list_tasks())\nx = {'a': 1}\nx['b'] = 'c'\nn + x['b']")
    assert result.error.startswith("TypeError: ") and "(line 4: n + x['b'])" in result.error
    assert host.calls == 1


ERRORS = {
    "1 / 0": "ZeroDivisionError: division by zero (line 1: 1 / 0)",
    "def f(x):\n    y = x\n    return g(y)\ndef g(y):\n    return y['a']\nf({})": (
        "KeyError: a (line 5: return y['a']; called from line 6)"
    ),
    "raise ValueError('no')": "ValueError: no (line 1: raise ValueError('no'))",
    "x = 1\nassert x == 2": "AssertionError: assert 1 == 2 (line 2: assert x == 2)",
    "def g():\n    yield 1": (
        "NotImplementedError: this Python has no support for yield expressions (line 2: yield 1)"
    ),
    "raise ValueError('x' * 400)": f"ValueError: {'x' * 299}… (line 1: raise ValueError('x' * 400))",
    "raise ValueError": "ValueError (line 1: raise ValueError)",
}


@pytest.mark.parametrize(("code", "error"), ERRORS.items())
def test_error_is_one_line_with_the_line_of_the_code(code, error, run):
    assert run(code).error == error


def test_error_of_a_connection_reaches_the_code_as_the_nearest_that_the_sandbox_knows():
    class Down(ToolError, ConnectionError):
        pass

    def fetch() -> int:
        raise Down("the warehouse is down until 12:00")

    sandbox = PythonSandbox({"crm.fetch": HostFunction(fetch, "crm")})
    caught = sandbox.run("try:\n    crm.fetch()\nexcept OSError as e:\n    print(e)")
    assert caught.printed == "the warehouse is down until 12:00\n"
    assert (
        sandbox.run("crm.fetch()").error
        == "OSError: the warehouse is down until 12:00 (line 1: crm.fetch())"
    )


def test_dates_in_arguments_and_in_the_value_become_text(run):
    def echo(at: str) -> str:
        return at

    sandbox = PythonSandbox({"crm.echo": HostFunction(echo, "crm")})
    value = sandbox.run(
        "import datetime as dt\nat = dt.datetime(2026, 3, 1, 10)\n[crm.echo(at=at), at, at.date()]"
    ).value
    assert value == ["2026-03-01T10:00:00", dt.datetime(2026, 3, 1, 10).isoformat(), "2026-03-01"]


def test_functions_of_namespaces_that_the_code_does_not_name_cost_nothing(host):
    def nothing() -> None:
        """Does nothing."""

    host.functions |= {f"n{i}.nothing": HostFunction(nothing, f"n{i}") for i in range(500)}
    # a stub or a module for each of them would take seconds
    assert (
        PythonSandbox(host.functions, limits=Limits(seconds=2)).run("len(crm.list_tasks())").value
        == 3
    )


def test_more_runs_than_processes_wait_for_each_other(run):
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(PROCESSES + 8) as threads:
        assert list(threads.map(lambda i: run(f"{i} * 2").value, range(80))) == [
            i * 2 for i in range(80)
        ]


def test_the_host_stays_small_whatever_the_code_holds():
    resource = pytest.importorskip("resource")

    sandbox = PythonSandbox({}, limits=Limits(seconds=5))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for code in (
        "x = [0] * 1000\nx = [x] * 1000\n[x] * 1000",
        "['y' * 10_000_000] * 5",
        "print('z' * 15_000_000)",
    ):
        assert sandbox.run(code).stopped == "output"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 300_000  # KiB


def test_no_worker_outlives_a_host_that_exits_during_a_run():
    code = """
import threading, time
from toolresults.codemode.execute import open_sandbox
sandbox = open_sandbox()
threading.Thread(target=sandbox.run, args=["while True: pass"], daemon=True).start()
time.sleep(0.5)
"""
    # a worker that is left behind holds the pipe open, and the reading does not end
    subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=30, check=True)


def test_a_namespace_that_the_type_checker_knows_as_its_own_is_an_error_of_the_run():
    def rows() -> int:
        return 3

    function = HostFunction(rows, "log")
    function.namespace, function.path = (
        "syslog",
        "syslog.rows",
    )  # such names are refused, as far as they are known
    with PythonSandbox({"syslog.rows": function}) as sandbox:
        assert sandbox.run("syslog.rows()").error.startswith("ImportError: ")


def test_description_says_what_is_true():
    sandbox = PythonSandbox()
    there = re.search(r"Imports: (.*?); not (.*?)\.", sandbox.description, re.DOTALL)
    imports, missing = (re.split(r",\s+", names) for names in there.groups())
    assert len(imports) > 10 and len(missing) > 5
    assert sandbox.run("\n".join(f"import {name}" for name in imports)).error is None
    for name in missing:
        assert "ModuleNotFoundError" in sandbox.run(f"import {name}").error
    lacking = {
        "yield": "def f():\n    yield 1",
        "del": "x = 1\ndel x",
        "class inheritance": "class A: pass\nclass B(A): pass",
        "@property": "class A:\n    @property\n    def x(self): return 1",
    }
    for name, code in lacking.items():
        assert name in sandbox.description and "NotImplementedError" in sandbox.run(code).error
    assert "No files" in sandbox.description
    assert "key=lambda k: d[k], not key=d.get" in sandbox.description
    assert sandbox.run("d = {'a': 1, 'b': 2}\nmax(d, key=lambda k: d[k])").value == "b"


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (
            "d = {'a': 1}\nmax(d, key=d.get)",
            "AttributeError: 'dict' object has no attribute 'get' as a value: methods are only called here, "
            "as in lambda x: d.get(x) (line 2: max(d, key=d.get))",
        ),
        (
            "(5).bit_length()",
            "AttributeError: 'int' object has no attribute 'bit_length' (line 1: (5).bit_length())",
        ),
        (
            "(5).nothing",
            "AttributeError: 'int' object has no attribute 'nothing' (line 1: (5).nothing)",
        ),
    ],
)
def test_a_method_that_is_passed_as_a_value_is_explained_and_one_that_is_not_there_is_not(
    code, told
):
    assert PythonSandbox().run(code).error == told


def test_files_are_described_and_read(tmp_path):
    (tmp_path / "orders.json").write_text(
        json.dumps([{"amount": 2}, {"amount": 3}]), encoding="utf-8"
    )
    sandbox = PythonSandbox(files=tmp_path)
    assert "/data" in sandbox.description
    code = """
import json, os
with open("/data/orders.json") as f:
    rows = json.load(f)
[os.listdir("/data"), rows[1]["amount"]]
"""
    assert sandbox.run(code).value == [["orders.json"], 3]
    (tmp_path / "later.txt").write_text("new", encoding="utf-8")
    assert sandbox.run("open('/data/later.txt').read()").value == "new"


@pytest.mark.parametrize("value", ["float('nan')", "float('inf')", "[1.5, float('nan')]"])
def test_an_argument_that_came_to_nothing_is_an_error_and_does_not_drop_the_filter(value):
    def rows(least: float | list | None = None) -> str:
        """Rows."""
        return f"least is {least}"

    with PythonSandbox({"crm.rows": HostFunction(rows, "crm")}) as sandbox:
        run = sandbox.run(f"crm.rows(least={value})")
        assert (
            run.value is None and "TypeError: crm.rows: an argument is not plain data" in run.error
        )
        assert sandbox.run("crm.rows(least=1.5)").value == "least is 1.5"


@pytest.mark.parametrize("value", ["lambda: 1", "math", "iter([1])", "print", "A", "A()"])
def test_an_argument_that_cannot_leave_the_interpreter_is_an_error_and_not_its_name(value):
    def note(text: str) -> str:
        """Notes."""
        return text

    with PythonSandbox({"crm.note": HostFunction(note, "crm")}) as sandbox:
        run = sandbox.run(f"import math\nclass A: pass\nx = [{value}]\ncrm.note(x[0])")
        assert (
            run.value is None and "TypeError: crm.note: an argument is not plain data" in run.error
        )
        assert sandbox.run("crm.note('<b>not a function</b>')").value == "<b>not a function</b>"


def test_an_argument_that_is_nested_too_deep_is_an_error_of_the_code():
    def note(text: list) -> int:
        """Notes."""
        return len(text)

    with PythonSandbox({"crm.note": HostFunction(note, "crm")}) as sandbox:
        run = sandbox.run("x = []\nfor i in range(5000): x = [x]\ncrm.note(x)")
        assert (
            run.value is None and "TypeError: crm.note: an argument is not plain data" in run.error
        )
