"""Measures reading the same history with the raw HTTP floor, our engine, web3.py and cryo, one after the other."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass

from benchmarks.chain import bench_chain
from benchmarks.contest import NotRun, attempt
from cli.environment import LARGE_PAGES
from contracts.evm.codec import TRANSFER_TOPIC

ROUNDS = 5


@dataclass(frozen=True)
class Reading:
    """One contender: medians over its rounds. `times_floor` is the median of the ratios within each round."""

    name: str
    events: int
    wall_s: float
    cpu_s: float
    peak_mb: float
    times_floor: float


def measure(transfers: int) -> list[Reading | NotRun]:
    """Measures the floor and our engine in turn for `ROUNDS` rounds, and the others once.

    A ratio within a round is reliable even on a noisy machine.
    """
    with bench_chain(transfers) as chain:
        spec = json.dumps(
            {"url": chain.anvil.url, "token": chain.token, "last_block": chain.last_block, "topic": TRANSFER_TOPIC}
        )
        rounds = [(_read("floor", spec), _read("ours", spec)) for _ in range(ROUNDS)]
        floors, ours = [first for first, _ in rounds], [second for _, second in rounds]
        floor_wall_s = statistics.median(floor["wall_s"] for floor in floors)
        return [
            _summed("raw HTTP floor (aiohttp, keeps bytes)", floors, 1.0),
            _summed("ours, to proven balances", ours, statistics.median(o["wall_s"] / f["wall_s"] for f, o in rounds)),
            *(
                attempt(name, _once, name, contender, spec, floor_wall_s)
                for name, contender in (
                    ("cryo (Rust; Parquet, no balances)", "cryo"),
                    ("web3.py get_logs loop", "web3"),
                )
            ),
        ]


def _once(name: str, contender: str, spec: str, floor_wall_s: float) -> Reading:
    reading = _read(contender, spec)
    return _summed(name, [reading], reading["wall_s"] / floor_wall_s)


def _read(name: str, spec: str) -> dict[str, float]:
    # Large pages, because `svc run` starts the process that reads the chain with them too.
    environment = os.environ | LARGE_PAGES if name == "ours" else None
    finished = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "benchmarks.contenders", name, spec],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    measured: dict[str, float] = json.loads(finished.stdout.strip().splitlines()[-1])
    return measured


def _summed(name: str, readings: list[dict[str, float]], times_floor: float) -> Reading:
    def median(key: str) -> float:
        return statistics.median(reading[key] for reading in readings)

    events = int(median("events"))
    return Reading(name, events, median("wall_s"), median("cpu_s"), median("peak_mb"), times_floor)
