"""What notebook 07 writes from scratch agrees with the package's sandbox where it may, and is as
open as it says.
"""

import contextlib
import io
import json
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolresults.codemode.execute import open_sandbox
from toolresults.codemode.functions import HostFunction
from workbook.bench.four_ways import load
from workbook.bench.ways import RATE_CODE
from workbook.checks import n07
from workbook.examples.orders.data import plain_order
from workbook.examples.orders.functions import order_functions
from workbook.examples.orders.store import REGIONS, STATUSES, OrderStore
from workbook.runner import read

NOTEBOOK = read(Path(__file__).resolve().parents[1] / "notebooks" / "07_code_execution.ipynb")
INLINE: dict = {"contextlib": contextlib, "io": io}
for cell in NOTEBOOK.cells:
    if "inline" in cell.metadata.get("tags", []):
        exec(cell.source, INLINE)


def program(name: str) -> str:
    """The code that a cell of the notebook puts into `name`."""
    (source,) = [cell.source for cell in NOTEBOOK.cells if f'\n{name} = """\n' in cell.source]
    return source.partition(f'\n{name} = """')[2].partition('"""')[0]


ORDERS = st.builds(
    lambda number, amount, status, region, customer: plain_order(
        number, amount=amount, status=status, region=region, customer=customer
    ),
    st.integers(1, 999_999),
    st.none() | st.integers(500, 50_000).map(lambda cents: Decimal(cents).scaleb(-2)),
    st.sampled_from(STATUSES),
    st.sampled_from(REGIONS),
    st.sampled_from(["Ana", "Ben", "Chi", "Dũng", "田中", "O'Neil"]),
)
ACCOUNTS = st.lists(ORDERS, max_size=30, unique_by=lambda order: order["order_id"])


@settings(max_examples=15)
@given(ACCOUNTS)
def test_exec_and_the_sandbox_print_the_same(account):
    with OrderStore(account) as store:
        function = HostFunction(order_functions(store)["orders.rows"], "orders")
        names = {
            "orders": type(
                "Orders", (), {"rows": staticmethod(lambda **given: function.call([], given))}
            )
        }
        for code in (program("code"), program("largest")):
            done = open_sandbox("python", {"orders.rows": function}).run(code)
            assert done.error is None
            assert done.printed == INLINE["run"](code, names)


def test_the_program_of_the_notebook_is_the_one_that_was_measured():
    *start, last = program("code").strip().splitlines()
    assert [*start, last.removeprefix("print(").removesuffix(")")] == RATE_CODE.strip().splitlines()


def test_exec_is_as_open_as_the_notebook_says(monkeypatch):
    monkeypatch.setenv("SHOP_KEY", "a key")
    assert INLINE["run"]("import os; print(os.environ['SHOP_KEY'])", {}) == "a key\n"
    with pytest.raises(ImportError):
        INLINE["run_without_builtins"]("import os", {})
    assert INLINE["run_without_builtins"](program("detour"), {}) == "a key\n"
    assert INLINE["run_without_builtins"]("print(sum(range(4)))", {}) == "6\n"
    done = open_sandbox("python").run(program("detour"))
    assert "a key" not in done.printed + str(done.value) + done.error


def test_a_method_is_no_value_in_this_python_as_the_notebook_warns():
    sandbox = open_sandbox("python")
    assert (
        "AttributeError" in sandbox.run("rates = {'a': 1, 'b': 2}\nmax(rates, key=rates.get)").error
    )
    assert (
        sandbox.run("rates = {'a': 1, 'b': 2}\nmax(rates, key=lambda name: rates[name])").value
        == "b"
    )


def test_the_headline_is_that_of_the_results():
    code, naive = (
        load().set_index(["api", "question", "way"]).loc[("openai", "rate", way)]
        for way in ("code", "naive")
    )
    assert f"**{code.call_tokens + code.result_tokens} tokens**" in NOTEBOOK.cells[0].source
    assert f"{naive.result_tokens:,}" in NOTEBOOK.cells[0].source


BY_MONTH = """
counts = {}
for row in orders.rows(fields=["placed_at", "status"], region="south"):
    n = counts.setdefault(row["placed_at"][:7], [0, 0])
    n[0] += 1
    n[1] += row["status"] == "refunded"
"""
ALL_MONTHS = BY_MONTH + "{month: round(refunded / n, 3) for month, (n, refunded) in counts.items()}"
EVERY_ORDER = 'for row in orders.rows(fields=["placed_at", "status"], region="south"): print(row)'
HARM = {name for name, through in n07.HARM.items() if through}


@pytest.mark.parametrize(
    ("exercise", "answer", "said"),
    [
        (n07.exercise_1, ALL_MONTHS, "Correct"),
        (
            n07.exercise_1,
            BY_MONTH + "max(counts, key=lambda month: counts[month][1] / counts[month][0])",
            "Correct",
        ),
        (
            n07.exercise_1,
            BY_MONTH + "max(counts, key=lambda month: counts[month][0])",
            "Not yet: the result does not",
        ),
        (n07.exercise_1, "print('2026-01')", "Not yet: the rows come from"),
        (n07.exercise_1, EVERY_ORDER, "Not yet: the model would read: stopped at 2000 tokens"),
        (
            n07.exercise_1,
            BY_MONTH + "print(counts)\nprint(counts)\nprint(counts)",
            "Not yet: the result has",
        ),
        (n07.exercise_1, "sum(", "Not yet: the model would read: SyntaxError"),
        (n07.exercise_1, 5, "Not yet: give the code"),
        (n07.exercise_2, HARM, "Correct"),
        (n07.exercise_2, [*HARM], "Correct"),
        (n07.exercise_2, set(n07.HARM), "Not yet: it is an ordinary process"),
        (n07.exercise_2, HARM - {n07.KEY}, "Not yet: its own environment is empty"),
        (n07.exercise_2, ..., "Not tried yet"),
        (n07.exercise_2, 7, "Not yet"),
        (n07.exercise_3, dict(n07.CHOICES), "Correct"),
        (
            n07.exercise_3,
            n07.CHOICES | {"one order's payload": "code"},
            "Not yet: think again about: one order's",
        ),
        (n07.exercise_3, {"one order's payload": ...}, "Not tried yet"),
        (n07.exercise_3, "code", "Not yet"),
    ],
)
def test_an_answer_is_judged(exercise, answer, said, capsys):
    exercise(answer)
    assert capsys.readouterr().out.startswith(said)


def test_the_names_of_the_exercises_are_those_of_the_checks():
    text = "\n".join(cell.source for cell in NOTEBOOK.cells)
    for name in n07.HARM:
        assert f"`{json.dumps(name)}`" in text
    for name in n07.CHOICES:
        assert f"    {json.dumps(name)}: ...," in text


@pytest.mark.skipif(sys.platform != "linux", reason="/proc is Linux's")
def test_a_child_without_an_environment_reads_its_parents():
    read_it = "import os, sys; sys.stdout.buffer.write(open(f'/proc/{os.getppid()}/environ', 'rb').read())"
    child = subprocess.run(
        [sys.executable, "-c", read_it], env={}, timeout=60, capture_output=True, check=True
    )
    assert child.stdout == Path("/proc/self/environ").read_bytes()
    assert n07.HARM[n07.KEY]
