"""Checks for notebook 07, running code."""

from toolresults.codemode.execute import open_sandbox, render
from toolresults.codemode.functions import HostFunction
from toolresults.codemode.sandbox import Run
from toolresults.tokens import count_tokens
from workbook.checks import say, tried
from workbook.examples.orders.functions import order_functions
from workbook.examples.orders.store import OrderStore

MOST_TOKENS = 100
"""Tokens of the result that exercise 1 allows."""

MONTH = "2026-01"
"""The month in which the south had its highest refund rate."""

KEY = "a key in your program's environment"
"""An empty environment of the child does not hide it: on Linux a process may read
`/proc/<parent>/environ` of its user.

Source: proc_pid_environ(5)."""

HARM = {
    "a list of a billion numbers": True,
    "an endless loop": False,
    "a crash of the interpreter": False,
    "a file of the machine": True,
    "a message to another server": True,
    KEY: True,
    "ten gigabytes of output": True,
}
"""Exercise 2: what gets through a process that has a timeout and an empty environment, and nothing
else.
"""

CHOICES = {
    "how many orders are pending in the north, asked all day": "plain",
    "revenue by region for the tax office, every month": "aggregate",
    "an analyst's questions, each of them new": "code",
    "one order's payload": "plain",
}
"""Exercise 3: what to offer for each."""


def exercise_1(answer: object) -> None:
    """*answer* is Python code, as text, that finds the month in which the south had its highest
    refund rate.
    """
    run = _run(answer) if tried(answer) and isinstance(answer, str) else Run()
    tokens = count_tokens(render(run, 3_000))
    if not isinstance(answer, str):
        hint = "give the code as one string, in three quotes."
    elif run.error:
        hint = f"the model would read: {run.error}"
    elif not run.host_calls:
        hint = "the rows come from orders.rows(fields=[...])."
    elif tokens > MOST_TOKENS:
        hint = f"the result has {tokens} tokens, more than {MOST_TOKENS}. Let the code choose."
    else:
        hint = 'the result does not name the right month as "2026-…". placed_at begins with the year and the month.'
    found = MONTH in f"{run.printed}{run.value}"
    right = f"{tokens} tokens for a result out of thousands of rows."
    say(
        answer,
        bool(found and run.host_calls and not run.error and tokens <= MOST_TOKENS),
        right,
        hint,
    )


def _run(code: str) -> Run:
    with OrderStore.open() as store:
        rows = HostFunction(order_functions(store)["orders.rows"], "orders")
        with open_sandbox("python", {rows.path: rows}) as sandbox:
            return sandbox.run(code)


def exercise_2(answer: object) -> None:
    """*answer* is the set of the names in `HARM` that get through."""
    harm = {name for name, through in HARM.items() if through}
    if isinstance(answer, list | set | tuple) and all(
        (name in answer) == (name in harm - {KEY}) for name in HARM
    ):
        hint = "its own environment is empty. Whose files may it read? On Linux, a process's environment is one."
    else:
        hint = "it is an ordinary process: what may it allocate, open, read and connect to, and how much is read of it?"
    say(
        answer,
        lambda answer: not isinstance(answer, str) and set(answer) == harm,
        "a timeout stops loops, and a crash stays in its own process. All else needs a limit of its own.",
        hint,
    )


def exercise_3(answer: object) -> None:
    """*answer* is a dict from each name in `CHOICES` to "aggregate", "plain" or "code"."""
    wrong = [
        name
        for name, choice in CHOICES.items()
        if isinstance(answer, dict) and answer.get(name) != choice
    ]
    say(
        answer,
        answer == CHOICES,
        "foreseen and important: a tool that cannot be written wrong. Small: a plain tool. New each time: code.",
        f"think again about: {wrong[0] if wrong else 'all of them'}.",
    )
