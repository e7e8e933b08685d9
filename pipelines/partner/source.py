"""Asking the partner and the marketplace. What their answers mean is said in `snapshot.py` and `marketplace.py`."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import SecretStr

from contracts.base import Quality
from contracts.market import Refusal
from contracts.partner import MARKETPLACE, PARTNER, PartnerAnswer, RevenueAnswer
from pipelines.feeds import Feeds
from pipelines.partner import marketplace, snapshot
from warehouse.feeds import Attempt

PARTNER_MAX_BYTES = 256 * 1024


async def ask_partner(
    feeds: Feeds, url: str, api_key: SecretStr | None, *, chain_id: int
) -> tuple[PartnerAnswer | None, Attempt]:
    """The partner's snapshot. The credential goes into the request's header and nowhere else."""
    headers = {} if api_key is None else {"authorization": SecretStr(f"Bearer {api_key.get_secret_value()}")}
    answer = await feeds.get(url, headers=headers, max_bytes=PARTNER_MAX_BYTES)
    if answer.reason is not None:
        return None, answer.attempt(PARTNER)
    secret = None if api_key is None else api_key.get_secret_value()
    decoded = snapshot.decode(answer.value, chain_id=chain_id, secret=secret, now=datetime.now(UTC))
    if isinstance(decoded, Refusal):
        return None, answer.attempt(PARTNER, reason=decoded.reason)
    return decoded, answer.attempt(PARTNER, quality=Quality.ESTIMATED)


async def ask_marketplace(feeds: Feeds, base_url: str, agent_id: str) -> tuple[RevenueAnswer | None, Attempt]:
    """The agent's figures at the marketplace."""
    answer = await feeds.get(marketplace.address(base_url, agent_id))
    if answer.reason is not None:
        return None, answer.attempt(MARKETPLACE)
    decoded = marketplace.decode(answer.value, agent_id=agent_id, now=datetime.now(UTC))
    if isinstance(decoded, Refusal):
        return None, answer.attempt(MARKETPLACE, reason=decoded.reason)
    return decoded, answer.attempt(MARKETPLACE, quality=Quality.ESTIMATED)
