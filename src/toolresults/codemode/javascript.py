"""A sandbox for JavaScript: V8 in a process of its own, by mini-racer, with nothing in it but the
language.

    JavaScriptSandbox(functions).run("const rows = await crm.list_tasks({owner: 'ana'}); return rows.length")

Each run gets a fresh process with an empty environment. What that process says is checked like any
stranger's message.
"""

import importlib.util
import re
import time
from pathlib import Path

from ..results.shape import cut
from .functions import HostCalls, HostError
from .javascript_files import file_functions
from .javascript_process import Process
from .limits import LONGEST_TOKEN, Printed, Stopped
from .sandbox import CodeError, Sandbox
from .values import is_over

MESSAGE_CHARS = 300
"""Longest message of an exception, in characters: code can raise one that holds all its rows."""

LINE_CHARS = 120
"""Longest line of code that is shown with an error, in characters."""

EARLY = "[The code ended before its calls were answered, and their errors are lost: await each, and main() too.]\n"
"""Added to what is printed when the code has not waited: JavaScript drops such errors in
silence.
"""

_DESCRIPTION = """\
Runs JavaScript in a sandbox, next to the data: the body of an async function. Call the host's functions by their full \
names, with one object of named arguments: await crm.list_tasks({{owner: "ana"}}). What the code prints with \
console.log, and what it returns with return, is the answer. {limits}
Nothing but the language is there: no import, require, fetch, process, timers or typed arrays. {files}"""

_FILES = (
    "Files: await files.list() names them, await files.read(name, offset, maxChars) reads text."
)
_NO_FILES = "No files, no network."


class JavaScriptSandbox(Sandbox):
    """Runs JavaScript. `await crm.list_tasks({owner: "ana"})` calls a function; `return` gives the
    value.

    With `files`, `await files.list()` and `await files.read(name, offset, maxChars)` read them.
    Raises `ImportError` if the package mini-racer is not installed.
    """

    language = "javascript"

    def __init__(self, *args: object, **options: object):
        super().__init__(*args, **options)
        # found, not imported: the child loads its library, this process never does
        found = importlib.util.find_spec("py_mini_racer")
        if found is None:
            raise ImportError("JavaScript needs the package mini-racer: pip install mini-racer")
        self._engine = Path(found.submodule_search_locations[0])

    @property
    def description(self) -> str:
        files = _FILES if self.files else _NO_FILES
        return _DESCRIPTION.format(files=files, limits=self._limits_told())

    def _execute(self, code: str, calls: HostCalls, printed: Printed) -> object:
        if self.files:
            calls.functions |= file_functions(self.files)
        words = set(re.findall(r"\w+", code))  # the other 500 functions need not be there
        begin = {
            "code": code,
            "paths": [
                path for path, function in calls.functions.items() if function.namespace in words
            ],
            "hostCalls": self.limits.host_calls,
            "printChars": LONGEST_TOKEN * self.limits.output_tokens,
        }
        with Process(self._engine, self.limits) as process:
            calls.deadline = time.monotonic() + self.limits.seconds
            process.begin(calls.deadline, begin)
            while True:
                match process.read():
                    case {"value": value, "early": True}:
                        if (
                            value is not None or not printed.text
                        ):  # else main() has told what it had to tell
                            printed.write(EARLY)
                        return value
                    case {"print": str(text)}:
                        printed.write(text)
                    case {"call": str(path), "args": list(args)}:
                        process.send(self._answer(path, args, calls))
                    case {"value": value}:
                        return value
                    case {"over": "output" | "host calls" as limit}:
                        raise Stopped(limit, self.limits)
                    case {"stopped": "memory"}:
                        raise Stopped("memory", self.limits)
                    case message:
                        raise CodeError(
                            _explain(message, re.split(r"\r\n|[\r\n\u2028\u2029]", code))
                        )

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
            return "Error: the code waits for a promise that nothing resolves: there are no timers and no events here"
        case {"syntax": str(told)}:
            found = re.match(r"<anonymous>:(\d+): (.*)", told)
            # its first line is not the code's; a bracket that is missing is missed after the last
            # one
            line, told = (
                (int(found[1]) - 1, found[2])
                if found
                else (None, "SyntaxError: the brackets do not match")
            )
        case {"error": {"told": str(told), "line": int(line)}}:
            pass
        case {"error": {"told": str(told)}}:
            line = None
        case _:
            return "Error: the sandbox was disturbed, and gave no result"
    told = cut(" ".join(told.split()) or "Error", MESSAGE_CHARS)
    if line is None or not lines:
        return told
    line = min(max(line, 1), len(lines))
    return f"{told} (line {line}: {cut(lines[line - 1].strip(), LINE_CHARS)})"
