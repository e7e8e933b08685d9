"""Asking the partner and the marketplace, and when. What answers mean is said in `snapshot.py` and `marketplace.py`."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import SecretStr

from contracts.base import Quality
from contracts.market import Refusal
from contracts.partner import MARKETPLACE, MARKETPLACE_EVERY, PARTNER, PARTNER_EVERY, PartnerAnswer, RevenueAnswer
from contracts.settings import Settings
from pipelines.clients.http_json import Feeds
from pipelines.partner import marketplace, snapshot
from warehouse.duck.connection import Connection, Warehouse
from warehouse.duck.fetch_log import Attempt, may_ask

PARTNER_MAX_BYTES = 256 * 1024


def due_sources(connection: Connection, settings: Settings, now: datetime) -> list[str]:
    """Which of the configured sources are to be asked now."""
    configured = {
        PARTNER: (settings.partner_url is not None, PARTNER_EVERY),
        MARKETPLACE: (
            settings.marketplace_url is not None and settings.marketplace_agent_id is not None,
            MARKETPLACE_EVERY,
        ),
    }
    return [
        source for source, (on, every) in configured.items() if on and may_ask(connection, source, now, every=every)
    ]


def partner_due(settings: Settings, now: datetime) -> str | None:
    """Why a run is due, in a few words; None where none is. The first one is part of the first whole run.

    Raises `RunBusy` while a run writes the warehouse.
    """
    with Warehouse(settings.data_dir).read_only() as connection:
        due = [] if connection is None else due_sources(connection, settings, now)
    return f"{' and '.join(due)} to be asked" if due else None


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
