"""Loads the service's capabilities from `capabilities.yaml`, and derives their states from the settings.

Every document derives its content from them. `registry.py` adds the results of probes.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

from contracts.discovery.installation import Installation
from contracts.settings import settings_that_give

CAPABILITIES_FILE = Path(__file__).with_name("capabilities.yaml")

NOT_CONFIGURED = "not_configured"
"""The reason for a capability that is off because a setting is missing."""

Access = Literal["public", "api_key", "pairing"]
Way = Literal["document", "asked", "health", "settings"]


class Status(StrEnum):
    """The state of a capability."""

    LIVE = "live"
    PLANNED = "planned"
    OFF = "off"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Judged:
    """The evidence that a capability works, by `way`.

    `document`: a path and the field that must exist in it; `asked`: method, path and expected status; `health`: fields
    of `/health` with their expected values, as pairs; `settings`: nothing but the settings.
    """

    way: Way
    what: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Capability:
    """One thing that the service can do. Of each entry of `needs`, one setting must be set."""

    id: str
    title: str
    description: str
    kind: str
    access: Access
    routes: tuple[str, ...]
    judged: Judged
    tools: tuple[str, ...] = ()
    needs: tuple[tuple[str, ...], ...] = ()
    planned: str | None = None
    skill: bool = False


@dataclass(frozen=True, slots=True)
class CapabilityState:
    """A capability's state according to the settings.

    `missing` lists the settings to set, as `A or B` if either suffices.
    """

    capability: Capability
    status: Status
    reason: str | None
    missing: tuple[str, ...]

    @property
    def live(self) -> bool:
        """Returns whether documents offer the capability."""
        return self.status is Status.LIVE


@cache
def load_capabilities() -> dict[str, Capability]:
    """Returns every capability by its id, in the file's order. Raises `KeyError` if a document names an unknown one."""
    from contracts.publish.registry import PROJECTIONS  # here: its rows name functions that call this one

    rows: list[dict[str, Any]] = yaml.load(CAPABILITIES_FILE.read_text(), yaml.CSafeLoader)
    routes: dict[str, list[str]] = {row["id"]: [] for row in rows}
    for document in PROJECTIONS:
        if document.capability is not None:
            routes[document.capability].append(f"GET {document.path}")
    for row in rows:
        routes[row["id"]] += row.get("routes", ())
    return {row["id"]: _capability(row, routes[row["id"]]) for row in rows}


def capability_states(installation: Installation) -> dict[str, CapabilityState]:
    """Returns every capability's state at an installation according to its settings, by id."""
    return {id_: _state(capability, installation.configured) for id_, capability in load_capabilities().items()}


def is_live(installation: Installation, id_: str) -> bool:
    """Returns whether documents offer a capability. Raises `KeyError` for an unknown one."""
    return capability_states(installation)[id_].live


def live_ones(installation: Installation) -> Iterable[Capability]:
    """Returns the capabilities that documents offer, in their order."""
    return [state.capability for state in capability_states(installation).values() if state.live]


def _state(capability: Capability, configured: frozenset[str]) -> CapabilityState:
    if capability.planned is not None:
        return CapabilityState(capability, Status.PLANNED, capability.planned, ())
    missing = tuple(" or ".join(names) for names in capability.needs if configured.isdisjoint(names))
    if missing:
        return CapabilityState(capability, Status.OFF, NOT_CONFIGURED, missing)
    return CapabilityState(capability, Status.LIVE, None, ())


def _capability(row: dict[str, Any], routes: list[str]) -> Capability:
    needs: list[Sequence[str]] = [[name] for name in row.get("needs", ())]
    if alternatives := settings_that_give(row["id"]):
        needs.append(alternatives)
    return msgspec.convert({**row, "routes": routes, "needs": needs, "judged": _judged(row["judged"])}, Capability)


def _judged(fields: dict[str, Any]) -> dict[str, Any]:
    if "document" in fields:
        return {"way": "document", "what": [fields["document"], fields.get("field")]}
    if "health" in fields:
        return {"way": "health", "what": list(fields["health"].items())}
    if "asked" in fields:
        return {"way": "asked", "what": fields["asked"]}
    return {"way": "settings", "what": []}
