"""A session that survives its process: each result is saved as its call ends, each turn before the
next begins.

    with Transcript("chats.db", "session 1", OPENAI_CHAT) as transcript:
        messages = transcript.resume()      # [] for a new session; never a call without an answer
        transcript.save([{"role": "user", …}])
        transcript.save([reply])            # the assistant's message, before its calls are run
        transcript.save_answer(answer)      # as each call ends, from any thread
        transcript.save(answers)            # the messages that answer the calls

What a kill can leave behind is one assistant message whose calls are not all answered. `resume`
closes it: a call whose answer was saved is not run again, one that was cut off is answered
"interrupted", since it may or may not have taken effect, and one of a tool that only reads can be
run again.

A session belongs to one API, and to one writer at a time. Others get `SessionBusy`, or wait as long
as they say. `read_messages` reads a session without taking it. SQLite in WAL mode, one connection
that threads take in turn, every save a transaction that is on disk when it returns.
"""

import hashlib
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..tokens import repair, to_json
from .api import Answer, Api, Call, Message

BUSY = 30.0
"""Seconds that a write waits for a write to another session of the same file."""

INTERRUPTED = to_json(
    {
        "error": "interrupted: the program stopped before this call ended, so it may or may not "
        "have taken effect. Check what is there before you call it again."
    }
)
"""The answer of a call that was cut off, an error result."""

_TABLES = """
CREATE TABLE IF NOT EXISTS sessions (session TEXT PRIMARY KEY, api TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS messages (
    session TEXT NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (session, seq)
) WITHOUT ROWID;
-- seq: the message that made the call, since vendors may use an id twice
CREATE TABLE IF NOT EXISTS answers (
    session TEXT NOT NULL, seq INTEGER NOT NULL, call TEXT NOT NULL, name TEXT NOT NULL,
    text TEXT NOT NULL, is_error INTEGER NOT NULL, PRIMARY KEY (session, seq, call)
) WITHOUT ROWID;
"""


class SessionBusy(RuntimeError):
    """Another process, or another `Transcript` in this one, has the session."""


@dataclass(frozen=True)
class _End:
    """Where a session stands: the message that made the last calls, and those not yet answered."""

    api: Api
    turn: int = -1
    open: tuple[Call, ...] = ()

    def after(self, message: Message, seq: int) -> "_End":
        """Where it stands after `message`. Raises `ValueError` if the message may not follow."""
        ids = self.api.answered(message)
        strange = [id for id in ids if id not in [call.id for call in self.open]]
        left = tuple(call for call in self.open if call.id not in ids)
        if strange:
            names = ", ".join(strange)
            raise ValueError(f"message {seq} answers {names}, and no open call has that id")
        if left and not (ids and self.api.one_by_one):
            names = ", ".join(call.id for call in left)
            raise ValueError(f"message {seq} leaves {names} without an answer")
        if calls := self.api.calls(message):
            return _End(self.api, seq, tuple(calls))
        return _End(self.api, self.turn, left)


