"""Defines the models of the documents under `/artifacts/` to which intakes link."""

from typing import Any, Literal

from pydantic import Field

from contracts.access.tiers import Tier
from contracts.base import Document, Timestamp
from contracts.intake.intake_documents import DayCounts, IntakeCommercialModel, Uri
from contracts.intake.requests import Lane


class ArtifactRule(Document):
    """One rule."""

    id: str
    text: str


class StateMeaning(Document):
    """The meaning of a state."""

    state: str
    meaning: str


class ArtifactLink(Document):
    """A link to a further document."""

    rel: str
    href: Uri


class LiveState(Document):
    """The state of one thing, its source, and the time of the check."""

    name: str
    state: str
    reason: str | None = Field(description="Why it is not in the desired state, as a stable code")
    determined_by: str | None = Field(description="Source of the state; null before the first check")
    checked_at: Timestamp | None


class Artifact(Document):
    """The fields that all of these documents share."""

    ok: Literal[True] = True
    artifact: str = Field(description="The document's kind, a stable name")
    schema_: str = Field(alias="schema", description="Name and version of its format")
    title: str = Field(description="Its title for people")
    summary: str = Field(description="Its purpose, in a sentence or two")
    links: list[ArtifactLink] = Field(description="Documents to read with it")


class ContractArtifact(Artifact):
    """Rules, and the states to which they lead."""

    rules: list[ArtifactRule]
    states: list[StateMeaning]


class StateArtifact(Artifact):
    """Current states."""

    states: list[LiveState]


class PricedPlan(Document):
    """The price of a plan, and what it includes."""

    id: str
    name: str
    description: str
    deliverable: str
    amount: str = Field(description="US dollars, decimal; a quote's amount lies less than one cent above it")
    billing: Literal["one_time", "recurring"]
    period_days: int | None
    tier: Tier
    requests_per_day: int | None = Field(description="API v2 requests per UTC day; null: unlimited")


class PricingArtifact(Artifact):
    """Prices of all plans."""

    currency: Literal["USD"] = "USD"
    commercial_model: IntakeCommercialModel
    plans: list[PricedPlan]


class PlansArtifact(PricingArtifact):
    """Plans, and the current state of their sale."""

    states: list[LiveState]


class TierEntitlements(Document):
    """The rights of a tier."""

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
    """First missions of all profiles."""

    missions: list[Mission]


class LaneTemplate(Document):
    """A valid body with the names of its fields."""

    lane: Lane
    body: dict[str, Any]
    required: list[str]
    optional: list[str]


class TemplateArtifact(Artifact):
    """A valid body for each lane."""

    consent_version: str = Field(description="Accepted version if a request names no version")
    templates: list[LaneTemplate]
