"""Three questions about the company, from one call to 43, and what a model must do to answer each.

Nothing but results goes into an answer, a call or a piece of code, so each is as right as what the
model was shown.
"""

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .script import Made

Dialogue = Generator[Sequence[Made], list[Any], str]
"""Yields the calls of one turn, gets their results (parsed where they are JSON), and returns the
answer.
"""


@dataclass(frozen=True)
class Question:
    """A question, and what the model does about it in each way.

    `plain(at_once)` is its dialogue with plain tools. `searches` are what it looks for in a
    registry, all in one turn, and `needs` the functions that it must find so. `code` is what it
    runs, by language, and `answer(value)` what it then says of the code's value.
    """

    name: str
    text: str
    plain: Callable[[bool], Dialogue]
    searches: tuple[str, ...]
    needs: tuple[str, ...]
    code: Mapping[str, str]
    answer: Callable[[Any], str]


def note_for(task: Mapping[str, Any]) -> str:
    """The follow-up note on an overdue task."""
    return f"Follow up: {task['title']} was due on {task['due_on']}."


def week_answer(owners: Mapping[str, int]) -> str:
    """The answer to the week's question, from the number of overdue tasks of each owner."""
    most = sorted(owners.items(), key=lambda pair: (-pair[1], pair[0]))
    said = ", ".join(f"{owner} {n}" for owner, n in most)
    return f"{sum(owners.values())} sales tasks are overdue ({said}). Each has a follow-up note."


def _week(at_once: bool) -> Dialogue:
    tasks, cursor = [], {}
    while cursor is not None:
        [page] = yield [
            ("crm.list_tasks", {"team": "sales", "overdue": True, "limit": 200, **cursor})
        ]
        tasks += page["items"]
        cursor = {"cursor": page["next_cursor"]} if page["next_cursor"] else None
    notes = [("crm.add_note", {"about": task["task_id"], "text": note_for(task)}) for task in tasks]
    turns = [notes] if at_once else [[note] for note in notes]
    while turns:
        yield turns.pop(0)
    return week_answer(Counter(task["owner"] for task in tasks))


WEEK_CODE = {
    "python": """\
tasks, cursor = [], None
while True:
    page = crm.list_tasks(team="sales", overdue=True, limit=200, cursor=cursor)
    tasks += page["items"]
    cursor = page["next_cursor"]
    if cursor is None:
        break
owners = {}
for task in tasks:
    crm.add_note(task["task_id"], f"Follow up: {task['title']} was due on {task['due_on']}.")
    owners[task["owner"]] = owners.get(task["owner"], 0) + 1
owners
""",
    "javascript": """\
const tasks = [];
let cursor = null;
do {
  const page = await crm.list_tasks({team: "sales", overdue: true, limit: 200, cursor});
  tasks.push(...page.items);
  cursor = page.next_cursor;
} while (cursor !== null);
const owners = {};
for (const task of tasks) {
  await crm.add_note({about: task.task_id, text: `Follow up: ${task.title} was due on ${task.due_on}.`});
  owners[task.owner] = (owners[task.owner] ?? 0) + 1;
}
return owners;
""",
}

CUSTOMER = "cus_100007"


def contact_answer(customer: Mapping[str, Any]) -> str:
    """Who the contact at a customer is, and their address."""
    return f"The contact at {customer['name']} is {customer['contact']} ({customer['email']})."


def _contact(at_once: bool) -> Dialogue:
    [customer] = yield [("crm.get_customer", {"customer_id": CUSTOMER})]
    return contact_answer(customer)


def _oldest(at_once: bool) -> Dialogue:
    [page] = yield [("crm.list_tasks", {"team": "sales", "overdue": True, "limit": 1})]
    [customer] = yield [("crm.get_customer", {"customer_id": page["items"][0]["customer_id"]})]
    return contact_answer(customer)


QUESTIONS = {
    question.name: question
    for question in (
        Question(
            "one call",
            f"Who is our contact at {CUSTOMER}, and what is the e-mail address?",
            _contact,
            ("contact and e-mail address of a customer",),
            ("crm.get_customer",),
            {
                "python": f'crm.get_customer("{CUSTOMER}")\n',
                "javascript": f'return await crm.get_customer({{customer_id: "{CUSTOMER}"}});\n',
            },
            contact_answer,
        ),
        Question(
            "two calls in a row",
            "Whom should I call about the sales task that is overdue for longest? I need the e-mail address too.",
            _oldest,
            ("overdue tasks of a team", "contact and e-mail address of a customer"),
            ("crm.list_tasks", "crm.get_customer"),
            {
                "python": """\
task = crm.list_tasks(team="sales", overdue=True, limit=1)["items"][0]
crm.get_customer(task["customer_id"])
""",
                "javascript": """\
const page = await crm.list_tasks({team: "sales", overdue: true, limit: 1});
return await crm.get_customer({customer_id: page.items[0].customer_id});
""",
            },
            contact_answer,
        ),
        Question(
            "43 calls",
            "Which sales tasks are overdue, by owner? Write a follow-up note on each of them.",
            _week,
            ("overdue tasks of a team", "add a note to a task"),
            ("crm.list_tasks", "crm.add_note"),
            WEEK_CODE,
            week_answer,
        ),
    )
}
"""By name: how many calls each takes with plain tools."""

WEEK = QUESTIONS["43 calls"]
