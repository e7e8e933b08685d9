"""Defines what a payer is told that has a key of the plan that it buys. Pure."""

from typing import Literal

from pydantic import Field

from contracts.access.plans import PLANS_PATH
from contracts.base import Document
from contracts.publish.routes import ACCOUNT_PATH


class PlanWarning(Document):
    """Something that the payer should know."""

    code: Literal["plan_active"]
    detail: str
    links: dict[str, str] = Field(description="Where to look it up, by what is there")


def plan_active(base_url: str) -> PlanWarning:
    """Returns the warning to a payer that has a key of the same plan."""
    return PlanWarning(
        code="plan_active",
        detail="This wallet has a key of this plan that is valid. Paying issues one more key; it neither extends the "
        "first one nor replaces it. A lost key is replaced without paying, at the recovery address of its receipt.",
        links={"account": base_url + ACCOUNT_PATH, "plans": base_url + PLANS_PATH},
    )
