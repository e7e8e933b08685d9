"""Serves reads of the graph over HTTP: its live part, queries, single nodes and its health."""

from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Path, Query, Request, Response
from starlette.concurrency import run_in_threadpool

from api.deps import AuthenticatedReadingRoute, authenticated_router, caller_of
from api.responses import private_json, problems
from api.routes import WorkRoute
from api.stores import Stores
from api.workers import CLIENT_LEFT, unless_disconnected
from api.world.large import ShownAnswer, answer_past, answer_past_in_worker, as_stored, shown
from api.world.nodes import history_fields
from contracts.canonical import canonical_sha256
from contracts.errors import (
    BodyInvalid,
    BodyTooLarge,
    CursorInvalid,
    InternalFault,
    MediaTypeUnsupported,
    MethodNotAllowed,
    NodeUnknown,
    NotReady,
    ParameterInvalid,
    RateLimited,
    StoreUnavailable,
    WorkersBusy,
)
from contracts.times import utc_text
from contracts.world import read_api
from contracts.world.facts import Dispute
from contracts.world.identity import own_id
from contracts.world.ontology import DOMAINS, load_ontology
from contracts.world.paging import Position, decode_position, encode_position, question_of
from warehouse.world import query
from warehouse.world.disputes import disputes_among
from warehouse.world.due import next_due
from warehouse.world.events import recorded_at_of
from warehouse.world.history import Past, SingleNodes, known_revision, node_history
from warehouse.world.ontologies import ontology_of, types_ever_of, words_of
from warehouse.world.served import ServedGraph
from warehouse.world.view import LedgerView

STATES_ASKED_HERE = 2_000
"""Highest revision at which queries of the past run in this process, in some 40 ms of CPU. A graph never has more
states than revisions."""

_UNAVAILABLE = (NotReady, StoreUnavailable, WorkersBusy)


def world_queries_router(stores: Stores) -> APIRouter:
    """Creates the routes. Queries of the present are answered from memory, those of the past from the published
    generation."""
    router = authenticated_router("world model", AuthenticatedReadingRoute)

    @router.get(
        "/world-model/live",
        response_model=read_api.LiveGraphAnswer,
        responses=problems(ParameterInvalid, CursorInvalid, *_UNAVAILABLE),
        summary="The live graph",
        description="Public nodes and the caller's own, by id, with the edges among the nodes of a page.",
        operation_id="world_model_live",
    )
    async def live(request: Request, parameters: Annotated[read_api.LiveParameters, Query()]) -> Response:
        owner = caller_of(request).owner
        question = question_of("live", parameters.as_of, parameters.beliefs)
        position = _position(parameters.cursor, question)
        wanted = query.Query(limit=parameters.limit, include_edges=True, after=position.after)

        async def answered() -> Response:
            answer = await _ask(stores, wanted, owner, parameters, ParameterInvalid, counted=True)
            return _json(
                {
                    "nodeCount": answer.node_count,
                    "edgeCount": answer.edge_count,
                    "nodes": msgspec.Raw(answer.nodes),
                    "edges": msgspec.Raw(answer.edges or b"[]"),
                    "disputes": msgspec.Raw(answer.disputes),
                    "truncated": answer.truncated,
                    "cursor": _cursor(answer, question),
                    "revision": answer.revision,
                }
            )

        return await _unless_gone(request, answered())

    @router.post(
        "/world-model/query",
        response_model=read_api.GraphQueryAnswer,
        responses=problems(BodyInvalid, BodyTooLarge, CursorInvalid, MediaTypeUnsupported, *_UNAVAILABLE),
        summary="Query the graph",
        description="Search, fetch, filter and traverse public nodes and the caller's own. A query sees every write "
        "that has returned before it.",
        operation_id="world_model_query",
    )
    async def ask(body: read_api.GraphQueryRequest, request: Request) -> Response:
        owner = caller_of(request).owner

        async def answered() -> Response:
            return _json(await answer_query(stores, body, owner))

        return await _unless_gone(request, answered())

    @router.get(
        "/world-model/nodes/{nodeId:path}",
        response_model=read_api.NodeHistoryAnswer,
        responses=problems(ParameterInvalid, NodeUnknown, *_UNAVAILABLE),
        summary="One node with its history",
        description="The node now or at a past time, even if it has ended, with its states, the decisions that wrote "
        "them, their sources, and its corrections, retractions and confirmations. A node of somebody else counts as "
        "unknown.",
        operation_id="world_model_node",
    )
    def node(
        request: Request,
        node_id: Annotated[str, Path(alias="nodeId", min_length=1, max_length=300)],
        parameters: Annotated[read_api.PastParameters, Query()],
    ) -> Response:
        return _json(node_with_history(stores, node_id, caller_of(request).owner, parameters))

    return router


