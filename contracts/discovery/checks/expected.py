"""The documents that agents look for, as the interface (4.1) and today's standards have them, and their serving."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from contracts.publish.registry import PROJECTIONS

JSON = ("application/json",)

Service = Literal["file", "live", "limited", "redirect"]


@dataclass(frozen=True, slots=True)
class Expected:
    """One document. `shape` names its check; `served` as a `file` (ETag, public caching, HEAD, OPTIONS), `live` from
    memory, `limited`: counted against the client's budget, or as a `redirect` that leads to a document."""

    path: str
    media_types: tuple[str, ...]
    shape: str
    served: Service = "file"


_ALSO_ALLOWED = {
    "agent_card": "application/a2a+json",
    "llms": "text/markdown",
    "server_card": "application/mcp-server-card+json",
    "sitemap": "text/xml",
}
"""Media types that the standard of a shape allows beside ours."""


def _media_types(media_type: str, shape: str) -> tuple[str, ...]:
    own = media_type.partition(";")[0]
    also = _ALSO_ALLOWED.get(shape, own)
    return (own,) if also == own else (own, also)


EXPECTED = (
    Expected("/", ("text/html",), "page", "redirect"),
    *(
        Expected(path, _media_types(row.media_type, row.shape), row.shape)
        for row in PROJECTIONS
        if row.shape is not None
        for path in (row.path, *(alias.path for alias in row.aliases))
    ),
    Expected("/.well-known/jwks.json", (*JSON, "application/jwk-set+json"), "jwks"),
    Expected("/blink/guardrail", JSON, "action", "limited"),
    Expected("/blink/worldmodel", JSON, "action", "limited"),
    Expected("/health", JSON, "health", "live"),
    Expected("/api/agent-access/plans", JSON, "plans", "limited"),
)

BY_PATH = {each.path: each for each in EXPECTED}

STRANGERS = ("/.well-known/no-such-document.json", "/no-such-document", "/connect/no-such-page")
"""Neighbours that don't exist: they have to say so as JSON, and never as a page with 200."""

ACTION_HEADERS = ("x-action-version", "x-blockchain-ids")
"""Without them clients of wallet actions assume Solana's main network."""

FRONT_DOORS = ("/", "/connect/")
"""Pages whose Link headers lead to everything else."""

FRONT_RELATIONS = ("api-catalog", "service-desc", "describedby")
