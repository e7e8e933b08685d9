"""Fetches prices: queries each source once, and passes its answer to the pure decoders.

A fault of a source gives an answer without a quote, never an error.
"""

import asyncio
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from contracts.base import Quality
from contracts.errors import ChainMismatch, RpcUnavailable
from contracts.evm.codec import RpcError, read_header
from contracts.market import Refusal
from contracts.settings import Settings
from pipelines.clients.http_json import TIMEOUT_S, Feeds, JsonAnswer
from pipelines.clients.rpc import RpcPool
from pipelines.market.price_source import Block, ChainReading, Decoded, OnChain, OverHttp, PriceSource
from warehouse.duck.fetch_log import Attempt
from warehouse.market.prices import PoolPast, SourceAnswer


async def ask_sources(
    sources: Sequence[PriceSource], settings: Settings, *, eth_usd: Decimal | None = None, past: PoolPast | None = None
) -> list[SourceAnswer]:
    """Queries all sources concurrently; returns their answers in the same order.

    The token's pool is read with `eth_usd`, if its other token is ether, and with the trades in its `past`.
    """

    async def ask(source: PriceSource) -> SourceAnswer:
        if isinstance(source.ask, OnChain):
            return await _on_chain(source.name, source.ask, settings, eth_usd, past)
        address = getattr(settings, source.needs[0])
        return await _over_http(feeds, source.name, source.ask, address, settings)

    async with Feeds() as feeds:
        return list(await asyncio.gather(*map(ask, sources)))


async def _over_http(feeds: Feeds, source: str, how: OverHttp, address: str, settings: Settings) -> SourceAnswer:
    answer: JsonAnswer[Any] = await feeds.get(f"{address}{how.path(settings)}")
    decoded = Refusal(answer.reason) if answer.reason is not None else how.decode(answer.value, settings)
    if isinstance(decoded, Refusal):
        return SourceAnswer(answer.attempt(source, reason=decoded.reason), None)
    return SourceAnswer(answer.attempt(source, quality=decoded.quality), decoded)


async def _on_chain(
    source: str, how: OnChain, settings: Settings, eth_usd: Decimal | None, past: PoolPast | None
) -> SourceAnswer:
    """Reads at the newest block, within the time limit of one feed; each node gets only its share of that time."""
    started = time.monotonic()
    request_s = TIMEOUT_S / len(settings.rpc_urls)
    decoded: Decoded
    try:
        async with (
            asyncio.timeout(TIMEOUT_S),
            RpcPool(settings.rpc_urls, chain_id=settings.chain_id, timeout_s=request_s, patience_s=TIMEOUT_S) as chain,
        ):
            header = read_header(await chain.call("eth_getBlockByNumber", ["latest", False]))
            if header is None:
                decoded = Refusal("no_block")
            else:
                block = Block(header.number, datetime.fromtimestamp(header.time_s, UTC))
                decoded = await how.read(ChainReading(chain, block, settings, eth_usd, past))
    except TimeoutError:
        decoded = Refusal("timeout")
    except (RpcUnavailable, ChainMismatch) as problem:
        decoded = Refusal(problem.code)
    except (RpcError, OverflowError):
        decoded = Refusal("unreadable")
    latency_ms = round((time.monotonic() - started) * 1000)
    now = datetime.now(UTC)
    if isinstance(decoded, Refusal):
        return SourceAnswer(Attempt(source, now, latency_ms, decoded.reason, Quality.UNAVAILABLE), None)
    return SourceAnswer(Attempt(source, now, latency_ms, None, decoded.quality), decoded)
