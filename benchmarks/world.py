"""Measures queries of a large generated graph: snapshot and overlay, SQLite with full text, and an embedded database.

HTTP is not involved. The graph is imported like an operator's; `world_import` measures that import on its own, and
`world_writes` the validator's stages.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet

from benchmarks.contest import NotRun, attempt
from contracts.settings import Settings
from contracts.world.identity import own_id
from contracts.world.portable import EndRecord, Header, line_of
from contracts.world.proposal import Actor
from contracts.world.records import Node
from warehouse.duck.connection import Warehouse
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.statements import read_sql
from warehouse.world.current import CurrentView
from warehouse.world.events import append_states
from warehouse.world.fold import fold_events, read_world_state
from warehouse.world.importing import import_graph
from warehouse.world.overlay import Overlay
from warehouse.world.query import Query, Traversal, answer
from warehouse.world.served import ServedGraph
from warehouse.world.snapshot import Snapshot
from warehouse.world.snapshot_writer import write_snapshot

OWNER = "local:bench"
EDGES_PER_NODE = 5
LIMIT = 50
QUESTIONS = 300
LONGEST_CASE_S = 10.0
WRITES = 50

EVERYWHERE, COMMON, RARE = ["kobaba", "tibaba"], ["bakoba", "kokoba"], ["falluren", "huzoqui"]
"""Words in half, in a twentieth and in a thousandth of all nodes."""

SEARCHES = {
    "a rare word": RARE,
    "a common word": COMMON,
    "three words": [f"{COMMON[0]} dorkoba {RARE[0]}", f"salmoba {RARE[1]} {COMMON[1]}"],
    "a prefix": ["dork", "salm", "quiz"],
    "a word of half the nodes": EVERYWHERE,
}


@dataclass(frozen=True)
class Case:
    """Milliseconds of one kind of query on one engine."""

    question: str
    engine: str
    p50_ms: float
    p99_ms: float


@dataclass(frozen=True)
class Written:
    """Cost of publishing the snapshot in a separate process."""

    wall_s: float
    cpu_s: float
    peak_mb: float
    disk_mb: float


@dataclass
class WorldReads:
    """The results of all queries on one graph."""

    nodes: int
    edges: int
    imported_cpu_s: float
    """CPU of importing and folding the graph."""
    written: Written
    open_ms: float
    visible_ms: tuple[float, float]
    """Median and worst time from an accepted write's commit to the answer of the next query, which includes it."""
    load_s: dict[str, float] = field(default_factory=dict)
    cases: list[Case] = field(default_factory=list)
    not_run: list[NotRun] = field(default_factory=list)


def measure(nodes: int) -> WorldReads:
    """Generates a graph of `nodes` nodes and five times as many edges, and runs the same queries on all engines."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        edges, imported_s = _import(directory, _generate(directory, nodes))
        with Warehouse(directory).connect() as connection:
            for what in ("nodes", "edges", "ends"):
                path = str(directory / f"{what}.parquet")
                connection.execute(_statement(f"world_export_{what}").replace("$path", path))
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.world", str(directory)], check=True, capture_output=True, text=True
        )
        snapshot = directory / "snapshot"
        disk_mb = sum(path.stat().st_size for path in snapshot.rglob("*") if path.is_file()) / 1e6
        result = WorldReads(
            nodes=nodes,
            edges=edges,
            imported_cpu_s=imported_s,
            written=Written(**json.loads(done.stdout), disk_mb=disk_mb),
            open_ms=statistics.median(_ms(lambda: Snapshot(snapshot)) for _ in range(5)),
            visible_ms=_visible(directory, snapshot),
        )
        _ours(directory, result)
        for name, engine in (("SQLite FTS5, recursive SQL", _sqlite), ("Ladybug", _ladybug)):
            attempted = attempt(name, engine, directory, result)
            if isinstance(attempted, NotRun):
                result.not_run.append(attempted)
    return result


def _generate(directory: Path, nodes: int) -> Path:
    """Generates the file to import."""
    numbers = {"nodes": nodes, "edges": nodes * EDGES_PER_NODE}
    file, lines = directory / "graph.jsonl", 1
    with Warehouse(directory / "generator").connect() as connection, file.open("wb") as target:
        target.write(line_of(Header()))
        for what in ("nodes", "edges"):
            path = directory / f"{what}.jsonl"
            statement = _statement(f"world_{what}")
            for name, number in numbers.items():
                statement = statement.replace(f"${name}", str(number))
            connection.execute(statement.replace("$path", str(path)))
            with path.open("rb") as source:
                lines += sum(1 for _ in source)
                source.seek(0)
                shutil.copyfileobj(source, target)
            path.unlink()
        target.write(line_of(EndRecord(lines=lines)))
    return file


def _import(directory: Path, file: Path) -> tuple[int, float]:
    """Imports and folds the graph. Returns the number of edges, and the CPU seconds."""

    def lines() -> Iterator[bytes]:
        with file.open("rb") as source:
            yield from source

    before = _cpu_s()
    with closing(open_ledger(Settings(_env_file=None), directory)) as ledger:
        outcome = import_graph(ledger, lines, Actor("operator", "operator:bench", on_behalf_of=OWNER))
        if outcome.verdict != "approved" or outcome.written != outcome.nodes + outcome.edges:
            raise AssertionError(f"the import of the bench was {outcome.verdict} and wrote {outcome.written}")
        with Warehouse(directory).connect() as connection:
            fold_events(connection, ledger)
    return outcome.edges, _cpu_s() - before


def _cpu_s() -> float:
    """Returns the CPU seconds of this process and of its ended child processes."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def write(directory: Path) -> dict[str, float]:
    """Writes the snapshot of the warehouse in `directory`. Returns the cost in this process."""
    started, cpu = time.perf_counter(), time.process_time()
    with Warehouse(directory).connect() as connection:
        for statement in read_sql("snapshot_input").split(";\n"):
            if statement.strip():
                connection.execute(statement)
        write_snapshot(connection, directory / "snapshot", read_world_state(connection).revision)
    return {
        "wall_s": time.perf_counter() - started,
        "cpu_s": time.process_time() - cpu,
        "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3,
    }


