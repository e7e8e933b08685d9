"""Exports the owner's graph as pages of a file, and imports such a file in chunks that are applied as a whole."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated, Any
from urllib.parse import urlencode

import msgspec
from fastapi import APIRouter, Path, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from api.deps import authenticated_router, caller_of
from api.openapi.headers import header_refs
from api.responses import private_document, problems
from api.stores import Stores
from api.workers import CLIENT_LEFT, unless_disconnected
from api.world.actors import actor_of
from api.world.large import AppliedImport, apply_import, apply_import_in_worker
from contracts.base import DIGITS
from contracts.canonical import base64url, canonical_sha256, unbase64url
from contracts.errors import (
    BodyInvalid,
    BodyTooLarge,
    CursorInvalid,
    IdTaken,
    ImportIncomplete,
    ImportInvalid,
    ImportsExceeded,
    ImportUnknown,
    ImportVersionUnsupported,
    MediaTypeUnsupported,
    ParameterInvalid,
    StandingTooLow,
    StoreUnavailable,
    WorkersBusy,
)
from contracts.secret_texts import SecretInText
from contracts.world.graph_formats import FORMATS, Format, written
from contracts.world.import_api import (
    HOURS_UNTIL_EXPIRY,
    LIMITS,
    MOST_CHUNKS,
    ExportParameters,
    ImportAnswer,
    ImportApplication,
    ImportApplied,
)
from contracts.world.proposal import Actor
from warehouse.world import staging
from warehouse.world.events import head_revision
from warehouse.world.export import Position, export_page

EXPORT = "/world-model/export"
APPLIED_HERE_BYTES = 4_000
"""Largest file that is judged in this process, in some 40 ms of CPU at most."""

_CHUNK_TYPES = ("application/octet-stream", "application/x-ndjson")
_ImportId = Annotated[str, Path(alias="importId", min_length=1, max_length=100)]
_APPLIED: dict[int | str, dict[str, Any]] = {
    200: {"model": ImportApplied, "description": "Applied before, or rejected by a stage without writing anything"},
    201: {"model": ImportApplied, "description": "Written as a whole"},
}
_decode = msgspec.json.Decoder(tuple[str, Position]).decode


def moving_router(stores: Stores) -> APIRouter:
    """Creates the routes of export and import."""
    router = authenticated_router("world model")

    @router.get(
        EXPORT,
        response_class=Response,
        responses=problems(ParameterInvalid, CursorInvalid, StoreUnavailable)
        | {
            200: {
                "description": "A page of the file; all pages concatenated are the file",
                "content": {form.media_type: {"schema": {"type": "string"}} for form in FORMATS.values()},
                "headers": header_refs("Content-Disposition")
                | {
                    "Link": {
                        "description": "The next page, with `rel=next`; absent on the last",
                        "schema": {"type": "string"},
                    }
                },
            }
        },
        summary="Export your graph",
        description="The nodes, edges and own words of the key's owner with all states, decisions, provenance and "
        "disputes, as of the first page. JSON Lines are canonical: an owner without nodes who imports them exports the "
        "same bytes again. The file contains nothing public, nothing of others and nothing that was erased.",
        operation_id="world_model_export",
    )
    def export(request: Request, parameters: Annotated[ExportParameters, Query()]) -> Response:
        return _page(stores, caller_of(request).owner, parameters)

    @router.post(
        "/world-model/imports",
        response_model=ImportAnswer,
        status_code=201,
        responses=problems(ImportsExceeded, StoreUnavailable),
        summary="Begin an import",
        description=f"An exported file is sent in at most {MOST_CHUNKS} chunks of at most 1 MiB each, and then applied "
        f"as a whole. An import that is not applied within {HOURS_UNTIL_EXPIRY} hours is deleted.",
        operation_id="world_model_import_begin",
    )
    def begin(request: Request) -> Response:
        caller = caller_of(request)
        with stores.ledger.transaction() as tx:
            return private_document(ImportAnswer(data=staging.begin(tx, caller.owner, caller.key_id)), 201)

    @router.put(
        "/world-model/imports/{importId}/chunks/{number}",
        response_model=ImportAnswer,
        responses=problems(
            ParameterInvalid,
            BodyInvalid,
            BodyTooLarge,
            MediaTypeUnsupported,
            ImportUnknown,
            ImportsExceeded,
            StoreUnavailable,
        ),
        summary="Send a chunk of an import",
        description="The bytes of the file from the end of the previous chunk on. A chunk that is sent again replaces "
        f"the one with its number. Chunks may arrive in any order. The Content-Type is {' or '.join(_CHUNK_TYPES)}.",
        operation_id="world_model_import_chunk",
        openapi_extra={
            "requestBody": {
                "required": True,
                # the other type is only in the text: programs that test by the description can't generate its bodies
                "content": {
                    _CHUNK_TYPES[0]: {"schema": {"type": "string", "format": "binary", "minLength": 1}},
                },
            }
        },
    )
    async def chunk(
        request: Request, import_id: _ImportId, number: Annotated[int, Path(ge=1, le=MOST_CHUNKS), DIGITS]
    ) -> Response:
        owner, body = caller_of(request).owner, await request.body()
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type not in _CHUNK_TYPES:
            raise MediaTypeUnsupported(f"Send the chunk as {' or '.join(_CHUNK_TYPES)}.")
        if not body:
            raise BodyInvalid("The chunk is empty.")
        return await run_in_threadpool(_put, stores, owner, import_id, number, body)

    @router.post(
        "/world-model/imports/{importId}/apply",
        response_model=ImportApplied,
        responses=_APPLIED
        | problems(
            BodyInvalid,
            ImportInvalid,
            ImportVersionUnsupported,
            IdTaken,
            SecretInText,
            StandingTooLow,
            BodyTooLarge,
            MediaTypeUnsupported,
            ImportUnknown,
            ImportIncomplete,
            ImportsExceeded,
            StoreUnavailable,
            WorkersBusy,
        ),
        summary="Apply an import",
        description="Judges the whole file by the seven stages and writes all of it, private to the key's owner, or "
        f"nothing. At most {LIMITS.nodes:,} nodes and {LIMITS.states:,} states of nodes and edges. Ids stay as given; "
        "the id of a public node is refused. An owner without words gets those of the file; an owner with words must "
        "already have all of the file's. History keeps its times as `origin`. States that the graph already has are "
        "not written again, and the rule of standing places facts of the file and of the graph together.",
        operation_id="world_model_import_apply",
    )
    async def apply(request: Request, import_id: _ImportId, body: ImportApplication) -> Response:
        caller = caller_of(request)
        asked = (actor_of(caller), caller.key_id, import_id, body.sha256)
        if await run_in_threadpool(_is_small, stores, caller.owner, import_id):
            work: Awaitable[AppliedImport] = run_in_threadpool(_apply, stores, *asked)
        else:
            work = stores.workers.run(caller.owner, apply_import_in_worker, stores.settings, *asked)
        applied = await unless_disconnected(request.receive, work)
        if applied is None:
            return Response(status_code=CLIENT_LEFT)
        return private_document(ImportApplied(data=applied.result), 201 if applied.is_new else 200)

    @router.get(
        "/world-model/imports/{importId}",
        response_model=ImportAnswer,
        responses=problems(ParameterInvalid, ImportUnknown, StoreUnavailable),
        summary="The state of an import",
        description="The chunks that arrived, with their digests, or the result of the import once it is applied.",
        operation_id="world_model_import_state",
    )
    def state(request: Request, import_id: _ImportId) -> Response:
        owner = caller_of(request).owner
        with stores.ledger.read() as reader:
            return private_document(ImportAnswer(data=staging.state_of(reader, owner, import_id, stores.ledger.now())))

    @router.delete(
        "/world-model/imports/{importId}",
        status_code=204,
        response_class=Response,
        responses=problems(ParameterInvalid, ImportUnknown, StoreUnavailable),
        summary="Delete an import",
        description="Deletes the import with its chunks. Nodes and edges that an applied import wrote stay.",
        operation_id="world_model_import_delete",
    )
    def delete(request: Request, import_id: _ImportId) -> Response:
        with stores.ledger.transaction() as tx:
            staging.drop(tx, caller_of(request).owner, import_id)
        return Response(status_code=204)

    return router


def _is_small(stores: Stores, owner: str, import_id: str) -> bool:
    with stores.ledger.read() as reader:
        chunks = staging.state_of(reader, owner, import_id, stores.ledger.now()).chunks
    return sum(chunk.bytes for chunk in chunks) <= APPLIED_HERE_BYTES


def _apply(stores: Stores, actor: Actor, key_id: str, import_id: str, sha256: str) -> AppliedImport:
    return apply_import(stores.ledger, actor, key_id, import_id, sha256)


def _put(stores: Stores, owner: str, import_id: str, number: int, body: bytes) -> Response:
    with stores.ledger.transaction() as tx:
        return private_document(ImportAnswer(data=staging.put_chunk(tx, owner, import_id, number, body)))


def _page(stores: Stores, owner: str, asked: ExportParameters) -> Response:
    form = FORMATS[asked.format]
    position = None if asked.cursor is None else _position(asked.cursor, _question(owner, form.name))
    with stores.ledger.read() as reader:
        page = export_page(reader, owner, position or Position(head_revision(reader)))
    headers = {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="graph.{form.suffix}"',
    }
    if page.next is not None:
        query = urlencode({"format": form.name, "cursor": export_cursor(owner, form.name, page.next)})
        headers["Link"] = f'</api/v2{EXPORT}?{query}>; rel="next"'
    return Response(b"".join(written(page.records, form.name)), 200, headers, form.media_type)


def export_cursor(owner: str, form: Format, position: Position) -> str:
    """Returns the cursor of the page of an owner's export that begins at a position."""
    return base64url(msgspec.json.encode((_question(owner, form), position)))


def _question(owner: str, form: Format) -> str:
    return canonical_sha256(["export", owner, form])[:16]


def _position(cursor: str, question: str) -> Position:
    """Returns the position of a cursor. Raises `CursorInvalid`."""
    try:
        asked, position = _decode(unbase64url(cursor))
    except ValueError:
        raise CursorInvalid("The cursor is not one of ours.") from None
    named: list[Any] = [position.node or "", position.decision or "", *(position.edge or ())]
    if asked != question:
        raise CursorInvalid("The cursor belongs to another export.")
    if not all(part.isascii() and part.isprintable() for part in named):
        raise CursorInvalid("The cursor is not one of ours.")
    return position
