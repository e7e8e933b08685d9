"""Lists the documents that agents look for, each with the shape that its standard defines.

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
"""The name of each document's shape, by path."""


_PAGES = {row.path: row.media_type for row in PROJECTIONS if not row.is_described}


@dataclass(frozen=True, slots=True)
class Served:
    """How a deployment declares that it serves a document."""

    media_types: tuple[str, ...]
    is_kept: bool
    """Clients and CDNs may cache it: it has an ETag, public caching, HEAD and OPTIONS."""
    leads_on: bool
    """It redirects to a document."""


def served_as(description: Any, path: str) -> Served | None:
    """Returns how an OpenAPI description declares a path's GET, or None if it does not describe one.

    Pages for people are not part of it, and are served like every document.
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
"""Paths that don't exist: the service must answer them with JSON, and never with a page and 200."""

ACTION_HEADERS = ("x-action-version", "x-blockchain-ids")
"""Without these, clients of wallet actions assume Solana's main network."""

FRONT_DOORS = ("/", "/connect/")
"""Pages whose Link headers lead to everything else."""

FRONT_RELATIONS = ("api-catalog", "service-desc", "describedby")
