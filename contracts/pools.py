"""Reads what a Uniswap v2 pair says of itself: its two tokens, and what the other one stands for. Pure."""

from dataclasses import dataclass
from typing import Literal

from contracts.evm.codec import keccak256, selector
from contracts.market import Refusal

GET_RESERVES = selector("getReserves()")
TOKEN0 = selector("token0()")
TOKEN1 = selector("token1()")
DECIMALS = selector("decimals()")
SYNC_TOPIC = "0x" + keccak256(b"Sync(uint112,uint112)").hex()

DECIMALS_LIMIT = 36

WRAPPED_ETH = {
    1: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
    10: "0x4200000000000000000000000000000000000006",
    8453: "0x4200000000000000000000000000000000000006",
    42161: "0x82af49447d8a07e3bd95bee6f62d2d58bf9bda3f",
}
"""Chain id -> the wrapped ether that pools are quoted in."""

Currency = Literal["usd", "eth"]


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
class PoolTerms:
    """The terms by which a pool's reserves become prices.

    These are its pair, the decimals of our token and of the other one, and the currency that the other one stands for.
    """

    pair: Pair
    decimals: tuple[int, int]
    currency: Currency


def read_words(result: object, count: int) -> list[int] | None:
    """Reads the first `count` 32-byte words of an `eth_call` result as unsigned integers; None if there are fewer."""
    if not isinstance(result, str) or not result.startswith("0x") or len(result) < 2 + 64 * count:
        return None
    try:
        return [int(result[place : place + 64], 16) for place in range(2, 2 + 64 * count, 64)]
    except ValueError:
        return None


def read_pair(token0: object, token1: object, token: str) -> Pair | Refusal:
    """Reads the pair from two `eth_call` results. It must hold our token."""
    words = [read_words(token0, 1), read_words(token1, 1)]
    if words[0] is None or words[1] is None:
        return Refusal("no_pair")
    pair = Pair(_address(words[0][0]), _address(words[1][0]), token)
    return pair if token in (pair.token0, pair.token1) else Refusal("other_pair")


def read_decimals(ours: object, other: object) -> tuple[int, int] | Refusal:
    """Reads the results of `decimals()` of our token and of the other."""
    words = [read_words(result, 1) for result in (ours, other)]
    if words[0] is None or words[1] is None or max(words[0][0], words[1][0]) > DECIMALS_LIMIT:
        return Refusal("no_pair")
    return words[0][0], words[1][0]


def currency_of(pair: Pair, *, chain_id: int, usdc: str | None) -> Currency | Refusal:
    """Returns what one of the other token is worth one of. It must be USDC or wrapped ether."""
    if pair.other == usdc:
        return "usd"
    return "eth" if pair.other == WRAPPED_ETH.get(chain_id) else Refusal("unknown_quote_token")


def _address(word: int) -> str:
    return f"0x{word & ((1 << 160) - 1):040x}"
