"""`hr`: employees, teams, salaries, and what people ask for."""

from typing import Annotated, Literal

from pydantic import Field

from . import values
from .access import BadValue, Refused, needs
from .schema import APPROVAL_KINDS, APPROVAL_STATUSES, TEAMS
from .service import Service
from .shapes import (
    Approval,
    ApprovalKind,
    ApprovalPage,
    ApprovalStatus,
    ChartRow,
    Cursor,
    Day,
    Employee,
    EmployeePage,
    Limit,
    Salary,
    Search,
    Team,
    TeamPay,
    TeamSize,
)

_HINT = "hr.list_employees gives the user names."
_MAX_DAYS = 60
_DECISIONS = ("approved", "rejected")

Username = Annotated[str, Field(description="As mai.tran.")]


class People(Service):
    namespace = "hr"

    @needs("hr:read")
    def list_employees(
        self,
        team: Team | None = None,
        search: Search = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> EmployeePage:
        """Lists employees by user name, with team, title and manager. `search` looks at their names."""  # noqa: E501 (a model reads it as it stands)
        where = {
            "team = ?": values.choice("team", team, TEAMS),
            **values.containing("name", search),
        }
        return self.listing("employees", where, limit=limit, cursor=cursor)

    @needs("hr:read")
    def get_employee(self, username: Username) -> Employee:
        """Reads one employee: name, team, title, manager and e-mail address."""
        return self.find("employees", username, _HINT)

    @needs("hr:read")
    def list_teams(self) -> list[TeamSize]:
        """Lists the teams, with the number of employees in each."""
        return self.summary("employees", {}, "team", {"employees": "COUNT(*)"})

    @needs("hr:read")
    def org_chart(
        self,
        username: Annotated[
            str | None, Field(description="Whose people; the managing director's if left out.")
        ] = None,
        levels: Annotated[
            Literal[1, 2], Field(description="How many levels below that person.")
        ] = 1,
    ) -> list[ChartRow]:
        """Shows who reports to whom, from one person down."""
        if levels not in (1, 2):
            raise BadValue("levels is 1 or 2.")
        top = (
            "management"
            if username is None
            else self.find("employees", username, _HINT)["username"]
        )
        rows = self._below({"team = ?" if username is None else "username = ?": top}, 0)
        for level in range(1, levels + 1):
            bosses = [row["username"] for row in rows if row["level"] == level - 1]
            rows += [row for boss in bosses for row in self._below({"manager = ?": boss}, level)]
        return rows

    @needs("hr:read", "hr:salary")
    def get_salary(self, username: Username) -> Salary:
        """Reads an employee's salary, in euros a year."""
        self.find("employees", username, _HINT)
        return self.store.get(
            self.caller.tenant, "employees", {"username = ?": username}, ["username", "salary"]
        )

    @needs("hr:read", "hr:salary")
    def payroll_summary(self) -> list[TeamPay]:
        """Adds up the salaries of each team, in euros a year."""
        total = "CAST(SUM(salary) AS DECIMAL(38,2))"
        average = "CAST(SUM(salary) / COUNT(*) AS DECIMAL(38,2))"
        measures = {"employees": "COUNT(*)", "total": total, "average": average}
        return self.summary("employees", {}, "team", measures)

    @needs("hr:read")
    def list_approvals(
        self,
        status: ApprovalStatus | None = None,
        kind: ApprovalKind | None = None,
        requester: Annotated[
            str | None, Field(description="Only what this user asked for.")
        ] = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> ApprovalPage:
        """Lists what employees asked for (leave, expenses, discounts, purchases), the newest first."""  # noqa: E501 (a model reads it as it stands)
        where = {
            "status = ?": values.choice("status", status, APPROVAL_STATUSES),
            "kind = ?": values.choice("kind", kind, APPROVAL_KINDS),
            "requester = ?": requester,
        }
        return self.listing(
            "approvals", where, order=["requested_at"], descending=True, limit=limit, cursor=cursor
        )

    @needs("hr:read", "hr:approve")
    def decide_approval(
        self,
        approval_id: Annotated[str, Field(description="As apr_100042.")],
        decision: Literal[_DECISIONS],
    ) -> Approval:
        """Approves or rejects a pending request in the caller's name. Nobody decides a request of their own."""  # noqa: E501 (a model reads it as it stands)
        values.choice("decision", decision, _DECISIONS)
        hint = "hr.list_approvals gives the ids."
        if self.find("approvals", approval_id, hint)["requester"] == self.caller.user:
            raise Refused(
                f"{approval_id} is the caller's own request: somebody else must decide it."
            )
        changes = {"status": decision, "decided_by": self.caller.user}
        decided = self.change("approvals", approval_id, changes, where={"status = ?": "pending"})
        approval = self.find("approvals", approval_id, hint)
        if not decided:
            raise BadValue(
                f"{approval_id} was decided before: {approval['status']} by {approval['decided_by']}."
            )
        return approval

    @needs("hr:request")
    def request_leave(self, first_day: Day, last_day: Day, reason: str = "Leave") -> Approval:
        """Asks for leave in the caller's own name, for up to 60 days. It is pending until somebody decides."""  # noqa: E501 (a model reads it as it stands)
        first, last = values.day("first_day", first_day), values.day("last_day", last_day)
        if (
            first is None
            or last is None
            or not self.today() <= first <= last
            or (last - first).days >= _MAX_DAYS
        ):
            raise BadValue(
                f"Leave begins today ({self.today()}) or later, and lasts 1 to {_MAX_DAYS} days."
            )
        row = {
            "kind": "leave",
            "requester": self.caller.user,
            "detail": f"{first} to {last}: {values.text('reason', reason, 200)}",
            "amount": None,
            "status": "pending",
            "requested_at": self.now(),
            "decided_by": None,
        }
        return self.insert("approvals", row)

    def _below(self, where: dict, level: int) -> list[dict]:
        columns = ("username", "name", "title", "manager")
        _, rows = self.store.page(
            self.caller.tenant, "employees", where, columns, order=["username"], limit=1_000
        )
        return [{"level": level, **row} for row in rows]
