"""Prices as assets: what every source says, and what of it is served. A minute's run makes these and publishes."""

from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
import polars as pl

from pipelines.market.observe import PollResult, choose_eth, choose_token, poll_eth_sources, poll_token_sources
from pipelines.presentation import OWNERS, QUICK, lines_chart, markdown_table, row_count, table_facts
from pipelines.resources import Runtime
from warehouse.duck.connection import Connection
from warehouse.duck.inspection import preview

GROUP = "market"


FRESHNESS = dg.FreshnessPolicy.time_window(fail_window=timedelta(minutes=30), warn_window=timedelta(minutes=10))
"""A run of prices comes every minute, and waits while a long slice of the chain is read."""


def _service(key: str, description: str) -> dg.AssetSpec:
    return dg.AssetSpec(key, group_name=GROUP, description=description, kinds={"rest"}, owners=OWNERS)


SERVICES = (
    _service("dexscreener", "DexScreener at SVC_DEXSCREENER_URL: pairs of the token with price, volume and trades."),
    _service("geckoterminal", "GeckoTerminal at SVC_GECKOTERMINAL_URL: pools of the token."),
    _service("coinbase", "Coinbase at SVC_COINBASE_URL: the spot price of ETH in USD."),
)


@dg.asset(
    deps=["evm_chain", "coinbase"],
    group_name=GROUP,
    kinds={"evm", "rest", "duckdb"},
    owners=OWNERS,
    metadata=table_facts("raw_market__eth_prices"),
    pool="warehouse",
    description=(
        "ETH in USD as Chainlink's feed on the chain and Coinbase give it, each asked at most once a minute; failed "
        "answers with their reason, jumps marked suspicious. Grain: one row per answer."
    ),
)
def raw_market__eth_prices(
    context: dg.AssetExecutionContext, runtime: dg.ResourceParam[Runtime]
) -> dg.MaterializeResult:
    """Ask the sources of ETH/USD that are due; their failures are rows, not errors."""
    with runtime.warehouse.connect() as connection:
        poll = poll_eth_sources(connection, runtime.settings, datetime.now(UTC))
        return dg.MaterializeResult(metadata=_facts(context, connection, poll, "raw_market__eth_prices", "eth_price"))


@dg.asset(
    deps=["raw_market__eth_prices"],
    group_name=GROUP,
    kinds={"duckdb"},
    owners=OWNERS,
    metadata=table_facts("out_market__eth_price"),
    freshness_policy=FRESHNESS,
    pool="warehouse",
    description=(
        "ETH in USD as it is served: the first source with a sound price now, else the last sound one, stale. "
        "Grain: one row, none where no source is configured."
    ),
)
def out_market__eth_price(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult:
    """Choose what is served."""
    with runtime.warehouse.connect() as connection:
        choose_eth(connection, runtime.settings, datetime.now(UTC))
        return dg.MaterializeResult(metadata=row_count(connection, "out_market__eth_price"))


@dg.asset(
    deps=[
        "evm_chain",
        "dexscreener",
        "geckoterminal",
        "out_market__eth_price",
        "raw_chain__transfers",
        "raw_chain__tip_transfers",
    ],
    group_name=GROUP,
    kinds={"evm", "rest", "duckdb"},
    owners=OWNERS,
    metadata=table_facts("raw_market__token_prices"),
    pool="warehouse",
    description=(
        "The token's price and market as DexScreener, GeckoTerminal and its own pool on the chain give it, each asked "
        "at most once a minute; trades of the pool are our own transfers. Failed answers with their reason, jumps "
        "marked suspicious. Grain: one row per answer."
    ),
)
def raw_market__token_prices(
    context: dg.AssetExecutionContext, runtime: dg.ResourceParam[Runtime]
) -> dg.MaterializeResult:
    """Ask the token's sources that are due; their failures are rows, not errors."""
    with runtime.warehouse.connect() as connection:
        poll = poll_token_sources(connection, runtime.settings, datetime.now(UTC))
        facts = _facts(context, connection, poll, "raw_market__token_prices", "token_price")
        return dg.MaterializeResult(metadata=facts)


@dg.asset(
    deps=["raw_market__token_prices"],
    group_name=GROUP,
    kinds={"duckdb"},
    owners=OWNERS,
    metadata=table_facts("out_market__token_price"),
    freshness_policy=FRESHNESS,
    pool="warehouse",
    description=(
        "The token's price as it is served: the first source with a sound price now, else the last sound one, stale; "
        "changes set beside those of our own observations. Grain: one row, none where no source is configured."
    ),
)
def out_market__token_price(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult:
    """Choose what is served."""
    with runtime.warehouse.connect() as connection:
        choose_token(connection, runtime.settings, datetime.now(UTC))
        return dg.MaterializeResult(metadata=row_count(connection, "out_market__token_price"))


PRICES = (raw_market__eth_prices, out_market__eth_price, raw_market__token_prices, out_market__token_price)
"""What a minute's run makes, before it publishes."""

SERVED_TABLES = frozenset({"out_market__eth_price", "out_market__token_price"})


def _facts(
    context: dg.AssetExecutionContext, connection: Connection, poll: PollResult, table: str, series: str
) -> dict[str, Any]:
    facts = row_count(connection, table) | {
        "asked": ", ".join(poll.asked) or "nobody",
        "failed": ", ".join(f"{source}: {reason}" for source, reason in poll.failed.items()) or "nobody",
    }
    if QUICK.items() <= context.run.tags.items():
        return facts
    history = preview(connection, f"{series}_history")
    lines = {
        str(source): rows.select("fetched", "price_usd").rows()
        for (source,), rows in history.group_by("source", maintain_order=True)
    }
    facts["answers"] = markdown_table(preview(connection, f"{series}_answers"))
    if lines:
        facts["price_over_time"] = lines_chart("Price by source", lines, "USD")
    facts["span"] = _span(history)
    return facts


def _span(history: pl.DataFrame) -> str:
    return "nothing yet" if history.is_empty() else f"{history['fetched'].min()} to {history['fetched'].max()} (UTC)"
