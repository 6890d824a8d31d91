"""Checks for notebook 04, concise shaping."""

from workbook.checks import say

TICKET = {
    "uuid": "5b0c7a52-93a1-4f0e-8d5e-6a7c1f2e9b34",
    "number": 4127,
    "title": "The printer on floor 2 prints blank pages",
    "state": "open",
    "requester": "Mai Nguyen",
    "requester_avatar": "https://example.com/avatars/81f3a0c2.png?size=256",
    "opened_at": "2026-06-28T08:40",
    "url": "https://tickets.example.com/api/v3/queues/12/tickets/4127",
    "html_description": "<div class='body'><p>Since this morning, every second page is blank.</p></div>",
    "custom_field_10042": None,
}
"""One row of the ticket system of exercise 1."""

_NEEDED = {"number", "title", "state", "requester", "opened_at"}


def exercise_1(answer: object) -> None:
    """The fields that three questions need, and no others."""
    hint = "one of the names is not a field of the ticket: copy them from the table."
    if isinstance(answer, list | tuple | set) and set(map(str, answer)) <= set(TICKET):
        missing, extra = _NEEDED - set(answer), set(answer) - _NEEDED
        hint = (
            f"{len(missing)} field(s) that a question needs are missing: read the three questions again."
            if missing
            else f"{', '.join(sorted(extra))}: which of the three questions needs that? Leave it to the detailed view."
        )
    say(
        answer,
        lambda fields: not isinstance(fields, str) and set(fields) == _NEEDED,
        "each field is needed by a question, and each question finds its fields.",
        hint,
    )


def exercise_2(answer: object) -> None:
    """The share of questions from which detailed first is cheaper: 1 - C / D."""
    say(
        answer,
        lambda share: 0.70 <= share <= 0.76,
        "C + p·D = D, so p = 1 - C/D: nearly three of four.",
        "a fraction between 0 and 1 is asked: write both costs for a share p of questions (C + p·D against D) and find "
        "the p that makes them equal.",
    )


def exercise_3(answer: object) -> None:
    """The tools whose result is an acknowledgement."""
    say(
        answer,
        lambda names: (
            not isinstance(names, str)
            and set(names) == {"update_order_status", "wait", "send_email"}
        ),
        "these three act, and the model only needs to know that it worked.",
        "an acknowledgement is right for a tool that does something, not for one that is asked for something.",
    )
