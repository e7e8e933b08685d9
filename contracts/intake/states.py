"""The states of an intake and how one follows another. Every step goes forward, but suspension, which can be lifted,
and approval, which can be taken back."""

from __future__ import annotations

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
    """The three states that an intake is in at one time."""

    current: CurrentState
    review: ReviewState
    activation: ActivationState

    @property
    def is_paid(self) -> bool:
        """Whether a paid claim has named it, even where the payment has left the chain since."""
        return self.activation in ("activated", "suspended")

    @property
    def public_launch(self) -> PublicLaunch:
        """Who may meet it: nobody before the review, a cohort after it, everybody once it is paid for too."""
        if self.review != "approved":
            return "closed"
        return "open" if self.activation == "activated" else "cohort"


PROVISIONED = States("provisioned", "pending_review", "not_started")
"""Where an accepted intake stands: its capsule is made in the transaction that keeps it."""

AWAITED = States("awaiting_activation", "approved", "awaiting_payment")
"""Where an approved intake stands that nobody has paid for."""


def approved(states: States) -> States:
    """An operator has approved it: it waits for its payment, where that has not come."""
    return replace(states, review="approved") if states.is_paid else AWAITED


def changes_requested(states: States) -> States:
    """An operator wants something changed, which comes by another request: an approval before it is taken back."""
    return replace(states if states.is_paid else PROVISIONED, review="changes_requested")


def activated(states: States) -> States:
    """A paid claim names it."""
    return replace(states, current="active", activation="activated")


def suspended(states: States) -> States:
    """The payment has left the chain."""
    return replace(states, activation="suspended") if states.activation == "activated" else states


def reinstated(states: States) -> States:
    """The payment is back."""
    return replace(states, activation="activated") if states.activation == "suspended" else states


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the trail."""

    name: StepName
    at: datetime


@dataclass(frozen=True, slots=True)
class IntakeRecord:
    """An intake as it stands. `details` is what was sent without contact and person; `shown_person` the names that the
    interface puts into a summary."""

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
