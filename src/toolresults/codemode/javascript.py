"""A sandbox for JavaScript: V8 in a process of its own, by mini-racer's library, with nothing in it
but the language.

What it does not cover, besides what `sandbox.py` says:
- Memory outside V8's heap (parsed code, compiled patterns) is held on Linux alone, by RLIMIT_DATA;
  on macOS and Windows only the limit of time ends it. The heap's own limit is V8's, everywhere.
- Should V8 be broken out of: resource limits forbid the process to write files, to dump core and to
  start further processes, on Linux and macOS (the last one not to root). Windows has none of them.
- Starting: V8 takes 0.1 s on a quiet machine, and seconds on a busy one. That is not the code's
  time, and has a limit of its own (`_START_SECONDS`).
- How many runs there are at once: each starts a process of its own.
- macOS and Windows: the same code runs there, and was not tried.

    JavaScriptSandbox(functions).run("return (await crm.list_tasks({owner: 'ana'})).length")

Each run gets a fresh process with an empty environment (`javascript_child.py`, and in it
`javascript_prelude.js`). What that process says is checked like any stranger's message.
"""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from ..results.shape import cut
from ..tools import ToolError
from .functions import MESSAGE_CHARS, HostError, HostFunction
from .sandbox import (
    LONGEST_TOKEN,
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

_READ_CHARS = 10_000_000
"""Most characters of one read of a file: a large tool result in one piece, and well within the
code's memory.
"""

_EARLY = (
    "[The code ended before its calls were answered, and their errors are lost: "
    "await each, and main() too.]\n"
)
"""Added to what is printed when the code has not waited: JavaScript drops such errors in
silence.
"""


class JavaScriptSandbox(Sandbox):
    """Runs JavaScript. `await crm.list_tasks({owner: "ana"})` calls a function; `return` gives the
    value.

    With `files`, `await files.list()` and `await files.read(name, offset, maxChars)` read them.
    Raises `ImportError` if the package mini-racer is not installed.
    """

    language = "javascript"
    _about = """\
Runs JavaScript in a sandbox, next to the data: the body of an async function. Call the host's \
functions by their full names, with one object of named arguments: \
await crm.list_tasks({{owner: "ana"}}). What the code prints with console.log, and what it returns \
with return, is the answer. {limits}
Nothing but the language is there: no import, require, fetch, process, timers or typed arrays. \
{files}"""
    _about_files = (
        "Files: await files.list() names them, await files.read(name, offset, maxChars) reads text."
    )

    def __init__(self, *args: object, **options: object):
        super().__init__(*args, **options)
        # found, not imported: the child loads its library, this process never does
        found = importlib.util.find_spec("py_mini_racer")
        if found is None:
            raise ImportError("JavaScript needs the package mini-racer: pip install mini-racer")
        self._engine = Path(found.submodule_search_locations[0])

    def _execute(self, code: str, calls: HostCalls, printed: Printed) -> object:
        if self.files:
            calls.functions |= _file_functions(self.files)
        begin = {
            "code": code,
            "paths": [function.path for function in calls.mentioned(code)],
            "hostCalls": self.limits.host_calls,
            "printChars": LONGEST_TOKEN * self.limits.output_tokens,
        }
        with _Process(self._engine, self.limits) as process:
            calls.deadline = time.monotonic() + self.limits.seconds
            process.begin(calls.deadline, begin)
            while True:
                match process.read():
                    case {"print": str(text)}:
                        printed.write(text)
                    case {"call": str(path), "args": list(args)}:
                        process.send(self._answer(path, args, calls))
                    case {"value": value, **more}:
                        # if not, main() has told what it had to tell
                        if more.get("early") is True and (value is not None or not printed.text):
                            printed.write(_EARLY)
                        return value
                    case {"over": "output" | "host calls" as limit} | {
                        "stopped": "memory" as limit
                    }:
                        raise Stopped(limit, self.limits)
                    case message:
                        lines = re.split(r"\r\n|[\r\n\u2028\u2029]", code)
                        raise CodeError(_explain(message, lines))

    def _answer(self, path: str, args: list[object], calls: HostCalls) -> dict[str, object]:
        """What the code gets for a call: one plain object means named arguments.

        Raises `Stopped` for a result that the code could not hold: to make JSON of it would only
        hold up the host.
        """
        named = len(args) == 1 and isinstance(args[0], dict)
        try:
            result = calls.call(path, [] if named else args, args[0] if named else {})
        except HostError as error:
            return {"error": [error.kind, str(error)]}
        if is_over(result, self.limits.memory):
            raise Stopped("memory", self.limits)
        return {"value": result}


def _explain(message: dict[str, object], lines: list[str]) -> str:
    """One line for the model: what is wrong, and the line of its own code where it is."""
    match message:
        case {"idle": True}:
            return (
                "Error: the code waits for a promise that nothing resolves: there are no timers "
                "and no events here"
            )
        case {"syntax": str(told)}:
            found = re.match(r"<anonymous>:(\d+): (.*)", told)
            # its first line is not the code's; a missing bracket is missed after the last one
            line = int(found[1]) - 1 if found else None
            told = found[2] if found else "SyntaxError: the brackets do not match"
        case {"error": {"told": str(told), **where}}:
            line = where.get("line")
        case _:
            return "Error: the sandbox was disturbed, and gave no result"
    told = cut(" ".join(told.split()) or "Error", MESSAGE_CHARS)
    if not isinstance(line, int):
        return told
    line = min(max(line, 1), len(lines))
    return at_line(told, line, lines[line - 1])


class _NoSuchFile(ToolError, LookupError):
    """The name is not one of the folder's files."""


def _file_functions(folder: Path) -> dict[str, HostFunction]:
    """`files.list` and `files.read` for the files that lie directly in `folder`: no folders, no
    links out of it. (Python has its files mounted; V8 knows no file system at all.)
    """
    folder = folder.resolve()

    def files() -> dict[str, Path]:
        found = (path for path in folder.iterdir() if path.is_file())
        return {path.name: path for path in found if path.resolve().parent == folder}

    def list_files() -> list[str]:
        """The names of the files."""
        return sorted(files())

    def read(name: str, offset: int = 0, maxChars: int = _READ_CHARS) -> str:
        """The text of a file from `offset` on, in characters; "" at its end."""
        # looked up among the names that there are, so that no name can lead anywhere else
        path = files().get(name)
        if path is None:
            raise _NoSuchFile("there is no such file: files.list() names them")
        if offset < 0 or not 0 < maxChars <= _READ_CHARS:
            raise ToolError(f"offset must not be below 0, and maxChars is 1 to {_READ_CHARS}")
        with path.open(encoding="utf-8", errors="replace", newline="") as file:
            while offset and (skipped := file.read(min(offset, 1_000_000))):
                offset -= len(skipped)
            return file.read(maxChars)

    functions = [HostFunction(list_files, "files", "list"), HostFunction(read, "files")]
    return {function.path: function for function in functions}


# ---- the process of one run: started, spoken to in lines of JSON, and always ended. Reading and
# writing may block, since a timer kills the process when its time is over: then every pipe ends.

_START_SECONDS = 20.0
"""Longest start of the engine, in seconds, before it counts as broken."""

_MESSAGE_BYTES = 16 * 2**20
"""Longest line that is read from the engine, in bytes. The prelude's own limits are well below
it.
"""

_CHILD = Path(__file__).with_name("javascript_child.py")

_NO_MEMORY = {
    -getattr(signal, name) for name in ("SIGTRAP", "SIGILL", "SIGABRT") if hasattr(signal, name)
}
"""How V8 ends itself when it gets no more memory: by a trap or an abort. Ended by anything else, it
was killed.
"""

# a whole number that may be beyond 2**53, between the separators of compact JSON
_LONG = re.compile(r"[:\[,]-?\d{16,}[,\]}]")

_EXACT = 2**53 - 1
"""The largest whole number that every number of JavaScript up to it can tell from its
neighbours.
"""


class EngineError(RuntimeError):
    """The JavaScript engine does not start on this machine. The message is for the host."""


class _Process:
    """A fresh engine, used for one run. `engine` is the folder of the package mini-racer.

    Raises `EngineError` if it does not start.
    """

    def __init__(self, engine: Path, limits: Limits):
        self._limits = limits
        self._late = False
        python = [sys.executable, "-I", "-S", "-W", "ignore"]
        self._process = subprocess.Popen(
            [*python, str(_CHILD), str(engine), str(limits.memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,  # V8's last words come between the lines of JSON
            env={name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ},
            cwd=_CHILD.anchor,
            start_new_session=True,  # Ctrl-C in a terminal is the host's business
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._timer = timer(time.monotonic() + _START_SECONDS, self._kill)
        first = self._process.stdout.readline(10_000)
        if first != b'{"ready": true}\n':
            told = (first + self._process.stdout.read(10_000)).decode(errors="replace").strip()
            self.close()
            told = told.splitlines()[-1] if told else "no answer"
            raise EngineError(f"JavaScript's engine did not start: {told}")

    def begin(self, deadline: float, message: dict[str, object]) -> None:
        """Sends the first message. From now on the process lives until `deadline`, a moment of
        `time.monotonic()`.
        """
        self._timer.cancel()
        self._timer = timer(deadline, self._kill)
        self.send(message)

    def send(self, message: dict[str, object]) -> None:
        """Sends plain JSON values; a whole number that V8 would round, as its digits in a text."""
        line = _json(message)
        if _LONG.search(line):
            line = _json(_exact(message))
        with suppress(OSError):  # it has died: what it says next is how
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()

    def read(self) -> dict[str, object]:
        """The next message. Raises `Stopped` if the process is dead, or speaks nonsense."""
        line = self._process.stdout.readline(_MESSAGE_BYTES)
        with suppress(ValueError, RecursionError):
            message = json.loads(line)
            if isinstance(message, dict):
                return message
        while self._process.stdout.read(2**16):
            pass  # V8's report of its end, with paths
        died = self._process.wait()
        why = "time" if self._late else "memory" if died in _NO_MEMORY else "crash"
        raise Stopped(why, self._limits)

    def _kill(self) -> None:
        self._late = True
        self._process.kill()

    def close(self) -> None:
        self._timer.cancel()
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # a message that was not read
                pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _exact(value: object) -> object:
    if isinstance(value, dict):
        return {key: _exact(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_exact(item) for item in value]
    return str(value) if isinstance(value, int) and abs(value) > _EXACT else value
