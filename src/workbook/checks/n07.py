"""Checks for notebook 07, running code."""

from toolresults.codemode.execute import open_sandbox, render
from toolresults.codemode.functions import HostFunction
from toolresults.tokens import count_tokens
from workbook.checks import Verdict, exercise, wrong_names
from workbook.examples.orders.functions import order_functions
from workbook.examples.orders.store import OrderStore

_MOST_TOKENS = 100
"""Tokens of the result that exercise 1 allows."""

_MONTH = "2026-01"
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


@exercise
def exercise_1(answer: str) -> Verdict:
    """*answer* is Python code, as text, that finds the month in which the south had its highest
    refund rate.

    Not yet: give the code as one string, in three quotes.
    """
    if not isinstance(answer, str):
        return False
    with OrderStore.open() as store:
        rows = HostFunction(order_functions(store)["orders.rows"], "orders")
        with open_sandbox("python", {rows.path: rows}) as sandbox:
            run = sandbox.run(answer)
    tokens = count_tokens(render(run, 3_000))
    if run.error:
        return False, f"the model would read: {run.error}"
    if not run.host_calls:
        return False, "the rows come from orders.rows(fields=[...])."
    if tokens > _MOST_TOKENS:
        allowed = f"more than {_MOST_TOKENS}. Let the code choose."
        return False, f"the result has {tokens} tokens, {allowed}"
    if _MONTH not in f"{run.printed}{run.value}":
        begins = "placed_at begins with the year and the month."
        return False, f'the result does not name the right month as "2026-…". {begins}'
    return True, f"{tokens} tokens for a result out of thousands of rows."


@exercise
def exercise_2(answer: set[str]) -> Verdict:
    """*answer* is the set of the names in `HARM` that get through.

    Correct: a timeout stops loops, and a crash stays in its own process. All else needs a limit of
    its own.

    Not yet: it is an ordinary process: what may it allocate, open, read and connect to, and how
    much is read of it?
    """
    harm = {name for name, through in HARM.items() if through}
    if isinstance(answer, list | set | tuple) and set(HARM) & set(answer) == harm - {KEY}:
        whose = "Whose files may it read? On Linux, a process's environment is one."
        return False, f"its own environment is empty. {whose}"
    return set(answer) == harm


@exercise
def exercise_3(answer: dict[str, str]) -> Verdict:
    """*answer* is a dict from each name in `CHOICES` to "aggregate", "plain" or "code".

    Correct: foreseen and important: a tool that cannot be written wrong. Small: a plain tool. New
    each time: code.

    Not yet: think again about: all of them.
    """
    wrong = wrong_names(answer, CHOICES)
    if isinstance(answer, dict) and wrong:
        return False, f"think again about: {wrong[0]}."
    return answer == CHOICES
