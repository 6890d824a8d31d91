"""A sandbox for Python: pydantic-monty, an interpreter in a process of its own that knows no
operating system.

What it does not cover, besides what `sandbox.py` says:
- Memory is what the interpreter counts of the code's own values, on every system. What its process
  takes besides, for the parser and the type checker, is held by `source_chars` alone.
- Waiting: `PROCESSES` runs go on at once in one host; a further one waits for as long as it takes.
- macOS and Windows: the same code runs there, and was not tried. On Windows a run is ended by
  TerminateProcess instead of SIGKILL.

    PythonSandbox(functions).run("rows = crm.list_tasks(owner='ana')\\nlen(rows)")

Each run gets a fresh worker. The code is checked against the functions' types before anything of it
runs.
"""

import atexit
import builtins
import contextlib
import difflib
import functools
import json
import os
import re
import signal
import threading
import time
import typing
from collections import defaultdict
from collections.abc import Mapping
from types import MappingProxyType
from typing import Self

import pydantic_monty as monty

from ..results.shape import cut
from ..tokens import plain
from .functions import MESSAGE_CHARS, HostError, HostFunction
from .sandbox import (
    CodeError,
    HostCalls,
    Limits,
    Printed,
    Sandbox,
    Stopped,
    at_line,
    is_over,
    timer,
)
from .stubs import pyi

PROCESSES = 32
"""Most workers at one time in this process; a run beyond that waits for one to end."""

_ARGUMENT_CHARS = 1_000_000
"""Longest arguments of one call, as characters of JSON: more is an accident, or an attack on the
host's memory.
"""

_NO_DATA = re.compile(
    r"<function '.*' at 0x[0-9a-f]+>|<(module|class) '.*'>|<\w+ object>", re.DOTALL
)
"""What a value that cannot leave the interpreter comes out as: its own name in angle brackets."""


class PythonSandbox(Sandbox):
    """Runs Python. `crm.list_tasks(...)` works with and without `import crm`; `files` are under
    /data.
    """

    language = "python"
    _about = """\
Runs Python in a sandbox, next to the data. Call the host's functions by their full names, such as \
crm.list_tasks(owner="ana"): no import, no await. What the code prints, and the value of its last \
expression, is the answer. {limits}
This Python lacks yield, del, class inheritance, @property and other method decorators. A method \
is called, never passed: key=lambda k: d[k], not key=d.get. Imports: math, json, re, datetime, \
time, random, collections, itertools, functools, decimal, csv, bisect, copy, typing, dataclasses, \
hashlib, base64; not statistics, heapq, string, operator, io, enum, pandas. {files}"""
    _about_files = 'Files to read are under /data: os.listdir("/data"), open("/data/name").'

    def __init__(self, functions: Mapping[str, HostFunction] = MappingProxyType({}), **options):
        super().__init__(functions, **options)
        _pool()  # the first worker takes 35 ms, which must not count against the first run

    def _execute(self, code: str, calls: HostCalls, printed: Printed) -> object:
        groups: dict[str, list[HostFunction]] = defaultdict(list)
        for function in calls.mentioned(code):
            groups[function.namespace].append(function)
        stubs = {name: _stubs(tuple(group)) for name, group in groups.items()}
        modules = {
            name: monty.ExternalModule({one.name: one.call for one in group}, stubs=stubs[name])
            for name, group in groups.items()
        }
        mounted = contextlib.nullcontext()
        if self.files:
            mounted = monty.MountDir(host_path=self.files, virtual_path="/data", mode="read-only")
        session = _pool().checkout(
            type_check=bool(modules),
            type_check_format="json",
            limits={"max_memory": self.limits.memory, "max_suspensions": 2**31 - 1},
            os_policy={"sleep": "zero"},
            external_modules=modules,
        )
        with mounted as mount, session, _Worker(session.worker_pid, calls, self.limits) as worker:

            def run(**options) -> object:
                snapshot = session.feed_start(
                    code,
                    print_callback=lambda _, text: worker.write(printed, text),
                    mount=mount,
                    **options,
                )
                return _drive(snapshot, calls)

            try:
                # each in a feed of its own, so that line numbers are those of the code
                for name in modules:
                    session.feed_run(f"import {name}")
                try:
                    value = run()
                except monty.MontyTypingError as error:  # nothing has run: the checker comes first
                    if refused := _refusals(str(error), code, stubs):
                        raise CodeError("Nothing was run. " + "\n".join(refused)) from None
                    value = run(skip_type_check=True)
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
                "ImportError: the functions that this code names cannot be imported under their "
                "namespace"
            )
        if isinstance(error.exception(), MemoryError):
            return Stopped("memory", self.limits)
        return CodeError(_explain(error))


@functools.lru_cache(maxsize=64)
def _stubs(group: tuple[HostFunction, ...]) -> str:
    return pyi(group)


# ---- calls of the host's functions


