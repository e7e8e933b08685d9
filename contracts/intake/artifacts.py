"""Builds the documents under `/artifacts/` to which intakes link. Pure.

Texts come from `artifacts.yaml`, the rest from plans, profiles, settings and the ledger's counts.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from contracts.access.plans import PLANS_PATH, QUOTE_PATH, UNCLAIMABLE, load_plans
from contracts.access.rail import network_of, usd_of
from contracts.access.tiers import REQUESTS_A_DAY, Tier
from contracts.base import Document, schema_of
from contracts.intake.answers import INTAKE_PATH, PRICE_SHAPE
from contracts.intake.artifact_documents import (
    Artifact,
    ArtifactLink,
    ArtifactRule,
    ContractArtifact,
    EntitlementsArtifact,
    LaneTemplate,
    LiveState,
    Mission,
    MissionsArtifact,
    PlansArtifact,
    PricedPlan,
    PricingArtifact,
    SchemaArtifact,
    StateArtifact,
    StateMeaning,
    TemplateArtifact,
    TierEntitlements,
    TimelineArtifact,
)
from contracts.intake.intake_documents import DayCounts, IntakeCommercialModel, IntakeProvisioningCapsule
from contracts.intake.links import artifact_url, page_url
from contracts.intake.profiles import load_profiles
from contracts.intake.requests import (
    CONSENT_VERSION,
    AgentIntake,
    EnterpriseIntake,
    HumanIntake,
    Lane,
)

TEXTS_FILE = Path(__file__).with_name("artifacts.yaml")
NOT_LOOKED = "not_looked_yet"

_REQUESTS: dict[Lane, type[Document]] = {
    Lane.AGENT: AgentIntake,
    Lane.HUMAN: HumanIntake,
    Lane.ENTERPRISE: EnterpriseIntake,
}


@dataclass(frozen=True, slots=True)
class SeenSettings:
    """The settings that a pipeline run saw, and when. `missing` are the settings that payments still need."""

    chain_id: int
    missing: tuple[str, ...]
    app_url: str | None
    checked_at: datetime


@dataclass(frozen=True, slots=True)
class LaneFunnel:
    """The number of intakes of a lane that reached each step."""

    lane: Lane
    registrations: int
    approved: int
    paid: int
    active: int


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts that complete the texts. `seen` is None until a pipeline run has read the settings."""

    base_url: str
    seen: SeenSettings | None
    funnel: tuple[LaneFunnel, ...]
    days: tuple[DayCounts, ...]


@dataclass(frozen=True, slots=True)
class ArtifactKind:
    """The recipe of one document: its model, the function for its own fields, and queries in addition to settings."""

    model: type[Artifact]
    own: Callable[[Facts, Mapping[str, Any]], dict[str, Any]]
    questions: tuple[str, ...] = ()


@cache
def artifact_texts() -> dict[str, dict[str, Any]]:
    """Returns the texts by name, unchanged from the file."""
    texts: dict[str, dict[str, Any]] = yaml.load(TEXTS_FILE.read_text(), yaml.CSafeLoader)
    return texts


def artifact(name: str, facts: Facts) -> Artifact:
    texts, kind = artifact_texts()[name], ARTIFACT_KINDS[name]
    return kind.model(
        artifact=f"svc.intake.{name}",
        schema_=f"svc.intake.{name.replace('-', '_')}.v1",
        title=texts["title"],
        summary=texts["summary"],
        links=_links(name, facts),
        **kind.own(facts, texts),
    )


def _links(name: str, facts: Facts) -> list[ArtifactLink]:
    app_url = None if facts.seen is None else facts.seen.app_url
    links = {
        "self": artifact_url(facts.base_url, name),
        "intake": facts.base_url + INTAKE_PATH,
        "plans": facts.base_url + PLANS_PATH,
        "quote": facts.base_url + QUOTE_PATH,
        "openapi": f"{facts.base_url}/openapi.json",
        "app": page_url(facts.base_url, app_url),
    }
    return [ArtifactLink(rel=rel, href=href) for rel, href in links.items()]


