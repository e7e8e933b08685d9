"""Indexes of random keys are divided into segments for large imports; statements find an entity in all of them."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pysqlite3.dbapi2 as sqlite
import pytest
from world_writes import no_rules

from contracts.settings import Settings
from contracts.world.identity import edge_id, own_id
from contracts.world.plain_import import EdgeForm, NewEdge
from contracts.world.portable import EdgeRecord, EndRecord, Header, NodeRecord, Record, line_of
from contracts.world.proposal import Actor
from warehouse.ledger.drivers import driver_statement
from warehouse.ledger.ledger import SQL, Ledger, open_ledger
from warehouse.world import import_parts, import_writing
from warehouse.world.events import Batch, append_batch, current_edge, decode_edges, events_of_decision, head_revision
from warehouse.world.export import Position, export_page
from warehouse.world.history import known_revision
from warehouse.world.importing import ImportOutcome, import_graph

OWNER = "local:ada"


def chain(nodes: int) -> list[bytes]:
    """Returns a file of nodes, each with an edge to the next one."""
    names = [f"goal:{number:02d}" for number in range(nodes)]
    records: list[Record] = [
        Header(),
        *(NodeRecord(id=name, type="Goal", title=name, source="s") for name in names),
        *(
            EdgeRecord(source=source, target=target, type="INFORMED_BY", stated_in="s")
            for source, target in pairwise(names)
        ),
    ]
    return [line_of(record) for record in (*records, EndRecord(lines=len(records)))]


@pytest.fixture
def in_small_segments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_parts, "NODES_AND_EDGES_OF_PART", 10)
    monkeypatch.setattr(import_writing, "STATES_WORTH_A_SEGMENT", 20)
    monkeypatch.setattr(import_writing, "SEGMENT_STATES", 20)


def imported(ledger: Ledger, content: list[bytes]) -> ImportOutcome:
    actor = Actor("operator", "operator:eve", on_behalf_of=OWNER)
    return import_graph(ledger, lambda: content, actor, alignment=no_rules)


@pytest.mark.usefixtures("in_small_segments")
def test_entities_in_several_segments_are_found_by_ids_and_ends(ledger: Ledger) -> None:
    outcome = imported(ledger, chain(20))
    assert outcome.written == 39
    ids = [own_id(OWNER, f"goal:{number:02d}") for number in range(20)]
    edges = [edge_id(OWNER, source, "INFORMED_BY", target) for source, target in pairwise(ids)]
    with ledger.read() as reader:
        assert [edge for edge in edges if current_edge(reader, edge) is None] == []
        at_node = decode_edges(reader.rows("world_edges_at", node_id=ids[10]))
        assert {edge.id for edge in at_node} == {edges[9], edges[10]}
    with ledger.transaction() as tx:
        begun = [seq for seq in outcome.decisions if tx.run("world_begin_segment", segment=seq) == 0]
    assert begun == [outcome.decisions[0], outcome.decisions[2]]


@pytest.mark.usefixtures("in_small_segments")
def test_the_time_of_each_batch_of_a_large_import_leads_to_its_last_event(ledger: Ledger) -> None:
    outcome = imported(ledger, chain(20))
    with ledger.read() as reader:
        events = [event for seq in outcome.decisions for event in events_of_decision(reader, seq)]
        last = {state.recorded_at: event.seq for event in events if (state := event.node or event.edge)}
        assert len(last) == len(outcome.decisions) == 4
        assert {time: known_revision(reader, time) for time in last} == last


@pytest.mark.usefixtures("in_small_segments")
def test_a_graph_in_segments_is_exported_as_it_was_imported(ledger: Ledger) -> None:
    content = chain(20)
    imported(ledger, content)
    assert given(ledger) == [line for line in content if b'"kind":"node"' in line or b'"kind":"edge"' in line]


def given(ledger: Ledger) -> list[bytes]:
    """Returns the owner's nodes and edges, three per page, as a file without their times states them."""
    lines: list[bytes] = []
    with ledger.read() as reader:
        position: Position | None = Position(head_revision(reader))
        while position is not None:
            page = export_page(reader, OWNER, position, entities=3)
            for record in page.records:
                if isinstance(record, NodeRecord):
                    lines.append(
                        line_of(NodeRecord(id=record.id, type=record.type, title=record.title, source=record.source))
                    )
                elif isinstance(record, EdgeRecord):
                    ends = {"source": record.source, "target": record.target}
                    lines.append(line_of(EdgeRecord(**ends, type=record.type, stated_in=record.stated_in)))
            position = page.next
    return lines


def test_an_owners_edges_from_nodes_of_others_are_in_the_ordinary_segment(ledger: Ledger) -> None:
    forms = [EdgeForm("INFORMED_BY", "s", ('"type":"INFORMED_BY"', '"recordedAt":""}'))]
    own = own_id(OWNER, "goal:a")
    edges = [NewEdge("edge:1", own, "goal:b", 0), NewEdge("edge:2", "goal:b", own, 0), NewEdge("edge:3", own, own, 0)]
    with ledger.transaction() as tx:
        append_batch(tx, edges, forms, Batch("operator:eve", OWNER, "2026-01-02T12:00:00.000000Z", 1, segment=1))
    with ledger.read() as reader:
        rows = reader.rows("world_export_edges", **range_of(OWNER, "", "own/"))
        assert [row["id"] for row in rows] == ["edge:2"]
        rows = reader.rows("world_export_own_edges", **range_of(OWNER, "own/", "own0"))
        assert [row["id"] for row in rows] == ["edge:1", "edge:3"]


def range_of(owner: str, source: str, before: str) -> dict[str, str | int]:
    return {"owner": owner, "source": source, "before": before, "type": "", "target": "", "prefix": "-", "limit": 9}


def test_every_statement_finds_an_entity_in_a_segment_by_its_id(unopened_settings: Settings, tmp_path: Path) -> None:
    settings = unopened_settings.model_copy(update={"ledger_url": None})
    open_ledger(settings, tmp_path).close()
    connection = sqlite.connect(str(tmp_path / "ledger.db"))
    texts = "".join(file.read_text() for file in SQL)
    parts_of_others = set(re.findall(r"\{(\w+)\}", texts))
    plans = {
        name: steps_of(connection, driver_statement(SQL, name, "sqlite"))
        for name in re.findall(r"^-- name: (\w+)\n", texts, re.MULTILINE)
        if name not in parts_of_others
    }
    connection.close()
    by_segments = [name for name, steps in plans.items() if "(segment=? AND " in steps]
    assert len(by_segments) > 10
    is_lost = re.compile(r"(by_entity|by_target|with_form) \(segment=\?\)")
    only_by_segment = [name for name, steps in plans.items() if is_lost.search(steps)]
    assert only_by_segment == []
    assert "world_edges_by_owner_and_ends (owner=? AND source>? AND source<?)" in plans["world_export_edges"]
    assert "world_edges_by_source (source>? AND source<?)" in plans["world_export_own_edges"]
    assert "world_events_by_time (recorded_at<?)" in plans["world_last_recorded_by"]


def steps_of(connection: sqlite.Connection, statement: str) -> str:
    parameters = dict.fromkeys(re.findall(r"(?<!\w):(\w+)", statement), "[]")
    return "; ".join(row[3] for row in connection.execute(f"explain query plan {statement}", parameters))
