"""`crm`: customers and deals."""

from typing import Annotated

from pydantic import Field

from toolresults.tools import Number

from . import values
from .access import BadValue, needs
from .schema import OPEN_STAGES, SEGMENTS, STAGES
from .service import Service
from .shapes import (
    Cursor,
    Customer,
    CustomerPage,
    Day,
    Deal,
    DealPage,
    Limit,
    Search,
    Segment,
    Stage,
    StageTotal,
)

_CUSTOMERS, _DEALS = "crm.list_customers gives the ids.", "crm.list_deals gives the ids."

CustomerId = Annotated[str, Field(description="As cus_100042.")]
DealId = Annotated[str, Field(description="As deal_100042.")]


class Sales(Service):
    namespace = "crm"

    @needs("crm:read")
    def list_customers(
        self,
        segment: Segment | None = None,
        country: Annotated[str | None, Field(description="As Vietnam; the English name.")] = None,
        owner: Annotated[
            str | None, Field(description="Only customers whom this user looks after.")
        ] = None,
        search: Search = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> CustomerPage:
        """Lists customers, the longest known first. `search` looks at their names."""
        where = {
            "segment = ?": values.choice("segment", segment, SEGMENTS),
            "lower(country) = lower(?)": country,
            "owner = ?": values.optional(self.employee, owner),
            **values.containing("name", search),
        }
        return self.listing("customers", where, order=["since"], limit=limit, cursor=cursor)

    @needs("crm:read")
    def get_customer(self, customer_id: CustomerId) -> Customer:
        """Reads one customer, with the contact's name and e-mail address."""
        return self.find("customers", customer_id, _CUSTOMERS)

    @needs("crm:read", "crm:write")
    def update_customer(
        self,
        customer_id: CustomerId,
        segment: Segment | None = None,
        contact: str | None = None,
        email: str | None = None,
        owner: str | None = None,
    ) -> Customer:
        """Changes a customer's segment, contact, e-mail address or owner; what is left out stays."""  # noqa: E501 (a model reads it as it stands)
        given = {
            "segment": values.choice("segment", segment, SEGMENTS),
            "contact": values.optional(lambda value: values.text("contact", value, 100), contact),
            "email": values.optional(_address, email),
            "owner": values.optional(self.employee, owner),
        }
        changes = {name: value for name, value in given.items() if value is not None}
        if not changes:
            raise BadValue(f"Nothing to change: give {', '.join(given)}.")
        self.change("customers", customer_id, changes)
        return self.find("customers", customer_id, _CUSTOMERS)

    @needs("crm:read")
    def list_deals(
        self,
        stage: Stage | None = None,
        owner: Annotated[str | None, Field(description="Only deals of this user.")] = None,
        customer_id: str | None = None,
        min_amount: Number | None = None,
        closing_before: Annotated[
            Day | None, Field(description="Only deals that close before this date.")
        ] = None,
        limit: Limit = 50,
        cursor: Cursor = None,
    ) -> DealPage:
        """Lists deals, those that close first (or closed longest ago) first."""
        closing_before, least = (
            values.day("closing_before", closing_before),
            values.amount("min_amount", min_amount),
        )
        where = {
            "stage = ?": values.choice("stage", stage, STAGES),
            "owner = ?": values.optional(self.employee, owner),
            "customer_id = ?": values.optional(self.customer, customer_id),
            "amount >= ?": least,
            "close_on < ?": closing_before,
        }
        return self.listing("deals", where, order=["close_on"], limit=limit, cursor=cursor)

    @needs("crm:read")
    def get_deal(self, deal_id: DealId) -> Deal:
        """Reads one deal."""
        return self.find("deals", deal_id, _DEALS)

    @needs("crm:read", "crm:write")
    def create_deal(
        self, title: str, customer_id: CustomerId, owner: str, amount: Number, close_on: Day
    ) -> Deal:
        """Creates a deal in the stage lead, and returns it with its id."""
        row = {
            "title": values.text("title", title, 200),
            "customer_id": self.customer(customer_id),
            "owner": self.employee(owner),
            "stage": "lead",
            "amount": values.amount("amount", amount),
            "close_on": values.day("close_on", close_on),
        }
        return self.insert("deals", row)

    @needs("crm:read", "crm:write")
    def move_deal(self, deal_id: DealId, stage: Stage) -> Deal:
        """Moves an open deal to another stage. A deal that was won or lost cannot be moved."""
        values.choice("stage", stage, STAGES)
        still_open = {"list_contains(CAST(? AS VARCHAR[]), stage)": list(OPEN_STAGES)}
        moved = self.change("deals", deal_id, {"stage": stage}, where=still_open)
        deal = self.find("deals", deal_id, _DEALS)
        if not moved:
            raise BadValue(f"{deal_id} is closed ({deal['stage']}) and cannot be moved.")
        return deal

    @needs("crm:read")
    def pipeline_summary(self, owner: str | None = None) -> list[StageTotal]:
        """Counts deals and adds up their amounts for each stage."""
        where = {"owner = ?": values.optional(self.employee, owner)}
        measures = {"deals": "COUNT(*)", "amount": "CAST(SUM(amount) AS DECIMAL(38,2))"}
        rows = self.summary("deals", where, "stage", measures)
        return sorted(rows, key=lambda row: STAGES.index(row["stage"]))


def _address(value: str) -> str:
    value = values.text("email", value, 200)
    if "@" not in value or " " in value:
        raise BadValue("email is an address such as mai@example.com.")
    return value
