"""One row per telemetry document published as a file. A row drives asset, lineage, route, OpenAPI entry and contract test.

A document's SQL is `warehouse/sql/projections/<name>.sql`. It reads `out_` tables, returns exactly one row, and names its
columns as the model's fields: `source`, `quality`, `reason`, `observed_at`, `fetched_at` of the freshness block and the
document's own. `JSON` columns are embedded as they are. Publishing adds `ok`, `staleAfter`, `stale`, `generation`, `generatedAt`.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import BaseModel

from contracts.base import TelemetryDocument


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


PROJECTIONS: tuple[Projection, ...] = ()
