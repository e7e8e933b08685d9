"""Measures several API hosts: the roll-out of a generation, CPU per request with one and with two hosts, a restore.

It starts the same parts as the tests of two hosts (`tests/host_faults.py`): PostgreSQL, a local S3, a chain, a
publisher, two API hosts and nginx.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import httpx

from benchmarks.load import load
from benchmarks.serving import cpu_s

if TYPE_CHECKING:
    from host_faults import Service
    from two_hosts import ApiHost

TESTS = Path(__file__).resolve().parents[1] / "tests"
ROLL_OUTS = 10
ROUNDS = 5
SECONDS = 1.0


@dataclass(frozen=True)
class HostsMeasured:
    """Seconds from publishing until both hosts serve the generation; medians over the rounds of CPU, and of the ratio
    within a round; seconds from a dump of the ledger and an empty disk to the first proven document."""

    roll_out_median_s: float
    roll_out_worst_s: float
    document_cpu_us: tuple[float, float]
    document_ratio: float
    keyed_cpu_us: tuple[float, float]
    keyed_ratio: float
    restore_s: float


def measure() -> HostsMeasured:
    """Starts everything, measures it, and cleans up."""
    sys.path.insert(0, str(TESTS))
    try:
        from host_faults import COUNTED, DOCUMENT, service
    finally:
        sys.path.remove(str(TESTS))
    with tempfile.TemporaryDirectory() as directory, service(Path(directory), {}, limit_a_minute=0) as running:
        roll_outs = sorted(_roll_out_s(running) for _ in range(ROLL_OUTS))
        document, document_ratio = _cpu_us(running, DOCUMENT, {})
        keyed, keyed_ratio = _cpu_us(running, COUNTED, running.key())
        return HostsMeasured(
            round(median(roll_outs), 2),
            round(roll_outs[-1], 2),
            document,
            document_ratio,
            keyed,
            keyed_ratio,
            round(_restore_s(running, Path(directory)), 1),
        )


def _roll_out_s(running: Service) -> float:
    generation = running.publish()
    published = time.monotonic()
    running.wait_until_served(generation)
    return time.monotonic() - published


def _cpu_us(running: Service, path: str, headers: dict[str, str]) -> tuple[tuple[float, float], float]:
    for host in running.hosts:
        load(host.port, path, headers, SECONDS)
    rounds = [(_cpu_of(running.hosts[:1], path, headers), _cpu_of(running.hosts, path, headers)) for _ in range(ROUNDS)]
    one, two = (round(median(costs), 1) for costs in zip(*rounds, strict=True))
    return (one, two), round(median(with_two / with_one for with_one, with_two in rounds), 2)


def _cpu_of(hosts: list[ApiHost], path: str, headers: dict[str, str]) -> float:
    """Returns the CPU per answer in microseconds when these hosts are loaded concurrently."""
    processes = [host.serving_process().pid for host in hosts]
    before = sum(map(cpu_s, processes))
    with ThreadPoolExecutor(len(hosts)) as pool:
        answers = sum(pool.map(lambda host: load(host.port, path, headers, SECONDS), hosts))
    return (sum(map(cpu_s, processes)) - before) / answers * 1e6


def _restore_s(running: Service, directory: Path) -> float:
    """Restores like the runbook, and returns the seconds: a new database from the dump, and a new host that downloads
    from the store."""
    from host_faults import DOCUMENT
    from postgres_fixtures import postgres_binaries
    from two_hosts import ApiHost, until

    binaries = postgres_binaries()
    assert binaries is not None
    connection = ["--host", str(running.postgres.socket_dir), "--username", "svc"]
    dump = directory / "ledger.dump"
    ledger = urlsplit(running.a.environment["SVC_LEDGER_URL"]).path.removeprefix("/")
    subprocess.run([binaries / "pg_dump", *connection, "--format=custom", f"--file={dump}", ledger], check=True)
    database = running.postgres.new_database()
    began = time.monotonic()
    subprocess.run([binaries / "pg_restore", *connection, f"--dbname={database}", dump], check=True)
    environment = running.a.environment | {"SVC_LEDGER_URL": running.postgres.url(database)}
    restored = ApiHost("restored", directory, environment)
    try:
        restored.start()
        until(lambda: restored.health() is not None, restored.said)
        proof = httpx.get(restored.url + DOCUMENT, trust_env=False).json()["consistency"]["proof"]
        assert proof["verdict"] == "proven", proof
        return time.monotonic() - began
    finally:
        restored.kill()
