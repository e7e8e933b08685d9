"""Paid access in DuckDB: what changed in the ledger is taken over by its seq, and summed up by day and plan."""

from __future__ import annotations

import json

from warehouse.duck import Connection, read_sql, transaction
from warehouse.ledger import Ledger

TAKEN_OVER = ("quotes", "claims", "keys", "unmatched_payments")
"""Each is a question of the ledger, a table and a statement that puts rows there."""


def take_over_access(connection: Connection, ledger: Ledger) -> int:
    """Put what changed in the ledger since the last time in its tables, and sum up; how many rows came.

    The ledger is read in one state, and all is written in one transaction. Raises `StoreBusy`, `StoreUnusable`.
    """
    held = taken_over_to(connection)
    with ledger.read() as reader:
        head = reader.head()
        changed = {name: reader.rows(f"access_changed_{name}", seq=held) for name in TAKEN_OVER}
    with transaction(connection):
        for name, rows in changed.items():
            if rows:
                connection.execute(read_sql("access", f"put_{name}"), {"rows": json.dumps([dict(row) for row in rows])})
        if any(changed.values()):
            connection.execute("delete from out_access__revenue_daily")
            connection.execute(read_sql("access", "sum_revenue"))
            connection.execute("delete from out_access__funnel")
            connection.execute(read_sql("access", "count_funnel"))
        connection.execute("insert or replace into core_access__state values (true, ?)", [head])
    return sum(map(len, changed.values()))


def taken_over_to(connection: Connection) -> int:
    """The ledger's seq up to which changes are here; 0 before any are."""
    row = connection.execute("select seq from core_access__state").fetchone()
    return int(row[0]) if row else 0


def access_has_moved(ledger: Ledger, since: int) -> bool:
    """Whether paid access changed in the ledger above a seq."""
    with ledger.read() as reader:
        row = reader.row("access_newest_change", seq=since)
    return row is not None and row["seq"] is not None
