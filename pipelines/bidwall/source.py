"""Reads a native balance at a named block: at finality, or at the newest block if no node has older state."""

from datetime import UTC, datetime
from typing import Any

from contracts.evm.codec import BlockHeader, RpcError, quantity, read_header
from contracts.token.proof import Missing
from pipelines.clients.rpc_state import Rpc, ask
from warehouse.bidwall.contract_balance import BalanceReading
from warehouse.token.chain_head import SeenHead

_UINT256 = 1 << 256


async def read_balance(rpc: Rpc, contract: str, head: SeenHead) -> BalanceReading:
    """Reads the balance at the final block of `head`; the node's block with that number must have the same hash.

    A failure is a reading with its reason: no_state, rpc_unavailable, call_reverted, block_hash_mismatch, unreadable.
    """
    reading = await _at(rpc, contract, hex(head.finalized_block), is_final=True, block_hash=head.finalized_hash)
    if reading.reason != Missing.NO_STATE:
        return reading
    (newest,) = await ask(rpc, [("eth_getBlockByNumber", ["latest", False])])
    header = None if isinstance(newest, Missing) else _header(newest)
    if header is None:
        return reading
    later = await _at(rpc, contract, hex(header.number), is_final=False, block_hash=header.hash)
    return reading if later.balance_wei is None else later


async def _at(rpc: Rpc, contract: str, tag: str, *, is_final: bool, block_hash: str) -> BalanceReading:
    block, balance = await ask(rpc, [("eth_getBlockByNumber", [tag, False]), ("eth_getBalance", [contract, tag])])
    now = datetime.now(UTC)
    for answer in (block, balance):
        if isinstance(answer, Missing):
            return _failed(answer.value, now)
    header, wei = _header(block), _wei(balance)
    if header is None or wei is None:
        return _failed("unreadable", now)
    if header.hash != block_hash:
        return _failed("block_hash_mismatch", now)
    return BalanceReading(
        balance_wei=wei,
        block=header.number,
        block_hash=header.hash,
        block_time=datetime.fromtimestamp(header.time_s, UTC),
        is_final=is_final,
        reason=None,
        fetched_at=now,
    )


def _failed(reason: str, now: datetime) -> BalanceReading:
    return BalanceReading(None, None, None, None, None, reason, now)


def _header(answer: Any) -> BlockHeader | None:
    try:
        return read_header(answer)
    except RpcError:
        return None


def _wei(answer: Any) -> int | None:
    try:
        wei = quantity(answer)
    except (TypeError, ValueError):
        return None
    return wei if wei < _UINT256 else None
