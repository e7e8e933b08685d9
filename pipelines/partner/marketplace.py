"""Decodes the marketplace's figures of one agent (`/metrics/agent/{id}`, in the form of Virtuals). Pure.

The API is undocumented, and its dashboard has been seen to differ from it, so nothing here is better than estimated.
"""

from datetime import datetime
from decimal import Decimal
from typing import Any
from urllib.parse import quote, urlsplit

from contracts.market import Refusal, number
from contracts.partner import HIGHEST_USD, RevenueAnswer, is_ahead, moment, says_error

_COUNTS = Decimal("1e12")
_NEEDED = ("revenue", "grossAgenticAmount")


def address(base_url: str, agent_id: str) -> str:
    """Returns the URL of an agent's figures. An origin without a path gets the vendor's `/api`."""
    root = base_url if urlsplit(base_url).path.strip("/") else f"{base_url}/api"
    return f"{root}/metrics/agent/{quote(agent_id, safe='')}"


def decode(answer: Any, *, agent_id: str, now: datetime) -> RevenueAnswer | Refusal:
    """Returns the totals in an answer, or in its `data`."""
    if not isinstance(answer, dict) or says_error(answer):
        return Refusal("error_answer")
    inner = answer.get("data")
    facts = inner if isinstance(inner, dict) else answer
    if says_error(facts):
        return Refusal("error_answer")
    named = {str(facts[name]) for name in ("id", "virtualAgentId") if facts.get(name) is not None}
    if named and agent_id not in named:
        return Refusal("other_agent")
    if all(facts.get(name) is None for name in _NEEDED):
        return Refusal("missing_keys")
    amounts = {name: number(facts.get(name), 0, HIGHEST_USD) for name in (*_NEEDED, "volume")}
    if any(amounts[name] is None and facts.get(name) is not None for name in amounts):
        return Refusal("absurd_value")
    revenue, gross, volume = (amounts[name] for name in (*_NEEDED, "volume"))
    counts = {name: number(facts.get(name), 0, _COUNTS) for name in ("successfulJobCount", "uniqueBuyerCount")}
    rate = number(facts.get("successRate"), 0, 100)
    active_at = moment(facts.get("lastActiveAt"))
    return RevenueAnswer(
        revenue_usd=revenue,
        gross_usd=gross,
        volume_usd=volume,
        successful_jobs=_whole(counts["successfulJobCount"]),
        unique_buyers=_whole(counts["uniqueBuyerCount"]),
        success_rate_percent=None if rate is None else float(rate),
        last_active_at=None if is_ahead(active_at, now) else active_at,
        reason=_oddity(revenue, gross),
    )


def _oddity(revenue: Decimal | None, gross: Decimal | None) -> str | None:
    if revenue is None or gross is None:
        return "incomplete"
    return "revenue_above_gross" if revenue > gross else None


def _whole(value: Decimal | None) -> int | None:
    return None if value is None or value != value.to_integral_value() else int(value)
