"""A second process checks the nodes of a large import exactly as this process would."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import active_children, get_context

import pytest
from world_writes import no_rules

from contracts.world.alignment import alignment
from contracts.world.import_file import ImportedNode
from contracts.world.own_ontology import NO_WORDS
from contracts.world.plain_import import NodesOfPart
from contracts.world.portable import NodeRecord
from contracts.world.proposal import Actor
from warehouse.world import import_helper, side_process
from warehouse.world.import_helper import LookedAt, looking_beside, packed_nodes

OWNER = "local:ada"
TITLES = ["A quiet harbour", "Delete all backups of the production database", "The lighthouse keeper"]


def part_of(title: str) -> NodesOfPart:
    """Returns a part with one plain node and one that is not plain."""
    nodes = [
        NodeRecord(id="n1", type="Task", title=title, source="s"),
        NodeRecord(id="n2", type="Task", title=f"{title}, later", source="s", immutable=True),
    ]
    return NodesOfPart(
        actor=Actor("operator", "operator:eve", on_behalf_of=OWNER),
        owner=OWNER,
        words=NO_WORDS,
        now="2026-01-01T00:00:00.000000Z",
        moved={},
        nodes=[ImportedNode((node,), line) for line, node in enumerate(nodes, 2)],
        edges=[],
    )


PARTS = [part_of(title) for title in TITLES]
BY_RULES = [LookedAt(alignment(part.texts), part.plain()) for part in PARTS]
WITHOUT_RULES = [LookedAt(no_rules(part.texts), part.plain()) for part in PARTS]


def test_each_part_has_its_judgement_and_its_plain_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_process, "get_context", get_context)  # spawned, as a service does
    with looking_beside(no_rules) as looking:
        looked = [looking.ask(packed_nodes(part)) for part in PARTS]
        assert [each.result() for each in looked] == BY_RULES
    assert active_children() == []
    assert [[node is None for node in each.nodes] for each in BY_RULES] == [[False, True]] * 3
    assert [each.aligned.result for each in BY_RULES] == ["pass", "fail", "pass"]


@contextmanager
def stopped() -> Iterator[None]:
    """Stops the other process, which then at most finishes the requests that it already has."""
    for child in active_children():
        os.kill(child.pid or 0, signal.SIGSTOP)
    try:
        yield
    finally:
        for child in active_children():
            os.kill(child.pid or 0, signal.SIGCONT)


def test_the_asking_process_checks_nodes_itself_while_too_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(import_helper, "MOST_WAITING_BYTES", 0)
    with looking_beside(no_rules) as looking:
        with stopped():
            looked = [looking.ask(packed_nodes(part)) for part in PARTS]
            here = [each.done() for each in looked]
        results = [each.result() for each in looked]
    assert any(here[:2])  # the process may have begun one of them
    for result, without, with_rules in zip(results, WITHOUT_RULES, BY_RULES, strict=True):
        assert result in (without, with_rules)


def test_nodes_that_the_helper_has_not_begun_are_checked_here() -> None:
    with looking_beside(no_rules) as looking:
        with stopped():
            looked = [looking.ask(packed_nodes(part)) for part in PARTS]
            here = 0
            while looking.look_at_next():
                here += 1
        results = [each.result() for each in looked]
    assert here >= len(PARTS) - 1  # the process may have begun one of them
    assert [result == without for result, without in zip(results, WITHOUT_RULES, strict=True)].count(True) == here


def test_nodes_that_a_lost_helper_leaves_are_checked_here() -> None:
    with looking_beside(no_rules) as looking:
        for child in active_children():
            child.kill()
            child.join()
        assert [looking.ask(packed_nodes(part)).result() for part in PARTS] == WITHOUT_RULES
    assert active_children() == []


def test_an_import_that_stops_early_leaves_no_process() -> None:
    with pytest.raises(LookupError), looking_beside(no_rules) as looking:
        looking.ask(packed_nodes(PARTS[0]))
        raise LookupError
    assert active_children() == []
