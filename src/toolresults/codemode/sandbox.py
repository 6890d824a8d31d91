"""A sandbox: a model's code runs next to the data, and only what it prints or ends with comes back.

What it does not cover, in any language:
- The functions of the host. What they may do is theirs to check; what they have written before a
  run failed is not undone; one that hangs is given up with its run and goes on in its thread, since
  Python cannot stop a thread. Time and memory that they take in the host are the host's.
- What an answer says. The limits cut it, but text of strangers that the code prints reaches the
  model as it is.
- The machine as a whole. Each run is a process of its own, of the same user, and wall time is what
  ends it: it may use a core until then. Runs at once add up; a host that serves many must count
  them itself.
- A hole in the interpreter. No container, no seccomp and no other user stand around the process:
  where an attacker is worth a stronger wall, put the host into one.
- Other systems than Linux, where all attacks of the tests are tried. On macOS and Windows nothing
  was. `python.py` and `javascript.py` say what is held by Linux alone.

    with open_sandbox("python", {"crm.list_tasks": HostFunction(list_tasks, "crm")}) as sandbox:
        sandbox.run("len(crm.list_tasks(owner='ana'))")   # Run(value=12, host_calls=1, …)

What holds for every language stands here: the limits, the count of calls, what counts as output,
and what becomes of a run that is stopped. How code is run in a language stands in `python.py` and
`javascript.py`; `execute.open_sandbox` opens one of them.
"""

import contextvars
import datetime as dt
import decimal
import json
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import ClassVar, Self

from ..results.budget import longest_fit
from ..results.shape import clean, cut
from ..tokens import count_tokens, plain, repair, to_json
from .functions import HostError, HostFunction

MOST_SECONDS = 86_400
"""Longest time limit, in seconds: a day. What waits that long is a job of its own, and timers
cannot wait for ever.
"""

LONGEST_TOKEN = 128
"""Characters of the longest token of o200k_base (spaces): longer text than that times the limit is
not counted.
"""

_ERROR_CHARS = 600
"""Longest error that the model gets of its own code, in characters: a kind, a message and a few
lines of code.
"""

_LINE_CHARS = 120
"""Longest line of code that is shown with an error, in characters."""

_PREVIEW = 8
"""Characters of a value's beginning that are made into JSON, for each token that there is room
for.
"""

_ADVICE = {
    "time": "stopped at {seconds:g} s. Ask the functions for fewer rows, or do less in one run",
    "memory": "stopped at {mib:.0f} MiB of memory. Keep totals instead of rows, and drop what is "
    "done with",
    "host calls": "stopped at {host_calls} calls of functions. Ask for more rows in one call",
    "source": "not run: the code is over {source_chars} characters. Send less code, and no data "
    "inside it",
    "output": "stopped at {output_tokens} tokens of output. Print totals, counts or the first few "
    "rows, not all rows",
    "crash": "stopped: the sandbox died, most likely of memory or recursion. Do less in one run",
}
"""What the model is told when a limit held, and what to do next."""

_inside: contextvars.ContextVar[bool] = contextvars.ContextVar("_inside", default=False)


@dataclass(frozen=True)
class Limits:
    """The most that one run may use. Raises `ValueError` for a limit that is not above zero, for
    one that is no whole number (but for `seconds`), and for more seconds than `MOST_SECONDS`.

    `seconds` is wall time: slow host functions and sleeps count. `memory` is in bytes, for what the
    code holds. `host_calls` counts calls of host functions, `source_chars` the characters of the
    code, `output_tokens` the exact tokens of what the code prints and returns, together.
    """

    seconds: float = 5.0
    memory: int = 64 * 2**20
    host_calls: int = 1_000
    source_chars: int = 20_000
    output_tokens: int = 2_000

    def __post_init__(self):
        for name, value in vars(self).items():
            if not value > 0:
                raise ValueError(f"{name} must be above zero, got {value}")
            if name != "seconds" and type(value) is not int:
                raise ValueError(f"{name} must be a whole number, got {value!r}")
        if self.seconds > MOST_SECONDS:
            raise ValueError(f"seconds must be at most {MOST_SECONDS}, got {self.seconds}")


@dataclass(frozen=True)
class Run:
    """What a run left behind.

    `printed` is what the code printed, within the limit; `value` the plain JSON value that it ended
    with, or None. `error` is for the model: short, with line numbers of its own code, without paths
    of the host. `stopped` names the limit that ended the run. `seconds` is wall time.
    """

    printed: str = ""
    value: object = None
    error: str | None = None
    stopped: str | None = None
    host_calls: int = 0
    seconds: float = 0.0


