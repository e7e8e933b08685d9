"""The edge of the market: asks each source once, and hands its answer to the pure decoders.

A source's fault is an answer without a quote, never an error.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from contracts.base import Quality
from contracts.errors import ChainMismatch, RpcUnavailable
from contracts.evm.codec import RpcError, read_header
from contracts.market import CHAINLINK, COINBASE, DEXSCREENER, GECKOTERMINAL, POOL, Quote, Refusal
from contracts.settings import Settings
from pipelines.clients.http_json import TIMEOUT_S, Answer, Feeds
from pipelines.clients.rpc import RpcPool
from pipelines.market import chainlink, coinbase, dexscreener, geckoterminal, pair
from warehouse.duck.fetch_log import Attempt
from warehouse.market.prices import PoolPast, SourceAnswer

Decoded = Quote | Refusal
Call = tuple[str, Sequence[Any]]


def token_sources(settings: Settings) -> tuple[str, ...]:
    """The token's configured sources, in order of belief."""
    if settings.token_address is None:
        return ()
    configured = {
        DEXSCREENER: bool(settings.dexscreener_url) and settings.chain_id in dexscreener.CHAINS,
        GECKOTERMINAL: bool(settings.geckoterminal_url) and settings.chain_id in geckoterminal.NETWORKS,
        POOL: bool(settings.pool_address and settings.rpc_urls),
    }
    return tuple(source for source, on in configured.items() if on)


def eth_sources(settings: Settings) -> tuple[str, ...]:
    """The configured sources of ETH/USD, in order of belief."""
    configured = {
        CHAINLINK: bool(settings.chainlink_feed_address and settings.rpc_urls),
        COINBASE: bool(settings.coinbase_url),
    }
    return tuple(source for source, on in configured.items() if on)


async def ask_eth_sources(settings: Settings, wanted: Collection[str]) -> list[SourceAnswer]:
    """What each of the wanted sources says of ETH/USD now; all are asked at once."""
    async with Feeds() as feeds:
        asked: dict[str, Callable[[], Awaitable[SourceAnswer]]] = {
            CHAINLINK: lambda: _on_chain(settings, CHAINLINK, _read_feed),
            COINBASE: lambda: _over_http(feeds, COINBASE, f"{settings.coinbase_url}{coinbase.PATH}", coinbase.decode),
        }
        return list(await asyncio.gather(*(ask() for source, ask in asked.items() if source in wanted)))


async def ask_token_sources(
    settings: Settings, wanted: Collection[str], *, eth_usd: Decimal | None, past: PoolPast | None
) -> list[SourceAnswer]:
    """What each of the wanted sources says of the token now.

    The pool is read with `eth_usd`, where it is one against ether, and with what our own transfers say of its `past`.
    """
    token = settings.token_address or ""
    chain_id = settings.chain_id

    def dexscreener_quote(value: Any) -> Decoded:
        return dexscreener.decode(value, chain_id=chain_id, token=token)

    def geckoterminal_quote(value: Any) -> Decoded:
        return geckoterminal.decode(value, chain_id=chain_id, token=token)

    async def pool_quote(chain: RpcPool, block: _Block, settings: Settings) -> Decoded:
        return await _read_pair(chain, block, settings, eth_usd, past)

    async with Feeds() as feeds:
        asked: dict[str, Callable[[], Awaitable[SourceAnswer]]] = {
            DEXSCREENER: lambda: _over_http(
                feeds, DEXSCREENER, f"{settings.dexscreener_url}{dexscreener.path(token)}", dexscreener_quote
            ),
            GECKOTERMINAL: lambda: _over_http(
                feeds,
                GECKOTERMINAL,
                f"{settings.geckoterminal_url}{geckoterminal.path(chain_id, token)}",
                geckoterminal_quote,
            ),
            POOL: lambda: _on_chain(settings, POOL, pool_quote),
        }
        return list(await asyncio.gather(*(ask() for source, ask in asked.items() if source in wanted)))


@dataclass(frozen=True)
class _Block:
    """The block at which every call of one reading is made."""

    number: int
    at: datetime

    @property
    def tag(self) -> str:
        return hex(self.number)


async def _over_http(feeds: Feeds, source: str, url: str, decode: Callable[[Any], Decoded]) -> SourceAnswer:
    answer: Answer[Any] = await feeds.get(url)
    decoded = Refusal(answer.reason) if answer.reason is not None else decode(answer.value)
    if isinstance(decoded, Refusal):
        return SourceAnswer(answer.attempt(source, reason=decoded.reason), None)
    return SourceAnswer(answer.attempt(source, quality=decoded.quality), decoded)


async def _on_chain(
    settings: Settings, source: str, read: Callable[[RpcPool, _Block, Settings], Awaitable[Decoded]]
) -> SourceAnswer:
    """One reading at the newest block, in the time that a feed has; a silent node leaves some of it to the others."""
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
                decoded = await read(chain, _Block(header.number, datetime.fromtimestamp(header.time_s, UTC)), settings)
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


async def _read_feed(chain: RpcPool, block: _Block, settings: Settings) -> Decoded:
    feed, sequencer = settings.chainlink_feed_address, settings.sequencer_feed_address
    calls = [_call(feed, chainlink.LATEST_ROUND, block), _call(feed, chainlink.DECIMALS, block)]
    if sequencer:
        calls.append(_call(sequencer, chainlink.LATEST_ROUND, block))
    latest, decimals, *status = await chain.batch(calls)
    return chainlink.decode(
        latest,
        decimals,
        status[0] if status else None,
        has_sequencer=sequencer is not None,
        block=block.number,
        now=datetime.now(UTC),
    )


async def _read_pair(
    chain: RpcPool, block: _Block, settings: Settings, eth_usd: Decimal | None, past: PoolPast | None
) -> Decoded:
    pool, token = settings.pool_address or "", settings.token_address or ""
    calls = [_call(pool, pair.TOKEN0, block), _call(pool, pair.TOKEN1, block), _call(pool, pair.GET_RESERVES, block)]
    calls += [_call(token, pair.DECIMALS, block), _call(token, pair.TOTAL_SUPPLY, block)]
    token0, token1, held, decimals, supply = await chain.batch(calls)
    found = pair.read_pair(token0, token1, token)
    if isinstance(found, Refusal):
        return found
    usd = pair.usd_of_other(found, chain_id=settings.chain_id, usdc=settings.usdc_address, eth_usd=eth_usd)
    if isinstance(usd, Refusal):
        return usd
    (other_decimals,) = await chain.batch([_call(found.other, pair.DECIMALS, block)])
    reserves = pair.read_reserves(found, held, (decimals, other_decimals))
    if isinstance(reserves, Refusal):
        return reserves
    quote = pair.quote_of(reserves, usd, supply_raw=supply, pool=pool, block=block.number, observed_at=block.at)
    if isinstance(quote, Refusal) or past is None:
        return quote
    # A change in USD is one in terms of the other token only where that is worth the same all the time.
    blocks = (past.hour_block, past.day_block) if found.other == settings.usdc_address else (None, None)
    hour, day = [None if then is None else await _held_then(chain, found, reserves, pool, then) for then in blocks]
    return pair.with_past(quote, reserves, hour, day, past)


async def _held_then(
    chain: RpcPool, found: pair.Pair, reserves: pair.Reserves, pool: str, block: int
) -> pair.Reserves | None:
    try:
        return pair.reserves_then(found, reserves, await chain.call("eth_getLogs", pair.sync_filter(pool, block)))
    except RpcError:
        return None


def _call(address: str | None, data: str, block: _Block) -> Call:
    return "eth_call", [{"to": address, "data": data}, block.tag]
