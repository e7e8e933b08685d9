"""What the service can do, from `capabilities.yaml`, and how each stands as far as the settings say.

Every document takes from here what it leaves in or out. What probes add is `registry.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any, Literal

import yaml

from contracts.discovery.installation import Installation
from contracts.settings import settings_that_give

CAPABILITIES_FILE = Path(__file__).with_name("capabilities.yaml")

NOT_CONFIGURED = "not_configured"
"""The reason of what is off for want of a setting."""

Access = Literal["public", "api_key", "pairing"]
Way = Literal["document", "asked", "health", "settings"]


class Status(StrEnum):
    """Whether something can be used now, is not built yet, or can't be used at this installation."""

    LIVE = "live"
    PLANNED = "planned"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Judged:
    """By what a capability is known to work. `document`: the path in `what`, and the field that has to be there;
    `asked`: method, path and status; `health`: a field of `/health` and its value; `settings`: by them alone."""

    way: Way
    what: tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Capability:
    """One thing that the service can do. Of each entry of `needs` one setting has to be made."""

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
    """How a capability stands by the settings. `missing`: those to be made, `A or B` where either will do."""

    capability: Capability
    status: Status
    reason: str | None
    missing: tuple[str, ...]

    @property
    def live(self) -> bool:
        """Whether documents offer it."""
        return self.status is Status.LIVE


@cache
def load_capabilities() -> dict[str, Capability]:
    """Every capability by its id, in the order of the file."""
    rows: list[dict[str, Any]] = yaml.load(CAPABILITIES_FILE.read_text(), yaml.CSafeLoader)
    return {row["id"]: _capability(row) for row in rows}


def capability_states(installation: Installation) -> dict[str, CapabilityState]:
    """How every capability stands at an installation as far as its settings say, by id."""
    return {id_: _state(each, installation.configured) for id_, each in load_capabilities().items()}


def is_live(installation: Installation, id_: str) -> bool:
    """Whether documents offer a capability. Raises `KeyError` on an unknown one."""
    return capability_states(installation)[id_].live


def live_ones(installation: Installation) -> Iterable[Capability]:
    """The capabilities that documents offer, in their order."""
    return [state.capability for state in capability_states(installation).values() if state.live]


def _state(capability: Capability, configured: frozenset[str]) -> CapabilityState:
    if capability.planned is not None:
        return CapabilityState(capability, Status.PLANNED, capability.planned, ())
    missing = tuple(" or ".join(names) for names in capability.needs if configured.isdisjoint(names))
    if missing:
        return CapabilityState(capability, Status.OFF, NOT_CONFIGURED, missing)
    return CapabilityState(capability, Status.LIVE, None, ())


def _capability(row: dict[str, Any]) -> Capability:
    needs: list[tuple[str, ...]] = [(name,) for name in row.get("needs", ())]
    if alternatives := settings_that_give(row["id"]):
        needs.append(alternatives)
    return Capability(
        id=row["id"],
        title=row["title"],
        description=row["description"],
        kind=row["kind"],
        access=row["access"],
        routes=tuple(row["routes"]),
        judged=_judged(row["judged"]),
        tools=tuple(row.get("tools", ())),
        needs=tuple(needs),
        planned=row.get("planned"),
        skill=row.get("skill", False),
    )


def _judged(given: dict[str, Any]) -> Judged:
    if "document" in given:
        return Judged("document", (given["document"], given.get("field")))
    if "asked" in given:
        return Judged("asked", tuple(given["asked"]))
    if "health" in given:
        return Judged("health", tuple(given["health"]))
    return Judged("settings", ())
