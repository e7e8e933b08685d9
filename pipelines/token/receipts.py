"""Reads a block's receipts from one node, and trusts them if they hash to the root that the block commits to."""

from collections.abc import Sequence
from typing import Any

from contracts.evm.blocks import BlockInvalid, block_hash, receipts_root
from contracts.evm.codec import Fatal, RpcError, Transient
from pipelines.clients.rpc import Endpoint


async def block_receipts(endpoint: Endpoint, block: int) -> list[Any]:
    """Returns the receipts of a block, read one by one if necessary. Raises `RpcError`."""
    try:
        receipts = await endpoint.call("eth_getBlockReceipts", [hex(block)])
    except RpcError as error:
        if not isinstance(error.failure, Fatal):
            raise
        header = await endpoint.call("eth_getBlockByNumber", [hex(block), False])
        hashes = header["transactions"] if isinstance(header, dict) else []
        receipts = await endpoint.batch([("eth_getTransactionReceipt", [tx_hash]) for tx_hash in hashes])
        for receipt in receipts:
            if isinstance(receipt, RpcError):
                raise receipt from None
    if not isinstance(receipts, list) or None in receipts:
        raise RpcError(Transient(), f"the node lacks receipts of block {block}")
    return receipts


async def reproduced_receipts(endpoint: Endpoint, block: int, expected_hash: str) -> Sequence[Any] | None:
    """Returns a block's receipts if they hash to the root in the header with `expected_hash`, else None.

    A chain whose headers or receipts have a form that we don't know gives None too. Raises `RpcError`.
    """
    header = await endpoint.call("eth_getBlockByNumber", [hex(block), False])
    try:
        if not isinstance(header, dict) or block_hash(header) != expected_hash:
            return None
        receipts = await block_receipts(endpoint, block)
        return receipts if receipts_root(receipts) == header["receiptsRoot"].lower() else None
    except (BlockInvalid, AttributeError, TypeError):
        return None
