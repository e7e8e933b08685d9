"""Another process that writes the graph until it is killed, printing the answers it got: `writing(settings)`."""

from __future__ import annotations

from contextlib import AbstractContextManager

from forked import ForkedProcess, forked
from world_writes import fact, no_rules, proposal, tie

from contracts.settings import Settings
from contracts.world.proposal import NodeDraft
from warehouse.ledger.ledger import open_ledger
from warehouse.world.write import propose


def write_until_killed(settings: Settings) -> None:
    ledger = open_ledger(settings, settings.data_dir)
    hub = NodeDraft(id="hub", type="Project", title="A hub")
    propose(ledger, proposal(hub), alignment=no_rules)
    number = 0
    while True:
        number += 1
        drafted = fact(f"fact{number}", number)
        decision = propose(ledger, proposal(drafted, tie(drafted.id, "TRACKS", "hub")), alignment=no_rules)
        print(drafted.id, decision.revision, flush=True)


def writing(settings: Settings) -> AbstractContextManager[ForkedProcess]:
    """Starts a process of `write_until_killed`; each line has a node's id and the revision at which it was accepted."""
    return forked(write_until_killed, settings)
