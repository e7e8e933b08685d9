"""Reads one range of events from the pool: the boundary between nodes and the engine.

It decides which answers to trust: those of a lagging node, empty ones, those of two nodes that differ. If two differ,
the block's receipts decide, which must hash to the root in a header on which the nodes agree.
"""

import asyncio
import logging
import random
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
import pyarrow as pa

from contracts.errors import NodesDisagree, RpcUnavailable
from contracts.evm.codec import BlockHeader, RpcError, TooLarge, Transient
from contracts.token.nodes import Disagreement, DisputedFact
from pipelines.clients.rpc import Endpoint, RpcPool
from pipelines.token.decode import BlockTooEarly
from pipelines.token.events import Columns, FinalEvents
from pipelines.token.head import headers_at
from pipelines.token.range_plan import Range, drawn, overlaps
from pipelines.token.receipts import block_receipts, reproduced_receipts
from pipelines.token.times import are_possible, block_times
from warehouse.token.transfers import Checkpoint, RangeRead, StoredRange

log = logging.getLogger(__name__)

NEAR_TIP_BLOCKS: Final = 256
"""Within this distance of finality the bloom of each block without rows is checked, and a second node confirms each
range."""

MOST_PROVEN_BLOCKS: Final = 16
"""The most blocks whose receipts decide between two answers; if more differ, this many are drawn at random."""

_chance: Final = random.SystemRandom()

Result = TypeVar("Result")
BlockRows = Mapping[int, Sequence[Mapping[str, Any]]]
"""The parts of rows that receipts commit to, by block."""


@dataclass(frozen=True, eq=False)
class RangeAnswer:
    """One node's answer for a range: its rows, their digest, and the range's last block."""

    endpoint: Endpoint
    columns: Columns
    sha256: str
    last: BlockHeader

    @property
    def summary(self) -> str:
        return _summary(len(self.columns), self.sha256)

    @property
    def table(self) -> pa.Table:
        return table_of(self.columns)


@dataclass(frozen=True)
class Reread:
    """The outcome of reading a stored range again: the nodes that gave the stored rows, and whether these are wrong."""

    stored: StoredRange
    agreed: frozenset[str] = frozenset()
    wrong: bool = False


