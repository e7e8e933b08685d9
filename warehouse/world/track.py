"""Feeds telemetry to the graph: reads metrics and notable events from the warehouse and proposes new ones."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from contracts.token.holders import list_file_name
from contracts.world.alignment import Alignment
from contracts.world.alignment import alignment as guardrails
from contracts.world.identity import fact_key
from contracts.world.ontology import load_ontology
from contracts.world.proposal import Decision
from contracts.world.records import Node, is_live
from contracts.world.track import PREDICATE, Noticed, Reading, metric_proposal, noticed_proposal
from warehouse.duck.connection import Connection
from warehouse.duck.rows import aware_utc
from warehouse.ledger.ledger import Ledger
from warehouse.statements import read_sql
from warehouse.world.view import LedgerView
from warehouse.world.write import propose


@dataclass(frozen=True)
class Tracked:
    """The result of a run: the number of readings and the decision on each resulting proposal."""

    readings: int
    decisions: tuple[Decision, ...]


def track(connection: Connection, ledger: Ledger, lists: Path, *, alignment: Alignment = guardrails) -> Tracked:
    """Proposes every metric with a new value and every new finding of a rule. `lists` is the directory of holder
    lists."""
    readings = read_readings(connection)
    noticed = [*read_noticed(connection), *read_movers(connection, lists)]
    with ledger.read() as reader:
        view = LedgerView(reader)
        proposals = [metric_proposal(reading, held_fact(view, reading)) for reading in readings]
        proposals += [noticed_proposal(observation) for observation in noticed]
        new = [draft for draft in proposals if draft is not None and view.node(draft.nodes[0].id) is None]
    return Tracked(len(readings), tuple(propose(ledger, draft, alignment=alignment) for draft in new))


def held_fact(view: LedgerView, reading: Reading) -> Node | None:
    """Returns the fact that currently holds for a reading's metric and subject, or None."""
    key = fact_key(load_ontology(), None, {"subject": reading.fact_subject, "predicate": PREDICATE})
    assert key is not None, "the predicate is single-valued"
    return next((fact for fact in reversed(view.facts(key)) if is_live(fact) and fact.valid_to is None), None)


def read_readings(connection: Connection) -> list[Reading]:
    """Returns every metric that the warehouse has now."""
    rows = connection.execute(read_sql("readings")).fetchall()
    return [
        Reading(
            metric, title, subject, text if number is None else number, aware_utc(observed_at), source, least_change
        )
        for metric, title, subject, number, text, observed_at, source, least_change in rows
        if subject is not None and observed_at is not None and (number is not None or text is not None)
    ]


def read_noticed(connection: Connection) -> list[Noticed]:
    """Returns the present findings of the rules in the warehouse's tables."""
    rows = connection.execute(read_sql("noticed")).fetchall()
    return [
        Noticed(rule, type_, subject, bucket, title, aware_utc(observed_at), source, json.loads(properties))
        for rule, type_, subject, bucket, title, observed_at, source, properties in rows
    ]


def read_movers(connection: Connection, lists: Path) -> list[Noticed]:
    """Returns large movers between the two newest snapshots; empty if there are fewer than two."""
    snapshots = connection.execute(read_sql("newest_snapshots")).fetchall()
    if len(snapshots) < 2:
        return []
    (block, block_time, sum_raw), (before, _, _) = snapshots
    files = [lists / list_file_name(snapshot_block) for snapshot_block in (before, block)]
    if not all(file.exists() for file in files):
        return []
    parameters = {"before": str(files[0]), "after": str(files[1]), "sum": sum_raw}
    rows = connection.execute(read_sql("movers"), parameters).fetchall()
    return [
        Noticed(
            "large-mover",
            "Observation",
            address,
            f"{before}-{block}",
            f"{address} {'gained' if change > 0 else 'gave up'} {abs(change):.2%} of the supply",
            aware_utc(block_time),
            "out_holders__lists",
            {"address": address, "change": change, "from_block": before, "to_block": block},
        )
        for address, change in rows
    ]
