"""Code as a tool: a sandbox opened by its language, what the model sees of a run, and the tool
`execute(code)`.

    {"printed":"emea 0.031\\n","value":{"emea":0.031}}
    {"printed":"line 1\\n…","error":"KeyError: 'ownr' (line 4: t['ownr'])","note":"printed cut: …"}
"""

import inspect
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Annotated

from pydantic import Field

from ..results.budget import BudgetError, longest_fit
from ..results.shape import cut
from ..tokens import count_tokens, to_json
from ..tools import Tool, ToolResult
from .functions import HostFunction
from .sandbox import Run, Sandbox

LEAST = 120
"""Smallest budget of an answer, in tokens: a beginning of everything, and a note."""

ADVICE = "Print totals, counts or the first few rows, not all rows."
"""What to do when something was cut."""

DONE = "The functions that were called before that are not undone (calls: {:,})."
"""Said of a run that failed half-way: nothing takes back what it has written."""

EMPTY = "The code ran, but printed nothing and ended without a value."
"""Said of a run that has nothing to show."""


def open_sandbox(
    language: str = "python",
    functions: Mapping[str, HostFunction] = MappingProxyType({}),
    **options,
) -> Sandbox:
    """A sandbox for "python" or "javascript"; `options` are those of `Sandbox`. Raises `ValueError`
    for another.
    """
    # late: Python's engine takes 0.15 s to load, which only those who use it should pay
    if language == "python":
        from .python import PythonSandbox as Opened
    elif language == "javascript":
        from .javascript import JavaScriptSandbox as Opened
    else:
        raise ValueError(f"unknown language {language!r}: use python or javascript")
    return Opened(functions, **options)


def render(run: Run, budget: int) -> str:
    """One JSON object of at most `budget` exact tokens: `printed`, `value`, `error`, `note`, those
    that there are.

    If they do not fit, what was printed and the value are cut, to the same number of characters,
    the most that fit (a value that is cut becomes the beginning of its JSON, as a text), then the
    error too. The note says what was cut, and of a run that failed, that its calls are not undone.
    Raises `BudgetError` below `LEAST`.
    """
    if budget < LEAST:
        raise BudgetError(
            f"a budget of {budget} tokens cannot hold the answer of a run: use at least {LEAST}"
        )
    whole = {"printed": run.printed or None, "value": run.value, "error": run.error or None}
    # the beginning of a value that was too long is a text already
    texts = {
        name: what if isinstance(what, str) else to_json(what)
        for name, what in whole.items()
        if what is not None
    }

    def answer(chars: int, error_chars: int) -> str:
        most = {"printed": chars, "value": chars, "error": error_chars}
        short = {
            name: cut(text, most[name]) for name, text in texts.items() if len(text) > most[name]
        }
        shown = {name: short.get(name, whole[name]) for name in texts}
        notes = [
            f"{name} cut: {len(text):,} of {len(texts[name]):,} characters shown."
            for name, text in short.items()
        ]
        if notes and run.stopped != "output":  # the error has said that already
            notes.append(ADVICE)
        if run.error and run.host_calls:
            notes.insert(0, DONE.format(run.host_calls))
        if notes:
            shown["note"] = " ".join(notes)
        return to_json(shown or {"value": None, "note": EMPTY})

    longest = max(map(len, texts.values()), default=1)
    text = answer(longest, longest)
    if count_tokens(text) <= budget:
        return text
    return longest_fit(lambda chars: answer(chars, longest), budget, most=longest) or longest_fit(
        lambda chars: answer(chars, chars), budget, most=longest
    )


def execute_tool(
    sandbox: Sandbox,
    *,
    budget: int | None = None,
    name: str = "execute",
    about: str = "",
    explain: Callable[[str, Run], Run] = lambda code, run: run,
) -> Tool:
    """A tool with one parameter, `code`, that runs it in `sandbox` and answers within `budget`
    tokens.

    `budget` is half as much again as the code may print, by default, because JSON escapes what was
    printed. `about` is added to the description, such as the stubs of a few functions. `explain`
    may add to what is told of a run. A run that failed or was stopped is an error result.
    """
    budget = budget or max(sandbox.limits.output_tokens * 3 // 2, LEAST)

    def execute(code: Annotated[str, Field(description=f"{sandbox.language} code.")]) -> ToolResult:
        run = explain(code, sandbox.run(code))
        return ToolResult(render(run, budget), is_error=run.error is not None)

    execute.__doc__ = inspect.cleandoc(f"{sandbox.description}\n{about}")
    return Tool(execute, name=name, budget=budget)
