"""Whether a question about the company was answered rightly, and whether what was to be written
was, exactly once.

It looks into the tables, not at what the functions say: an answer may be wrong because a function
is.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from workbook.examples.crm.access import Caller
from workbook.examples.crm.schema import TODAY
from workbook.examples.crm.store import CrmStore

from .code_mode_questions import CUSTOMER, WEEK, Question, contact_answer, note_for, week_answer

Note = tuple[str, str, str]
"""What a note is about, its author and its text."""


def overdue_tasks(store: CrmStore, tenant: str) -> list[dict[str, Any]]:
    """The overdue tasks of the sales team, the earliest due first."""
    teams = {person["username"]: person["team"] for person in store.dump("employees", tenant)}
    late = [
        task
        for task in store.dump("tasks", tenant)
        if task["status"] == "open" and task["due_on"] < TODAY
    ]
    late = [task for task in late if teams[task["owner"]] == "sales"]
    return sorted(late, key=lambda task: (task["due_on"], task["task_id"]))


def true_answer(store: CrmStore, tenant: str, question: Question) -> str:
    """The answer to one of `QUESTIONS`, in the model's words."""
    late = overdue_tasks(store, tenant)
    if question is WEEK:
        return week_answer(Counter(task["owner"] for task in late))
    wanted = CUSTOMER if question.name == "one call" else late[0]["customer_id"]
    return contact_answer(
        next(row for row in store.dump("customers", tenant) if row["customer_id"] == wanted)
    )


def verdict(
    store: CrmStore, caller: Caller, question: Question, answer: str, notes: Sequence[Note]
) -> str:
    """ "right", or the first thing that is wrong: with the answer, or with the notes that were to
    be written.
    """
    wanted = Counter(
        (task["task_id"], caller.user, note_for(task)) for task in overdue_tasks(store, caller.tenant)
    ) if question is WEEK else Counter()  # fmt: skip
    got = Counter(notes)
    if missing := wanted - got:
        return f"{missing.total()} notes are missing"
    if more := got - wanted:
        return f"{more.total()} notes too many"
    return "right" if answer == true_answer(store, caller.tenant, question) else "a wrong answer"
