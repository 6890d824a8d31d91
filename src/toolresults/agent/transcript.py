"""A session that survives its process: each result is saved as its call ends, each turn before the
next begins.

    with Transcript("chats.db", "session 1") as transcript:
        messages = transcript.resume()              # [] for a new session; never with a call that has no answer
        transcript.save([{"role": "user", …}])
        transcript.save([reply])                    # the assistant's message, before any of its calls is run
        transcript.save_answer(answer)              # from whichever thread ran the call, as it ends
        transcript.save(answers)                    # the messages that answer the calls, before the next model call

What a kill can leave behind is one assistant message whose calls are not all answered. `resume`
closes it: a call whose answer was saved is not run again, one that was cut off is answered
"interrupted", since it may or may not have taken effect, and one of a tool that only reads can be
run again.

A session belongs to one writer at a time. Others get `SessionBusy`, or wait as long as they say.
`read_messages` reads a session without taking it. SQLite in WAL mode, one connection a thread,
every save a transaction that is on disk when it returns.
"""

import hashlib
import json
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from ..tokens import repair, to_json
from . import anthropic_loop, openai_loop
from .sqlite import Connections, take_lock
from .wire import APIS, Call, answered, calls_of

Message = Mapping[str, Any]

_DIALECTS = {"openai": openai_loop.DIALECT, "anthropic": anthropic_loop.DIALECT}

INTERRUPTED = to_json(
    {
        "error": "interrupted: the program stopped before this call ended, so it may or may not have taken effect. "
        "Check what is there before you call it again."
    }
)
"""The answer of a call that was cut off, an error result."""

_TABLES = """
CREATE TABLE IF NOT EXISTS messages (
    session TEXT NOT NULL, seq INTEGER NOT NULL, body TEXT NOT NULL, PRIMARY KEY (session, seq)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS answers (  -- seq: the message that made the call, since vendors may use an id twice
    session TEXT NOT NULL, seq INTEGER NOT NULL, call TEXT NOT NULL, name TEXT NOT NULL, text TEXT NOT NULL,
    is_error INTEGER NOT NULL, PRIMARY KEY (session, seq, call)
) WITHOUT ROWID;
"""


class SessionBusy(RuntimeError):
    """Another process, or another `Transcript` in this one, has the session."""


class AnswerLike(Protocol):
    """What `save_answer` needs of an answer."""

    id: str
    name: str
    text: str
    is_error: bool


@dataclass(frozen=True)
class SavedAnswer:
    """The answer of one call, as it was saved."""

    id: str
    name: str
    text: str
    is_error: bool


@dataclass(frozen=True)
class _End:
    """Where a session stands: the message that made the last calls, of which API, and those not yet
    answered by one.
    """

    turn: int = -1
    api: str = ""
    open: tuple[Call, ...] = ()

    def after(self, message: Message, seq: int) -> "_End":
        """Where it stands after `message`. Raises `ValueError` if the message may not follow."""
        ids = [id for api in APIS for id in answered(api, message)]
        strange = [id for id in ids if id not in [call.id for call in self.open]]
        left = tuple(call for call in self.open if call.id not in ids)
        if strange:
            raise ValueError(
                f"message {seq} answers {', '.join(strange)}, and no open call has that id"
            )
        if left and not (
            ids and self.api == "openai"
        ):  # Anthropic takes all answers in one message
            raise ValueError(
                f"message {seq} leaves {', '.join(call.id for call in left)} without an answer"
            )
        for api in APIS:
            if calls := calls_of(api, message):
                return _End(seq, api, tuple(calls))
        return _End(self.turn, self.api, left)


