"""Defines the states of an intake and its transitions.

Steps only move forward, except that a suspension can be lifted and an approval withdrawn.

Example: received and provisioned in one transaction -> an operator approves (awaiting_activation) -> a paid claim
activates (active) -> the payment leaves the chain (suspended) -> the payment returns (activated). A claim may also
activate before any review; the public launch then waits for the approval.
"""

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from contracts.intake.requests import Lane

CurrentState = Literal["received", "provisioned", "awaiting_activation", "active"]
ReviewState = Literal["pending_review", "approved", "changes_requested"]
ActivationState = Literal["not_started", "awaiting_payment", "activated", "suspended"]
PublicLaunch = Literal["closed", "cohort", "open"]
SelfServe = Literal["enabled", "disabled"]
StepName = Literal[
    "received", "provisioned", "review_approved", "changes_requested", "activated", "suspended", "reinstated"
]


@dataclass(frozen=True, slots=True)
class States:
    """The three states of an intake at one time."""

    current: CurrentState
    review: ReviewState
    activation: ActivationState

    @property
    def is_paid(self) -> bool:
        """Returns whether a paid claim has named it, even if the payment has left the chain since."""
        return self.activation in ("activated", "suspended")

    @property
    def public_launch(self) -> PublicLaunch:
        """Returns the audience: nobody before the review, a cohort after it, everybody once it is also paid."""
        if self.review != "approved":
            return "closed"
        return "open" if self.activation == "activated" else "cohort"


PROVISIONED = States("provisioned", "pending_review", "not_started")
"""The states of an accepted intake. One transaction stores it and creates its capsule."""

AWAITED = States("awaiting_activation", "approved", "awaiting_payment")
"""The states of an approved intake without a payment."""


def approved(states: States) -> States:
    """Returns the states after an operator's approval. Without a payment, the intake waits for it."""
    return replace(states, review="approved") if states.is_paid else AWAITED


def changes_requested(states: States) -> States:
    """Returns the states after an operator requested changes, to be sent in another request. Withdraws an approval."""
    return replace(states if states.is_paid else PROVISIONED, review="changes_requested")


def activated(states: States) -> States:
    return replace(states, current="active", activation="activated")


def suspended(states: States) -> States:
    return replace(states, activation="suspended") if states.activation == "activated" else states


def reinstated(states: States) -> States:
    return replace(states, activation="activated") if states.activation == "suspended" else states


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the trail."""

    name: StepName
    at: datetime


@dataclass(frozen=True, slots=True)
class IntakeRecord:
    """The current state of an intake.

    `details` contains the sent fields without contact data and names. `shown_person` contains the names that a summary
    may show.
    """

    intake_id: str
    lane: Lane
    source: str
    received_at: datetime
    consent_at: datetime
    consent_version: str
    profile_id: str
    states: States
    changed_at: datetime
    details: dict[str, Any]
    shown_person: dict[str, Any] = field(repr=False)
    steps: tuple[Step, ...] = ()
