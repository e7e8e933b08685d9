"""Another process that writes the graph until it is killed, telling what it was told: `writing(settings)`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

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


@contextmanager
def writing(settings: Settings) -> Iterator[subprocess.Popen[str]]:
    """A process of `write_until_killed`; each line is a node's id and the revision that it was accepted at."""
    command = [sys.executable, __file__, str(settings.data_dir), settings.ledger_url or ""]
    root = Path(__file__).parent.parent
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=root) as process:
        try:
            yield process
        finally:
            process.kill()


if __name__ == "__main__":
    data_dir, ledger_url = sys.argv[1:]
    write_until_killed(Settings(_env_file=None, data_dir=Path(data_dir), ledger_url=ledger_url or None))