def node_with_history(stores: Stores, node_id: str, owner: str, asked: read_api.PastParameters) -> dict[str, Any]:
    """Returns the fields of `NodeHistoryData` as `owner` sees the node. Raises `NodeUnknown`, `ParameterInvalid`."""
    newest, _ = _revisions(stores)
    revision = _known_revision(stores, asked, newest, ParameterInvalid)
    with stores.ledger.read() as reader:
        past = Past(asked.as_of, revision, words=words_of(reader, owner, asked.beliefs.values()))
        found = node_history(reader, own_id(owner, node_id), owner, past) or node_history(reader, node_id, owner, past)
    if found is None:
        raise NodeUnknown("There is no node with this id, or none that your key can see.")
    return history_fields(found, owner, revision)


async def answer_query(stores: Stores, request: read_api.GraphQueryRequest, owner: str) -> dict[str, Any]:
    """Returns the fields of `GraphQueryResult` as `owner` sees the graph; nodes and edges are already JSON.

    Raises `BodyInvalid`, `CursorInvalid`, `NotReady`, `WorkersBusy`.
    """
    await _refuse_unknown_types(stores, request, owner)
    body = request.model_dump(mode="json", exclude={"cursor", "limit"})
    question = question_of("query", body)
    wanted = _query(request, _position(request.cursor, question))
    answer = await _ask(stores, wanted, owner, request, BodyInvalid, include_ended=request.include_ended)
    return {
        "query_id": f"qry_{canonical_sha256([request.model_dump(mode='json'), owner, answer.revision])[:24]}",
        "matched_nodes": answer.matched,
        "nodes": msgspec.Raw(answer.nodes),
        "edges": None if answer.edges is None else msgspec.Raw(answer.edges),
        "disputes": msgspec.Raw(answer.disputes),
        "truncated": answer.truncated,
        "cursor": _cursor(answer, question),
        "revision": answer.revision,
        "hints": None if answer.hints is None else _hints(answer.hints),
    }


def _hints(hints: query.Hints) -> dict[str, Any]:
    return read_api.SearchHints(
        near_words=list(hints.near_words),
        node_types=dict(hints.node_types),
        own_nodes=hints.own,
        public_nodes=hints.public,
    ).model_dump(by_alias=True)


def world_health_router(graph: Callable[[], ServedGraph]) -> APIRouter:
    """Creates the route of the graph's health, for everybody."""
    router = APIRouter(prefix="/api/v2", tags=["world model"], route_class=WorkRoute)

    @router.get(
        "/health",
        response_model=read_api.GraphHealthAnswer,
        responses=problems(MethodNotAllowed, RateLimited, InternalFault, StoreUnavailable),
        summary="Health of the graph",
        description="Live public nodes by domain at the named revision, and the number of events served from memory.",
        operation_id="world_model_health",
    )
    def health() -> Response:
        with graph().seen_by(None) as now:
            counts = dict.fromkeys(DOMAINS, 0) | now.view.node_counts()
            revision, overlay, requested = now.view.revision, len(now.events), now.publish_requested
            snapshot_revision = now.snapshot_revision
        return _json(
            {
                "status": "degraded" if requested else "ok",
                "graph": {"nodeCount": sum(counts.values()), "domain_counts": counts, "revision": revision},
                "overlay": {
                    "events": overlay,
                    "snapshotRevision": snapshot_revision,
                    "publishRequested": requested,
                },
            }
        )

    return router


async def _refuse_unknown_types(stores: Stores, request: read_api.GraphQueryRequest, owner: str) -> None:
    """Raises `BodyInvalid` for types that neither the service nor any ontology of the owner has or had."""
    known = load_ontology().node_types
    if all(name in known for name in request.node_types or ()):
        return
    own = await run_in_threadpool(_types_ever_of, stores, owner)
    allowed = dict.fromkeys((*known, *sorted(own)))
    faults = [
        (f"/node_types/{number}", f"is not one of {', '.join(allowed)}")
        for number, name in enumerate(request.node_types or ())
        if name not in allowed
    ]
    if faults:
        raise BodyInvalid("; ".join(f"{pointer[1:]} {fault}" for pointer, fault in faults[:3]), errors=faults)


def _types_ever_of(stores: Stores, owner: str) -> frozenset[str]:
    with stores.ledger.read() as reader:
        return types_ever_of(reader, owner)


