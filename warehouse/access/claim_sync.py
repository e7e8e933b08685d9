"""Paid access in DuckDB: what changed in the ledger is taken over by its seq, and summed up by day and plan."""

from __future__ import annotations

from warehouse.duck.connection import Connection
from warehouse.ledger.ledger import Ledger
from warehouse.ledger.sync import Follower

ACCESS = Follower("access", {"out_access__revenue_daily": "sum_revenue", "out_access__funnel": "count_access_funnel"})

TAKEN_OVER = ("quotes", "claims", "keys", "unmatched_payments")
"""Each is a question of the ledger, a table and a statement that puts rows there."""


def take_over_access(connection: Connection, ledger: Ledger) -> int:
    """Put what changed in the ledger since the last time in its tables, and sum up; how many rows came.

    The ledger is read in one state, and all is written in one transaction. Raises `StoreBusy`, `StoreUnusable`.
    """
    held = ACCESS.taken_over_to(connection)
    with ledger.read() as reader:
        head = reader.head()
        changed = {f"put_{name}": reader.rows(f"access_changed_{name}", seq=held) for name in TAKEN_OVER}
    ACCESS.put(connection, changed, head)
    return sum(map(len, changed.values()))
