"""Edges of an import that differ only in their ends store their common part once, and read as if each had its own
event."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from world_writes import no_rules

from contracts.settings import Settings
from contracts.world.identity import own_id
from contracts.world.portable import EdgeRecord, EndRecord, Header, NodeRecord, line_of
from contracts.world.proposal import Actor
from warehouse.duck.connection import Warehouse
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.world.audit import verify
from warehouse.world.events import decode_edges, decode_events, events_after, keep_formed
from warehouse.world.fold import fold_events
from warehouse.world.forget import erase_node, forget_owner
from warehouse.world.importing import import_graph

OWNER = "local:ada"
ADA = Actor("caller", OWNER)
ACTOR = Actor("operator", "operator:eve", on_behalf_of=OWNER)
NAMES = ("a", "b", "c", "d", "e")
FOLDED = ("core_world__edges", "out_world__edges", "core_world__nodes", "out_world__nodes", "core_world__state")


@pytest.fixture
def ledger(unopened_settings: Settings) -> Iterator[Ledger]:
    opened = open_ledger(unopened_settings, unopened_settings.data_dir)
    yield opened
    opened.close()


def tie(source: str, target: str, **fields: Any) -> EdgeRecord:
    return EdgeRecord(source=source, target=target, **{"type": "INFORMED_BY", "stated_in": "a file", **fields})


ALIKE = [tie(source, target) for source in NAMES for target in NAMES if source < target]


def imported(ledger: Ledger, *ties: EdgeRecord) -> None:
    nodes = [NodeRecord(id=name, type="Goal", title=f"Goal {name}", source="a file") for name in NAMES]
    lines = [line_of(record) for record in (Header(), *nodes, *ties, EndRecord(lines=1 + len(nodes) + len(ties)))]
    assert import_graph(ledger, lambda: lines, ACTOR, alignment=no_rules).verdict == "approved"


def count(ledger: Ledger, counted: str) -> int:
    with ledger._readers.begin() as connection:
        return int(connection.exec_driver_sql(f"select count(*) from {counted}").scalar_one())


def faults(ledger: Ledger) -> tuple[str, ...]:
    with ledger.read() as reader:
        return tuple(verify(reader).faults)


def test_the_common_part_of_edges_is_stored_once_and_only_the_last_edge_has_an_event(ledger: Ledger) -> None:
    imported(ledger, *ALIKE, tie("a", "b", type="RELATED_TO"))
    assert count(ledger, "world_edge_forms") == 1
    assert count(ledger, "world_edges where form is not null") == 10
    assert count(ledger, "world_events where kind = 'edge'") == 1
    with ledger.read() as reader:
        events = events_after(reader, 0, 100)
        newest = decode_edges(reader.rows("world_edges_of_owner", owner=OWNER))
    assert [event.seq for event in events] == list(range(events[0].seq, events[0].seq + 16))
    edges = [event.edge for event in events if event.edge is not None]
    ends = [(edge.source, edge.target) for edge in edges]
    assert ends == [(own_id(OWNER, edge.source), own_id(OWNER, edge.target)) for edge in (*ALIKE, ALIKE[0])]
    assert newest == sorted(edges, key=lambda edge: edge.id)
    assert faults(ledger) == ()


def test_edges_that_share_nothing_have_events(ledger: Ledger) -> None:
    imported(ledger, *(tie("a", name, properties={"note": name}) for name in NAMES[1:]))
    assert count(ledger, "world_edge_forms") == 0
    assert count(ledger, "world_events where kind = 'edge'") == 4


def test_an_edge_that_changes_keeps_its_first_state_as_an_event(ledger: Ledger) -> None:
    imported(ledger, *ALIKE)
    with ledger.read() as reader:
        before = events_after(reader, 0, 100)
    imported(ledger, tie("a", "b", properties={"note": "later"}), *ALIKE[1:])
    with ledger.read() as reader:
        assert events_after(reader, 0, 100)[: len(before)] == before
        at_a = decode_edges(reader.rows("world_edges_at", node_id=own_id(OWNER, "a")))
        changed = next(edge for edge in at_a if edge.target == own_id(OWNER, "b"))
        states = decode_events(reader.rows("world_events_of_entity", kind="edge", entity_id=changed.id))
    assert [event.edge.properties for event in states if event.edge is not None] == [{}, {"note": "later"}]
    assert len(at_a) == 4
    assert count(ledger, "world_edges where form is not null") == 8
    assert faults(ledger) == ()


def test_rows_are_the_same_whether_edges_follow_from_forms_or_have_events(ledger: Ledger, tmp_path: Path) -> None:
    begun, owners = tie("b", "a", valid_from="2026-01-01T00:00:00.000000Z"), tie("c", "a", source_class="owner")
    imported(ledger, *ALIKE, begun, owners)
    folded = []
    for name in ("formed", "kept"):
        with Warehouse(tmp_path / name).connect() as connection:
            fold_events(connection, ledger)
            rows = [connection.execute(f"select * from {table} order by all").fetchall() for table in FOLDED]
        folded.append(rows)
        with ledger.transaction() as tx:
            keep_formed(tx, [row["id"] for row in tx.rows("world_edges_since", owner=OWNER, seq=0)])
    assert count(ledger, "world_edges where form is not null") == 0
    assert folded[0] == folded[1]
    assert len(folded[0][0]) == 12
    assert faults(ledger) == ()


def test_a_form_goes_with_its_last_edge(ledger: Ledger) -> None:
    imported(ledger, *ALIKE, tie("b", "a", stated_in="a secret place"), tie("b", "a", type="RELATED_TO"))
    for name in NAMES[:3]:
        erase_node(ledger, ADA, name)
        assert count(ledger, "world_edge_forms") == 1
    erase_node(ledger, ADA, "d")
    assert count(ledger, "world_edge_forms") == 0
    assert faults(ledger) == ()


def test_no_form_of_a_forgotten_owner_is_left(ledger: Ledger) -> None:
    imported(ledger, *ALIKE)
    forget_owner(ledger, OWNER, "eve")
    assert count(ledger, "world_edge_forms") == 0
    assert faults(ledger) == ()


@pytest.mark.parametrize(
    "tampering",
    [
        "update world_edge_forms set head = replace(head, 'a file', 'a tale')",
        "update world_edge_forms set decision_seq = decision_seq + 1",
        "delete from world_edge_forms",
        "update world_edges set form = null where form is not null",
        "update world_edges set target = source where form is not null",
        "delete from world_edges where form is not null",
    ],
)
def test_a_form_or_edge_changed_without_the_service_is_found(ledger: Ledger, tampering: str) -> None:
    imported(ledger, *ALIKE)
    assert faults(ledger) == ()
    with ledger._writers.begin() as connection:
        connection.exec_driver_sql(tampering)
    assert faults(ledger)
