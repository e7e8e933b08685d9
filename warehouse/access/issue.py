"""Redeems a quote in one transaction: claim, key and receipt are all created, or none is."""

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from contracts.access.api_keys import ApiKey, new_key
from contracts.access.cases import CaseState
from contracts.access.claims import ANSWER_KEPT, Claim, Paid, receipt_body, receipt_json
from contracts.access.matching import Match
from contracts.access.quotes import Quote, entitlement_of, owner_of
from contracts.access.rail import PaymentRail
from contracts.access.signing import JWKS_PATH, SigningKey
from contracts.canonical import sha256_hex
from contracts.sealing import seal
from contracts.secrets import DerivedSecrets
from warehouse.access.cases import case_at, move_case
from warehouse.access.claims import CLAIM_CHANGED, KeptReceipt, close_quote
from warehouse.access.keys import IssuedKey, create_key, forget_sealed_keys
from warehouse.intake.intakes import activate_by_claim
from warehouse.ledger.ledger import Transaction, utc_text
from warehouse.ledger.records import columns_of


@dataclass(frozen=True, slots=True)
class Issuer:
    """The settings and secrets that issuing a claim needs."""

    rail: PaymentRail
    base_url: str
    secrets: DerivedSecrets = field(repr=False)
    signer: SigningKey


@dataclass(frozen=True, slots=True)
class Issued:
    """A newly issued claim. The key's text exists only here and in repeated answers to the same request.

    A claim of a single call has no key.
    """

    claim: Claim
    issued_key: IssuedKey | None
    receipt: KeptReceipt

    @property
    def key(self) -> ApiKey:
        assert self.issued_key is not None
        return self.issued_key.key

    @property
    def key_id(self) -> str:
        assert self.issued_key is not None
        return self.issued_key.record.key_id


def issue_claim(
    tx: Transaction,
    issuer: Issuer,
    quote: Quote,
    match: Match,
    transaction_hash: str,
    *,
    now: datetime,
    idempotency_digest: str | None = None,
    request_digest: str | None = None,
    further: Sequence[Paid] = (),
    cases_become: CaseState = "claimed",
    operator_proven: bool = False,
) -> Issued:
    """Redeems `quote` with the transfer in `match` and `further` transfers that paid the rest.

    The key belongs to the payer, or to the operator if it has proven itself. A quote or transfer that was used before
    violates a constraint; callers check both in the same transaction.
    """
    paid = [Paid(quote.quote_id, transaction_hash, match), *further]
    entitlement = entitlement_of(quote)
    claim = Claim(
        claim_id=f"claim_{secrets.token_hex(16)}",
        receipt_id=f"rcpt_{secrets.token_hex(16)}",
        quote_id=quote.quote_id,
        plan_id=quote.plan_id,
        tier=entitlement.tier,
        payer=quote.payer,
        operator=quote.operator,
        owner=owner_of(quote, operator_proven=operator_proven),
        agent_id=quote.agent_id,
        user_id=quote.user_id,
        chain_id=issuer.rail.chain_id,
        transaction_hash=transaction_hash,
        log_position=match.transfer.position,
        amount=sum(payment.match.transfer.amount for payment in paid),
        block_number=match.block.number,
        block_hash=match.block.hash,
        state="issued",
        issued_at=now,
        changed_at=now,
        access_expires_at=entitlement.expires_at(now),
        final=False,
    )
    _insert(tx, claim, idempotency_digest, request_digest)
    for payment in paid:
        _use(tx, claim, payment, cases_become, now=now)
    issued = None if not entitlement.with_key else _create_key(tx, issuer, claim, keep_sealed=bool(idempotency_digest))
    body = receipt_json(
        receipt_body(
            claim,
            paid,
            key_id=None if issued is None else issued.record.key_id,
            key_hint=None if issued is None else issued.key.redacted,
            rail=issuer.rail,
            base_url=issuer.base_url,
            keys_url=issuer.base_url + JWKS_PATH,
        )
    )
    receipt_hash = sha256_hex(body.encode())
    receipt = KeptReceipt(body, receipt_hash, issuer.signer.sign(receipt_hash))
    tx.run(
        "access_insert_receipt",
        receipt_id=claim.receipt_id,
        claim_id=claim.claim_id,
        body_json=receipt.body_json,
        receipt_hash=receipt.receipt_hash,
        signature_json=json.dumps(receipt.signature),
    )
    tx.changed(CLAIM_CHANGED, claim.claim_id)
    activate_by_claim(tx, agent_id=claim.agent_id, user_id=claim.user_id, claim_id=claim.claim_id, payer=claim.payer)
    forget_sealed_keys(tx, now - ANSWER_KEPT)
    return Issued(claim, issued, receipt)


def _create_key(tx: Transaction, issuer: Issuer, claim: Claim, *, keep_sealed: bool) -> IssuedKey:
    key = new_key(claim.tier)
    return create_key(
        tx,
        issuer.secrets.pepper,
        tier=claim.tier,
        owner=claim.owner,
        now=claim.issued_at,
        claim_id=claim.claim_id,
        paid_until=claim.access_expires_at,
        key=key,
        sealed=seal(issuer.secrets.sealing_key, key.reveal(), claim.claim_id) if keep_sealed else None,
    )


def _use(tx: Transaction, claim: Claim, paid: Paid, case_becomes: CaseState, *, now: datetime) -> None:
    """Assigns a transfer to the claim, so that no other claim can use it, and closes its quote and case."""
    transfer, block = paid.match.transfer, paid.match.block
    tx.run(
        "access_insert_payment",
        claim_id=claim.claim_id,
        quote_id=paid.quote_id,
        chain_id=claim.chain_id,
        transaction_hash=paid.transaction_hash,
        log_position=transfer.position,
        amount=transfer.amount,
        block_number=block.number,
        block_hash=block.hash,
        changed_at=utc_text(now),
    )
    close_quote(tx, paid.quote_id)
    case = case_at(tx, claim.chain_id, paid.transaction_hash, transfer.position)
    if case is not None:
        move_case(tx, case, case_becomes, now=now)


def _insert(tx: Transaction, claim: Claim, idempotency_digest: str | None, request_digest: str | None) -> None:
    tx.run(
        "access_insert_claim",
        **columns_of(claim),
        idempotency_digest=idempotency_digest,
        request_digest=request_digest,
    )
