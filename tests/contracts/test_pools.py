"""Kinds of pools: recognizing a pool's contract, and the exact price that follows from its numbers."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.market import Refusal
from contracts.pools import (
    CONCENTRATED,
    FEE_SWAP_TOPIC,
    GET_RESERVES,
    LIQUIDITY,
    PAIR,
    PROBES,
    SLOT0,
    STABLE,
    SWAP_TOPIC,
    SYNC_TOPIC,
    TOKEN0,
    TOKEN1,
    WIDE_SYNC_TOPIC,
    Pair,
    as_decimal,
    in_whole_tokens,
    read_pool,
)

OURS, OTHER, THIRD = "0x" + "70" * 20, "0x" + "05" * 20, "0x" + "33" * 20
LOWEST_ROOT, HIGHEST_ROOT = 4295128739, 1461446703485210103287273052203988822378723970342
"""The bounds within which Uniswap v3 keeps the root of a price, times 2^96."""


def words(*values: int) -> str:
    return "0x" + "".join(f"{value % (1 << 256):064x}" for value in values)


def price(kind_state: tuple[int, int], decimals: tuple[int, int], *, ours_first: bool = True) -> Fraction:
    """Returns the price of one whole token of ours in the other token, in a concentrated pool. `decimals`: ours
    first."""
    pair = Pair(OURS, OTHER, OURS) if ours_first else Pair(OTHER, OURS, OURS)
    ours, other = in_whole_tokens(pair, CONCENTRATED.reserves(kind_state), decimals)
    return other / ours


def test_the_topics_are_those_of_the_deployed_contracts() -> None:
    assert (SYNC_TOPIC, WIDE_SYNC_TOPIC, SWAP_TOPIC, FEE_SWAP_TOPIC) == (
        "0x1c411e9a96e071241c2f21f7726b17ae89e3cab4c78be50e062b03a9fffbbad1",
        "0xcf2aa50876cdfbb541206f89af0ee78d44a2abf8d328e37fa4917f982149848a",
        "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67",
        "0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83",
    )


@pytest.mark.parametrize(
    ("root", "decimals", "ours_first", "expected"),
    [
        # Computed with bc: s * s / 2^192, then the decimals. The third is the example of Uniswap's own documentation.
        (2**96, (18, 18), True, "1"),
        (2**96, (18, 6), True, "1000000000000"),
        (2018382873588440326581633304624437, (18, 6), False, "1540.820552028045688043245734256574950771617242188"),
        (2018382873588440326581633304624437, (6, 18), True, "0.000649004842701370076638906103258775505630831975"),
        (2**95, (6, 6), True, "0.25"),
        (2**95, (6, 6), False, "4"),
        (3 * 2**96, (0, 18), True, "0.000000000000000009"),
        (LOWEST_ROOT, (18, 18), True, "2.938956808774311200056207984069752E-39"),
        (HIGHEST_ROOT, (18, 18), True, "340256786836388094070642339899681172762.1848319"),
    ],
)
def test_a_root_of_a_price_is_that_price(root: int, decimals: tuple[int, int], ours_first: bool, expected: str) -> None:
    found = as_decimal(price((root, 10**12), decimals, ours_first=ours_first))
    assert f"{found:.{len(Decimal(expected).as_tuple().digits) - 1}e}" == f"{Decimal(expected):e}"


@given(
    root=st.integers(LOWEST_ROOT, HIGHEST_ROOT),
    liquidity=st.integers(1, 2**128 - 1),
    decimals=st.tuples(st.integers(0, 36), st.integers(0, 36)),
)
def test_the_price_is_exact_at_any_root_in_both_directions_and_whatever_the_depth(
    root: int, liquidity: int, decimals: tuple[int, int]
) -> None:
    expected = Fraction(root, 2**96) ** 2 * Fraction(10) ** (decimals[0] - decimals[1])
    assert price((root, liquidity), decimals) == expected
    assert price((root, liquidity), decimals[::-1], ours_first=False) == 1 / expected
    exact = as_decimal(expected)
    assert abs(Fraction(exact) - expected) <= expected / 10**79
    ours, other = CONCENTRATED.reserves((root, liquidity))
    assert ours * other == liquidity**2


def test_without_liquidity_or_root_a_concentrated_pool_is_empty() -> None:
    assert CONCENTRATED.reserves((2**96, 0)) == CONCENTRATED.reserves((0, 5)) == (0, 0)


TOKENS = {TOKEN0: words(int(OTHER, 16)), TOKEN1: words(int(OURS, 16))}
RESERVES = {GET_RESERVES: words(5, 6, 7)}
UNISWAP = {SLOT0: words(2**96, -5, 0, 1, 1, 0, 1), LIQUIDITY: words(9)}
SLIPSTREAM = {SLOT0: words(2**96, -5, 0, 1, 1, 1), LIQUIDITY: words(9)}


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        (TOKENS | RESERVES, PAIR),
        (TOKENS | RESERVES | {STABLE: words(0)}, PAIR),
        (TOKENS | UNISWAP, CONCENTRATED),
        (TOKENS | SLIPSTREAM, CONCENTRATED),
        (TOKENS | UNISWAP | {STABLE: words(1)}, CONCENTRATED),
        (TOKENS | RESERVES | {STABLE: words(1)}, "other_curve"),
        (TOKENS | RESERVES | UNISWAP, "unknown_pool"),
        (TOKENS, "unknown_pool"),
        (TOKENS | {SLOT0: words(2**96, -5, 0, 1, 1, 1)}, "unknown_pool"),
        (TOKENS | UNISWAP | {SLOT0: words(2**96)}, "unknown_pool"),
        (TOKENS | UNISWAP | {SLOT0: words(2**160, 0, 0, 0, 0, 0)}, "unknown_pool"),
        (TOKENS | {GET_RESERVES: words(2**112, 1, 1)}, "unknown_pool"),
        (TOKENS | {GET_RESERVES: "0x"}, "unknown_pool"),
        (UNISWAP, "no_pair"),
        (TOKENS | UNISWAP | {TOKEN0: "0x"}, "no_pair"),
        (TOKENS | UNISWAP | {TOKEN1: words(int(THIRD, 16))}, "other_pair"),
    ],
)
def test_a_pool_is_of_the_one_kind_that_it_answers_as(answers: dict[str, object], expected: object) -> None:
    assert set(answers) <= set(PROBES)
    found = read_pool(answers, OURS)
    if isinstance(expected, str):
        assert found == Refusal(expected)
    else:
        assert found == (expected, Pair(OTHER, OURS, OURS))


def test_a_call_that_reverted_is_no_answer() -> None:
    reverted = ValueError("execution reverted")
    assert read_pool({**dict.fromkeys(PROBES, reverted), **TOKENS}, OURS) == Refusal("unknown_pool")
