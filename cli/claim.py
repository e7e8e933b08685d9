"""`svc claim`: redeem a paid quote; for the operator, claims and money that no claim uses."""

from __future__ import annotations

from typing import Any

from cli.environment import effective_settings
from cli.output import operator_problems, print_json, say
from cli.purchase import redeem
from cli.stores import opened_ledger
from contracts.access.claims import Claim
from contracts.errors import OperatorProblem
from warehouse.access.claims import find_claim
from warehouse.access.keys import alive_key_of_claim


class ClaimNotHere(OperatorProblem):
    """No claim with this id in the ledger."""

    code = "claim_not_here"


def claim(quote_id: str | None, transaction: str | None, wait: float, as_json: bool) -> None:
    """Redeem a paid quote: ask until the payment is settled, and print the API key."""
    with operator_problems(as_json):
        redeem(effective_settings(), quote_id, transaction, wait, as_json)


def show(claim_id: str, as_json: bool) -> None:
    """Show a claim: its state, its payment and the state of its key."""
    with operator_problems(as_json), opened_ledger() as (_, ledger), ledger.read() as reader:
        found = find_claim(reader, claim_id)
        if found is None:
            raise ClaimNotHere(f"No claim {claim_id} is in this ledger.", cure="A receipt names the id of its claim.")
        key = alive_key_of_claim(reader, claim_id)
    described = _described(found) | {
        "keyId": key and key.key_id,
        "keyHint": key and key.hint,
        "keyState": "revoked" if key is None else key.state,
    }
    if as_json:
        print_json({"ok": True, **described})
        return
    for name, value in described.items():
        say(f"{name:16} {value}")


def _described(found: Claim) -> dict[str, Any]:
    return {
        "claimId": found.claim_id,
        "receiptId": found.receipt_id,
        "quoteId": found.quote_id,
        "planId": found.plan_id,
        "tier": found.tier,
        "state": found.state,
        "final": found.final,
        "payer": found.payer,
        "operator": found.operator,
        "owner": found.owner,
        "chainId": found.chain_id,
        "transactionHash": found.transaction_hash,
        "logPosition": found.log_position,
        "blockNumber": found.block_number,
        "amountUnits": str(found.amount),
        "issuedAt": found.issued_at,
        "changedAt": found.changed_at,
        "accessExpiresAt": found.access_expires_at,
    }
