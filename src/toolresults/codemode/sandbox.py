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

What holds for every language stands here: the limits, the calls that are counted, what counts as
output, and what becomes of a run that is stopped. How code is run in a language stands in
`python.py` and `javascript.py`; `execute.open_sandbox` opens one of them.
"""

import contextvars
import datetime as dt
import decimal
import json
import re
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import ClassVar

from ..results.budget import longest_fit
from ..results.shape import clean, cut
from ..tokens import count_tokens, plain, repair, to_json
from .functions import HostError, HostFunction, by_namespace

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
    """A limit ended the run. Its one argument names it: "time", "memory", "host calls", "source",
    "output", or "crash".
    """


class CodeError(Exception):
    """The code failed by its own fault. The message is for the model: no path of the host, any
    length.
    """


def at_line(told: str, number: int, line: str, more: str = "") -> str:
    """What is told of an error, with the line of the model's code where it is."""
    return f"{told} (line {number}: {cut(line.strip(), _LINE_CHARS)}{more})"


class Running:
    """A run under way: what it may call and until when, and what it has printed.

    `functions` is by path; `deadline` is a moment of `time.monotonic()`. The functions see the
    context variables of whoever made this object.
    """

    def __init__(self, functions: Mapping[str, HostFunction], limits: Limits):
        self.functions = dict(functions)
        self.limits = limits
        self.host_calls = 0
        self.printed = ""
        self._tokens = 0
        self._context = contextvars.copy_context()
        self.begin()

    def begin(self) -> None:
        """The time starts now: what the run had to wait for before is not the code's time."""
        self.deadline = time.monotonic() + self.limits.seconds

    def mentioned(self, code: str) -> dict[str, list[HostFunction]]:
        """The namespaces that occur in the code, so that the other 500 functions cost nothing."""
        words = set(re.findall(r"\w+", code))
        return by_namespace(one for one in self.functions.values() if one.namespace in words)

    def call(self, path: str, args: Sequence[object], kwargs: Mapping[str, object]) -> object:
        """A function's result. Raises `HostError` for the code, and `Stopped` when the calls or the
        time are used up.
        """
        if self.host_calls == self.limits.host_calls:
            raise Stopped("host calls")
        self.host_calls += 1
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
            raise Stopped("time") from None

    def write(self, text: str) -> None:
        """Adds `text` to what was printed, without control characters. Raises `Stopped` as soon as
        all of it is over the limit of exact tokens (o200k_base).
        """
        most = self.limits.output_tokens
        flood = len(text) > LONGEST_TOKEN * most  # a text of 100 MB is not even looked through
        text = clean(repair(text[: LONGEST_TOKEN * most]))
        self.printed += text
        self._tokens += count_tokens(text)
        # the sum over pieces is nearly always the larger: the whole is counted only when it is over
        if self._tokens > most:
            self._tokens = count_tokens(self.printed)
        if flood or self._tokens > most:
            raise Stopped("output")

    def kept(self) -> str:
        """What was printed: all of it, or the longest beginning within the limit, to the token."""
        most, whole = self.limits.output_tokens, self.printed
        if count_tokens(whole) <= most:
            return whole
        return longest_fit(lambda chars: whole[:chars], most, most=len(whole))


def timer(deadline: float, action: Callable[[], object]) -> threading.Timer:
    """Started: does `action` at a moment of `time.monotonic()`, unless it is cancelled before."""
    made = threading.Timer(max(deadline - time.monotonic(), 0), action)
    made.daemon = True
    made.start()
    return made


class Sandbox(AbstractContextManager):
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
        functions: Mapping[str, HostFunction] | None = None,
        *,
        limits: Limits | None = None,
        files: Path | None = None,
    ):
        if files is not None and not Path(files).is_dir():
            raise NotADirectoryError(f"files must be a directory: {files}")
        # loads the tokenizer (a second, once), which must not count against the first run
        count_tokens("")
        self.functions = {} if functions is None else functions
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
    def _execute(self, code: str, running: Running) -> object:
        """Runs `code` and returns its value, of any type and size; None if it has none.

        It is over by `running.deadline`, calls through `running.call`, and prints through
        `running.write`. Raises `Stopped` when a limit held, `CodeError` when the code failed.
        Whatever was started for the run is gone when this returns.
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
        started, limits = time.monotonic(), self.limits
        running = Running(self.functions, limits)
        value = error = stopped = None
        try:
            if len(code) > limits.source_chars:
                raise Stopped("source")
            ended_with = self._execute(repair(code), running)
            left = limits.output_tokens - count_tokens(running.printed)
            value, whole = _kept(ended_with, left)
            if not whole:
                raise Stopped("output")
        except Stopped as limit:
            stopped = limit.args[0]
            error = _ADVICE[stopped].format(mib=limits.memory / 2**20, **vars(limits))
        except CodeError as fault:
            error = cut(clean(repair(str(fault))), _ERROR_CHARS)
        seconds = time.monotonic() - started
        return Run(running.kept(), value, error, stopped, running.host_calls, seconds)

    def close(self) -> None:
        """Ends what the sandbox keeps between runs. Safe to call twice."""
        return

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

_TEXT = (decimal.Decimal, PurePath, dt.date, dt.time, dt.timedelta)
_CONTAINERS = (dict, list, tuple, set, frozenset)


def is_over(value: object, most: int) -> bool:
    """Whether the JSON of `value` surely takes more than `most` characters.

    Goes down level by level. What stands in a level more than once is looked at once, and counted
    as often.
    """
    chars, level = -2, {0: ([value], 1)}
    while level and chars <= most:
        deeper: dict[int, tuple[object, int]] = {}
        for item, times in level.values():
            chars += 2 * len(item) * times  # each part takes a character and a comma
            if chars > most:
                return True
            for part in (*item, *item.values()) if isinstance(item, dict) else item:
                if isinstance(part, str | bytes):
                    chars += len(part) * times
                elif type(part) is int:  # a bit is 0.301 digits
                    chars += part.bit_length() * 3 // 10 * times
                elif isinstance(part, _CONTAINERS):
                    deeper[id(part)] = (part, times + deeper.get(id(part), (None, 0))[1])
                elif isinstance(part, _TEXT):
                    chars += len(str(part)) * times
                    if chars > most:
                        return True
        level = deeper
    return chars > most


def _beginning(value: object, most: int) -> str:
    """The first `most` characters of the JSON of `value`, made piece by piece, so that the rest
    costs nothing. It ends early where JSON does: at a key that is no text, or too deep a nesting.
    """
    encoder = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_other)
    text = ""
    # a key is not skipped: a million lists of keys that are skipped are no text, and hours of work
    with suppress(RecursionError, TypeError, ValueError):
        for piece in encoder.iterencode(value):
            text += piece[:most]
            if len(text) >= most:
                break
    return repair(text[:most])


def _other(value: object) -> object:
    """What stands for a value that JSON has no form for. An object's own text may be as long as all
    that it holds.
    """
    if isinstance(value, set | frozenset):
        return list(value)
    return str(value) if isinstance(value, _TEXT) else type(value).__name__
