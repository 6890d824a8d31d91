"""Checks for the exercises of 03_capped_cursors."""

from toolresults.results.cursor import MAX_AGE, CursorError, Cursors

from . import say

SAFE_SORTS = {"created_at, id"}
BOUND = {"tool", "tenant", "channel", "since"}


def exercise_1(answer: object) -> None:
    """*answer* is the set of sort orders that a keyset cursor can continue without a repeat or a
    skip.
    """
    say(
        answer,
        lambda answer: set(answer) == SAFE_SORTS,
        "a creation time never changes, and the id breaks its ties.",
        "a sort key must be unique (what if two rows share it?) and must not change while someone reads on.",
    )


def exercise_2(answer: object) -> None:
    """*answer* is the set of names that the cursor of `list_messages` must be bound to."""
    say(
        answer,
        lambda answer: set(answer) == BOUND,
        "these decide which rows are listed and who may read them; the others only decide how a page looks.",
        "ask of each: if it changed between two pages, would the position mean something else, or belong to another?",
    )


def exercise_3(answer: object) -> None:
    """*answer* is {"today": […], "once old cursors have expired": […]}, the keys of the host,
    oldest first.
    """
    say(
        answer,
        lambda answer: _rotates(*answer.values()),
        "old cursors are read until they expire, new ones are signed with the new key, and then the old key goes.",
        "the last key signs and all are accepted: today both are needed, in the right order; afterwards one is enough.",
    )


def _rotates(today: list, later: list) -> bool:
    def reads(keys: list, cursor: str, now: int) -> bool:
        try:
            return Cursors(keys, clock=lambda: now).read(cursor, binding="list") == (7,)
        except CursorError:
            return False

    before = Cursors(["old"], clock=lambda: 0).sign((7,), binding="list")
    during = Cursors(today, clock=lambda: 60).sign((7,), binding="list")
    after = MAX_AGE + 60
    return (
        reads(today, before, 60)
        and reads(["new"], during, 60)
        and reads(later, during, after)
        and not reads(
            later, Cursors(["old"], clock=lambda: after).sign((7,), binding="list"), after
        )
    )