def _ours(directory: Path, result: WorldReads) -> None:
    snapshot = Snapshot(directory / "snapshot")
    overlay = Overlay(snapshot)

    def ask(**asked: Any) -> int:
        view = CurrentView(snapshot, overlay, snapshot.revision, OWNER)
        return len(answer(view, Query(limit=LIMIT, **asked)).nodes)

    _run(
        result,
        "ours",
        by_id=lambda number: ask(node_id=_id(number)),
        search=lambda text: ask(search=text),
        traverse=lambda number: ask(traverse=Traversal(_id(number), 3)),
    )


def _sqlite(directory: Path, result: WorldReads) -> None:
    started = time.perf_counter()
    connection = sqlite3.connect(directory / "contender.db")
    connection.executescript(
        "pragma journal_mode = off; pragma synchronous = off; pragma cache_size = -500000;"
        "create table nodes (num integer primary key, id text, body text);"
        "create table edges (source integer, target integer);"
        "create virtual table texts using fts5 (title, description, content='', prefix='3 4');"
    )
    for batch in parquet.ParquetFile(directory / "nodes.parquet").iter_batches():
        num, ids, titles, descriptions, bodies = (column.to_pylist() for column in batch.columns)
        connection.executemany("insert into nodes values (?, ?, ?)", zip(num, ids, bodies, strict=True))
        described = zip(num, titles, descriptions, strict=True)
        connection.executemany("insert into texts (rowid, title, description) values (?, ?, ?)", described)
    for batch in parquet.ParquetFile(directory / "edges.parquet").iter_batches():
        ends = zip(*(column.to_pylist() for column in batch.columns), strict=True)
        connection.executemany("insert into edges values (?, ?)", ends)
    connection.executescript("create unique index by_id on nodes (id); create index by_source on edges (source);")
    connection.commit()
    result.load_s["SQLite"] = time.perf_counter() - started

    def rows(statement: str, *parameters: Any) -> int:
        return len([json.loads(body) for (body,) in connection.execute(statement, parameters).fetchall()])

    def search(text: str) -> int:
        words = " OR ".join(f'"{word}"' for word in text.split())
        return rows(
            "select body from (select rowid from texts where texts match ? order by rank limit ?) found "
            "join nodes on nodes.num = found.rowid",
            f"{words}*",
            LIMIT,
        )

    _run(
        result,
        "SQLite FTS5, recursive SQL",
        by_id=lambda number: rows("select body from nodes where id = ?", _id(number)),
        search=search,
        traverse=lambda number: rows(
            "with recursive reached (num, depth) as (select ?, 0 union "
            "select target, depth + 1 from reached join edges on source = num where depth < 3), "
            "nearest as (select num, min(depth) as depth from reached group by num order by depth, num limit ?) "
            "select body from nearest join nodes using (num) order by depth, num",
            number,
            LIMIT,
        ),
    )
    connection.close()


