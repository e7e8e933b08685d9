"""Reads one range of events from the pool: the boundary between nodes and the engine.

It decides which answers to believe: from a lagging node, an empty answer, two nodes that differ.
"""

import asyncio
import logging
from collections.abc import Collection
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Final

from contracts.errors import ChainDataInvalid, RpcUnavailable
from contracts.evm.codec import BlockHeader, Fatal, RpcError, TooLarge, Transient
from pipelines.clients.rpc import Endpoint, RpcPool
from pipelines.token.events import Columns, Events
from pipelines.token.head import headers_at
from pipelines.token.range_plan import Range, sampled
from pipelines.token.times import block_times
from warehouse.token.transfers import RangeRead

log = logging.getLogger(__name__)

NEAR_TIP_BLOCKS: Final = 256
"""So close to finality, the bloom of each block without rows is checked."""


@dataclass(frozen=True, eq=False)
class RangeAnswer:
    """One node's answer for a range: its rows, their digest, and the range's last block."""

    endpoint: Endpoint
    columns: Columns
    sha256: str
    last: BlockHeader


class EventSource:
    """Reads ranges up to `finalized`, never from the nodes to `avoid`; decodes in `decoder`.

    `disagreements` counts ranges for which two nodes gave different rows.
    """

    def __init__(
        self,
        pool: RpcPool,
        events: Events,
        *,
        finalized: BlockHeader,
        avoid: Collection[Endpoint],
        decoder: Executor,
    ) -> None:
        self.disagreements = 0
        self._pool = pool
        self._events = events
        self._finalized = finalized
        self._avoid = frozenset(avoid)
        self._decoder = decoder

    async def read(self, blocks: Range) -> RangeRead:
        """Reads the events in `blocks`, and confirms them with another node where that is required.

        Raises `RpcError` (`TooLarge`: ask for less), `RpcUnavailable`, and `ChainDataInvalid` where nodes keep
        contradicting each other.
        """
        answer = await self._pool.attempt(lambda endpoint: self._ask(endpoint, blocks), avoid=self._avoid)
        others = await self._second_answers(blocks, answer)
        for other in others:
            if other.sha256 != answer.sha256:
                answer = await self._confirmed(blocks, answer, other)
        columns = answer.columns
        times = columns.block_timestamp
        exact = True
        if times is None:
            times, exact = block_times(columns.block_number, await self._anchors(blocks, answer))
        return RangeRead(
            from_block=blocks[0],
            to_block=blocks[1],
            to_block_hash=answer.last.hash,
            to_block_time_s=answer.last.time_s,
            payload_sha256=answer.sha256,
            rpc_host=answer.endpoint.host,
            reasked=bool(others),
            rows=columns.to_arrow(times, exact=exact),
        )

    async def _ask(self, endpoint: Endpoint, blocks: Range) -> RangeAnswer:
        first, last = blocks
        try:
            requests = self._events.requests(first, last)
            bodies = [await endpoint.post("eth_getLogs", params) for params in requests]
            columns, digest = await asyncio.get_running_loop().run_in_executor(
                self._decoder, lambda: _with_digest(self._events.decode(bodies, first, last))
            )
        except RpcError as error:
            if not isinstance(error.failure, TooLarge) or first != last:
                raise
            columns, digest = _with_digest(await self._from_receipts(endpoint, first))
        # Asked for after the rows: a node that lacks the block now may have left out rows before.
        header = (await headers_at(endpoint, [last]))[0]
        if last == self._finalized.number and header.hash != self._finalized.hash:
            raise RpcError(Transient(), f"the node has another block {last}")
        return RangeAnswer(endpoint, columns, digest, header)

    async def _from_receipts(self, endpoint: Endpoint, block: int) -> Columns:
        """Reads the rows of one block whose logs are too many for one answer."""
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
        return self._events.decode_receipts(receipts, block)

    async def _second_answers(self, blocks: Range, answer: RangeAnswer) -> list[RangeAnswer]:
        """Returns answers of other nodes: of all where a bloom doubts, of one for an empty or a sampled range.

        With a single node, only the bloom leads to a second answer, from that node.
        """
        others = [endpoint for endpoint in self._pool.endpoints if endpoint is not answer.endpoint]
        if await self._bloom_doubts(blocks, answer):
            asked_again = [await self._from(endpoint, blocks) for endpoint in others or [answer.endpoint]]
        elif len(answer.columns) == 0 or sampled(blocks):
            asked_again = []
            for endpoint in others:
                asked_again = [await self._from(endpoint, blocks)]
                if asked_again[0] is not None:
                    break
        else:
            return []
        return [other for other in asked_again if other is not None]

    async def _from(self, endpoint: Endpoint, blocks: Range) -> RangeAnswer | None:
        """Returns one node's answer, or None where its first attempt fails."""
        if endpoint in self._avoid or endpoint.wrong_chain is not None or endpoint.resting or endpoint.late:
            return None
        others = [other for other in self._pool.endpoints if other is not endpoint]
        try:
            return await self._pool.attempt(lambda only: self._ask(only, blocks), avoid=others, once=True)
        except (RpcError, RpcUnavailable):
            return None

    async def _confirmed(self, blocks: Range, one: RangeAnswer, other: RangeAnswer) -> RangeAnswer:
        """Returns the fuller one of two differing answers, once a third confirms it."""
        self.disagreements += 1
        fuller = max(one, other, key=lambda answer: len(answer.columns))
        hosts = f"{one.endpoint.host} ({len(one.columns)} rows) and {other.endpoint.host} ({len(other.columns)} rows)"
        log.warning("%s differ on blocks %d to %d", hosts, *blocks)
        unasked = [item for item in self._pool.endpoints if item not in (one.endpoint, other.endpoint)]
        for endpoint in [*unasked, fuller.endpoint]:
            third = await self._from(endpoint, blocks)
            if third is not None and third.sha256 == fuller.sha256:
                return fuller
        raise ChainDataInvalid(
            f"RPC nodes differ on blocks {blocks[0]} to {blocks[1]}: {hosts}, and no third answer confirms either.",
            cure="Run again; if it stays so, remove the node that is wrong from SVC_RPC_URLS.",
        )

    async def _bloom_doubts(self, blocks: Range, answer: RangeAnswer) -> bool:
        """Returns whether a block near finality has a bloom that admits our rows but no row in the answer."""
        first, last = blocks
        if last - first >= NEAR_TIP_BLOCKS or last <= self._finalized.number - NEAR_TIP_BLOCKS:
            return False
        empty = sorted(set(range(first, last + 1)) - set(answer.columns.block_number.tolist()))
        headers = await self._pool.attempt(lambda endpoint: headers_at(endpoint, empty), avoid=self._avoid)
        return any(bloom_admits(header, self._events) for header in headers)

    async def _anchors(self, blocks: Range, answer: RangeAnswer) -> list[BlockHeader]:
        first, last = blocks
        numbers = sorted({max(0, first - 1), (first + last) // 2})
        known = await self._pool.attempt(lambda endpoint: headers_at(endpoint, numbers), avoid=self._avoid)
        return [*known, answer.last]


def bloom_admits(header: BlockHeader, events: Events) -> bool:
    """Returns whether a block may hold such events; False where its bloom excludes them, or it has no bloom."""
    return header.logs_bloom is not None and events.admitted(header.logs_bloom)


def _with_digest(columns: Columns) -> tuple[Columns, str]:
    return columns, columns.sha256()
