"""Threads of one process queue for the ledger: none is refused while another writes, and each gets its turn."""

from __future__ import annotations

import threading
from concurrent.futures import Future, ThreadPoolExecutor

import pytest

from contracts.errors import StoreBusy
from contracts.settings import Settings
from warehouse.ledger.ledger import open_ledger
from warehouse.ledger.writer_queue import WriterQueue

THREADS = 12
LOCK_WAIT_S = 0.05


def wait_until_queued(queue: WriterQueue, count: int) -> None:
    while queue.waiting < count:
        threading.Event().wait(0.001)


def test_writers_of_one_process_wait_for_each_other_longer_than_for_a_lock(ledger_settings: Settings) -> None:
    ledger = open_ledger(ledger_settings, ledger_settings.data_dir, wait_s=LOCK_WAIT_S)
    locked, release = threading.Event(), threading.Event()

    def hold() -> None:
        with ledger.transaction() as tx:
            tx.changed("test", "holder")
            locked.set()
            release.wait()

    def write(number: int) -> int:
        with ledger.transaction() as tx:
            return tx.changed("test", f"writer {number}")

    with ThreadPoolExecutor(THREADS + 1) as threads:
        holder = threads.submit(hold)
        locked.wait()
        writers = [threads.submit(write, number) for number in range(THREADS)]
        # a writer that did not queue would have been refused by now
        done_early = [writer for writer in writers if _refused_within(writer, LOCK_WAIT_S * 4)]
        release.set()
        holder.result()
        assert sorted(writer.result() for writer in writers) == list(range(2, THREADS + 2))
    assert done_early == []
    ledger.close()


def _refused_within(writer: Future[int], seconds: float) -> bool:
    try:
        return writer.exception(timeout=seconds) is not None
    except TimeoutError:
        return False


def test_turns_are_given_in_the_order_of_the_requests() -> None:
    queue, order = WriterQueue("The ledger", wait_s=60), []

    def write(number: int) -> None:
        with queue.turn():
            order.append(number)

    with ThreadPoolExecutor(THREADS) as threads, queue.turn():
        for number in range(THREADS):
            threads.submit(write, number)
            wait_until_queued(queue, number + 1)
    assert order == list(range(THREADS))


def test_a_turn_that_does_not_come_in_time_is_refused_and_leaves_the_queue() -> None:
    queue = WriterQueue("The ledger", wait_s=0.01)
    with ThreadPoolExecutor(1) as threads, queue.turn():
        late = threads.submit(lambda: queue.turn().__enter__())
        with pytest.raises(StoreBusy, match="busy with earlier writes"):
            late.result()
        assert queue.waiting == 0
    with queue.turn():
        pass


def test_a_write_that_fails_passes_its_turn_on() -> None:
    queue = WriterQueue("The ledger", wait_s=0.01)
    with pytest.raises(ZeroDivisionError), queue.turn():
        1 / 0  # noqa: B018
    with queue.turn():
        pass
