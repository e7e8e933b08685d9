"""Scheduled starts and ends become part of the graph on their day, once, as one decision, on both engines."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
from world_writes import ADA, NOW, at, fact, goal, no_rules, proposal, tie

from contracts.settings import Settings
from contracts.standing import SourceClass
from contracts.world.proposal import Act, Decision, Proposal
from contracts.world.records import is_live
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.world.audit import verify
from warehouse.world.due import next_due, settle_due
from warehouse.world.events import current_edge, current_node
from warehouse.world.write import propose


class Clock:
    """Stays at noon until it is moved."""

    now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def timed(ledger_settings: Settings, clock: Clock) -> Iterator[Ledger]:
    opened = open_ledger(ledger_settings, ledger_settings.data_dir, clock=clock)
    yield opened
    opened.close()


def write(ledger: Ledger, proposed: Proposal) -> Decision:
    decision = propose(ledger, proposed, alignment=no_rules)
    assert decision.verdict == "approved", decision.stages
    return decision


def live(ledger: Ledger, *node_ids: str) -> dict[str, tuple[bool, bool]]:
    """Returns whether each node is live, and whether it is disputed."""
    with ledger.read() as reader:
        nodes = [current_node(reader, node_id) for node_id in node_ids]
    return {node.id: (is_live(node), node.disputed) for node in nodes if node is not None}


def test_a_planned_fact_supersedes_on_its_day_and_not_before(timed: Ledger, clock: Clock) -> None:
    write(timed, proposal(fact("old", "open")))
    write(timed, proposal(fact("plan", "shut", valid_from=at(days=1))))
    assert settle_due(timed) == 0
    assert live(timed, "old", "plan") == {"old": (True, False), "plan": (False, False)}
    clock.now += timedelta(days=1)
    assert settle_due(timed) == 3, "both facts, and the edge between them"
    assert live(timed, "old", "plan") == {"old": (False, False), "plan": (True, False)}
    with timed.read() as reader:
        assert next_due(reader) is None
        assert verify(reader).faults == []
    assert settle_due(timed) == 0


def test_a_planned_fact_of_lower_standing_is_disputed_from_its_day_until_its_end(timed: Ledger, clock: Clock) -> None:
    write(timed, proposal(fact("known", "open"), source="a register", source_class=SourceClass.DOCUMENT))
    write(timed, proposal(fact("rumour", "shut", valid_from=at(days=1), valid_to=at(days=2)), source="a rumour"))
    assert live(timed, "known", "rumour") == {"known": (True, False), "rumour": (False, False)}
    clock.now += timedelta(days=1)
    settle_due(timed)
    assert live(timed, "known", "rumour") == {"known": (True, True), "rumour": (True, True)}
    clock.now += timedelta(days=1)
    settle_due(timed)
    assert live(timed, "known", "rumour") == {"known": (True, False), "rumour": (False, False)}


def test_a_planned_fact_that_is_retracted_before_its_day_never_begins(timed: Ledger, clock: Clock) -> None:
    write(timed, proposal(fact("old", "open")))
    write(timed, proposal(fact("plan", "shut", valid_from=at(days=1))))
    write(timed, proposal(goal("note"), acts=(Act("retracts", "note", "plan", "it was called off"),)))
    clock.now += timedelta(days=2)
    settle_due(timed)
    assert live(timed, "old", "plan") == {"old": (True, False), "plan": (False, False)}


def test_nodes_and_edges_end_at_their_stated_time(timed: Ledger, clock: Clock) -> None:
    write(timed, proposal(goal("a"), goal("b", valid_to=at(days=1)), tie("a", "RELATED_TO", "b", valid_to=at(hours=1))))
    edge_id = write(timed, proposal(tie("a", "PRECEDES", "b"))).edges[0].id
    clock.now += timedelta(days=1)
    assert settle_due(timed) == 2
    with timed.read() as reader:
        edge = current_edge(reader, edge_id)
    assert live(timed, "a", "b") == {"a": (True, False), "b": (False, False)}
    assert edge is not None and is_live(edge)


def test_many_states_are_settled_in_several_decisions(timed: Ledger, clock: Clock) -> None:
    goals = [goal(f"g{number}", valid_to=at(days=1)) for number in range(520)]
    write(timed, proposal(*goals, actor=ADA))
    clock.now += timedelta(days=1)
    assert settle_due(timed) == 520
    assert not any(alive for alive, _ in live(timed, *(each.id for each in goals)).values())
