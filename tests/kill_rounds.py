"""Rounds of ingestion killed at random points: a few in the test, many in the soak."""

import random
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path

from fault_node import Call, Fault, FaultNode, Reply, blocks_asked
from forked import forked
from ingest_helpers import assert_contiguous, held_blocks, ingest_once, logs_at, small_chain, warehouse
from patience import HANG_S

from cli.demo.recorded import RecordedChain

KEPT_BACK_FROM = 3_600
EXPECTED = [(block, index) for block in range(0, 4000, 2) for index in range(10)]


@dataclass
class Outcome:
    """Processes killed while running, those that had read part of the history by then, rows at the end, and all
    rows."""

    kills: int
    midway: int
    rows: int
    expected: int


def busy_chain() -> RecordedChain:
    """Returns a chain with 20,000 transfers in 2,000 of its 4,000 blocks."""
    return small_chain(logs_at(*range(0, 4000, 2), per_block=10), head=4002, max_results=400)


def killed_rounds(directory: Path, rounds: int, seed: int) -> Outcome:
    """Starts and kills ingestion `rounds` times, then lets it finish. Asserts that each row is stored exactly once.

    The node is slow, and withholds the end of the history until the last round, so that no process finishes before it
    is killed.
    """
    rng, kills, midway = random.Random(seed), 0, 0
    last_round, reached = threading.Event(), threading.Event()

    def slowly(call: Call) -> Reply:
        if last_round.is_set() or blocks_asked(call)[0] < KEPT_BACK_FROM:
            return Reply(delay_s=0.01 * rounds)
        reached.set()
        return Reply(delay_s=HANG_S)

    with FaultNode(busy_chain(), Fault("eth_getLogs", slowly)) as node:
        for number in range(rounds):
            before = _written_bytes(directory)
            reached.clear()
            with forked(_ingest, directory, node.url) as process:
                process.stdout.readline()  # before it has begun, there is nothing to kill
                if number % 2:
                    _wait_for_more(directory, before, reached)
                time.sleep(rng.uniform(0.0, 0.8 if number % 2 == 0 else 0.3))
                process.kill()
                kills += process.wait() == -signal.SIGKILL
            with warehouse(directory) as connection:
                assert_contiguous(connection)
                midway += 0 < len(held_blocks(connection)) < len(EXPECTED)
        last_round.set()
        with forked(_ingest, directory, node.url) as process:
            assert "complete" in process.communicate(timeout=HANG_S)[0]
    with warehouse(directory) as connection:
        assert_contiguous(connection)
        held = held_blocks(connection)
        assert held == EXPECTED
    return Outcome(kills, midway, len(held), len(EXPECTED))


def _written_bytes(directory: Path) -> int:
    return sum(file.stat().st_size for file in directory.glob("warehouse.duckdb*"))


def _wait_for_more(directory: Path, before: int, reached: threading.Event) -> None:
    """Waits until the process has written or can't go on, however slow the machine is; used for every other kill."""
    deadline = time.monotonic() + HANG_S
    while _written_bytes(directory) < before + 50_000 and not reached.is_set():
        assert time.monotonic() < deadline, "it reads nothing"
        time.sleep(0.01)


def _ingest(directory: Path, url: str) -> None:
    print("started", flush=True)
    with warehouse(directory) as connection:
        while not ingest_once(connection, url, budget_s=1.0).complete:
            pass
    print("complete", flush=True)
