"""Stores payments by signature in the ledger: authorizations with their answers, and the relayer's transactions.

Everything is stored before anything is sent. The claim of a paid authorization is issued by `issue.py`.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from contracts.access.authorizations import Authorization
from contracts.access.claims import ANSWER_KEPT
from contracts.access.quotes import Quote
from warehouse.access.claims import keep_closed_quote
from warehouse.ledger.ledger import Reader, Row, Transaction, utc_text
from warehouse.ledger.records import columns_of, record_of

AuthorizationState = Literal["stored", "paid", "failed"]


@dataclass(frozen=True, slots=True)
class StoredAuthorization:
    """An authorization as stored in the ledger. `answer` is sealed; None before it exists and after it is deleted."""

    payment_id: str
    quote_id: str
    authorization: Authorization
    request_digest: str
    from_block: int
    """The chain's head when the authorization arrived: any transaction that uses it is in a later block."""
    state: AuthorizationState
    code: str | None
    answer: str | None = field(repr=False)
    stored_at: datetime
    changed_at: datetime
    closed: bool
    """True if nothing more can happen to it on the chain."""


@dataclass(frozen=True, slots=True)
class Relay:
    """A nonce of a relayer. Without `payment_id`, its transaction only fills a gap between nonces."""

    relayer: str
    chain_id: int
    nonce: int
    payment_id: str | None


@dataclass(frozen=True, slots=True)
class RelayedTransaction:
    """A signed transaction. `raw` is hex; `fee` is the most that it pays per unit of gas, and `tip` the most of that
    which goes to the block's proposer, both in wei."""

    transaction_hash: str
    relayer: str
    chain_id: int
    nonce: int
    raw: str = field(repr=False)
    fee: int
    tip: int
    signed_at: datetime


def store_authorization(
    tx: Transaction,
    quote: Quote,
    signature: dict[str, str],
    stored: StoredAuthorization,
) -> None:
    """Stores a new authorization with the quote that it pays. It violates a constraint if its nonce was stored
    before."""
    keep_closed_quote(tx, quote, signature)
    tx.run(
        "access_insert_authorization",
        **columns_of(stored.authorization),
        payment_id=stored.payment_id,
        quote_id=quote.quote_id,
        request_digest=stored.request_digest,
        from_block=stored.from_block,
        answer=stored.answer,
        stored_at=utc_text(stored.stored_at),
    )


def find_authorization(reader: Reader, payment_id: str) -> StoredAuthorization | None:
    if "\0" in payment_id:  # PostgreSQL refuses such a text instead of not finding it
        return None
    return _stored(reader.row("access_authorization", payment_id=payment_id))


def authorization_at(reader: Reader, authorization: Authorization) -> StoredAuthorization | None:
    """Returns the authorization that was stored under the same nonce, or None."""
    return authorization_of_nonce(
        reader, authorization.chain_id, authorization.asset, authorization.payer, authorization.nonce
    )


def authorization_of_nonce(
    reader: Reader, chain_id: int, asset: str, payer: str, nonce: str
) -> StoredAuthorization | None:
    return _stored(reader.row("access_authorization_at", chain_id=chain_id, asset=asset, payer=payer, nonce=nonce))


def authorizations_due(reader: Reader, chain_id: int, *, now: datetime, limit: int = 50) -> list[StoredAuthorization]:
    """Returns the authorizations whose outcome on the chain is still open, oldest first.

    A failed one is checked once more after its validity has ended, because until then somebody else can send it.
    """
    rows = reader.rows("access_authorizations_due", chain_id=chain_id, now_s=int(now.timestamp()), limit=limit)
    return [stored for stored in map(_stored, rows) if stored is not None]


def authorized_amount(reader: Reader, authorization: Authorization) -> int:
    """Returns the sum of the payer's stored authorizations of the same coin that the chain has not settled yet."""
    row = reader.row(
        "access_authorized_amount",
        payer=authorization.payer,
        asset=authorization.asset,
        chain_id=authorization.chain_id,
    )
    return 0 if row is None else int(row["amount"])