class EventSource:
    """Reads ranges up to `finalized`, never from the nodes to `avoid`; decodes in `decoder`.

    It refuses a block after the `held` checkpoint whose time is earlier. Ranges that overlap `suspect` are always
    confirmed by a second node. `disagreements` counts the ranges for which two nodes gave different rows; `found` lists
    these, each with what decided (None: no proof); `confirmed` lists the ranges that two nodes gave alike.
    """

    def __init__(
        self,
        pool: RpcPool,
        events: FinalEvents,
        *,
        finalized: BlockHeader,
        avoid: Collection[Endpoint],
        decoder: Executor,
        suspect: Collection[Range] = (),
        held: Checkpoint | None = None,
    ) -> None:
        self.disagreements = 0
        self.found: list[tuple[Disagreement, str | None]] = []
        self.confirmed: list[Range] = []
        self._pool = pool
        self._events = events
        self._finalized = finalized
        self._held = held
        self._avoid = frozenset(avoid)
        self._decoder = decoder
        self._suspect = tuple(suspect)

    async def read(self, blocks: Range) -> RangeRead:
        """Reads the events in `blocks`, and confirms them with another node where that is required.

        Raises `RpcError` (`TooLarge`: request fewer blocks), `RpcUnavailable`, and `NodesDisagree` if nodes contradict
        one another and nothing decides.
        """
        answer = await self._pool.attempt(lambda endpoint: self._ask(endpoint, blocks), avoid=self._avoid)
        others = await self._second_answers(blocks, answer)
        reasked = any(other.endpoint is not answer.endpoint for other in others)
        for other in others:
            if other.sha256 != answer.sha256:
                answer = await self._decided(blocks, answer, other)
            elif other.endpoint is not answer.endpoint:
                self.confirmed.append(blocks)
        columns = answer.columns
        times = columns.block_timestamp
        exact = True
        if times is None or not are_possible(columns.block_number, times, answer.last):
            times, exact = block_times(columns.block_number, await self._anchors(blocks, answer))
        return RangeRead(
            from_block=blocks[0],
            to_block=blocks[1],
            to_block_hash=answer.last.hash,
            to_block_time_s=answer.last.time_s,
            payload_sha256=answer.sha256,
            rpc_host=answer.endpoint.host,
            reasked=reasked,
            rows=columns.to_arrow(times, exact=exact),
        )

    async def reread(
        self,
        stored: StoredRange,
        rows: Callable[[], pa.Table],
        *,
        everywhere: bool = False,
        doubted: int | None = None,
    ) -> Reread:
        """Reads a stored range again from a node that did not deliver it, or with `everywhere` from every node. `rows`
        returns the stored rows.

        A range in dispute is `doubted` for one of its blocks: nodes that give the stored rows count as agreeing only if
        the receipts of that block don't contradict. The stored rows are wrong if receipts prove other rows, or if all
        nodes, including the one that delivered them if it is still configured, give equal other rows, and not fewer.
        """
        blocks = (stored.from_block, stored.to_block)
        endpoints = [item for item in self._pool.endpoints if everywhere or item.host != stored.rpc_host]
        _chance.shuffle(endpoints)
        answers: list[RangeAnswer] = []
        for endpoint in endpoints:
            answer = await self._from(endpoint, blocks)
            if answer is not None:
                answers.append(answer)
                if not everywhere:
                    break
        different = [answer for answer in answers if answer.sha256 != stored.payload_sha256]
        if not different:
            proven = None if doubted is None else await self._proven_rows(doubted)
            if proven is not None and doubted is not None and rows_by_block(rows()).get(doubted, []) != proven:
                return Reread(stored)
            return Reread(stored, agreed=frozenset(answer.endpoint.host for answer in answers))
        other = different[0]
        self.disagreements += 1
        ours = (stored.rpc_host, _summary(stored.log_count, stored.payload_sha256))
        disagreement = Disagreement(
            DisputedFact.TRANSFERS,
            stored.name,
            stored.to_block,
            (ours, *(answered for answer in answers if (answered := (answer.endpoint.host, answer.summary)) != ours)),
        )
        place = await self._by_receipts([rows_by_block(rows()), rows_by_block(other.table)])
        alike = len({answer.sha256 for answer in answers}) == 1 and len(answers) == len(self._pool.endpoints)
        replaced = alike and len(other.columns) >= stored.log_count  # fewer rows are a gap of these nodes
        log.warning("%s and stored rows of %s differ on blocks %d to %d", other.endpoint.host, stored.rpc_host, *blocks)
        if place is None:
            self.found.append((disagreement, "nodes_agree" if replaced else None))
            return Reread(stored, wrong=replaced)
        self.found.append((disagreement, "receipts"))
        stored_is_wrong = place == 1
        if not stored_is_wrong:
            self._distrust(other.endpoint.host)
        elif stored.rpc_host not in {answer.endpoint.host for answer in different}:  # else it is right by now
            self._distrust(stored.rpc_host)
        return Reread(stored, wrong=stored_is_wrong)

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
            columns, digest = _with_digest(self._events.decode_receipts(await block_receipts(endpoint, first), first))
        # Requested after the rows: a node that lacks the block now may have left out rows before.
        header = (await headers_at(endpoint, [last]))[0]
        if last == self._finalized.number and header.hash != self._finalized.hash:
            raise RpcError(Transient(), f"the node has another block {last}")
        if self._held is not None and _is_earlier(header, self._held):
            raise BlockTooEarly(f"block {last} would be earlier than the stored block {self._held.to_block}")
        return RangeAnswer(endpoint, columns, digest, header)

    async def _second_answers(self, blocks: Range, answer: RangeAnswer) -> list[RangeAnswer]:
        """Returns answers of other nodes: of all nodes if a bloom contradicts, of one for a range that needs
        confirmation.

        These are empty ranges, ranges near finality or under suspicion, every range of events that are always
        confirmed, and a share of the others, which is drawn at random after the answer has arrived, so that no node can
        predict it. With a single node only a bloom leads to a second answer, from the same node.
        """
        others = [endpoint for endpoint in self._pool.endpoints if endpoint is not answer.endpoint]
        if await self._bloom_doubts(blocks, answer):
            asked_again = [await self._from(endpoint, blocks) for endpoint in others or [answer.endpoint]]
        elif (
            self._events.always_confirmed
            or len(answer.columns) == 0
            or blocks[1] > self._finalized.number - NEAR_TIP_BLOCKS
            or any(overlaps(blocks, suspect) for suspect in self._suspect)
            or drawn(_chance)
        ):
            _chance.shuffle(others)
            asked_again = []
            for endpoint in others:
                asked_again = [await self._from(endpoint, blocks)]
                if asked_again[0] is not None:
                    break
        else:
            return []
        return [other for other in asked_again if other is not None]

    async def _from(self, endpoint: Endpoint, blocks: Range) -> RangeAnswer | None:
        """Returns one node's answer, or None if its first attempt fails."""
        return await self._only(endpoint, lambda only: self._ask(only, blocks))

    async def _only(self, endpoint: Endpoint, work: Callable[[Endpoint], Awaitable[Result]]) -> Result | None:
        if endpoint in self._avoid or endpoint.wrong_chain is not None or endpoint.resting or endpoint.late:
            return None
        others = [other for other in self._pool.endpoints if other is not endpoint]
        try:
            return await self._pool.attempt(work, avoid=others, once=True)
        except (RpcError, RpcUnavailable):
            return None

    async def _decided(self, blocks: Range, one: RangeAnswer, other: RangeAnswer) -> RangeAnswer:
        """Returns the one of two differing answers that the receipts prove, or the fuller one if a third confirms it.

        A node that receipts prove wrong is not queried again in this slice.
        """
        self.disagreements += 1
        hosts = f"{one.endpoint.host} ({len(one.columns)} rows) and {other.endpoint.host} ({len(other.columns)} rows)"
        log.warning("%s differ on blocks %d to %d", hosts, *blocks)
        answers = tuple((answer.endpoint.host, answer.summary) for answer in (one, other))
        disagreement = Disagreement(DisputedFact.TRANSFERS, range_name(blocks), blocks[1], answers)
        place = await self._by_receipts([rows_by_block(one.table), rows_by_block(other.table)])
        if place is not None:
            right, wrong = (one, other) if place == 0 else (other, one)
            self.found.append((disagreement, "receipts"))
            self._distrust(wrong.endpoint.host)
            return right
        self.found.append((disagreement, None))
        fuller = max(one, other, key=lambda answer: len(answer.columns))
        unasked = [item for item in self._pool.endpoints if item not in (one.endpoint, other.endpoint)]
        for endpoint in [*unasked, fuller.endpoint]:
            third = await self._from(endpoint, blocks)
            if third is not None and third.sha256 == fuller.sha256:
                return fuller
        raise NodesDisagree(
            f"RPC nodes differ on blocks {blocks[0]} to {blocks[1]}: {hosts}, and no third answer confirms either.",
            cure="Run again; if that recurs, remove the node that is wrong from SVC_RPC_URLS.",
        )

    async def _by_receipts(self, candidates: Sequence[BlockRows]) -> int | None:
        """Returns the index of the candidate whose rows the receipts prove, or None if nothing proves one."""
        numbers = sorted(set().union(*candidates))
        differing = [
            number for number in numbers if any(rows.get(number) != candidates[0].get(number) for rows in candidates)
        ]
        right = set(range(len(candidates)))
        for number in _chance.sample(differing, min(MOST_PROVEN_BLOCKS, len(differing))):
            proven = await self._proven_rows(number)
            if proven is None:
                return None
            right &= {place for place, rows in enumerate(candidates) if rows.get(number, []) == proven}
        return right.pop() if len(right) == 1 else None

    async def _proven_rows(self, number: int) -> Sequence[Mapping[str, Any]] | None:
        """Returns the rows in the receipts of a block on whose hash the nodes agree, or None."""
        endpoints = list(self._pool.endpoints)
        headers = [await self._only(item, lambda only: headers_at(only, [number])) for item in endpoints]
        hashes = {header[0].hash for header in headers if header is not None}
        if len(hashes) != 1:
            return None
        (expected_hash,) = hashes
        for endpoint in endpoints:
            receipts = await self._only(endpoint, lambda only: reproduced_receipts(only, number, expected_hash))
            if receipts is not None:
                try:
                    columns = self._events.decode_receipts(receipts, number)
                except RpcError:
                    continue
                return rows_by_block(table_of(columns)).get(number, [])
        return None

    def _distrust(self, host: str) -> None:
        self._avoid |= {endpoint for endpoint in self._pool.endpoints if endpoint.host == host}

    async def _bloom_doubts(self, blocks: Range, answer: RangeAnswer) -> bool:
        """Returns True if a block near finality has a bloom that admits such events, but no row in the answer."""
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


