"""Defines what documents say of trial keys: what one gets, and where."""

from pydantic import Field

from contracts.access.trial_plan import trial_plan
from contracts.base import Document

TRIAL_PATH = "/api/agent-access/trials/{address}"


class TrialOffer(Document):
    """The offer of a trial key, and where to get it."""

    id: str
    name: str
    description: str
    url: str = Field(description="With the wallet's address: GET gives a challenge, POST takes its signature")
    days: int
    requests_per_day: int = Field(description="API v2 requests a UTC day")
    private_nodes: int = Field(description="Most nodes of its own graph; none of them can be public")
    erased_after_days: int = Field(description="Days after its end until what it wrote is erased")
    operations: list[str] = Field(description="What it may ask besides reading: method and path")


def trial_offer(base_url: str) -> TrialOffer:
    plan = trial_plan()
    return TrialOffer(
        id=plan.id,
        name=plan.name,
        description=plan.description,
        url=base_url + TRIAL_PATH,
        days=plan.days,
        requests_per_day=plan.requests_per_day,
        private_nodes=plan.private_nodes,
        erased_after_days=plan.erased_after_days,
        operations=sorted(plan.operations),
    )
