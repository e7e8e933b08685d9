"""Defines the answers about intakes: registration, status, capsule, statistics and recent activity."""

from typing import Annotated, Any, Literal

from pydantic import Field

from contracts.base import Document, Timestamp
from contracts.intake.requests import Assistant, ExperiencePath, Lane, LaunchPath
from contracts.intake.states import ActivationState, CurrentState, PublicLaunch, ReviewState, SelfServe, StepName

Uri = Annotated[str, Field(json_schema_extra={"format": "uri"})]
ItemState = Literal["captured", "defined", "pending_input", "pending_review"]
ReadinessState = Literal["ready", "action_required", "pending", "not_required"]

LONGEST_ERASE_TOKEN = 200

CAPSULE_ARTIFACT: Literal["svc.intake.capsule"] = "svc.intake.capsule"


class HumanSummary(Document):
    """A person's request. The runtime profile fills in missing fields; `normalized.defaulted` names them."""

    headline: str
    assistant_id: Assistant
    experience_path: ExperiencePath
    launch_path: LaunchPath
    runtime_profile: str
    runtime_label: str
    workspace_name: str
    operator_scope: str
    governance_mode: str
    model_provider: str
    model_access: str
    activation_preference: str
    billing_readiness: str
    first_mission: str
    price_shape: str
    world_sources: list[str]
    execution_surfaces: list[str]


class AgentSummary(Document):
    """An agent's request."""

    headline: str
    runtime: str
    agent_id: str
    service_offer: str
    endpoint: Uri


class EnterpriseSummary(Document):
    """An enterprise's request."""

    headline: str
    org_name: str
    contact_full_name: str
    team_size: str
    use_case: str


class IntakeCommercialModel(Document):
    """The billing mode of set-up, runtime and usage."""

    price_shape: str
    setup: Literal["one_time"] = "one_time"
    runtime: Literal["recurring"] = "recurring"
    usage: Literal["metered"] = "metered"


class IntakeLinks(Document):
    """Links to everything about the intake."""

    app: Uri
    intake_status: Uri
    provisioning_capsule: Uri
    resume_app: Uri
    registration_contract: Uri
    launch_status: Uri
    pricing_artifact: Uri
    billing_contract: Uri
    first_mission_pack: Uri
    plans_artifact: Uri
    auth_contract: Uri
    auth_state: Uri
    entitlements_artifact: Uri
    entitlements_state: Uri
    provisioning_schema: Uri
    activation_contract: Uri
    activation_state: Uri
    activation_package: Uri = Field(description="Within the capsule, by a JSON pointer")
    launch_checklist: Uri = Field(description="Within the capsule, by a JSON pointer")
    cohort_contract: Uri
    activation_timeline: Uri
    intake_template: Uri


class TrailStep(Document):
    """One step of the trail."""

    step: StepName
    at: Timestamp


class ProvisioningTrail(Document):
    """The state of the intake, the steps that led there, and the next steps."""

    current_state: CurrentState
    steps: list[TrailStep]
    next_steps: list[str]
    commercial_model: IntakeCommercialModel | None
    links: IntakeLinks


class ActivationPackage(Document):
    """The configuration of the runtime, according to its profile."""

    profile_id: str
    profile_label: str
    workspace_boundary: str
    workspace_boundary_note: str
    operator_scope: str
    governance_boundary: str
    governance_boundary_note: str
    first_mission: str
    first_delivery: str
    first_delivery_note: str
    receipt_surface: str
    receipt_surface_note: str
    included_entitlements: list[str]
    included_entitlements_note: str
    activation_review: str
    activation_review_note: str
    billing_mode: str
    billing_note: str
    world_sources: list[str]
    execution_surfaces: list[str]


class ChecklistCounts(Document):
    """Number of items in each state."""

    captured: int = Field(ge=0)
    defined: int = Field(ge=0)
    pending_input: int = Field(ge=0)
    pending_review: int = Field(ge=0)


class ChecklistItem(Document):
    """One item: sent (`captured`), filled in by the profile (`defined`), or missing."""

    id: str
    label: str
    state: ItemState
    summary: str
    next: str


