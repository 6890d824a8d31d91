"""The process of one JavaScript run, seen from the host: started, spoken to in lines of JSON, and
always ended.

Reading and writing may block, since a timer kills the process when its time is over: then every
pipe ends at once. Time to start is not the code's time: V8 takes 0.1 s on a quiet machine, and
seconds on a busy one.
"""

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from .limits import Limits, Stopped

START_SECONDS = 20.0
"""Longest start of the engine, in seconds, before it counts as broken."""

MESSAGE_BYTES = 16 * 2**20
"""Longest line that is read from the engine, in bytes. The prelude's own limits are well below
it.
"""

_CHILD = Path(__file__).with_name("javascript_child.py")

# V8 kills itself when it gets no more memory, by a trap or an abort; by anything else, it was
# killed
_NO_MEMORY = {
    -getattr(signal, name) for name in ("SIGTRAP", "SIGILL", "SIGABRT") if hasattr(signal, name)
}

# a whole number that may be beyond 2**53, between the separators of compact JSON
_LONG = re.compile(r"[:\[,]-?\d{16,}[,\]}]")

EXACT = 2**53 - 1
"""The largest whole number that every number of JavaScript up to it can tell from its
neighbours.
"""


class EngineError(RuntimeError):
    """The JavaScript engine does not start on this machine. The message is for the host."""


class Process:
    """A fresh engine, used for one run. `engine` is the folder of the package mini-racer.

    Raises `EngineError` if it does not start.
    """

    def __init__(self, engine: Path, limits: Limits):
        self._limits = limits
        self._late = False
        self._process = subprocess.Popen(
            [
                sys.executable,
                "-I",
                "-S",
                "-W",
                "ignore",
                str(_CHILD),
                str(engine),
                str(limits.memory),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,  # V8's last words come between the lines of JSON
            env={name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ},
            cwd=_CHILD.anchor,
            start_new_session=True,  # Ctrl-C in a terminal is the host's business
            creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
        )
        self._timer = self._killed_at(time.monotonic() + START_SECONDS)
        first = self._process.stdout.readline(10_000)
        if first != b'{"ready": true}\n':
            told = (first + self._process.stdout.read(10_000)).decode(errors="replace").strip()
            self.close()
            raise EngineError(
                f"JavaScript's engine did not start: {told.splitlines()[-1] if told else 'no answer'}"
            )

    def begin(self, deadline: float, message: dict[str, object]) -> None:
        """Sends the first message. From now on the process lives until `deadline`, a moment of
        `time.monotonic()`.
        """
        self._timer.cancel()
        self._timer = self._killed_at(deadline)
        self.send(message)

    def send(self, message: dict[str, object]) -> None:
        """Sends plain JSON values; a whole number beyond `EXACT`, which V8 would round, as its
        digits in a text.
        """
        line = _json(message)
        if _LONG.search(line):
            line = _json(_exact(message))
        with suppress(OSError):  # it has died: what it says next is how
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()

    def read(self) -> dict[str, object]:
        """The next message. Raises `Stopped` if the process is dead, or speaks nonsense."""
        line = self._process.stdout.readline(MESSAGE_BYTES)
        try:
            message = json.loads(line)
            if isinstance(message, dict):
                return message
        except (ValueError, RecursionError):
            pass
        raise self._ended()

    def _ended(self) -> Stopped:
        """Why there is no further message. What else stands in the pipe is V8's report of its end,
        with paths.
        """
        while self._process.stdout.read(2**16):
            pass
        died = self._process.wait()
        if self._late:
            return Stopped("time", self._limits)
        return Stopped("memory" if died in _NO_MEMORY else "crash", self._limits)

    def _killed_at(self, deadline: float) -> threading.Timer:
        def kill():
            self._late = True
            self._process.kill()

        timer = threading.Timer(max(deadline - time.monotonic(), 0), kill)
        timer.daemon = True
        timer.start()
        return timer

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
    return str(value) if isinstance(value, int) and abs(value) > EXACT else value
