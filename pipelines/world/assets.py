"""Defines the graph's assets: its constitution, telemetry signals, and every state in bi-temporal tables."""

from collections.abc import Iterator
from contextlib import closing

import dagster as dg

from pipelines.presentation import OWNERS, POOL, log_verdicts, markdown_table, row_count, table_spec
from pipelines.resources import Runtime
from warehouse.duck.inspection import preview
from warehouse.ledger.ledger import open_ledger
from warehouse.token.holder_lists import lists_dir
from warehouse.world.due import settle_due
from warehouse.world.fold import fold_events
from warehouse.world.load import load_constitution
from warehouse.world.staging import expire
from warehouse.world.track import track

GROUP = "world"
TABLES = {
    "core_world__nodes": "Every state of every node, with the times at which it was valid and known.",
    "core_world__edges": "Every state of every edge, with the times at which it was valid and known.",
    "out_world__nodes": "Records of nodes for queries of the past, including private ones.",
    "out_world__edges": "Records of edges for queries of the past, including private ones.",
    "out_world__counts": "Live public nodes and edges at one revision.",
}


@dg.asset(
    group_name=GROUP,
    kinds={"yaml", "ledger"},
    owners=OWNERS,
    pool=POOL,
    description=(
        "The constitution's nodes and edges in all seven domains, from the files of this version, written to the "
        "ledger through the validator. A changed file amends its nodes and edges. Grain: one node or edge."
    ),
)
def world_constitution(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Loads the constitution; writes nothing if it is already loaded."""
    with closing(open_ledger(runtime.settings, runtime.data_dir)) as ledger:
        decision = load_constitution(ledger)
    written = () if decision is None else (*decision.nodes, *decision.edges)
    return dg.MaterializeResult(metadata={"written": len(written)})


@dg.asset(
    deps=[
        "world_constitution",
        "out_holders__lists",
        "out_holders__status",
        "out_holders__sources",
        "out_market__token_price",
        "out_market__eth_price",
        "out_bidwall__status",
        "out_trust__status",
        "core_feed__events",
    ],
    group_name=GROUP,
    kinds={"duckdb", "ledger"},
    owners=OWNERS,
    pool=POOL,
    description=(
        "Metrics, observations and alerts from telemetry, written as TRACK nodes to the ledger through the validator: "
        "a metric changes at most once per hour or when it passes a round number. Grain: one proposal."
    ),
)
def world_signals(context: dg.AssetExecutionContext, runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Proposes the new signals; logs the reason of a rejection."""
    with (
        runtime.warehouse.connect() as connection,
        closing(open_ledger(runtime.settings, runtime.data_dir)) as ledger,
    ):
        tracked = track(connection, ledger, lists_dir(runtime.data_dir))
    verdicts = log_verdicts(context.log, tracked.decisions)
    return dg.MaterializeResult(metadata={"readings": tracked.readings} | verdicts)


@dg.multi_asset(
    name="fold_world",
    specs=[
        table_spec(
            table, GROUP, description, deps=["world_constitution", "world_signals", "intake_events", "connect_events"]
        )
        for table, description in TABLES.items()
    ],
    pool=POOL,
)
def fold_world(runtime: dg.ResourceParam[Runtime]) -> Iterator[dg.MaterializeResult[None]]:
    """Records states whose time has come, deletes expired imports, folds the ledger's graph events since the last fold,
    and counts the graph."""
    with (
        runtime.warehouse.connect() as connection,
        closing(open_ledger(runtime.settings, runtime.data_dir)) as ledger,
    ):
        settle_due(ledger)
        with ledger.transaction() as tx:
            expire(tx)
        folded = fold_events(connection, ledger)
        metadata_by_table = {table: row_count(connection, table) for table in TABLES}
        counts = preview(connection, "graph_counts")
    metadata_by_table["out_world__counts"]["counts"] = markdown_table(counts)
    for table, metadata in metadata_by_table.items():
        yield dg.MaterializeResult(asset_key=table, metadata=metadata | {"revision": folded.revision})
