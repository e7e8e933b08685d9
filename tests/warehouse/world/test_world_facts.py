"""Bi-temporal facts, against a model: one holds at any instant, nothing is lost, and every earlier view can be had."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from rounds import ROUNDS
from world_writes import fact, no_rules, proposal

from contracts.settings import Settings
from contracts.times import utc_text
from contracts.world.records import Node
from warehouse.duck.connection import Warehouse
from warehouse.ledger.ledger import open_ledger
from warehouse.world.audit import verify
from warehouse.world.events import events_after
from warehouse.world.fold import fold_events
from warehouse.world.write import propose

START = datetime(2026, 1, 1, tzinfo=UTC)
HOURS = st.integers(0, 30)


def instant(hour: int) -> str:
    return utc_text(START + timedelta(hours=hour))


class Facts(RuleBasedStateMachine):
    """Facts about one door, proposed in any order of their validity."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = tempfile.TemporaryDirectory()
        self.path = Path(self.directory.name)
        self.now = START + timedelta(hours=31)
        self.ledger = open_ledger(Settings(_env_file=None), self.path, clock=lambda: self.now)
        self.timeline: dict[int, tuple[int | None, str]] = {}
        """What holds by the model: from hour -> (to hour or None, id)."""
        self.views: list[tuple[int, dict[int, tuple[int | None, str]]]] = []

    @rule(start=HOURS, length=st.none() | st.integers(-1, 10))
    def state(self, start: int, length: int | None) -> None:
        self.now += timedelta(seconds=1)
        end = None if length is None else start + length
        node_id = f"fact{len(self.views)}"
        drafted = fact(
            node_id, len(self.views), valid_from=instant(start), valid_to=None if end is None else instant(end)
        )
        decision = propose(self.ledger, proposal(drafted), alignment=no_rules)
        fits = (end is None or end > start) and not any(
            other == start or (other > start and (end is None or end > other)) for other in self.timeline
        )
        assert (decision.verdict == "approved") == fits, decision.stages
        if fits:
            for other, (until, name) in list(self.timeline.items()):
                if other < start and (until is None or until > start):
                    self.timeline[other] = (start, name)
            self.timeline[start] = (end, node_id)
        self.views.append((self.ledger.head(), dict(self.timeline)))

    @invariant()
    def one_fact_holds_at_a_time_and_earlier_views_stay(self) -> None:
        with self.ledger.read() as reader:
            events = events_after(reader, 0, 10_000)
        for head, timeline in self.views[-1:] + self.views[:: max(1, len(self.views) // 3)]:
            known: dict[str, Node] = {}
            for event in events:
                if event.seq <= head and event.node is not None:
                    known[event.node.id] = event.node
            for hour in range(0, 42, 3):
                at = instant(hour)
                holding = [
                    n.id for n in known.values() if n.valid_from <= at and (n.valid_to is None or at < n.valid_to)
                ]
                expected = [
                    name for start, (end, name) in timeline.items() if start <= hour and (end is None or hour < end)
                ]
                assert holding == expected

    def teardown(self) -> None:
        with self.ledger.read() as reader:
            assert verify(reader).faults == []
        if self.views:
            with Warehouse(self.path).connect() as connection:
                folded = fold_events(connection, self.ledger)
                at_once = connection.execute(
                    "select count(*) from core_world__nodes as a join core_world__nodes as b on a.id < b.id "
                    "where a.retired_at is null and b.retired_at is null and a.valid_from < "
                    "coalesce(b.valid_to, 'infinity') and b.valid_from < coalesce(a.valid_to, 'infinity')"
                ).fetchall()
                assert at_once == [(0,)]
                assert fold_events(connection, self.ledger) == folded
        self.ledger.close()
        self.directory.cleanup()


TestFacts = Facts.TestCase
TestFacts.settings = settings(max_examples=3 * ROUNDS, stateful_step_count=12, deadline=None)
