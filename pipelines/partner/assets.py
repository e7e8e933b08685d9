"""The partner and the marketplace as assets: the history of their answers, and the served rows."""

import asyncio
from datetime import UTC, datetime

import dagster as dg

from contracts.partner import MARKETPLACE, PARTNER, PartnerAnswer, RevenueAnswer, host_of
from contracts.settings import Settings
from pipelines.clients.http_json import Feeds
from pipelines.partner.snapshot import as_text
from pipelines.partner.source import ask_marketplace, ask_partner, due_sources
from pipelines.presentation import other_spec, row_count, table_asset
from pipelines.resources import Runtime
from warehouse.duck.fetch_log import Attempt
from warehouse.partner.snapshots import record_figures, record_partner, serve_figures, serve_partner

GROUP = "partner"

partner = other_spec(
    PARTNER, GROUP, "The partner at SVC_PARTNER_URL: a JSON object about this chain, for our credential.", "rest"
)
marketplace = other_spec(
    MARKETPLACE, GROUP, "The marketplace at SVC_MARKETPLACE_URL: totals of the agent SVC_MARKETPLACE_AGENT_ID.", "rest"
)


@table_asset(
    GROUP,
    "The partner's snapshots as received, except refused ones. Queried every five minutes; off without "
    "SVC_PARTNER_URL.",
    deps=[PARTNER],
    kinds=("rest",),
)
def raw_partner__snapshots(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Queries the partner if it is due; its failure is an attempt with a reason, not an error."""
    url = runtime.settings.partner_url
    if url is None:
        return dg.MaterializeResult(metadata={"off": "SVC_PARTNER_URL is not set"})
    with runtime.warehouse.connect() as connection:
        due = PARTNER in due_sources(connection, runtime.settings, datetime.now(UTC))
    if due:
        answer, attempt = asyncio.run(_ask_partner(runtime.settings, url))
        with runtime.warehouse.connect() as connection:
            text = None if answer is None else as_text(answer.snapshot)
            observed_at = None if answer is None else answer.observed_at
            record_partner(connection, host_of(url), attempt, text, observed_at)
    with runtime.warehouse.connect() as connection:
        metadata = row_count(connection, "raw_partner__snapshots")
    return dg.MaterializeResult(metadata={**metadata, "asked": due})


@table_asset(
    GROUP,
    "The served row: the partner's latest snapshot, with the outcome of the newest request.",
    deps=["raw_partner__snapshots"],
)
def out_partner__snapshot(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Serves the newest snapshot; after a failed request, an earlier one as stale."""
    url = runtime.settings.partner_url
    with runtime.warehouse.connect() as connection:
        reason = serve_partner(connection, None if url is None else host_of(url))
        metadata = row_count(connection, "out_partner__snapshot")
    return dg.MaterializeResult(metadata={**metadata, "reason": reason or "none"})


@table_asset(
    GROUP,
    "The agent's totals as the marketplace counts them: revenue and gross separately, USD. Queried every 15 minutes; "
    "off without SVC_MARKETPLACE_URL and SVC_MARKETPLACE_AGENT_ID.",
    deps=[MARKETPLACE],
    kinds=("rest",),
)
def raw_marketplace__figures(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Queries the marketplace if it is due; its failure is an attempt with a reason, not an error."""
    url, agent_id = runtime.settings.marketplace_url, runtime.settings.marketplace_agent_id
    if url is None or agent_id is None:
        return dg.MaterializeResult(metadata={"off": "SVC_MARKETPLACE_URL or SVC_MARKETPLACE_AGENT_ID is not set"})
    with runtime.warehouse.connect() as connection:
        due = MARKETPLACE in due_sources(connection, runtime.settings, datetime.now(UTC))
    if due:
        answer, attempt = asyncio.run(_ask_marketplace(url, agent_id))
        with runtime.warehouse.connect() as connection:
            record_figures(connection, host_of(url), agent_id, attempt, answer)
    with runtime.warehouse.connect() as connection:
        metadata = row_count(connection, "raw_marketplace__figures")
    return dg.MaterializeResult(metadata={**metadata, "asked": due})


@table_asset(
    GROUP,
    "The served row: the agent's latest totals, USD, with the last reading of each day.",
    deps=["raw_marketplace__figures"],
)
def out_marketplace__revenue(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Serves the newest totals; after a failed request, earlier ones as stale."""
    url, agent_id = runtime.settings.marketplace_url, runtime.settings.marketplace_agent_id
    with runtime.warehouse.connect() as connection:
        reason = serve_figures(connection, None if url is None else host_of(url), agent_id)
        metadata = row_count(connection, "out_marketplace__revenue")
    return dg.MaterializeResult(metadata={**metadata, "reason": reason or "none"})


async def _ask_partner(settings: Settings, url: str) -> tuple[PartnerAnswer | None, Attempt]:
    async with Feeds() as feeds:
        return await ask_partner(feeds, url, settings.partner_api_key, chain_id=settings.chain_id)


async def _ask_marketplace(url: str, agent_id: str) -> tuple[RevenueAnswer | None, Attempt]:
    async with Feeds() as feeds:
        return await ask_marketplace(feeds, url, agent_id)
