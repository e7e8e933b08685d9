"""Stores quotes, claims with their payments, receipts and leases in the ledger.

`issue.py` issues a claim; payments that no claim uses are in `cases.py`.
"""

import json
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from contracts.access.claims import Claim, ClaimState, Payment
from contracts.access.provider_views import BlockView
from contracts.access.quotes import Quote
from warehouse.access.keys import alive_key_of_claim, reinstate_key, suspend_key
from warehouse.intake.intakes import follow_claim
from warehouse.ledger.ledger import Ledger, Reader, Row, Transaction, utc_text
from warehouse.ledger.records import columns_of, record_of

QUOTE_CHANGED = "quote"
CLAIM_CHANGED = "claim"
"""The kinds under which quotes and claims are on the change feed; the entity ids are their ids."""

LEASE_FOR = timedelta(seconds=15)
"""The longest time for which a process, which may have been killed, blocks others from a claim."""

QuoteState = Literal["open", "claimed", "expired"]


@dataclass(frozen=True, slots=True)
class KeptQuote:
    """A stored quote with the signature under which it was issued."""

    quote: Quote
    signature: dict[str, str]
    state: QuoteState


@dataclass(frozen=True, slots=True)
class KeptReceipt:
    """A stored receipt: its canonical text, whose bytes are hashed, with the hash and its signature."""

    body_json: str
    receipt_hash: str
    signature: dict[str, str]


def amounts_held(tx: Transaction, payer: str, *, now: datetime) -> set[int]:
    """Returns the amounts that the payer's open quotes reserve. First closes quotes past their grace period."""
    for row in tx.rows("access_quotes_past_grace", payer=payer, now=utc_text(now)):
        tx.run("access_move_quote", quote_id=row["quote_id"], state="expired")
        tx.changed(QUOTE_CHANGED, row["quote_id"])
    return {int(row["amount"]) for row in tx.rows("access_open_amounts", payer=payer)}


def keep_quote(tx: Transaction, quote: Quote, signature: dict[str, str], *, state: QuoteState = "open") -> None:
    """Stores a new quote. It violates a constraint if the payer has another open quote with the same amount."""
    tx.run(
        "access_insert_quote",
        **columns_of(quote),
        amount_held_until=utc_text(quote.amount_held_until),
        signature_json=json.dumps(signature),
        state=state,
    )
    tx.changed(QUOTE_CHANGED, quote.quote_id)


def keep_closed_quote(tx: Transaction, quote: Quote, signature: dict[str, str]) -> None:
    """Stores a quote that an authorization pays. It can't be claimed by a plain transfer, and so reserves no amount."""
    keep_quote(tx, quote, signature, state="expired")


def find_quote(reader: Reader, quote_id: str) -> KeptQuote | None:
    """Returns the quote with this id in any state, or None. The caller checks that it is intact."""
    row = reader.row("access_quote", quote_id=quote_id)
    if row is None:
        return None
    return KeptQuote(record_of(Quote, row), json.loads(row["signature_json"]), row["state"])


def owns_key_of_plan(reader: Reader, owner: str, plan_id: str, *, now: datetime) -> bool:
    """Decides whether an owner has a valid key of a plan within its paid time."""
    return bool(reader.rows("access_keys_of_plan", owner=owner, plan_id=plan_id, now=utc_text(now)))


def close_quote(tx: Transaction, quote_id: str) -> bool:
    """Marks a quote as claimed. Returns False if it already was; the change feed gets an entry either way."""
    moved = tx.run("access_close_quote", quote_id=quote_id) == 1
    tx.changed(QUOTE_CHANGED, quote_id)
    return moved


def find_claim(reader: Reader, claim_id: str) -> Claim | None:
    if "\0" in claim_id:  # PostgreSQL refuses such a text instead of not finding it
        return None
    return _claim(reader.row("access_claim", claim_id=claim_id))


def claim_of_quote(reader: Reader, quote_id: str) -> Claim | None:
    return _claim(reader.row("access_claim_of_quote", quote_id=quote_id))


def claim_of_transfer(reader: Reader, chain_id: int, transaction_hash: str, position: int) -> Claim | None:
    """Returns the claim that uses the transfer at this position of the chain, or None."""
    return _claim(
        reader.row(
            "access_claim_of_transfer", chain_id=chain_id, transaction_hash=transaction_hash, log_position=position
        )
    )


def claim_of_request(reader: Reader, quote_id: str, idempotency_digest: str) -> tuple[Claim, str] | None:
    """Returns the claim of a quote and its request's digest if that request had this Idempotency-Key, otherwise
    None."""
    row = reader.row("access_claim_of_request", quote_id=quote_id, idempotency_digest=idempotency_digest)
    claim = _claim(row)
    return None if claim is None or row is None else (claim, str(row["request_digest"]))


def used_positions(reader: Reader, chain_id: int, transaction_hash: str) -> set[int]:
    """Returns the log positions of a transaction's transfers that claims use."""
    rows = reader.rows("access_used_positions", chain_id=chain_id, transaction_hash=transaction_hash)
    return {int(row["log_position"]) for row in rows}


