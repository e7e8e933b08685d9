"""Loads the plan of trial keys from `trial.yaml`, and decides what a caller may request and how often."""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

import msgspec

from contracts.access.tiers import REQUESTS_A_DAY, Caller, Tier

TRIAL_FILE = Path(__file__).with_name("trial.yaml")


@dataclass(frozen=True, slots=True)
class TrialPlan:
    """The limits of a trial key. `operations`: method and path of each allowed request other than GET."""

    id: str
    name: str
    description: str
    tier: Tier
    days: int
    requests_per_day: int
    private_nodes: int
    erased_after_days: int
    wallet_days: int
    keys_per_network: int
    operations: frozenset[str]

    def includes(self, operation: str) -> bool:
        """Decides whether a trial key may request an operation, such as `GET /api/v2/world-model/live`."""
        return operation.startswith("GET ") or operation in self.operations


@cache
def trial_plan() -> TrialPlan:
    # Imported here because every start of the API imports this module, and few need the plan immediately.
    import yaml

    return msgspec.convert(yaml.load(TRIAL_FILE.read_text(), yaml.CSafeLoader), TrialPlan)


def requests_a_day(tier: Tier, trial_ends_at: datetime | None) -> int | None:
    """Returns a key's API v2 requests per UTC day; None: unlimited. Only a trial key has `trial_ends_at`."""
    return REQUESTS_A_DAY[tier] if trial_ends_at is None else trial_plan().requests_per_day


def may_ask(caller: Caller, operation: str) -> bool:
    """Decides whether a caller's key includes an operation. All keys include every operation, except trial keys."""
    return caller.trial_ends_at is None or trial_plan().includes(operation)
