"""Reads the blocks above finality again at the end of a run, and rolls changed ones back to the common ancestor."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from contracts.evm.codec import BlockHeader, RpcError, TooLarge, Transient, read_header
from pipelines.clients.rpc import Endpoint, RpcPool
from pipelines.token.events import Events, Params
from pipelines.token.head import headers_at
from pipelines.token.range_plan import Range
from pipelines.token.source import bloom_admits
from pipelines.token.times import block_times
from warehouse.token.transfers import TipBlock

TIP_BLOCKS: Final = 256
_WALK_BLOCKS: Final = 16


@dataclass(frozen=True)
class TipChange:
    """The change of the tip: blocks in [first_kept, last_kept] stay, `blocks` and their rows are added.

    `rolled_back` counts stored blocks that are no longer in the chain.
    """

    first_kept: int
    last_kept: int
    blocks: Sequence[TipBlock]
    rows: Sequence[pa.Table]
    rolled_back: int


async def read_tip(
    pool: RpcPool,
    events: Events,
    *,
    finalized: BlockHeader,
    stored: Sequence[TipBlock],
    avoid: Collection[Endpoint],
) -> TipChange:
    """Compares the stored tip with a node's and reads the new blocks. Raises what `RpcPool.attempt` raises."""
    return await pool.attempt(
        lambda endpoint: _read(pool, endpoint, events, finalized=finalized, stored=stored), avoid=avoid
    )


def common_ancestor(stored: Mapping[int, str], chain: Mapping[int, str]) -> int | None:
    """Returns the highest block number with the same hash in both, or None if they share no block."""
    return max((number for number, block_hash in chain.items() if stored.get(number) == block_hash), default=None)


def check_linked(headers: Sequence[BlockHeader], parent_hash: str | None) -> None:
    """Raises `RpcError` (transient) unless each header follows the previous one, the first one `parent_hash`."""
    for header in headers:
        if parent_hash is not None and header.parent_hash != parent_hash:
            raise RpcError(Transient(), f"block {header.number} does not follow the one before it")
        parent_hash = header.hash


async def _read(
    pool: RpcPool, endpoint: Endpoint, events: Events, *, finalized: BlockHeader, stored: Sequence[TipBlock]
) -> TipChange:
    latest = read_header(await endpoint.call("eth_getBlockByNumber", ["latest", False]))
    if latest is None or latest.number < finalized.number:
        raise RpcError(Transient(), "the node is behind finality")
    first = max(finalized.number + 1, latest.number - TIP_BLOCKS + 1)
    known = {block.number: block.hash for block in stored if block.number >= first}
    top = max(known, default=first - 1)
    if known.get(latest.number) == latest.hash:
        return TipChange(first, top, [], [], 0)  # nothing new, or a node that lags behind the stored tip
    chain: dict[int, BlockHeader] = {latest.number: latest}
    ancestor = await _walk_back(endpoint, known, chain, from_block=min(top, latest.number), first=first)
    start = first if ancestor is None else ancestor + 1
    missing = [number for number in range(start, latest.number + 1) if number not in chain]
    chain |= {header.number: header for header in await headers_at(endpoint, missing)}
    fresh = [chain[number] for number in range(start, latest.number + 1)]
    before = known[ancestor] if ancestor is not None else (finalized.hash if first == finalized.number + 1 else None)
    check_linked(fresh, before)
    rows = await _rows(endpoint, events, (start, latest.number), fresh)
    await _doubt_empty(pool, endpoint, events, fresh, rows)
    return TipChange(
        first_kept=first,
        last_kept=start - 1,
        blocks=[TipBlock(header.number, header.hash, header.parent_hash, header.time_s) for header in fresh],
        rows=rows,
        rolled_back=sum(number >= start for number in known),
    )


async def _walk_back(
    endpoint: Endpoint, known: Mapping[int, str], chain: dict[int, BlockHeader], *, from_block: int, first: int
) -> int | None:
    """Fetches headers into `chain`, downwards from `from_block`, until one is known. Returns its number, or None."""
    upper = from_block
    while known and upper >= first:
        lower = max(first, upper - _WALK_BLOCKS + 1)
        headers = await headers_at(endpoint, range(lower, upper + 1))
        chain |= {header.number: header for header in headers}
        ancestor = common_ancestor(known, {header.number: header.hash for header in headers})
        if ancestor is not None:
            return ancestor
        upper = lower - 1
    return None


async def _rows(endpoint: Endpoint, events: Events, blocks: Range, headers: Sequence[BlockHeader]) -> list[pa.Table]:
    """Reads the rows of blocks that must be exactly those of `headers`; halves the request if it is too large."""
    first, last = blocks
    try:
        bodies = [await endpoint.post("eth_getLogs", params) for params in events.requests(first, last)]
        hashes = {header.number: header.hash for header in headers if first <= header.number <= last}
        columns = events.decode_pending(bodies, hashes)
    except RpcError as error:
        if not isinstance(error.failure, TooLarge) or first == last:
            raise
        middle = (first + last) // 2
        lower = await _rows(endpoint, events, (first, middle), headers)
        return lower + await _rows(endpoint, events, (middle + 1, last), headers)
    times, exact = block_times(columns.block_number, headers)
    return [columns.to_arrow(times, exact=exact)]


async def _doubt_empty(
    pool: RpcPool, endpoint: Endpoint, events: Events, headers: Sequence[BlockHeader], rows: Sequence[pa.Table]
) -> None:
    """Raises `RpcError` (transient) if another node has rows of a block for which this one has none."""
    filled = {number for table in rows for number in table.column("block_number").unique().to_pylist()}
    doubted = [header for header in headers if header.number not in filled and bloom_admits(header, events)]
    calls = [("eth_getLogs", params) for header in doubted for params in _in_block(events, header)]
    for other in pool.endpoints:
        if not calls or other is endpoint or other.wrong_chain is not None or other.resting or other.late:
            continue
        try:
            answers = await other.batch(calls)
        except RpcError:
            continue
        if any(isinstance(answer, list) and answer for answer in answers):
            raise RpcError(Transient(), "an empty answer for a block that contains events")


def _in_block(events: Events, header: BlockHeader) -> list[Params]:
    """Returns the requests for one block, named by its hash."""
    return [
        [{name: value for name, value in params[0].items() if not name.endswith("Block")} | {"blockHash": header.hash}]
        for params in events.requests(header.number, header.number)
    ]
