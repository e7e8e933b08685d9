"""Ingests one slice of a kind of event from a pool of nodes into the warehouse. Runs without Dagster.

It reads several ranges at once, ahead of the one that is being written, and commits them in order, each with its
checkpoint. After a kill at any point, the next slice continues from the last committed range.
"""

import asyncio
import math
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, Protocol

from contracts.errors import ChainDataInvalid, RpcUnavailable
from contracts.evm.codec import RpcError, TooLarge
from contracts.token.nodes import Dispute, DisputedFact
from pipelines.clients.rpc import RpcPool
from pipelines.progress import Listener, Progress
from pipelines.token.decode import BlockTooEarly, LogsInvalid
from pipelines.token.events import Events, FinalEvents
from pipelines.token.head import ANOTHER_HISTORY, confirm_checkpoint, probe
from pipelines.token.range_plan import TARGET_LOGS, Range, Span, covers, next_range
from pipelines.token.rereading import reread_ranges, suspect_ranges
from pipelines.token.source import EventSource, range_name
from pipelines.token.tip import TipChange, read_tip
from warehouse.duck.connection import Connection
from warehouse.token.disputes import open_disputes, record_disputes, settle_disputes
from warehouse.token.transfers import (
    EventTables,
    RangeAppender,
    RangeRead,
    last_checkpoint,
    replace_tip,
    tip_blocks,
)

WINDOW: Final = 6
"""The number of ranges in flight."""

_BUFFERED_LOGS: Final = 12 * TARGET_LOGS
"""The most rows that wait for an earlier range."""

_APPENDED_LOGS: Final = 4 * TARGET_LOGS
"""The number of rows to append at once, unless a commit is due earlier: a statement costs as much as 3,000 rows in it.
"""

_COMMIT_WITHIN_S: Final = 2.0
_COMMIT_AFTER_S: Final = 0.25
_FAST_LOGS_PER_S: Final = 50_000
"""Rows wait a quarter of a second for their commit, or two seconds if they arrive so fast that writing them twice would
matter. Rows that a kill leaves uncommitted are read again. A first commit of few rows is expensive: the checkpoint then
shifts all later ones into full row groups."""

_TICK_S: Final = 0.5


@dataclass(frozen=True)
class IngestReport:
    """The outcome of one slice.

    Blocks from `from_block` to `to_block` are newly stored (`to_block` < `from_block`: no blocks); `complete` means
    that history is stored up to `finalized_block`, and `percent` is the share stored. Times are UTC Unix seconds.
    """

    from_block: int
    to_block: int
    finalized_block: int
    finalized_hash: str
    finalized_time_s: int
    head_block: int
    log_count: int
    range_count: int
    reasked_count: int
    disagreement_count: int
    tip_block_count: int
    tip_rolled_back: int
    complete: bool
    percent: float
    elapsed_s: float
    requests: int


async def ingest(
    pool: RpcPool,
    connection: Connection,
    events: Events,
    *,
    start_block: int,
    confirmations: int | None,
    budget_s: float = 60.0,
    up_to: int | None = None,
    progress: Listener = lambda _: None,
) -> IngestReport:
    """Continues from the last checkpoint for at most `budget_s` seconds, and no further than block `up_to`. Call it
    again while not `complete`.

    The connection is used from one thread at a time, and must not be used by the caller until this returns. Raises
    `OperatorProblem`: `FinalizedMismatch`, `FinalityUnknown`, `ChainMismatch`, `RpcUnavailable`, `ChainDataInvalid`.
    Everything read before the error is committed.
    """
    started_s, requests_before = time.monotonic(), pool.request_count
    checkpoint = last_checkpoint(connection, events.tables)
    avoid = await confirm_checkpoint(pool, checkpoint) if checkpoint else frozenset()
    head = await probe(pool, confirmations=confirmations, avoid=avoid)
    with (
        ThreadPoolExecutor(1, thread_name_prefix="decode") as decoder,
        ThreadPoolExecutor(1, thread_name_prefix="write") as writer,
    ):
        disputes = open_disputes(connection, events.tables)
        source = EventSource(
            pool,
            events,
            finalized=head.finalized,
            avoid=avoid,
            decoder=decoder,
            suspect=suspect_ranges(disputes),
            held=checkpoint,
        )
        hosts = [endpoint.host for endpoint in pool.endpoints]
        if await reread_ranges(source, connection, events.tables, disputes, hosts, datetime.now(UTC)):
            checkpoint = last_checkpoint(connection, events.tables)
        appender = RangeAppender(connection, events.tables)
        span = (
            Span.resumed((checkpoint.from_block, checkpoint.to_block), checkpoint.log_count) if checkpoint else Span()
        )
        backfill = Backfill(
            source,
            appender,
            writer,
            first_block=checkpoint.to_block + 1 if checkpoint else start_block,
            last_block=head.finalized.number if up_to is None else min(up_to, head.finalized.number),
            span=span,
            start_block=start_block,
            started_s=started_s,
            progress=progress,
        )
        try:
            with failures_named(events):
                await backfill.run(deadline_s=started_s + budget_s)
                tip = TipChange(0, -1, [], [], 0)
                # A finality below the stored blocks comes from a lagging node, whose tip would contain final blocks.
                if events.tables.tip_rows is not None and backfill.written_to == head.finalized.number:
                    in_writer = asyncio.get_running_loop().run_in_executor
                    known = await in_writer(writer, tip_blocks, connection, events.tables)
                    tip = await read_tip(pool, events, finalized=head.finalized, stored=known, avoid=avoid)
                    await in_writer(writer, _replace_tip, connection, events.tables, tip)
        finally:
            _record_disputes(connection, events.tables, disputes, source, datetime.now(UTC))
    return IngestReport(
        from_block=backfill.first_block,
        to_block=backfill.written_to,
        finalized_block=head.finalized.number,
        finalized_hash=head.finalized.hash,
        finalized_time_s=head.finalized.time_s,
        head_block=head.head.number,
        log_count=backfill.log_count,
        range_count=backfill.range_count,
        reasked_count=backfill.reasked_count,
        disagreement_count=source.disagreements,
        tip_block_count=len(tip.blocks),
        tip_rolled_back=tip.rolled_back,
        complete=backfill.written_to >= head.finalized.number,
        percent=backfill.progress().percent,
        elapsed_s=time.monotonic() - started_s,
        requests=pool.request_count - requests_before,
    )


