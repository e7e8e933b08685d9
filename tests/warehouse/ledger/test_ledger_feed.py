"""The change feed: gapless, in the order of commits, on both engines."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from ledger_process import started, write_pairs
from patience import HANG_S
from rounds import ROUNDS
from world_writes import goal, no_rules, proposal

from contracts.errors import StoreBusy
from contracts.settings import Settings
from warehouse.ledger.ledger import Ledger, Reader, open_ledger
from warehouse.world.write import propose


class Refused(Exception):
    """Raised by a step that finds that it must not happen."""


def test_a_new_ledger_has_an_empty_feed(ledger: Ledger) -> None:
    assert ledger.head() == 0
    assert ledger.changes_after(0, 10) == []


def test_a_change_is_on_the_feed_with_kind_entity_and_time(ledger_settings: Settings) -> None:
    noon = datetime(2026, 1, 2, 12, 0, 0, 5, tzinfo=UTC)
    ledger = open_ledger(ledger_settings, ledger_settings.data_dir, clock=lambda: noon)
    with ledger.transaction() as tx:
        assert tx.changed("intake", "i1") == 1
        assert tx.changed("quote", "q1") == 2
    feed = [(change.seq, change.kind, change.entity_id, change.recorded_at) for change in ledger.changes_after(0, 10)]
    assert feed == [(1, "intake", "i1", noon), (2, "quote", "q1", noon)]
    ledger.close()


def test_events_of_the_graph_are_on_the_feed_without_being_noted_again(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        tx.changed("key", "k1")
    propose(ledger, proposal(goal("a"), goal("b")), alignment=no_rules)
    with ledger.transaction() as tx:
        tx.changed("key", "k2")
    feed = [(change.seq, change.kind, change.entity_id) for change in ledger.changes_after(0, 10)]
    graph = [(3, "world_node", "a"), (4, "world_node", "b")]
    assert feed == [(1, "key", "k1"), (2, "world_decision", "approved"), *graph, (5, "key", "k2")]
    assert [change.seq for change in ledger.changes_after(1, 2)] == [2, 3]
    assert [change.seq for change in ledger.changes_after(3, 1)] == [4]


def test_a_page_of_the_feed_continues_where_the_last_one_ended(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        for number in range(5):
            tx.changed("intake", str(number))
    assert [change.seq for change in ledger.changes_after(0, 2)] == [1, 2]
    assert [change.seq for change in ledger.changes_after(2, 2)] == [3, 4]
    assert [change.seq for change in ledger.changes_after(4, 2)] == [5]
    assert ledger.changes_after(5, 2) == []


def test_a_transaction_that_raises_leaves_neither_change_nor_gap(ledger: Ledger) -> None:
    with pytest.raises(Refused), ledger.transaction() as tx:
        tx.changed("intake", "lost")
        raise Refused
    with ledger.transaction() as tx:
        assert tx.changed("intake", "kept") == 1
    assert [change.entity_id for change in ledger.changes_after(0, 10)] == ["kept"]


def test_a_reader_sees_one_state_from_start_to_end(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        tx.changed("intake", "before")
    with ledger.read() as reader:
        assert reader.head() == 1
        with ledger.transaction() as tx:
            tx.changed("intake", "meanwhile")
        assert reader.head() == 1
        assert [change.entity_id for change in reader.changes_after(0, 10)] == ["before"]
    assert ledger.head() == 2


def test_a_transaction_reads_its_own_changes(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        tx.changed("intake", "own")
        assert tx.head() == 1
        assert [change.entity_id for change in tx.changes_after(0, 10)] == ["own"]


def test_a_later_writer_waits_for_a_transaction_that_is_held_open_and_comes_after_it(ledger: Ledger) -> None:
    taken = threading.Event()

    def later() -> int:
        taken.set()
        with ledger.transaction() as tx:
            return tx.changed("later", "b")

    with ThreadPoolExecutor(1) as pool:
        with ledger.transaction() as tx:
            tx.changed("held", "a")
            second = pool.submit(later)
            taken.wait()
            with pytest.raises(TimeoutError):
                second.result(timeout=0.3)
            assert ledger.changes_after(0, 10) == [], "nothing is visible before the first one commits"
        assert second.result(timeout=HANG_S) == 2
    assert [change.kind for change in ledger.changes_after(0, 10)] == ["held", "later"]


def test_a_writer_that_is_held_up_for_too_long_gets_an_error_and_has_written_nothing(ledger_settings: Settings) -> None:
    held = open_ledger(ledger_settings, ledger_settings.data_dir)
    impatient = open_ledger(ledger_settings, ledger_settings.data_dir, wait_s=0.2)
    with held.transaction() as tx:
        tx.changed("held", "a")
        with pytest.raises(StoreBusy, match="stayed locked by another writer"), impatient.transaction() as late:
            late.changed("late", "b")
        assert impatient.head() == 0, "a reader waits for nobody"
    with impatient.transaction() as tx:
        assert tx.changed("late", "b") == 2
    held.close()
    impatient.close()


def test_threads_that_write_simultaneously_get_a_gapless_feed_in_the_order_of_commits(ledger: Ledger) -> None:
    committed: list[int] = []

    def write(writer: int) -> None:
        for number in range(15):
            try:
                with ledger.transaction() as tx:
                    seq = tx.changed("thread", f"{writer}-{number}")
                    if number % 4 == 3:
                        raise Refused
                    committed.append(seq)
            except Refused:
                pass

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert committed == sorted(committed)
    assert [change.seq for change in ledger.changes_after(0, 1000)] == list(range(1, 8 * 12 + 1))


def test_the_reads_of_a_transaction_stay_true_until_it_commits(ledger: Ledger) -> None:
    def read_then_write(_: int) -> bool:
        with ledger.transaction() as tx:
            seen = tx.head()
            time.sleep(0.002)
            return tx.changed("intake", "x") == seen + 1

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(read_then_write, range(24)))


def test_processes_that_write_simultaneously_lose_and_duplicate_nothing(ledger_settings: Settings) -> None:
    ledger = open_ledger(ledger_settings, ledger_settings.data_dir)
    seen: list[tuple[int, str, str]] = []

    def follow() -> None:
        after = seen[-1][0] if seen else 0
        seen.extend((change.seq, change.kind, change.entity_id) for change in ledger.changes_after(after, 7))

    with ExitStack() as stack:
        writers = [stack.enter_context(started(write_pairs, ledger_settings, writer, 90)) for writer in range(2)]
        while any(writer.poll() is None for writer in writers):
            follow()
            time.sleep(0.001)
    for _ in range(200):
        follow()
    assert [writer.returncode for writer in writers] == [0, 0]
    assert [seq for seq, _, _ in seen] == list(range(1, 2 * 60 * 2 + 1)), (
        "a reader that follows the head misses nothing"
    )
    firsts, seconds = seen[0::2], seen[1::2]
    assert [entity for _, _, entity in firsts] == [entity for _, _, entity in seconds], "transactions do not mix"
    expected = {f"{writer}-{number}" for writer in range(2) for number in range(90) if number % 3 != 2}
    assert {entity for _, _, entity in firsts} == expected
    ledger.close()


entities = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)


class Feed(RuleBasedStateMachine):
    """Commits, rollbacks, failures without savepoints and readers held open, against a plain list."""

    ledger: Ledger

    def __init__(self) -> None:
        super().__init__()
        self.start = self.ledger.head()
        self.expected: list[tuple[str, str]] = []
        self.reader: tuple[AbstractContextManager[Reader], Reader, int] | None = None

    @rule(changes=st.lists(st.tuples(st.sampled_from(["intake", "quote"]), entities), max_size=4))
    def commit(self, changes: list[tuple[str, str]]) -> None:
        with self.ledger.transaction() as tx:
            for position, (kind, entity_id) in enumerate(changes, start=1):
                assert tx.changed(kind, entity_id) == self.start + len(self.expected) + position
        self.expected += changes

    @rule(count=st.integers(0, 3))
    def roll_back(self, count: int) -> None:
        with pytest.raises(Refused), self.ledger.transaction() as tx:
            for number in range(count):
                tx.changed("lost", str(number))
            raise Refused

    @rule()
    def open_a_reader(self) -> None:
        self.close_the_reader()
        context = self.ledger.read()
        reader = context.__enter__()
        self.reader = (context, reader, reader.head())

    @rule()
    def close_the_reader(self) -> None:
        if self.reader is not None:
            context, reader, head = self.reader
            assert reader.head() == head
            assert len(reader.changes_after(self.start, 10_000)) == head - self.start
            context.__exit__(None, None, None)
            self.reader = None

    @invariant()
    def the_feed_is_what_was_committed(self) -> None:
        feed = self.ledger.changes_after(self.start, 10_000)
        assert [(change.kind, change.entity_id) for change in feed] == self.expected
        assert [change.seq for change in feed] == list(range(self.start + 1, self.start + 1 + len(self.expected)))
        assert self.ledger.head() == self.start + len(self.expected)

    def teardown(self) -> None:
        self.close_the_reader()


def test_any_mix_of_commits_and_rollbacks_leaves_the_feed_of_the_commits(ledger: Ledger) -> None:
    machine = type("FeedOfThisLedger", (Feed,), {"ledger": ledger})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=5 * ROUNDS,
            stateful_step_count=15,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            database=None,
        ),
    )
