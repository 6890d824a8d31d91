"""What one run of a model's code may use, and what is left of it afterwards. The same for every
language.
"""

from dataclasses import dataclass

from ..results.budget import longest_fit
from ..results.shape import clean
from ..tokens import count_tokens, repair

MOST_SECONDS = 86_400
"""Longest time limit, in seconds: a day. What waits that long is a job of its own, and timers
cannot wait for ever.
"""


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


LONGEST_TOKEN = 128
"""Characters of the longest token of o200k_base (spaces): longer text than that times the limit is
not counted.
"""

ADVICE = {
    "time": "stopped at {seconds:g} s. Ask the functions for fewer rows, or do less in one run",
    "memory": "stopped at {mib:.0f} MiB of memory. Keep totals instead of rows, and drop what is done with",
    "host calls": "stopped at {host_calls} calls of functions. Ask for more rows in one call",
    "source": "not run: the code is over {source_chars} characters. Send less code, and no data inside it",
    "output": "stopped at {output_tokens} tokens of output. Print totals, counts or the first few rows, not all rows",
    "crash": "stopped: the sandbox died, most likely of memory or recursion. Do less in one run",
}
"""What the model is told when a limit held, and what to do next."""


class Stopped(Exception):
    """A limit ended the run. `limit` is a key of `ADVICE`; the message is one line for the
    model.
    """

    def __init__(self, limit: str, limits: Limits):
        super().__init__(ADVICE[limit].format(mib=limits.memory / 2**20, **vars(limits)))
        self.limit = limit


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
        # the sum over pieces is nearly always the larger: the whole is counted only when the sum is
        # over
        if self._bound > most:
            self._bound = count_tokens(self.text)
        if flood or self._bound > most:
            self.close()
            raise Stopped("output", self._limits)

    def close(self) -> str:
        """What may be kept: all of it, or the longest beginning within the limit, to the token."""
        most = self._limits.output_tokens
        if count_tokens(self.text) > most:
            whole = self.text
            self.text = longest_fit(lambda chars: whole[:chars], most, most=len(whole))
        return self.text
