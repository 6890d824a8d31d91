"""What the functions take and return, as types: stubs for the model are made from these.

Dates and amounts are `date` and `Decimal` here; the border to the model's code turns them into ISO
8601 text and numbers.
"""

import datetime as dt
from decimal import Decimal
from typing import Annotated, Literal, NotRequired, TypedDict

from pydantic import BeforeValidator, Field, WithJsonSchema

from toolresults.tools import Whole

from .store import (
    APPROVAL_KINDS,
    APPROVAL_STATUSES,
    PRIORITIES,
    REPORT_KINDS,
    SEGMENTS,
    STAGES,
    TASK_STATUSES,
    TEAMS,
)

MAX_LIMIT = 200
"""Most rows on one page, whatever is asked."""

Team = Literal[TEAMS]
Segment = Literal[SEGMENTS]
Stage = Literal[STAGES]
TaskStatus = Literal[TASK_STATUSES]
Priority = Literal[PRIORITIES]
ApprovalKind = Literal[APPROVAL_KINDS]
ApprovalStatus = Literal[APPROVAL_STATUSES]
ReportKind = Literal[REPORT_KINDS]


def to_day(value: object) -> object:
    """An ISO 8601 date as its `date`; other values as they are. Raises `ValueError` for text that
    is no date.
    """
    if not isinstance(value, str):
        return value
    try:
        return dt.date.fromisoformat(value)
    except ValueError:
        raise ValueError('use an ISO 8601 date such as "2026-03-01"') from None


Day = Annotated[dt.date, BeforeValidator(to_day)]
"""A date; text in ISO 8601 is one."""

Limit = Annotated[Whole, Field(description=f"Rows per page, 1 to {MAX_LIMIT}.")]
Cursor = Annotated[
    str | None,
    WithJsonSchema(
        {"type": "string", "description": "next_cursor of the page before, same filters."}
    ),
]
Search = Annotated[
    str | None, Field(description="Only where this text occurs; case and accents do not matter.")
]


class Page(TypedDict):
    """One page of a listing. `next_cursor` is None exactly when no rows remain."""

    total: int
    next_cursor: str | None
    note: NotRequired[str]


class Customer(TypedDict):
    customer_id: str
    name: str
    segment: Segment
    country: str
    contact: str
    email: str
    owner: str
    since: dt.date


class Task(TypedDict):
    task_id: str
    title: str
    owner: str
    team: Team
    customer_id: str | None
    customer: str | None
    priority: Priority
    status: TaskStatus
    due_on: dt.date


class TaskPage(Page):
    items: list[Task]


class Note(TypedDict):
    note_id: str
    about: str
    author: str
    text: str
    created_at: dt.datetime


class NotePage(Page):
    items: list[Note]


class Employee(TypedDict):
    username: str
    name: str
    team: Team
    title: str
    manager: str | None
    email: str
    started_on: dt.date


class EmployeePage(Page):
    items: list[Employee]


class Salary(TypedDict):
    username: str
    salary: Decimal


class Approval(TypedDict):
    approval_id: str
    kind: ApprovalKind
    requester: str
    detail: str
    amount: Decimal | None
    status: ApprovalStatus
    requested_at: dt.datetime
    decided_by: str | None


class ReportRow(TypedDict):
    """One group of a report: how many rows it has, and the total where the report adds something
    up.
    """

    group: str
    count: int
    total: Decimal | None


class ReportRun(TypedDict):
    report_id: str
    name: str
    kind: ReportKind
    rows: list[ReportRow]
