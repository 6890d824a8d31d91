"""Checks for notebook 04, concise shaping."""

from workbook.checks import Verdict, exercise

TICKET = {
    "uuid": "5b0c7a52-93a1-4f0e-8d5e-6a7c1f2e9b34",
    "number": 4127,
    "title": "The printer on floor 2 prints blank pages",
    "state": "open",
    "requester": "Mai Nguyen",
    "requester_avatar": "https://example.com/avatars/81f3a0c2.png?size=256",
    "opened_at": "2026-06-28T08:40",
    "url": "https://tickets.example.com/api/v3/queues/12/tickets/4127",
    "html_description": "<div class='body'><p>Since this morning, every second page is blank.</p>"
    "</div>",
    "custom_field_10042": None,
}
"""One row of the ticket system of exercise 1."""


@exercise
def exercise_1(answer: set[str]) -> Verdict:
    """The fields that three questions need, and no others.

    Correct: each field is needed by a question, and each question finds its fields.

    Not yet: one of the names is not a field of the ticket: copy them from the table.
    """
    needed = {"number", "title", "state", "requester", "opened_at"}
    if not isinstance(answer, list | tuple | set) or not set(map(str, answer)) <= set(TICKET):
        return not isinstance(answer, str) and set(answer) == needed
    if missing := needed - set(answer):
        again = "read the three questions again."
        return False, f"{len(missing)} field(s) that a question needs are missing: {again}"
    if extra := set(answer) - needed:
        asked = "which of the three questions needs that? Leave it to the detailed view."
        return False, f"{', '.join(sorted(extra))}: {asked}"
    return True


@exercise
def exercise_2(answer: float) -> Verdict:
    """The share of questions from which detailed first is cheaper: 1 - C / D.

    Correct: C + p·D = D, so p = 1 - C/D: nearly three of four.

    Not yet: a fraction between 0 and 1 is asked: write both costs for a share p of questions (C +
    p·D against D) and find the p that makes them equal.
    """
    return 0.70 <= answer <= 0.76


@exercise
def exercise_3(answer: set[str]) -> Verdict:
    """The tools whose result is an acknowledgement.

    Correct: these three act, and the model only needs to know that it worked.

    Not yet: an acknowledgement is right for a tool that does something, not for one that is asked
    for something.
    """
    return set(answer) == {"update_order_status", "wait", "send_email"}
