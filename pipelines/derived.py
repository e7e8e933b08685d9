"""Derived tables as assets: one step refills every table whose declaration contains the query of its rows.

Earlier steps commit the tables that these read. A run that dies in between leaves the rows of the previous run; every
run refills all of them, so the next one catches up.
"""

from collections.abc import Iterator

import dagster as dg

from pipelines.presentation import POOL, markdown_table, row_count, table_spec
from pipelines.resources import Runtime
from warehouse.duck.connection import transaction
from warehouse.duck.inspection import derived_tables, preview_table, tables_read
from warehouse.duck.rows import refill


@dg.multi_asset(
    name="derived_tables",
    specs=[
        table_spec(table, table.split("_")[1], rows.meaning, deps=sorted(tables_read(rows.query)))
        for table, rows in derived_tables().items()
    ],
    pool=POOL,
    can_subset=True,
)
def refill_derived_tables(
    context: dg.AssetExecutionContext, runtime: dg.ResourceParam[Runtime]
) -> Iterator[dg.MaterializeResult[None]]:
    """Refills the selected tables in one transaction."""
    chosen = [table for table in derived_tables() if dg.AssetKey(table) in context.selected_asset_keys]
    with runtime.warehouse.connect() as connection:
        with transaction(connection):
            for table in chosen:
                refill(connection, table)
        metadata_by_table = {
            table: row_count(connection, table) | {"preview": markdown_table(preview_table(connection, table), rows=60)}
            for table in chosen
        }
    for table, metadata in metadata_by_table.items():
        yield dg.MaterializeResult(asset_key=table, metadata=metadata)