def _ladybug(directory: Path, result: WorldReads) -> None:
    import ladybug  # from the `bench` extra

    started = time.perf_counter()
    database = ladybug.Database(str(directory / "contender.lbug"), buffer_pool_size=2 * 1024**3)
    connection = ladybug.Connection(database)
    connection.execute(
        "create node table Entity"
        "(num int64, id string, title string, description string, body string, primary key (id))"
    )
    connection.execute("create rel table Leads(from Entity to Entity)")
    connection.execute(f"copy Entity from '{directory / 'nodes.parquet'}'")
    # Ladybug loads relations by primary key.
    connection.execute(f"copy Leads from '{directory / 'ends.parquet'}'")
    result.load_s["Ladybug"] = time.perf_counter() - started

    def rows(statement: str, number: int) -> int:
        found = connection.execute(statement, {"id": _id(number)})
        assert isinstance(found, ladybug.QueryResult)
        return len([json.loads(body) for (body,) in found.get_all()])

    _run(
        result,
        "Ladybug",
        by_id=lambda number: rows("match (n:Entity) where n.id = $id return n.body", number),
        traverse=lambda number: rows(
            f"match (n:Entity)-[e:Leads* shortest 1..3]->(m:Entity) where n.id = $id "
            f"return m.body order by length(e), m.id limit {LIMIT}",
            number,
        ),
    )
    connection.close()
    database.close()


def _run(
    result: WorldReads,
    engine: str,
    *,
    by_id: Callable[[int], int],
    traverse: Callable[[int], int],
    search: Callable[[str], int] | None = None,
) -> None:
    dice = random.Random(1)
    numbers = [dice.randrange(result.nodes) for _ in range(QUESTIONS)]
    result.cases.append(_case("a node by its id", engine, by_id, numbers))
    for question, texts in SEARCHES.items() if search is not None else ():
        assert search is not None
        result.cases.append(_case(f"search: {question}", engine, search, texts * (QUESTIONS // len(texts))))
    result.cases.append(_case("traversal, depth 3", engine, traverse, numbers))


def _case(question: str, engine: str, ask: Callable[[Any], int], questions: list[Any]) -> Case:
    """Measures as many queries as fit into `LONGEST_CASE_S`, after a few warm-up queries."""
    for asked in questions[:3]:
        ask(asked)
    took: list[float] = []
    counts: list[int] = []

    def count(asked: Any) -> None:
        counts.append(ask(asked))

    until = time.perf_counter() + LONGEST_CASE_S
    for asked in questions:
        took.append(_ms(partial(count, asked)))
        if time.perf_counter() > until:
            break
    if not any(counts):
        raise AssertionError(f"{engine} finds nothing ({question})")
    took.sort()
    return Case(question, engine, statistics.median(took), took[min(len(took) - 1, int(len(took) * 0.99))])


def _visible(directory: Path, snapshot: Path) -> tuple[float, float]:
    """Measures writes on top of the snapshot, each followed by a query that must see it."""
    generation = directory / "generations" / "bench"
    generation.mkdir(parents=True)
    shutil.copytree(snapshot, generation / "world", copy_function=lambda source, to: Path(to).hardlink_to(source))
    (generation / "manifest.json").write_text(
        '{"generation":"bench","createdAt":"2026-01-01T00:00:00Z","baseUrl":"","components":{},"documents":{}}'
    )
    (directory / "current").symlink_to(Path("generations") / "bench")
    ledger = open_ledger(Settings(_env_file=None), directory)
    graph = ServedGraph(directory, lambda: ledger)
    took = []
    for number in range(WRITES):
        written = _accept(ledger, number)

        def ask(node_id: str = written.id) -> None:
            with graph.seen_by(None) as now:
                if answer(now.view, Query(node_id=node_id)).matched != 1:
                    raise AssertionError("an accepted write is not seen")

        took.append(_ms(ask))
    ledger.close()
    return statistics.median(took[1:]), max(took[1:])


def _accept(ledger: Ledger, number: int) -> Node:
    now = datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    state = Node(
        id=f"written:{number}",
        title=f"written later {number}",
        type="Goal",
        domain="VISION",
        properties={"description": "what was just accepted"},
        visibility="public",
        owner=None,
        immutable=False,
        valid_from=now,
        valid_to=None,
        recorded_at=now,
        source="bench",
        actor="pipeline",
        revision=0,
    )
    with ledger.transaction() as tx:
        append_states(tx, [state], 1)
    return state


def _id(number: int) -> str:
    return own_id(OWNER, f"node:{number:08d}")


def _ms(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return (time.perf_counter() - started) * 1e3


if __name__ == "__main__":
    print(json.dumps(write(Path(sys.argv[1]))))


def _statement(name: str) -> str:
    return Path(__file__).with_name(f"{name}.sql").read_text()
