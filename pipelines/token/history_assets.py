"""The history of the holders as assets: the files for look-ups at any block, the series, and the edges of the map."""

import dagster as dg

from pipelines.presentation import is_quick, line_chart, row_count, table_asset
from pipelines.resources import Runtime
from warehouse.duck.inspection import preview
from warehouse.token.series import record_bucket_prices

GROUP = "holders"


@table_asset(
    GROUP,
    "The history of balances, the balance of any address at any block, in files to which only new blocks are added.",
    deps=["raw_chain__transfers", "out_holders__lists"],
)
def out_holders__history(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Shows the files; taking a list extends them to its block."""
    with runtime.warehouse.connect() as connection:
        return dg.MaterializeResult(metadata=row_count(connection, "out_holders__history"))


@table_asset(
    GROUP,
    "The holders by day: who came, came back and left, transfers, volume, concentration and price.",
    deps=["out_holders__history", "out_market__token_price", "raw_chain__pool_reserves", "raw_chain__pool"],
)
def out_holders__daily(
    context: dg.AssetExecutionContext, runtime: dg.ResourceParam[Runtime]
) -> dg.MaterializeResult[None]:
    """Adds prices to days and hours, from the pool before the first observed one. The rest of the columns is computed
    when the history is extended."""
    settings = runtime.settings
    with runtime.warehouse.connect() as connection:
        if settings.token_address:
            record_bucket_prices(connection, settings.token_address)
        metadata = row_count(connection, "out_holders__daily")
        if not is_quick(context):
            days = preview(connection, "daily_holders").rows()
            metadata |= line_chart("holders_by_day", "Holders by day", days, "holders")
    return dg.MaterializeResult(metadata=metadata)


@table_asset(GROUP, "The holders by hour for 90 days: the same without concentration.", deps=["out_holders__daily"])
def out_holders__hourly(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Shows the hours, which are computed together with the days."""
    with runtime.warehouse.connect() as connection:
        return dg.MaterializeResult(metadata=row_count(connection, "out_holders__hourly"))


@table_asset(
    GROUP,
    "Transfers among the 250 largest holders in 30 days: the edges of the holder map.",
    deps=["out_holders__lists"],
)
def out_holders__edges(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Shows the edges, which are computed when a list is taken."""
    with runtime.warehouse.connect() as connection:
        return dg.MaterializeResult(metadata=row_count(connection, "out_holders__edges"))
