"""A model's mistakes with the week's question, in code and with plain tools, each with the turn
that mends it.

Where a mistake stops the code half-way, some notes are written already. Two models go on from
there: one runs the whole code again, and one looks first at what is there.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .code_mode_agent import by_tool, search
from .code_mode_company import Company
from .code_mode_questions import WEEK, WEEK_CODE, Dialogue, week_answer
from .code_mode_ways import Played, play

PLAIN, PYTHON, JAVASCRIPT = "all definitions", "code", "code in JavaScript"


@dataclass(frozen=True)
class Mistake:
    """A mistake in the week's question: the way in which the model works, and all that it says."""

    name: str
    way: str
    dialogue: Callable[[], Dialogue]

    def play(self, api: str, company: Company) -> Played:
        """Asks the question, with the mistake in it."""
        return play(api, company, WEEK, self.way, dialogue=self.dialogue())


def changed(language: str, *changes: tuple[str, str]) -> str:
    """The week's code with some texts replaced. Raises `ValueError` for a text that is not in
    it.
    """
    code = WEEK_CODE[language]
    for old, new in changes:
        if old not in code:
            raise ValueError(f"{old!r} is not in the code")
        code = code.replace(old, new)
    return code


NAME = ("crm.list_tasks", "crm.find_tasks")
ARGUMENT = ('"sales"', '"Sales"')

WRONG = {
    "python": {
        "a wrong name": changed("python", NAME),
        "a wrong argument": changed("python", ARGUMENT),
        "an endless loop": changed(
            "python",
            (
                "owners = {}\n",
                'owners, i = {}, 0\nwhile i < len(tasks):\n    owners[tasks[i]["owner"]] = 0\n',
            ),
        ),
    },
    "javascript": {
        "a wrong name": changed("javascript", NAME),
        "a wrong argument": changed("javascript", ARGUMENT),
        "an endless loop": changed(
            "javascript",
            (
                "owners = {};\n",
                "owners = {};\nlet i = 0;\nwhile (i < tasks.length) {\n  owners[tasks[i].owner] = 0;\n}\n",
            ),
        ),
    },
}
"""Code with a mistake in it that keeps it from writing anything."""

HALF_WAY = changed(
    "python",
    ("owners = {}\n", 'owners = {}\nurgency = {"low": 1, "normal": 2}\n'),
    ("    owners[task", '    urgent = urgency[task["priority"]] > 1\n    owners[task'),
)
"""A table without an entry for "high", read after each note is written."""

UNSEEN = changed(
    "javascript",
    ("owners = {};\n", 'owners = {};\nconst ends = {low: ".", normal: "."};\n'),
    ("${task.due_on}.`", "${task.due_on}${ends[task.priority]}`"),
)
"""The same lack in JavaScript, which raises nothing: the text of the note ends in `undefined`."""

CAREFUL = changed(
    "python",
    (
        "owners = {}\n",
        'owners = {}\nnotes = crm.list_notes(search="Follow up:", limit=200)["items"]\n'
        'done = [note["about"] for note in notes]\n',
    ),
    ("    crm.add_note(", '    if task["task_id"] not in done:\n        crm.add_note('),
)
"""The week's code for a second run: it writes only what is not there."""


def _codes(*codes: str) -> Callable[[], Dialogue]:
    """A search, then one piece of code after the other; the value of the last is the answer."""

    def dialogue() -> Dialogue:
        yield from search(WEEK)
        for code in codes:
            [ran] = yield [("execute", {"code": code})]
        return week_answer(ran["value"])

    return dialogue


def _plain(name: str, wrong: Mapping[str, Any]) -> Callable[[], Dialogue]:
    """A first call that fails, and then all as it should be."""

    def dialogue() -> Dialogue:
        yield [(name, dict(wrong))]
        return (yield from WEEK.plain(True))

    return lambda: by_tool(dialogue())


def _wrong_id() -> Dialogue:
    """One of the notes is about a task that is not there; it is written again. The others are not
    touched by that.
    """
    right = WEEK.plain(True)
    listed = yield next(right)
    (name, first), *others = right.send(listed)
    yield [(name, {**first, "about": "task_999999"}), *others]
    results = yield [(name, first)]
    try:
        right.send(results)
    except StopIteration as done:
        return done.value
    raise AssertionError("the right dialogue goes on")


MISTAKES = [
    Mistake(
        "a wrong argument", PLAIN, _plain("crm.list_tasks", {"team": "Sales", "overdue": True})
    ),
    Mistake("a wrong name", PLAIN, _plain("crm.find_tasks", {"team": "sales", "overdue": True})),
    Mistake("a wrong id in one of the notes", PLAIN, lambda: by_tool(_wrong_id())),
    *(
        Mistake(name, way, _codes(code, WEEK_CODE[language]))
        for way, language in ((PYTHON, "python"), (JAVASCRIPT, "javascript"))
        for name, code in WRONG[language].items()
    ),
    Mistake("stopped half-way, looks first", PYTHON, _codes(HALF_WAY, CAREFUL)),
    Mistake("stopped half-way, runs again", PYTHON, _codes(HALF_WAY, WEEK_CODE["python"])),
    Mistake("a missing key, unseen", JAVASCRIPT, _codes(UNSEEN)),
]
"""All but the last two leave the right notes behind."""
