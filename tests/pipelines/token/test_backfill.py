"""Ranges arrive in any order, are refused and fail; they are committed in the order of the chain."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import ROUNDS

from contracts.evm.codec import RpcError, TooLarge
from pipelines.token.engine import Backfill
from pipelines.token.range_plan import TARGET_LOGS, Range, Span
from warehouse.duck.columns import plain
from warehouse.token.transfers import RangeRead

MOST_LOGS = 3 * TARGET_LOGS
"""Answers with more logs than this are refused."""


class Nodes:
    """Answers each range after some iterations of the loop, `turns` in the order of the requests, and fails at one
    block."""

    def __init__(self, logs: Sequence[int], turns: Sequence[int], fails_at: int | None) -> None:
        self._logs = logs
        self._turns = turns
        self._fails_at = fails_at
        self._asked = 0

    async def read(self, blocks: Range) -> RangeRead:
        turns = self._turns[self._asked % len(self._turns)]
        self._asked += 1
        for _ in range(turns):
            await asyncio.sleep(0)
        first, last = blocks
        logs = np.repeat(np.arange(first, last + 1), self._logs[first : last + 1])
        if len(logs) > MOST_LOGS and first < last:
            raise RpcError(TooLarge(), "too many")
        if self._fails_at is not None and first <= self._fails_at <= last:
            raise ValueError("no node gives these blocks")
        rows = pa.table({"block_number": plain(logs.astype(np.int64), pa.int64())})
        return RangeRead(first, last, "0x", 0, "digest", "host", reasked=False, rows=rows)


class Store:
    """Records what is committed, as the warehouse does: the ranges and the blocks of all rows."""

    def __init__(self) -> None:
        self.ranges: list[Range] = []
        self.blocks: list[int] = []
        self.commits = 0
        self._open: list[RangeRead] = []

    def append(self, ranges: Sequence[RangeRead]) -> None:
        assert ranges
        self._open += ranges

    def commit(self) -> None:
        self.commits += 1
        for part in self._open:
            self.ranges.append((part.from_block, part.to_block))
            self.blocks += part.rows.column("block_number").to_pylist()
        self._open.clear()

    def rollback(self) -> None:
        self._open.clear()


def read_all(store: Store, nodes: Any, last_block: int, started_s: float | None = None) -> Backfill:
    async def run() -> Backfill:
        with ThreadPoolExecutor(1) as writer:
            backfill = Backfill(
                nodes,
                store,
                writer,
                first_block=0,
                last_block=last_block,
                span=Span(),
                start_block=0,
                started_s=time.monotonic() if started_s is None else started_s,
                progress=lambda _: None,
            )
            await backfill.run(deadline_s=math.inf)
        return backfill

    return asyncio.run(run())


numbers_of_logs = st.lists(st.sampled_from([0, 0, 1, 7, 500, TARGET_LOGS, 2 * MOST_LOGS]), min_size=1, max_size=60)
turns = st.lists(st.integers(0, 9), min_size=1, max_size=20)


@settings(max_examples=10 * ROUNDS, deadline=None)
@given(logs=numbers_of_logs, turns=turns)
def test_each_row_is_committed_once_in_chain_order_whatever_the_order_of_the_answers(
    logs: list[int], turns: list[int]
) -> None:
    store = Store()
    backfill = read_all(store, Nodes(logs, turns, None), len(logs) - 1)
    assert backfill.complete
    assert store.blocks == np.repeat(np.arange(len(logs)), logs).tolist()
    ends = [last for _, last in store.ranges]
    assert [first for first, _ in store.ranges] == [0, *(last + 1 for last in ends[:-1])]
    assert (ends[-1], backfill.written_to) == (len(logs) - 1, len(logs) - 1)
    assert (backfill.log_count, backfill.range_count) == (sum(logs), len(store.ranges))


@settings(max_examples=10 * ROUNDS, deadline=None)
@given(logs=numbers_of_logs, turns=turns, data=st.data())
def test_a_range_that_fails_leaves_whole_ranges_before_it_and_none_behind(
    logs: list[int], turns: list[int], data: Any
) -> None:
    fails_at = data.draw(st.integers(0, len(logs) - 1))
    store = Store()
    with pytest.raises(ValueError, match="no node"):
        read_all(store, Nodes(logs, turns, fails_at), len(logs) - 1)
    held_to = store.ranges[-1][1] if store.ranges else -1
    assert held_to < fails_at
    assert store.blocks == np.repeat(np.arange(held_to + 1), logs[: held_to + 1]).tolist()


def test_rows_that_come_fast_are_committed_once_however_long_the_first_answer_took() -> None:
    store = Store()
    read_all(store, Nodes([TARGET_LOGS] * 10, range(1, 90, 9), None), 9, started_s=time.monotonic() - 9)
    assert (len(store.blocks), store.commits) == (10 * TARGET_LOGS, 1)
