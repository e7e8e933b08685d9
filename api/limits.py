"""Rate limits as clients see them: the header fields of an answer, and the refusal above a limit. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from contracts.errors import QuotaExceeded, RateLimited, SessionLimited

if TYPE_CHECKING:
    from warehouse.ledger.counters import Take


class Counted(NamedTuple):
    """The counter that a request was counted in: a named policy of `taken.limit` requests in `window_s` seconds."""

    policy: str
    window_s: int
    taken: Take


COUNTED = "svc.counted"
"""Scope key of the `Counted` of a request that the front passed on; None if the request was not counted."""


def earliest_retry_s(scope: Mapping[str, Any]) -> int:
    """Returns the interval in seconds at which a client's budget allows the request to be repeated until the budget is
    restored: the remaining requests are spread over the rest of the window.

    A daily budget is not spread: it allows the next request at once unless it is used up.
    """
    counted: Counted | None = scope.get(COUNTED)
    if counted is None:
        return 0
    remaining, reset_s = counted.taken.remaining, counted.taken.reset_s
    if remaining <= 0:
        return reset_s
    return math.ceil(reset_s / remaining) if counted.policy == "permin" else 0


def policy_of(name: str, limit: int, window_s: int) -> str:
    """Formats a policy for RateLimit-Policy."""
    return f'"{name}";q={limit};w={window_s}'


def limit_fields(counted: Counted | None, *, policy_alone: bool = False) -> dict[str, str]:
    """Returns the header fields of the policy and of the remaining requests.

    `policy_alone` omits the latter, for answers with which a cache would show one client's counter to everyone.
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
        return QuotaExceeded(f"The limit for this key is {take.limit} requests per UTC day.", headers=wait)
    if counted.policy == "session":
        return SessionLimited(f"The limit for one session is {take.limit} requests per minute.", headers=wait)
    return RateLimited(f"The limit for one address is {take.limit} requests per minute.", headers=wait)