async def _ask(
    stores: Stores,
    wanted: query.Query,
    owner: str,
    asked: read_api.PastParameters,
    invalid: type[ParameterInvalid] | type[BodyInvalid],
    *,
    include_ended: bool = False,
    counted: bool = False,
) -> ShownAnswer:
    """Answers from the current graph, or from a past one if requested. Counts the size of the current graph only if
    `counted` is True."""
    if asked.as_of is None and not asked.beliefs and not include_ended:
        return await run_in_threadpool(_answer_now, stores, wanted, owner, counted)
    newest, snapshot_revision = await run_in_threadpool(_revisions, stores)
    if asked.as_of is not None and not asked.beliefs and not include_ended:
        is_now = await run_in_threadpool(_is_now, stores, asked.as_of, newest)
        answered = await run_in_threadpool(_answer_now, stores, wanted, owner, counted) if is_now else None
        if answered is not None and answered.revision == newest:
            return answered
    revision = await run_in_threadpool(_known_revision, stores, asked, newest, invalid)
    words = await run_in_threadpool(_words_then, stores, owner, asked)
    past = Past(asked.as_of, revision, include_ended, words)
    if wanted.node_id is not None and wanted.traverse is None:
        return await run_in_threadpool(_answer_node_then, stores, wanted, past, owner)
    if newest <= STATES_ASKED_HERE:
        return await run_in_threadpool(
            answer_past, stores.ledger, stores.served, wanted, past, owner, snapshot_revision
        )
    return await stores.workers.run(
        owner, answer_past_in_worker, stores.settings, wanted, past, owner, snapshot_revision
    )


def _is_now(stores: Stores, as_of: str, newest: int) -> bool:
    """Decides whether the graph at an instant is the present one: the instant is past, and nothing was written or
    became due since."""
    if as_of > utc_text(stores.ledger.now()):
        return False
    with stores.ledger.read() as reader:
        due, written = next_due(reader), recorded_at_of(reader, newest)
    return written is not None and written <= as_of and (due is None or due > as_of)


def _words_then(stores: Stores, owner: str, asked: read_api.PastParameters) -> str:
    with stores.ledger.read() as reader:
        return words_of(reader, owner, asked.beliefs.values())


def _answer_node_then(stores: Stores, wanted: query.Query, past: Past, owner: str) -> ShownAnswer:
    with stores.ledger.read() as reader:
        view = SingleNodes(reader, past, owner)
        answer = query.answer_one(view, wanted)
        return shown(answer, disputes_among(answer.nodes, view.holding, past.ontology), owner, 0, 0)


def _known_revision(
    stores: Stores,
    asked: read_api.PastParameters,
    newest: int,
    invalid: type[ParameterInvalid] | type[BodyInvalid],
) -> int:
    """Returns the revision of a query. Raises `invalid` for a future one."""
    for name, recorded in asked.beliefs.items():
        if isinstance(recorded, int) and recorded > newest:
            where = f"/{name}" if invalid is BodyInvalid else f"/query/{name}"
            raise invalid(f"The newest revision is {newest}.", errors=[(where, f"is above {newest}")])
    if not asked.beliefs:
        return newest
    with stores.ledger.read() as reader:
        return min(newest, *(known_revision(reader, recorded) for recorded in asked.beliefs.values()))


def _answer_now(stores: Stores, wanted: query.Query, owner: str, counted: bool) -> ShownAnswer:
    with stores.graph.seen_by(owner) as now:
        answer = query.answer(now.view, as_stored(now.view, wanted, owner))
        nodes, edges = (sum(now.view.node_counts().values()), now.view.edge_count()) if counted else (0, 0)
    return shown(answer, _disputes_now(stores, answer, owner), owner, nodes, edges)


def _disputes_now(stores: Stores, answer: query.Answer, owner: str) -> list[Dispute]:
    if not any(node.disputed for node in answer.nodes):
        return []
    with stores.ledger.read() as reader:
        return disputes_among(answer.nodes, LedgerView(reader).holding, ontology_of(reader, owner))


def _revisions(stores: Stores) -> tuple[int, int]:
    """Returns the newest revision of the graph and that of the snapshot, which every later generation contains."""
    with stores.graph.seen_by(None) as now:
        return now.view.revision, now.snapshot_revision


async def _unless_gone(request: Request, answer: Awaitable[Response]) -> Response:
    answered = await unless_disconnected(request.receive, answer)
    return Response(status_code=CLIENT_LEFT) if answered is None else answered


def _query(request: read_api.GraphQueryRequest, position: Position) -> query.Query:
    traverse = request.traverse
    return query.Query(
        search=request.search,
        node_id=request.node_id,
        traverse=None if traverse is None else query.Traversal(traverse.from_id, traverse.depth, traverse.direction),
        filter=query.Filter(request.domain, tuple(request.node_types or ()), request.scope),
        order=request.order,
        limit=request.limit,
        include_edges=request.include_edges,
        after=position.after,
        skip=position.skip,
    )


def _position(cursor: str | None, question: str) -> Position:
    return Position(question) if cursor is None else decode_position(cursor, question)


def _cursor(answer: ShownAnswer, question: str) -> str | None:
    if answer.next_after is None and answer.next_skip is None:
        return None
    return encode_position(Position(question, answer.next_after, answer.next_skip or 0))


def _json(data: dict[str, Any]) -> Response:
    return private_json(msgspec.json.encode({"ok": True, "data": data}))
