"""Two things that SQLite leaves to its user: a connection for each thread, and a lock that dies
with its process.
"""

import os
import sqlite3
import threading
import weakref
from pathlib import Path

BUSY = 30.0
"""Seconds that a write waits for a write to another session of the same file."""


class Connections:
    """Connections to one database file, one a thread, made when first asked for; `tables` is run on
    each.

    The file is made for its owner alone (0600), since a transcript holds customers' data. Raises
    `ValueError` for SQLite's `:memory:`, where each thread would see a database of its own.
    """

    def __init__(self, path: Path, tables: str):
        if str(path) == ":memory:":
            raise ValueError(
                "a transcript needs a file: in memory, each thread would see a database of its own"
            )
        self._path, self._tables, self._process = path, tables, os.getpid()
        self._local, self._all = threading.local(), weakref.WeakSet()
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        self._closed = False
        self.get()

    def get(self) -> sqlite3.Connection:
        """This thread's connection. Raises `RuntimeError` once closed, and in a child of the
        process that opened it.
        """
        if os.getpid() != self._process:
            raise RuntimeError(
                "this database was opened before the process forked: open it again in the child"
            )
        if self._closed:
            raise RuntimeError(f"{self._path.name} is closed")
        held = getattr(self._local, "held", None)
        if held is None:
            held = self._local.held = _Held(self._path, self._tables)
            self._all.add(held)
        return held.connection

    def close(self) -> None:
        self._closed = True
        if os.getpid() == self._process:
            for held in list(self._all):
                held.close()


class _Held:
    """A connection that is closed when its thread is gone."""

    def __init__(self, path: Path, tables: str):
        # a thread that has ended cannot close its own: whoever drops it does
        self.connection = sqlite3.connect(path, timeout=BUSY, check_same_thread=False)
        self.close = weakref.finalize(self, _close, self.connection, os.getpid())
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute(
            "PRAGMA synchronous = FULL"
        )  # a commit is on disk, also if the power goes
        self.connection.executescript(tables)


def _close(connection: sqlite3.Connection, process: int) -> None:
    if os.getpid() == process:  # a fork's copy of a connection must be left alone
        connection.close()


def take_lock(path: Path, wait: float = 0) -> sqlite3.Connection | None:
    """An exclusive lock on a file of its own, held until it is closed or the process ends, however
    it ends.

    None if another still has it after `wait` seconds. It is the lock of an empty SQLite database:
    the operating system drops it when a process is killed, and it works on every platform.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    connection = sqlite3.connect(path, timeout=wait, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as error:
        connection.close()
        if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
            return None
        raise
    return connection
