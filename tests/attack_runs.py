"""Plays the attacks on one language's sandbox, a few at a time, and checks what came of each."""

import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from attacks import ANY, CANARY, LIMITS, Attack, files, functions
from toolresults.codemode.execute import open_sandbox
from toolresults.codemode.sandbox import Limits, Run
from toolresults.tokens import count_tokens, to_json

AT_ONCE = 4
"""Attacks at one time: each is a process of its own, and many do nothing but wait for their
limit.
"""

MARGIN = 2.0
"""Seconds that a run may take beyond its limit: to start a process and to end one, on two busy
cores.
"""

PATIENT = replace(LIMITS, seconds=10)

SECRETS = (
    CANARY,
    "/srv/app",
    os.getcwd(),
    sys.prefix,
    "site-packages",
    str(Path.home()) + "/",
    "Traceback",
)


@dataclass(frozen=True)
class Played:
    """What came of an attack, its wall time in seconds, and what the next run in the same sandbox
    gave.
    """

    run: Run
    seconds: float
    after: Run | None


def limits(attack: Attack) -> Limits:
    """Little time for what only time can stop, and much for the rest: a busy machine must not look
    like a limit.
    """
    by_itself = attack.error or attack.stopped and "time" not in attack.stopped
    return PATIENT if by_itself or attack.value is not ANY or attack.printed is not ANY else LIMITS


def chosen(request: pytest.FixtureRequest) -> list[Attack]:
    """The attacks of the tests in the requesting module that will run."""
    items = [
        item for item in request.session.items if getattr(item, "module", None) is request.module
    ]
    params = [item.callspec.params for item in items if hasattr(item, "callspec")]
    return [each["attack"] for each in params if "attack" in each]


@contextmanager
def under_attack(
    language: str, attacks: Sequence[Attack], after: Attack, folder: Path
) -> Iterator[Callable[[Attack], Played]]:
    """Starts all `attacks`, and gives a function that waits for one of them.

    They share two sandboxes, one for each of the limits: what one attack does to them, another
    would see. `after` runs right after each attack that was stopped or came to its end; one that
    got an error has been answered.
    """
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        patch.setenv("CANARY", CANARY)
        inside = files(folder)
        sandboxes = {
            each: stack.enter_context(
                open_sandbox(language, functions(language), limits=each, files=inside)
            )
            for each in (LIMITS, PATIENT)
        }

        def play(attack: Attack) -> Played:
            started = time.monotonic()
            run = sandboxes[limits(attack)].run(attack.code)
            seconds = time.monotonic() - started
            answered = run.error is not None and run.stopped is None
            # with much time: it tells of what was left behind, and not of speed
            return Played(run, seconds, None if answered else sandboxes[PATIENT].run(after.code))

        pool = stack.enter_context(ThreadPoolExecutor(AT_ONCE))
        stack.callback(
            pool.shutdown, cancel_futures=True
        )  # nobody waits for the rest after a test run was cut short
        futures = {attack.name: pool.submit(play, attack) for attack in attacks}
        yield lambda attack: futures[attack.name].result()
        for sandbox in sandboxes.values():
            check_after(sandbox.run(after.code), after)


def check_after(run: Run, after: Attack) -> None:
    assert (run.error, run.printed) == (None, after.printed), run


def check_held(attack: Attack, played: Played, after: Attack) -> None:
    """Held by its limit, in its time, with the outcome it names, nothing leaked, and nothing left
    behind.
    """
    run = played.run
    assert played.seconds < limits(attack).seconds + MARGIN
    text = to_json([run.printed, run.value, run.error])
    assert not [secret for secret in SECRETS if secret in text]
    assert len(run.error or "") <= 600
    assert (
        count_tokens(run.printed) + count_tokens(to_json(run.value)) <= LIMITS.output_tokens + 1
    )  # + null
    assert run.host_calls <= LIMITS.host_calls
    if attack.stopped:
        assert run.stopped in attack.stopped.split("|"), run
    elif attack.error:
        assert run.stopped is None and attack.error in (run.error or ""), run
    else:
        assert run.error is None, run
        assert attack.value is ANY or run.value == attack.value
        assert attack.printed is ANY or run.printed == attack.printed
    if played.after:
        check_after(played.after, after)
