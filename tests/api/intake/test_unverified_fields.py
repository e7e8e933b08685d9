"""Unverifiable fields of a registration are accepted, marked and never used; a consent dated in the future is refused
(P5)."""

from datetime import UTC, datetime, timedelta

import pytest
from intakes import AGENT, HUMAN, INTAKE, get, register
from keyed_service import serving

from contracts.intake.requests import CONSENT_VERSION
from warehouse.intake.rights import export_intake
from warehouse.ledger.ledger import open_ledger

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)
CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"


@pytest.fixture
def service(ledger_settings):
    with serving(ledger_settings.model_copy(update={"rate_limit_per_minute": 0})) as opened:
        opened.stores._ledger = open_ledger(opened.settings, opened.settings.data_dir, clock=lambda: NOW)
        yield opened


@pytest.mark.parametrize(
    ("sent", "unverified"),
    [
        ({}, []),
        ({"consentVersion": CONSENT_VERSION}, []),
        ({"consent": {"accepted": True, "policyVersion": CONSENT_VERSION}}, []),
        ({"consent": {"accepted": True, "policyVersion": "1999-01-01"}}, ["consentVersion"]),
        ({"consentVersion": f" {CONSENT_VERSION}"}, ["consentVersion"]),
        ({"wallet": CHECKSUMMED}, []),
        ({"wallet": CHECKSUMMED.lower()}, []),
        ({"wallet": CHECKSUMMED.replace("aA", "AA")}, ["wallet"]),
        ({"wallet": "not a wallet"}, ["wallet"]),
        ({"wallet": CHECKSUMMED + "00", "consentVersion": "1999-01-01"}, ["consentVersion", "wallet"]),
    ],
)
def test_unrecognised_values_are_accepted_and_marked_for_their_sender_and_the_operator(service, sent, unverified):
    answer = register(service, AGENT | sent)
    assert answer.status_code == 201, answer.text
    assert answer.json()["normalized"]["unverified"] == unverified
    status = get(service, f"{INTAKE}/{answer.json()['id']}")
    assert status.json()["normalized"] == answer.json()["normalized"]
    with service.ledger.read() as reader:
        assert export_intake(reader, answer.json()["id"])["unverified"] == unverified


@pytest.mark.parametrize(
    ("sent", "pointers"),
    [
        ({"consentAt": NOW + timedelta(seconds=61)}, ["/consentAt"]),
        ({"consentAt": datetime(2099, 1, 1, tzinfo=UTC)}, ["/consentAt"]),
        ({"consent": {"accepted": True, "at": NOW + timedelta(days=1)}}, ["/consent/at"]),
        (
            {"consentAt": NOW, "consent": {"accepted": True, "at": NOW + timedelta(seconds=61)}},
            ["/consent/at"],
        ),
    ],
)
def test_a_consent_of_the_future_is_refused_and_nothing_is_kept(service, sent, pointers):
    refused = register(service, HUMAN | as_texts(sent))
    assert (refused.status_code, refused.json()["code"]) == (400, "body_invalid")
    assert [error["pointer"] for error in refused.json()["errors"]] == pointers
    assert "leave it out" in refused.json()["detail"]
    with service.ledger.read() as reader:
        assert reader.head() == 0


@pytest.mark.parametrize("ahead_s", [-86_400, 0, 60])
def test_a_clock_that_is_a_minute_ahead_is_accepted_and_never_puts_consent_after_receipt(service, ahead_s):
    answer = register(service, HUMAN | as_texts({"consentAt": NOW + timedelta(seconds=ahead_s)})).json()
    wanted = min(NOW, NOW + timedelta(seconds=ahead_s))
    assert answer["consentAt"] == wanted.strftime("%Y-%m-%dT%H:%M:%SZ")


def as_texts(sent: dict) -> dict:
    return {
        name: as_texts(value)
        if isinstance(value, dict)
        else value.isoformat()
        if isinstance(value, datetime)
        else value
        for name, value in sent.items()
    }
