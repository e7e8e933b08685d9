"""Serves published documents as resources of `/mcp`, under separate URIs, if the generation has them."""

from collections.abc import Callable
from dataclasses import dataclass

from api.publish.negotiation import IDENTITY
from api.publish.site import PublishedSite
from contracts.discovery.service import CAPABILITIES_PATH, OPENAPI_PATH, SKILL_PATH
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
        "svc://openapi", OPENAPI_PATH, "openapi", "OpenAPI description", "Every route with its bodies and errors."
    ),
    Resource("svc://skill", SKILL_PATH, "skill", "Skill", "How an agent works with this service.", "text/markdown"),
    Resource(
        "svc://capabilities",
        CAPABILITIES_PATH,
        "capabilities",
        "Capability registry",
        "What the service can do, and what of it is live, planned or switched off here.",
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

    def listed(self) -> list[Resource]:
        """Returns the published resources, in their order."""
        site = self.site()
        return [] if site is None else [resource for resource in RESOURCES if resource.path in site.documents]

    def read(self, uri: str) -> tuple[Resource, str] | None:
        """Returns a resource and its text, or None if no published one has this URI."""
        site = self.site()
        resource = next((candidate for candidate in RESOURCES if candidate.uri == uri), None)
        if site is None or resource is None or resource.path not in site.documents:
            return None
        body: bytes = site.documents[resource.path].fresh[IDENTITY].body["body"]
        return resource, body.decode()
