"""Which calls failed, so that a model which repeats itself is told, and not obeyed a third time."""

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .wire import Call

if TYPE_CHECKING:
    from .execute import Answer

MOST_FAILURES = 2
"""Failures after which the same call is not run again."""


@dataclass
class FailureMemory:
    """Which calls failed, so that the same one (name and arguments) is not run a third time. One
    for each run.

    A success wipes the slate: what failed by bad luck may fail again later.
    """

    most: int = MOST_FAILURES
    _failed: dict[str, list[str]] = field(default_factory=dict)

    @staticmethod
    def key(call: Call) -> str:
        """The call as one text in which neither the order of keys nor white space counts."""
        arguments = call.arguments
        try:
            parsed = json.loads(arguments or "{}") if isinstance(arguments, str) else arguments
            arguments = json.dumps(parsed, sort_keys=True, separators=(",", ":"))
        except (ValueError, TypeError, RecursionError):
            arguments = str(arguments)
        return f"{call.name} {arguments}"

    def failures(self, key: str) -> int:
        return len(self._failed.get(key, ()))

    def last_error(self, key: str) -> str:
        """What the call said when it last failed, without the JSON around it."""
        text = self._failed[key][-1]
        try:
            return str(json.loads(text)["error"])
        except (ValueError, TypeError, LookupError, RecursionError):
            return text

    def note(self, key: str, answer: "Answer") -> None:
        """Remembers how a call ended that was run."""
        if answer.is_error:
            self._failed.setdefault(key, []).append(answer.text)
        else:
            self._failed.pop(key, None)
