"""Syncs paid access from the ledger to DuckDB: copies what changed since the last seq, then sums up by day and plan."""

from __future__ import annotations

from warehouse.duck.connection import Connection
from warehouse.ledger.ledger import Ledger
from warehouse.ledger.sync import LedgerSync

ACCESS = LedgerSync("access", {"out_access__revenue_daily": "sum_revenue", "out_access__funnel": "count_access_funnel"})

SYNCED = ("quotes", "claims", "keys", "unmatched_payments")
"""Names shared by a question of the ledger, a table and the statement that writes its rows."""


def sync_access(connection: Connection, ledger: Ledger) -> int:
    """Copies what changed in the ledger since the last sync, updates the sums and returns the number of changed rows.

    Reads one state of the ledger and writes everything in one transaction. Raises `StoreBusy`, `StoreUnusable`.
    """
    since = ACCESS.synced_to(connection)
    with ledger.read() as reader:
        head = reader.head()
        changed = {f"put_{name}": reader.rows(f"access_changed_{name}", seq=since) for name in SYNCED}
    ACCESS.put(connection, changed, head)
    return sum(map(len, changed.values()))
