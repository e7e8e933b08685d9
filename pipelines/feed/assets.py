"""The events of the JSON Feed as an asset."""

from collections import Counter
from datetime import UTC, datetime

import dagster as dg

from pipelines.presentation import row_count, table_asset
from pipelines.resources import Runtime
from warehouse.feed.events import record_events
from warehouse.token.holder_lists import lists_dir


@table_asset(
    "feed",
    "New snapshots, large movers, holder milestones, crossed thresholds and attestations, each recorded once under a "
    "stable id; the newest thousand.",
    deps=["out_holders__lists", "raw_bidwall__balances", "raw_chain__attestations"],
)
def core_feed__events(runtime: dg.ResourceParam[Runtime]) -> dg.MaterializeResult[None]:
    """Records the events since the last run."""
    settings = runtime.settings
    with runtime.warehouse.connect() as connection:
        new = record_events(
            connection,
            lists_dir(runtime.data_dir),
            contract=settings.bidwall_address,
            trigger_wei=settings.bidwall_trigger_wei,
            now=datetime.now(UTC),
        )
        metadata = row_count(connection, "core_feed__events")
    kinds = Counter(event.kind.value for event in new)
    return dg.MaterializeResult(metadata={**metadata, "new_events": len(new), **dict(kinds)})
