"""Builds the whole description: takes what the framework derives from routes and models, and completes it."""

import json
from operator import attrgetter
from typing import Any

from api.app import build_rooms
from api.deps import SECURITY_SCHEMES
from api.openapi.headers import add_headers
from api.openapi.heads import add_heads
from api.openapi.links import add_links
from api.openapi.lowering import lower
from api.openapi.purchases import add_purchases
from api.openapi.ranges import add_ranges
from api.openapi.sharing import share
from api.openapi.texts import add_texts
from api.publish.router import fixed_routes
from api.routes import WorkRoute
from api.stores import Stores
from contracts.discovery.openapi import restricted
from contracts.problems import Problem
from contracts.publish.projection import Projection
from contracts.publish.registry import PROJECTIONS
from contracts.settings import Settings


def description() -> dict[str, Any]:
    """Returns the whole description except what publishing adds: the real `servers` and the examples."""
    app = build_rooms(Stores(Settings(_env_file=None)), lambda: None)
    app.router.routes.extend(fixed_routes())
    for route in app.routes:
        if isinstance(route, WorkRoute):
            route.build_response_models()
    document = app.openapi()
    _use_our_problems(document)
    for path in document["paths"].values():
        for operation in path.values():
            operation.setdefault("security", [])
    document["components"]["securitySchemes"] = SECURITY_SCHEMES
    document["servers"] = [{"url": "/"}]
    for projection in filter(attrgetter("is_described"), PROJECTIONS):
        for path in projection.paths:
            _describe_media_type(document["paths"][path]["get"]["responses"]["200"]["content"], projection)
    document = lower(document)
    for complete in (add_texts, add_ranges, add_headers, add_links, add_heads, add_purchases, share):
        complete(document)
    return restricted(document, "/")


def text() -> str:
    """Returns the text of the committed file."""
    return json.dumps(description(), indent=2, ensure_ascii=False, sort_keys=True) + "\n"


def _describe_media_type(content: dict[str, Any], projection: Projection) -> None:
    described = content.pop("application/json")
    media_type = projection.media_type.partition(";")[0]
    structured = media_type.endswith(("json", "yaml"))
    content[media_type] = described if structured else {"schema": {"type": "string"}}
    if projection.markdown is not None:
        content["text/markdown"] = {"schema": {"type": "string"}}


def _use_our_problems(document: dict[str, Any]) -> None:
    """Replaces the framework's error bodies with the problem body."""
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    problem = Problem.model_json_schema(mode="serialization", ref_template="#/components/schemas/{model}")
    schemas |= {**problem.pop("$defs", {}), "Problem": problem}
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    for path in document["paths"].values():
        for operation in path.values():
            operation["responses"].pop("422", None)
