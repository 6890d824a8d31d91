"""Checks for the exercises of 03_capped_cursors."""

from toolresults.results.cursor import MAX_AGE, CursorError, Cursors
from workbook.checks import Verdict, exercise


@exercise
def exercise_1(answer: set[str]) -> Verdict:
    """*answer* is the set of sort orders that a keyset cursor can continue without a repeat or a
    skip.

    Correct: a creation time never changes, and the id breaks its ties.

    Not yet: a sort key must be unique (what if two rows share it?) and must not change while
    someone reads on.
    """
    return set(answer) == {"created_at, id"}


@exercise
def exercise_2(answer: set[str]) -> Verdict:
    """*answer* is the set of names that the cursor of `list_messages` must be bound to.

    Correct: these decide which rows are listed and who may read them; the others only decide how a
    page looks.

    Not yet: ask of each: if it changed between two pages, would the position mean something else,
    or belong to another?
    """
    return set(answer) == {"tool", "tenant", "channel", "since"}


@exercise
def exercise_3(answer: dict[str, list[str]]) -> Verdict:
    """*answer* is {"today": […], "once old cursors have expired": […]}, the keys of the host,
    oldest first.

    Correct: old cursors are read until they expire, new ones are signed with the new key, and then
    the old key goes.

    Not yet: the last key signs and all are accepted: today both are needed, in the right order;
    afterwards one is enough.
    """
    today, later = answer.values()
    after = MAX_AGE + 60
    during = _signed(today, 60)
    return (
        _reads(today, _signed(["old"], 0), 60)
        and _reads(["new"], during, 60)
        and _reads(later, during, after)
        and not _reads(later, _signed(["old"], after), after)
    )


def _signed(keys: list[str], now: int) -> str:
    return Cursors(keys, clock=lambda: now).sign((7,), binding="list")


def _reads(keys: list[str], cursor: str, now: int) -> bool:
    try:
        return Cursors(keys, clock=lambda: now).read(cursor, binding="list") == (7,)
    except CursorError:
        return False
