"""`reports`: questions that were saved to be asked again. A report is run with the rights of who
runs it.

Nothing of an answer is saved: what a report shows is read when it is run, after the scopes of what
it reads were looked at, so that a report saved by somebody with more rights opens nothing.
"""

from typing import Annotated

from pydantic import Field

from . import values
from .access import Refused, needs, require
from .schema import REPORT_KINDS
from .service import Service
from .shapes import Cursor, Limit, Report, ReportKind, ReportPage, ReportRun

READS = {
    "pipeline_by_stage": ("crm:read",),
    "won_by_country": ("crm:read",),
    "overdue_by_team": ("crm:read",),
    "headcount_by_team": ("hr:read",),
    "approvals_by_kind": ("hr:read",),
    "payroll_by_team": ("hr:read", "hr:salary"),
}
"""The scopes that running a report of each kind needs, `reports:read` apart."""

_NONE = "CAST(NULL AS DECIMAL(38,2))"
_QUERIES = {
    "pipeline_by_stage": ("deals", "stage", "SUM(amount)", {}),
    "won_by_country": ("deal_rows", "country", "SUM(amount)", {"stage = ?": "won"}),
    "overdue_by_team": ("task_rows", "team", _NONE, {}),
    "headcount_by_team": ("employees", "team", _NONE, {}),
    "approvals_by_kind": ("approvals", "kind", "SUM(amount)", {}),
    "payroll_by_team": ("employees", "team", "SUM(salary)", {}),
}
"""Where each kind reads, what it groups by, what it adds up, and what must hold."""

_HINT = "reports.list_reports gives the ids."

ReportId = Annotated[str, Field(description="As rep_100042.")]


class Reports(Service):
    namespace = "reports"

    @needs("reports:read")
    def list_reports(
        self, kind: ReportKind | None = None, limit: Limit = 50, cursor: Cursor = None
    ) -> ReportPage:
        """Lists saved reports, the newest first."""
        where = {"kind = ?": values.choice("kind", kind, REPORT_KINDS)}
        return self.listing(
            "reports", where, order=["created_on"], descending=True, limit=limit, cursor=cursor
        )

    @needs("reports:read")
    def run_report(self, report_id: ReportId) -> ReportRun:
        """Runs a saved report on the data of this moment. Also needs the scopes of what the report reads."""  # noqa: E501 (a model reads it as it stands)
        report = self.find("reports", report_id, _HINT)
        kind = report["kind"]
        require(self.caller, READS[kind], f"A report of the kind {kind}")
        source, by, total, where = _QUERIES[kind]
        if kind == "overdue_by_team":
            where = self.overdue()
        measures = {"count": "COUNT(*)", "total": f"CAST({total} AS DECIMAL(38,2))"}
        rows = self.summary(source, where, by, measures)
        rows = [{"group": row[by], "count": row["count"], "total": row["total"]} for row in rows]
        return {"report_id": report_id, "name": report["name"], "kind": kind, "rows": rows}

    @needs("reports:read", "reports:write")
    def save_report(self, name: str, kind: ReportKind) -> Report:
        """Saves a report under a name, in the caller's name, and returns it with its id."""
        row = {
            "name": values.text("name", name, 100),
            "kind": values.choice("kind", kind, REPORT_KINDS),
            "created_by": self.caller.user,
            "created_on": self.today(),
        }
        return self.insert("reports", row)

    @needs("reports:read", "reports:write")
    def delete_report(self, report_id: ReportId) -> Report:
        """Deletes a report that the caller saved, and returns what was deleted."""
        report = self.find("reports", report_id, _HINT)
        if report["created_by"] != self.caller.user:
            raise Refused(
                f"{report_id} was saved by {report['created_by']}: only they can delete it."
            )
        self.store.delete(self.caller.tenant, "reports", {"report_id = ?": report_id})
        return report
