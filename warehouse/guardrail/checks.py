"""Syncs guardrail checks from their log to DuckDB, in the order of their numbers, and sums them up by day and stage."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from warehouse.duck.connection import Connection, transaction
from warehouse.guardrail.log import GuardrailLog, LoggedCheck
from warehouse.statements import read_sql

BATCH = 10_000


def sync_checks(connection: Connection, log: GuardrailLog) -> int:
    """Appends the checks that are new in the log, recomputes the sums of their days and returns the number of checks.

    Everything is one transaction. Raises `StoreBusy`, or `StoreUnusable` if the log can't be read.
    """
    with transaction(connection):
        newest = _newest(connection)
        seq, added = newest, 0
        while checks := log.after(seq, BATCH):
            _append(connection, checks)
            seq = checks[-1].seq
            added += len(checks)
        if added:
            connection.execute(read_sql("forget_guardrail_days"), {"seq": newest})
            connection.execute(read_sql("sum_guardrail_days"), {"seq": newest})
    return added


def _newest(connection: Connection) -> int:
    row = connection.execute(read_sql("guardrail_newest_check")).fetchone()
    assert row is not None
    return int(row[0])


def _append(connection: Connection, checks: Sequence[LoggedCheck]) -> None:
    rows = json.dumps([asdict(check) | {"checked_at": check.checked_at.isoformat()} for check in checks])
    connection.execute(read_sql("append_guardrail_checks"), {"checks": rows})
