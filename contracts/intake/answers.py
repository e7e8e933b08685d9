"""Builds the answers about an intake for its holder. The same record always gives the same answer."""

import dataclasses
from collections import Counter
from dataclasses import dataclass
from typing import Any

from contracts.access.plans import PLANS_PATH, QUOTE_PATH
from contracts.intake.intake_documents import (
    ActivationPackage,
    AgentSummary,
    ChecklistCounts,
    ChecklistItem,
    EnterpriseSummary,
    HumanSummary,
    IntakeActivationStatus,
    IntakeCommercialModel,
    IntakeLinks,
    IntakeProvisioningCapsule,
    IntakeReadiness,
    IntakeResponse,
    IntakeStatusResponse,
    ItemState,
    LaunchChecklist,
    ProvisioningTrail,
    ReadinessItem,
    TrailStep,
)
from contracts.intake.links import artifact_url, page_url
from contracts.intake.profiles import ChecklistRow, Profile, load_checklist, load_profiles
from contracts.intake.requests import Lane, unverified_fields
from contracts.intake.states import IntakeRecord

INTAKE_PATH = "/api/intake"
STATUS_PATH = "/api/intake/{intakeId}"
CAPSULE_PATH = "/api/intake/{intakeId}/capsule"
ERASE_PATH = "/api/intake/{intakeId}/erase"

PRICE_SHAPE = "one-time set-up, recurring runtime, metered usage"


@dataclass(frozen=True, slots=True)
class ServiceUrls:
    """The public URLs of the service and of its companion application, without a trailing slash.

    `app_url` is None without a companion application. `payments_live` is True if a client can pay here.
    """

    base_url: str
    app_url: str | None
    payments_live: bool = False


def registered(record: IntakeRecord, urls: ServiceUrls, erase_token: str | None) -> IntakeResponse:
    """Returns the answer to a registration. A late replay has no token."""
    return IntakeResponse(
        **_fields(record, urls),
        erase_token=erase_token,
        erase_token_state="no_longer_shown" if erase_token is None else "shown",
        erase_url=urls.base_url + ERASE_PATH.replace("{intakeId}", record.intake_id),
    )


def status(record: IntakeRecord, urls: ServiceUrls) -> IntakeStatusResponse:
    return IntakeStatusResponse(**_fields(record, urls), activation=_activation(record, urls))


def capsule(record: IntakeRecord, urls: ServiceUrls) -> IntakeProvisioningCapsule:
    return IntakeProvisioningCapsule(
        **_fields(record, urls),
        activation=_activation(record, urls),
        version=f"1.{len(record.steps)}",
        generated_at=record.changed_at,
    )


def _fields(record: IntakeRecord, urls: ServiceUrls) -> dict[str, Any]:
    profile = load_profiles()[record.profile_id]
    fields = {**profile.defaults, **record.details}
    fields.setdefault("firstMission", profile.first_mission)
    return {
        "id": record.intake_id,
        "intake_id": record.intake_id,
        "lane": record.lane,
        "source": record.source,
        "received_at": record.received_at,
        "consent_at": record.consent_at,
        "summary": _summary(record, profile, fields),
        "normalized": {
            **record.details,
            "profileId": profile.id,
            "consentVersion": record.consent_version,
            "unverified": unverified_fields(record.details, record.consent_version),
            "defaulted": sorted(set(profile.defaults) - set(record.details)),
        },
        "provisioning_trail": ProvisioningTrail(
            current_state=record.states.current,
            steps=[TrailStep(step=step.name, at=step.at) for step in record.steps],
            next_steps=_next_steps(record, urls),
            commercial_model=IntakeCommercialModel(price_shape=PRICE_SHAPE),
            links=links_of(record, urls),
        ),
        "activation_package": _activation_package(profile, fields),
        "launch_checklist": _checklist(record, profile),
        "readiness": _readiness(record, urls),
    }