class LaunchChecklist(Document):
    """Available and missing items."""

    profile_id: str
    profile_label: str
    review_state: ReviewState
    counts: ChecklistCounts
    items: list[ChecklistItem]


class ReadinessItem(Document):
    """The state of one requirement, and the step that fulfils it."""

    state: ReadinessState
    next: str
    note: str


class IntakeReadiness(Document):
    """The requirements of a working runtime."""

    auth: ReadinessItem
    entitlements: ReadinessItem
    billing: ReadinessItem
    activation: ReadinessItem


class IntakeActivationStatus(Document):
    """The states of review and activation."""

    review_state: ReviewState
    activation_state: ActivationState
    public_launch: PublicLaunch
    self_serve_activation: SelfServe


class IntakeFields(Document):
    """The fields that all answers about one intake share."""

    ok: Literal[True] = True
    id: str
    intake_id: str
    lane: Lane
    source: str
    received_at: Timestamp
    consent_at: Timestamp = Field(description="As stated in the request, but not after receipt")
    summary: HumanSummary | AgentSummary | EnterpriseSummary
    normalized: dict[str, Any] = Field(
        description="The sent fields, without contact data and names of persons; `defaulted` lists the fields from the "
        "profile, `consentVersion` is the accepted version, `unverified` lists fields that are stored as sent but not "
        "recognised, and therefore not used: a never published consent version, a wallet that is not an address"
    )
    provisioning_trail: ProvisioningTrail
    activation_package: ActivationPackage
    launch_checklist: LaunchChecklist
    readiness: IntakeReadiness


TokenState = Literal["shown", "no_longer_shown"]


class IntakeResponse(IntakeFields):
    """An intake as it was registered."""

    erase_token: str | None = Field(
        description="Erases the intake for its holder: store it separately from the id. Only in the first answer and "
        "its replays within ten minutes; null in later ones"
    )
    erase_token_state: TokenState = Field(description="`no_longer_shown`: the replay came too late to repeat the token")
    erase_url: Uri = Field(description="POST the erase token here to delete the stored data of the intake")


class IntakeEraseRequest(Document):
    """The token from the registration's answer."""

    erase_token: str = Field(min_length=1, max_length=LONGEST_ERASE_TOKEN)


class IntakeErased(Document):
    """An erased intake. Only its lane, profile, UTC day and states remain."""

    ok: Literal[True] = True
    intake_id: str
    erased: Literal[True] = True


class IntakeStatusResponse(IntakeFields):
    """The current state of an intake."""

    activation: IntakeActivationStatus


class IntakeProvisioningCapsule(IntakeStatusResponse):
    """An intake as an artifact. It remains the same until the intake changes."""

    artifact: Literal["svc.intake.capsule"] = CAPSULE_ARTIFACT
    version: str = Field(description="1.N, with N steps of the trail")
    generated_at: Timestamp = Field(description="Time of the last change")


class LaneCounts(Document):
    """Registrations of one lane, including erased ones."""

    registrations: int
    distinct: int = Field(description="Without repeated registrations of the same identity")
    approved: int
    active: int


class CountsByLane(Document):
    """Registrations of each lane."""

    agent: LaneCounts
    human: LaneCounts
    enterprise: LaneCounts


class DayCounts(Document):
    """Registrations of one UTC day."""

    day: str = Field(json_schema_extra={"format": "date"})
    agent: int
    human: int
    enterprise: int


class IntakeStats(Document):
    """Statistics of registrations."""

    ok: Literal[True] = True
    total: int
    by_lane: CountsByLane
    by_day: list[DayCounts] = Field(description="Days with registrations among the last thirty, newest first")


class RecentIntake(Document):
    """One registration without anything that identifies its sender."""

    lane: Lane
    day: str = Field(json_schema_extra={"format": "date"})
    profile_id: str
    current_state: CurrentState


class RecentIntakes(Document):
    """The newest registrations, newest day first and by lane within a day."""

    ok: Literal[True] = True
    items: list[RecentIntake]
