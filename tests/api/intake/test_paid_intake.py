"""A paid claim that names an intake advances it, in the transaction that issues the key; a reversed payment suspends
it."""

from datetime import UTC, datetime

import pytest
from paid_service import PAYER, STRANGER, selling

from warehouse.access.claims import find_claim, reinstate_claim, reverse_claim

AGENT = {
    "lane": "agent",
    "agentId": "tea-buyer",
    "serviceOffer": "Buys tea for people",
    "endpoint": "https://agent.example/a2a",
    "consent": True,
}


@pytest.mark.both_engines
def test_a_claim_activates_the_intake_that_its_quote_names_and_follows_its_payment(ledger_settings, anvil):
    with selling(ledger_settings, anvil) as paid:
        intake = paid.post("/api/intake", AGENT).json()["intakeId"]

        def states() -> tuple[str, str]:
            body = paid.get(f"/api/intake/{intake}").json()
            return body["provisioningTrail"]["currentState"], body["activation"]["activationState"]

        before = states()
        quote = paid.quoted(agentId="tea-buyer")
        claim = paid.claim(quote, paid.pay(quote)).json()["data"]["claim"]["claimId"]
        assert before == ("provisioned", "not_started")
        assert states() == ("active", "activated")

        ledger = paid.service.ledger
        with ledger.transaction() as tx:
            held = find_claim(tx, claim)
            assert held is not None and reverse_claim(tx, held, now=datetime.now(UTC))
        assert states()[1] == "suspended"
        with ledger.transaction() as tx:
            held = find_claim(tx, claim)
            assert held is not None
            assert reinstate_claim(tx, held, held.block_number, held.block_hash, now=datetime.now(UTC))
        assert states() == ("active", "activated")


def test_a_stranger_who_names_an_intake_neither_takes_it_over_nor_ends_it(ledger_settings, anvil):
    with selling(ledger_settings, anvil) as paid:
        intake = paid.post("/api/intake", AGENT).json()["intakeId"]
        ledger = paid.service.ledger

        def claimed(payer: str) -> str:
            quote = paid.quoted(payerAddress=payer, agentId="tea-buyer")
            return str(paid.claim(quote, paid.pay(quote, sender=payer)).json()["data"]["claim"]["claimId"])

        def reverse(claim_id: str) -> None:
            with ledger.transaction() as tx:
                held = find_claim(tx, claim_id)
                assert held is not None and reverse_claim(tx, held, now=datetime.now(UTC))

        def state() -> str:
            return str(paid.get(f"/api/intake/{intake}").json()["activation"]["activationState"])

        def recorded() -> set[str]:
            with ledger.read() as reader:
                return {
                    claim_id
                    for claim_id in (own, strangers)
                    for row in reader.rows("intake_of_claim", claim_id=claim_id)
                    if row["intake_id"] == intake
                }

        own, strangers = claimed(PAYER.address), claimed(STRANGER.address)
        assert recorded() == {own}
        reverse(strangers)
        assert state() == "activated"
        with ledger.transaction() as tx:
            held = find_claim(tx, strangers)
            assert held is not None
            reinstate_claim(tx, held, held.block_number, held.block_hash, now=datetime.now(UTC))
        reverse(own)
        assert (state(), recorded()) == ("activated", {strangers})
        reverse(strangers)
        assert state() == "suspended"
