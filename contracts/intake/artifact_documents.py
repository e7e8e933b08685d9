"""Models of the documents under `/artifacts/` that intakes link to."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from contracts.access.tiers import Tier
from contracts.base import Document, Timestamp
from contracts.intake.intake_documents import DayCounts, IntakeCommercialModel, Uri
from contracts.intake.requests import Lane


class ArtifactRule(Document):
    """One thing that holds."""

    id: str
    text: str


class StateMeaning(Document):
    """What a state means."""

    state: str
    meaning: str


class ArtifactLink(Document):
    """Where to go on."""

    rel: str
    href: Uri


class LiveState(Document):
    """How one thing stands, who said so and when that was looked at."""

    name: str
    state: str
    reason: str | None = Field(description="Why it is not as one would want, as a stable code")
    determined_by: str | None = Field(description="What it was worked out from; null before that was looked at")
    checked_at: Timestamp | None


class Artifact(Document):
    """What all of these documents have in common."""

    ok: Literal[True] = True
    artifact: str
    schema_: str = Field(alias="schema")
    title: str
    summary: str
    links: list[ArtifactLink]


class ContractArtifact(Artifact):
    """Rules, and what the states are called that they lead to."""

    rules: list[ArtifactRule]
    states: list[StateMeaning]


class StateArtifact(Artifact):
    """How things stand."""

    states: list[LiveState]


class PricedPlan(Document):
    """What a plan costs and gives."""

    id: str
    name: str
    description: str
    deliverable: str
    amount: str = Field(description="US dollars, decimal; a quote's amount lies less than one cent above it")
    billing: Literal["one_time", "recurring"]
    period_days: int | None
    tier: Tier
    requests_per_day: int | None = Field(description="API v2 requests a UTC day; null: unlimited")


class PricingArtifact(Artifact):
    """Prices."""

    currency: Literal["USD"] = "USD"
    commercial_model: IntakeCommercialModel
    plans: list[PricedPlan]


class PlansArtifact(PricingArtifact):
    """Plans, and whether they can be bought."""

    states: list[LiveState]


class TierEntitlements(Document):
    """What a tier may use."""

    tier: Tier
    key_prefix: str
    requests_per_day: int | None
    plans: list[str] = Field(description="Plans whose key has this tier")


class EntitlementsArtifact(Artifact):
    """Entitlements by tier and by runtime profile."""

    tiers: list[TierEntitlements]
    profiles: dict[str, list[str]]


class SchemaArtifact(Artifact):
    """A JSON Schema."""

    json_schema: dict[str, Any]


class TimelineArtifact(Artifact):
    """Counts by day."""

    days: list[DayCounts]
    determined_by: str | None
    checked_at: Timestamp | None


class Mission(Document):
    """The first mission of a profile."""

    profile_id: str
    profile_label: str
    lane: Lane
    first_mission: str
    first_delivery: str
    steps: list[str]


class MissionsArtifact(Artifact):
    """First missions."""

    missions: list[Mission]


class LaneTemplate(Document):
    """A body that can be sent, with the names of its fields."""

    lane: Lane
    body: dict[str, Any]
    required: list[str]
    optional: list[str]


class TemplateArtifact(Artifact):
    """A body for each lane."""

    consent_version: str = Field(description="What is agreed to where a request names no version")
    templates: list[LaneTemplate]
