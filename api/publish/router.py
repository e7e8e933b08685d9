"""Routes of published documents. The front answers published bodies; only variants are computed here."""

import gzip
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

import brotli
import zstandard
from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from api.publish.negotiation import IDENTITY, acceptable_encodings, is_unchanged
from api.responses import cached, not_ready, problems
from api.routes import WorkRoute
from contracts.canonical import sha256_hex
from contracts.discovery.installation import Installation
from contracts.errors import (
    InternalFault,
    MethodNotAllowed,
    NotAcceptable,
    NotReady,
    ParameterInvalid,
    RateLimited,
    RequestProblem,
)
from contracts.publish.registry import PROJECTIONS, REDIRECTS, Projection
from contracts.publish.rendering import Origin, mark_stale, render
from contracts.publish.routes import CACHE_CONTROL, ENCODINGS, is_limited
from warehouse.publish.readers import read
from warehouse.publish.serving import GenerationReading, ServedGenerations

SMALLEST_ENCODED_BYTES = 1024
_OTHER_THAN_WORDS = re.compile(r"\W+")

# Levels for a body that is encoded while somebody waits: 5,000 rows in some 10 ms.
_ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "br": lambda body: brotli.compress(body, quality=4),
    "zstd": lambda body: zstandard.ZstdCompressor(level=3).compress(body),
    "gzip": lambda body: gzip.compress(body, 1, mtime=0),
}


def telemetry_router(served: ServedGenerations, installation: Installation) -> APIRouter:
    """Creates the routes of every projection in the registry, at each of its paths, and of every redirect."""
    router = APIRouter(route_class=WorkRoute)
    for projection in PROJECTIONS:
        for path, headers in _described_paths(projection).items():
            parameters = None if path in dict(projection.bodies[1:]) else projection.parameters
            own = path == projection.path
            router.add_api_route(
                path,
                _unpublished
                if parameters is None
                else _variant(projection, parameters, installation.header_fields(headers), served),
                summary=projection.summary,
                description=projection.description if own else f"{projection.description} As {projection.path}.",
                operation_id=projection.name if own else _OTHER_THAN_WORDS.sub("_", f"at{path}"),
                tags=[projection.group],
                include_in_schema=projection.is_described,
                deprecated=True if "Deprecation" in headers else None,
                response_class=Response,
                responses=cached(projection.model) | problems(*_problems(projection, path, parameters)),
            )
    pages = {projection.path for projection in PROJECTIONS if not projection.is_described}
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
            | {302: {"description": "The path to go on to"}},
        )
    return router


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
    return errors


def _unpublished() -> Response:
    raise not_ready()


def _variant(
    projection: Projection, model: type[BaseModel], own_headers: dict[str, str], served: ServedGenerations
) -> Any:
    def answer(request: Request, parameters: Annotated[model, Query()]) -> Response:  # type: ignore[valid-type]
        with served.reading() as reading:
            body = _render(projection, reading, parameters)
        tag = sha256_hex(body)[:32]
        headers = {"Cache-Control": CACHE_CONTROL[projection.cache], "Vary": "Accept-Encoding", **own_headers}
        encoding = _encoding_for(request, len(body))
        if encoding is not None:
            body = _ENCODERS[encoding](body)
            headers["Content-Encoding"] = encoding
            tag = f"{tag}-{ENCODINGS[encoding][1:]}"
        headers["ETag"] = etag = f'"{tag}"'
        if is_unchanged(request.headers.get("if-none-match", "").encode("latin-1"), etag.encode()):
            headers.pop("Content-Encoding", None)
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers, media_type=projection.media_type)

    return answer


def _encoding_for(request: Request, size_bytes: int) -> str | None:
    """Returns the best encoding that the request allows, or None for small bodies and if only identity is allowed."""
    accepted = ",".join(request.headers.getlist("accept-encoding")).encode("latin-1")
    best = next(iter(acceptable_encodings(accepted)), IDENTITY)
    return best if best in _ENCODERS and size_bytes >= SMALLEST_ENCODED_BYTES else None


def _render(projection: Projection, reading: GenerationReading, parameters: BaseModel) -> bytes:
    entry = reading.generation.manifest.documents.get(projection.path)
    if entry is None:
        raise not_ready()
    content = read(projection, reading.context, parameters)
    body = render(projection, content, Origin(entry.generation, entry.generated_at), now=datetime.now(UTC))
    return body if entry.stale_reason is None else mark_stale(projection, body, entry.stale_reason)
