"""Defines the warnings that accompany a quote or a key. Pure."""

from typing import Literal

from pydantic import Field

from contracts.access.plans import PLANS_PATH
from contracts.base import Document
from contracts.publish.routes import ACCOUNT_PATH


class PlanWarning(Document):
    """Something that the payer should know."""

    code: Literal["plan_active", "checksum_wrong"]
    detail: str
    links: dict[str, str] = Field(description="Links to further information, by relation")


def plan_active(base_url: str) -> PlanWarning:
    """Returns the warning to a payer that has a key of the same plan."""
    return PlanWarning(
        code="plan_active",
        detail="This wallet already has a valid key of this plan. Paying issues another key, which neither extends nor "
        "replaces the first. A lost key is replaced without paying, at the recovery address of its receipt.",
        links={"account": base_url + ACCOUNT_PATH, "plans": base_url + PLANS_PATH},
    )


def checksum_wrong(base_url: str, name: str) -> PlanWarning:
    """Returns the warning to a sender of an address in `name` whose capitals are not its checksum."""
    return PlanWarning(
        code="checksum_wrong",
        detail=f"The capitals of {name} are not its EIP-55 checksum, so one of its characters may be mistyped. Compare "
        "it with your wallet before paying: a transfer from another address does not pay this quote.",
        links={"plans": base_url + PLANS_PATH},
    )
