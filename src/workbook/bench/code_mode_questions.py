"""Three questions about the company, from one call to 43: what a scripted model says to answer each
in every way, the mistakes that it may make, and whether its answer is right.

Nothing but results goes into an answer, a call or a piece of code, so each is as right as what the
model was shown.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from workbook.examples.crm.store import TODAY

from .code_mode_company import CALLER, Company, Note, tool_name
from .harness import Dialogue, Made


@dataclass(frozen=True)
class Question:
    """A question, and what the model does about it in each way.

    `plain()` is its dialogue with a tool for every function. `searches` are what it looks for in a
    registry, all in one turn, and `needs` the functions that it must find so. `code` is what it
    runs, by language, and `answer(value)` what it then says of the code's value.
    """

    name: str
    text: str
    plain: Callable[..., Dialogue]
    searches: tuple[str, ...]
    needs: tuple[str, ...]
    code: Mapping[str, str]
    answer: Callable[[Any], str]

    def found(self) -> Dialogue:
        """With tools whose definitions are found first."""
        results = yield [("find_tools", {"query": text}) for text in self.searches]
        must_show(results, map(tool_name, self.needs))
        return (yield from self.plain())

    def ready_made(self) -> Dialogue:
        """With one tool that was made for the week's question."""
        [owners] = yield [("follow_up_overdue", {"team": "sales"})]
        return self.answer(owners)

    def coded(
        self, language: str = "python", *codes: str, looks: Sequence[str] = ("full",)
    ) -> Dialogue:
        """With `search` and `execute`: a search in each detail of `looks`, then one piece of code
        after the other, its own unless some are given. The value of the last is the answer.
        """
        for detail in looks:
            asked = [{"query": text, "detail": detail} for text in self.searches]
            results = yield [("search", arguments) for arguments in asked]
            must_show(results, (path.partition(".")[2] for path in self.needs))
        for code in codes or [self.code[language]]:
            [ran] = yield [("execute", {"code": code})]
        return self.answer(ran["value"])


def must_show(results: Sequence[Any], names: Iterable[str]) -> None:
    """Raises `LookupError` for a name that the results do not show: the model could not have used
    it.
    """
    text = str(results)
    if hidden := [name for name in names if name not in text]:
        raise LookupError(f"the search did not find {', '.join(hidden)}")


_CUSTOMER = "cus_100007"


def _contact() -> Dialogue:
    [customer] = yield [("crm_get_customer", {"customer_id": _CUSTOMER})]
    return _contact_answer(customer)


def _oldest() -> Dialogue:
    [page] = yield [("crm_list_tasks", {"team": "sales", "overdue": True, "limit": 1})]
    [customer] = yield [("crm_get_customer", {"customer_id": page["items"][0]["customer_id"]})]
    return _contact_answer(customer)


def _contact_answer(customer: Mapping[str, Any]) -> str:
    """Who the contact at a customer is, and their address."""
    return f"The contact at {customer['name']} is {customer['contact']} ({customer['email']})."


def _week(at_once: bool = True) -> Dialogue:
    tasks = yield from _overdue()
    turns = [_notes(tasks)] if at_once else [[note] for note in _notes(tasks)]
    while turns:
        yield turns.pop(0)
    return _week_answer(_owners(tasks))


def _overdue() -> Dialogue:
    """The overdue tasks, page by page."""
    tasks, asked = [], {"team": "sales", "overdue": True, "limit": 200}
    while True:
        [page] = yield [("crm_list_tasks", asked)]
        tasks += page["items"]
        if not page["next_cursor"]:
            return tasks
        asked = {**asked, "cursor": page["next_cursor"]}


def _notes(tasks: Iterable[Mapping[str, Any]]) -> list[Made]:
    return [("crm_add_note", {"about": task["task_id"], "text": _note_for(task)}) for task in tasks]


def _note_for(task: Mapping[str, Any]) -> str:
    """The follow-up note on an overdue task."""
    return f"Follow up: {task['title']} was due on {task['due_on']}."


def _owners(tasks: Iterable[Mapping[str, Any]]) -> Counter[str]:
    return Counter(task["owner"] for task in tasks)


def _week_answer(owners: Mapping[str, int]) -> str:
    """The answer to the week's question, from the number of overdue tasks of each owner."""
    most = sorted(owners.items(), key=lambda pair: (-pair[1], pair[0]))
    said = ", ".join(f"{owner} {n}" for owner, n in most)
    return f"{sum(owners.values())} sales tasks are overdue ({said}). Each has a follow-up note."


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
  await crm.add_note({about: task.task_id, text: \
`Follow up: ${task.title} was due on ${task.due_on}.`});
  owners[task.owner] = (owners[task.owner] ?? 0) + 1;
}
return owners;
""",
}

_QUESTIONS = (
    Question(
        "one call",
        f"Who is our contact at {_CUSTOMER}, and what is the e-mail address?",
        _contact,
        ("contact and e-mail address of a customer",),
        ("crm.get_customer",),
        {
            "python": f'crm.get_customer("{_CUSTOMER}")\n',
            "javascript": f'return await crm.get_customer({{customer_id: "{_CUSTOMER}"}});\n',
        },
        _contact_answer,
    ),
    Question(
        "two calls in a row",
        "Whom should I call about the sales task that is overdue for longest? "
        "I need the e-mail address too.",
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
        _contact_answer,
    ),
    Question(
        "43 calls",
        "Which sales tasks are overdue, by owner? Write a follow-up note on each of them.",
        _week,
        ("overdue tasks of a team", "add a note to a task"),
        ("crm.list_tasks", "crm.add_note"),
        WEEK_CODE,
        _week_answer,
    ),
)

QUESTIONS = {question.name: question for question in _QUESTIONS}
"""By name: how many calls each takes with plain tools."""

WEEK = QUESTIONS["43 calls"]


def verdict(company: Company, question: Question, answer: str, notes: Sequence[Note]) -> str:
    """ "right", or the first thing that is wrong: with the notes that were to be written, each
    exactly once, or with the answer.

    It looks into the tables, not at what the functions say: an answer may be wrong because a
    function is.
    """
    late = overdue_tasks(company) if question is WEEK else []
    wanted = Counter((task["task_id"], CALLER.user, _note_for(task)) for task in late)
    got = Counter(notes)
    if missing := wanted - got:
        return f"{missing.total()} notes are missing"
    if more := got - wanted:
        return f"{more.total()} notes too many"
    return "right" if answer == true_answer(company, question) else "a wrong answer"


def true_answer(company: Company, question: Question) -> str:
    """The answer to one of `QUESTIONS`, in the model's words."""
    late = overdue_tasks(company)
    if question is WEEK:
        return _week_answer(_owners(late))
    wanted = _CUSTOMER if question.name == "one call" else late[0]["customer_id"]
    customers = {row["customer_id"]: row for row in company.rows("customers")}
    return _contact_answer(customers[wanted])


