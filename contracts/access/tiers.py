"""Defines the tiers of keys and the caller that a valid key identifies."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from contracts.standing import KEYS_CLAIM, SourceClass


class Tier(StrEnum):
    """The daily quota of a key. The ledger is authoritative; a key's prefix shows the tier for which it was created."""

    FREE = "free"
    BASIC = "basic"
    PRO = "pro"


class Role(StrEnum):
    """The rights of a key in addition to those of its tier. Only the operator creates keys with the role `operator`."""

    CALLER = "caller"
    OPERATOR = "operator"
    """May approve what the guardrail blocks for others, never for its own owner."""


REQUESTS_A_DAY: dict[Tier, int | None] = {Tier.FREE: 100, Tier.BASIC: 1_000, Tier.PRO: None}
"""API v2 requests per UTC day; None: unlimited."""


def quota_counter(family_id: str) -> str:
    """Returns the name of the counter for the requests of a family of keys on the current UTC day."""
    return f"key:{family_id}"


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a valid key. `owner` is a lower-case address, `local:<name>` or `profile:<id>`."""

    key_id: str
    owner: str
    tier: Tier
    role: Role = Role.CALLER
    max_class: SourceClass = KEYS_CLAIM
    """The highest class of sources that the key may claim."""
    signer: str | None = None
    """The public Ed25519 key (base64url) of the system that must sign statements of the class `signed_system`."""
    trial_ends_at: datetime | None = None
    """Time at which a trial key expires; None for every other key. `trial_plan.py` lists what a trial key may
    request."""
