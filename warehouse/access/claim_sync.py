"""Syncs paid access from the ledger to DuckDB: copies what changed since the last seq."""

from warehouse.duck.connection import Connection
from warehouse.ledger.ledger import Ledger
from warehouse.ledger.sync import LedgerSync

ACCESS = LedgerSync("core_access__state", "access_newest_change")

CHANGES = {
    "put_quotes": "access_changed_quotes",
    "put_claims": "access_changed_claims",
    "put_keys": "access_changed_keys",
    "put_unmatched_payments": "access_changed_unmatched_payments",
}
"""The statement that stores rows in DuckDB, and the ledger's statement that returns them."""


def sync_access(connection: Connection, ledger: Ledger) -> int:
    """Copies what changed in the ledger since the last sync and returns the number of changed rows.

    Reads one state of the ledger and writes everything in one transaction. Raises `StoreBusy`, `StoreUnusable`.
    """
    since = ACCESS.synced_to(connection)
    with ledger.read() as reader:
        head = reader.head()
        changed = {put: reader.rows(question, seq=since) for put, question in CHANGES.items()}
    ACCESS.put(connection, changed, head)
    return sum(map(len, changed.values()))
