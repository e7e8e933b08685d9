"""Paid access as assets: the ledger's rows, and payments that wait for the operator."""

from collections.abc import Iterator
from contextlib import closing

import dagster as dg

from pipelines.presentation import LEDGER_GROUP, POOL, markdown_table, other_spec, row_count, table_spec
from pipelines.resources import Runtime
from warehouse.access.claim_sync import sync_access
from warehouse.duck.inspection import preview
from warehouse.ledger.ledger import open_ledger

RAW = {
    "raw_ledger__quotes": "Quotes in their current state, without payers and hashes.",
    "raw_ledger__claims": "Claims in their current state, without payer and transaction.",
    "raw_ledger__keys": "API keys in their current state, without owner and digest.",
    "raw_ledger__unmatched_payments": (
        "Transfers that a claim named but no claim could use, without sender and transaction."
    ),
}

ledger = other_spec(
    "ledger",
    LEDGER_GROUP,
    "The system of record for what people send: SQLite, or PostgreSQL by SVC_LEDGER_URL.",
    "ledger",
)


@dg.multi_asset(
    name="sync_access_tables",
    specs=[table_spec(table, LEDGER_GROUP, description, deps=["ledger"]) for table, description in RAW.items()],
    pool=POOL,
)
def sync_access_tables(runtime: dg.ResourceParam[Runtime]) -> Iterator[dg.MaterializeResult[None]]:
    """Syncs the changes in the ledger since the last run."""
    with (
        runtime.warehouse.connect() as connection,
        closing(open_ledger(runtime.settings, runtime.data_dir)) as opened,
    ):
        changed = sync_access(connection, opened)
        metadata_by_table = {table: row_count(connection, table) for table in RAW}
    for table, metadata in metadata_by_table.items():
        yield dg.MaterializeResult(asset_key=table, metadata=metadata | {"changed_rows": changed})


@dg.asset_check(
    asset="raw_ledger__unmatched_payments",
    name="none_waits",
    description="No payment that matched nothing waits for the operator: `svc claim unmatched`, `svc claim resolve`.",
    blocking=False,
    pool=POOL,
)
def none_waits(runtime: dg.ResourceParam[Runtime]) -> dg.AssetCheckResult:
    """Shows the waiting payments, oldest first."""
    with runtime.warehouse.connect() as connection:
        waiting = preview(connection, "access_open_payments")
    return dg.AssetCheckResult(
        passed=waiting.is_empty(),
        severity=dg.AssetCheckSeverity.WARN,
        metadata={"waiting": markdown_table(waiting, rows=20), "shown": waiting.height},
    )