def _is_earlier(header: BlockHeader, held: Checkpoint) -> bool:
    """Decides whether a block after the held checkpoint has an earlier time, which no chain allows."""
    held_s = held.to_block_time_s
    return held_s is not None and header.number > held.to_block and header.time_s < held_s


def bloom_admits(header: BlockHeader, events: FinalEvents) -> bool:
    """Returns True if a block may contain such events; False if its bloom excludes them, or it has no bloom."""
    return header.logs_bloom is not None and events.admitted(header.logs_bloom)


def range_name(blocks: Range) -> str:
    """Returns the subject of a dispute about the rows of a range."""
    return f"{blocks[0]}-{blocks[1]}"


def rows_by_block(rows: pa.Table) -> BlockRows:
    """Returns the parts of each row that receipts commit to, in order, by block: without transaction hash and time."""
    by_block: dict[int, list[dict[str, Any]]] = {}
    for row in rows.drop_columns([name for name in _UNCOMMITTED if name in rows.column_names]).to_pylist():
        by_block.setdefault(row.pop("block_number"), []).append(row)
    return by_block


_UNCOMMITTED: Final = ("log_index", "tx_hash", "block_time", "block_time_quality")


def table_of(columns: Columns) -> pa.Table:
    """Returns rows as a table, without their times."""
    return columns.to_arrow(np.zeros(len(columns), np.int64), exact=True)


def _summary(row_count: int, sha256: str) -> str:
    return f"{row_count} rows, SHA-256 {sha256}"


def _with_digest(columns: Columns) -> tuple[Columns, str]:
    return columns, columns.sha256()
