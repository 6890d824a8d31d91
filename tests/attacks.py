"""What an attack on a sandbox is, and the host that is attacked. See `attacks_python` and
`attacks_javascript`.
"""

import threading
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from toolresults.codemode.execute import open_sandbox
from toolresults.codemode.functions import HostFunction
from toolresults.codemode.sandbox import Limits
from toolresults.tools import ToolError

CANARY = "CANARY7f3a91c2"
"""A secret of the host: it stands in the environment, in a module, in a file, and in the message of
an exception.
"""

LIMITS = Limits(seconds=0.3, host_calls=200, output_tokens=500)

ANY = object()


@dataclass(frozen=True)
class Attack:
    """Code that must not get through, and the one thing that must come of it, if it is certain.

    `stopped` is the limit that ends it ("time", "memory", …; "time|memory" where either may be hit
    first), `error` a part of the error that it gets, `value` what it ends with, `printed` all that
    it printed: harmless both.
    """

    name: str
    code: str
    stopped: str | None = None
    error: str | None = None
    value: object = ANY
    printed: object = ANY

    def __post_init__(self):
        named = (
            self.stopped,
            self.error,
            None if self.value is ANY else 1,
            None if self.printed is ANY else 1,
        )
        assert sum(outcome is not None for outcome in named) <= 1, f"{self.name}: name one outcome"


class Task(TypedDict):
    id: int
    owner: str
    amount: float


class Refused(ToolError, PermissionError):
    pass


def list_tasks(owner: str | None = None, limit: int = 2) -> list[Task]:
    """Lists tasks."""
    return [{"id": i, "owner": owner or "ana", "amount": 1.5} for i in range(limit)]


def add_note(task_id: int, text: str) -> int:
    """Adds a note and returns its length."""
    return len(text)


def rows(count: int) -> list[Task]:
    """Lists as many tasks as are asked for."""
    return list_tasks(limit=count)


def echo(text: str) -> str:
    """Returns its argument."""
    return text


def leak() -> int:
    """Fails as a driver does: with a path and a key in the message."""
    raise OSError(f"/srv/app/secrets/db.py: login with {CANARY} failed")


def refuse() -> int:
    """Refuses, and says more than it should."""
    raise Refused("you need the scope hr:salary, see /srv/app/policy/rules.toml")


def hang() -> int:
    """Does not come back for a long time."""
    threading.Event().wait(5)
    return 1


def odd() -> object:
    """Returns what has no JSON."""
    return threading.Lock()


def infinite() -> float:
    """Returns a number that JSON does not know."""
    return float("inf")


def big() -> list[str]:
    """Returns more than the sandbox may hold: 80 MB."""
    return [f"{i:01000}" for i in range(80_000)]


def functions(language: str) -> dict[str, HostFunction]:
    """The host's functions, by path, all in the namespace `crm`."""

    def nested(code: str) -> str:
        """Runs code in a sandbox, from inside a sandbox."""
        with open_sandbox(language, functions(language), limits=LIMITS) as inner:
            run = inner.run(code)
        return run.error or str(run.value)

    made = [list_tasks, rows, add_note, echo, leak, refuse, hang, odd, infinite, big, nested]
    return {f"crm.{function.__name__}": HostFunction(function, "crm") for function in made}


def files(folder: Path) -> Path:
    """A folder for the code to read, with links that lead out of it to a secret."""
    (folder / "secret.txt").write_text(CANARY, encoding="utf-8")
    inside = folder / "files"
    inside.mkdir()
    (inside / "orders.json").write_text('[{"amount":1},{"amount":2}]', encoding="utf-8")
    (inside / "absolute").symlink_to(folder / "secret.txt")
    (inside / "relative").symlink_to("../secret.txt")
    (inside / "up").symlink_to("..")
    return inside
