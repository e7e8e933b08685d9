"""Telemetry over HTTP: one route for each projection. What is published never comes here; what does is a variant."""

import gzip
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

import brotli
import zstandard
from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from api.negotiation import IDENTITY, acceptable_encodings, is_unchanged
from api.responses import cached, not_ready, problems
from contracts.canonical import sha256_hex
from contracts.errors import (
    CursorInvalid,
    InternalFault,
    MethodNotAllowed,
    NotAcceptable,
    NotReady,
    ParameterInvalid,
    RateLimited,
    SnapshotUnknown,
)
from contracts.projections import PROJECTIONS, Projection
from contracts.rendering import Origin, mark_stale, render
from contracts.routes import CACHE_CONTROL, ENCODINGS
from warehouse.projections import read
from warehouse.serving import Reading, ServedGenerations

SMALLEST_ENCODED_BYTES = 1024

# Levels for a body that is made while somebody waits: 5,000 rows in some 10 ms.
_ENCODERS: dict[str, Callable[[bytes], bytes]] = {
    "br": lambda body: brotli.compress(body, quality=4),
    "zstd": lambda body: zstandard.ZstdCompressor(level=3).compress(body),
    "gzip": lambda body: gzip.compress(body, 1, mtime=0),
}


def telemetry_router(served: ServedGenerations) -> APIRouter:
    """Routes of every projection in the registry."""
    router = APIRouter(tags=["telemetry"])
    for projection in PROJECTIONS:
        errors = [MethodNotAllowed, NotAcceptable, RateLimited, NotReady]
        if projection.parameters is not None:
            errors += [ParameterInvalid, CursorInvalid, SnapshotUnknown, InternalFault]
        router.add_api_route(
            projection.path,
            _unpublished if projection.parameters is None else _variant(projection, projection.parameters, served),
            summary=projection.summary,
            description=projection.description,
            operation_id=projection.name,
            response_class=Response,
            responses=cached(projection.model, limited=True) | problems(*errors),
        )
    return router


def _unpublished() -> Response:
    raise not_ready()


def _variant(projection: Projection, model: type[BaseModel], served: ServedGenerations) -> Any:
    def answer(request: Request, parameters: Annotated[model, Query()]) -> Response:  # type: ignore[valid-type]
        _refuse_repeated(request)
        with served.reading() as reading:
            body = _render(projection, reading, parameters)
        tag = sha256_hex(body)[:32]
        headers = {"Cache-Control": CACHE_CONTROL["revalidated"], "Vary": "Accept-Encoding"}
        encoding = _encoding_for(request, len(body))
        if encoding is not None:
            body = _ENCODERS[encoding](body)
            headers["Content-Encoding"] = encoding
            tag = f"{tag}-{ENCODINGS[encoding][1:]}"
        headers["ETag"] = etag = f'"{tag}"'
        if is_unchanged(request.headers.get("if-none-match", "").encode("latin-1"), etag.encode()):
            headers.pop("Content-Encoding", None)
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers, media_type="application/json")

    return answer


def _encoding_for(request: Request, size_bytes: int) -> str | None:
    """The best encoding that the request allows; None for small bodies and where only identity is allowed."""
    accepted = ",".join(request.headers.getlist("accept-encoding")).encode("latin-1")
    best = next(iter(acceptable_encodings(accepted)), IDENTITY)
    return best if best in _ENCODERS and size_bytes >= SMALLEST_ENCODED_BYTES else None


def _render(projection: Projection, reading: Reading, parameters: BaseModel) -> bytes:
    entry = reading.generation.manifest.documents[projection.path]
    fields = read(projection, reading.readable, parameters)
    body = render(projection, fields, Origin(entry.generation, entry.generated_at), now=datetime.now(UTC))
    return body if entry.stale_reason is None else mark_stale(body, entry.stale_reason)


def _refuse_repeated(request: Request) -> None:
    counts = Counter(name for name, _ in request.query_params.multi_items())
    if repeated := sorted(name for name, count in counts.items() if count > 1):
        raise ParameterInvalid(
            f"Given more than once: {', '.join(repeated)}.",
            errors=[(f"/query/{name}", "given more than once") for name in repeated],
        )
