"""Queries the token contract for the inputs of a proof, at the list's block or carried back from a newer one."""

from collections.abc import Mapping, Sequence
from typing import Any

from contracts.errors import RpcUnavailable
from contracts.evm.codec import RpcError, TooLarge, quantity, read_header, selector, transfer_filter
from contracts.token.holders import ZERO_ADDRESS
from contracts.token.proof import ContractAnswers, Missing, decode_uint
from pipelines.clients.rpc_state import Call, Rpc, ask

TOTAL_SUPPLY = selector("totalSupply()")
BALANCE_OF = selector("balanceOf(address)")

_CARRY_BLOCKS = 10_000
"""The most blocks over which a proof is carried back: on the chains in question finality never lags more."""


async def ask_contract(rpc: Rpc, *, token: str, block: int, balances: Mapping[str, int]) -> ContractAnswers:
    """Returns the contract's supply and balances of these addresses (address -> ours, smallest units) at `block`.

    If no node has state that old, queries the newest block and subtracts the transfers since.
    """
    answers = await _answers_at(rpc, token, block, balances)
    if answers.total_supply is not Missing.NO_STATE:
        return answers
    return await _carried_back(rpc, token, block, balances, answers)


def balance_of_data(address: str) -> str:
    """Returns the call data of `balanceOf(address)`."""
    return BALANCE_OF + address.removeprefix("0x").rjust(64, "0")


async def _answers_at(rpc: Rpc, token: str, block: int, balances: Mapping[str, int]) -> ContractAnswers:
    tag = hex(block)
    calls: list[Call] = [
        ("eth_getBlockByNumber", [tag, False]),
        ("eth_call", [{"to": token, "data": TOTAL_SUPPLY}, tag]),
    ]
    for address in (ZERO_ADDRESS, *balances):
        calls.append(("eth_call", [{"to": token, "data": balance_of_data(address)}, tag]))
    header, supply, of_zero, *theirs = await ask(rpc, calls)
    return ContractAnswers(
        total_supply=_uint(supply),
        balance_of_zero=_uint(of_zero),
        balances=tuple(
            (address, ours, _uint(answer)) for (address, ours), answer in zip(balances.items(), theirs, strict=True)
        ),
        block_hash=_hash_of(header),
    )


async def _carried_back(
    rpc: Rpc, token: str, block: int, balances: Mapping[str, int], at_block: ContractAnswers
) -> ContractAnswers:
    try:
        head = read_header(await rpc.call("eth_getBlockByNumber", ["latest", False]))
        if head is None or not block < head.number <= block + _CARRY_BLOCKS:
            return at_block
        logs = await _transfers(rpc, token, block + 1, head.number)
        since = _changes_since(logs)
    except (RpcError, RpcUnavailable, ValueError, KeyError, IndexError, TypeError):
        return at_block
    newest = await _answers_at(rpc, token, head.number, balances)
    if isinstance(newest.total_supply, Missing) or newest.block_hash != head.hash:
        return at_block
    zero_holds = not isinstance(newest.balance_of_zero, Missing) and 0 < newest.balance_of_zero <= newest.total_supply
    if zero_holds and any(log["topics"][2].endswith(ZERO_ADDRESS[2:]) for log in logs):
        return at_block  # transfers to zero since may be burned or kept, so the old supply is unknown
    return ContractAnswers(
        total_supply=newest.total_supply + since.get(ZERO_ADDRESS, 0),
        balance_of_zero=newest.balance_of_zero,
        balances=tuple(
            (address, ours, theirs if isinstance(theirs, Missing) else theirs - since.get(address, 0))
            for address, ours, theirs in newest.balances
        ),
        block_hash=at_block.block_hash,
        derived=True,
    )


async def _transfers(rpc: Rpc, token: str, first: int, last: int) -> list[Any]:
    """Reads the transfer logs of [first, last]; halves the range if a node finds it too large. Raises `RpcError`."""
    try:
        return list(await rpc.call("eth_getLogs", transfer_filter(token, first, last)))
    except RpcError as error:
        if not isinstance(error.failure, TooLarge) or first == last:
            raise
    middle = (first + last) // 2
    return [*await _transfers(rpc, token, first, middle), *await _transfers(rpc, token, middle + 1, last)]


def _changes_since(logs: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    """Returns the net change per address in smallest units; for the zero address it is burned minus minted."""
    changes: dict[str, int] = {}
    for log in logs:
        topics = log["topics"]
        value = quantity(log["data"])
        for topic, change in ((topics[1], -value), (topics[2], value)):
            address = "0x" + topic[-40:].lower()
            changes[address] = changes.get(address, 0) + change
    return changes


def _uint(answer: Any | Missing) -> int | Missing:
    return answer if isinstance(answer, Missing) else decode_uint(answer)


def _hash_of(answer: Any | Missing) -> str | Missing:
    if isinstance(answer, Missing):
        return answer
    header = read_header(answer)
    return Missing.NO_STATE if header is None else header.hash