@contextmanager
def failures_named(events: FinalEvents) -> Iterator[None]:
    """Turns failures that no other node can help with into an `OperatorProblem`."""
    try:
        yield
    except BlockTooEarly as error:
        raise ChainDataInvalid(
            f"No RPC node continues the stored history ({error}). Nothing was rewritten.", cure=ANOTHER_HISTORY
        ) from error
    except LogsInvalid as error:
        raise ChainDataInvalid(f"No RPC node gives usable {events.what} ({error}).", cure=events.cure) from error
    except RpcError as error:
        raise RpcUnavailable(
            f"The RPC nodes refuse what ingestion needs ({error}).",
            cure="Use nodes that serve eth_getLogs and eth_getBlockByNumber, in SVC_RPC_URLS.",
        ) from error


class RangeSink(Protocol):
    """Accepts contiguous ranges in order. Appended ranges are stored only once they are committed."""

    def append(self, ranges: Sequence[RangeRead]) -> None: ...

    def commit(self) -> None: ...

    def rollback(self) -> None: ...


@dataclass(frozen=True)
class _Appended:
    """The facts about a range that are still needed once its rows are in the open transaction."""

    to_block: int
    log_count: int
    reasked: bool


class Backfill:
    """Reads [first_block, last_block] into a sink. A range is first being read, then waits for earlier ones, then is
    ready, then written. `start_block` is the first block of the whole history, for progress."""

    def __init__(
        self,
        source: EventSource,
        sink: RangeSink,
        writer: Executor,
        *,
        first_block: int,
        last_block: int,
        span: Span,
        start_block: int,
        started_s: float,
        progress: Listener,
    ) -> None:
        self.first_block = first_block
        self.written_to = self.first_block - 1
        self.log_count = 0
        self.range_count = 0
        self.reasked_count = 0
        self.span = span
        self._source = source
        self._writer = writer
        self._last_block = last_block
        self._start_block = start_block
        self._started_s = started_s
        self._listener = progress
        self._cursor = self.first_block
        self._running: dict[asyncio.Task[RangeRead], Range] = {}
        self._waiting: dict[int, RangeRead] = {}
        self._ready: list[RangeRead] = []
        self._sink = sink
        self._appended: list[_Appended] = []
        self._uncommitted_since_s = math.inf
        self._writing: asyncio.Future[None] | None = None

    @property
    def complete(self) -> bool:
        return self.written_to >= self._last_block

    @property
    def _has_written(self) -> bool:
        return bool(self._appended) or self.written_to >= self.first_block

    def progress(self) -> Progress:
        return Progress(
            first_block=self._start_block,
            at_block=self.written_to,
            last_block=self._last_block,
            slice_blocks=self.written_to - self.first_block + 1,
            slice_logs=self.log_count,
            elapsed_s=time.monotonic() - self._started_s,
        )

    async def run(self, *, deadline_s: float) -> None:
        """Reads and writes until everything is stored or the time is up, but writes at least one range."""
        try:
            while not self.complete and (time.monotonic() < deadline_s or not self._has_written):
                self._launch()
                self._write_ready(last=time.monotonic() >= deadline_s)
                pending: set[asyncio.Future[Any]] = {*self._running}
                if self._writing is not None:
                    pending.add(self._writing)
                finished, _ = await asyncio.wait(pending, timeout=_TICK_S, return_when=asyncio.FIRST_COMPLETED)
                for future in finished:
                    if future is self._writing:
                        self._writing = None
                        future.result()
                    else:
                        self._take(future)  # type: ignore[arg-type]
                self._listener(self.progress())
        finally:
            await self._settle()

    def _launch(self) -> None:
        while len(self._running) < WINDOW:
            waiting = [(part.from_block, part.to_block) for part in self._waiting.values()]
            blocks = next_range(
                [*self._running.values(), *waiting],
                from_block=self._cursor,
                to_block=self._last_block,
                blocks=self.span.blocks,
            )
            buffered = _rows(self._waiting.values()) + _rows(self._ready)
            if blocks is None or (buffered > _BUFFERED_LOGS and blocks[0] != self._cursor):
                return
            self._running[asyncio.create_task(self._source.read(blocks))] = blocks

    def _take(self, task: asyncio.Task[RangeRead]) -> None:
        blocks = self._running.pop(task)
        try:
            part = task.result()
        except RpcError as error:
            if not isinstance(error.failure, TooLarge) or blocks[0] == blocks[1]:
                raise
            self.span = self.span.after_too_large(blocks, error.failure)
            return
        self.span = self.span.after_success(blocks, part.rows.num_rows)
        self._waiting[part.from_block] = part

    def _write_ready(self, *, last: bool = False) -> None:
        """Passes the next contiguous ranges to the writer; with `last` it also commits them."""
        while self._cursor in self._waiting:
            self._ready.append(self._waiting.pop(self._cursor))
            self._cursor = self._ready[-1].to_block + 1
            self._uncommitted_since_s = min(self._uncommitted_since_s, time.monotonic())
        last = last or self._cursor > self._last_block
        is_due = last or self._commit_due() or _rows(self._ready) >= _APPENDED_LOGS
        if self._writing is None and ((self._ready and is_due) or (last and self._appended)):
            ready, self._ready = self._ready, []
            self._writing = asyncio.ensure_future(self._write(ready, last=last))

    async def _write(self, ready: list[RangeRead], *, last: bool) -> None:
        in_writer = partial(asyncio.get_running_loop().run_in_executor, self._writer)
        try:
            if ready:
                await in_writer(self._sink.append, ready)
                self._appended += [_Appended(part.to_block, part.rows.num_rows, part.reasked) for part in ready]
            if last or self._commit_due():
                await in_writer(self._sink.commit)
                self._count_committed()
        except BaseException:
            self._waiting.clear()  # ranges after an unwritten one must not be written
            self._ready.clear()
            self._appended.clear()
            await in_writer(self._sink.rollback)
            raise

    def _commit_due(self) -> bool:
        waited_s = time.monotonic() - self._uncommitted_since_s
        logs = sum(part.log_count for part in self._appended) + _rows(self._ready)
        is_fast = logs >= _FAST_LOGS_PER_S * waited_s
        return waited_s >= (_COMMIT_WITHIN_S if is_fast else _COMMIT_AFTER_S)

    def _count_committed(self) -> None:
        self._uncommitted_since_s = time.monotonic() if self._ready else math.inf
        self.written_to = self._appended[-1].to_block
        self.log_count += sum(part.log_count for part in self._appended)
        self.range_count += len(self._appended)
        self.reasked_count += sum(part.reasked for part in self._appended)
        self._appended.clear()

    async def _settle(self) -> None:
        """Cancels running reads, and commits the contiguous ranges that were read, so that none of them is lost."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        if self._writing is not None:
            await self._writing
            self._writing = None
        self._write_ready(last=True)
        if self._writing is not None:
            await self._writing


def _rows(ranges: Iterable[RangeRead]) -> int:
    return sum(part.rows.num_rows for part in ranges)


def _record_disputes(
    connection: Connection, tables: EventTables, before: Sequence[Dispute], source: EventSource, now: datetime
) -> None:
    """Stores the disagreements that the slice found, and settles disputes whose complete range two nodes have now
    delivered alike."""
    for settled_by in (None, "receipts", "nodes_agree"):
        found = [disagreement for disagreement, by in source.found if by == settled_by]
        record_disputes(connection, found, now, settled_by=settled_by, tables=tables)
    again = {disagreement.subject for disagreement, _ in source.found}
    confirmed = [
        (DisputedFact.TRANSFERS, name)
        for blocks in suspect_ranges(before)
        if (name := range_name(blocks)) not in again and covers(source.confirmed, blocks)
    ]
    settle_disputes(connection, confirmed, "nodes_agree", now, tables=tables)


def _replace_tip(connection: Connection, tables: EventTables, tip: TipChange) -> None:
    replace_tip(
        connection,
        first_kept=tip.first_kept,
        last_kept=tip.last_kept,
        blocks=tip.blocks,
        rows=tip.rows,
        tables=tables,
    )
