"""Claims redeemed: what the routes ask for, over the ledger, the RPC providers and the signing keys."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import logging
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from api.access.consent import checked_consent, consent_invalid, settled_consent
from api.access.judging import Named, Seen, judge_claim, named_by, record_unused, see
from api.access.quotes import QuoteService
from api.access.rpc import Providers
from api.access.second_payments import SecondPayments, paid_twice
from contracts.access.cases import Filing
from contracts.access.claims import (
    ANSWER_KEPT,
    RETRY_AFTER_S,
    Claim,
    ClaimRequest,
    Paid,
    PendingAnswer,
    activation_packet,
    claim_fields,
    operator_of,
    receipt_fields,
    receipt_url,
    recovery_url,
)
from contracts.access.matching import Mismatch, Unknown
from contracts.access.plans import PlansAnswer, plans_answer
from contracts.access.proofs import (
    AskContract,
    NotProved,
    Proved,
    check_claim_proof,
    claim_typed_data,
    contract_says,
)
from contracts.access.quotes import (
    Quote,
    is_intact,
    terms_of,
)
from contracts.access.rail import PaymentRail, rail_of
from contracts.access.refusals import (
    ClaimExists,
    ClaimInProgress,
    ClaimUnknown,
    PayerProofInvalid,
    PayerProofRequired,
    PaymentsNotConfigured,
    QuoteMismatch,
    refusal_of,
)
from contracts.access.signing import KeySet
from contracts.access.tiers import Tier
from contracts.errors import IdempotencyMismatch
from contracts.sealing import unseal
from contracts.secrets import DerivedSecrets
from contracts.settings import Settings
from warehouse.access import claims
from warehouse.access.issue import Issued, Issuer, issue_claim
from warehouse.access.keys import alive_key_of_claim, sealed_key
from warehouse.ledger.ledger import Ledger, Reader, Transaction

SILENT_FOR_S = 2.0
"""How long a claim that was pending is answered so again without asking the providers."""

_MOST_REMEMBERED = 10_000
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Redeemed:
    """The body of a 201; `replayed` where it is the repetition of an earlier one."""

    fields: dict[str, Any] = field(repr=False)
    replayed: bool


@dataclass(frozen=True, slots=True)
class _Begun:
    """A claim whose lease is taken: what there is left to ask is asked of the chain."""

    named: Named
    proof: Proved | AskContract | None
    consent: Proved | AskContract | None
    """Of the operator that the quote names."""


class AccessService:
    """One object a process. `ledger`, `derived` and `key_set` may raise `OperatorProblem`."""

    def __init__(
        self,
        settings: Settings,
        ledger: Callable[[], Ledger],
        derived: Callable[[], DerivedSecrets],
        key_set: Callable[[], KeySet],
        requests_per_day: dict[Tier, int | None],
        *,
        providers: Providers | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.rail: PaymentRail = rail_of(settings)
        self._base_url = settings.public_base_url
        self._ledger = ledger
        self._derived = derived
        self._key_set = key_set
        self._requests_per_day = requests_per_day
        self._providers = providers or Providers(settings.rpc_urls)
        self._clock = clock
        self._monotonic = monotonic
        self.quotes = QuoteService(self.rail, self._base_url, ledger, key_set, self._providers, clock=clock)
        self._second_payments = SecondPayments(
            self.rail, self._providers, self._base_url, ledger, clock=clock, monotonic=monotonic
        )
        self._pending: dict[tuple[str, str], tuple[float, PendingAnswer]] = {}

    def plans(self) -> PlansAnswer:
        """The catalog."""
        return plans_answer(self.rail, self._base_url, self._requests_per_day)

    def key_set(self) -> KeySet:
        """The keys that sign."""
        return self._key_set()

    async def claim(self, asked: ClaimRequest, idempotency_key: str | None) -> Redeemed | PendingAnswer:
        """Redeem a quote by the transaction that paid it. Refusals are raised, as `CLAIM_REFUSALS` names them."""
        if self.rail.missing:
            raise PaymentsNotConfigured(f"The operator has yet to set {', '.join(self.rail.missing)}.")
        try:
            return await self._redeem(asked, idempotency_key)
        except ClaimExists as exists:
            second = await self._second_payments.case_of(asked)
            if second is None:
                raise
            raise paid_twice(exists, second) from None

    async def _redeem(self, asked: ClaimRequest, idempotency_key: str | None) -> Redeemed | PendingAnswer:
        lease = secrets.token_hex(16)
        begun = await asyncio.to_thread(self._begin, asked, idempotency_key, lease)
        if not isinstance(begun, _Begun):
            return begun
        redeems = begun.named.redeems
        try:
            pending = await self._ask_contract(begun.proof, asked) if isinstance(begun.proof, AskContract) else None
            seen = Seen([], [])
            consent: Proved | NotProved | None = None
            if pending is None:
                consent, seen = await asyncio.gather(
                    settled_consent(begun.consent, self._providers, self.rail),
                    see(self._providers, asked.transaction_hash, begun.named),
                )
            if isinstance(consent, NotProved):
                raise consent_invalid()
        except BaseException:
            await asyncio.to_thread(self._release_lease, redeems, lease)
            raise
        if pending is not None:
            await asyncio.to_thread(self._release_lease, redeems, lease)
            return pending
        return await asyncio.to_thread(self._decide, asked, idempotency_key, begun, seen, lease, consent is not None)

    def receipt(self, claim_id: str) -> dict[str, Any]:
        """The receipt of a claim (`Receipt`). Raises `ClaimUnknown`."""
        with self._ledger().read() as reader:
            claim = claims.find_claim(reader, claim_id)
            if claim is None:
                raise ClaimUnknown("No claim has this id.")
            return self._receipt(claim, _kept_receipt(reader, claim))

    def _begin(self, asked: ClaimRequest, idempotency_key: str | None, lease: str) -> Redeemed | PendingAnswer | _Begun:
        """All that can be said without the chain; where that is no answer, the lease is taken."""
        found = self._look(asked, idempotency_key)
        if isinstance(found, Redeemed):
            return found
        proof, consent = self._check_proof(asked, found.quote), checked_consent(asked, found.quote, self.rail)
        return (
            self._remembered(asked)
            or self._take_lease(asked, idempotency_key, found.redeems, lease)
            or _Begun(found, proof, consent)
        )

    def _look(self, asked: ClaimRequest, idempotency_key: str | None) -> Redeemed | Named:
        """The quote, when id and hashes are right and nobody has redeemed it; else its repeated answer or a refusal."""
        with self._ledger().read() as reader:
            kept = claims.find_quote(reader, asked.quote_id)
            if kept is None or not _hashes_match(asked, kept.quote):
                raise QuoteMismatch("Send quoteId, quoteHash and paymentRequirementHash as the quote gave them.")
            if not is_intact(kept.quote):
                _log.error("Quote %s is not as it was made: its claims are refused", kept.quote.quote_id)
                raise QuoteMismatch("Send quoteId, quoteHash and paymentRequirementHash as the quote gave them.")
            named = named_by(reader, kept.quote)
            return self._redeemed(reader, asked, idempotency_key, named.redeems) or named

    def _redeemed(
        self, reader: Reader, asked: ClaimRequest, idempotency_key: str | None, quote: Quote
    ) -> Redeemed | None:
        """The repeated answer where this very request was answered before. Raises where another one redeemed it."""
        if idempotency_key is not None:
            earlier = claims.claim_of_request(reader, quote.payer, self._idempotency_digest(idempotency_key))
            if earlier is not None:
                claim, digest = earlier
                if digest != asked.digest:
                    raise IdempotencyMismatch("This Idempotency-Key belongs to another claim of this payer.")
                return self._replay(reader, claim, asked)
        existing = claims.claim_of_quote(reader, quote.quote_id)
        if existing is not None:
            raise self._exists(existing)
        return None

    def _replay(self, reader: Reader, claim: Claim, asked: ClaimRequest) -> Redeemed:
        if self._clock() - claim.issued_at > ANSWER_KEPT:
            raise self._exists(claim)
        key = alive_key_of_claim(reader, claim.claim_id)
        sealed = None if key is None else sealed_key(reader, key.key_id)
        text = None if sealed is None else unseal(self._derived().sealing_key, sealed, claim.claim_id)
        if key is None or text is None:
            raise self._exists(claim)
        return Redeemed(self._fields(claim, _kept_receipt(reader, claim), text, key.key_id, asked), replayed=True)

    def _exists(self, claim: Claim) -> ClaimExists:
        return ClaimExists(
            "The quote's key was issued. If it is lost, the payer can have it replaced at links.recovery.",
            extensions={
                "claimId": claim.claim_id,
                "links": {
                    "receipt": receipt_url(self._base_url, claim.claim_id),
                    "recovery": recovery_url(self._base_url, claim.claim_id),
                },
            },
        )

    def _check_proof(self, asked: ClaimRequest, quote: Quote) -> Proved | AskContract | None:
        amount = terms_of(quote, self.rail).amount
        if asked.payer_proof is None:
            if self.rail.needs_proof(amount):
                raise PayerProofRequired(
                    "A claim of this amount needs the payer's signature.",
                    errors=[("/integrity", "sign the typed data in `proof`")],
                    extensions={"proof": claim_typed_data(quote.quote_hash, self.rail.chain_id)},
                )
            return None
        proof = check_claim_proof(
            asked.payer_proof, payer=quote.payer, quote_hash=quote.quote_hash, chain_id=self.rail.chain_id
        )
        if isinstance(proof, NotProved):
            raise _proof_invalid()
        return proof

    async def _ask_contract(self, proof: AskContract, asked: ClaimRequest) -> PendingAnswer | None:
        """None where enough providers say that the payer's contract stands by the signature."""
        said = contract_says(await self._providers.calls(proof.address, proof.data), self.rail.quorum)
        if isinstance(said, str):
            return self._remember(asked, Unknown(said, "on the payer's contract"))
        if not said:
            raise _proof_invalid()
        return None

    def _take_lease(
        self, asked: ClaimRequest, idempotency_key: str | None, quote: Quote, lease: str
    ) -> Redeemed | None:
        """The repeated answer where another request redeemed the quote a moment ago; None where the lease is taken."""
        with self._ledger().transaction() as tx:
            if claims.take_lease(tx, quote.quote_id, lease, now=self._clock()):
                return None
            redeemed = self._redeemed(tx, asked, idempotency_key, quote)
        if redeemed is None:
            raise ClaimInProgress(
                "Another request is verifying this quote's claim.", headers={"Retry-After": str(RETRY_AFTER_S)}
            )
        return redeemed

    def _release_lease(self, quote: Quote, lease: str) -> None:
        with self._ledger().transaction() as tx:
            claims.release_lease(tx, quote.quote_id, lease)

    def _decide(
        self,
        asked: ClaimRequest,
        idempotency_key: str | None,
        begun: _Begun,
        seen: Seen,
        lease: str,
        operator_proven: bool,
    ) -> Redeemed | PendingAnswer:
        """Judge and, where it pays, issue, in one transaction: what was used meanwhile counts."""
        named = begun.named
        with self._ledger().transaction() as tx:
            claims.release_lease(tx, named.redeems.quote_id, lease)
            redeemed = self._redeemed(tx, asked, idempotency_key, named.redeems)
            if redeemed is not None:
                return redeemed
            now = self._clock()
            judged = judge_claim(tx, self.rail, named, asked.transaction_hash, seen, now=now)
            if isinstance(judged, list):
                issued = self._issue(
                    tx, asked, idempotency_key, named.redeems, judged, operator_proven=operator_proven, now=now
                )
            filing = Filing(named.quote, proven=begun.proof is not None)
            recorded = record_unused(tx, self.rail, self._base_url, filing, asked.transaction_hash, judged, now=now)
        if isinstance(judged, list):
            return Redeemed(
                self._fields(issued.claim, issued.receipt, issued.key.reveal(), issued.key_id, asked), replayed=False
            )
        if isinstance(judged, Mismatch):
            raise refusal_of(judged.code, recorded)
        return self._remember(asked, judged)

    def _issue(
        self,
        tx: Transaction,
        asked: ClaimRequest,
        idempotency_key: str | None,
        quote: Quote,
        paid: list[Paid],
        *,
        operator_proven: bool,
        now: datetime,
    ) -> Issued:
        first, *further = paid
        return issue_claim(
            tx,
            Issuer(self.rail, self._base_url, self._derived(), self._key_set().signer(now)),
            quote,
            first.match,
            first.transaction_hash,
            now=now,
            idempotency_digest=None if idempotency_key is None else self._idempotency_digest(idempotency_key),
            request_digest=None if idempotency_key is None else asked.digest,
            further=further,
            operator_proven=operator_proven,
        )

    def _fields(
        self, claim: Claim, receipt: claims.KeptReceipt, key_text: str, key_id: str, asked: ClaimRequest
    ) -> dict[str, Any]:
        packet = activation_packet(
            claim,
            key_text=key_text,
            key_id=key_id,
            requests_per_day=self._requests_per_day[claim.tier],
            base_url=self._base_url,
        )
        # a consent that was wrong is refused, so one that came and proved nothing could not be checked
        operator = operator_of(claim, self._base_url, was_unsure=asked.operator_proof is not None)
        return claim_fields(claim, self._receipt(claim, receipt), packet, operator)

    def _receipt(self, claim: Claim, kept: claims.KeptReceipt) -> dict[str, Any]:
        return receipt_fields(kept.body_json, kept.receipt_hash, kept.signature, claim, self._base_url)

    # What is remembered for a moment.

    def _remembered(self, asked: ClaimRequest) -> PendingAnswer | None:
        until, answer = self._pending.get((asked.quote_id, asked.transaction_hash), (0.0, None))
        return answer if answer is not None and self._monotonic() < until else None

    def _remember(self, asked: ClaimRequest, verdict: Unknown) -> PendingAnswer:
        if verdict.code == "rpc_disagree" or verdict.detail:
            _log.warning("A claim of %s is pending: %s %s", asked.quote_id, verdict.code, verdict.detail)
        if len(self._pending) >= _MOST_REMEMBERED:
            self._pending.clear()
        answer = PendingAnswer(code=verdict.code, quote_id=asked.quote_id, retry_after=RETRY_AFTER_S)
        self._pending[asked.quote_id, asked.transaction_hash] = (self._monotonic() + SILENT_FOR_S, answer)
        return answer

    def _idempotency_digest(self, idempotency_key: str) -> str:
        return hmac.digest(self._derived().pepper, f"idempotency {idempotency_key}".encode(), hashlib.sha256).hex()


def _hashes_match(asked: ClaimRequest, quote: Quote) -> bool:
    """Both are compared, and each in constant time."""
    right = hmac.compare_digest(asked.quote_hash, quote.quote_hash)
    return hmac.compare_digest(asked.payment_requirement_hash, quote.requirement_hash) and right


def _proof_invalid() -> PayerProofInvalid:
    return PayerProofInvalid("`integrity` is not the signature of this quote by its payer.")


def _kept_receipt(reader: Reader, claim: Claim) -> claims.KeptReceipt:
    kept = claims.find_receipt(reader, claim.claim_id)
    assert kept is not None
    return kept
