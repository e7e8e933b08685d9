"""Serves the service's health and the files that its documents name."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Response

from api.discovery.state import ServiceState
from api.openapi.headers import header_refs
from api.publish.site import PublishedSite
from api.responses import UNCHANGED, not_ready, problems
from api.routes import WorkRoute
from contracts.discovery.health import MOST_CLOCK_SKEW_S, Health
from contracts.errors import InternalFault, MethodNotAllowed, NotReady, RangeNotSatisfiable, RouteUnknown
from contracts.open_data.datasets import DataIndex
from contracts.open_data.metadata import DATA_MEDIA_TYPES
from contracts.open_data.names import DATA_PREFIX


def discovery_router(
    site: Callable[[], PublishedSite | None], state: Callable[[], Awaitable[tuple[ServiceState, int]]]
) -> APIRouter:
    """Creates the routes. `site` returns the published site, `state` the newest observation of the service and its age
    in seconds; neither may wait for a thread that requests share."""
    router = APIRouter(tags=["discovery"], route_class=WorkRoute)

    @router.get(
        "/health",
        response_class=Response,
        responses=_HEALTH | problems(MethodNotAllowed, InternalFault, NotReady),
        summary="Service health",
        description="Whether a generation is served and fresh, whether the RPC nodes agree, and how ledger, guardrail "
        "rules and clock stand.",
        operation_id="health",
    )
    async def health() -> Response:
        served = site()
        if served is None:
            raise not_ready()
        now = datetime.now(UTC)
        manifest = served.generation.manifest
        stale = served.stale_paths(now.timestamp())
        observed, observed_age_s = await state()
        in_time = observed.clock_skew_s is None or abs(observed.clock_skew_s) <= MOST_CLOCK_SKEW_S
        fine = observed.ledger_reachable and observed.guardrail_problem is None and in_time
        body = Health(
            status="ok" if fine and not stale and not manifest.disputes else "degraded",
            generation=manifest.generation,
            generated_at=manifest.created_at,
            age_s=max(0, int((now - manifest.created_at).total_seconds())),
            stale_documents=stale,
            ledger_reachable=observed.ledger_reachable,
            guardrail_problem=observed.guardrail_problem,
            clock_skew_s=observed.clock_skew_s,
            disputes=manifest.disputes,
            observed_age_s=observed_age_s,
        )
        return Response(body.model_dump_json(by_alias=True), media_type="application/json")

    @router.get(
        DATA_PREFIX,
        response_class=Response,
        responses=_INDEX | UNCHANGED | problems(MethodNotAllowed, NotReady),
        summary="Open data",
        description="Every published table with its columns, files and exact sums, beside the signed manifest.",
        operation_id="data_index",
    )
    def data_index() -> Response:
        raise not_ready()

    @router.get(
        "/data/{file}",
        response_class=Response,
        responses=_data_file() | problems(MethodNotAllowed, RouteUnknown, RangeNotSatisfiable),
        summary="A file of open data",
        description="Parquet, CSV and DuckDB files, their metadata and the signed manifest, as the index names them. "
        "One range of bytes can be asked for (Range, If-Range); of several the whole file is the answer. Nothing here "
        "counts against a limit.",
        operation_id="data_file",
    )
    def data_file(file: str) -> Response:
        raise RouteUnknown(f"No file {file} is published; documents name those that are.")

    for kind, media_type in {"css": "text/css", "js": "text/javascript"}.items():
        router.add_api_route(
            f"/assets/{kind}/{{file}}",
            _no_asset,
            response_class=Response,
            responses=_file(media_type, {"type": "string"}) | problems(MethodNotAllowed, RouteUnknown),
            summary=f"What pages load: {media_type}",
            description="The content under a name never changes; pages name what there is.",
            operation_id=f"asset_{kind}",
        )
    return router


def _no_asset(file: str) -> Response:
    raise RouteUnknown(f"No file {file} is published; pages name those that are.")


def _file(media_type: str, schema: dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    content = {media_type: {"schema": schema}}
    return {200: {"description": "The file, as it is", "content": content}, **UNCHANGED}


def _data_file() -> dict[int | str, dict[str, Any]]:
    schemas = {"application/json": {"type": "object"}}
    binary = {"type": "string", "format": "binary"}
    content = {media_type: {"schema": schemas.get(media_type, binary)} for media_type in DATA_MEDIA_TYPES}
    part = {"description": "The range that was asked for", "content": content, "headers": header_refs("Content-Range")}
    return {200: {"description": "The file, as it is", "content": content}, 206: part, **UNCHANGED}


_INDEX: dict[int | str, dict[str, Any]] = {200: {"model": DataIndex, "description": "The index"}}
_HEALTH: dict[int | str, dict[str, Any]] = {200: {"model": Health, "description": "A generation is served"}}
