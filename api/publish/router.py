"""Routes of published documents. The front answers published bodies; only variants are computed here."""

import re
from collections.abc import Callable, Collection
from functools import cache, partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

from api.publish.answers import computed_answer
from api.publish.variants import computed_variant
from api.responses import cached, not_ready, problems
from api.routes import WorkRoute
from api.work import work_of
from api.workers import CLIENT_LEFT, WorkerPool, unless_disconnected
from contracts.discovery.installation import Installation
from contracts.errors import (
    InternalFault,
    MethodNotAllowed,
    NotAcceptable,
    NotReady,
    ParameterInvalid,
    RateLimited,
    RequestProblem,
    WorkersBusy,
)
from contracts.publish.projection import Projection
from contracts.publish.registry import PROJECTIONS, REDIRECTS
from contracts.publish.routes import is_limited
from contracts.site.pages import OPERATION_PAGES, PAGES
from contracts.token.holder_documents import HoldersTemporalParameters, MomentParameters
from warehouse.publish.serving import ServedGenerations

MAY_COMPUTE_LISTS = (MomentParameters, HoldersTemporalParameters)
"""Parameters that may request a list of holders that has not been computed."""

_OTHER_THAN_WORDS = re.compile(r"\W+")


def telemetry_router(
    served: ServedGenerations, installation: Installation, workers: Callable[[], WorkerPool]
) -> APIRouter:
    """Creates the routes of every projection in the registry, at each of its paths, and of every redirect."""
    router = APIRouter(route_class=WorkRoute)
    fixed = {path for _, path in _fixed_paths()} | {redirect.path for redirect in REDIRECTS}
    for projection in PROJECTIONS:
        for path, headers in _described_paths(projection).items():
            parameters = _parameters_at(projection, path)
            if parameters is not None:
                answer = _variant(projection, parameters, installation.header_fields(headers), served, workers)
                _add_route(router, projection, path, answer)
    router.routes.append(UnpublishedPaths(fixed))
    return router


class UnpublishedPaths(BaseRoute):
    """Answers all paths that compute nothing until something is published; from then on the front answers them.

    These are nine of ten routes, and the framework would analyse each of them at every start. Only the description
    needs them, as `fixed_routes`.
    """

    def __init__(self, paths: Collection[str]) -> None:
        self._paths = frozenset(paths)

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Matches GET at one of the paths, and any other method there partially."""
        if scope["type"] != "http" or scope["path"] not in self._paths:
            return Match.NONE, {}
        return (Match.FULL if scope["method"] == "GET" else Match.PARTIAL), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Raises `NotReady`, or a 405 for methods other than GET."""
        if scope["method"] != "GET":
            raise HTTPException(405)
        work_of(scope).began = True
        raise not_ready()


@cache
def _fixed_paths() -> tuple[tuple[Projection, str], ...]:
    """Returns the paths of documents that are never computed for a request."""
    return tuple(
        (projection, path)
        for projection in PROJECTIONS
        for path in projection.paths
        if _parameters_at(projection, path) is None
    )


@cache
def fixed_routes() -> tuple[BaseRoute, ...]:
    """Returns the routes that `UnpublishedPaths` stands for, for the description."""
    router = APIRouter(route_class=WorkRoute)
    for projection, path in _fixed_paths():
        _add_route(router, projection, path, _unpublished)
    pages = {page.path for page in (*PAGES, *OPERATION_PAGES)}
    for redirect in REDIRECTS:
        router.add_api_route(
            redirect.path,
            _unpublished,
            summary=redirect.summary,
            description=f"Leads to {redirect.to}.",
            operation_id=redirect.name,
            tags=["redirects"],
            include_in_schema=redirect.to not in pages,
            response_class=Response,
            status_code=302,
            responses=problems(MethodNotAllowed, NotReady, *([RateLimited] if is_limited(redirect.path) else []))
            | {302: {"description": "The path to follow"}},
        )
    return tuple(router.routes)


def _add_route(router: APIRouter, projection: Projection, path: str, answer: Callable[..., Any]) -> None:
    """Adds the route of a projection at one of its paths."""
    own = path == projection.path
    router.add_api_route(
        path,
        answer,
        summary=projection.summary,
        description=projection.description if own else f"{projection.description} As {projection.path}.",
        operation_id=projection.name if own else _OTHER_THAN_WORDS.sub("_", f"at{path}"),
        tags=[projection.group],
        include_in_schema=projection.is_described,
        deprecated=True if "Deprecation" in _described_paths(projection)[path] else None,
        response_class=Response,
        responses=cached(projection.model) | problems(*_problems(projection, path, _parameters_at(projection, path))),
    )


def _parameters_at(projection: Projection, path: str) -> type[BaseModel] | None:
    """Returns the parameters for which bodies are computed at one of its paths, or None if the path has one body."""
    if projection.parameters is None or path in dict(projection.bodies[1:]):
        return None
    return projection.parameters


def _described_paths(projection: Projection) -> dict[str, dict[str, str]]:
    """Returns every path of a projection with its additional header fields."""
    aliases = {alias.path: alias.headers for alias in projection.aliases}
    return {path: {**projection.headers, **aliases.get(path, {})} for path in projection.paths}


def _problems(projection: Projection, path: str, parameters: type[BaseModel] | None) -> list[type[RequestProblem]]:
    errors: list[type[RequestProblem]] = [MethodNotAllowed, NotAcceptable, NotReady]
    if is_limited(path):
        errors.append(RateLimited)
    if parameters is not None:
        errors += [ParameterInvalid, InternalFault, *projection.refusals]
        if issubclass(parameters, MAY_COMPUTE_LISTS):
            errors.append(WorkersBusy)
    return errors


def _unpublished() -> Response:
    raise not_ready()


def _variant(
    projection: Projection,
    model: type[BaseModel],
    own_headers: dict[str, str],
    served: ServedGenerations,
    workers: Callable[[], WorkerPool],
) -> Any:
    async def answer(request: Request, parameters: Annotated[model, Query()]) -> Response:  # type: ignore[valid-type]
        caller = request.client.host if request.client else "unknown"
        waiting = partial(unless_disconnected, request.receive)
        body = await computed_variant(projection, parameters, served, workers, caller, waiting)
        if body is None:
            return Response(status_code=CLIENT_LEFT)
        return await run_in_threadpool(
            computed_answer,
            request,
            body,
            media_type=projection.media_type,
            cache=projection.cache,
            headers=own_headers,
            is_published=True,
        )

    return answer
