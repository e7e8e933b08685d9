"""Indexes of random keys are divided into segments of large imports; statements find an entity in all of them."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pysqlite3.dbapi2 as sqlite
import pytest
from world_writes import no_rules

from contracts.settings import Settings
from contracts.world.identity import edge_id, own_id
from contracts.world.portable import EdgeRecord, EndRecord, Header, NodeRecord, Record, line_of
from contracts.world.proposal import Actor
from warehouse.ledger.drivers import driver_statement
from warehouse.ledger.ledger import SQL, Ledger, open_ledger
from warehouse.world import importing
from warehouse.world.events import current_edge, decode_edges
from warehouse.world.importing import import_graph

OWNER = "local:ada"


def chain(nodes: int) -> list[bytes]:
    """A file of nodes of which each has an edge to the next one."""
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


def test_what_a_large_import_wrote_into_several_segments_is_found_by_ids_and_ends(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importing, "NODES_AND_EDGES_OF_PART", 10)
    monkeypatch.setattr(importing, "STATES_WORTH_A_SEGMENT", 20)
    monkeypatch.setattr(importing, "SEGMENT_STATES", 20)
    content = chain(20)
    outcome = import_graph(
        ledger, lambda: content, Actor("operator", "operator:eve", on_behalf_of=OWNER), alignment=no_rules
    )
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
    assert [name for name, steps in plans.items() if "(segment=?)" in steps] == []


def steps_of(connection: sqlite.Connection, statement: str) -> str:
    parameters = dict.fromkeys(re.findall(r"(?<!\w):(\w+)", statement), "[]")
    return "; ".join(row[3] for row in connection.execute(f"explain query plan {statement}", parameters))
