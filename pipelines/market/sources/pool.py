"""The token's own pool on the chain, of a kind in `POOL_KINDS`: the price is computed from its reserves."""

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from contracts.base import Quality
from contracts.evm.codec import RpcError, selector
from contracts.market import THIN_USD, Quote, Refusal, change_percent, inner, usd_price
from contracts.pools import (
    DECIMALS,
    PROBES,
    Pair,
    PoolKind,
    State,
    as_decimal,
    currency_of,
    in_whole_tokens,
    read_decimals,
    read_pool,
    read_words,
)
from pipelines.market.price_source import ChainReading, Decoded, OnChain, PriceSource
from warehouse.market.prices import PoolPast

TOTAL_SUPPLY = selector("totalSupply()")
BALANCE_OF = selector("balanceOf(address)")

EVENT_BLOCKS = 2000
"""Number of blocks before a moment that are searched for its reserves: as many as public nodes allow per request."""


@dataclass(frozen=True)
class PoolReading:
    """A pool at one block: its kind, its pair, and the decimals of our token and of the other.

    `ours` and `other` are its reserves in whole tokens, and `held` its actual balances of both, which differ for a
    concentrated pool, whose reserves are virtual.
    """

    kind: PoolKind
    pair: Pair
    decimals: tuple[int, int]
    ours: Fraction
    other: Fraction
    held: tuple[Fraction, Fraction]

    @property
    def price_in_other(self) -> Fraction:
        return self.other / self.ours


def read_reserves(
    kind: PoolKind, pair: Pair, state: State, decimals: tuple[int, int], held: tuple[object, object]
) -> PoolReading | Refusal:
    """Reads a pool from its state, and from the results of `balanceOf(pool)` of our token and of the other."""
    ours, other = in_whole_tokens(pair, kind.reserves(state), decimals)
    balances = [read_words(result, 1) for result in held]
    if ours == 0 or other == 0:
        return Refusal("empty_pool")
    if balances[0] is None or balances[1] is None:
        return Refusal("no_pair")
    holds = Fraction(balances[0][0], 10 ** decimals[0]), Fraction(balances[1][0], 10 ** decimals[1])
    return PoolReading(kind, pair, decimals, ours, other, holds)


def usd_of_other(pair: Pair, *, chain_id: int, usdc: str | None, eth_usd: Decimal | None) -> Decimal | Refusal:
    """Returns the worth in USD of one whole unit of the other token, which must be USDC, or wrapped ether at a known
    price."""
    currency = currency_of(pair, chain_id=chain_id, usdc=usdc)
    if isinstance(currency, Refusal):
        return currency
    if currency == "usd":
        return Decimal(1)
    return Refusal("no_eth_price") if eth_usd is None else eth_usd


def quote_of(
    reading: PoolReading, usd: Decimal, *, supply_raw: object, pool: str, block: int, observed_at: datetime
) -> Quote | Refusal:
    """Builds the quote of a pool at a block; its capitalisation is that of the whole supply.

    A pool is thin if it holds little, or if little can be traded at its current price: liquidity in a narrow range can
    move away.
    """
    exact = reading.price_in_other * Fraction(usd)
    price = usd_price(as_decimal(exact))
    if price is None:
        return Refusal("no_price")
    liquidity_usd = reading.held[0] * exact + reading.held[1] * Fraction(usd)
    thin = min(liquidity_usd, 2 * reading.other * Fraction(usd)) < THIN_USD
    supply = read_words(supply_raw, 1)
    return Quote(
        price,
        quality=Quality.ESTIMATED if thin else Quality.DERIVED,
        reason="thin_liquidity" if thin else None,
        observed_at=observed_at,
        mcap_usd=None if supply is None else float(Decimal(supply[0]).scaleb(-reading.decimals[0]) * price),
        liquidity_usd=float(liquidity_usd),
        pool=pool,
        pools=1,
        block=block,
    )


