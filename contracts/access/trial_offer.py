"""Defines the offer of trial keys as documents show it: its terms, and where to get one."""

from pydantic import Field

from contracts.access.trial_plan import trial_plan
from contracts.base import Document

TRIAL_PATH = "/api/agent-access/trials/{address}"


class TrialOffer(Document):
    """The offer of a trial key, and where to get it."""

    id: str
    name: str
    description: str
    url: str = Field(description="Insert the wallet's address: GET returns a challenge, POST accepts its signature")
    days: int
    requests_per_day: int = Field(description="API v2 requests per UTC day")
    private_nodes: int = Field(description="Maximum number of nodes of its own graph; none of them can be public")
    erased_after_days: int = Field(description="Days after its end until everything it wrote is erased")
    operations: list[str] = Field(description="Operations that it may request in addition to reading: method and path")


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
