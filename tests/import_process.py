"""Another process that imports a file until it is killed: `importing_in(settings, file, owner)`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from forked import ForkedProcess, forked
from world_writes import no_rules

from contracts.settings import Settings
from contracts.world.proposal import Actor
from warehouse.ledger.ledger import open_ledger
from warehouse.world import import_parts, import_writing, importing

PART = 20


def import_file(settings: Settings, file: Path, owner: str) -> None:
    """Imports a file in small parts, reporting progress after each."""
    import_parts.NODES_AND_EDGES_OF_PART = PART
    import_writing.WRITES_AT_MOST_S = 0.0
    ledger = open_ledger(settings, settings.data_dir)
    actor = Actor("operator", "operator:eve", on_behalf_of=owner)
    importing.import_graph(
        ledger,
        lambda: file.read_bytes().splitlines(),
        actor,
        alignment=no_rules,
        on_progress=lambda what, done, of: print(what, done, flush=True),
    )
    ledger.close()


def importing_in(settings: Settings, file: Path, owner: str) -> AbstractContextManager[ForkedProcess]:
    """Starts a process of `import_file`; each line reports what is done, and for how many nodes and edges."""
    return forked(partial(import_file, file=file, owner=owner), settings)
