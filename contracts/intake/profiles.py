"""Loads runtime profiles and checklists from `profiles.yaml`, and chooses the profile of a request."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec
import yaml

from contracts.intake.requests import Lane

PROFILES_FILE = Path(__file__).with_name("profiles.yaml")


@dataclass(frozen=True, slots=True)
class Profile:
    """A runtime profile. `when` selects it; `defaults` fill in missing fields, by their names on the wire."""

    id: str
    lane: Lane
    label: str
    workspace_boundary: str
    workspace_boundary_note: str
    governance_boundary: str
    governance_boundary_note: str
    first_mission: str
    first_delivery: str
    first_delivery_note: str
    receipt_surface: str
    receipt_surface_note: str
    activation_review: str
    activation_review_note: str
    billing_mode: str
    billing_note: str
    included_entitlements: tuple[str, ...]
    entitlements_note: str
    defaults: Mapping[str, Any]
    when: Mapping[str, str] | None = None


@dataclass(frozen=True, slots=True)
class ChecklistRow:
    """One line of a lane's checklist in the file."""

    id: str
    label: str
    kind: Literal["input", "review", "activation"] = "input"
    fields: tuple[str, ...] = ()
    default: bool = False
    next: str = ""


@cache
def load_profiles() -> dict[str, Profile]:
    """Returns every profile by its id, in the file's order."""
    rows: list[dict[str, Any]] = _read()["profiles"]
    return {row["id"]: msgspec.convert(row, Profile) for row in rows}


@cache
def load_checklist(lane: Lane) -> tuple[ChecklistRow, ...]:
    return msgspec.convert(_read()["checklists"][lane.value], tuple[ChecklistRow, ...])


def choose_profile(lane: Lane, details: Mapping[str, Any]) -> Profile:
    """Returns the profile that a request names, or else the first profile of its lane whose `when` matches.

    A profile without `when` matches every request, and each lane has one.
    """
    of_lane = [profile for profile in load_profiles().values() if profile.lane is lane]
    named = details.get("runtimeProfile")
    for profile in of_lane:
        if profile.id == named:
            return profile
    return next(profile for profile in of_lane if _fits(profile, details))


def _fits(profile: Profile, details: Mapping[str, Any]) -> bool:
    return profile.when is None or any(details.get(name) == value for name, value in profile.when.items())


def _read() -> dict[str, Any]:
    content: dict[str, Any] = yaml.load(PROFILES_FILE.read_text(), yaml.CSafeLoader)
    return content