class Stopped(Exception):
    """A limit ended the run: "time", "memory", "host calls", "source", "output", or "crash". The
    message is one line for the model.
    """

    def __init__(self, limit: str, limits: Limits):
        super().__init__(_ADVICE[limit].format(mib=limits.memory / 2**20, **vars(limits)))
        self.limit = limit


class CodeError(Exception):
    """The code failed by its own fault. The message is for the model: no path of the host, any
    length.
    """


def at_line(told: str, number: int, line: str, more: str = "") -> str:
    """What is told of an error, with the line of the model's code where it is."""
    return f"{told} (line {number}: {cut(line.strip(), _LINE_CHARS)}{more})"


class Printed:
    """What the code has printed so far, never over `limits.output_tokens`: exact tokens
    (o200k_base).
    """

    def __init__(self, limits: Limits):
        self.text = ""
        self._limits = limits
        self._bound = 0

    def write(self, text: str) -> None:
        """Adds `text`, without control characters. Raises `Stopped` as soon as all of it is over
        the limit.
        """
        most = self._limits.output_tokens
        flood = len(text) > LONGEST_TOKEN * most  # a text of 100 MB is not even looked through
        text = clean(repair(text[: LONGEST_TOKEN * most]))
        self.text += text
        self._bound += count_tokens(text)
        # the sum over pieces is nearly always the larger: the whole is counted only when it is over
        if self._bound > most:
            self._bound = count_tokens(self.text)
        if flood or self._bound > most:
            raise Stopped("output", self._limits)

    def close(self) -> str:
        """What may be kept: all of it, or the longest beginning within the limit, to the token."""
        most, whole = self._limits.output_tokens, self.text
        if count_tokens(whole) > most:
            self.text = longest_fit(lambda chars: whole[:chars], most, most=len(whole))
        return self.text