class Transcript:
    """One session in a database file at `path`; see the module. Use it in a `with`, or `close` it.

    `session` is any text. `wait` is how many seconds to wait for a session that another has. Raises
    `SessionBusy`.
    """

    def __init__(self, path: str | Path, session: str, *, wait: float = 0):
        self.path, self.session = Path(path), repair(session)
        self._connections = Connections(self.path, _TABLES)
        self._lock = take_lock(self._lock_path(), wait)
        if self._lock is None:
            self._connections.close()
            raise SessionBusy(
                f"session {session!r} in {self.path.name} is in use: another process, or another Transcript in this "
                "one, has it. Close that one first, or wait for it (wait=seconds): two would run the same calls twice."
            )
        self._guard = threading.RLock()  # over what this object knows of the session's end:
        self._length, self._end = 0, _End()
        for message in self.messages():
            self._end = self._end.after(message, self._length)
            self._length += 1

    def __enter__(self) -> "Transcript":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Gives the session free. Closing twice does nothing."""
        self._connections.close()
        self._lock.close()

    def __len__(self) -> int:
        """How many messages are saved."""
        return self._length

    def messages(self) -> list[dict[str, Any]]:
        """The messages as they are saved; after a kill the last turn may be open: see `resume`."""
        return _messages(self._connections.get(), self.session)

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
                with self._connections.get() as connection:
                    connection.executemany("INSERT INTO messages VALUES (?, ?, ?)", rows)
            except sqlite3.IntegrityError:
                raise SessionBusy(
                    f"session {self.session!r} was continued by somebody else: open it again"
                ) from None
            self._length, self._end = self._length + len(rows), end

    def sync(self, messages: Sequence[Message]) -> None:
        """Appends those of a whole history that are not saved yet. Raises `ValueError` if it is not
        this session's.
        """
        with self._guard:
            saved = self.messages()
            if list(messages[: len(saved)]) != saved:
                raise ValueError(
                    f"this history does not begin with the {len(saved)} messages of session {self.session!r}: "
                    "save the full history, not what trimming made of it"
                )
            self.save(messages[len(saved) :])

    def save_answer(self, answer: AnswerLike) -> bool:
        """Saves the answer of a call of the turn in progress; any thread may.

        The first answer of a call counts: a result that comes in after its time limit changes
        nothing. Returns whether it was saved.
        """
        with self._guard:
            if answer.id not in [call.id for call in self._end.open]:
                return False
            row = (
                self.session,
                self._end.turn,
                answer.id,
                answer.name,
                repair(answer.text),
                bool(answer.is_error),
            )
            with self._connections.get() as connection:
                return (
                    connection.execute(
                        "INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?, ?)", row
                    ).rowcount
                    == 1
                )

    def unfinished(self) -> list[Call]:
        """The calls of the last turn that have no saved answer, in call order."""
        saved = self._answers()
        return [call for call in self._end.open if call.id not in saved]

    def resume(
        self,
        *,
        read_only: Collection[str] = (),
        run: Callable[[list[Call]], Iterable[AnswerLike]] | None = None,
    ) -> list[dict[str, Any]]:
        """The messages of the session, every call answered; what was missing is saved before this
        returns.

        A call that was cut off is answered `INTERRUPTED`. If its tool is in `read_only`, it is one
        of the calls that `run` gets and answers (`lambda calls: execute(calls, tools,
        save=transcript.save_answer)`).
        """
        again = [call for call in self.unfinished() if call.name in read_only]
        if run is not None and again:
            for answer in run(again):
                self.save_answer(answer)
        for call in self.unfinished():
            self.save_answer(SavedAnswer(call.id, call.name, INTERRUPTED, is_error=True))
        if self._end.open:
            saved = self._answers()
            self.save(
                _DIALECTS[self._end.api].answer_messages(
                    [saved[call.id] for call in self._end.open]
                )
            )
        return self.messages()

    def _answers(self) -> dict[str, SavedAnswer]:
        rows = self._connections.get().execute(
            "SELECT call, name, text, is_error FROM answers WHERE session = ? AND seq = ?",
            (self.session, self._end.turn),
        )
        return {
            id: SavedAnswer(id, name, text, bool(is_error)) for id, name, text, is_error in rows
        }

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
    with closing(Connections(Path(path), _TABLES)) as connections:
        return _messages(connections.get(), repair(session))


def _messages(connection: sqlite3.Connection, session: str) -> list[dict[str, Any]]:
    rows = connection.execute(
        "SELECT body FROM messages WHERE session = ? ORDER BY seq", (session,)
    )
    return [json.loads(body) for (body,) in rows]
