"""A sandbox for Python: pydantic-monty, an interpreter in a process of its own that knows no
operating system.

    PythonSandbox(functions).run("rows = crm.list_tasks(owner='ana')\\nlen(rows)")

Each run gets a fresh worker. The code is checked against the functions' types before anything of it
runs.
"""

import builtins
import functools
import json
import re
import typing
from collections.abc import Mapping
from contextlib import nullcontext
from types import MappingProxyType

import pydantic_monty as monty

from ..tokens import plain
from .functions import HostCalls, HostError, HostFunction
from .limits import Printed, Stopped
from .python_check import refusals
from .python_errors import explain
from .python_worker import Worker, pool
from .sandbox import CodeError, Sandbox
from .stubs import pyi
from .values import is_over

ARGUMENT_CHARS = 1_000_000
"""Longest arguments of one call, as characters of JSON: more is an accident, or an attack on the
host's memory.
"""

_DESCRIPTION = """\
Runs Python in a sandbox, next to the data. Call the host's functions by their full names, such as \
crm.list_tasks(owner="ana"): no import, no await. What the code prints, and the value of its last expression, is the \
answer. {limits}
This Python lacks yield, del, class inheritance, @property and other method decorators. A method is called, never \
passed: key=lambda k: d[k], not key=d.get. Imports: math, json, re, \
datetime, time, random, collections, itertools, functools, decimal, csv, bisect, copy, typing, dataclasses, hashlib, \
base64; not statistics, heapq, string, operator, io, enum, pandas. {files}"""

_FILES = 'Files to read are under /data: os.listdir("/data"), open("/data/name").'
_NO_FILES = "No files, no network."

_NO_DATA = re.compile(
    r"<function '.*' at 0x[0-9a-f]+>|<(module|class) '.*'>|<\w+ object>", re.DOTALL
)
"""What a value that cannot leave the interpreter comes out as: its own name in angle brackets."""


class PythonSandbox(Sandbox):
    """Runs Python. `crm.list_tasks(...)` works with and without `import crm`; `files` are under
    /data.
    """

    language = "python"

    def __init__(self, functions: Mapping[str, HostFunction] = MappingProxyType({}), **options):
        super().__init__(functions, **options)
        pool()  # the first worker takes 35 ms, which must not count against the first run

    @property
    def description(self) -> str:
        files = _FILES if self.files else _NO_FILES
        return _DESCRIPTION.format(files=files, limits=self._limits_told())

    def _execute(self, code: str, calls: HostCalls, printed: Printed) -> object:
        groups = _mentioned(code, calls.functions)
        stubs = {name: _stubs(group) for name, group in groups.items()}
        modules = {
            name: monty.ExternalModule(
                {function.name: function.call for function in group}, stubs=stubs[name]
            )
            for name, group in groups.items()
        }
        mounted = nullcontext()
        if self.files:
            mounted = monty.MountDir(host_path=self.files, virtual_path="/data", mode="read-only")
        session = pool().checkout(
            type_check=bool(modules),
            type_check_format="json",
            limits={"max_memory": self.limits.memory, "max_suspensions": 2**31 - 1},
            os_policy={"sleep": "zero"},
            external_modules=modules,
        )
        with mounted as mount, session, Worker(session.worker_pid, calls, self.limits) as worker:
            options = {
                "print_callback": lambda _, text: worker.write(printed, text),
                "mount": mount,
            }
            try:
                for name in (
                    modules
                ):  # each in a feed of its own, so that line numbers are those of the code
                    session.feed_run(f"import {name}")
                value = self._checked(session, code, stubs, options, calls)
            except monty.MontyError as error:
                raise worker.stopped or self._failure(error) from None
            if worker.stopped:  # it printed too much in its last moment
                raise worker.stopped
            return value

    def _failure(self, error: monty.MontyError) -> Exception:
        if isinstance(error, monty.MontyCrashedError):
            return Stopped("crash", self.limits)
        if isinstance(error, monty.MontyTypingError):  # of an import, which the host has chosen
            return CodeError(
                "ImportError: the functions that this code names cannot be imported under their namespace"
            )
        if isinstance(error.exception(), MemoryError):
            return Stopped("memory", self.limits)
        return CodeError(explain(error))

    def _checked(
        self, session: monty.MontySession, code: str, stubs: dict, options: dict, calls: HostCalls
    ) -> object:
        """The value of the code. Raises `CodeError`, before it runs, if the checker found what
        cannot work.
        """
        try:
            return self._drive(session.feed_start(code, **options), calls)
        except monty.MontyTypingError as error:  # nothing has run: the checker comes first
            found = refusals(str(error), code, stubs)
            if found:
                raise CodeError("Nothing was run. " + "\n".join(found)) from None
        return self._drive(session.feed_start(code, skip_type_check=True, **options), calls)

    def _drive(self, snapshot: monty.SyncSnapshot, calls: HostCalls) -> object:
        """Answers the code's calls until it ends, and returns its value."""
        while not isinstance(snapshot, monty.MontyComplete):
            if isinstance(snapshot, monty.FunctionSnapshot) and not snapshot.is_os_function:
                snapshot = snapshot.resume(_answer(snapshot, calls))
            else:
                snapshot = (
                    snapshot.resume_auto()
                )  # files of the mount, and imports; all else is refused inside
        return snapshot.output


def _mentioned(
    code: str, functions: dict[str, HostFunction]
) -> dict[str, tuple[HostFunction, ...]]:
    """The namespaces whose names occur in the code: the other 500 functions cost nothing."""
    words = set(re.findall(r"\w+", code))
    groups: dict[str, list[HostFunction]] = {}
    for function in functions.values():
        if function.namespace in words:
            groups.setdefault(function.namespace, []).append(function)
    return {name: tuple(group) for name, group in groups.items()}


@functools.lru_cache(maxsize=64)
def _stubs(group: tuple[HostFunction, ...]) -> str:
    return pyi(group)


def _answer(snapshot: monty.FunctionSnapshot, calls: HostCalls) -> monty.ExternalSettledResult:
    """The result of the function that the code called, or the exception that it gets."""
    path = str(snapshot.function_name)
    if path not in calls.functions:  # a name that nobody has defined, called
        return {"exc_type": "NameError", "message": f"name '{path}' is not defined"}
    try:
        given = [list(snapshot.args), dict(snapshot.kwargs)]
        if is_over(given, ARGUMENT_CHARS):
            raise HostError(
                "ValueError", f"{path}: arguments are over {ARGUMENT_CHARS} characters. Send less"
            )
        if any(
            isinstance(one, str) and _NO_DATA.fullmatch(one)
            for one in [*snapshot.args, *snapshot.kwargs.values()]
        ):
            raise HostError(
                "TypeError",
                f"{path}: an argument is not plain data, but a function, module or iterator",
            )
        try:
            # null would leave an argument out: a filter that came to nothing (NaN) would match
            # everything
            json.dumps(given, allow_nan=False, default=repr, skipkeys=True)
            args, kwargs = plain(given)
        except (ValueError, RecursionError) as error:
            raise HostError(
                "TypeError", f"{path}: an argument is not plain data: {error}"
            ) from None
        return {"return_value": calls.call(path, args, kwargs)}
    except HostError as error:
        return {"exc_type": _known(error.kind), "message": str(error)}


def _known(kind: str) -> str:
    """The nearest exception that the sandbox knows: OSError for ConnectionError."""
    known = typing.get_args(monty.ExcType)
    return next(one.__name__ for one in getattr(builtins, kind).__mro__ if one.__name__ in known)
