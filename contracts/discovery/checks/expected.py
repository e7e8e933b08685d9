"""Names the documents that agents look for, each with the shape that its standard gives it.

How each is served is not repeated here: the deployment's own description states it.
"""

from dataclasses import dataclass
from typing import Any

from contracts.publish.registry import PROJECTIONS

DESCRIPTION = "/openapi.json"

SHAPES = {
    **{
        path: row.shape
        for row in PROJECTIONS
        if row.shape is not None
        for path in (row.path, *(alias.path for alias in row.aliases))
    },
    "/.well-known/jwks.json": "jwks",
    "/blink/guardrail": "action",
    "/blink/worldmodel": "action",
    "/health": "health",
    "/api/agent-access/plans": "plans",
}
"""The name of each document's check, by path."""


_PAGES = {row.path: row.media_type for row in PROJECTIONS if not row.is_described}


@dataclass(frozen=True, slots=True)
class Served:
    """The way in which a deployment states that it serves a document."""

    media_types: tuple[str, ...]
    is_kept: bool
    """Clients and CDNs may keep it: it has an ETag, public caching, HEAD and OPTIONS."""
    leads_on: bool
    """It redirects to a document."""


def served_as(description: Any, path: str) -> Served | None:
    """Reads from an OpenAPI description how a path is served; None if it does not describe a GET of the path.

    Pages for people are no part of it, and are served as every document is.
    """
    if path in _PAGES:
        return Served((_PAGES[path].partition(";")[0],), is_kept=True, leads_on=False)
    try:
        responses = description["paths"][path]["get"]["responses"]
        media_types = tuple(responses.get("200", {}).get("content", {}))
    except (KeyError, TypeError, AttributeError):
        return None
    return Served(media_types, is_kept="304" in responses and "429" not in responses, leads_on="302" in responses)


STRANGERS = ("/.well-known/no-such-document.json", "/no-such-document", "/connect/no-such-page")
"""Neighbours that don't exist: the service must answer with JSON, and never with a page and 200."""

ACTION_HEADERS = ("x-action-version", "x-blockchain-ids")
"""Without them clients of wallet actions assume Solana's main network."""

FRONT_DOORS = ("/", "/connect/")
"""Pages whose Link headers lead to everything else."""

FRONT_RELATIONS = ("api-catalog", "service-desc", "describedby")
