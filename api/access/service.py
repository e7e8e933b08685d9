"""Redeems quotes for the routes, over the ledger, the RPC providers and the signing keys."""

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

from api.access.coin import Coin
from api.access.consent import checked_consent, consent_invalid, settled_consent
from api.access.judging import Named, Seen, judge_claim, named_by, progress_of_claim, record_unused, see
from api.access.quotes import QuoteService
from api.access.rpc import Providers, settle
from api.access.second_payments import SecondPayments, with_second
from contracts.access.cases import Filing
from contracts.access.claims import (
    ANSWER_KEPT,
    Claim,
    ClaimRequest,
    Paid,
    PendingAnswer,
    activation_packet,
    claim_fields,
    operator_of,
    pending_answer,
    receipt_fields,
    receipt_url,
    recovery_url,
)
from contracts.access.matching import Mismatch, Unknown
from contracts.access.plans import CLAIM_PATH, PlansAnswer, plans_answer
from contracts.access.proofs import (
    AskContract,
    NotProved,
    Proved,
    check_claim_proof,
    claim_typed_data,
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
    to_be_signed,
)
from contracts.access.signing import KeySet
from contracts.access.tiers import Tier
from contracts.access.waiting import RETRY_AFTER_S, UNTOLD, Progress
from contracts.errors import IdempotencyMismatch
from contracts.sealing import unseal
from contracts.secrets import DerivedSecrets
from contracts.settings import Settings
from warehouse.access import claims
from warehouse.access.issue import Issued, Issuer, issue_claim
from warehouse.access.keys import alive_key_of_claim, sealed_key
from warehouse.ledger.ledger import Ledger, Reader, Transaction

SILENT_FOR_S = 2.0
"""Seconds for which a pending claim gets the same answer without asking the providers."""

_MOST_REMEMBERED = 10_000
_ISSUED = "The quote's key was issued. If it is lost, its owner can have it replaced at links.recovery."
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Redeemed:
    """The body of a 201; `replayed` if it repeats an earlier one."""

    fields: dict[str, Any] = field(repr=False)
    replayed: bool


@dataclass(frozen=True, slots=True)
class _Attempt:
    """A request that holds the lease of the quote it redeems. All is checked except what the chain decides."""

    request: ClaimRequest
    idempotency_key: str | None
    lease: str
    named: Named
    proof: Proved | AskContract | None
    consent: Proved | AskContract | None
    """Of the operator that the quote names."""


