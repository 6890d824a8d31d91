"""A session on disk: complete, never with an orphan, whoever is killed and whenever."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from apis import APIS, EACH_API, answered
from toolresults.agent.anthropic import ANTHROPIC
from toolresults.agent.api import Answer, Call
from toolresults.agent.loop import execute, run
from toolresults.agent.openai_chat import OPENAI_CHAT
from toolresults.agent.transcript import INTERRUPTED, SessionBusy, Transcript, read_messages
from toolresults.tools import Tool

QUESTION = {"role": "user", "content": "Note down three things."}
CALLS = [
    Call("c1", "write", {"key": "a"}),
    Call("c2", "look", {"key": "b"}),
    Call("c3", "write", {"key": "c"}),
]
THINKING = {"type": "thinking", "thinking": "Hm \ud83d, việt → 順", "signature": "c2lnbmF0dXJl"}


def asking(api: str) -> dict:
    """An assistant's message with `CALLS`."""
    if api is OPENAI_CHAT:
        functions = [(c.id, {"name": c.name, "arguments": json.dumps(c.arguments)}) for c in CALLS]
        calls = [{"id": id, "type": "function", "function": function} for id, function in functions]
        return {"role": "assistant", "content": None, "tool_calls": calls}
    uses = [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.arguments} for c in CALLS]
    return {"role": "assistant", "content": [THINKING, *uses]}


def answers(api: str, texts: dict[str, str]) -> list[dict]:
    """The messages that answer calls, by id."""
    if api is OPENAI_CHAT:
        return [{"role": "tool", "tool_call_id": id, "content": text} for id, text in texts.items()]
    blocks = [
        {"type": "tool_result", "tool_use_id": id, "content": text} for id, text in texts.items()
    ]
    return [{"role": "user", "content": blocks}]


def answer(id: str, text: str = "done", is_error: bool = False) -> Answer:
    name = next((call.name for call in CALLS if call.id == id), "write")
    return Answer(id, name, text, is_error, 1.0, "error" if is_error else "ok")


