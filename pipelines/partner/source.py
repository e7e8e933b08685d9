"""Queries the partner and the marketplace, and decides when. `snapshot.py` and `marketplace.py` decode the answers."""

from datetime import UTC, datetime, timedelta

from pydantic import SecretStr

from contracts.base import Quality
from contracts.market import Refusal
from contracts.partner import MARKETPLACE, PARTNER, PartnerAnswer, RevenueAnswer
from contracts.settings import Settings
from pipelines.clients.http_json import Feeds
from pipelines.partner import marketplace, snapshot
from pipelines.sources import Source
from warehouse.duck.connection import Connection, Warehouse
from warehouse.duck.fetch_log import Attempt

PARTNER_MAX_BYTES = 256 * 1024


PARTNER_SOURCES = (
    Source(name=PARTNER, needs=("partner_url",), every=timedelta(minutes=5)),
    Source(name=MARKETPLACE, needs=("marketplace_url", "marketplace_agent_id"), every=timedelta(minutes=15)),
)


def due_sources(connection: Connection, settings: Settings, now: datetime) -> list[str]:
    """Returns the names of the configured sources that may be queried now."""
    return [source.name for source in PARTNER_SOURCES if source.is_due(connection, settings, now)]


def partner_due(settings: Settings, now: datetime) -> str | None:
    """Returns why a run is due, in a few words, or None. The first request is part of the first complete run.

    Raises `RunBusy` while a run writes the warehouse, which is opened only if a source is configured.
    """
    if not any(source.is_configured(settings) for source in PARTNER_SOURCES):
        return None
    with Warehouse(settings.data_dir).read_only() as connection:
        due = [] if connection is None else due_sources(connection, settings, now)
    return f"{' and '.join(due)} to be queried" if due else None


async def ask_partner(
    feeds: Feeds, url: str, api_key: SecretStr | None, *, chain_id: int
) -> tuple[PartnerAnswer | None, Attempt]:
    """Requests the partner's snapshot. The credential goes only into the request's header."""
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
    """Requests the agent's figures from the marketplace."""
    answer = await feeds.get(marketplace.address(base_url, agent_id))
    if answer.reason is not None:
        return None, answer.attempt(MARKETPLACE)
    decoded = marketplace.decode(answer.value, agent_id=agent_id, now=datetime.now(UTC))
    if isinstance(decoded, Refusal):
        return None, answer.attempt(MARKETPLACE, reason=decoded.reason)
    return decoded, answer.attempt(MARKETPLACE, quality=Quality.ESTIMATED)
