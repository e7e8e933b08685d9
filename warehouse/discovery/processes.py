"""Reads the costs and answers of the processes on this host. The supervisor's record lists the processes, the operating
system gives their costs, and workers share their counts of answers in files."""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import parent_process
from pathlib import Path

import psutil

CHILDREN_FILE = "children.json"
"""The record of the running children, below SVC_DATA_DIR: `[{"name": …, "pid": …, "created_at": …}, …]`."""


Answered = Mapping[tuple[str, int], int]
"""Answers of one process, counted by their origin (`published`, `file`, `rooms`, `front`) and HTTP status."""


@dataclass(frozen=True, slots=True)
class Child:
    """A process that a supervisor has started. A pid identifies it only with its start time: systems reuse pids."""

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
    """The cost of one part of the service, including its child processes. `started_at` is a Unix time."""

    name: str
    pid: int
    started_at: float
    cpu_s: float
    resident_bytes: int


def read_children(record: Path) -> list[Child]:
    """Reads the record of a supervisor. Raises `ValueError`, `KeyError` or `TypeError` if it is damaged."""
    rows = json.loads(record.read_bytes())
    return [Child(str(row.get("name", "?")), int(row["pid"]), float(row["created_at"])) for row in rows]


def process_figures(installation_dir: Path) -> tuple[ProcessFigures, ...]:
    """Returns the figures of each running part, by name. Without a supervisor that is only this API."""
    try:
        children = read_children(installation_dir / CHILDREN_FILE)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        children = []
    parts = [(child.name, process) for child in children if (process := child.process()) is not None]
    parent = parent_process()
    return tuple(_figures(parts or [("api", psutil.Process(os.getpid() if parent is None else parent.pid))]))


class SharedAnswers:
    """The answers of all workers of an API. A worker shares its counts in `answers/<pid>.json` of the data directory.

    A scrape reaches one worker, which shares its counts before it reads those of the others. So no count falls from one
    scrape to the next, whichever workers answer.
    """

    def __init__(self, data_dir: Path, counted: Callable[[], Answered]) -> None:
        self._directory = data_dir / "answers"
        self._counted = counted
        self._shared: Answered = {}
        self._this = Child("api", os.getpid(), psutil.Process().create_time())

    def share(self) -> None:
        """Writes the counts of this process, if there are other workers and the counts have changed since."""
        answered = Counter(self._counted())
        if parent_process() is None or answered == self._shared:
            return
        rows = [[by, status, count] for (by, status), count in answered.items()]
        path = self._directory / f"{self._this.pid}.json"
        draft = path.with_suffix(".tmp")
        with suppress(OSError):  # such as a full disk; the next call tries again
            self._directory.mkdir(exist_ok=True)
            draft.write_text(json.dumps({"created_at": self._this.created_at, "answered": rows}))
            draft.replace(path)
            self._shared = answered

    def of_all(self) -> dict[str, Answered]:
        """Returns the answers of each running worker by its pid, and deletes the counts of workers that have ended."""
        self.share()
        answers: dict[str, Answered] = {str(self._this.pid): Counter(self._counted())}
        for path in self._directory.glob("*.json"):
            with suppress(OSError, ValueError, KeyError, TypeError):
                shared = json.loads(path.read_bytes())
                worker = Child("api", int(path.stem), float(shared["created_at"]))
                if worker.process() is None:
                    path.unlink()
                elif worker != self._this:
                    answers[path.stem] = {(str(by), int(status)): int(n) for by, status, n in shared["answered"]}
        return answers


def _figures(parts: list[tuple[str, psutil.Process]]) -> Iterator[ProcessFigures]:
    for name, leader in sorted(parts, key=lambda part: part[0]):
        cpu_s, resident_bytes = 0.0, 0
        with suppress(psutil.NoSuchProcess):
            for process in (leader, *leader.children(recursive=True)):
                times = process.cpu_times()
                cpu_s += times.user + times.system
                resident_bytes += process.memory_info().rss
            yield ProcessFigures(name, leader.pid, leader.create_time(), cpu_s, resident_bytes)
