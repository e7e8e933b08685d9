"""Measures the governed write path: proposals per second to the disk, and the share of the seven stages."""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from contracts.settings import Settings
from contracts.world.alignment import alignment
from contracts.world.change_set import plan
from contracts.world.ontology import load_ontology
from contracts.world.proposal import Actor, EdgeDraft, NodeDraft, Proposal, checked
from contracts.world.validator import judge
from warehouse.ledger.ledger import open_ledger
from warehouse.world.load import load_constitution
from warehouse.world.view import LedgerView
from warehouse.world.write import propose

PROPOSALS = 500
NODES_AT_ONCE = 500
ROUNDS = 3

ACTOR = Actor("caller", "local:bench")


@dataclass(frozen=True)
class WorldWrites:
    """Medians of `ROUNDS` rounds on SQLite with synchronous=FULL. A proposal is a node with one edge and a key."""

    proposals_per_s: float
    p50_ms: float
    p99_ms: float
    judged_per_s: float
    """The seven stages only, over the ledger's states, without the commit."""
    nodes_at_once_per_s: float
    """Nodes per second of one large proposal, such as a document's graph."""


def measure() -> WorldWrites:
    """Writes proposals one after the other, judges one repeatedly, and writes one large proposal."""
    rounds = [_round() for _ in range(ROUNDS)]
    return WorldWrites(*(statistics.median(values) for values in zip(*rounds, strict=True)))


def _round() -> tuple[float, float, float, float, float]:
    with tempfile.TemporaryDirectory() as directory:
        ledger = open_ledger(Settings(_env_file=None), Path(directory))
        load_constitution(ledger)
        took: list[float] = []
        for number in range(PROPOSALS):
            started = time.perf_counter()
            decision = propose(ledger, _proposal(number))
            took.append(time.perf_counter() - started)
            if decision.verdict != "approved":
                raise AssertionError(f"a proposal of the bench was {decision.verdict}")
        shaped = checked(_proposal(PROPOSALS))
        aligned = alignment(shaped)
        with ledger.transaction() as tx:
            started = time.perf_counter()
            for _ in range(PROPOSALS):
                judge(plan(shaped, LedgerView(tx), load_ontology(), tx.now()), aligned)
            judged_s = time.perf_counter() - started
        started = time.perf_counter()
        propose(ledger, _large())
        at_once_s = time.perf_counter() - started
        ledger.close()
    quantiles = statistics.quantiles(took, n=100)
    return (
        PROPOSALS / sum(took),
        statistics.median(took) * 1000,
        quantiles[98] * 1000,
        PROPOSALS / judged_s,
        NODES_AT_ONCE / at_once_s,
    )


def _proposal(number: int) -> Proposal:
    node = NodeDraft(
        id=f"observation:{number}",
        type="Observation",
        title=f"What was seen at {number}",
        properties={"description": "A sentence of some length about what an agent saw while it worked.", "n": number},
    )
    edge = EdgeDraft(source=node.id, target="vision:ground", type="TRACKS")
    return Proposal(actor=ACTOR, source="bench", nodes=(node,), edges=(edge,), idempotency_key=f"bench {number}")


def _large() -> Proposal:
    nodes = tuple(
        NodeDraft(id=f"part:{number}", type="Goal", title=f"Part {number}") for number in range(NODES_AT_ONCE)
    )
    return Proposal(actor=ACTOR, source="bench", nodes=nodes)
