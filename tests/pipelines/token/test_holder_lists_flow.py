"""Any sequence of transfers, folds, lists, snapshots and pruning: every recorded list is whole, exact and readable."""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from holder_rows import TOKEN, FakeToken, Row, address, put_transfers, replay
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from rounds import ROUNDS

from contracts.token.holder_documents import ConsistencyLevel, Token
from contracts.token.holders import ZERO_ADDRESS
from contracts.token.proof import Proof, Verdict
from pipelines.token.holder_lists import take_list
from warehouse.duck.connection import Warehouse
from warehouse.token.fold import fold_balances
from warehouse.token.holder_lists import lists_dir, prune_lists

HOLDERS = [address(number) for number in range(1, 7)]
amounts = st.one_of(st.integers(0, 2**64), st.integers(2**120, 2**136), st.integers(2**250, 2**252))


class Lists(RuleBasedStateMachine):
    """A warehouse, and the same history in Python integers."""

    @initialize()
    def open(self) -> None:
        self.directory = tempfile.TemporaryDirectory()
        self.data_dir = Path(self.directory.name)
        self.opened = Warehouse(self.data_dir).connect()
        self.connection: Any = self.opened.__enter__()
        self.rows: list[Row] = []
        self.block = 0
        self.now = datetime(2026, 2, 1, tzinfo=UTC)

    @rule(moves=st.lists(st.tuples(st.sampled_from(HOLDERS), st.sampled_from(HOLDERS), amounts), max_size=5))
    def a_block_is_read(self, moves: list[tuple[str, str, int]]) -> None:
        self.block += 1
        held = replay(self.rows)
        fresh: list[Row] = []
        for sender, recipient, value in moves:
            lacking = value - held.get(sender, 0)
            if lacking > 0:
                fresh.append((self.block, ZERO_ADDRESS, sender, lacking))
                held[sender] = held.get(sender, 0) + lacking
            fresh.append((self.block, sender, recipient, value))
            held[sender] = held.get(sender, 0) - value
            held[recipient] = held.get(recipient, 0) + value
        put_transfers(self.connection, fresh, self.block)
        self.rows += fresh

    @rule(snapshot=st.booleans())
    def a_list_is_taken(self, snapshot: bool) -> None:
        fold_balances(self.connection)
        taken = asyncio.run(
            take_list(
                self.connection,
                FakeToken(self.rows, head=self.block),
                self.data_dir,
                token=Token(address=TOKEN, name=None, symbol=None, decimals=18),
                level=ConsistencyLevel.FINALIZED,
                snapshot_reason="demand" if snapshot else None,
                now=self.now,
            )
        )
        assert (taken is None) == (self.block == 0)
        assert taken is None or (taken.block == self.block and taken.snapshot >= snapshot)

    @rule(hours=st.integers(0, 60))
    def time_passes_and_lists_are_pruned(self, hours: int) -> None:
        self.now += timedelta(hours=hours)
        prune_lists(self.connection, self.data_dir, self.now)

    @invariant()
    def every_recorded_list_is_exact_and_proven(self) -> None:
        lists = self.connection.execute("select block, snapshot, proof from out_holders__lists").fetchall()
        for block, _, text in lists:
            proof = Proof.model_validate_json(text)
            named = proof.holder_list
            packed = (lists_dir(self.data_dir) / f"holders-{block}.csv.gz").read_bytes()
            assert named is not None and hashlib.sha256(packed).hexdigest() == named.sha256
            lines = gzip.decompress(packed).decode().splitlines()[1:]
            held = replay(row for row in self.rows if row[0] <= block)
            held.pop(ZERO_ADDRESS, None)
            ranked = sorted(((-value, holder) for holder, value in held.items() if value), key=lambda pair: pair)
            assert lines == [f"{holder},{-value}" for value, holder in ranked]
            assert proof.verdict is Verdict.PROVEN
        persisted = self.connection.execute("select distinct block from core_holders__snapshots").fetchall()
        assert {block for block, snapshot, _ in lists if snapshot} == {block for (block,) in persisted}

    def teardown(self) -> None:
        self.opened.__exit__(None, None, None)
        self.directory.cleanup()


TestLists = Lists.TestCase
TestLists.settings = settings(max_examples=4 * ROUNDS, stateful_step_count=12, deadline=None)