class HostCalls:
    """The calls of one run, counted, each ended by the run's deadline.

    `functions` is by path; `deadline` is a moment of `time.monotonic()`. The functions see the
    context variables of whoever made this object.
    """

    def __init__(self, functions: Mapping[str, HostFunction], limits: Limits, deadline: float):
        self.count = 0
        self.functions = functions
        self.deadline = deadline
        self._limits = limits
        self._context = contextvars.copy_context()

    def mentioned(self, code: str) -> list[HostFunction]:
        """Those whose namespaces occur in the code, so that the other 500 cost nothing."""
        words = set(re.findall(r"\w+", code))
        return [one for one in self.functions.values() if one.namespace in words]

    def call(self, path: str, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """The function's result. Raises `HostError` for the code, and `Stopped` when the run is
        over.
        """
        if self.count == self._limits.host_calls:
            raise Stopped("host calls", self._limits)
        self.count += 1
        function = self.functions.get(path)
        if function is None:
            raise HostError("AttributeError", f"there is no function {cut(path, 80)}")
        ended: Future[object] = Future()
        run = self._context.copy().run

        def work():
            try:
                ended.set_result(run(function.call, args, kwargs))
            except HostError as error:
                ended.set_exception(error)

        # a daemon: Python cannot stop a thread that hangs, but it need not wait for it either
        threading.Thread(target=work, daemon=True, name=path).start()
        try:
            return ended.result(timeout=max(self.deadline - time.monotonic(), 0))
        except TimeoutError:
            raise Stopped("time", self._limits) from None


def timer(deadline: float, action: Callable[[], object]) -> threading.Timer:
    """Started: does `action` at a moment of `time.monotonic()`, unless it is cancelled before."""
    made = threading.Timer(max(deadline - time.monotonic(), 0), action)
    made.daemon = True
    made.start()
    return made


class Sandbox(ABC):
    """Runs code with `functions`, by path ("crm.list_tasks"), and with nothing else of the host.

    `functions` is read anew at each run, so that it may grow. `files` is a directory whose files
    the code may read. Two threads may run code at once. Raises `NotADirectoryError` if `files` is
    no directory.
    """

    language: ClassVar[str]
    _about: ClassVar[str]
    """What a model must know of the language, with places for `{limits}` and `{files}`."""
    _about_files: ClassVar[str]
    """How the code reads files, where there are any."""

    def __init__(
        self,
        functions: Mapping[str, HostFunction] = MappingProxyType({}),
        *,
        limits: Limits | None = None,
        files: Path | None = None,
    ):
        if files is not None and not Path(files).is_dir():
            raise NotADirectoryError(f"files must be a directory: {files}")
        # loads the tokenizer (a second, once), which must not count against the first run
        count_tokens("")
        self.functions = functions
        self.limits = limits or Limits()
        self.files = None if files is None else Path(files)

    @property
    def description(self) -> str:
        """What a model must know to write code for this sandbox, in a few sentences."""
        most, mib = self.limits, self.limits.memory / 2**20
        limits = (
            f"At most {most.output_tokens} tokens come back: give totals or a few rows, not all "
            "rows. Nothing is kept from run to run. "
            f"Limits: {most.seconds:g} s, {mib:.0f} MiB, {most.host_calls} calls."
        )
        files = self._about_files if self.files else "No files, no network."
        return self._about.format(limits=limits, files=files)

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
        if _inside.get():  # every level would hold a process and wait for the next
            return Run(error="code that runs inside a sandbox cannot start another run")
        _inside.set(True)
        started = time.monotonic()
        printed = Printed(self.limits)
        value = error = stopped = None
        calls = HostCalls(dict(self.functions), self.limits, started + self.limits.seconds)
        try:
            if len(code) > self.limits.source_chars:
                raise Stopped("source", self.limits)
            ended_with = self._execute(repair(code), calls, printed)
            left = self.limits.output_tokens - count_tokens(printed.text)
            value, whole = _kept(ended_with, left)
            if not whole:
                raise Stopped("output", self.limits)
        except Stopped as limit:
            error, stopped = str(limit), limit.limit
        except CodeError as fault:
            error = cut(clean(repair(str(fault))), _ERROR_CHARS)
        return Run(printed.close(), value, error, stopped, calls.count, time.monotonic() - started)

    def close(self) -> None:
        """Ends what the sandbox keeps between runs. Safe to call twice."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _kept(value: object, tokens: int) -> tuple[object, bool]:
    """`value` as plain JSON values, and True, if its JSON has at most `tokens` tokens.

    Else the beginning of its JSON as a text that has (None for no text at all), and False. Raises
    `CodeError` for what has no JSON.
    """
    if value is None:
        return None, True
    tokens = max(tokens, 0)
    if is_over(value, LONGEST_TOKEN * tokens):
        start = _beginning(value, _PREVIEW * tokens)
    else:
        try:
            value = plain(value)
        except ValueError as error:
            raise CodeError(f"ValueError: the value at the end cannot be shown: {error}") from None
        start = to_json(value)
        if count_tokens(start) <= tokens:
            return value, True
    best = longest_fit(lambda chars: to_json(cut(start, chars)), tokens, most=len(start))
    return (json.loads(best) if best else None), False


# The size of what comes out of a sandbox is found before it is copied, since a kilobyte of code can
# hold a terabyte of list: `x = [0] * 1000; x = [x] * 1000; x = [x] * 1000` takes a few kilobytes,
# because the rows are one row; as JSON it is two gigabytes.

_SHORT = (float, bool, type(None))
_TEXT = (decimal.Decimal, PurePath, dt.date, dt.time, dt.timedelta)


def is_over(value: object, most: int) -> bool:
    """Whether the JSON of `value` surely takes more than `most` characters.

    Goes down level by level. What stands in a level more than once is looked at once, and counted
    as often.
    """
    chars, level = 0, {id(value): (value, 1)}
    while level and chars <= most:
        deeper: dict[int, tuple[object, int]] = {}
        for item, times in level.values():
            if isinstance(item, str | bytes):
                chars += len(item) * times
            elif isinstance(item, dict | list | tuple | set | frozenset):
                chars += 2 * len(item) * times  # each item takes a character and a comma
                if chars > most:
                    return True
                for part in (*item, *item.values()) if isinstance(item, dict) else item:
                    if isinstance(part, str):
                        chars += len(part) * times
                    elif type(part) is int:  # a bit is 0.301 digits
                        chars += part.bit_length() * 3 // 10 * times
                    elif isinstance(part, _TEXT):
                        chars += len(str(part)) * times
                        if chars > most:
                            return True
                    elif type(part) not in _SHORT:
                        deeper[id(part)] = (part, times + deeper.get(id(part), (None, 0))[1])
        level = deeper
    return chars > most


def _beginning(value: object, most: int) -> str:
    """The first `most` characters of the JSON of `value`, made piece by piece, so that the rest
    costs nothing.
    """
    encoder = json.JSONEncoder(
        ensure_ascii=False, separators=(",", ":"), skipkeys=True, default=_other
    )
    text = ""
    try:
        for piece in encoder.iterencode(value):
            text += piece[:most]
            if len(text) >= most:
                break
    except (RecursionError, ValueError):
        pass  # nested too deep for the stack: the beginning is what there is
    return repair(text[:most])


def _other(value: object) -> object:
    """What stands for a value that JSON has no form for. An object's own text may be as long as all
    that it holds.
    """
    if isinstance(value, set | frozenset):
        return list(value)
    return str(value) if isinstance(value, _TEXT) else type(value).__name__