def overdue_tasks(company: Company) -> list[dict[str, Any]]:
    """The overdue tasks of the sales team, the earliest due first."""
    teams = {person["username"]: person["team"] for person in company.rows("employees")}
    late = [
        task
        for task in company.rows("tasks")
        if task["status"] == "open" and task["due_on"] < TODAY and teams[task["owner"]] == "sales"
    ]
    return sorted(late, key=lambda task: (task["due_on"], task["task_id"]))


# A model's mistakes with the week's question, each with the turn that mends it. Where a mistake
# stops the code half-way, some notes are written already. Two models go on from there: one runs the
# whole code again, and one looks first at what is there.


def _changed(language: str, *changes: tuple[str, str]) -> str:
    """The week's code with some texts, all of which must be in it, replaced."""
    code = WEEK_CODE[language]
    for old, new in changes:
        assert old in code, old
        code = code.replace(old, new)
    return code


_ENDLESS = {
    "python": (
        "owners = {}\n",
        'owners, i = {}, 0\nwhile i < len(tasks):\n    owners[tasks[i]["owner"]] = 0\n',
    ),
    "javascript": (
        "owners = {};\n",
        "owners = {};\nlet i = 0;\nwhile (i < tasks.length) {\n  owners[tasks[i].owner] = 0;\n}\n",
    ),
}

WRONG = {
    language: {
        "a wrong name": _changed(language, ("crm.list_tasks", "crm.find_tasks")),
        "a wrong argument": _changed(language, ('"sales"', '"Sales"')),
        "an endless loop": _changed(language, endless),
    }
    for language, endless in _ENDLESS.items()
}
"""Code with a mistake in it that keeps it from writing anything."""

HALF_WAY = _changed(
    "python",
    ("owners = {}\n", 'owners = {}\nurgency = {"low": 1, "normal": 2}\n'),
    ("    owners[task", '    urgent = urgency[task["priority"]] > 1\n    owners[task'),
)
"""A table without an entry for "high", read after each note is written."""

UNSEEN = _changed(
    "javascript",
    ("owners = {};\n", 'owners = {};\nconst ends = {low: ".", normal: "."};\n'),
    ("${task.due_on}.`", "${task.due_on}${ends[task.priority]}`"),
)
"""The same lack in JavaScript, which raises nothing: the text of the note ends in `undefined`."""

CAREFUL = _changed(
    "python",
    (
        "owners = {}\n",
        'owners = {}\nnotes = crm.list_notes(search="Follow up:", limit=200)["items"]\n'
        'done = [note["about"] for note in notes]\n',
    ),
    ("    crm.add_note(", '    if task["task_id"] not in done:\n        crm.add_note('),
)
"""The week's code for a second run: it writes only what is not there."""


def _fails_first(name: str, team: str) -> Dialogue:
    """A first call that fails, and then all as it should be."""
    yield [(name, {"team": team, "overdue": True})]
    return (yield from WEEK.plain())


def _wrong_id() -> Dialogue:
    """One of the notes is about a task that is not there; it is written again. The others are not
    touched by that.
    """
    tasks = yield from _overdue()
    (name, first), *others = _notes(tasks)
    yield [(name, {**first, "about": "task_999999"}), *others]
    yield [(name, first)]
    return _week_answer(_owners(tasks))


_PLAIN, _PYTHON, _JAVASCRIPT = "all definitions", "code", "code in JavaScript"

MISTAKES: dict[tuple[str, str], Callable[[], Dialogue]] = {
    (_PLAIN, "a wrong argument"): partial(_fails_first, "crm_list_tasks", "Sales"),
    (_PLAIN, "a wrong name"): partial(_fails_first, "crm_find_tasks", "sales"),
    (_PLAIN, "a wrong id in one of the notes"): _wrong_id,
    **{
        (way, name): partial(WEEK.coded, language, code, WEEK_CODE[language])
        for way, language in ((_PYTHON, "python"), (_JAVASCRIPT, "javascript"))
        for name, code in WRONG[language].items()
    },
    (_PYTHON, "stopped half-way, looks first"): partial(WEEK.coded, "python", HALF_WAY, CAREFUL),
    (_PYTHON, "stopped half-way, runs again"): partial(
        WEEK.coded, "python", HALF_WAY, WEEK_CODE["python"]
    ),
    (_JAVASCRIPT, "a missing key, unseen"): partial(WEEK.coded, "javascript", UNSEEN),
}
"""All that the model says, by the way in which it works and the mistake that it makes. All but the
last two leave the right notes behind."""