class Transcript:
    """One session of `api` in a database file at `path`; see the module. Use it in a `with`, or
    `close` it.

    `session` is any text. `wait` is how many seconds to wait for a session that another has. Raises
    `SessionBusy`, and `ValueError` for a session that was held with another API.
    """

    def __init__(self, path: str | Path, session: str, api: Api, *, wait: float = 0):
        self.path, self.session, self.api = Path(path), repair(session), api
        self._database, self._process = _open(self.path), os.getpid()
        self._guard = threading.RLock()  # over the database and what is known of the session's end
        self._lock = _take_lock(self._lock_path(), wait)
        if self._lock is None:
            self._database.close()
            raise SessionBusy(
                f"session {session!r} in {self.path.name} is in use: another process, or another "
                "Transcript in this one, has it. Close that one first, or wait for it "
                "(wait=seconds): two would run the same calls twice."
            )
        self._length, self._end = 0, _End(api)
        try:
            self._check_api()
            for message in self.messages():
                self._end = self._end.after(message, self._length)
                self._length += 1
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> "Transcript":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives the session free. Closing twice does nothing."""
        if os.getpid() == self._process:  # a fork's copy of a connection must be left alone
            with self._guard:
                self._database.close()
                self._lock.close()

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        """The database, for this thread alone; what is written is on disk when this ends.

        Raises `RuntimeError` once closed, and in a child of the process that opened it.
        """
        if os.getpid() != self._process:
            raise RuntimeError(
                "this database was opened before the process forked: open it again in the child"
            )
        with self._guard:
            try:
                with self._database:
                    yield self._database
            except sqlite3.ProgrammingError:
                raise RuntimeError(f"{self.path.name} is closed") from None

    def __len__(self) -> int:
        """How many messages are saved."""
        return self._length

    def messages(self) -> list[dict[str, Any]]:
        """The messages as they are saved; after a kill the last turn may be open: see `resume`."""
        with self._connection() as connection:
            return _messages(connection, self.session)

    def save(self, messages: Iterable[Message]) -> None:
        """Appends messages, all or none of them.

        Raises `ValueError`, and saves nothing, where a call would be left without its answer;
        `SessionBusy` if somebody else has written to the session all the same (a copied or shared
        file without working locks).
        """
        with self._guard:
            end, rows = self._end, []
            for seq, message in enumerate(messages, self._length):
                end = end.after(message, seq)
                rows.append((self.session, seq, json.dumps(message, allow_nan=False)))
            try:
                with self._connection() as connection:
                    held = (self.session, self.api.name)
                    connection.execute("INSERT OR IGNORE INTO sessions VALUES (?, ?)", held)
                    connection.executemany("INSERT INTO messages VALUES (?, ?, ?)", rows)
            except sqlite3.IntegrityError:
                raise SessionBusy(
                    f"session {self.session!r} was continued by somebody else: open it again"
                ) from None
            self._length, self._end = self._length + len(rows), end

    def sync(self, messages: Sequence[Message]) -> None:
        """Appends those of a whole history that are not saved yet. Raises `ValueError` if it is not
        this session's."""
        with self._guard:
            saved = self.messages()
            if list(messages[: len(saved)]) != saved:
                raise ValueError(
                    f"this history does not begin with the {len(saved)} messages of session "
                    f"{self.session!r}: save the full history, not what trimming made of it"
                )
            self.save(messages[len(saved) :])

    def save_answer(self, answer: Answer) -> bool:
        """Saves the answer of a call of the turn in progress; any thread may.

        The first answer of a call counts: a result that comes in after its time limit changes
        nothing. Returns whether it was saved.
        """
        with self._guard:
            if answer.id not in [call.id for call in self._end.open]:
                return False
            text, error = repair(answer.text), bool(answer.is_error)
            row = (self.session, self._end.turn, answer.id, answer.name, text, error)
            insert = "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?)"
            with self._connection() as connection:
                return connection.execute(insert, row).rowcount == 1

    def unfinished(self) -> list[Call]:
        """The calls of the last turn that have no saved answer, in call order."""
        saved = self._answers()
        return [call for call in self._end.open if call.id not in saved]

    def resume(
        self,
        *,
        read_only: Collection[str] = (),
        run: Callable[[list[Call]], Iterable[Answer]] | None = None,
    ) -> list[dict[str, Any]]:
        """The messages of the session, every call answered; what was missing is saved before this
        returns.

        A call that was cut off is answered `INTERRUPTED`. If its tool is in `read_only`, it is one
        of the calls that `run` gets and answers
        (`lambda calls: execute(calls, tools, save=transcript.save_answer)`).
        """
        again = [call for call in self.unfinished() if call.name in read_only]
        if run is not None and again:
            for answer in run(again):
                self.save_answer(answer)
        for call in self.unfinished():
            self.save_answer(Answer(call.id, call.name, INTERRUPTED, is_error=True))
        if self._end.open:
            saved = self._answers()
            self.save(self.api.answers([saved[call.id] for call in self._end.open]))
        return self.messages()

    def _answers(self) -> dict[str, Answer]:
        find = "SELECT call, name, text, is_error FROM answers WHERE session = ? AND seq = ?"
        with self._connection() as connection:
            rows = connection.execute(find, (self.session, self._end.turn)).fetchall()
        return {id: Answer(id, name, text, bool(error)) for id, name, text, error in rows}

    def _check_api(self) -> None:
        find = "SELECT api FROM sessions WHERE session = ?"
        with self._connection() as connection:
            row = connection.execute(find, (self.session,)).fetchone()
        [held] = row or [self.api.name]  # a session without a message is nobody's yet
        if held != self.api.name:
            raise ValueError(
                f"session {self.session!r} was held with the API {held}, and its messages are in "
                f"that form: open it so, or begin another session for {self.api.name}"
            )

    def _lock_path(self) -> Path:
        # the name is ours: a session may be called "../x" or "CON"
        return Path(f"{self.path}-locks") / hashlib.sha256(self.session.encode()).hexdigest()[:32]


def read_messages(path: str | Path, session: str) -> list[dict[str, Any]]:
    """The saved messages of a session, also while somebody else is writing to it; see
    `Transcript.messages`.

    Raises `FileNotFoundError` without the file; a session that is not in it has no messages.
    """
    if not Path(path).exists():
        raise FileNotFoundError(f"there is no transcript at {path}")
    with closing(_open(Path(path))) as connection:
        return _messages(connection, repair(session))


def _messages(connection: sqlite3.Connection, session: str) -> list[dict[str, Any]]:
    find = "SELECT body FROM messages WHERE session = ? ORDER BY seq"
    return [json.loads(body) for (body,) in connection.execute(find, (session,))]


def _open(path: Path) -> sqlite3.Connection:
    """A connection for all threads, each of which must hold the session's guard.

    The file is made for its owner alone (0600), since a transcript holds customers' data. Raises
    `ValueError` for SQLite's `:memory:`, which nothing survives.
    """
    if str(path) == ":memory:":
        raise ValueError(
            "a transcript needs a file: what is in memory does not survive its process"
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    connection = sqlite3.connect(path, timeout=BUSY, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")  # a commit is on disk, also if the power goes
    connection.executescript(_TABLES)
    return connection


def _take_lock(path: Path, wait: float = 0) -> sqlite3.Connection | None:
    """An exclusive lock on a file of its own, held until it is closed or the process ends, however
    it ends. None if another still has it after `wait` seconds.

    It is the lock of an empty SQLite database: the operating system drops it when a process is
    killed, and it works on every platform.
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
