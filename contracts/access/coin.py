"""Determines, from the providers' answers, how many decimals the payment rail's coin has. Pure.

Prices are in units of a coin with `USDC_DECIMALS`. With 18 decimals, a plan of 9 USD would cost 0.000000000009 of it.
"""

from collections.abc import Iterable
from typing import Any, Final

from contracts.access.provider_views import Call, Silence, read_chain_id
from contracts.access.rail import USDC_DECIMALS, PaymentRail
from contracts.access.settling import Answers, agreed
from contracts.evm.codec import RpcError, selector

NO_DECIMALS: Final = -1
"""Represents a contract that reverts the call, or an address without a contract."""

COIN_DIFFERS: Final = "coin_decimals_differ"
"""The stable reason for selling nothing while the coin is known to have other decimals."""


def decimals_call(asset: str) -> Call:
    """Returns the call that queries a coin's decimals."""
    return "eth_call", [{"to": asset, "data": selector("decimals()")}, "latest"]


def coin_calls(rail: PaymentRail) -> list[Call]:
    """Returns the calls whose answers `coin_decimals` reads."""
    return [("eth_chainId", []), decimals_call(rail.asset)]


def coin_decimals(rail: PaymentRail, answers: Answers) -> int | None:
    """Returns the decimals of the coin, or `NO_DECIMALS`. None if too few providers of the rail's chain agree."""
    words = [answer[1] for answer in answers if not isinstance(answer, Silence) and _is_of(rail, answer[0])]
    return agreed_decimals(words, rail.quorum)


def agreed_decimals(words: Iterable[Any | RpcError], quorum: int) -> int | None:
    """Returns the value of at least `quorum` results of `decimals_call`, if no result contradicts it."""
    said = [["0x" if isinstance(word, RpcError) and word.reverted else word] for word in words]
    return agreed(said, 0, quorum, _decimals)


def coin_fault(decimals: int) -> str | None:
    """Describes briefly what is wrong with a coin of this many decimals, or returns None."""
    if decimals == USDC_DECIMALS:
        return None
    has = "has no decimals()" if decimals == NO_DECIMALS else f"has {decimals} decimals"
    return f"{has}, and USDC has {USDC_DECIMALS}"


def _is_of(rail: PaymentRail, chain_id: Any | RpcError) -> bool:
    try:
        return read_chain_id(chain_id) == rail.chain_id
    except ValueError:
        return False


def _decimals(word: Any) -> int:
    """Parses the result of `decimals()`. Raises `ValueError`."""
    if not isinstance(word, str) or not word.startswith("0x"):
        raise ValueError("a result that is not hex")
    return int(word, 16) if len(word) == len("0x") + 64 else NO_DECIMALS
