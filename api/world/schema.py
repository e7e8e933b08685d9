"""Serves the schema over HTTP: the types that the graph may contain, and the present number of public nodes."""

from collections.abc import Callable

from fastapi import APIRouter, Response

from api.responses import private_document, problems
from api.routes import WorkRoute
from contracts.errors import InternalFault, MethodNotAllowed, RateLimited, StoreUnavailable
from contracts.world.ontology import load_ontology
from contracts.world.schema import SchemaAnswer, schema_of
from warehouse.ledger.ledger import Ledger
from warehouse.world.events import head_revision, public_counts


def schema_router(ledger: Callable[[], Ledger]) -> APIRouter:
    """Creates the route. `ledger` may raise `OperatorProblem`."""
    router = APIRouter(prefix="/api/v2", tags=["world model"], route_class=WorkRoute)

    @router.get(
        "/schema",
        response_model=SchemaAnswer,
        responses=problems(MethodNotAllowed, RateLimited, InternalFault, StoreUnavailable),
        summary="Domains, node types and relationship types",
        description="The counts cover live public nodes at `revision`.",
        operation_id="schema",
    )
    def schema() -> Response:
        with ledger().read() as reader:
            counts, _ = public_counts(reader)
            revision = head_revision(reader)
        answer = SchemaAnswer(data=schema_of(load_ontology(), counts, revision))
        return private_document(answer)

    return router
