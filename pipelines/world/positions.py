"""Defines the asset with the positions of the graph's public nodes."""

import dagster as dg

from pipelines.presentation import row_count, table_asset
from pipelines.resources import Runtime
from pipelines.world.assets import GROUP
from warehouse.world.public_projection import place_new_nodes


@table_asset(
    GROUP,
    "Positions of the public nodes that any view draws, in a square from 0 to 1000. Placed nodes stay; new nodes "
    "settle between their neighbours and their domain's place.",
    deps=["out_world__nodes", "out_world__edges"],
)
def out_world__positions(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Places new nodes."""
    with runtime.warehouse.connect() as connection:
        placed = place_new_nodes(connection)
        return dg.MaterializeResult(metadata=row_count(connection, "out_world__positions") | {"placed": placed})