class AccessService:
    """Redeems quotes. One object per process. `ledger`, `derived` and `key_set` may raise `OperatorProblem`."""

    def __init__(
        self,
        settings: Settings,
        ledger: Callable[[], Ledger],
        derived: Callable[[], DerivedSecrets],
        key_set: Callable[[], KeySet],
        requests_per_day: dict[Tier, int | None],
        *,
        providers: Providers | None = None,
        coin: Coin | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.rail: PaymentRail = rail_of(settings)
        self._base_url = settings.public_base_url
        self._issues_trials = settings.trial_keys_per_day > 0
        self._ledger = ledger
        self._derived = derived
        self._key_set = key_set
        self._requests_per_day = requests_per_day
        self._providers = providers or Providers(settings.rpc_urls)
        self._clock = clock
        self._monotonic = monotonic
        self.coin = coin or Coin(self.rail, self._providers, monotonic=monotonic)
        self.quotes = QuoteService(self.rail, self._base_url, ledger, key_set, self._providers, self.coin, clock=clock)
        self._second_payments = SecondPayments(
            self.rail, self._providers, self._base_url, ledger, clock=clock, monotonic=monotonic
        )
        self._pending: dict[tuple[str, str], tuple[float, PendingAnswer]] = {}

    def plans(self) -> PlansAnswer:
        return plans_answer(
            self.rail,
            self._base_url,
            self._requests_per_day,
            trials=self._issues_trials,
            problem=self.coin.problem,
        )

    def key_set(self) -> KeySet:
        return self._key_set()

    async def claim(self, request: ClaimRequest, idempotency_key: str | None) -> Redeemed | PendingAnswer:
        """Redeems a quote with the transaction that paid it. Raises refusals as listed in `CLAIM_REFUSALS`."""
        if self.rail.missing:
            raise PaymentsNotConfigured(f"The operator has yet to set {', '.join(self.rail.missing)}.")
        try:
            return await self._redeem(request, idempotency_key)
        except (ClaimExists, IdempotencyMismatch) as redeemed:
            second = await self._second_payments.case_of(request)
            if second is None:
                raise
            raise with_second(redeemed, second) from None

    async def _redeem(self, request: ClaimRequest, idempotency_key: str | None) -> Redeemed | PendingAnswer:
        """Takes the quote's lease, asks the chain outside any transaction, and decides inside one.

        While one request asks the chain, which takes seconds, another one for the same quote gets `ClaimInProgress`.
        The lease ends in the transaction that decides, or here if the chain gave no answer to decide on. If the process
        dies meanwhile, the lease expires (`claims.LEASE_FOR`).
        """
        attempt = await asyncio.to_thread(self._begin, request, idempotency_key)
        if not isinstance(attempt, _Attempt):
            return attempt
        try:
            evidence = await self._ask_chain(attempt)
        except BaseException:
            await asyncio.to_thread(self._release_lease, attempt)
            raise
        if isinstance(evidence, PendingAnswer):
            await asyncio.to_thread(self._release_lease, attempt)
            return evidence
        seen, operator_proven = evidence
        return await asyncio.to_thread(self._decide, attempt, seen, operator_proven)

    async def _ask_chain(self, attempt: _Attempt) -> PendingAnswer | tuple[Seen, bool]:
        """Returns the providers' views and whether the operator has proven itself.

        If the payer is a contract, asks it first and returns a pending answer if that fails. Raises the refusals of a
        wrong proof or consent.
        """
        proof = None if attempt.proof is None else await settle(attempt.proof, self._providers, self.rail.quorum)
        if isinstance(proof, str):
            return self._remember(attempt.request, Unknown(proof, "on the payer's contract"), UNTOLD)
        if isinstance(proof, NotProved):
            raise _proof_invalid()
        consent, seen = await asyncio.gather(
            settled_consent(attempt.consent, self._providers, self.rail),
            see(self._providers, attempt.request.transaction_hash, attempt.named),
        )
        if isinstance(consent, NotProved):
            raise consent_invalid()
        return seen, consent is not None

    def receipt(self, claim_id: str) -> dict[str, Any]:
        """Returns the receipt of a claim (`Receipt`). Raises `ClaimUnknown`."""
        with self._ledger().read() as reader:
            claim = claims.find_claim(reader, claim_id)
            if claim is None:
                raise ClaimUnknown("No claim has this id.")
            return self._receipt(claim, _stored_receipt(reader, claim))

    def _begin(self, request: ClaimRequest, idempotency_key: str | None) -> Redeemed | PendingAnswer | _Attempt:
        """Checks everything that does not need the chain. Returns an existing answer or else takes the lease."""
        named = self._named_quotes(request, idempotency_key)
        if isinstance(named, Redeemed):
            return named
        proof, consent = self._check_proof(request, named.quote), checked_consent(request, named.quote, self.rail)
        attempt = _Attempt(request, idempotency_key, secrets.token_hex(16), named, proof, consent)
        return self._remembered(request) or self._take_lease(attempt) or attempt

    def _named_quotes(self, request: ClaimRequest, idempotency_key: str | None) -> Redeemed | Named:
        """Returns the named quotes if id and hashes match and they are not redeemed, or the answer that this request
        got before.

        Raises the refusal of a wrong quote or of one that another request redeemed.
        """
        with self._ledger().read() as reader:
            stored = claims.find_quote(reader, request.quote_id)
            if stored is None or not _hashes_match(request, stored.quote):
                raise QuoteMismatch("Send quoteId, quoteHash and paymentRequirementHash as the quote gave them.")
            if not is_intact(stored.quote):
                _log.error(
                    "Quote %s differs from the quote that was issued: its claims are refused", stored.quote.quote_id
                )
                raise QuoteMismatch("Send quoteId, quoteHash and paymentRequirementHash as the quote gave them.")
            named = named_by(reader, stored.quote)
            return self._redeemed(reader, request, idempotency_key, named.redeems) or named

    def _redeemed(
        self, reader: Reader, request: ClaimRequest, idempotency_key: str | None, quote: Quote
    ) -> Redeemed | None:
        """Returns the stored answer if this very request was answered before. Raises if another one redeemed the
        quote."""
        if idempotency_key is not None:
            earlier = claims.claim_of_request(reader, quote.quote_id, self._idempotency_digest(idempotency_key))
            if earlier is not None:
                claim, digest = earlier
                if digest != request.digest:
                    raise IdempotencyMismatch(
                        f"Another request with this Idempotency-Key redeemed the quote. {_ISSUED}",
                        extensions=self._claim_members(claim),
                    )
                return self._replay(reader, claim, request)
        existing = claims.claim_of_quote(reader, quote.quote_id)
        if existing is not None:
            raise self._exists(existing)
        return None

    def _replay(self, reader: Reader, claim: Claim, request: ClaimRequest) -> Redeemed:
        if self._clock() - claim.issued_at > ANSWER_KEPT:
            raise self._exists(claim)
        key = alive_key_of_claim(reader, claim.claim_id)
        sealed = None if key is None else sealed_key(reader, key.key_id)
        text = None if sealed is None else unseal(self._derived().sealing_key, sealed, claim.claim_id)
        if key is None or text is None:
            raise self._exists(claim)
        return Redeemed(self._fields(claim, _stored_receipt(reader, claim), text, key.key_id, request), replayed=True)

    def _exists(self, claim: Claim) -> ClaimExists:
        return ClaimExists(_ISSUED, extensions=self._claim_members(claim))

    def _claim_members(self, claim: Claim) -> dict[str, object]:
        """Returns the members of a problem that name the claim of a redeemed quote."""
        return {
            "claimId": claim.claim_id,
            "links": {
                "receipt": receipt_url(self._base_url, claim.claim_id),
                "recovery": recovery_url(self._base_url, claim.claim_id),
            },
        }

    def _check_proof(self, request: ClaimRequest, quote: Quote) -> Proved | AskContract | None:
        amount = terms_of(quote, self.rail).amount
        if request.payer_proof is None:
            if self.rail.needs_proof(amount):
                raise PayerProofRequired(
                    "A claim of this amount needs the payer's signature.",
                    errors=[("/integrity", "sign the typed data in `proof`")],
                    extensions=to_be_signed(
                        "claim",
                        self._base_url + CLAIM_PATH,
                        request,
                        claim_typed_data(quote.quote_hash, self.rail.chain_id),
                    ),
                )
            return None
        proof = check_claim_proof(
            request.payer_proof, payer=quote.payer, quote_hash=quote.quote_hash, chain_id=self.rail.chain_id
        )
        if isinstance(proof, NotProved):
            raise _proof_invalid()
        return proof

    def _take_lease(self, attempt: _Attempt) -> Redeemed | None:
        """Takes the lease. Returns the stored answer if a copy of this request redeemed the quote a moment ago."""
        quote = attempt.named.redeems
        with self._ledger().transaction() as tx:
            if claims.take_lease(tx, quote.quote_id, attempt.lease, now=self._clock()):
                return None
            redeemed = self._redeemed(tx, attempt.request, attempt.idempotency_key, quote)
        if redeemed is None:
            raise ClaimInProgress(
                "Another request is verifying this quote's claim.", headers={"Retry-After": str(RETRY_AFTER_S)}
            )
        return redeemed

    def _release_lease(self, attempt: _Attempt) -> None:
        with self._ledger().transaction() as tx:
            claims.release_lease(tx, attempt.named.redeems.quote_id, attempt.lease)

    def _decide(self, attempt: _Attempt, seen: Seen, operator_proven: bool) -> Redeemed | PendingAnswer:
        """Judges the payment and issues the key if it pays, in one transaction, which sees transfers used meanwhile."""
        request, named = attempt.request, attempt.named
        with self._ledger().transaction() as tx:
            claims.release_lease(tx, named.redeems.quote_id, attempt.lease)
            redeemed = self._redeemed(tx, request, attempt.idempotency_key, named.redeems)
            if redeemed is not None:
                return redeemed
            now = self._clock()
            judged = judge_claim(tx, self.rail, named, request.transaction_hash, seen, now=now)
            if isinstance(judged, list):
                issued = self._issue(tx, attempt, judged, operator_proven=operator_proven, now=now)
            filing = Filing(named.quote, proven=attempt.proof is not None)
            recorded = record_unused(tx, self.rail, self._base_url, filing, request.transaction_hash, judged, now=now)
        if isinstance(judged, list):
            return Redeemed(
                self._fields(issued.claim, issued.receipt, issued.key.reveal(), issued.key_id, request), replayed=False
            )
        if isinstance(judged, Mismatch):
            raise refusal_of(judged.code, recorded)
        return self._remember(request, judged, progress_of_claim(named, self.rail, seen))

    def _issue(
        self, tx: Transaction, attempt: _Attempt, paid: list[Paid], *, operator_proven: bool, now: datetime
    ) -> Issued:
        first, *further = paid
        key = attempt.idempotency_key
        return issue_claim(
            tx,
            Issuer(self.rail, self._base_url, self._derived(), self._key_set().signer(now)),
            attempt.named.redeems,
            first.match,
            first.transaction_hash,
            now=now,
            idempotency_digest=None if key is None else self._idempotency_digest(key),
            request_digest=None if key is None else attempt.request.digest,
            further=further,
            operator_proven=operator_proven,
        )

    def _fields(
        self, claim: Claim, receipt: claims.KeptReceipt, key_text: str, key_id: str, request: ClaimRequest
    ) -> dict[str, Any]:
        packet = activation_packet(
            tier=claim.tier,
            access_expires_at=claim.access_expires_at,
            key_text=key_text,
            key_id=key_id,
            requests_per_day=self._requests_per_day[claim.tier],
            base_url=self._base_url,
        )
        # A wrong consent was refused earlier, so a consent that was sent but proved nothing could not be checked.
        operator = operator_of(claim, self._base_url, was_unsure=request.operator_proof is not None)
        return claim_fields(claim, self._receipt(claim, receipt), packet, operator)

    def _receipt(self, claim: Claim, receipt: claims.KeptReceipt) -> dict[str, Any]:
        return receipt_fields(receipt.body_json, receipt.receipt_hash, receipt.signature, claim, self._base_url)

    # Pending answers, remembered for a moment.

    def _remembered(self, request: ClaimRequest) -> PendingAnswer | None:
        until, answer = self._pending.get((request.quote_id, request.transaction_hash), (0.0, None))
        return answer if answer is not None and self._monotonic() < until else None

    def _remember(self, request: ClaimRequest, verdict: Unknown, progress: Progress) -> PendingAnswer:
        if verdict.code == "rpc_disagree" or verdict.detail:
            _log.warning("A claim of %s is pending: %s %s", request.quote_id, verdict.code, verdict.detail)
        if len(self._pending) >= _MOST_REMEMBERED:
            self._pending.clear()
        answer = pending_answer(verdict.code, request.quote_id, progress)
        self._pending[request.quote_id, request.transaction_hash] = (self._monotonic() + SILENT_FOR_S, answer)
        return answer

    def _idempotency_digest(self, idempotency_key: str) -> str:
        return hmac.digest(self._derived().pepper, f"idempotency {idempotency_key}".encode(), hashlib.sha256).hex()


def _hashes_match(request: ClaimRequest, quote: Quote) -> bool:
    """Compares both hashes in constant time."""
    right = hmac.compare_digest(request.quote_hash, quote.quote_hash)
    return hmac.compare_digest(request.payment_requirement_hash, quote.requirement_hash) and right


def _proof_invalid() -> PayerProofInvalid:
    return PayerProofInvalid("`integrity` is not the signature of this quote by its payer.")


def _stored_receipt(reader: Reader, claim: Claim) -> claims.KeptReceipt:
    receipt = claims.find_receipt(reader, claim.claim_id)
    assert receipt is not None
    return receipt
