"""Serves an owner's ontology over HTTP: the words that the owner adds to the schema, with their versions."""

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from api.deps import AuthenticatedReadingRoute, authenticated_router, caller_of
from api.responses import private_document, problems
from api.routes import merge_routes
from api.stores import Stores
from api.world.actors import actor_of
from contracts.errors import (
    BodyInvalid,
    BodyTooLarge,
    MediaTypeUnsupported,
    OntologyUnfit,
    ParameterInvalid,
    RevisionConflict,
    StandingTooLow,
)
from contracts.secret_texts import SecretInText
from contracts.world.identity import given_id
from contracts.world.own_ontology import (
    VERSIONS_SHOWN,
    OntologyAnswer,
    OntologyParameters,
    OntologyRequest,
    OwnOntology,
)
from warehouse.ledger.ledger import Reader
from warehouse.world.ontologies import OntologyVersion, set_ontology, version_of, versions_of

PATH = "/world-model/ontology"


def ontology_router(stores: Stores) -> APIRouter:
    """Creates the routes. The ledger may raise `OperatorProblem`."""
    reading = authenticated_router("world model", AuthenticatedReadingRoute)
    writing = authenticated_router("world model")

    @reading.get(
        PATH,
        response_model=OntologyAnswer,
        responses=problems(ParameterInvalid),
        summary="Your own words",
        description="The node types, relationship types and single-valued predicates that the key's owner added to "
        "those of `/api/v2/schema`, now or in an earlier version.",
        operation_id="world_model_ontology",
    )
    def read(request: Request, parameters: Annotated[OntologyParameters, Query()]) -> Response:
        owner = caller_of(request).owner
        with stores.ledger.read() as reader:
            version = version_of(reader, owner, parameters.version)
            if version is None:
                raise ParameterInvalid(
                    "Your ontology has no such version.", errors=[("/query/version", "is not a version of yours")]
                )
            return _answer(reader, owner, version, [])

    @writing.put(
        PATH,
        response_model=OntologyAnswer,
        responses=problems(
            BodyInvalid,
            SecretInText,
            BodyTooLarge,
            MediaTypeUnsupported,
            StandingTooLow,
            RevisionConflict,
            OntologyUnfit,
        ),
        summary="Set your own words",
        description="Replaces the words of the key's owner, as a new version. They apply to private nodes and edges of "
        "that owner, and nobody else sees them. Refused if an existing node or edge would not fit; each is named. The "
        "rule of standing places the facts of a predicate that becomes single-valued; once it stops being so, they "
        "hold as stated. A future `expectedVersion` is refused with 400.",
        operation_id="world_model_ontology_set",
    )
    def set_words(body: OntologyRequest, request: Request) -> Response:
        caller = caller_of(request)
        words = OwnOntology.model_validate(body.model_dump(exclude={"expected_version"}))
        outcome = set_ontology(stores.ledger, actor_of(caller), words, body.expected_version, key_id=caller.key_id)
        with stores.ledger.read() as reader:
            return _answer(reader, caller.owner, outcome.version, [fact.id for fact in outcome.changed])

    merge_routes(reading, writing)
    return reading


def _answer(reader: Reader, owner: str, version: OntologyVersion, changed: list[str]) -> Response:
    words: dict[str, Any] = OwnOntology.model_validate_json(version.text).model_dump(mode="json")
    versions = [
        {"version": known.version, "recordedAt": known.recorded_at}
        for known in versions_of(reader, owner, VERSIONS_SHOWN)
    ]
    data = words | {
        "version": version.version,
        "recordedAt": version.recorded_at,
        "versions": versions,
        "changedFacts": [given_id(owner, node_id) for node_id in changed],
    }
    return private_document(OntologyAnswer.model_validate({"data": data}))
