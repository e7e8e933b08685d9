"""The capability registry: how every capability stands by the settings, and by what was found when it was looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Literal

from pydantic import Field

from contracts.base import Document, Timestamp
from contracts.discovery.capabilities import Access, CapabilityState, Status, capability_states
from contracts.discovery.installation import Installation
from contracts.discovery.schemas import schema_path
from contracts.discovery.service import SERVICE_NAME, SERVICE_VERSION

SCHEMA_ID: Final = "svc.base_capabilities.v1"

NOT_LOOKED = "not_looked_yet"
NOT_ANSWERING = "not_answering"

SETTINGS = "settings"
"""The evidence of what is judged by the settings alone."""

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)

SAID_FOR = timedelta(hours=1)
"""How long it is not said anew that all is as it was, so that the registry keeps its bytes."""

DeterminedBy = Literal["settings", "warehouse", "http"]


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found of a capability. `evidence` names what was looked at; `checked_at` UTC."""

    capability: str
    status: Status
    reason: str | None
    determined_by: DeterminedBy
    evidence: str
    checked_at: datetime

    def says_the_same_as(self, other: Finding) -> bool:
        """Whether the two differ in their time alone."""
        return (self.status, self.reason, self.determined_by, self.evidence) == (
            other.status,
            other.reason,
            other.determined_by,
            other.evidence,
        )


def kept_findings(held: Mapping[str, Finding], found: Mapping[str, Finding]) -> dict[str, Finding]:
    """What is to be said: an earlier finding where the new one says the same within the hour, else the new one."""
    return {id_: _kept(held.get(id_), each) for id_, each in found.items()}


def _kept(held: Finding | None, found: Finding) -> Finding:
    if held is None or not held.says_the_same_as(found):
        return found
    return held if timedelta(0) <= found.checked_at - held.checked_at < SAID_FOR else found


class Route(Document):
    """One operation."""

    method: str
    url: str = Field(description="Absolute; parts in braces are parameters")


class CapabilityEntry(Document):
    """One capability, how it stands, who says so and when that was looked at."""

    id: str
    title: str
    description: str
    kind: str
    access: Access = Field(description="Who may use it: anybody, the holder of an API key, or a paired assistant")
    status: Status = Field(description="`live`: can be used now; `planned`: not built; `off`: can't be used here now")
    reason: str | None = Field(description="Why it is not live, or how it is impaired, as a stable code")
    missing_settings: list[str] = Field(description="Settings that the operator would have to make")
    routes: list[Route]
    tools: list[str] = Field(description="Tools of the MCP server")
    determined_by: DeterminedBy = Field(
        description="`http`: it was asked at its public address; `warehouse`: its data was read; `settings`: they alone"
    )
    evidence: str | None = Field(description="What was looked at")
    checked_at: Timestamp | None = Field(
        description="When it was first found to stand so, said anew hourly (UTC); null before anybody has looked"
    )


class CapabilityRegistry(Document):
    """Everything that the service can do, and whether it can be used here now."""

    ok: Literal[True] = True
    schema_: Literal["svc.base_capabilities.v1"] = Field(alias="schema")
    schema_url: str
    service: str
    version: str
    base_url: str
    network: str = Field(description="CAIP-2 chain id")
    capabilities: list[CapabilityEntry]


def registry(installation: Installation, findings: Mapping[str, Finding]) -> CapabilityRegistry:
    """Every capability, from the settings and the findings."""
    return CapabilityRegistry(
        schema_=SCHEMA_ID,
        schema_url=installation.url(schema_path("svc-base-capabilities")),
        service=SERVICE_NAME,
        version=SERVICE_VERSION,
        base_url=installation.base_url,
        network=installation.network,
        capabilities=[
            _entry(installation, state, findings.get(id_)) for id_, state in capability_states(installation).items()
        ],
    )


def _entry(installation: Installation, state: CapabilityState, found: Finding | None) -> CapabilityEntry:
    capability = state.capability
    determined_by: DeterminedBy
    if stands_by_settings(state):
        stands = Finding(capability.id, state.status, state.reason, "settings", SETTINGS, _NEVER)
        found = found if found is not None and found.says_the_same_as(stands) else None
        status, reason, determined_by = state.status, state.reason, stands.determined_by
    elif found is None or found.determined_by == "settings":
        # Nobody has looked since the settings are as they are.
        found, status, reason, determined_by = None, Status.OFF, NOT_LOOKED, "settings"
    else:
        status, reason, determined_by = found.status, found.reason, found.determined_by
    return CapabilityEntry(
        id=capability.id,
        title=capability.title,
        description=capability.description,
        kind=capability.kind,
        access=capability.access,
        status=status,
        reason=reason,
        missing_settings=list(state.missing),
        routes=[
            Route(method=route.split(" ")[0], url=installation.url(route.split(" ")[1])) for route in capability.routes
        ],
        tools=list(capability.tools),
        determined_by=determined_by,
        evidence=None if found is None else found.evidence,
        checked_at=None if found is None else found.checked_at,
    )


def stands_by_settings(state: CapabilityState) -> bool:
    """Whether the settings alone say how a capability stands: it is off, planned, or there is nothing to look at."""
    return not state.live or state.capability.judged.way == "settings"