def _contract(_: Facts, texts: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "rules": [ArtifactRule(id=id_, text=text) for id_, text in texts.get("rules", {}).items()],
        "states": [StateMeaning(state=state, meaning=text) for state, text in texts.get("states", {}).items()],
    }


def _pricing(_: Facts, __: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "currency": "USD",
        "commercial_model": IntakeCommercialModel(price_shape=PRICE_SHAPE),
        "plans": [
            PricedPlan(
                id=plan.id,
                name=plan.name,
                description=plan.description,
                deliverable=plan.deliverable,
                amount=usd_of(plan.price),
                billing=plan.billing,
                period_days=plan.paid_days,
                tier=plan.tier,
                requests_per_day=REQUESTS_A_DAY[plan.tier],
            )
            for plan in load_plans().values()
        ],
    }


def _plans(facts: Facts, texts: Mapping[str, Any]) -> dict[str, Any]:
    return _pricing(facts, texts) | {"states": [_payments(facts)]}


def _entitlements(_: Facts, __: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "tiers": [
            TierEntitlements(
                tier=tier,
                key_prefix=f"svc_{tier.value}_",
                requests_per_day=limit,
                plans=[plan.id for plan in load_plans().values() if plan.tier is tier],
            )
            for tier, limit in REQUESTS_A_DAY.items()
        ],
        "profiles": {profile.id: list(profile.included_entitlements) for profile in load_profiles().values()},
    }


def _entitlements_state(facts: Facts, _: Mapping[str, Any]) -> dict[str, Any]:
    payments = _payments(facts)
    return {"states": [payments.model_copy(update={"name": f"tier_{tier.value}"}) for tier in Tier]}


def _auth_state(facts: Facts, _: Mapping[str, Any]) -> dict[str, Any]:
    companion = _settings_state(
        facts, "companion_app", lambda seen: ("configured" if seen.app_url else "built_in", None)
    )
    return {"states": [_payments(facts).model_copy(update={"name": "keys_by_claim"}), companion]}


def _launch_status(facts: Facts, _: Mapping[str, Any]) -> dict[str, Any]:
    approved = sum(row.approved for row in facts.funnel)
    active = sum(row.active for row in facts.funnel)
    return {
        "states": [
            _payments(facts),
            _settings_state(facts, "network", lambda seen: (network_of(seen.chain_id), None)),
            _settings_state(facts, "self_serve_activation", _self_serve),
            _count_state(facts, "approved_intakes", approved),
            _count_state(facts, "active_intakes", active),
        ]
    }


def _activation_state(facts: Facts, _: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "states": [
            _count_state(facts, f"{row.lane.value}_{step}", getattr(row, step))
            for row in facts.funnel
            for step in ("registrations", "approved", "paid", "active")
        ]
    }


def _timeline(facts: Facts, _: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "days": list(facts.days),
        "determined_by": None if facts.seen is None else "ledger",
        "checked_at": None if facts.seen is None else facts.seen.checked_at,
    }


def _schema(_: Facts, __: Mapping[str, Any]) -> dict[str, Any]:
    schema = schema_of(IntakeProvisioningCapsule, "serialization")
    return {"json_schema": {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}}


def _missions(facts: Facts, _: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "missions": [
            Mission(
                profile_id=profile.id,
                profile_label=profile.label,
                lane=profile.lane,
                first_mission=profile.first_mission,
                first_delivery=profile.first_delivery,
                steps=[
                    f"Register at {facts.base_url}{INTAKE_PATH} by lane {profile.lane.value}.",
                    f"Ask {facts.base_url}{QUOTE_PATH} for a quote that names the intake, pay it and claim it.",
                    f"Do it: {profile.first_mission}.",
                    f"Show it: {profile.first_delivery}.",
                ],
            )
            for profile in load_profiles().values()
        ]
    }


