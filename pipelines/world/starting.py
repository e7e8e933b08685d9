"""Prepares the graph before the first run."""

from contextlib import closing
from datetime import datetime

from contracts.settings import Settings
from warehouse.duck.connection import Connection
from warehouse.ledger.ledger import open_ledger
from warehouse.world.fold import fold_events
from warehouse.world.load import load_constitution


def starting_rows(connection: Connection, settings: Settings, now: datetime) -> None:
    """Loads the constitution, and folds the graph events in the ledger."""
    with closing(open_ledger(settings, settings.data_dir)) as ledger:
        load_constitution(ledger)
        fold_events(connection, ledger)
