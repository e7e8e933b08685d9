"""Guardrail checks in DuckDB: taken over from their log by number, and summed up by day and stage."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict

from warehouse.duck.connection import Connection, transaction
from warehouse.guardrail.log import GuardrailLog, LoggedCheck
from warehouse.statements import read_sql

BATCH = 10_000


def take_over_checks(connection: Connection, log: GuardrailLog) -> int:
    """Append what the log holds beyond what is here, sum up its days anew, and say how many checks came.

    All in one transaction. Raises `StoreBusy`, `StoreUnusable` where the log can't be read.
    """
    with transaction(connection):
        held = _newest(connection)
        seq, came = held, 0
        while checks := log.after(seq, BATCH):
            _append(connection, checks)
            seq = checks[-1].seq
            came += len(checks)
        if came:
            connection.execute(read_sql("forget_guardrail_days"), {"seq": held})
            connection.execute(read_sql("sum_guardrail_days"), {"seq": held})
    return came


def _newest(connection: Connection) -> int:
    row = connection.execute(read_sql("guardrail_newest_check")).fetchone()
    assert row is not None
    return int(row[0])


def _append(connection: Connection, checks: Sequence[LoggedCheck]) -> None:
    rows = json.dumps([asdict(check) | {"checked_at": check.checked_at.isoformat()} for check in checks])
    connection.execute(read_sql("append_guardrail_checks"), {"checks": rows})