def _drive(snapshot: monty.SyncSnapshot, calls: HostCalls) -> object:
    """Answers the code's calls until it ends, and returns its value."""
    while not isinstance(snapshot, monty.MontyComplete):
        if isinstance(snapshot, monty.FunctionSnapshot) and not snapshot.is_os_function:
            snapshot = snapshot.resume(_answer(snapshot, calls))
        else:  # files of the mount, and imports; all else is refused inside
            snapshot = snapshot.resume_auto()
    return snapshot.output


def _answer(snapshot: monty.FunctionSnapshot, calls: HostCalls) -> monty.ExternalSettledResult:
    """The result of the function that the code called, or the exception that it gets."""
    path = str(snapshot.function_name)
    if path not in calls.functions:  # a name that nobody has defined, called
        return {"exc_type": "NameError", "message": f"name '{path}' is not defined"}
    try:
        args, kwargs = _sent(path, list(snapshot.args), dict(snapshot.kwargs))
        return {"return_value": calls.call(path, args, kwargs)}
    except HostError as error:
        # the nearest exception that the sandbox knows: OSError for ConnectionError
        kinds = (kind.__name__ for kind in getattr(builtins, error.kind).__mro__)
        known = typing.get_args(monty.ExcType)
        return {"exc_type": next(kind for kind in kinds if kind in known), "message": str(error)}


def _sent(path: str, args: list, kwargs: dict) -> list:
    """Both as plain JSON values. Raises `HostError` for arguments that are too long, or no data."""
    if is_over([args, kwargs], _ARGUMENT_CHARS):
        told = f"{path}: arguments are over {_ARGUMENT_CHARS} characters. Send less"
        raise HostError("ValueError", told)
    told = f"{path}: an argument is not plain data"
    if any(isinstance(one, str) and _NO_DATA.fullmatch(one) for one in [*args, *kwargs.values()]):
        raise HostError("TypeError", f"{told}, but a function, module or iterator")
    try:
        # null would leave an argument out: a filter that came to nothing (NaN) would match all
        json.dumps([args, kwargs], allow_nan=False, default=repr, skipkeys=True)
        return plain([args, kwargs])
    except (ValueError, RecursionError) as error:
        raise HostError("TypeError", f"{told}: {error}") from None


# ---- which findings of the type checker stop the code before it runs
#
# The checker (ty, inside pydantic-monty) knows the host's functions from their stubs, and little of
# what the code means to do. A wrong refusal costs the model a turn. So only what cannot work is
# refused: calls of the host's functions that do not fit, names that are nowhere, imports that are
# not there. All else runs, and fails at run time if it must.

_FINDINGS = 3
"""Most findings that are shown; the next run shows the next."""

_HINT_CHARS = 200
"""Longest list of parameters or keys that is added to a finding, in characters."""

# a date or a tuple crosses as text or a list
_SURE = frozenset(("str", "int", "bool", "list", "dict", "None"))


def _refusals(findings: str, code: str, stubs: Mapping[str, str]) -> list[str]:
    """One line for each finding that no run can survive.

    `findings` is the checker's JSON; `stubs` holds the `.pyi` text of each namespace that the code
    may use.
    """
    lines = re.split(r"\r\n|\r|\n", code)
    told = {}
    for finding in json.loads(findings):
        rule, message = finding["code"], finding["message"]
        row, column = finding["location"]["row"], finding["location"]["column"]
        line = lines[row - 1] if row <= len(lines) else ""
        hint = _hint(rule, message, code, line[column - 1 :], stubs)
        if hint is not None:
            kind = "SyntaxError: " if rule == "invalid-syntax" else ""
            message = f"{kind}{cut(message.replace('`', ''), 240)}{hint}"
            told[at_line(message, row, line.strip() or "end of the code")] = None
    return list(told)[:_FINDINGS]


def _hint(rule: str, message: str, code: str, at: str, stubs: Mapping[str, str]) -> str | None:
    """What to add to the finding, "" for nothing; None if the code may run. `at` is the code where
    it was found.
    """
    names = re.findall(r"`([^`]*)`", message)
    stub = "\n".join(stubs.values())
    match rule:
        case "invalid-syntax":
            return ""
        case "unresolved-import":
            return None if "except" in code else ""  # it may go on without
        case "unresolved-reference":  # the sandbox has more built-ins than the checker knows
            return None if hasattr(builtins, names[0]) else ""
        case "unresolved-attribute" if message.startswith("Module") and names[0] in stubs:
            there = re.findall(r"^def (\w+)\(", stubs[names[0]], re.MULTILINE)
            near = difflib.get_close_matches(names[1], there, n=1)
            return f". Did you mean {near[0]}?" if near else ""
        case "unresolved-attribute" if message.startswith("Object of type"):
            return f'. It is a dict: use ["{names[1]}"]' if _keys(names[0], stub) else None
        case "invalid-key" if keys := _keys(names[-1], stub):
            # a row may be given a key of its own first
            key = re.escape(message.partition('"')[2].partition('"')[0])
            added = rf"""\[\s*["']{key}["']\s*\]\s*[-+*/|]*=(?!=)|\.(update|setdefault)\("""
            told = f". It has {cut(', '.join(keys), _HINT_CHARS)}"
            return None if re.search(added, code) else told
        case "unknown-argument" | "missing-argument" | "too-many-positional-arguments":
            taken = _parameters(message, stub)
            return taken and f". It takes {cut(taken, _HINT_CHARS)}"
        case "invalid-argument-type" if _parameters(message, stub) and not at.startswith("*"):
            return _hint_of_type(message)
    return None