def spent_positions(reader: Reader, chain_id: int, transaction_hash: str) -> set[int]:
    """Returns the log positions of a transaction's transfers that can't pay for anything any more: claims use them, or
    they are refunded or due to be."""
    rows = reader.rows("access_spent_positions", chain_id=chain_id, transaction_hash=transaction_hash)
    return {int(row["log_position"]) for row in rows}


def find_receipt(reader: Reader, claim_id: str) -> KeptReceipt | None:
    row = reader.row("access_receipt", claim_id=claim_id)
    return (
        None if row is None else KeptReceipt(row["body_json"], row["receipt_hash"], json.loads(row["signature_json"]))
    )


def take_lease(tx: Transaction, quote_id: str, owner: str, *, now: datetime) -> bool:
    """Gives `owner` the right to verify a claim of the quote. Returns False if the quote is redeemed or somebody else's
    lease still runs."""
    changed = tx.run(
        "access_take_lease",
        quote_id=quote_id,
        owner=owner,
        now=utc_text(now),
        expires_at=utc_text(now + LEASE_FOR),
    )
    return changed == 1


def release_lease(tx: Transaction, quote_id: str, owner: str) -> None:
    """Ends the lease if it still belongs to `owner`."""
    tx.run("access_release_lease", quote_id=quote_id, owner=owner)


def reverse_claim(tx: Transaction, claim: Claim, *, now: datetime) -> bool:
    """Reverses a claim whose payment left the chain, and suspends its key. Returns False if it was reversed already."""
    return _move(tx, claim, "reversed", claim.block_number, claim.block_hash, now)


def reinstate_claim(tx: Transaction, claim: Claim, block_number: int, block_hash: str, *, now: datetime) -> bool:
    """Reinstates a claim and its key, because its payment is back in this block. Returns False if the claim was not
    reversed."""
    return _move(tx, claim, "issued", block_number, block_hash, now)


def settle_claim(tx: Transaction, claim: Claim, *, now: datetime) -> bool:
    """Marks a claim's payment as final: nobody needs to check it again. Returns False if it already was."""
    settled = tx.run("access_settle_claim", claim_id=claim.claim_id, final_at=utc_text(now)) == 1
    if settled:
        tx.changed(CLAIM_CHANGED, claim.claim_id)
    return settled


def payments_of_claim(reader: Reader, claim_id: str) -> list[Payment]:
    return [_payment(row) for row in reader.rows("access_payments_of_claim", claim_id=claim_id)]


def payments_not_final(reader: Reader, limit: int = 500) -> list[Payment]:
    """Returns payments that may still leave the chain, those of the newest claims, the likeliest ones, first."""
    return [_payment(row) for row in reader.rows("access_payments_not_final", limit=limit)]


def move_payment(
    tx: Transaction, payment: Payment, state: ClaimState, block: BlockView | None, *, now: datetime
) -> None:
    """Records where a payment is now: in `block`, or off the chain. The caller moves its claim."""
    tx.run(
        "access_move_payment",
        claim_id=payment.claim_id,
        transaction_hash=payment.transaction_hash,
        log_position=payment.log_position,
        state=state,
        block_number=payment.block_number if block is None else block.number,
        block_hash=payment.block_hash if block is None else block.hash,
        changed_at=utc_text(now),
    )


def settle_payment(tx: Transaction, payment: Payment, *, now: datetime) -> None:
    """Marks a payment as settled: it is final, or was searched for long enough, and nobody needs to check it again."""
    tx.run(
        "access_settle_payment",
        claim_id=payment.claim_id,
        transaction_hash=payment.transaction_hash,
        log_position=payment.log_position,
        final_at=utc_text(now),
    )


def _move(
    tx: Transaction, claim: Claim, state: Literal["issued", "reversed"], number: int, block_hash: str, now: datetime
) -> bool:
    moved = tx.run(
        "access_move_claim",
        claim_id=claim.claim_id,
        from_state="issued" if state == "reversed" else "reversed",
        state=state,
        block_number=number,
        block_hash=block_hash,
        changed_at=utc_text(now),
    )
    if moved != 1:
        return False
    key = alive_key_of_claim(tx, claim.claim_id)
    if key is not None:
        (suspend_key if state == "reversed" else reinstate_key)(tx, key.key_id, now=now)
    follow_claim(tx, claim.claim_id, holds=state == "issued")
    tx.changed(CLAIM_CHANGED, claim.claim_id)
    return True


def _claim(row: Row | None) -> Claim | None:
    return None if row is None else record_of(Claim, row, final=row["final_at"] is not None)


def _payment(row: Row) -> Payment:
    return record_of(Payment, row, final=row["final_at"] is not None)


def claims_by_state(ledger: Ledger) -> dict[str, int]:
    """Returns the number of claims in each state."""
    with ledger.read() as reader:
        return {str(row["state"]): int(row["claims"]) for row in reader.rows("access_claims_by_state")}
