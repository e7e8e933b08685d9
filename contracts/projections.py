"""One row per telemetry document published as a file: it drives asset, lineage, route, OpenAPI entry and contract test.

What a document holds is read by `warehouse.projections.read`: `warehouse/sql/projections/<name>.sql`, or a room's own
function where one row of SQL does not do. `contracts.rendering` turns what was read into bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from contracts.base import TelemetryDocument
from contracts.telemetry import (
    HoldersMapParameters,
    HoldersTemporalParameters,
    TokenHolders,
    TokenHoldersMap,
    TokenHoldersTemporal,
)


@dataclass(frozen=True)
class Projection:
    """One published document: its name, fixed path, model and how long its content counts as fresh."""

    name: str
    path: str
    model: type[TelemetryDocument]
    group: str
    max_age_s: int
    summary: str
    description: str
    parameters: type[BaseModel] | None = None
    """Query parameters of variants that are computed on request; None where the file is the only answer."""


PROJECTIONS: tuple[Projection, ...] = (
    Projection(
        name="token_holders",
        path="/api/token/holders",
        model=TokenHolders,
        group="holders",
        max_age_s=900,
        summary="Holder count with its proof",
        description="Holder count, supply and concentration of the service token at one final block, with the proof "
        "that the balances add up, how far the chain is read, and what other sources say.",
    ),
    Projection(
        name="token_holders_map",
        path="/api/token/holders-map",
        model=TokenHoldersMap,
        group="holders",
        max_age_s=900,
        summary="Holders by rank",
        description="Holders of the service token by rank, a page at a time. A cursor stays on the list of its first "
        "page, so a walk over all pages never mixes two states.",
        parameters=HoldersMapParameters,
    ),
    Projection(
        name="token_holders_map_temporal",
        path="/api/token/holders-map-temporal",
        model=TokenHoldersTemporal,
        group="holders",
        max_age_s=7200,
        summary="Two holder snapshots compared",
        description="Churn, movers, cohort deltas and concentration between two persisted holder snapshots.",
        parameters=HoldersTemporalParameters,
    ),
)