def _hint_of_type(message: str) -> str | None:
    types = re.search(r"Expected `(.*)`, found `(.*)`", message)
    if not types:
        return None
    expected, found = types.groups()
    if found.startswith("Literal[") and "|" not in found:
        return ""
    # a str where one of three words is wanted may be one of them; "str | None" may be no None
    kind = re.match(r"\w+", found)
    sure = kind and kind[0] in _SURE and "|" not in found and "Literal" not in expected
    return "" if sure and kind[0] not in re.findall(r"\w+", expected) else None


def _parameters(message: str, stub: str) -> str | None:
    """The parameters of the host's function that a finding is about. None for a function of the
    code itself, or of the language: its types are guessed.
    """
    called = re.search(r"function `(\w+)`", message)
    found = called and re.search(rf"^def {called[1]}\((.*)\) -> ", stub, re.MULTILINE)
    return found and (found[1] or "no arguments")


def _keys(record: str, stub: str) -> list[str]:
    """The keys of a typed dict of the stub, [] if there is none of that name."""
    block = rf"^class {re.escape(record)}\(TypedDict\):\n((?:    .*\n)+)"
    found = re.search(block, stub, re.MULTILINE)
    return re.findall(r"^    (\w+):", found[1], re.MULTILINE) if found else []


# ---- errors


def _explain(error: monty.MontyRuntimeError | monty.MontySyntaxError) -> str:
    """One line for the model: the exception, the innermost line of its code, and the line that led
    there.

    ZeroDivisionError: division by zero (line 2: return total / 0; called from line 4)
    """
    kind, _, message = error.display("type-msg").partition(": ")
    message = message.replace(
        "The monty syntax parser does not yet support", "this Python has no support for"
    )
    frames = [frame for frame in error.traceback() if frame.filename.startswith("<python-input")]
    line = (frames[-1].source_line or "") if frames else ""
    message = cut(message + _passed(message, line), MESSAGE_CHARS)
    told = f"{kind}: {message}" if message else cut(kind, MESSAGE_CHARS)
    if not frames:
        return told
    at, first = frames[-1].line, frames[0].line
    return at_line(told, at, line, f"; called from line {first}" if first != at else "")


def _passed(message: str, line: str) -> str:
    """What to add where a method was passed as a value, as in `key=totals.get`: this Python says
    there is none.
    """
    found = re.fullmatch(r"'(\w+)' object has no attribute '([a-z]\w*)'", message)
    if not found or not callable(getattr(getattr(builtins, found[1], None), found[2], None)):
        return ""
    if not line or re.search(rf"\.{found[2]}\s*\(", line):  # it was called, so it is not there
        return ""
    return f" as a value: methods are only called here, as in lambda x: d.{found[2]}(x)"


# ---- workers: fresh processes, each used once, and killed when its time is up

_starting = threading.Lock()
_running: set["_Worker"] = set()


def _pool() -> monty.Monty:
    """The one pool of this process. It keeps two fresh workers ready; none serves twice."""
    with _starting:
        return _started()


@functools.cache
def _started() -> monty.Monty:
    pool = monty.Monty(min_processes=2, max_processes=PROCESSES, max_checkouts_per_worker=1)
    pool.__enter__()

    @atexit.register
    def end():  # a worker whose run a daemon thread has left would outlive the host
        for worker in _running.copy():
            worker.kill()
        pool.__exit__(None, None, None)

    return pool


class _Worker:
    """The process of one run, killed at the deadline, or as soon as it has printed too much. Its
    time starts now.

    The engine has limits of its own, but they do not cover what the host does for the code, and
    code that prints goes on printing while the host is no longer listening.
    """

    def __init__(self, pid: int, calls: HostCalls, limits: Limits):
        self.stopped: Stopped | None = None
        self._pid: int | None = pid
        self._lock = threading.Lock()
        # the run may have waited for a process before
        calls.deadline = time.monotonic() + limits.seconds
        _running.add(self)
        self._timer = timer(calls.deadline, lambda: self._stop(Stopped("time", limits)))

    def _stop(self, reason: Stopped) -> None:
        """Kills the process, once."""
        with self._lock:
            if self._pid and not self.stopped:
                self.stopped = reason
                self.kill()

    def kill(self) -> None:
        """Kills the process, if it is still there."""
        if self._pid:
            with contextlib.suppress(ProcessLookupError):  # it died by itself
                os.kill(self._pid, getattr(signal, "SIGKILL", signal.SIGTERM))

    def write(self, printed: Printed, text: str) -> None:
        """Adds to what was printed, or kills the process if it was too much."""
        try:
            if not self.stopped:
                printed.write(text)
        except Stopped as reason:
            self._stop(reason)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        _running.discard(self)
        self._timer.cancel()
        with self._lock:  # the process ends now, and its number may become another's
            self._pid = None
