"""How a run ends, and what the model is told about a call that was not run."""

from dataclasses import dataclass
from typing import Any

STOPS = {
    "answer": "the model answered",
    "max_steps": "as many turns as allowed were taken; the last one's calls were run and answered, so a run can go on",
    "length": "the answer was cut off at the limit of tokens, also with a larger limit",
    "stop_sequence": "the model wrote one of the caller's own stop sequences (Anthropic; OpenAI calls this an answer)",
    "refusal": "the model declined",
    "content_filter": "the provider's filter took something out (OpenAI)",
    "context_window": "the reply was cut off where the context window ends (Anthropic): trim the history",
    "spending_limit": "the next model call could have passed the limit in money, and was not made",
    "unknown": "a stop reason that these loops do not know; no call of that reply was run",
}
"""Every way in which a run ends, as `Outcome.stop`. An exception of the SDK's is raised, with
`.outcome` set.
"""

CUT = "the reply was cut off at the limit of tokens, so the arguments may be incomplete. Send shorter arguments."
FILTERED = "the reply lost something to a filter, so the arguments may be incomplete."
DECLINED = "the reply ended in a refusal."
STOP_SEQUENCE = "the reply ended at a stop sequence, so the arguments may be incomplete."
ODD = "the reply stopped for a reason that does not ask for calls."
STOPPED = "the program was stopped before the call ended, so it may have taken effect."


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    `messages` is the whole history, never trimmed, every call answered: add a user message and run
    again. `text` is what the model said last, `stop` a key of `STOPS`, `turns` the number of turns
    taken, and `reasons` the API's own stop reason of each.
    """

    messages: list[dict[str, Any]]
    text: str
    stop: str
    turns: int
    reasons: tuple[str | None, ...] = ()
