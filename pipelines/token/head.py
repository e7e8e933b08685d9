"""Reads the head of the chain and its final block, and verifies that it is still the chain in the warehouse."""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final

from contracts.errors import ChainMismatch, FinalityUnknown, FinalizedMismatch, RpcUnavailable
from contracts.evm.codec import BlockHeader, RpcError, Transient, read_header
from contracts.token.holder_documents import ConsistencyLevel
from pipelines.clients.rpc import Endpoint, RpcPool
from warehouse.token.transfers import Checkpoint

log = logging.getLogger(__name__)

_BEHIND_S: Final = 600
"""A node whose newest block is this much older than another node's is behind: its finality is ignored."""

ANOTHER_HISTORY: Final = (
    "Check that the nodes in SVC_RPC_URLS serve the chain that was read. If it really has another history now, or its "
    "clock was set back, start over with another SVC_DATA_DIR, or with `svc demo --reset` for the demo."
)
"""The cure if every node contradicts the final blocks that are stored."""


@dataclass(frozen=True)
class ChainHead:
    """The chain as its nodes report it: identity, newest block, newest final block, and the source of that finality."""

    chain_id: int
    genesis_hash: str
    head: BlockHeader
    finalized: BlockHeader
    level: ConsistencyLevel


@dataclass(frozen=True)
class NodeView:
    """One node's head; `finalized` is None if it does not support that tag."""

    genesis: BlockHeader
    head: BlockHeader
    finalized: BlockHeader | None


async def probe(pool: RpcPool, *, confirmations: int | None, avoid: Collection[Endpoint] = ()) -> ChainHead:
    """Queries every node once, except those to `avoid`. Raises `FinalityUnknown`, `RpcUnavailable`, `ChainMismatch`."""
    answers = await pool.each(_view, enough=lambda _: True, avoid=avoid)
    views = [view for view in answers.values() if isinstance(view, NodeView)]
    if not views:
        _raise_first(pool, list(answers.values()))
    head = max((view.head for view in views), key=lambda header: header.number)
    genesis_hash = views[0].genesis.hash
    if any(view.genesis.hash != genesis_hash for view in views):
        raise ChainMismatch(
            "The RPC URLs belong to different chains with the same id: their genesis blocks differ.",
            cure="Keep only the addresses of the chain you mean in SVC_RPC_URLS.",
        )
    finalized, level = agreed_finality(views), ConsistencyLevel.FINALIZED
    if finalized is None:
        if confirmations is None:
            raise FinalityUnknown(
                "The RPC node has no `finalized` block.",
                cure="Set SVC_CONFIRMATIONS to the number of blocks after which a block counts as final.",
            )
        lowest = min(view.head.number for view in plausible(views))
        finalized = await header_of(pool, max(0, lowest - confirmations))
        level = ConsistencyLevel.CONFIRMATIONS
    return ChainHead(pool.chain_id, genesis_hash, head, finalized, level)


def plausible(views: Sequence[NodeView]) -> list[NodeView]:
    """Returns the nodes that are not far behind the newest one."""
    newest_s = max(view.head.time_s for view in views)
    return [view for view in views if view.head.time_s >= newest_s - _BEHIND_S]


def agreed_finality(views: Sequence[NodeView]) -> BlockHeader | None:
    """Returns the lowest finalized block among plausible nodes that have one, or None."""
    known = [
        view.finalized
        for view in plausible(views)
        if view.finalized is not None and view.finalized.number <= view.head.number
    ]
    return min(known, key=lambda header: header.number, default=None)


async def header_of(pool: RpcPool, number: int) -> BlockHeader:
    """Reads a block's header from any node that has it. Raises what `RpcPool.attempt` raises."""

    async def ask(endpoint: Endpoint) -> BlockHeader:
        return (await headers_at(endpoint, [number]))[0]

    return await pool.attempt(ask)


async def headers_at(endpoint: Endpoint, numbers: Sequence[int]) -> list[BlockHeader]:
    """Reads headers by number from one node. Raises `RpcError` (transient) if it lacks one of them."""
    results = await endpoint.batch([("eth_getBlockByNumber", [hex(number), False]) for number in numbers])
    headers = []
    for number, result in zip(numbers, results, strict=True):
        if isinstance(result, RpcError):
            raise result
        header = read_header(result)
        if header is None or header.number != number:
            raise RpcError(Transient(), f"the node lacks block {number}")
        headers.append(header)
    return headers


async def confirm_checkpoint(pool: RpcPool, checkpoint: Checkpoint) -> frozenset[Endpoint]:
    """Compares the newest stored block with the chain. Returns the nodes that contradict it, which should be avoided.

    A node that lacks the block is behind and has no vote. Raises `FinalizedMismatch` if every node that has the block
    contradicts: final blocks are never rewritten.
    """

    async def ask(endpoint: Endpoint) -> BlockHeader | None:
        return read_header(await endpoint.call("eth_getBlockByNumber", [hex(checkpoint.to_block), False]))

    def agrees(header: BlockHeader | BaseException | None) -> bool:
        return isinstance(header, BlockHeader) and header.hash == checkpoint.to_block_hash

    headers = await pool.each(ask, enough=agrees)
    contradicting: dict[Endpoint, str] = {}
    for endpoint, header in headers.items():
        if isinstance(header, BlockHeader) and not agrees(header):
            log.warning("%s contradicts stored block %d", endpoint.host, checkpoint.to_block)
            contradicting[endpoint] = header.hash
    if contradicting and not any(map(agrees, headers.values())):
        hashes = ", ".join(f"{endpoint.host} has {other[:18]}…" for endpoint, other in contradicting.items())
        raise FinalizedMismatch(
            f"Block {checkpoint.to_block} was final as {checkpoint.to_block_hash[:18]}…, "
            f"but {hashes}. Nothing was rewritten.",
            cure=ANOTHER_HISTORY,
        )
    return frozenset(contradicting)


async def _view(node: Endpoint) -> NodeView:
    tags = ("0x0", "latest", "finalized")
    genesis, head, finalized = await node.batch([("eth_getBlockByNumber", [tag, False]) for tag in tags])
    for needed in (genesis, head):
        if isinstance(needed, RpcError):
            raise needed
    first, newest = read_header(genesis), read_header(head)
    if first is None or newest is None:
        raise RpcError(Transient(), "the node lacks its own first or last block")
    return NodeView(first, newest, None if isinstance(finalized, RpcError) else read_header(finalized))


def _raise_first(pool: RpcPool, failures: Sequence[NodeView | BaseException]) -> None:
    _ = pool.live  # raises ChainMismatch if that is the cause
    for failure in failures:
        if isinstance(failure, RpcUnavailable):
            raise failure
    raise RpcUnavailable(
        f"No RPC node reports its chain's head ({'; '.join(map(str, failures)) or 'no URL'}).",
        cure="Check that the addresses in SVC_RPC_URLS answer eth_getBlockByNumber.",
    )
