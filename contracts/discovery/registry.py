"""Builds the capability registry: the state of every capability according to the settings and the probes' findings."""

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
"""The evidence for a capability that only the settings determine."""

_NEVER = datetime(1970, 1, 1, tzinfo=UTC)

RESTATED_EVERY = timedelta(hours=1)
"""An unchanged finding is renewed at most this often, so that the registry's bytes (and ETag) remain stable."""

DeterminedBy = Literal["settings", "warehouse", "http"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of probing a capability. `evidence` names the probed document or path; `checked_at` is in UTC."""

    capability: str
    status: Status
    reason: str | None
    determined_by: DeterminedBy
    evidence: str
    checked_at: datetime

    def equals_but_for_time(self, other: Finding) -> bool:
        """Decides whether the two are equal except for their time."""
        return (self.status, self.reason, self.determined_by, self.evidence) == (
            other.status,
            other.reason,
            other.determined_by,
            other.evidence,
        )


def kept_findings(earlier: Mapping[str, Finding], new: Mapping[str, Finding]) -> dict[str, Finding]:
    """Returns the findings to publish: an earlier finding if the new one is equal within the hour, else the new one."""
    return {id_: _current(earlier.get(id_), finding) for id_, finding in new.items()}


def _current(earlier: Finding | None, new: Finding) -> Finding:
    if earlier is None or not earlier.equals_but_for_time(new):
        return new
    return earlier if timedelta(0) <= new.checked_at - earlier.checked_at < RESTATED_EVERY else new


class Route(Document):
    """One operation."""

    method: str
    url: str = Field(description="Absolute; parts in braces are parameters")


class CapabilityEntry(Document):
    """One capability with its state, the source of that state, and the time of the check."""

    id: str
    title: str
    description: str
    kind: str
    access: Access = Field(description="Who may use it: anybody, the holder of an API key, or a paired assistant")
    status: Status = Field(
        description="`live`: can be used now; `planned`: not built; `off`: can't be used here now; `unknown`: not yet "
        "checked"
    )
    reason: str | None = Field(description="Why it is not live, or how it is impaired, as a stable code")
    missing_settings: list[str] = Field(description="Settings that the operator would have to set")
    routes: list[Route]
    tools: list[str] = Field(description="Tools of the MCP server")
    determined_by: DeterminedBy = Field(
        description="`http`: a request to its public address; `warehouse`: its data; `settings`: only the settings"
    )
    evidence: str | None = Field(description="The document or path that was checked")
    checked_at: Timestamp | None = Field(
        description="The first check with this result, renewed hourly (UTC); null before the first check"
    )


class CapabilityRegistry(Document):
    """Every capability of the service, and whether it can be used here now."""

    ok: Literal[True] = True
    schema_: Literal["svc.base_capabilities.v1"] = Field(alias="schema")
    schema_url: str
    service: str
    version: str
    base_url: str
    network: str = Field(description="CAIP-2 chain id")
    capabilities: list[CapabilityEntry]


def registry(installation: Installation, findings: Mapping[str, Finding]) -> CapabilityRegistry:
    """Builds the registry from the settings and the findings."""
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


def _entry(installation: Installation, state: CapabilityState, finding: Finding | None) -> CapabilityEntry:
    capability = state.capability
    determined_by: DeterminedBy
    if is_set_by_settings(state):
        configured = Finding(capability.id, state.status, state.reason, "settings", SETTINGS, _NEVER)
        finding = finding if finding is not None and finding.equals_but_for_time(configured) else None
        status, reason, determined_by = state.status, state.reason, configured.determined_by
    elif finding is None or finding.determined_by == "settings":
        # No probe has run since the settings changed.
        finding, status, reason, determined_by = None, Status.UNKNOWN, NOT_LOOKED, "settings"
    else:
        status, reason, determined_by = finding.status, finding.reason, finding.determined_by
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
        evidence=None if finding is None else finding.evidence,
        checked_at=None if finding is None else finding.checked_at,
    )


def is_set_by_settings(state: CapabilityState) -> bool:
    """Decides whether the settings determine the state: off, planned, or with nothing to probe."""
    return not state.live or state.capability.judged.way == "settings"
