"""Serves the service's health and metrics, and describes the files that the front serves."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response

from api.deps import caller_of, key_owner
from api.discovery.state import ServiceState
from api.publish.answers import computed_answer
from api.publish.site import PublishedSite
from api.responses import UNCHANGED, not_ready, problems
from api.routes import WorkRoute
from contracts.access.tiers import Role
from contracts.discovery.health import Health, ServiceFacts, health_of
from contracts.errors import (
    InternalFault,
    MethodNotAllowed,
    NotReady,
    OperatorRoleNeeded,
    RouteUnknown,
)
from contracts.open_data.datasets import DataIndex
from contracts.open_data.metadata import DATA_MEDIA_TYPES
from contracts.open_data.names import DATA_PREFIX, TOKENS_INDEX_PATH
from contracts.publish.routes import METRICS_PATH, file_of
from warehouse.discovery.checks import published_checks


def discovery_router(
    site: Callable[[], PublishedSite | None],
    host: str,
    state: Callable[[], Awaitable[tuple[ServiceState, int]]],
    claims: Callable[[], Mapping[str, int]],
    answered: Callable[[], Mapping[str, Mapping[tuple[str, int], int]]],
    installation_dir: Path,
) -> APIRouter:
    """Creates the routes. `site` returns the published site, `state` the newest observation of the service and its age
    in seconds; neither may wait for a thread that requests share. `host` names this machine; `claims` counts claims by
    state; `answered` returns each worker's answer counts; `installation_dir` contains the record of its processes.
    """
    router = APIRouter(tags=["discovery"], route_class=WorkRoute)

    @router.get(
        "/health",
        response_class=Response,
        responses=_HEALTH | problems(MethodNotAllowed, InternalFault, NotReady),
        summary="Service health",
        description="Whether a generation is served and fresh, whether the RPC nodes agree, and the state of the "
        "ledger, the guardrail rules and the clock.",
        operation_id="health",
    )
    async def health() -> Response:
        body = health_of(await facts())
        return Response(body.model_dump_json(by_alias=True), media_type="application/json")

    @router.get(METRICS_PATH, include_in_schema=False)
    async def metrics(request: Request) -> Response:
        """Answers this machine and operators. For anyone else the path does not exist."""
        if not is_local(request) and key_owner(request) is None:
            raise RouteUnknown("Nothing is published here.")
        if not is_local(request) and caller_of(request).role is not Role.OPERATOR:
            raise OperatorRoleNeeded("Metrics are for a key of the role operator.")
        # Few services are scraped, and the imports take 0.1 s.
        from api.discovery.metrics import MEDIA_TYPE, openmetrics
        from warehouse.discovery.processes import process_figures

        counted, answers, parts = await asyncio.gather(
            asyncio.to_thread(claims), asyncio.to_thread(answered), asyncio.to_thread(process_figures, installation_dir)
        )
        text = openmetrics(await facts(), counted, answers, parts)
        return await asyncio.to_thread(
            computed_answer, request, text, media_type=MEDIA_TYPE, headers={"Cache-Control": "no-store"}
        )

    async def facts() -> ServiceFacts:
        served = site()
        if served is None:
            raise not_ready()
        now = datetime.now(UTC)
        manifest = served.generation.manifest
        stale = set(served.stale_paths(now.timestamp()))
        observed, observed_age_s = await state()
        return ServiceFacts(
            now=now,
            host=host,
            generation=manifest.generation,
            generated_at=manifest.created_at,
            documents={
                path: (max(0, int((now - entry.generated_at).total_seconds())), path in stale)
                for path, entry in manifest.documents.items()
            },
            ledger_reachable=observed.ledger_reachable,
            guardrail_problem=observed.guardrail_problem,
            clock_skew_s=observed.clock_skew_s,
            disputes=manifest.disputes,
            observed_age_s=observed_age_s,
            nodes_answering=observed.nodes_answering,
            jobs=observed.jobs,
            payments_problem=observed.payments_problem,
            checks=published_checks(served.generation.path),
            broken_tokens=broken_tokens(served.generation.path),
        )

    @router.get(
        DATA_PREFIX,
        response_class=Response,
        responses=_INDEX | UNCHANGED | problems(MethodNotAllowed, NotReady),
        summary="Open data",
        description="Every published table with its columns, files and exact sums, and the signed manifest. Also at "
        "`/data/index.json`. A browser, which requests HTML, gets a page.",
        operation_id="data_index",
    )
    def data_index() -> Response:
        raise not_ready()

    @router.get(
        "/data/{file}",
        response_class=Response,
        responses=_data_file() | problems(MethodNotAllowed, RouteUnknown),
        summary="A file of open data",
        description="Parquet, CSV and DuckDB files, their metadata and the signed manifest, under the names in the "
        "index. A single byte range can be requested (Range, If-Range); a request for several gets the whole file. "
        "Nothing here counts against a limit.",
        operation_id="data_file",
    )
    def data_file(file: str) -> Response:
        raise RouteUnknown(f"No file {file} is published; documents name those that are.")

    for kind, media_type in {"css": "text/css", "js": "text/javascript", "png": "image/png"}.items():
        schema = {"type": "string"} if media_type.startswith("text/") else _BINARY
        router.add_api_route(
            f"/assets/{kind}/{{file}}",
            _no_asset,
            response_class=Response,
            responses=_file(media_type, schema) | problems(MethodNotAllowed, RouteUnknown),
            summary=f"A file that pages load: {media_type}",
            description="The content under a name never changes; pages name the files that exist.",
            operation_id=f"asset_{kind}",
        )
    return router


_BINARY = {"type": "string", "format": "binary"}


def _no_asset(file: str) -> Response:
    raise RouteUnknown(f"No file {file} is published; pages name those that are.")


def _file(media_type: str, schema: dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    content = {media_type: {"schema": schema}}
    return {200: {"description": "The file, as it is", "content": content}, **UNCHANGED}


def _data_file() -> dict[int | str, dict[str, Any]]:
    schemas = {"application/json": {"type": "object"}}
    content = {media_type: {"schema": schemas.get(media_type, _BINARY)} for media_type in DATA_MEDIA_TYPES}
    return {200: {"description": "The file, as it is", "content": content}, **UNCHANGED}


_INDEX: dict[int | str, dict[str, Any]] = {200: {"model": DataIndex, "description": "The index"}}


def is_local(request: Request) -> bool:
    """Returns whether the request comes from this machine, addresses it as local, and passed no proxy."""
    if request.client is None or any(name in request.headers for name in _FORWARDING):
        return False
    host = request.url.hostname or ""
    return all(name == "localhost" or _is_loopback(name) for name in (request.client.host, host))


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


@lru_cache(maxsize=2)
def broken_tokens(generation: Path) -> tuple[str, ...]:
    """Returns the further tokens that a generation marks as broken or failed; empty if it has no further tokens."""
    try:
        body = (generation / "public" / file_of(TOKENS_INDEX_PATH)).read_bytes()
    except FileNotFoundError:
        return ()
    from contracts.token.further_tokens import TokenIndex, TokenState  # few services have further tokens

    wrong = (TokenState.BROKEN, TokenState.FAILED)
    return tuple(token.address for token in TokenIndex.model_validate_json(body).tokens if token.state in wrong)


_FORWARDING = ("forwarded", "via", "x-forwarded-for", "x-real-ip")
"""Header fields with which a proxy declares that it forwards a request."""

_HEALTH: dict[int | str, dict[str, Any]] = {200: {"model": Health, "description": "A generation is served"}}
