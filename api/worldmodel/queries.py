"""Reading the graph over HTTP: its live part, questions to it, and how it stands."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import msgspec
from fastapi import APIRouter, Query, Request, Response

from api.deps import AuthenticatedReadingRoute, authenticated_router, caller_of
from api.responses import problems
from api.routes import WorkRoute
from contracts.canonical import canonical_sha256
from contracts.errors import (
    BodyInvalid,
    BodyTooLarge,
    CursorInvalid,
    InternalFault,
    MediaTypeUnsupported,
    MethodNotAllowed,
    NotReady,
    ParameterInvalid,
    RateLimited,
    StoreUnavailable,
)
from contracts.world import reading
from contracts.world.ontology import DOMAINS
from contracts.world.paging import Position, decode_position, encode_position, question_of
from contracts.world.records import Edge, Node
from warehouse.serving import ServedGenerations
from warehouse.world import query
from warehouse.world.asof import Past, PastView
from warehouse.world.current import CurrentView
from warehouse.world.served import ServedGraph

PARTS_OF_THE_SERVICE = ("pipeline", "intake", "constitution")
OPERATOR = "operator"
OTHERS = "other"


def world_queries_router(graph: Callable[[], ServedGraph], served: ServedGenerations) -> APIRouter:
    """`graph` gives the graph of this process, `served` the generations that hold its past."""
    router = authenticated_router("world model", AuthenticatedReadingRoute)

    @router.get(
        "/world-model/live",
        response_model=reading.LiveGraphAnswer,
        responses=problems(ParameterInvalid, CursorInvalid, NotReady),
        summary="The live graph",
        description="What is public and what is the caller's own, by id, with the edges among the nodes of a page.",
        operation_id="world_model_live",
    )
    def live(request: Request, asked: Annotated[reading.LiveParameters, Query()]) -> Response:
        caller = caller_of(request)
        question = question_of("live", asked.as_of, asked.at_revision)
        position = _position(asked.cursor, question)
        wanted = query.Query(limit=asked.limit, include_edges=True, after=position.after)
        with _view(graph(), served, caller.owner, asked.as_of, asked.at_revision, ParameterInvalid) as view:
            answer = query.answer(view, wanted)
            nodes = sum(view.node_counts().values()) if isinstance(view, CurrentView) else view.node_count()
            edges = view.edge_count()
        return _json(
            {
                "nodeCount": nodes,
                "edgeCount": edges,
                "nodes": [_shown(each, caller.owner) for each in answer.nodes],
                "edges": [_shown(each, caller.owner) for each in answer.edges or ()],
                "truncated": answer.truncated,
                "cursor": _cursor(answer, question),
                "revision": answer.revision,
            }
        )

    @router.post(
        "/world-model/query",
        response_model=reading.GraphQueryAnswer,
        responses=problems(BodyInvalid, BodyTooLarge, CursorInvalid, MediaTypeUnsupported, NotReady),
        summary="Ask the graph",
        description="Search, fetch, filter and traverse what is public and what is the caller's own. A write that "
        "returned is seen by the next query.",
        operation_id="world_model_query",
    )
    def ask(asked: reading.GraphQueryRequest, request: Request) -> Response:
        caller = caller_of(request)
        return _json(answer_query(graph(), served, asked, caller.owner))

    return router


def answer_query(
    graph: ServedGraph, served: ServedGenerations, asked: reading.GraphQueryRequest, owner: str
) -> dict[str, Any]:
    """The fields of `GraphQueryResult`, as `owner` sees the graph; nodes and edges are still records.

    Raises `BodyInvalid`, `CursorInvalid`, `NotReady`.
    """
    body = asked.model_dump(mode="json", exclude={"cursor", "limit"})
    question = question_of("query", body)
    wanted = _query(asked, _position(asked.cursor, question))
    with _view(graph, served, owner, asked.as_of, asked.at_revision, BodyInvalid) as view:
        answer = query.answer(view, wanted)
    return {
        "query_id": f"qry_{canonical_sha256([asked.model_dump(mode='json'), owner, answer.revision])[:24]}",
        "matched_nodes": answer.matched,
        "nodes": [_shown(each, owner) for each in answer.nodes],
        "edges": None if answer.edges is None else [_shown(each, owner) for each in answer.edges],
        "truncated": answer.truncated,
        "cursor": _cursor(answer, question),
        "revision": answer.revision,
    }


def world_health_router(graph: Callable[[], ServedGraph]) -> APIRouter:
    """How the graph stands, for everybody."""
    router = APIRouter(prefix="/api/v2", tags=["world model"], route_class=WorkRoute)

    @router.get(
        "/health",
        response_model=reading.GraphHealthAnswer,
        responses=problems(MethodNotAllowed, RateLimited, InternalFault, StoreUnavailable),
        summary="Health of the graph",
        description="Live public nodes by domain at a named revision, and how much is answered from memory.",
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


@contextmanager
def _view(
    graph: ServedGraph,
    served: ServedGenerations,
    owner: str,
    as_of: str | None,
    at_revision: int | None,
    invalid: type[ParameterInvalid] | type[BodyInvalid],
) -> Iterator[CurrentView | PastView]:
    """The graph of now, or of the past where that is asked for, as `owner` sees it."""
    with graph.seen_by(owner) as now:
        if as_of is None and at_revision is None:
            yield now.view
            return
        newest, events = now.view.revision, list(now.events)
    if at_revision is not None and at_revision > newest:
        where = "/atRevision" if invalid is BodyInvalid else "/query/atRevision"
        raise invalid(f"The newest revision is {newest}.", errors=[(where, f"is above {newest}")])
    past = Past(as_of, newest if at_revision is None else at_revision)
    with served.reading() as generation:
        yield PastView(generation.readable.connection, events, past, owner)


def _query(asked: reading.GraphQueryRequest, position: Position) -> query.Query:
    traverse = asked.traverse
    return query.Query(
        search=asked.search,
        node_id=asked.node_id,
        traverse=traverse and query.Traversal(traverse.from_id, traverse.depth, traverse.direction),
        filter=query.Filter(asked.domain, tuple(asked.node_types or ())),
        limit=asked.limit,
        include_edges=asked.include_edges,
        after=position.after,
        skip=position.skip,
    )


def _position(cursor: str | None, question: str) -> Position:
    return Position(question) if cursor is None else decode_position(cursor, question)


def _cursor(answer: query.Answer, question: str) -> str | None:
    if answer.next_after is None and answer.next_skip is None:
        return None
    return encode_position(Position(question, answer.next_after, answer.next_skip or 0))


def _shown(state: Node | Edge, owner: str) -> Node | Edge:
    """A state with who wrote it only as far as that is a part of the service or `owner`: others are people."""
    actor = state.actor
    if actor != owner and actor not in PARTS_OF_THE_SERVICE:
        actor = OPERATOR if actor.startswith(f"{OPERATOR}:") else OTHERS
    return msgspec.structs.replace(state, actor=actor)


def _json(data: dict[str, Any]) -> Response:
    body = msgspec.json.encode({"ok": True, "data": data})
    return Response(body, headers={"Cache-Control": "no-store"}, media_type="application/json")