def _summary(
    record: IntakeRecord, profile: Profile, fields: dict[str, Any]
) -> HumanSummary | AgentSummary | EnterpriseSummary:
    match record.lane:
        case Lane.AGENT:
            return AgentSummary(
                headline=f"Agent {fields['agentId']} offers a service",
                runtime=fields["runtime"],
                agent_id=fields["agentId"],
                service_offer=fields["serviceOffer"],
                endpoint=fields["endpoint"],
            )
        case Lane.ENTERPRISE:
            return EnterpriseSummary(
                headline=f"{fields['orgName']} wants a workspace",
                org_name=fields["orgName"],
                contact_full_name=record.shown_person["contactFullName"],
                team_size=fields["teamSize"],
                use_case=fields["useCase"],
            )
        case Lane.HUMAN:
            named = {name: fields[wire] for name, wire in _HUMAN_FIELDS.items()}
            return HumanSummary(
                headline=f"{fields.get('agentName', 'A personal agent')} by {fields['assistantId']}: {profile.label}",
                runtime_profile=fields.get("runtimeProfile", profile.id),
                runtime_label=profile.label,
                price_shape=PRICE_SHAPE,
                **named,
            )


_HUMAN_FIELDS = {
    name: wire.serialization_alias or name
    for name, wire in HumanSummary.model_fields.items()
    if name not in ("headline", "runtime_profile", "runtime_label", "price_shape")
}


def links_of(record: IntakeRecord, urls: ServiceUrls) -> IntakeLinks:
    """Returns all links of the interface for one intake."""
    status_url = urls.base_url + STATUS_PATH.replace("{intakeId}", record.intake_id)
    capsule_url = urls.base_url + CAPSULE_PATH.replace("{intakeId}", record.intake_id)
    page = page_url(urls.base_url, urls.app_url)
    # The id opens the intake, so it belongs in the fragment, which no server's log contains.
    resume = f"{urls.app_url}{record.details.get('launchPath', '')}" if urls.app_url else page
    own = {
        "app": page,
        "intake_status": status_url,
        "provisioning_capsule": capsule_url,
        "resume_app": f"{resume}#intake={record.intake_id}",
        "activation_package": f"{capsule_url}#/activationPackage",
        "launch_checklist": f"{capsule_url}#/launchChecklist",
    }
    artifacts = {name: name.removesuffix("_artifact").replace("_", "-") for name in IntakeLinks.model_fields}
    return IntakeLinks(**{name: artifact_url(urls.base_url, artifact) for name, artifact in artifacts.items()} | own)


_OF_PROFILE = tuple(
    {field.name for field in dataclasses.fields(Profile)} & set(ActivationPackage.model_fields) - {"first_mission"}
)
"""Fields of the activation package that are the profile's own."""


def _activation_package(profile: Profile, fields: dict[str, Any]) -> ActivationPackage:
    return ActivationPackage(
        **{name: getattr(profile, name) for name in _OF_PROFILE},
        profile_id=profile.id,
        profile_label=profile.label,
        operator_scope=fields.get("operatorScope", "the key's owner"),
        first_mission=fields["firstMission"],
        included_entitlements_note=profile.entitlements_note,
        world_sources=fields.get("worldSources", []),
        execution_surfaces=fields.get("executionSurfaces", []),
    )


def _checklist(record: IntakeRecord, profile: Profile) -> LaunchChecklist:
    items = [_item(row, record) for row in load_checklist(record.lane)]
    counts = Counter(item.state for item in items)
    return LaunchChecklist(
        profile_id=profile.id,
        profile_label=profile.label,
        review_state=record.states.review,
        counts=ChecklistCounts(
            captured=counts["captured"],
            defined=counts["defined"],
            pending_input=counts["pending_input"],
            pending_review=counts["pending_review"],
        ),
        items=items,
    )


_REVIEW: dict[str, tuple[ItemState, str, str]] = {
    "pending_review": (
        "pending_review",
        "An operator has not reviewed it yet.",
        "Wait, or activate it by a paid claim.",
    ),
    "approved": ("captured", "An operator has approved it.", "Nothing."),
    "changes_requested": ("pending_input", "An operator wants it changed.", "Register again with what was missing."),
}
_ACTIVATION: dict[str, tuple[ItemState, str, str]] = {
    "activated": ("captured", "A paid claim has activated it.", "Nothing."),
    "suspended": ("pending_input", "The payment has left the chain.", "Pay again, or wait for its return."),
}
_UNPAID: tuple[ItemState, str, str] = (
    "pending_input",
    "No paid claim names it yet.",
    "Ask for a quote that names it, pay and claim.",
)


