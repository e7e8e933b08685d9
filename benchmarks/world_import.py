"""Measures importing a generated graph as an operator, compared with reading the file and with bare inserts."""

from __future__ import annotations

import json
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from contracts.settings import Settings
from contracts.world.import_file import read_import
from contracts.world.proposal import Actor
from warehouse.duck.connection import Connection, Warehouse
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.statements import read_sql
from warehouse.world.fold import fold_events
from warehouse.world.fold_helper import folding_beside
from warehouse.world.importing import import_graph
from warehouse.world.snapshot_writer import write_snapshot

EDGES_PER_NODE = 5
SYLLABLES = ("ba", "ko", "ti", "ren", "mo", "sal", "vi", "dor", "ne", "lu", "gar", "pe", "shi", "ta", "wen", "zo")
ABOUT = {"validFrom": "2026-01-01T00:00:00.000000Z", "recordedAt": "2026-01-01T00:00:00.000000Z"}


FOLDED_BESIDE_FROM = 200_000
"""Nodes and edges after which a second process folds them, as in `svc world import`."""


@dataclass(frozen=True)
class Cost:
    """CPU seconds of one step in all its processes, and its wall seconds."""

    cpu_s: float
    wall_s: float

    def __add__(self, other: Cost) -> Cost:
        """Returns the cost of two steps, one after the other."""
        return Cost(self.cpu_s + other.cpu_s, self.wall_s + other.wall_s)


@dataclass(frozen=True)
class WorldImport:
    """The cost of each step of one import on SQLite."""

    nodes: int
    edges: int
    imported: Cost
    """Judging and writing, while a second process folds committed parts."""
    folded: Cost
    """Folding the rest."""
    snapshot: Cost
    read: Cost
    """Reading and decoding the file once, and nothing else."""
    inserts: Cost
    """Inserting the lines of the file into one SQLite table with a key."""

    @property
    def search_ready(self) -> Cost:
        """Returns the cost until the search index contains everything."""
        return self.imported + self.folded + self.snapshot


def measure(nodes: int) -> WorldImport:
    """Imports a generated graph of `nodes` nodes and five times as many edges, and writes its snapshot."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        file = directory / "graph.jsonl"
        edges = nodes * EDGES_PER_NODE
        with file.open("w") as target:
            target.writelines(f"{json.dumps(line)}\n" for line in _lines(nodes, edges))
        settings = Settings(_env_file=None, data_dir=directory)
        ledger = open_ledger(settings, directory)
        imported = _cost(lambda: _import(settings, ledger, file, nodes + edges))
        with Warehouse(directory).connect() as connection:
            folded = _cost(lambda: fold_events(connection, ledger))
            snapshot = _cost(lambda: _publish(connection, directory / "snapshot", ledger.head()))
        ledger.close()
        return WorldImport(
            nodes=nodes,
            edges=edges,
            imported=imported,
            folded=folded,
            snapshot=snapshot,
            read=_cost(lambda: _read(file)),
            inserts=_cost(lambda: _insert(file, directory / "floor.db")),
        )


def _import(settings: Settings, ledger: Ledger, file: Path, states: int) -> None:
    folded = 0

    def on_progress(what: str, done: int, of: int) -> None:
        nonlocal folded
        if what == "writing" and done - folded >= FOLDED_BESIDE_FROM:
            fold()
            folded = done

    actor = Actor("operator", "operator:bench", on_behalf_of="local:bench")
    with folding_beside(settings) as fold:
        outcome = import_graph(ledger, lambda: _opened(file), actor, on_progress=on_progress)
    if (outcome.verdict, outcome.written) != ("approved", states):
        raise AssertionError(f"the import of the bench was {outcome.verdict} and wrote {outcome.written}")


def _lines(nodes: int, edges: int) -> Iterator[dict[str, object]]:
    dice = random.Random(1)

    def words(count: int) -> str:
        return " ".join("".join(dice.choices(SYLLABLES, k=3)) for _ in range(count))

    yield {"kind": "header", "format": "svc.world.graph", "version": 1, "scope": "owner"}
    types = ("Goal", "Task", "Metric", "Value", "Decision")
    for number in range(nodes):
        yield {
            "kind": "node",
            "id": f"node:{number:08d}",
            "type": types[number % len(types)],
            "title": words(4),
            "properties": {"description": words(8), "score": number % 1000},
            "source": "bench",
            **ABOUT,
        }
    for number in range(edges):
        source, step = number % nodes, 1 + number // nodes + dice.randrange(nodes // 10) * EDGES_PER_NODE
        target = (source + step) % nodes
        ends = {"source": f"node:{source:08d}", "target": f"node:{target:08d}"}
        yield {"kind": "edge", **ends, "type": "INFORMED_BY", "statedIn": "bench", **ABOUT}
    yield {"kind": "end", "lines": 1 + nodes + edges}


def _publish(connection: Connection, snapshot: Path, revision: int) -> None:
    for statement in read_sql("snapshot_input").split(";\n"):
        if statement.strip():
            connection.execute(statement)
    write_snapshot(connection, snapshot, revision)


def _opened(file: Path) -> Iterator[bytes]:
    with file.open("rb") as lines:
        yield from lines


def _read(file: Path) -> None:
    for _ in read_import(_opened(file)):
        pass


def _insert(file: Path, database: Path) -> None:
    connection = sqlite3.connect(database)
    connection.execute("create table lines (id text primary key, body text not null)")
    with file.open() as lines:
        connection.executemany("insert into lines values (?, ?)", ((f"{n}", line) for n, line in enumerate(lines)))
    connection.commit()
    connection.close()


def _cost(work: Callable[[], object]) -> Cost:
    cpu_s, wall_s = _cpu_s(), time.monotonic()
    work()
    return Cost(_cpu_s() - cpu_s, time.monotonic() - wall_s)


def _cpu_s() -> float:
    """Returns the CPU seconds of this process and of child processes that it has waited for."""
    return sum(os.times()[:4])
