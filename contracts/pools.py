"""Parses the answers and events of pool contracts: a pool's kind, its two tokens, and the reserves behind its price.
Pure.

A new kind of pool is a new row of `POOL_KINDS`: the functions that return its state, the events that repeat it, and a
function that computes the reserves from it. Sources, ingestion and probing are derived from the rows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Literal

from contracts.evm.codec import keccak256, selector
from contracts.market import Refusal

GET_RESERVES = selector("getReserves()")
STABLE = selector("stable()")
SLOT0 = selector("slot0()")
LIQUIDITY = selector("liquidity()")
TOKEN0 = selector("token0()")
TOKEN1 = selector("token1()")
DECIMALS = selector("decimals()")


def _topic(signature: str) -> str:
    return "0x" + keccak256(signature.encode()).hex()


SYNC_TOPIC = _topic("Sync(uint112,uint112)")
WIDE_SYNC_TOPIC = _topic("Sync(uint256,uint256)")
SWAP_TOPIC = _topic("Swap(address,address,int256,int256,uint160,uint128,int24)")
FEE_SWAP_TOPIC = _topic("Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)")

DECIMALS_LIMIT = 36

WRAPPED_ETH = {
    1: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
    10: "0x4200000000000000000000000000000000000006",
    8453: "0x4200000000000000000000000000000000000006",
    42161: "0x82af49447d8a07e3bd95bee6f62d2d58bf9bda3f",
}
"""Chain id -> the wrapped ether in which pools are quoted."""

Currency = Literal["usd", "eth"]
State = tuple[int, int]
"""The two numbers from which a pool's price is computed, as its contract returns and emits them."""

Reserves = tuple[Fraction, Fraction]
"""Amounts of token0 and token1 in their smallest units, whose quotient is the price. Both are 0 in an empty pool."""

_X96 = 1 << 96
_QUOTIENT = Context(prec=80)


@dataclass(frozen=True)
class StateNumber:
    """One number of a pool's state: the column of its events, its width, and its position in answers and events.

    It is word `word` of the answer of `getter`, and word `event_word` of an event's data.
    """

    column: str
    bits: int
    getter: str
    word: int
    event_word: int


@dataclass(frozen=True)
class PoolKind:
    """One kind of pool.

    `getters` maps the functions that return the state to the least number of words in their answers. `events` maps the
    first topic of events that repeat the state to their numbers of topics and of words. A pool whose function `unless`
    returns true has another curve, so its reserves do not determine a price.
    """

    name: str
    getters: Mapping[str, int]
    state: tuple[StateNumber, StateNumber]
    events: Mapping[str, tuple[int, int]]
    reserves: Callable[[State], Reserves]
    unless: str | None = None

    def read_answers(self, answers: Mapping[str, object]) -> State | None:
        """Parses the state from `eth_call` results, by call data. Returns None if this is not a pool of this kind."""
        words = {getter: read_words(answers.get(getter), count) for getter, count in self.getters.items()}
        found = [words[number.getter] for number in self.state]
        return self._within(
            [None if answer is None else answer[n.word] for n, answer in zip(self.state, found, strict=True)]
        )

    def read_event(self, topics: Sequence[str], data: object) -> State | None:
        """Parses the state from an event that repeats it. Returns None if the event has another form."""
        topic_count, word_count = self.events.get(topics[0].lower(), (0, 0)) if topics else (0, 0)
        words = read_words(data, word_count)
        if words is None or len(topics) != topic_count or len(str(data)) != 2 + 64 * word_count:
            return None
        return self._within([words[number.event_word] for number in self.state])

    def _within(self, numbers: Sequence[int | None]) -> State | None:
        first, second = numbers
        if first is None or second is None or first >> self.state[0].bits or second >> self.state[1].bits:
            return None
        return first, second


def pair_reserves(state: State) -> Reserves:
    """Returns the reserves of a pair, which are its state."""
    return Fraction(state[0]), Fraction(state[1])


def virtual_reserves(state: State) -> Reserves:
    """Returns the reserves of a pair with the price and the depth of a concentrated pool at its current price.

    Its state is the square root of the price of token0 in token1, times 2^96, and the liquidity in range. Without
    liquidity in range, nobody can trade at that price.
    """
    sqrt_price_x96, liquidity = state
    if sqrt_price_x96 == 0:
        return Fraction(0), Fraction(0)
    return Fraction(liquidity * _X96, sqrt_price_x96), Fraction(liquidity * sqrt_price_x96, _X96)


