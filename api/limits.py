"""Rate limits for clients: the header fields of an answer, and the refusal above a limit. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from contracts.errors import QuotaExceeded, RateLimited, SessionLimited

if TYPE_CHECKING:
    from warehouse.ledger.counters import Take


class Counted(NamedTuple):
    """The counter that a request took one of: a named policy of `limit` in `window_s` seconds."""

    policy: str
    window_s: int
    taken: Take


COUNTED = "svc.counted"
"""Scope key of the `Counted` of a request that the front passed on; None where it was not counted."""


def earliest_retry_s(scope: Mapping[str, Any]) -> int:
    """Returns the seconds after which the budget of a request's client allows it to be sent again, and again after
    that until the budget is whole: what is left of it is spread over what is left of its window.

    A day is not spread: its budget allows the next request at once unless it is used up.
    """
    counted: Counted | None = scope.get(COUNTED)
    if counted is None:
        return 0
    remaining, reset_s = counted.taken.remaining, counted.taken.reset_s
    if remaining <= 0:
        return reset_s
    return math.ceil(reset_s / remaining) if counted.policy == "permin" else 0


def policy_of(name: str, limit: int, window_s: int) -> str:
    """Returns a policy as RateLimit-Policy writes it."""
    return f'"{name}";q={limit};w={window_s}'


def limit_fields(counted: Counted | None, *, policy_alone: bool = False) -> dict[str, str]:
    """Returns the header fields of the policy and the remaining requests.

    The latter are left out if a cache would show one client's counter to all.
    """
    if counted is None:
        return {}
    take = counted.taken
    policy = policy_of(counted.policy, take.limit, counted.window_s)
    if policy_alone:
        return {"RateLimit-Policy": policy}
    return {"RateLimit-Policy": policy, "RateLimit": f'"{counted.policy}";r={take.remaining};t={take.reset_s}'}


def over_limit(counted: Counted) -> RateLimited:
    """Returns the refusal of a request above its policy's limit."""
    take = counted.taken
    wait = {"Retry-After": str(take.reset_s)}
    if counted.policy == "daily":
        return QuotaExceeded(f"This key has {take.limit} requests a UTC day.", headers=wait)
    if counted.policy == "session":
        return SessionLimited(f"{take.limit} requests a minute are answered for one session.", headers=wait)
    return RateLimited(f"{take.limit} requests a minute are answered for one address.", headers=wait)
