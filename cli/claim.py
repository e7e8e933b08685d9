"""Implements `svc claim`, which redeems a paid quote, and `svc claim show` for the operator."""

from typing import Any

from cli.environment import effective_settings
from cli.output import operator_problems, print_json, say
from cli.purchase import redeem
from cli.stores import existing_ledger
from contracts.access.claims import Claim
from contracts.errors import OperatorProblem
from warehouse.access.claims import find_claim
from warehouse.access.keys import alive_key_of_claim


class ClaimNotHere(OperatorProblem):
    """The ledger contains no claim with this id."""

    code = "claim_not_here"


def claim(quote_id: str | None, transaction: str | None, wait: float, as_json: bool) -> None:
    with operator_problems(as_json):
        redeem(effective_settings(), quote_id, transaction, wait, as_json)


def show(claim_id: str, as_json: bool) -> None:
    with operator_problems(as_json), existing_ledger() as (_, ledger), ledger.read() as reader:
        record = find_claim(reader, claim_id)
        if record is None:
            raise ClaimNotHere(f"This ledger has no claim {claim_id}.", cure="A receipt names the id of its claim.")
        key = alive_key_of_claim(reader, claim_id)
    described = _claim_fields(record) | {
        "keyId": key and key.key_id,
        "keyHint": key and key.hint,
        "keyState": "revoked" if key is None else key.state,
    }
    if as_json:
        print_json({"ok": True, **described})
        return
    for name, value in described.items():
        say(f"{name:16} {value}")


def _claim_fields(record: Claim) -> dict[str, Any]:
    return {
        "claimId": record.claim_id,
        "receiptId": record.receipt_id,
        "quoteId": record.quote_id,
        "planId": record.plan_id,
        "tier": record.tier,
        "state": record.state,
        "final": record.final,
        "payer": record.payer,
        "operator": record.operator,
        "owner": record.owner,
        "chainId": record.chain_id,
        "transactionHash": record.transaction_hash,
        "logPosition": record.log_position,
        "blockNumber": record.block_number,
        "amountUnits": str(record.amount),
        "issuedAt": record.issued_at,
        "changedAt": record.changed_at,
        "accessExpiresAt": record.access_expires_at,
    }
