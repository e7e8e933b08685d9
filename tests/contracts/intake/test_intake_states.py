"""The order of an intake's states, and the instructions to its holder, with and without payments."""

from datetime import UTC, datetime

import pytest

from contracts.intake.answers import ServiceUrls, status
from contracts.intake.requests import Lane
from contracts.intake.states import (
    PROVISIONED,
    IntakeRecord,
    States,
    activated,
    approved,
    changes_requested,
    reinstated,
    suspended,
)

NOON = datetime(2026, 11, 21, 12, tzinfo=UTC)
BASE_URL = "https://agents.example"


@pytest.mark.parametrize(
    ("moves", "states", "launch"),
    [
        ([], States("provisioned", "pending_review", "not_started"), "closed"),
        ([approved], States("awaiting_activation", "approved", "awaiting_payment"), "cohort"),
        ([changes_requested], States("provisioned", "changes_requested", "not_started"), "closed"),
        ([approved, changes_requested], States("provisioned", "changes_requested", "not_started"), "closed"),
        ([changes_requested, approved], States("awaiting_activation", "approved", "awaiting_payment"), "cohort"),
        ([activated], States("active", "pending_review", "activated"), "closed"),
        ([activated, approved], States("active", "approved", "activated"), "open"),
        ([activated, changes_requested], States("active", "changes_requested", "activated"), "closed"),
        ([changes_requested, activated], States("active", "changes_requested", "activated"), "closed"),
        ([approved, activated, suspended], States("active", "approved", "suspended"), "cohort"),
        ([activated, suspended, changes_requested], States("active", "changes_requested", "suspended"), "closed"),
        ([approved, activated, suspended, reinstated], States("active", "approved", "activated"), "open"),
        ([suspended], PROVISIONED, "closed"),
        ([reinstated], PROVISIONED, "closed"),
    ],
)
def test_states_follow_what_happens(moves, states, launch):
    held = PROVISIONED
    for move in moves:
        held = move(held)
        assert move(held) == held
    assert (held, held.public_launch) == (states, launch)


def told(states: States, *, payments_live: bool):
    record = IntakeRecord(
        intake_id="0" * 32,
        lane=Lane.AGENT,
        source="api",
        received_at=NOON,
        consent_at=NOON,
        consent_version="1",
        profile_id="agent_service",
        states=states,
        changed_at=NOON,
        details={"agentId": "agent-seven", "serviceOffer": "Summaries", "endpoint": "https://agent.example/"},
        shown_person={},
    )
    return status(record, ServiceUrls(BASE_URL, None, payments_live=payments_live))


@pytest.mark.parametrize("states", [PROVISIONED, approved(PROVISIONED), changes_requested(PROVISIONED)])
def test_nobody_is_sent_to_buy_where_nothing_can_be_bought(states):
    open_, closed = told(states, payments_live=True), told(states, payments_live=False)
    assert (open_.activation.self_serve_activation, closed.activation.self_serve_activation) == ("enabled", "disabled")
    assert f"POST {BASE_URL}/api/agent-access/quote" in open_.readiness.billing.next
    assert "agent-access/quote" not in closed.model_dump_json(include={"readiness", "provisioning_trail"})
    assert {part.state for part in dict(closed.readiness).values()} == {"pending"}


def test_paid_parts_are_ready_even_if_nothing_can_be_bought_any_more():
    held = told(activated(PROVISIONED), payments_live=False)
    assert {part.state for part in dict(held.readiness).values()} == {"ready"}
