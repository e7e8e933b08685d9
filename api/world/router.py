"""Combines the routes that write the graph, and that of its schema, over the shared stores."""

from fastapi import APIRouter

from api.routes import merge_routes
from api.stores import Stores
from api.world.capsules import capsules_router
from api.world.erasing import erasing_router
from api.world.knowledge import knowledge_router
from api.world.moving import moving_router
from api.world.ontology import ontology_router
from api.world.pending import pending_router
from api.world.schema import schema_router
from api.world.signals import signals_router
from contracts.world.alignment import alignment


def world_writes_router(stores: Stores) -> APIRouter:
    """Creates the routes for signals, capsules, built graphs, memory plans, the schema, owners' ontologies, exports,
    imports, erasures and waiting writes."""
    base_url = stores.settings.public_base_url
    router = APIRouter()
    merge_routes(
        router,
        schema_router(lambda: stores.ledger),
        signals_router(lambda: stores.ledger, alignment),
        knowledge_router(stores),
        ontology_router(stores),
        erasing_router(stores),
        moving_router(stores),
        pending_router(stores),
        capsules_router(base_url, lambda: stores.ledger, lambda: stores.secrets.pepper, alignment),
    )
    return router
