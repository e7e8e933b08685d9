"""A token's own pool on the chain, a Uniswap v2 pair: calls, and the price that its reserves mean. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from contracts.base import Quality
from contracts.evm.codec import keccak256, selector
from contracts.market import THIN_USD, Quote, Refusal, change_percent, inner, usd_price
from pipelines.market.chainlink import read_words
from warehouse.market.prices import PoolPast

GET_RESERVES = selector("getReserves()")
TOKEN0 = selector("token0()")
TOKEN1 = selector("token1()")
DECIMALS = selector("decimals()")
TOTAL_SUPPLY = selector("totalSupply()")
SYNC_TOPIC = "0x" + keccak256(b"Sync(uint112,uint112)").hex()

SYNC_BLOCKS = 2000
"""How many blocks before a moment are searched for the reserves that held then; public nodes allow as many at once."""

WRAPPED_ETH = {
    1: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
    10: "0x4200000000000000000000000000000000000006",
    8453: "0x4200000000000000000000000000000000000006",
    42161: "0x82af49447d8a07e3bd95bee6f62d2d58bf9bda3f",
}
"""Chain id -> the wrapped ether that pools are quoted in."""

_DECIMALS_LIMIT = 36


@dataclass(frozen=True)
class Pair:
    """The two tokens of a pool, lower-case hex, and which of them is ours."""

    token0: str
    token1: str
    token: str

    @property
    def other(self) -> str:
        return self.token1 if self.token == self.token0 else self.token0


@dataclass(frozen=True)
class Reserves:
    """What a pool holds of our token and of the other, in whole tokens; `decimals` are those of both, ours first."""

    ours: Decimal
    other: Decimal
    decimals: tuple[int, int]

    @property
    def price_in_other(self) -> Decimal:
        return self.other / self.ours


def read_pair(token0: object, token1: object, token: str) -> Pair | Refusal:
    """The pair from two `eth_call` results. It must hold our token."""
    words = [read_words(token0, 1), read_words(token1, 1)]
    if words[0] is None or words[1] is None:
        return Refusal("no_pair")
    pair = Pair(_address(words[0][0]), _address(words[1][0]), token)
    return pair if token in (pair.token0, pair.token1) else Refusal("other_pair")


def read_reserves(pair: Pair, reserves: object, decimals: Sequence[object]) -> Reserves | Refusal:
    """What is held, from the results of `getReserves()` and of `decimals()` of our token and of the other."""
    held = read_words(reserves, 2)
    places = [read_words(result, 1) for result in decimals]
    if held is None or any(word is None or word[0] > _DECIMALS_LIMIT for word in places):
        return Refusal("no_pair")
    ours, other = (held[0], held[1]) if pair.token == pair.token0 else (held[1], held[0])
    if ours == 0 or other == 0:
        return Refusal("empty_pool")
    of_ours, of_other = (word[0] for word in places if word is not None)
    return _in_whole_tokens(ours, other, (of_ours, of_other))


def usd_of_other(pair: Pair, *, chain_id: int, usdc: str | None, eth_usd: Decimal | None) -> Decimal | Refusal:
    """What one of the other token is worth in USD: it is USDC, or wrapped ether at a price that is known."""
    if pair.other == usdc:
        return Decimal(1)
    if pair.other != WRAPPED_ETH.get(chain_id):
        return Refusal("unknown_quote_token")
    return Refusal("no_eth_price") if eth_usd is None else eth_usd


def quote_of(
    reserves: Reserves, usd: Decimal, *, supply_raw: object, pool: str, block: int, observed_at: datetime
) -> Quote | Refusal:
    """The pool's price at a block; capitalisation is that of the whole supply."""
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
    """`eth_getLogs` parameters for what a pool last held at a block."""
    first = max(0, block - SYNC_BLOCKS + 1)
    return [{"address": pool, "topics": [SYNC_TOPIC], "fromBlock": hex(first), "toBlock": hex(block)}]


def reserves_then(pair: Pair, now: Reserves, logs: object) -> Reserves | None:
    """What the last of some Sync events says was held; None where there is none."""
    if not isinstance(logs, list) or not logs:
        return None
    held = read_words(inner(logs[-1], "data"), 2)
    if held is None or 0 in held:
        return None
    ours, other = held if pair.token == pair.token0 else reversed(held)
    return _in_whole_tokens(ours, other, now.decimals)


def with_past(quote: Quote, now: Reserves, hour: Reserves | None, day: Reserves | None, past: PoolPast) -> Quote:
    """The quote with trades and volume of the last day at today's price, and changes in terms of the other token."""
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


def _address(word: int) -> str:
    return f"0x{word & ((1 << 160) - 1):040x}"
