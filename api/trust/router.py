"""Serves the trust score of one agent from the published query copy. No request ever reaches the chain."""

from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from api.publish.negotiation import is_unchanged
from api.responses import cached, not_ready, problems
from api.routes import WorkRoute
from contracts.addresses import AskedAddress
from contracts.canonical import sha256_hex
from contracts.errors import InternalFault, MethodNotAllowed, NotReady, ParameterInvalid, RateLimited
from contracts.publish.registry import TRUST_SCORE
from contracts.publish.rendering import Origin, mark_stale, render
from contracts.publish.routes import CACHE_CONTROL
from warehouse.publish.serving import GenerationReading, ServedGenerations
from warehouse.trust.attestations import read_trust_score

PROTOCOL_PATH = "/api/v2/trust/protocol"
"""The published document that is built from the same tables and therefore has the same age."""


def trust_router(served: ServedGenerations) -> APIRouter:
    router = APIRouter(tags=[TRUST_SCORE.group], route_class=WorkRoute)

    @router.get(
        TRUST_SCORE.path,
        operation_id=TRUST_SCORE.name,
        summary=TRUST_SCORE.summary,
        description=TRUST_SCORE.description,
        response_class=Response,
        responses=cached(TRUST_SCORE.model)
        | problems(ParameterInvalid, MethodNotAllowed, RateLimited, InternalFault, NotReady),
    )
    def score(
        request: Request,
        address: Annotated[AskedAddress, Path(description="The agent: lower case, or with its EIP-55 checksum")],
    ) -> Response:
        with served.reading() as reading:
            body = _body(reading, address)
        etag = f'"{sha256_hex(body)[:32]}"'
        headers = {"Cache-Control": CACHE_CONTROL["revalidated"], "Vary": "Accept-Encoding", "ETag": etag}
        if is_unchanged(request.headers.get("if-none-match", "").encode("latin-1"), etag.encode()):
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers, media_type="application/json")

    return router


def _body(reading: GenerationReading, agent: str) -> bytes:
    entry = reading.generation.manifest.documents.get(PROTOCOL_PATH)
    if entry is None:
        raise not_ready()
    fields = read_trust_score(reading.context, agent)
    body = render(TRUST_SCORE, fields, Origin(entry.generation, entry.generated_at), now=datetime.now(UTC))
    return body if entry.stale_reason is None else mark_stale(TRUST_SCORE, body, entry.stale_reason)