def texts(api: str, messages: list[dict]) -> dict[str, str]:
    """What each call was answered, by id."""
    if api is OPENAI_CHAT:
        return {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    blocks = [
        b
        for m in messages
        if isinstance(m["content"], list)
        for b in m["content"]
        if b["type"] == "tool_result"
    ]
    return {block["tool_use_id"]: block["content"] for block in blocks}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "chats.db"


def opened(path, messages: list[dict], session: str = "s", api=OPENAI_CHAT) -> None:
    """What a killed process leaves behind: these messages, and no more."""
    with Transcript(path, session, api) as transcript:
        transcript.save(messages)


@EACH_API
def test_messages_come_back_exactly_as_they_were(api, path):
    history = [QUESTION, asking(api), *answers(api, {"c1": "1", "c2": "\ud83d", "c3": "z\u0000"})]
    history += [{"role": "assistant", "content": "Done."}]
    with Transcript(path, "s", api) as transcript:
        assert transcript.resume() == []
        transcript.save(history[:2])
        transcript.save(history[2:])
        assert (transcript.messages(), len(transcript)) == (history, len(history))
    with Transcript(path, "s", api) as transcript:
        assert transcript.resume() == history == read_messages(path, "s")


@EACH_API
def test_a_finished_call_keeps_its_answer_and_a_cut_off_one_is_interrupted(api, path):
    with Transcript(path, "s", api) as transcript:
        transcript.save([QUESTION, asking(api)])
        assert transcript.save_answer(answer("c3", "finished"))
        assert [call.id for call in transcript.unfinished()] == ["c1", "c2"]
    with Transcript(path, "s", api) as transcript:
        messages = transcript.resume()
    assert api.fault(messages) is None
    assert texts(api, messages) == {"c1": INTERRUPTED, "c2": INTERRUPTED, "c3": "finished"}
    assert "interrupted" in json.loads(INTERRUPTED)["error"]
    with Transcript(path, "s", api) as transcript:  # and that was the end of it
        assert transcript.resume() == messages


def test_an_interrupted_call_is_marked_as_an_error_where_the_api_has_a_mark(path):
    opened(path, [QUESTION, asking(ANTHROPIC)], api=ANTHROPIC)
    with Transcript(path, "s", ANTHROPIC) as transcript:
        transcript.save_answer(answer("c1"))
        blocks = transcript.resume()[-1]["content"]
    assert [block.get("is_error", False) for block in blocks] == [False, True, True]


def test_a_session_is_not_opened_with_another_api_than_it_was_held_with(path):
    opened(path, [QUESTION, asking(OPENAI_CHAT)])
    with pytest.raises(ValueError, match="was held with the API openai"):
        Transcript(path, "s", ANTHROPIC)
    Transcript(path, "another", ANTHROPIC).close()
    Transcript(path, "another", OPENAI_CHAT).close()  # nothing was said in it yet
    with Transcript(path, "third", ANTHROPIC) as other:
        with pytest.raises(ValueError, match="the transcript is for the API anthropic"):
            run(OPENAI_CHAT, None, "Hi", [], model="any", transcript=other)
    with Transcript(path, "s", OPENAI_CHAT) as transcript:  # and nothing of it is lost or locked
        assert len(transcript) == 2


@EACH_API
def test_only_a_tool_that_reads_is_run_again(api, path):
    opened(path, [QUESTION, asking(api)], api=api)
    ran = []

    def run(calls):
        ran.extend(call.name for call in calls)
        return [answer(call.id, "read again") for call in calls]

    with Transcript(path, "s", api) as transcript:
        messages = transcript.resume(read_only={"look"}, run=run)
    assert ran == ["look"]
    assert texts(api, messages) == {"c1": INTERRUPTED, "c2": "read again", "c3": INTERRUPTED}


def test_a_run_that_answers_nothing_leaves_no_orphan(path):
    opened(path, [QUESTION, asking(OPENAI_CHAT)])
    with Transcript(path, "s", OPENAI_CHAT) as transcript:
        assert (
            texts(OPENAI_CHAT, transcript.resume(read_only={"look"}, run=lambda calls: []))["c2"]
            == INTERRUPTED
        )


def test_a_turn_of_openais_that_was_answered_in_part_is_completed(path):
    opened(path, [QUESTION, asking(OPENAI_CHAT), *answers(OPENAI_CHAT, {"c1": "1"})])
    with Transcript(path, "s", OPENAI_CHAT) as transcript:
        messages = transcript.resume()
    assert [answered(OPENAI_CHAT, message) for message in messages[2:]] == [["c1"], ["c2"], ["c3"]]
    assert OPENAI_CHAT.fault(messages) is None


@EACH_API
def test_what_would_leave_an_orphan_is_refused_and_nothing_of_it_saved(api, path):
    with Transcript(path, "s", api) as transcript:
        transcript.save([QUESTION, asking(api)])
        for wrong in ([QUESTION], [asking(api)], [*answers(api, {"c1": "1", "c2": "2"}), QUESTION]):
            with pytest.raises(ValueError, match="without an answer"):
                transcript.save(wrong)
        with pytest.raises(ValueError, match="answers c9, and no open call"):
            transcript.save(answers(api, {"c1": "1", "c9": "2"}))
        assert transcript.messages() == [QUESTION, asking(api)]
        transcript.save(answers(api, {"c1": "1", "c2": "2", "c3": "3"}))
        assert api.fault(transcript.messages()) is None


def test_the_first_answer_of_a_call_counts_and_a_late_one_of_an_older_turn_is_passed_over(path):
    with Transcript(path, "s", OPENAI_CHAT) as transcript:
        transcript.save([QUESTION, asking(OPENAI_CHAT)])
        saved = [transcript.save_answer(answer("c1", text)) for text in ("timed out", "late")]
        assert saved == [True, False]
        messages = transcript.resume()
        assert texts(OPENAI_CHAT, messages)["c1"] == "timed out"
        assert transcript.save_answer(answer("c2", "too late")) is False
        assert transcript.messages() == messages


def test_an_id_that_a_vendor_uses_twice_is_a_call_of_its_own_each_time(path):
    with Transcript(path, "s", OPENAI_CHAT) as transcript:
        for text in ("first", "second"):
            transcript.save([QUESTION, asking(OPENAI_CHAT)])
            transcript.save_answer(answer("c1", text))
            assert texts(OPENAI_CHAT, transcript.resume()[-3:])["c1"] == text


def test_sync_appends_what_is_new_and_refuses_another_history(path):
    with Transcript(path, "s", OPENAI_CHAT) as transcript:
        history = [QUESTION, {"role": "assistant", "content": "Which?"}]
        transcript.sync(history[:1])
        transcript.sync(history)
        transcript.sync(history)
        assert transcript.messages() == history
        for other in (history[1:], [{**QUESTION, "content": "?"}, *history[1:]], []):
            with pytest.raises(ValueError, match="does not begin with the 2 messages"):
                transcript.sync(other)


def test_answers_are_saved_from_any_thread(path):
    with Transcript(path, "s", OPENAI_CHAT) as transcript:
        transcript.save([QUESTION, asking(OPENAI_CHAT)])
        workers = [
            threading.Thread(target=transcript.save_answer, args=[answer(call.id, call.id)])
            for call in CALLS
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        assert transcript.unfinished() == []
        assert texts(OPENAI_CHAT, transcript.resume()) == {"c1": "c1", "c2": "c2", "c3": "c3"}


def test_sessions_share_a_file_and_nothing_else(path):
    names = ["one", "../../x", "/abs", "a\u0000b", "CON", "x" * 300, "\ud83d", ""]
    for name in names:
        opened(path, [{**QUESTION, "content": repr(name)}], name)
    assert [read_messages(path, name)[0]["content"] for name in names] == [
        repr(name) for name in names
    ]
    assert read_messages(path, "nobody") == []
    assert {p.name for p in path.parent.iterdir()} <= {
        "chats.db",
        "chats.db-locks",
        "chats.db-wal",
        "chats.db-shm",
    }


def test_the_file_is_for_its_owner_and_in_wal_mode(path):
    opened(path, [QUESTION])
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    if os.name == "posix":
        assert path.stat().st_mode & 0o777 == 0o600


def test_reading_takes_no_session_and_makes_no_file(path):
    with pytest.raises(FileNotFoundError):
        read_messages(path, "s")
    assert not path.exists()
    with pytest.raises(ValueError, match="needs a file"):
        Transcript(":memory:", "s", OPENAI_CHAT)


def test_a_second_writer_is_refused_in_this_process_and_in_another(path):
    imports = "from toolresults.agent.openai_chat import OPENAI_CHAT\n"
    imports += "from toolresults.agent.transcript import Transcript\n"
    open_it = f"{imports}Transcript({str(path)!r}, 's', OPENAI_CHAT)"
    with (
        Transcript(path, "s", OPENAI_CHAT) as transcript,
        Transcript(path, "another session", OPENAI_CHAT),
    ):
        with pytest.raises(SessionBusy, match="session 's' in chats.db is in use"):
            Transcript(path, "s", OPENAI_CHAT)
        other = subprocess.run(
            [sys.executable, "-c", open_it], capture_output=True, text=True, encoding="utf-8"
        )
        assert (
            other.returncode == 1
            and "SessionBusy: session 's' in chats.db is in use" in other.stderr
        )
        transcript.save([QUESTION])  # the first one was not disturbed
    assert subprocess.run([sys.executable, "-c", open_it]).returncode == 0


def test_a_second_writer_can_wait_for_the_first(path):
    first, seen = Transcript(path, "s", OPENAI_CHAT), []

    def second():
        with Transcript(path, "s", OPENAI_CHAT, wait=60) as transcript:
            seen.append(transcript.resume())

    waiting = threading.Thread(target=second)
    waiting.start()
    first.save([QUESTION])
    first.close()
    waiting.join()
    assert seen == [[QUESTION]]


def test_a_writer_who_got_past_the_lock_is_told_at_the_next_save(path):
    with Transcript(path, "s", OPENAI_CHAT) as transcript:
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("INSERT INTO messages VALUES ('s', 0, ?)", [json.dumps(QUESTION)])
        with pytest.raises(SessionBusy, match="continued by somebody else"):
            transcript.save([QUESTION])
        assert transcript.messages() == [QUESTION]


def test_a_closed_transcript_says_so(path):
    transcript = Transcript(path, "s", OPENAI_CHAT)
    transcript.close()
    transcript.close()
    with pytest.raises(RuntimeError, match="chats.db is closed"):
        transcript.save([QUESTION])


# --- fifty kills: this file, run as a program, forks children that have both SDKs loaded, and kills
# them ---

TURNS = (("write", "look", "write"), ("look",), ("write", "write", "look", "look"))
"""The tools that the scripted model calls, turn by turn; then it answers."""

WATCHED = {f"toolresults.agent.{name}" for name in ("transcript", "sqlite", "execute", "loop")} | {
    "__main__"
}
"""Where a kill falls: at any event (call, return, also of C functions) in one of these modules, or
soon after it.
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="SIGKILL and fork are POSIX")
def test_fifty_kills_lose_nothing(tmp_path):
    done = subprocess.run(
        [sys.executable, __file__, str(tmp_path), "50"],
        capture_output=True,
        text=True,
        encoding="utf-8",
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["faults"] == []
    assert report["kills"] == 50
    assert report["sessions"] >= 2  # they take turns: one API, then the other
    # the kills fell where they hurt: in calls that were cut off, after calls that were finished,
    # and in resuming
    assert report["interrupted"] > 0 and report["run_again"] > 0 and report["finished_before"] > 0


def tools_of(effects: Path) -> dict[str, Tool]:
    """Tools whose calls can be counted from outside: each writes a line as it starts and as it
    ends.
    """

    def mark(line: str) -> None:
        with effects.open("a", encoding="utf-8") as file:
            file.write(line + "\n")

    def write(key: str) -> str:
        """Writes a note."""
        mark(f"start {key}")
        mark(f"end {key}")
        return f"wrote {key}"

    def look(key: str) -> str:
        """Looks a note up."""
        mark(f"start {key}")
        mark(f"end {key}")
        return f"saw {key}"

    return {"write": Tool(write), "look": Tool(look)}


def policy(messages: list[dict]):
    from toolresults.scripted import Reply

    turn = sum(message["role"] == "assistant" for message in messages)
    if turn == len(TURNS):
        return Reply("All is noted.")
    return Reply(
        calls=[(name, {"key": f"{turn}-{i}-{name}"}) for i, name in enumerate(TURNS[turn])],
        thinking="Hm.",
    )


def take_part(api: str, path: Path, session: str, effects: Path) -> None:
    """What a program does that may have been killed: resume, and go on to the end."""

    from toolresults.scripted import ScriptedModel

    tools = tools_of(effects)
    client = ScriptedModel(policy).client(api)
    with Transcript(path, session, api) as transcript:
        messages = transcript.resume(
            read_only={"look"}, run=lambda calls: execute(calls, tools, save=transcript.save_answer)
        )
        if not messages or messages[-1]["role"] != "assistant":
            outcome = run(
                api, client, messages or [QUESTION], tools, model="scripted", transcript=transcript
            )
            assert outcome.stop == "answer"


def in_a_child(kill_at: int | None, soon: bool, work, *arguments) -> tuple[bool, int]:
    """Forks, does the work, and kills the child at its event `kill_at`, or from outside soon after.

    Returns whether it was killed, and how many events it saw. Raises if the work failed.
    """
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(ours)
        seen = 0

        def count(frame, event, argument):
            nonlocal seen
            if frame.f_globals.get("__name__") in WATCHED:
                seen += 1
                if seen == kill_at and soon:
                    os.write(theirs, b"now")
                elif seen == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)

        status = 1
        try:
            threading.setprofile(count)
            sys.setprofile(count)
            work(*arguments)
            sys.setprofile(None)
            os.write(theirs, f"end {seen}".encode())
            status = 0
        except BaseException as error:
            sys.setprofile(None)
            sys.excepthook(type(error), error, error.__traceback__)
        finally:
            os._exit(status)
    os.close(theirs)
    with open(ours, "rb", buffering=0) as pipe:
        told = pipe.read(64)
        if told.startswith(b"now"):
            os.kill(child, signal.SIGKILL)
        more = pipe.readall()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status not in (0, -signal.SIGKILL):
        raise RuntimeError(f"a child ended with status {status}")
    return status != 0, int((told + more).partition(b"end ")[2] or 0)


class Watch:
    """One session, looked at from outside after each kill and at its end. `faults` is what was
    wrong.
    """

    def __init__(self, api: str, path: Path, session: str, effects: Path):
        self.api, self.path, self.session, self.effects = api, path, session, effects
        self.messages, self.saved, self.started, self.ended = [], {}, Counter(), Counter()
        self.faults, self.run_again = [], 0

    def keys(self, ids) -> list[str]:
        """What the calls with these ids were about."""
        calls = {
            call.id: call.arguments for message in self.messages for call in self.api.calls(message)
        }
        found = {
            id: json.loads(given) if isinstance(given, str) else given
            for id, given in calls.items()
        }
        return [found[id]["key"] for id in ids]

    def look(self) -> None:
        """What was saved is still there, and what was finished has not been run again."""
        messages, finished, started = self.messages, self.keys(self.saved), self.started
        saved, lines = self.saved, []
        if self.effects.exists():
            lines = [line.split() for line in self.effects.read_text(encoding="utf-8").splitlines()]
        self.messages = read_messages(self.path, self.session)
        with closing(sqlite3.connect(self.path)) as connection:
            query = "SELECT call, text FROM answers WHERE session = ?"
            self.saved = dict(connection.execute(query, [self.session]))
        self.started = Counter(key for word, key in lines if word == "start")
        self.ended = Counter(key for word, key in lines if word == "end")
        again = {key for key in started if self.started[key] > started[key]}
        self.run_again += len(again)
        self.check(self.messages[: len(messages)] == messages, "a saved message is lost or changed")
        self.check(saved.items() <= self.saved.items(), "a saved answer is lost or changed")
        self.check(not again & set(finished), f"of {again}, some were finished, and ran again")
        self.check(
            all(times == 1 for key, times in self.started.items() if "write" in key),
            "a write ran twice",
        )

    def look_at_the_end(self) -> None:
        """Every call has its answer, and the answer is true."""
        final = texts(self.api, self.messages)
        self.check(
            self.api.fault(self.messages) is None,
            f"a broken history: {self.api.fault(self.messages)}",
        )
        self.check(
            len(final) == sum(map(len, TURNS)) and self.messages[-1]["role"] == "assistant",
            "it did not end",
        )
        self.check(final == self.saved, "what was answered is not what was saved")
        for key, text in zip(self.keys(final), final.values(), strict=True):
            if text == INTERRUPTED:
                self.check("write" in key, f"{key} was not run again")
            else:
                self.check(self.ended[key] and key in text, f"{key} never gave its answer")

    def check(self, holds: object, what: str) -> None:
        if not holds:
            self.faults.append(f"{self.api}, {self.session}: {what}")


def main(folder: Path, wanted: int) -> dict:
    """Runs sessions on both APIs, each killed and resumed until it ends, until there were `wanted`
    kills.
    """
    path, rng = folder / "chats.db", random.Random(20261130)
    report = {
        "kills": 0,
        "sessions": 0,
        "interrupted": 0,
        "run_again": 0,
        "finished_before": 0,
        "faults": [],
    }
    for api in (
        APIS
    ):  # what a first run loads (the SDKs, the tokenizer's vocabulary), no child has to load again
        take_part(api, path, f"first {api}", folder / "first")
    events = {
        api: in_a_child(None, False, take_part, api, path, f"whole {api}", folder / "whole")[1]
        for api in APIS
    }
    while report["kills"] < wanted:
        report["sessions"] += 1
        api, name = APIS[report["sessions"] % 2], f"session {report['sessions']}"
        session, killed = (api, path, name, folder / f"effects of {name}"), True
        watch = Watch(*session)
        while killed:
            kill_at = rng.randrange(1, events[api]) if report["kills"] < wanted else None
            killed, _ = in_a_child(kill_at, rng.random() < 0.5, take_part, *session)
            watch.look()
            report["kills"] += killed
            report["finished_before"] += killed and len(watch.saved) > len(
                texts(api, watch.messages)
            )
        watch.look_at_the_end()
        report["run_again"] += watch.run_again
        report["interrupted"] += list(watch.saved.values()).count(INTERRUPTED)
        report["faults"] += watch.faults
    return report


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), int(sys.argv[2]))))
