"""The token's own pool on the chain, a Uniswap v2 pair: the price follows from its reserves."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from contracts.base import Quality
from contracts.evm.codec import RpcError, selector
from contracts.market import THIN_USD, Quote, Refusal, change_percent, inner, usd_price
from contracts.pools import (
    DECIMALS,
    GET_RESERVES,
    SYNC_TOPIC,
    TOKEN0,
    TOKEN1,
    Pair,
    currency_of,
    read_decimals,
    read_pair,
    read_words,
)
from pipelines.market.price_source import ChainReading, Decoded, OnChain, PriceSource
from warehouse.market.prices import PoolPast

TOTAL_SUPPLY = selector("totalSupply()")

SYNC_BLOCKS = 2000
"""Number of blocks before a moment that are searched for its reserves; public nodes allow as many at once."""


@dataclass(frozen=True)
class Reserves:
    """Reserves of our token and of the other, in whole tokens; `decimals` are those of both, ours first."""

    ours: Decimal
    other: Decimal
    decimals: tuple[int, int]

    @property
    def price_in_other(self) -> Decimal:
        return self.other / self.ours


def read_reserves(pair: Pair, reserves: object, decimals: Sequence[object]) -> Reserves | Refusal:
    """Reads the reserves from the results of `getReserves()`, and of `decimals()` of our token and of the other."""
    words, places = read_words(reserves, 2), read_decimals(*decimals)
    if words is None or isinstance(places, Refusal):
        return Refusal("no_pair")
    ours, other = (words[0], words[1]) if pair.token == pair.token0 else (words[1], words[0])
    if ours == 0 or other == 0:
        return Refusal("empty_pool")
    return _in_whole_tokens(ours, other, places)


def usd_of_other(pair: Pair, *, chain_id: int, usdc: str | None, eth_usd: Decimal | None) -> Decimal | Refusal:
    """Returns the worth of one of the other token in USD. It must be USDC, or wrapped ether at a known price."""
    currency = currency_of(pair, chain_id=chain_id, usdc=usdc)
    if isinstance(currency, Refusal):
        return currency
    if currency == "usd":
        return Decimal(1)
    return Refusal("no_eth_price") if eth_usd is None else eth_usd


def quote_of(
    reserves: Reserves, usd: Decimal, *, supply_raw: object, pool: str, block: int, observed_at: datetime
) -> Quote | Refusal:
    """Makes the quote of a pool at a block; capitalisation is that of the whole supply."""
    price = usd_price(reserves.price_in_other * usd)
    if price is None:
        return Refusal("no_price")
    liquidity_usd = float(2 * reserves.other * usd)
    supply = read_words(supply_raw, 1)
    thin = liquidity_usd < THIN_USD
    return Quote(
        price,
        quality=Quality.ESTIMATED if thin else Quality.DERIVED,
        reason="thin_liquidity" if thin else None,
        observed_at=observed_at,
        mcap_usd=None if supply is None else float(Decimal(supply[0]).scaleb(-reserves.decimals[0]) * price),
        liquidity_usd=liquidity_usd,
        pool=pool,
        pools=1,
        block=block,
    )


def sync_filter(pool: str, block: int) -> list[dict[str, Any]]:
    """Makes the `eth_getLogs` parameters that find a pool's last reserves at a block."""
    first = max(0, block - SYNC_BLOCKS + 1)
    return [{"address": pool, "topics": [SYNC_TOPIC], "fromBlock": hex(first), "toBlock": hex(block)}]


def reserves_then(pair: Pair, now: Reserves, logs: object) -> Reserves | None:
    """Reads the reserves from the last of some Sync events; None where there is no event."""
    if not isinstance(logs, list) or not logs:
        return None
    words = read_words(inner(logs[-1], "data"), 2)
    if words is None or 0 in words:
        return None
    ours, other = words if pair.token == pair.token0 else reversed(words)
    return _in_whole_tokens(ours, other, now.decimals)


def with_past(quote: Quote, now: Reserves, hour: Reserves | None, day: Reserves | None, past: PoolPast) -> Quote:
    """Adds trades and volume of the last day at today's price, and changes in terms of the other token."""
    traded = None if past.traded_raw is None else Decimal(past.traded_raw).scaleb(-now.decimals[0])
    hour_percent, day_percent = (
        None if then is None else change_percent(now.price_in_other, then.price_in_other) for then in (hour, day)
    )
    return replace(
        quote,
        volume_24h_usd=None if traded is None else float(traded * quote.price_usd),
        buys_24h=past.buys,
        sells_24h=past.sells,
        change_1h_percent=hour_percent,
        change_24h_percent=day_percent,
    )


def _in_whole_tokens(ours: int, other: int, decimals: tuple[int, int]) -> Reserves:
    return Reserves(Decimal(ours).scaleb(-decimals[0]), Decimal(other).scaleb(-decimals[1]), decimals)


async def _read(reading: ChainReading) -> Decoded:
    settings, block, past = reading.settings, reading.block, reading.past
    pool, token = settings.pool_address or "", settings.token_address or ""
    calls = [block.call(pool, data) for data in (TOKEN0, TOKEN1, GET_RESERVES)]
    calls += [block.call(token, data) for data in (DECIMALS, TOTAL_SUPPLY)]
    token0, token1, raw_reserves, decimals, supply = await reading.chain.batch(calls)
    pair = read_pair(token0, token1, token)
    if isinstance(pair, Refusal):
        return pair
    usd = usd_of_other(pair, chain_id=settings.chain_id, usdc=settings.usdc_address, eth_usd=reading.eth_usd)
    if isinstance(usd, Refusal):
        return usd
    (other_decimals,) = await reading.chain.batch([block.call(pair.other, DECIMALS)])
    reserves = read_reserves(pair, raw_reserves, (decimals, other_decimals))
    if isinstance(reserves, Refusal):
        return reserves
    quote = quote_of(reserves, usd, supply_raw=supply, pool=pool, block=block.number, observed_at=block.at)
    if isinstance(quote, Refusal) or past is None:
        return quote
    # A change in USD equals one in terms of the other token only where that token keeps its worth.
    blocks = (past.hour_block, past.day_block) if pair.other == settings.usdc_address else (None, None)
    hour, day = [
        None if number is None else await _reserves_at(reading, pair, reserves, pool, number) for number in blocks
    ]
    return with_past(quote, reserves, hour, day, past)


async def _reserves_at(reading: ChainReading, pair: Pair, reserves: Reserves, pool: str, block: int) -> Reserves | None:
    try:
        return reserves_then(pair, reserves, await reading.chain.call("eth_getLogs", sync_filter(pool, block)))
    except RpcError:
        return None


SOURCE = PriceSource(
    name="pool",
    market="token",
    rank=3,
    needs=("pool_address", "rpc_urls", "token_address"),
    ask=OnChain(_read),
    description="The token's own pool at SVC_POOL_ADDRESS.",
)
