"""`crm`: tasks and notes."""

from typing import Annotated

from pydantic import Field

from . import values
from .access import BadValue, NotFound, needs
from .schema import PREFIXES, PRIORITIES, TASK_STATUSES, TEAMS
from .service import Service
from .shapes import (
    Cursor,
    Day,
    Limit,
    Note,
    NotePage,
    OwnerTasks,
    Priority,
    Search,
    Task,
    TaskPage,
    TaskStatus,
    Team,
)

_HINT = "crm.list_tasks gives the ids."

TaskId = Annotated[str, Field(description="As task_100042.")]
Owner = Annotated[str, Field(description="User name of an employee, as mai.tran.")]


class Tasks(Service):
    namespace = "crm"

    @needs("crm:read")
    def list_tasks(
        self,
        status: TaskStatus | None = None,
        team: Annotated[
            Team | None, Field(description="Only tasks whose owner is in this team.")
        ] = None,
        owner: Annotated[str | None, Field(description="Only tasks of this user.")] = None,
        overdue: Annotated[
            bool, Field(description="Only open tasks that were due before today.")
        ] = False,
        due_before: Annotated[
            Day | None, Field(description="Only tasks due before this date.")
        ] = None,
        customer_id: str | None = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> TaskPage:
        """Lists tasks, the earliest due first. Filters narrow each other; total counts all that match."""  # noqa: E501 (a model reads it as it stands)
        due_before = values.day("due_before", due_before)
        where = {
            "status = ?": values.choice("status", status, TASK_STATUSES),
            "team = ?": values.choice("team", team, TEAMS),
            "owner = ?": values.optional(self.employee, owner),
            "due_on < ?": due_before,
            "customer_id = ?": values.optional(self.customer, customer_id),
            **(self.overdue() if overdue else {}),
        }
        return self.listing("tasks", where, order=["due_on"], limit=limit, cursor=cursor)

    @needs("crm:read")
    def get_task(self, task_id: TaskId) -> Task:
        """Reads one task."""
        return self.find("tasks", task_id, _HINT)

    @needs("crm:read", "crm:write")
    def create_task(
        self,
        title: str,
        owner: Owner,
        due_on: Day,
        customer_id: str | None = None,
        priority: Priority = "normal",
    ) -> Task:
        """Creates an open task for an employee, and returns it with its id."""
        row = {
            "title": values.text("title", title, 200),
            "owner": self.employee(owner),
            "customer_id": values.optional(self.customer, customer_id),
            "priority": values.choice("priority", priority, PRIORITIES),
            "status": "open",
            "due_on": values.day("due_on", due_on),
        }
        return self.insert("tasks", row)

    @needs("crm:read", "crm:write")
    def complete_task(self, task_id: TaskId) -> Task:
        """Marks a task as done. A task that was done already stays as it is."""
        self.change("tasks", task_id, {"status": "done"})
        return self.find("tasks", task_id, _HINT)

    @needs("crm:read", "crm:write")
    def reassign_task(self, task_id: TaskId, owner: Owner) -> Task:
        """Gives an open task to another employee."""
        return self._change_open(task_id, {"owner": self.employee(owner)})

    @needs("crm:read", "crm:write")
    def postpone_task(self, task_id: TaskId, due_on: Day) -> Task:
        """Gives an open task a new due date, today or later."""
        due_on = values.day("due_on", due_on)
        if due_on is None or due_on < self.today():
            raise BadValue(f"due_on is today ({self.today()}) or later.")
        return self._change_open(task_id, {"due_on": due_on})

    @needs("crm:read")
    def task_summary(
        self,
        status: TaskStatus | None = None,
        team: Team | None = None,
        overdue: Annotated[
            bool, Field(description="Only open tasks that were due before today.")
        ] = False,
    ) -> list[OwnerTasks]:
        """Counts tasks for each owner who has any that match. Says how many, not which."""
        where = {
            "status = ?": values.choice("status", status, TASK_STATUSES),
            "team = ?": values.choice("team", team, TEAMS),
            **(self.overdue() if overdue else {}),
        }
        return self.summary("task_rows", where, "owner", {"tasks": "COUNT(*)"})

    @needs("crm:read", "crm:write")
    def add_note(
        self,
        about: Annotated[
            str, Field(description="Id of the task, deal or customer that the note is about.")
        ],
        text: Annotated[str, Field(description="Up to 2,000 characters.")],
    ) -> Note:
        """Adds a note to a task, a deal or a customer. Its author is the caller."""
        row = {
            "about": self._subject(about),
            "author": self.caller.user,
            "text": values.text("text", text),
            "created_at": self.now(),
        }
        return self.insert("notes", row)

    @needs("crm:read")
    def list_notes(
        self,
        about: Annotated[
            str | None, Field(description="Only notes about this task, deal or customer (an id).")
        ] = None,
        author: Annotated[str | None, Field(description="Only notes by this user.")] = None,
        search: Search = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> NotePage:
        """Lists notes, the newest first."""
        where = {
            "about = ?": values.optional(self._subject, about),
            "author = ?": author,
            **values.containing("text", search),
        }
        return self.listing(
            "notes", where, order=["created_at"], descending=True, limit=limit, cursor=cursor
        )

    def _subject(self, key: str) -> str:
        """The id, if the tenant has a task, deal or customer with it. Raises `NotFound`."""
        for table in ("tasks", "deals", "customers"):
            if key.startswith(f"{PREFIXES[table]}_") and self.has(table, key):
                return key
        raise NotFound("task, deal or customer", key)

    def _change_open(self, task_id: str, changes: dict) -> Task:
        changed = self.change("tasks", task_id, changes, where={"status = ?": "open"})
        task = self.find("tasks", task_id, _HINT)
        if not changed:
            raise BadValue(f"{task_id} is done: only open tasks can be changed.")
        return task