EXAMPLE_BODIES: dict[Lane, dict[str, Any]] = {
    Lane.AGENT: {
        "lane": "agent",
        "agentId": "research-agent-1",
        "serviceOffer": "Summaries of public filings, with sources",
        "endpoint": "https://agent.example/a2a",
        "consent": True,
    },
    Lane.HUMAN: {
        "lane": "human",
        "name": "Ada Example",
        "useCase": "An assistant that keeps my goals and decisions",
        "telegram": "@ada_example",
        "assistantId": "codex",
        "experiencePath": "new_to_agents",
        "launchPath": "/create-my-agent",
        "consent": {"accepted": True, "policyVersion": CONSENT_VERSION},
    },
    Lane.ENTERPRISE: {
        "lane": "enterprise",
        "orgName": "Example Works",
        "contactFullName": "Ada Example",
        "contactRole": "Operations",
        "contactEmail": "ada@example.com",
        "useCase": "One governed graph of our service contracts",
        "consent": {"accepted": True, "policyVersion": CONSENT_VERSION},
    },
}
"""A valid body for each lane, for the template and for the examples of the OpenAPI description."""


def _templates(_: Facts, __: Mapping[str, Any]) -> dict[str, Any]:
    templates = []
    for lane, model in _REQUESTS.items():
        fields = model.model_fields.items()
        named = [(field.alias or name, field.is_required()) for name, field in fields]
        templates.append(
            LaneTemplate(
                lane=lane,
                body=EXAMPLE_BODIES[lane],
                required=sorted(name for name, required in named if required),
                optional=sorted(name for name, required in named if not required),
            )
        )
    return {"consent_version": CONSENT_VERSION, "templates": templates}


def _payments(facts: Facts) -> LiveState:
    return _settings_state(
        facts,
        "payments",
        lambda seen: ("not_configured", UNCLAIMABLE) if seen.missing else ("configured", None),
    )


def _self_serve(seen: SeenSettings) -> tuple[str, str | None]:
    return ("disabled", UNCLAIMABLE) if seen.missing else ("enabled", None)


def _settings_state(facts: Facts, name: str, judge: Callable[[SeenSettings], tuple[str, str | None]]) -> LiveState:
    if facts.seen is None:
        return LiveState(name=name, state="unknown", reason=NOT_LOOKED, determined_by=None, checked_at=None)
    state, reason = judge(facts.seen)
    at = facts.seen.checked_at
    return LiveState(name=name, state=state, reason=reason, determined_by="settings", checked_at=at)


def _count_state(facts: Facts, name: str, count: int) -> LiveState:
    if facts.seen is None:
        return LiveState(name=name, state="unknown", reason=NOT_LOOKED, determined_by=None, checked_at=None)
    at = facts.seen.checked_at
    return LiveState(name=name, state=str(count), reason=None, determined_by="ledger", checked_at=at)


SETTINGS, FUNNEL, DAYS = "intake_settings", "intake_funnel", "intake_days"

ARTIFACT_KINDS: dict[str, ArtifactKind] = {
    "pricing": ArtifactKind(PricingArtifact, _pricing),
    "plans": ArtifactKind(PlansArtifact, _plans),
    "billing-contract": ArtifactKind(ContractArtifact, _contract),
    "auth-contract": ArtifactKind(ContractArtifact, _contract),
    "auth-state": ArtifactKind(StateArtifact, _auth_state),
    "entitlements": ArtifactKind(EntitlementsArtifact, _entitlements),
    "entitlements-state": ArtifactKind(StateArtifact, _entitlements_state),
    "provisioning-schema": ArtifactKind(SchemaArtifact, _schema),
    "activation-contract": ArtifactKind(ContractArtifact, _contract),
    "activation-state": ArtifactKind(StateArtifact, _activation_state, (FUNNEL,)),
    "activation-timeline": ArtifactKind(TimelineArtifact, _timeline, (DAYS,)),
    "cohort-contract": ArtifactKind(ContractArtifact, _contract),
    "launch-status": ArtifactKind(StateArtifact, _launch_status, (FUNNEL,)),
    "first-mission-pack": ArtifactKind(MissionsArtifact, _missions),
    "intake-template": ArtifactKind(TemplateArtifact, _templates),
    "registration-contract": ArtifactKind(ContractArtifact, _contract),
}
"""Kinds by the last part of the path."""
