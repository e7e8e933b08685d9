"""Measures a backfill by 1, 2 and 4 workers, one with a kill, and a backfill of 20 tokens compared with a single token.

Workers are Dagster runs that `svc ingest workers` starts, with the tests' PostgreSQL. They read from a server of
recorded ranges. Each time, the stored partitions are adopted into a fresh warehouse, whose balances must be the same
bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import dagster as dg
import psutil

from benchmarks.recorded_ranges import FIRST_BLOCK, token_address
from cli.environment import as_environment
from contracts.access.signing import key_text, new_private_key
from contracts.settings import Settings
from pipelines.token.partitions import read_tokens
from warehouse.duck.connection import Warehouse
from warehouse.token.partition_adoption import adopt, look_ahead
from warehouse.token.partition_store import partition_store

if TYPE_CHECKING:
    from postgres_fixtures import TemporaryPostgres

TESTS = Path(__file__).resolve().parents[1] / "tests"
SVC = Path(sys.executable).with_name("svc")
TRANSFERS = 5_000_000
PER_BLOCK = 500
BLOCKS = 125
TOKENS = 20


@dataclass(frozen=True)
class Backfill:
    """One backfill: CPU per event of reading, over all its runs, and of adopting the partitions.

    `around_s` is all other CPU: the start of each run's process, Dagster's own processes, and a killed run.
    """

    name: str
    events: int
    runs: int
    read_us: float
    adopt_us: float
    around_s: float
    balances_sha256: str


@dataclass(frozen=True)
class PartitionCost:
    """Backfills of one history by several workers, and of the same number of events from one and from many tokens."""

    by_workers: list[Backfill]
    by_tokens: list[Backfill]


def measure() -> PartitionCost:
    """Measures all backfills, one after the other."""
    with _postgres() as postgres:
        by_workers = [_backfill(postgres, count, 1) for count in (1, 2, 4)]
        killed = _backfill(postgres, 2, 1, killed=True)
        return PartitionCost([*by_workers, killed], [by_workers[0], _backfill(postgres, 1, TOKENS)])


def _backfill(postgres: TemporaryPostgres, workers: int, tokens: int, *, killed: bool = False) -> Backfill:
    database = postgres.new_database()
    with tempfile.TemporaryDirectory() as name, _recorded(tokens) as url:
        settings = _settings(Path(name), url, tokens, postgres.url(database).replace("+psycopg", "+psycopg2"))
        all_s = _read(settings, workers, killed=killed)
        runs = _runs(settings)
        events, read_s = sum(transfers for transfers, _ in runs), sum(cpu_s for _, cpu_s in runs)
        before = time.process_time()
        digest, taken = _taken_over(settings, FIRST_BLOCK + TRANSFERS // PER_BLOCK - 1)
        adopt_s = time.process_time() - before
    postgres.drop(database)
    what = f"{workers} workers, one killed and replaced" if killed else f"{workers} worker{'s' * (workers > 1)}"
    return Backfill(
        what if tokens == 1 else f"1 worker, {tokens} tokens",
        taken,
        len(runs),
        1e6 * read_s / events,
        1e6 * adopt_s / taken,
        all_s - read_s,
        digest,
    )


def _read(settings: Settings, workers: int, *, killed: bool) -> float:
    """Reads everything with `svc ingest workers`. Returns the CPU seconds of all its processes."""
    before = _children_s()
    command = [str(SVC), "ingest", "workers", "--count", str(workers), "--once"]
    with subprocess.Popen(command, env=as_environment(settings), stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        most = 0
        for line in running.stdout:
            missing = int(line.split()[0]) if "are missing" in line else 0
            most = max(most, missing)
            if killed and 0 < missing < most:
                _kill_a_run(running.pid)
                killed = False
    if running.returncode or killed:
        raise RuntimeError(f"svc ingest workers ended with {running.returncode}")
    return _children_s() - before


def _kill_a_run(pid: int) -> None:
    """Kills a run's process: a child of the code server that is not one of its helpers."""
    runs = [
        child for child in psutil.Process(pid).children(recursive=True) if "spawn_main" in " ".join(child.cmdline())
    ]
    runs[0].kill()


def _children_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _runs(settings: Settings) -> list[tuple[int, float]]:
    """Returns the transfers and the CPU seconds of each finished run, as recorded by Dagster."""
    assert settings.workers_url is not None
    os.environ["SVC_WORKERS_URL"] = settings.workers_url  # because the instance's configuration refers to it
    runs: dict[str, tuple[int, float]] = {}
    with dg.DagsterInstance.from_config(str(settings.data_dir / "workers")) as instance:
        records = instance.fetch_materializations(dg.AssetKey("raw_chain__transfers"), limit=10_000).records
        for record in records:
            assert record.asset_materialization is not None
            metadata = record.asset_materialization.metadata
            runs[record.run_id] = (int(metadata["transfers"].value), float(metadata["cpu_s"].value))  # type: ignore[arg-type]
    return list(runs.values())


def _taken_over(settings: Settings, last: int) -> tuple[str, int]:
    """Adopts every token into a warehouse. Returns the digest of all balances, and the number of transfers."""
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


def _settings(directory: Path, url: str, tokens: int, workers_url: str) -> Settings:
    file, key = directory / "tokens.json", directory / "key.pem"
    file.write_text(
        json.dumps([{"address": token_address(place), "first_block": FIRST_BLOCK} for place in range(1, tokens)])
    )
    key.write_text(key_text(new_private_key()))
    return Settings(
        _env_file=None,
        data_dir=directory / "data",
        rpc_urls=(url,),
        token_address=token_address(0),
        token_start_block=FIRST_BLOCK,
        partition_blocks=BLOCKS,
        publish_url=f"file://{directory}/store",
        tokens_file=file,
        workers_url=workers_url,
        signing_key_file=key,
    )


@contextmanager
def _postgres() -> Iterator[TemporaryPostgres]:
    """Starts the tests' PostgreSQL, which stores Dagster's records."""
    sys.path.insert(0, str(TESTS))
    try:
        from postgres_fixtures import postgres_binaries, temporary_postgres
    finally:
        sys.path.remove(str(TESTS))
    binaries = postgres_binaries()
    if binaries is None:
        raise RuntimeError("PostgreSQL is not installed (Debian: apt-get install postgresql)")
    with temporary_postgres(binaries) as postgres:
        yield postgres


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
