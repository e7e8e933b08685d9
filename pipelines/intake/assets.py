"""Intake as assets: governed graph events, rows without personal data, and settings."""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime

import dagster as dg

from pipelines.presentation import LEDGER_GROUP, POOL, log_verdicts, other_spec, row_count, table_spec
from pipelines.resources import Runtime
from warehouse.intake.intake_sync import sync_intakes
from warehouse.intake.statistics import see_settings
from warehouse.ledger.ledger import open_ledger

RAW, SETTINGS = "raw_ledger__intakes", "out_intake__settings"


@dg.multi_asset(
    name="sync_intake_tables",
    specs=[
        other_spec(
            "intake_events",
            LEDGER_GROUP,
            "Intakes as nodes of SYMBIOSIS and EXECUTION, written to the ledger through the validator, without "
            "anything personal. Grain: one proposal per intake that changed.",
            "ledger",
            deps=["ledger", "world_constitution"],
        ),
        table_spec(RAW, LEDGER_GROUP, "Intakes in their current state, without their senders.", deps=["ledger"]),
        table_spec(
            SETTINGS,
            LEDGER_GROUP,
            "The settings that the intake documents state, recorded hourly and after changes.",
        ),
    ],
    pool=POOL,
)
def sync_intake_tables(
    context: dg.AssetExecutionContext, runtime: dg.ResourceParam[Runtime]
) -> Iterator[dg.MaterializeResult[None]]:
    """Proposes changes to the graph, syncs intakes, and records the settings."""
    with (
        runtime.warehouse.connect() as connection,
        closing(open_ledger(runtime.settings, runtime.data_dir)) as opened,
    ):
        synced = sync_intakes(connection, opened)
        see_settings(connection, runtime.settings, datetime.now(UTC), again=synced.changed > 0)
        metadata_by_table = {table: row_count(connection, table) for table in (RAW, SETTINGS)}
    yield dg.MaterializeResult(asset_key="intake_events", metadata=log_verdicts(context.log, synced.decisions))
    for table, metadata in metadata_by_table.items():
        yield dg.MaterializeResult(asset_key=table, metadata=metadata | {"changed_rows": synced.changed})
