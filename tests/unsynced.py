"""Decides whether the ledger has changes of a room that no run has synced, as a tick of the chain job checks it."""

from contextlib import closing

from contracts.settings import Settings
from warehouse.duck.connection import Warehouse
from warehouse.ledger.ledger import open_ledger
from warehouse.ledger.sync import LedgerSync


def has_unsynced_changes(settings: Settings, room: LedgerSync) -> bool:
    with Warehouse(settings.data_dir).read_only() as connection:
        assert connection is not None
        since = room.synced_to(connection)
    with closing(open_ledger(settings, settings.data_dir)) as ledger:
        return room.has_moved(ledger, since)
