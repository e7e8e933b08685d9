"""Who calls: key tiers and the caller that a valid key stands for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Tier(StrEnum):
    """What a key may use a day. The ledger says it; a key's prefix only shows which tier it was made for."""

    FREE = "free"
    BASIC = "basic"
    PRO = "pro"


REQUESTS_A_DAY: dict[Tier, int | None] = {Tier.FREE: 100, Tier.BASIC: 1_000, Tier.PRO: None}
"""API v2 requests a UTC day; None: any number."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Whoever sent a valid key. `owner` is a lower-case address, `local:<name>` or `profile:<id>`."""

    key_id: str
    owner: str
    tier: Tier
