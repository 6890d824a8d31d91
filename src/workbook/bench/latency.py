"""How long a session takes when its calls run one after another, and at the same time: modelled,
never timed.
"""

from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple


class Latency(NamedTuple):
    """Modelled seconds of a session whose calls run one after another, and at the same time."""

    sequential: float
    parallel: float


def latency(
    turns: Sequence[Sequence[str]],
    *,
    model_seconds: float,
    tool_seconds: Mapping[str, float],
    at_once: int = 8,
) -> Latency:
    """How long a session would take, from declared seconds: nothing is timed, so every machine says
    the same.

    `turns` names, for each model call, the tools that its reply asks for, in order: `[["weather",
    "time"], []]` is one parallel reply and the answer; `[["weather"], ["time"], []]` asks for the
    same one by one, with a model call more. Each model call takes `model_seconds`. In parallel, at
    most `at_once` calls run, and each starts when a place is free. Assumed: calls do not slow each
    other down, and a model call takes equally long whatever it reads. Raises `ValueError` for a
    tool without seconds, or `at_once` under 1.
    """
    if at_once < 1:
        raise ValueError(f"at_once must be at least 1, got {at_once}")
    missing = sorted({name for names in turns for name in names} - set(tool_seconds))
    if missing:
        raise ValueError(f"no seconds are declared for {', '.join(missing)}")
    sequential = parallel = 0.0
    for names in turns:
        ends: list[float] = []
        for name in names:
            start = heappop(ends) if len(ends) >= at_once else 0.0
            heappush(ends, start + tool_seconds[name])
        sequential += model_seconds + sum(tool_seconds[name] for name in names)
        parallel += model_seconds + max(ends, default=0.0)
    return Latency(sequential, parallel)
