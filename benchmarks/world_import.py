"""Measures the import of a generated graph by the operator's path, beside reading the file and bare inserts."""

from __future__ import annotations

import json
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from contracts.settings import Settings
from contracts.world.alignment import alignment
from contracts.world.import_file import read_import
from contracts.world.proposal import Actor, Proposal
from contracts.world.stages import Judgement
from warehouse.duck.connection import Connection, Warehouse
from warehouse.ledger.ledger import open_ledger
from warehouse.statements import read_sql
from warehouse.world.fold import fold_events
from warehouse.world.importing import import_graph
from warehouse.world.snapshot_writer import write_snapshot

EDGES_PER_NODE = 5
SYLLABLES = ("ba", "ko", "ti", "ren", "mo", "sal", "vi", "dor", "ne", "lu", "gar", "pe", "shi", "ta", "wen", "zo")
ABOUT = {"validFrom": "2026-01-01T00:00:00.000000Z", "recordedAt": "2026-01-01T00:00:00.000000Z"}


@dataclass(frozen=True)
class WorldImport:
    """CPU seconds of this process for each step of one import on SQLite."""

    nodes: int
    edges: int
    import_cpu_s: float
    guardrail_cpu_s: float
    """The part of the import in which the guardrail judges texts."""
    fold_cpu_s: float
    snapshot_cpu_s: float
    read_cpu_s: float
    """Reading and decoding the file once, without anything else."""
    inserts_cpu_s: float
    """Inserting the lines of the file into one SQLite table with a key."""

    @property
    def search_ready_cpu_s(self) -> float:
        """Returns the time until the search has everything in its index."""
        return self.import_cpu_s + self.fold_cpu_s + self.snapshot_cpu_s


def measure(nodes: int) -> WorldImport:
    """Imports a generated graph of `nodes` nodes and five times as many edges, and writes its snapshot."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        file = directory / "graph.jsonl"
        edges = nodes * EDGES_PER_NODE
        with file.open("w") as target:
            target.writelines(f"{json.dumps(line)}\n" for line in _lines(nodes, edges))
        judged_s = 0.0

        def judged(proposal: Proposal) -> Judgement:
            nonlocal judged_s
            started = time.process_time()
            judgement = alignment(proposal)
            judged_s += time.process_time() - started
            return judgement

        ledger = open_ledger(Settings(_env_file=None), directory)
        actor = Actor("operator", "operator:bench", on_behalf_of="local:bench")

        def import_all() -> None:
            outcome = import_graph(ledger, lambda: _opened(file), actor, alignment=judged)
            if (outcome.verdict, outcome.written) != ("approved", nodes + edges):
                raise AssertionError(f"the import of the bench was {outcome.verdict} and wrote {outcome.written}")

        import_s = _cpu_s(import_all)
        with Warehouse(directory).connect() as connection:
            fold_s = _cpu_s(lambda: fold_events(connection, ledger))
            snapshot_s = _cpu_s(lambda: _publish(connection, directory / "snapshot", ledger.head()))
        ledger.close()
        return WorldImport(
            nodes=nodes,
            edges=edges,
            import_cpu_s=import_s,
            guardrail_cpu_s=judged_s,
            fold_cpu_s=fold_s,
            snapshot_cpu_s=snapshot_s,
            read_cpu_s=_cpu_s(lambda: _read(file)),
            inserts_cpu_s=_cpu_s(lambda: _insert(file, directory / "floor.db")),
        )


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


def _cpu_s(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started
