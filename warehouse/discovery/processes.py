"""Reads what the processes of `svc run` cost: which there are from the record of its supervisor, figures from the
system."""

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

CHILDREN_FILE = "children.json"
"""The record of the running children, in the data directory: `[{"name": …, "pid": …, "created_at": …}, …]`."""


@dataclass(frozen=True, slots=True)
class Child:
    """A process that a supervisor has started. A pid counts only with its start time: the system reassigns numbers."""

    name: str
    pid: int
    created_at: float

    def process(self) -> psutil.Process | None:
        """Returns the process, or None if it has ended."""
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(self.pid)
            if abs(process.create_time() - self.created_at) < 0.01:
                return process
        return None


@dataclass(frozen=True, slots=True)
class ProcessFigures:
    """The cost of one part of the service, with the processes that it has started. `started_at` is a Unix time."""

    name: str
    pid: int
    started_at: float
    cpu_s: float
    resident_bytes: int


def read_children(record: Path) -> list[Child]:
    """Reads the record of a supervisor. Raises `ValueError`, `KeyError` or `TypeError` if it is damaged."""
    rows = json.loads(record.read_bytes())
    return [Child(str(row.get("name", "?")), int(row["pid"]), float(row["created_at"])) for row in rows]


def process_figures(data_dir: Path) -> tuple[ProcessFigures, ...]:
    """Returns the figures of each part that runs, by name. Without a supervisor there is this process alone."""
    try:
        children = read_children(data_dir / CHILDREN_FILE)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        children = []
    this = psutil.Process(os.getpid())
    parts = [(child.name, process) for child in children if (process := child.process()) is not None]
    return tuple(_figures(parts or [("api", this)]))


def _figures(parts: list[tuple[str, psutil.Process]]) -> Iterator[ProcessFigures]:
    for name, leader in sorted(parts, key=lambda part: part[0]):
        cpu_s, resident_bytes = 0.0, 0
        with suppress(psutil.NoSuchProcess):
            for process in (leader, *leader.children(recursive=True)):
                times = process.cpu_times()
                cpu_s += times.user + times.system
                resident_bytes += process.memory_info().rss
            yield ProcessFigures(name, leader.pid, leader.create_time(), cpu_s, resident_bytes)
