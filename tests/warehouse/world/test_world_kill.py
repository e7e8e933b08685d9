"""A writer that is killed loses nothing that was acknowledged to it, and leaves nothing half written."""

from __future__ import annotations

from world_process import writing

from contracts.settings import Settings
from warehouse.ledger.ledger import open_ledger
from warehouse.world.audit import verify
from warehouse.world.events import current_node, events_after


def test_no_accepted_write_is_lost_by_a_kill(ledger_settings: Settings) -> None:
    told: list[tuple[str, int]] = []
    with writing(ledger_settings) as process:
        assert process.stdout is not None
        for _ in range(15):
            node_id, revision = process.stdout.readline().split()
            told.append((node_id, int(revision)))
        process.kill()
        process.wait()
        for line in process.stdout.read().splitlines(keepends=True):
            if line.endswith("\n"):
                node_id, revision = line.split()
                told.append((node_id, int(revision)))
    ledger = open_ledger(ledger_settings, ledger_settings.data_dir)
    with ledger.transaction() as tx:  # waits until PostgreSQL has noticed the death
        events = events_after(tx, 0, 1_000_000)
        written = {event.node.id for event in events if event.node is not None}
        assert {node_id for node_id, _ in told} <= written
        assert {revision for _, revision in told} <= {event.seq for event in events}
        holding = [node_id for node_id in written if (node := current_node(tx, node_id)) and node.valid_to is None]
        assert sorted(holding) == sorted({"hub", max(written - {"hub"}, key=lambda name: int(name[4:]))})
        report = verify(tx)
        assert report.faults == []
        assert report.decisions in (len(told) + 1, len(told) + 2)
    ledger.close()
