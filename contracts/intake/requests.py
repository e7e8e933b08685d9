"""Defines the registrations of agents, people and enterprises: a model per lane, and the consent that all require."""

from enum import StrEnum
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema

from contracts.addresses import address_of
from contracts.base import Document
from contracts.intake.formats import (
    LONGEST_LINE,
    OPTIONAL_LINE_PATTERN,
    Email,
    EndpointUri,
    Identifier,
    Instant,
    Line,
    LineOrNothing,
    Name,
    Offer,
    ProofUri,
    TextOrNothing,
    UseCase,
)

CONSENT_VERSION = "2026-11-21"
"""The published version of the consent. It applies if a request names no version."""

PUBLISHED_CONSENT_VERSIONS = frozenset({CONSENT_VERSION})
"""Every version that was ever published. Any other version may be a typing error and is unverified."""

DEFAULT_SOURCE = "api"
MOST_WORLD_SOURCES = 8
MOST_EXECUTION_SURFACES = 6


class Lane(StrEnum):
    """The kind of sender."""

    AGENT = "agent"
    HUMAN = "human"
    ENTERPRISE = "enterprise"


Assistant = Literal["codex", "claude-code", "gemini", "grok", "custom"]
ExperiencePath = Literal["new_to_agents", "existing_agent_operator"]
LaunchPath = Literal["/create-my-agent", "/upgrade-my-agent", "/launch-builder"]

ASSISTANTS: tuple[Assistant, ...] = get_args(Assistant)


def _must_be_true(value: Any) -> Any:
    if value is not True:
        raise ValueError("must be true")
    return value


def _as_object(value: Any) -> Any:
    if value is True:
        return {"accepted": True}
    if not isinstance(value, dict):
        raise ValueError("must be true, or an object whose `accepted` is true")
    return value


class GivenConsent(Document):
    """Consent with its time and the version of the text."""

    accepted: Annotated[Literal[True], BeforeValidator(_must_be_true)]
    at: Instant | None = None
    policy_version: LineOrNothing | None = None


_NULLABLE = {"type": "null"}
_CONSENT_SCHEMA = {
    "title": "ConsentPayload",
    "description": "`true`, or an object with the time and the accepted version",
    "anyOf": [
        {"type": "boolean", "const": True},
        {
            "type": "object",
            "additionalProperties": False,
            "required": ["accepted"],
            "properties": {
                "accepted": {"type": "boolean", "const": True},
                "at": {"anyOf": [{"type": "string", "format": "date-time"}, _NULLABLE]},
                "policyVersion": {
                    "anyOf": [
                        {"type": "string", "maxLength": LONGEST_LINE, "pattern": OPTIONAL_LINE_PATTERN},
                        _NULLABLE,
                    ]
                },
            },
        },
    ],
}

Consent = Annotated[GivenConsent, BeforeValidator(_as_object), WithJsonSchema(_CONSENT_SCHEMA)]


class _Intake(Document):
    consent: Consent
    consent_at: Instant | None = Field(default=None, description="When consent was given; default: on receipt")
    consent_version: LineOrNothing | None = Field(
        default=None, description="Accepted version; default: the published one"
    )
    source: Annotated[LineOrNothing, AfterValidator(lambda line: line or DEFAULT_SOURCE)] = Field(
        default=DEFAULT_SOURCE, description="Where the request comes from"
    )


class AgentIntake(_Intake):
    """An agent that offers a service. Its URIs are stored as text and never fetched."""

    lane: Literal["agent"]
    agent_id: Identifier
    service_offer: Offer
    endpoint: EndpointUri
    runtime: LineOrNothing | None = None
    wallet: LineOrNothing | None = Field(
        default=None, description="Stored unchanged; `normalized.unverified` lists it if it is not an address"
    )
    rail: LineOrNothing | None = None
    domain: LineOrNothing | None = None
    type: LineOrNothing | None = None
    sector: LineOrNothing | None = None
    agent_contact: LineOrNothing | None = None
    proof: ProofUri | None = None


class HumanIntake(_Intake):
    """A person who wants an agent, or has one."""

    lane: Literal["human"]
    name: Name
    use_case: UseCase
    telegram: Name = Field(description="A messaging handle")
    agent_name: LineOrNothing | None = None
    role: LineOrNothing | None = None
    workspace_name: LineOrNothing | None = None
    operator_scope: LineOrNothing | None = None
    model_provider: LineOrNothing | None = None
    model_access: LineOrNothing | None = None
    governance_mode: LineOrNothing | None = None
    runtime_profile: LineOrNothing | None = None
    activation_preference: LineOrNothing | None = None
    billing_readiness: LineOrNothing | None = None
    first_mission: TextOrNothing | None = None
    twitter: LineOrNothing | None = None
    assistant_id: Assistant | None = None
    experience_path: ExperiencePath | None = None
    launch_path: LaunchPath | None = None
    world_sources: list[Line] | None = Field(default=None, max_length=MOST_WORLD_SOURCES)
    execution_surfaces: list[Line] | None = Field(default=None, max_length=MOST_EXECUTION_SURFACES)
    email: Email | None = None


class EnterpriseIntake(_Intake):
    """An organization, represented by a contact person."""

    lane: Literal["enterprise"]
    org_name: Name
    contact_full_name: Name
    contact_role: Name
    contact_email: Email
    use_case: UseCase
    contact_name: Name | None = None
    team_size: LineOrNothing | None = None
    telegram: LineOrNothing | None = None


IntakeRequest = Annotated[AgentIntake | HumanIntake | EnterpriseIntake, Field(discriminator="lane")]
AnyIntake = AgentIntake | HumanIntake | EnterpriseIntake

CONTACT_FIELDS = ("email", "telegram", "twitter", "agent_contact", "contact_email", "contact_name")
"""Contact data. It is never in an answer, a log, a published file or the warehouse."""

PERSON_FIELDS = ("name", "contact_full_name", "contact_role")
"""Names and roles of people, stored with the contact data. At most the holder of the intake's id sees them."""

_COMMON_FIELDS = ("lane", "consent", "consent_at", "consent_version", "source")


def details_of(request: AnyIntake) -> dict[str, Any]:
    """Returns the lane's fields that were sent, by their names on the wire, without contact data and names."""
    excluded = {*CONTACT_FIELDS, *PERSON_FIELDS, *_COMMON_FIELDS}
    return request.model_dump(mode="json", by_alias=True, exclude=excluded, exclude_none=True)


def person_of(request: AnyIntake) -> dict[str, Any]:
    """Returns the contact data and names that were sent, by their names on the wire."""
    return request.model_dump(mode="json", by_alias=True, include={*CONTACT_FIELDS, *PERSON_FIELDS}, exclude_none=True)


def unverified_fields(details: dict[str, Any], consent_version: str) -> list[str]:
    """Returns the names of stored fields whose content is not recognised.

    Such content is never used: a consent version that was never published, or a wallet that is not a valid address.
    """
    unverified = [] if consent_version in PUBLISHED_CONSENT_VERSIONS else ["consentVersion"]
    if "wallet" in details:
        try:
            address_of(details["wallet"])
        except ValueError:
            unverified.append("wallet")
    return unverified


def identity_of(request: AnyIntake) -> str:
    """Returns the text that two requests of one sender have in common within a lane. It is no proof of identity."""
    match request:
        case AgentIntake():
            return request.agent_id.strip().casefold()
        case HumanIntake():
            return request.telegram.strip().lstrip("@").casefold()
        case EnterpriseIntake():
            return request.contact_email.casefold()
