"""Measures a backfill by 1, 2 and 4 workers, with a kill, and one of 20 tokens beside one of a single token.

Workers read from a server of recorded ranges. What they stored is taken over into a fresh warehouse each time, and its
balances have to be the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.recorded_ranges import FIRST_BLOCK, token_address
from contracts.settings import Settings
from pipelines.token.partitions import final_partitions, read_tokens
from warehouse.duck.connection import Warehouse
from warehouse.token.partition_adoption import adopt, look_ahead
from warehouse.token.partition_store import partition_store

TRANSFERS = 5_000_000
PER_BLOCK = 500
BLOCKS = 250
TOKENS = 20


@dataclass(frozen=True)
class Backfill:
    """One backfill: its workers, CPU of reading per event over all of them, and of taking the partitions over."""

    name: str
    workers: int
    events: int
    read_us: float
    adopt_us: float
    balances_sha256: str


@dataclass(frozen=True)
class PartitionCost:
    """Backfills of one history by several workers, and of the same number of events by one and by many tokens."""

    by_workers: list[Backfill]
    by_tokens: list[Backfill]


def measure() -> PartitionCost:
    """Measures all of them, one after the other."""
    by_workers = [_backfill(count, 1) for count in (1, 2, 4)]
    return PartitionCost([*by_workers, _backfill(2, 1, killed=True)], [by_workers[0], _backfill(1, TOKENS)])


def _backfill(workers: int, tokens: int, *, killed: bool = False) -> Backfill:
    with tempfile.TemporaryDirectory() as name, _recorded(tokens) as url:
        directory = Path(name)
        settings = _settings(directory, url, tokens)
        last = FIRST_BLOCK + TRANSFERS // PER_BLOCK - 1
        keys = [partition.key for partition in final_partitions(settings, read_tokens(settings), last)]
        random.Random(workers).shuffle(keys)
        parts = [keys[place::workers] for place in range(workers)]
        running = [_worker(settings, part) for part in parts]
        if killed:
            stored = _kill_midway(running[0], len(parts[0]))
            running.append(_worker(settings, [key for key in parts[0] if key not in stored]))
        events, cpu_s = 0, 0.0
        for worker in running[1:] if killed else running:
            finished = worker.communicate()[0].splitlines()[-1]
            events += json.loads(finished)["events"]
            cpu_s += json.loads(finished)["cpu_s"]
        before = time.process_time()
        digest, taken = _taken_over(settings, last)
        adopt_s = time.process_time() - before
    what = f"{workers} workers, one killed and replaced" if killed else f"{workers} worker{'s' * (workers > 1)}"
    return Backfill(
        what if tokens == 1 else f"1 worker, {tokens} tokens",
        workers,
        taken,
        1e6 * cpu_s / events,
        1e6 * adopt_s / taken,
        digest,
    )


def _taken_over(settings: Settings, last: int) -> tuple[str, int]:
    """Takes every token over into a warehouse. Returns the digest of all balances, and the number of transfers."""
    assert settings.partition_blocks is not None
    store, digest, transfers = partition_store(settings), hashlib.sha256(), 0
    fetched = settings.data_dir / "fetched"
    fetched.mkdir(parents=True)
    for token in read_tokens(settings):
        directory = settings.data_dir / token.address
        with Warehouse(directory).connect() as connection:
            ahead = look_ahead(connection, store, token, final_block=last, blocks=settings.partition_blocks)
            transfers += adopt(connection, store, token, ahead.ready, fetched)
            target = directory / "balances.parquet"
            connection.execute(f"copy (from core_holders__balances order by address) to '{target}' (format parquet)")
        digest.update(target.read_bytes())
    return digest.hexdigest(), transfers


def _settings(directory: Path, url: str, tokens: int) -> Settings:
    file = directory / "tokens.json"
    file.write_text(
        json.dumps([{"address": token_address(place), "first_block": FIRST_BLOCK} for place in range(1, tokens)])
    )
    return Settings(
        _env_file=None,
        data_dir=directory / "data",
        rpc_urls=(url,),
        token_address=token_address(0),
        token_start_block=FIRST_BLOCK,
        partition_blocks=BLOCKS,
        publish_url=f"file://{directory}/store",
        tokens_file=file,
    )


def _worker(settings: Settings, keys: Sequence[str]) -> subprocess.Popen[str]:
    spec = json.dumps({"settings": settings.model_dump(mode="json", exclude_defaults=True), "partitions": list(keys)})
    return subprocess.Popen(
        [sys.executable, "-m", "benchmarks.partition_worker", spec], stdout=subprocess.PIPE, text=True
    )


def _kill_midway(worker: subprocess.Popen[str], count: int) -> set[str]:
    """Kills a worker in the middle of a partition, after half of them. Returns those that it stored."""
    assert worker.stdout is not None
    stored: set[str] = set()
    while len(stored) < count // 2:
        stored.add(json.loads(worker.stdout.readline())["stored"])
    worker.kill()
    worker.communicate()
    return stored


@contextmanager
def _recorded(tokens: int) -> Iterator[str]:
    spec: dict[str, Any] = {"transfers": TRANSFERS, "per_block": PER_BLOCK, "tokens": tokens}
    command = [sys.executable, "-m", "benchmarks.recorded_ranges", json.dumps(spec)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/"
        finally:
            server.kill()
