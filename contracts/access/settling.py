"""Determines, from the providers' answers, whether a signed payment can be settled, and what sending it costs. Pure.

A value that too few providers report, or on which they disagree, is None (unknown). Nothing is decided on it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from contracts.access.authorizations import Authorization
from contracts.access.provider_views import Call, Silence
from contracts.access.rail import ASSET_NAME, ASSET_VERSION, PaymentRail
from contracts.evm.codec import RpcError, keccak256, quantity, selector

GAS_LIMIT: Final = 200_000
"""Units of gas that one transfer by authorization may use. USDC's takes about 90,000."""

LEAST_TIP_WEI: Final = 1_000_000
MOST_FEE_WEI: Final = 10**12
"""Maximum price of a unit of gas, whatever the providers answer."""

USED_TOPIC: Final = "0x" + keccak256(b"AuthorizationUsed(address,bytes32)").hex()
CANCELED_TOPIC: Final = "0x" + keccak256(b"AuthorizationCanceled(address,bytes32)").hex()

Answers = Sequence[list[Any | RpcError] | Silence]
"""The answers of each provider to the same calls, in the calls' order."""

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Fees:
    """The maximum price that a transaction pays per unit of gas, and the block proposer's share of it; in wei."""

    fee: int
    tip: int

    def replacing(self, earlier: Fees) -> Fees:
        """Returns fees with which nodes accept a transaction in place of an earlier one with the same nonce."""
        return Fees(*(max(now, min(before * 9 // 8 + 1, MOST_FEE_WEI)) for now, before in self._beside(earlier)))

    def _beside(self, earlier: Fees) -> tuple[tuple[int, int], tuple[int, int]]:
        return (self.fee, earlier.fee), (self.tip, earlier.tip)


@dataclass(frozen=True, slots=True)
class Head:
    """The state that enough providers have reached: the newest block, its time in Unix seconds, the relayer's mined
    nonces and balance in wei, and the current price of a transaction."""

    number: int
    time_s: int
    nonces_used: int
    balance_wei: int
    fees: Fees


@dataclass(frozen=True, slots=True)
class Worth:
    """The current value of an authorization: whether its nonce is used or cancelled, the payer's balance, and whether
    the transfer would succeed. Unknown values are None."""

    used: bool | None
    balance: int | None
    passes: bool | None

    def refusal(self, value: int, *, authorized: int = 0) -> str | None:
        """Returns the x402 code of the reason why it can't be settled, or None if it can or this is unknown."""
        if self.used:
            return "invalid_exact_evm_nonce_already_used"
        if self.balance is not None and self.balance < value + authorized:
            return "invalid_exact_evm_insufficient_balance"
        if self.passes is False:
            return "invalid_exact_evm_transaction_simulation_failed"
        return None

    @property
    def known(self) -> bool:
        return None not in (self.used, self.balance, self.passes)


def head_calls(relayer: str) -> list[Call]:
    """Returns the calls from whose answers `read_head` builds a `Head`."""
    return [
        ("eth_chainId", []),
        ("eth_getBlockByNumber", ["latest", False]),
        ("eth_getTransactionCount", [relayer, "latest"]),
        ("eth_getBalance", [relayer, "latest"]),
        ("eth_maxPriorityFeePerGas", []),
    ]


def read_head(rail: PaymentRail, answers: Answers) -> Head | None:
    """Returns the state that enough providers have reached. A single provider that exaggerates has no effect."""
    found = [made for each in answers if not isinstance(each, Silence) and (made := _head_of(rail, each)) is not None]
    if len(found) < max(rail.quorum, 1):
        return None

    def reached(name: str) -> int:
        values: list[int] = sorted((getattr(head, name) for head in found), reverse=True)
        return values[max(rail.quorum, 1) - 1]

    return Head(
        number=reached("number"),
        time_s=reached("time_s"),
        nonces_used=reached("nonces_used"),
        balance_wei=reached("balance_wei"),
        fees=min((head.fees for head in found), key=lambda fees: fees.fee),
    )


def worth_calls(authorization: Authorization) -> list[Call]:
    """Returns the calls from whose answers `read_worth` builds a `Worth`."""
    payer = authorization.payer[2:].rjust(64, "0")
    state = selector("authorizationState(address,bytes32)") + payer + authorization.nonce[2:]
    return [
        _eth_call(authorization.asset, state),
        _eth_call(authorization.asset, selector("balanceOf(address)") + payer),
        _eth_call(authorization.asset, authorization.call),
    ]


def read_worth(rail: PaymentRail, answers: Answers) -> Worth:
    """Returns the value of an authorization according to enough providers."""
    return Worth(
        used=agreed(answers, 0, rail.quorum, lambda word: _word(word) != 0),
        balance=_least(answers, 1, rail.quorum),
        passes=_passes(answers, 2, rail.quorum),
    )


def domain_calls(rail: PaymentRail) -> list[Call]:
    """Returns the calls that query the coin's EIP-712 domain."""
    asked = ("name()", "version()", "DOMAIN_SEPARATOR()")
    return [("eth_chainId", []), *(_eth_call(rail.asset, selector(name)) for name in asked)]


def domain_fits(rail: PaymentRail, answers: Answers, separator: str) -> bool | None:
    """Decides whether the coin has the name, version and domain separator for which its payers sign here."""
    ask = (
        agreed(answers, 0, rail.quorum, lambda text: quantity(text) == rail.chain_id),
        agreed(answers, 1, rail.quorum, lambda text: _string(text) == ASSET_NAME),
        agreed(answers, 2, rail.quorum, lambda text: _string(text) == ASSET_VERSION),
        agreed(answers, 3, rail.quorum, lambda text: str(text).lower() == separator),
    )
    if False in ask:
        return False
    return None if None in ask else True


def event_calls(authorization: Authorization, from_block: int) -> list[Call]:
    """Returns the call for the events in which a nonce was used or cancelled."""
    topics = [[USED_TOPIC, CANCELED_TOPIC], "0x" + authorization.payer[2:].rjust(64, "0"), authorization.nonce]
    where = {
        "address": authorization.asset,
        "topics": topics,
        "fromBlock": hex(max(from_block, 0)),
        "toBlock": "latest",
    }
    return [("eth_getLogs", [where])]


def read_events(rail: PaymentRail, answers: Answers) -> tuple[tuple[str, str], ...] | None:
    """Returns the events (topic, transaction hash) in which a nonce was used or cancelled."""
    return agreed(answers, 0, rail.quorum, _events)


def agreed(answers: Answers, place: int, quorum: int, read: Callable[[Any], Value]) -> Value | None:
    """Returns the value of at least `quorum` providers, if no other contradicts. `read` may raise `ValueError`."""
    found = list(_readable(answers, place, read))
    return found[0] if len(found) >= max(quorum, 1) and len(set(found)) == 1 else None


def _readable(answers: Answers, place: int, read: Callable[[Any], Value]) -> list[Value]:
    found = []
    for each in answers:
        if isinstance(each, Silence) or isinstance(each[place], RpcError):
            continue
        try:
            found.append(read(each[place]))
        except (ValueError, TypeError, AttributeError, KeyError):
            continue
    return found


def _least(answers: Answers, place: int, quorum: int) -> int | None:
    found = _readable(answers, place, _word)
    return min(found) if len(found) >= max(quorum, 1) else None


def _passes(answers: Answers, place: int, quorum: int) -> bool | None:
    """Decides whether a simulated call succeeds. A revert counts as an answer, other errors don't."""
    said = [
        not isinstance(each[place], RpcError)
        for each in answers
        if not isinstance(each, Silence) and (not isinstance(each[place], RpcError) or each[place].reverted)
    ]
    return said[0] if len(said) >= max(quorum, 1) and len(set(said)) == 1 else None


def _head_of(rail: PaymentRail, answer: list[Any]) -> Head | None:
    chain, block, nonces, balance, tip = answer
    try:
        if quantity(chain) != rail.chain_id:
            return None
        base = quantity(block["baseFeePerGas"])
        asked = LEAST_TIP_WEI if isinstance(tip, RpcError) else max(quantity(tip), LEAST_TIP_WEI)
        fee = min(2 * base + asked, MOST_FEE_WEI)
        return Head(
            quantity(block["number"]), quantity(block["timestamp"]), quantity(nonces), quantity(balance),
            Fees(fee, min(asked, fee)),
        )  # fmt: skip
    except (TypeError, ValueError, KeyError):  # an `RpcError` in place of an answer ends up here too
        return None


def _events(logs: Any) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((str(log["topics"][0]).lower(), str(log["transactionHash"]).lower()) for log in logs))


def _eth_call(to: str, data: str) -> Call:
    return "eth_call", [{"to": to, "data": data}, "latest"]


def _word(text: Any) -> int:
    if not isinstance(text, str) or len(text) != 66:
        raise ValueError("no word")
    return int(text, 16)


def _string(text: Any) -> str:
    from eth_abi.abi import decode

    try:
        (found,) = decode(["string"], bytes.fromhex(str(text).removeprefix("0x")))
    except Exception as error:  # the decoder has its own tree of errors
        raise ValueError("no text") from error
    return str(found)