def _item(row: ChecklistRow, record: IntakeRecord) -> ChecklistItem:
    if row.kind == "review":
        state, summary, after = _REVIEW[record.states.review]
    elif row.kind == "activation":
        state, summary, after = _ACTIVATION.get(record.states.activation, _UNPAID)
    elif any(record.details.get(name) for name in row.fields):
        state, summary, after = "captured", "Sent with the request.", "Nothing."
    elif row.default:
        state, summary, after = "defined", "Taken from the runtime profile.", row.next
    else:
        state, summary, after = "pending_input", "Not sent yet.", row.next
    return ChecklistItem(id=row.id, label=row.label, state=state, summary=summary, next=after)


def _activation(record: IntakeRecord, urls: ServiceUrls) -> IntakeActivationStatus:
    states = record.states
    return IntakeActivationStatus(
        review_state=states.review,
        activation_state=states.activation,
        public_launch=states.public_launch,
        self_serve_activation="enabled" if urls.payments_live else "disabled",
    )


def _quote_field(record: IntakeRecord) -> str:
    """Returns the field by which a quote names the intake."""
    return "its agentId" if record.lane is Lane.AGENT else "its intakeId as userId"


def _next_steps(record: IntakeRecord, urls: ServiceUrls) -> list[str]:
    if record.states.activation == "activated":
        steps = ["Use the key of the activation packet with API v2.", "Follow the first mission."]
    elif record.states.activation == "suspended":
        steps = ["The payment has left the chain: wait for its return, or ask for another quote."]
    elif not urls.payments_live:
        steps = [f"Payments are not set up here: {urls.base_url}{PLANS_PATH} shows when they are."]
    else:
        steps = [
            f"Read the plans at {urls.base_url}{PLANS_PATH}.",
            f"POST {urls.base_url}{QUOTE_PATH} with {_quote_field(record)}, pay and claim.",
        ]
    if record.states.review == "pending_review":
        steps.append("An operator reviews the request; the public launch waits for it.")
    if record.states.review == "changes_requested":
        steps.append("Register again with what the operator requested.")
    return steps


def _readiness(record: IntakeRecord, urls: ServiceUrls) -> IntakeReadiness:
    quote = f"POST {urls.base_url}{QUOTE_PATH} with {_quote_field(record)}"
    match record.states.activation:
        case "activated":
            return IntakeReadiness(
                auth=_ready("The claim has issued a key."),
                entitlements=_ready("Those of the key's tier."),
                billing=_ready("The claim was paid."),
                activation=_ready("A paid claim names the intake."),
            )
        case "suspended":
            wait = ReadinessItem(state="pending", next="Wait for the payment's return.", note="The key is suspended.")
            return IntakeReadiness(
                auth=wait,
                entitlements=wait,
                billing=ReadinessItem(state="action_required", next=quote, note="The payment has left the chain."),
                activation=wait,
            )
    if not urls.payments_live:
        later = ReadinessItem(
            state="pending",
            next=f"Look at {urls.base_url}{PLANS_PATH} later.",
            note="Payments are not set up here, and only a paid claim activates.",
        )
        return IntakeReadiness(auth=later, entitlements=later, billing=later, activation=later)
    review = record.states.review
    return IntakeReadiness(
        auth=ReadinessItem(state="action_required", next=quote, note="A claim issues the key."),
        entitlements=ReadinessItem(state="pending", next="Claim a paid quote.", note="They come with the key."),
        billing=ReadinessItem(state="action_required", next=quote, note="The plans list what can be bought."),
        activation=ReadinessItem(
            state="action_required" if review != "pending_review" else "pending",
            next="Register again." if review == "changes_requested" else quote,
            note={
                "pending_review": "A paid claim activates without waiting for the review.",
                "approved": "Approved; a paid claim is still needed.",
                "changes_requested": "An operator wants something changed.",
            }[review],
        ),
    )


def _ready(note: str) -> ReadinessItem:
    return ReadinessItem(state="ready", next="Nothing.", note=note)
