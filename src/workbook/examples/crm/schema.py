"""The tables of the back end: columns, ids, choices, and the views that listings read.

Every table and view has the column `tenant`; every join compares it.
"""

from datetime import UTC, datetime

NOW = 1_782_907_200
"""The moment at which the generated data is up to date, in seconds since 1970:
2026-07-01T12:00:00Z.
"""

TODAY = datetime.fromtimestamp(NOW, UTC).date()

TEAMS = (
    "management",
    "sales",
    "support",
    "success",
    "marketing",
    "engineering",
    "finance",
    "people",
)
SEGMENTS = ("startup", "mid-market", "enterprise")
STAGES = ("lead", "qualified", "proposal", "negotiation", "won", "lost")
OPEN_STAGES = STAGES[:4]
TASK_STATUSES = ("open", "done")
PRIORITIES = ("low", "normal", "high")
APPROVAL_KINDS = ("leave", "expense", "discount", "purchase")
APPROVAL_STATUSES = ("pending", "approved", "rejected")
REPORT_KINDS = (
    "pipeline_by_stage",
    "won_by_country",
    "overdue_by_team",
    "headcount_by_team",
    "approvals_by_kind",
    "payroll_by_team",
)

TABLES = {
    "employees": {
        "username": "VARCHAR",
        "name": "VARCHAR",
        "team": "VARCHAR",
        "title": "VARCHAR",
        "manager": "VARCHAR",
        "email": "VARCHAR",
        "started_on": "DATE",
        "salary": "DECIMAL(12,2)",
    },
    "customers": {
        "customer_id": "VARCHAR",
        "name": "VARCHAR",
        "segment": "VARCHAR",
        "country": "VARCHAR",
        "contact": "VARCHAR",
        "email": "VARCHAR",
        "owner": "VARCHAR",
        "since": "DATE",
    },
    "deals": {
        "deal_id": "VARCHAR",
        "title": "VARCHAR",
        "customer_id": "VARCHAR",
        "owner": "VARCHAR",
        "stage": "VARCHAR",
        "amount": "DECIMAL(12,2)",
        "close_on": "DATE",
    },
    "tasks": {
        "task_id": "VARCHAR",
        "title": "VARCHAR",
        "owner": "VARCHAR",
        "customer_id": "VARCHAR",
        "priority": "VARCHAR",
        "status": "VARCHAR",
        "due_on": "DATE",
    },
    "notes": {
        "note_id": "VARCHAR",
        "about": "VARCHAR",
        "author": "VARCHAR",
        "text": "VARCHAR",
        "created_at": "TIMESTAMP",
    },
    "approvals": {
        "approval_id": "VARCHAR",
        "kind": "VARCHAR",
        "requester": "VARCHAR",
        "detail": "VARCHAR",
        "amount": "DECIMAL(12,2)",
        "status": "VARCHAR",
        "requested_at": "TIMESTAMP",
        "decided_by": "VARCHAR",
    },
    "reports": {
        "report_id": "VARCHAR",
        "name": "VARCHAR",
        "kind": "VARCHAR",
        "created_by": "VARCHAR",
        "created_on": "DATE",
    },
}
"""The SQL type of each column, `tenant` apart. The first column is the table's key within a
tenant.
"""

NULLABLE = ("manager", "customer_id", "amount", "decided_by")

PREFIXES = {
    "customers": "cus",
    "deals": "deal",
    "tasks": "task",
    "notes": "note",
    "approvals": "apr",
    "reports": "rep",
}
"""What the ids of each table begin with, as in `task_100042`. Employees go by user name."""

VIEWS = {
    "deal_rows": """
        SELECT d.*, c.name AS customer, c.country
        FROM deals d JOIN customers c ON c.tenant = d.tenant AND c.customer_id = d.customer_id""",
    "task_rows": """
        SELECT t.*, e.team, c.name AS customer
        FROM tasks t
        JOIN employees e ON e.tenant = t.tenant AND e.username = t.owner
        LEFT JOIN customers c ON c.tenant = t.tenant AND c.customer_id = t.customer_id""",
}
"""A deal with its customer's name and country; a task with its owner's team and its customer's
name.
"""
