"""Connect as assets: finished set-ups as governed graph events, anonymous sessions and steps."""

from collections.abc import Iterator
from contextlib import closing

import dagster as dg

from pipelines.presentation import LEDGER_GROUP, POOL, log_verdicts, other_spec, row_count, table_spec
from pipelines.resources import Runtime
from warehouse.connect.session_sync import sync_sessions
from warehouse.ledger.ledger import open_ledger

SESSIONS, STEPS = "raw_ledger__connect_sessions", "raw_ledger__connect_steps"


@dg.multi_asset(
    name="sync_connect_tables",
    specs=[
        other_spec(
            "connect_events",
            LEDGER_GROUP,
            "Finished set-ups as nodes of EXECUTION and SYMBIOSIS, tied to the intake that they registered, written to "
            "the ledger through the validator, without anything personal. Grain: one proposal per set-up that changed.",
            "ledger",
            deps=["ledger", "world_constitution", "intake_events"],
        ),
        table_spec(SESSIONS, LEDGER_GROUP, "Sessions in their current state, without identities.", deps=["ledger"]),
        table_spec(STEPS, LEDGER_GROUP, "Steps with their state, without the texts of the session.", deps=["ledger"]),
    ],
    pool=POOL,
)
def sync_connect_tables(
    context: dg.AssetExecutionContext, runtime: dg.ResourceParam[Runtime]
) -> Iterator[dg.MaterializeResult[None]]:
    """Proposes finished set-ups to the graph, and syncs sessions."""
    with (
        runtime.warehouse.connect() as connection,
        closing(open_ledger(runtime.settings, runtime.data_dir)) as opened,
    ):
        synced = sync_sessions(connection, opened)
        metadata_by_table = {table: row_count(connection, table) for table in (SESSIONS, STEPS)}
    yield dg.MaterializeResult(asset_key="connect_events", metadata=log_verdicts(context.log, synced.decisions))
    for table, metadata in metadata_by_table.items():
        yield dg.MaterializeResult(asset_key=table, metadata=metadata | {"changed_sessions": synced.changed})
