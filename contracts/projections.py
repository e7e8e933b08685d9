"""One row per telemetry document published as a file: it drives asset, lineage, route, OpenAPI entry and contract test.

What a document holds is read by `warehouse.projections.read`: `warehouse/sql/projections/<name>.sql`, or a room's own
function where one row of SQL does not do. `contracts.rendering` turns what was read into bytes.
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
