"""A paid claim that names an intake moves it on, in the transaction that issues the key; a reversed one suspends it."""

from datetime import UTC, datetime

from paid_service import selling

from contracts.commerce.views import BlockView
from warehouse.access import find_claim, reinstate_claim, reverse_claim

AGENT = {
    "lane": "agent",
    "agentId": "tea-buyer",
    "serviceOffer": "Buys tea for people",
    "endpoint": "https://agent.example/a2a",
    "consent": True,
}


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
            block = BlockView(held.block_number, held.block_hash, 0)
            assert reinstate_claim(tx, held, block, now=datetime.now(UTC))
        assert states() == ("active", "activated")
