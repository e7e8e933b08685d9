"""Serves published documents as MCP resources under `svc://` URIs, if the generation contains them."""

import asyncio
import time
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from api.publish.negotiation import IDENTITY
from api.publish.site import PublishedSite
from contracts.connect.key_tools import ResourceTemplate
from contracts.discovery.service import CAPABILITIES_PATH, OPERATIONS_PATH, SKILL_PATH
from contracts.intake.links import artifact_path


@dataclass(frozen=True, slots=True)
class Resource:
    """One document: its URI, the path at which it is published, and its description."""

    uri: str
    path: str
    name: str
    title: str
    description: str
    media_type: str = "application/json"


RESOURCES: tuple[Resource, ...] = (
    Resource(
        "svc://openapi",
        OPERATIONS_PATH,
        "openapi",
        "Index of operations",
        "Every operation of the OpenAPI description, each with the address of its page. The description itself is too "
        "long for a context window: read it at the address at the top of the index.",
        "text/markdown",
    ),
    Resource("svc://skill", SKILL_PATH, "skill", "Skill", "How an agent works with this service.", "text/markdown"),
    Resource(
        "svc://capabilities",
        CAPABILITIES_PATH,
        "capabilities",
        "Capability registry",
        "What the service can do, and which capabilities are live, planned or switched off here.",
    ),
    Resource("svc://plans", artifact_path("plans"), "plans", "Plans", "What can be bought, and what it costs."),
    Resource(
        "svc://intake-template",
        artifact_path("intake-template"),
        "intake-template",
        "Intake template",
        "A body for POST /api/intake in each lane.",
    ),
)


@dataclass(frozen=True, eq=False)
class Resources:
    """The currently published resources. `site` returns the published site, or None before the first one."""

    site: Callable[[], PublishedSite | None]

    @property
    def templates(self) -> tuple[ResourceTemplate, ...]:
        """Returns no template: every resource has one URI."""
        return ()

    def listed(self) -> list[Resource]:
        """Returns the published resources, in their order."""
        site = self.site()
        return [] if site is None else [resource for resource in RESOURCES if resource.path in site.documents]

    async def read(self, uri: str, _: MutableMapping[str, Any]) -> tuple[str, str] | None:
        """Returns the media type and text of a resource, or None if no published one has this URI."""
        return await asyncio.to_thread(published_resource, self.site(), RESOURCES, uri)


def published_resource(site: PublishedSite | None, resources: Sequence[Resource], uri: str) -> tuple[str, str] | None:
    """Returns the media type and text of a resource, or None if no published one has this URI."""
    resource = next((candidate for candidate in resources if candidate.uri == uri), None)
    text = None if resource is None else published_text(site, resource.path)
    return None if resource is None or text is None else (resource.media_type, text)


def published_text(site: PublishedSite | None, path: str) -> str | None:
    """Returns the text of a published document, or None if there is none at this path."""
    if site is None or path not in site.documents:
        return None
    document = site.documents[path]
    encodings = document.fresh if time.time() < document.stale_at else document.stale
    body: bytes = encodings[IDENTITY].body["body"]
    return body.decode()
