"""A sandbox: a model's code runs next to the data, and only what it prints or ends with comes back.

    with open_sandbox("python", {"crm.list_tasks": HostFunction(list_tasks, "crm")}) as sandbox:
        sandbox.run("len(crm.list_tasks(owner='ana'))")   # Run(value=12, host_calls=1, …)

What holds for every language stands here: the limits, what counts as output, and what becomes of a
run that is stopped. How code is run in a language stands in `python.py` and `javascript.py`.
"""

import contextvars
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import ClassVar, Self

from ..results.budget import longest_fit
from ..results.shape import clean, cut
from ..tokens import count_tokens, plain, repair, to_json
from .functions import HostCalls, HostFunction
from .limits import LONGEST_TOKEN, Limits, Printed, Run, Stopped
from .values import beginning, is_over

ERROR_CHARS = 600
"""Longest error that the model gets of its own code, in characters: a kind, a message and a few
lines of code.
"""

PREVIEW = 8
"""Characters of a value's beginning that are made into JSON, for each token that there is room
for.
"""

_inside: contextvars.ContextVar[bool] = contextvars.ContextVar("_inside", default=False)


class CodeError(Exception):
    """The code failed by its own fault. The message is for the model: no path of the host, any
    length.
    """


class Sandbox(ABC):
    """Runs code with `functions`, by path ("crm.list_tasks"), and with nothing else of the host.

    `functions` is read anew at each run, so that it may grow. `files` is a directory whose files
    the code may read. Two threads may run code at once. Raises `NotADirectoryError` if `files` is
    no directory.
    """

    language: ClassVar[str]

    def __init__(
        self,
        functions: Mapping[str, HostFunction] = MappingProxyType({}),
        *,
        limits: Limits | None = None,
        files: Path | None = None,
    ):
        if files is not None and not Path(files).is_dir():
            raise NotADirectoryError(f"files must be a directory: {files}")
        count_tokens(
            ""
        )  # loads the tokenizer (a second, once), which must not count against the first run
        self.functions = functions
        self.limits = limits or Limits()
        self.files = None if files is None else Path(files)

    @property
    @abstractmethod
    def description(self) -> str:
        """What a model must know to write code for this sandbox, in a few sentences."""

    def _limits_told(self) -> str:
        """The part of the description that is the same in every language."""
        most, mib = self.limits, self.limits.memory / 2**20
        return (
            f"At most {most.output_tokens} tokens come back: give totals or a few rows, not all rows. Nothing is kept "
            f"from run to run. Limits: {most.seconds:g} s, {mib:.0f} MiB, {most.host_calls} calls."
        )

    @abstractmethod
    def _execute(self, code: str, calls: HostCalls, printed: Printed) -> object:
        """Runs `code` and returns its value, of any type and size; None if it has none.

        `calls.functions` is what the code may call, `calls.deadline` the moment at which it must be
        over. Output goes through `printed.write`. Raises `Stopped` when a limit held, `CodeError`
        when the code failed. Whatever was started for the run is gone when this returns.
        """

    def run(self, code: str) -> Run:
        """Runs `code` in a worker of its own. Never raises for what the code does."""
        # a copy, so that host functions see that they are called from code, and the caller's own
        # context stays clean
        return contextvars.copy_context().run(self._run, code)

    def _run(self, code: str) -> Run:
        started = time.monotonic()
        printed = Printed(self.limits)
        value = error = stopped = None
        if _inside.get():  # every level would hold a process and wait for the next
            return Run(error="code that runs inside a sandbox cannot start another run")
        _inside.set(True)
        calls = HostCalls(dict(self.functions), self.limits, started + self.limits.seconds)
        try:
            if len(code) > self.limits.source_chars:
                raise Stopped("source", self.limits)
            ended_with = self._execute(repair(code), calls, printed)
            value, whole = self._kept(
                ended_with, self.limits.output_tokens - count_tokens(printed.text)
            )
            if not whole:
                raise Stopped("output", self.limits)
        except Stopped as limit:
            error, stopped = str(limit), limit.limit
        except CodeError as fault:
            error = cut(clean(repair(str(fault))), ERROR_CHARS)
        return Run(printed.close(), value, error, stopped, calls.count, time.monotonic() - started)

    def _kept(self, value: object, tokens: int) -> tuple[object, bool]:
        """`value` as plain JSON values, and True, if its JSON has at most `tokens` tokens.

        Else the beginning of its JSON as a text that has (None for no text at all), and False.
        Raises `CodeError` for what has no JSON.
        """
        if value is None:
            return None, True
        most = LONGEST_TOKEN * max(tokens, 0)
        if is_over(value, most):
            start = beginning(value, PREVIEW * max(tokens, 0))
        else:
            try:
                value = plain(value)
            except ValueError as error:
                raise CodeError(
                    f"ValueError: the value at the end cannot be shown: {error}"
                ) from None
            start = to_json(value)
            if count_tokens(start) <= tokens:
                return value, True
        best = longest_fit(lambda chars: to_json(cut(start, chars)), tokens, most=len(start))
        return (json.loads(best) if best else None), False

    def close(self) -> None:
        """Ends what the sandbox keeps between runs. Safe to call twice."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ):
        self.close()


def open_sandbox(
    language: str = "python",
    functions: Mapping[str, HostFunction] = MappingProxyType({}),
    **options,
) -> Sandbox:
    """A sandbox for "python" or "javascript"; `options` are those of `Sandbox`. Raises `ValueError`
    for another.
    """
    # each language's engine is loaded only by those who use it
    if language == "python":
        from .python import PythonSandbox

        return PythonSandbox(functions, **options)
    if language == "javascript":
        from .javascript import JavaScriptSandbox

        return JavaScriptSandbox(functions, **options)
    raise ValueError(f"unknown language {language!r}: use python or javascript")