PAIR = PoolKind(
    name="pair",  # Uniswap v2 and its copies; Aerodrome's volatile pools, whose event has wider numbers
    getters={GET_RESERVES: 2},
    state=(
        StateNumber("reserve0_raw", 112, GET_RESERVES, 0, 0),
        StateNumber("reserve1_raw", 112, GET_RESERVES, 1, 1),
    ),
    events={SYNC_TOPIC: (1, 2), WIDE_SYNC_TOPIC: (1, 2)},
    reserves=pair_reserves,
    unless=STABLE,
)
CONCENTRATED = PoolKind(
    name="concentrated",  # Uniswap v3; Aerodrome Slipstream, whose slot0 is one word shorter; PancakeSwap v3
    getters={SLOT0: 6, LIQUIDITY: 1},
    state=(
        StateNumber("sqrt_price_x96", 160, SLOT0, 0, 2),
        StateNumber("liquidity_raw", 128, LIQUIDITY, 0, 3),
    ),
    events={SWAP_TOPIC: (3, 5), FEE_SWAP_TOPIC: (3, 7)},
    reserves=virtual_reserves,
)
POOL_KINDS = {kind.name: kind for kind in (PAIR, CONCENTRATED)}

PROBES = tuple(
    dict.fromkeys(
        (TOKEN0, TOKEN1, *(call for kind in POOL_KINDS.values() for call in (*kind.getters, kind.unless) if call))
    )
)
"""Call data of every function that identifies a pool."""


@dataclass(frozen=True)
class Pair:
    """The two tokens of a pool, lower-case hex, and which of them is the service token."""

    token0: str
    token1: str
    token: str

    @property
    def other(self) -> str:
        return self.token1 if self.token == self.token0 else self.token0


@dataclass(frozen=True)
class PoolTerms:
    """The terms by which a pool's reserves become prices: its kind, its pair, the decimals of our token and of the
    other token, and the currency that the other token represents.
    """

    kind: PoolKind
    pair: Pair
    decimals: tuple[int, int]
    currency: Currency


def read_words(result: object, count: int) -> list[int] | None:
    """Parses the first `count` 32-byte words of an `eth_call` result as unsigned integers, or None if there are
    fewer."""
    if not isinstance(result, str) or not result.startswith("0x") or len(result) < 2 + 64 * count:
        return None
    try:
        return [int(result[place : place + 64], 16) for place in range(2, 2 + 64 * count, 64)]
    except ValueError:
        return None


def read_pool(answers: Mapping[str, object], token: str) -> tuple[PoolKind, Pair] | Refusal:
    """Parses a pool's kind and pair from the results of `PROBES`, by call data. The pair must contain our token.

    Returns a refusal for a contract that answers like no kind of pool, or like several.
    """
    pair = read_pair(answers.get(TOKEN0), answers.get(TOKEN1), token)
    if isinstance(pair, Refusal):
        return pair
    kinds = [kind for kind in POOL_KINDS.values() if kind.read_answers(answers) is not None]
    if len(kinds) != 1:
        return Refusal("unknown_pool")
    (kind,) = kinds
    if kind.unless is not None and (read_words(answers.get(kind.unless), 1) or [0]) != [0]:
        return Refusal("other_curve")
    return kind, pair


def read_pair(token0: object, token1: object, token: str) -> Pair | Refusal:
    """Parses the pair from two `eth_call` results. It must contain our token."""
    words = [read_words(token0, 1), read_words(token1, 1)]
    if words[0] is None or words[1] is None:
        return Refusal("no_pair")
    pair = Pair(_address(words[0][0]), _address(words[1][0]), token)
    return pair if token in (pair.token0, pair.token1) else Refusal("other_pair")


def read_decimals(ours: object, other: object) -> tuple[int, int] | Refusal:
    """Parses the results of `decimals()` of our token and of the other token."""
    words = [read_words(result, 1) for result in (ours, other)]
    if words[0] is None or words[1] is None or max(words[0][0], words[1][0]) > DECIMALS_LIMIT:
        return Refusal("no_pair")
    return words[0][0], words[1][0]


def currency_of(pair: Pair, *, chain_id: int, usdc: str | None) -> Currency | Refusal:
    """Returns the currency that the pair's other token represents. It must be USDC or wrapped ether."""
    if pair.other == usdc:
        return "usd"
    return "eth" if pair.other == WRAPPED_ETH.get(chain_id) else Refusal("unknown_quote_token")


def in_whole_tokens(pair: Pair, reserves: Reserves, decimals: tuple[int, int]) -> Reserves:
    """Returns the reserves of our token and of the other token, in whole tokens; `decimals` has the same order."""
    ours, other = reserves if pair.token == pair.token0 else reversed(reserves)
    return ours / 10 ** decimals[0], other / 10 ** decimals[1]


def as_decimal(value: Fraction) -> Decimal:
    """Returns a fraction as the nearest decimal with 80 digits."""
    return _QUOTIENT.divide(Decimal(value.numerator), Decimal(value.denominator))


def _address(word: int) -> str:
    return f"0x{word & ((1 << 160) - 1):040x}"