def mark_paid(tx: Transaction, payment_id: str, answer: str | None, *, now: datetime) -> bool:
    """Records that the money arrived, with the sealed answer if it was created only now. Returns False if it was known
    before."""
    moved = _move(tx, payment_id, "paid", None, answer, now)
    tx.run("access_close_authorization", payment_id=payment_id, closed_at=utc_text(now))
    return moved


def mark_failed(tx: Transaction, payment_id: str, code: str, *, for_good: bool, now: datetime) -> bool:
    """Records that the authorization moves no money, and why. `for_good`: nobody can send it any more."""
    moved = _move(tx, payment_id, "failed", code, None, now)
    if for_good:
        tx.run("access_close_authorization", payment_id=payment_id, closed_at=utc_text(now))
    return moved


def forget_answers(tx: Transaction, *, now: datetime) -> None:
    """Deletes the answers whose retention period is over."""
    tx.run("access_forget_answers", changed_before=utc_text(now - ANSWER_KEPT))


def relay_of(reader: Reader, payment_id: str) -> Relay | None:
    row = reader.row("access_relay_of_payment", payment_id=payment_id)
    return None if row is None else record_of(Relay, row)


def relays_from(reader: Reader, relayer: str, chain_id: int, nonce: int) -> list[Relay]:
    """Returns a relayer's nonces from `nonce` on, in order, including lost ones."""
    rows = reader.rows("access_relays_from", relayer=relayer, chain_id=chain_id, nonce=nonce)
    return [record_of(Relay, row) for row in rows]


def next_nonce(reader: Reader, relayer: str, chain_id: int, used_on_chain: int) -> int:
    """Returns the first nonce that neither the ledger nor the chain has used."""
    row = reader.row("access_newest_relay", relayer=relayer, chain_id=chain_id)
    newest = None if row is None else row["nonce"]
    return used_on_chain if newest is None else max(int(newest) + 1, used_on_chain)


def keep_relay(tx: Transaction, relay: Relay) -> None:
    """Assigns a nonce to an authorization. Violates a constraint if either is assigned already."""
    tx.run("access_insert_relay", **columns_of(relay))


def lose_relay(tx: Transaction, relay: Relay) -> None:
    """Marks a nonce as lost to its authorization: somebody else's transaction has used it."""
    tx.run("access_lose_relay", relayer=relay.relayer, chain_id=relay.chain_id, nonce=relay.nonce)


def keep_transaction(tx: Transaction, transaction: RelayedTransaction) -> None:
    tx.run("access_insert_relayed", **columns_of(transaction))


def transactions_of_payment(reader: Reader, payment_id: str) -> list[RelayedTransaction]:
    """Returns the transactions that were signed for an authorization, newest first."""
    rows = reader.rows("access_transactions_of_payment", payment_id=payment_id)
    return [record_of(RelayedTransaction, row) for row in rows]


def transactions_of_nonce(reader: Reader, relay: Relay) -> list[RelayedTransaction]:
    """Returns the transactions that were signed for a nonce, newest first."""
    rows = reader.rows(
        "access_transactions_of_nonce", relayer=relay.relayer, chain_id=relay.chain_id, nonce=relay.nonce
    )
    return [record_of(RelayedTransaction, row) for row in rows]


def _move(
    tx: Transaction, payment_id: str, state: AuthorizationState, code: str | None, answer: str | None, now: datetime
) -> bool:
    moved = tx.run(
        "access_move_authorization",
        payment_id=payment_id,
        state=state,
        code=code,
        answer=answer,
        changed_at=utc_text(now),
    )
    return moved == 1


def _stored(row: Row | None) -> StoredAuthorization | None:
    if row is None:
        return None
    return record_of(
        StoredAuthorization, row, authorization=record_of(Authorization, row), closed=row["closed_at"] is not None
    )