def event_filter(kind: PoolKind, pool: str, block: int) -> list[dict[str, Any]]:
    """Returns the `eth_getLogs` parameters that find a pool's last reserves at a block."""
    first = max(0, block - EVENT_BLOCKS + 1)
    return [{"address": pool, "topics": [list(kind.events)], "fromBlock": hex(first), "toBlock": hex(block)}]


def price_then(now: PoolReading, logs: object) -> Fraction | None:
    """Reads the price in the other token from the last of these events; None if there is no event."""
    if not isinstance(logs, list) or not logs:
        return None
    topics = inner(logs[-1], "topics")
    state = now.kind.read_event(topics if isinstance(topics, list) else [], inner(logs[-1], "data"))
    if state is None:
        return None
    ours, other = in_whole_tokens(now.pair, now.kind.reserves(state), now.decimals)
    return None if ours == 0 or other == 0 else other / ours


def with_past(quote: Quote, now: PoolReading, hour: Fraction | None, day: Fraction | None, past: PoolPast) -> Quote:
    """Adds trades and volume of the last day, and changes in terms of the other token."""
    traded = None if past.traded is None else past.traded.usd(float(quote.price_usd)) / 10 ** now.decimals[0]
    hour_percent, day_percent = (
        None if then is None else change_percent(as_decimal(now.price_in_other), as_decimal(then))
        for then in (hour, day)
    )
    return replace(
        quote,
        volume_24h_usd=traded,
        buys_24h=past.buys,
        sells_24h=past.sells,
        trades_block=past.trades_block,
        change_1h_percent=hour_percent,
        change_24h_percent=day_percent,
    )


async def _read(reading: ChainReading) -> Decoded:
    settings, block, past = reading.settings, reading.block, reading.past
    pool, token = settings.pool_address or "", settings.token_address or ""
    calls = [block.call(token, DECIMALS), block.call(token, TOTAL_SUPPLY)]
    decimals, supply, *results = await reading.chain.batch([*calls, *(block.call(pool, data) for data in PROBES)])
    answers = dict(zip(PROBES, results, strict=True))
    known = read_pool(answers, token)
    if isinstance(known, Refusal):
        return known
    kind, pair = known
    usd = usd_of_other(pair, chain_id=settings.chain_id, usdc=settings.usdc_address, eth_usd=reading.eth_usd)
    if isinstance(usd, Refusal):
        return usd
    holding = BALANCE_OF + pool[2:].rjust(64, "0")
    other_decimals, *held = await reading.chain.batch(
        [block.call(pair.other, DECIMALS), block.call(token, holding), block.call(pair.other, holding)]
    )
    places, state = read_decimals(decimals, other_decimals), kind.read_answers(answers)
    if isinstance(places, Refusal):
        return places
    if state is None:
        return Refusal("unknown_pool")
    now = read_reserves(kind, pair, state, places, (held[0], held[1]))
    if isinstance(now, Refusal):
        return now
    quote = quote_of(now, usd, supply_raw=supply, pool=pool, block=block.number, observed_at=block.at)
    if isinstance(quote, Refusal) or past is None:
        return quote
    # A change in terms of the other token equals the change in USD only if that token's worth is constant.
    blocks = (past.hour_block, past.day_block) if pair.other == settings.usdc_address else (None, None)
    hour, day = [None if number is None else await _price_at(reading, now, pool, number) for number in blocks]
    return with_past(quote, now, hour, day, past)


async def _price_at(reading: ChainReading, now: PoolReading, pool: str, block: int) -> Fraction | None:
    try:
        return price_then(now, await reading.chain.call("eth_getLogs", event_filter(now.kind, pool, block)))
    except RpcError:
        return None


SOURCE = PriceSource(
    name="pool",
    market="token",
    rank=3,
    needs=("pool_address", "rpc_urls", "token_address"),
    ask=OnChain(_read),
    description="The token's own pool at SVC_POOL_ADDRESS, like Uniswap's v2 or v3.",
)
