"""Prices as assets: the answers of every source, and the served prices."""

from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
import polars as pl

from pipelines.market.choose import choose_eth, choose_token
from pipelines.market.observe import PollResult, poll_eth_sources, poll_token_sources
from pipelines.market.price_source import OverHttp
from pipelines.market.sources import PRICE_SOURCES
from pipelines.presentation import is_quick, lines_chart, markdown_table, other_spec, row_count, table_asset
from pipelines.resources import Runtime
from warehouse.duck.connection import Connection
from warehouse.duck.inspection import preview
from warehouse.market.prices import Market

GROUP = "market"

_HISTORY = {"eth_price": "eth_price_history", "token_price": "token_price_history"}
_ANSWERS = {"eth_price": "eth_price_answers", "token_price": "token_price_answers"}
"""Statements that preview a price, by its series."""

FRESHNESS = dg.FreshnessPolicy.time_window(fail_window=timedelta(minutes=30), warn_window=timedelta(minutes=10))
"""Prices are polled every minute, but may wait for a long slice of the chain."""


services = [
    other_spec(source.name, GROUP, source.description, "rest")
    for source in PRICE_SOURCES
    if isinstance(source.ask, OverHttp)
]


def _sources(market: Market) -> str:
    descriptions = (source.description for source in PRICE_SOURCES if source.market == market)
    return f"Sources, most trusted first: {' '.join(descriptions)}"


def _source_assets(market: Market) -> list[str]:
    """Returns the assets from which the sources of a market are read."""
    sources = [source for source in PRICE_SOURCES if source.market == market]
    return sorted({source.name if isinstance(source.ask, OverHttp) else "evm_chain" for source in sources})


@table_asset(
    GROUP,
    "ETH in USD according to its sources, each queried at most once a minute; failed answers have a reason, and jumps "
    f"are marked suspicious. {_sources('eth')}",
    deps=_source_assets("eth"),
    kinds=("evm", "rest"),
)
def raw_market__eth_prices(
    context: dg.AssetExecutionContext, runtime: dg.ResourceParam[Runtime]
) -> dg.MaterializeResult[None]:
    """Queries the due sources of ETH/USD; their failures are rows, not errors."""
    with runtime.warehouse.connect() as connection:
        poll = poll_eth_sources(connection, runtime.settings, datetime.now(UTC))
        return dg.MaterializeResult(metadata=_facts(context, connection, poll, "raw_market__eth_prices", "eth_price"))


@table_asset(
    GROUP,
    "The served price of ETH in USD: from the first source with a sound price now, else the last sound one, stale.",
    deps=["raw_market__eth_prices"],
    freshness=FRESHNESS,
    capability="eth_price",
)
def out_market__eth_price(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Chooses the price to serve."""
    with runtime.warehouse.connect() as connection:
        choose_eth(connection, runtime.settings, datetime.now(UTC))
        return dg.MaterializeResult(metadata=row_count(connection, "out_market__eth_price"))


@table_asset(
    GROUP,
    "The token's price and market according to its sources, each queried at most once a minute; trades of the pool are "
    "counted from our own transfers. Failed answers have a reason, and jumps are marked suspicious. "
    f"{_sources('token')}",
    deps=[*_source_assets("token"), "out_market__eth_price", "raw_chain__transfers", "raw_chain__tip_transfers"],
    kinds=("evm", "rest"),
)
def raw_market__token_prices(
    context: dg.AssetExecutionContext, runtime: dg.ResourceParam[Runtime]
) -> dg.MaterializeResult[None]:
    """Queries the token's due sources; their failures are rows, not errors."""
    with runtime.warehouse.connect() as connection:
        poll = poll_token_sources(connection, runtime.settings, datetime.now(UTC))
        facts = _facts(context, connection, poll, "raw_market__token_prices", "token_price")
        return dg.MaterializeResult(metadata=facts)


@table_asset(
    GROUP,
    "The served price of the token: from the first source with a sound price now, else the last sound one, stale; "
    "with its changes compared with those of our own observations.",
    deps=["raw_market__token_prices"],
    freshness=FRESHNESS,
    capability="token_price",
)
def out_market__token_price(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Chooses the price to serve."""
    with runtime.warehouse.connect() as connection:
        choose_token(connection, runtime.settings, datetime.now(UTC))
        return dg.MaterializeResult(metadata=row_count(connection, "out_market__token_price"))


def _facts(
    context: dg.AssetExecutionContext, connection: Connection, poll: PollResult, table: str, series: str
) -> dict[str, Any]:
    facts = row_count(connection, table) | {
        "asked": ", ".join(poll.asked) or "nobody",
        "failed": ", ".join(f"{source}: {reason}" for source, reason in poll.failed.items()) or "nobody",
    }
    if is_quick(context):
        return facts
    history = preview(connection, _HISTORY[series])
    lines = {
        str(source): rows.select("fetched", "price_usd").rows()
        for (source,), rows in history.group_by("source", maintain_order=True)
    }
    facts["answers"] = markdown_table(preview(connection, _ANSWERS[series]))
    facts |= lines_chart("price_over_time", "Price by source", lines, "USD")
    facts["span"] = _span(history)
    return facts


def _span(history: pl.DataFrame) -> str:
    return (
        "nothing yet" if history.is_empty() else f"{history['fetched'].min()!s} to {history['fetched'].max()!s} (UTC)"
    )
