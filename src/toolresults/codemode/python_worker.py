"""The processes that run a model's Python: a pool of fresh workers, each used once, and killed when
its time is up.
"""

import atexit
import contextlib
import functools
import os
import signal
import threading
import time
from typing import Self

import pydantic_monty as monty

from .functions import HostCalls
from .limits import Limits, Printed, Stopped

PROCESSES = 32
"""Most workers at one time in this process; a run beyond that waits for one to end."""

_starting = threading.Lock()
_running: set["Worker"] = set()


@functools.cache
def _started() -> monty.Monty:
    pool = monty.Monty(min_processes=2, max_processes=PROCESSES, max_checkouts_per_worker=1)
    pool.__enter__()
    atexit.register(_end, pool)
    return pool


def _end(pool: monty.Monty) -> None:
    """The host exits: a worker whose run a daemon thread has left would outlive it."""
    for worker in _running.copy():
        worker.kill()
    pool.__exit__(None, None, None)


def pool() -> monty.Monty:
    """The one pool of this process. It keeps two fresh workers ready; none serves twice."""
    with _starting:
        return _started()


class Worker:
    """The process of one run, killed at the deadline, or as soon as it has printed too much. Its
    time starts now.

    The engine has limits of its own, but they do not cover what the host does for the code, and
    code that prints goes on printing while the host is no longer listening.
    """

    def __init__(self, pid: int, calls: HostCalls, limits: Limits):
        self.stopped: Stopped | None = None
        self._pid: int | None = pid
        self._lock = threading.Lock()
        calls.deadline = (
            time.monotonic() + limits.seconds
        )  # it may have waited for a process before
        self._timer = threading.Timer(limits.seconds, self.stop, [Stopped("time", limits)])
        self._timer.daemon = True

    def stop(self, reason: Stopped) -> None:
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
            self.stop(reason)

    def __enter__(self) -> Self:
        _running.add(self)
        self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        _running.discard(self)
        self._timer.cancel()
        with self._lock:  # the process ends now, and its number may become another's
            self._pid = None
