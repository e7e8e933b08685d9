"""Sells answers to requests without a key over x402: offers, verifies the signature, answers, settles, delivers.

The order makes a lost reply harmless. The request is answered first, because that may fail. The answer is sealed and
stored with the authorization, and only then is the payment sent. The answer is delivered once the receipt exists. A
client that repeats the request with the same signature gets the same answer.
"""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from api.access.settlements import SILENT, Condition, KeptAnswer, Settlements, kept_answer
from api.bodies import JsonRoute
from api.challenges import payment_required
from api.key_gate import CALLER
from api.limits import earliest_retry_s
from api.parameters import replayed_header
from api.responses import STORE_ERRORS, private_document, problems
from contracts.access.authorizations import Presented, Refused, offer_paid, read_presented, request_digest
from contracts.access.claims import ANSWER_KEPT, Claim, receipt_url
from contracts.access.offers import MAX_TIMEOUT_S, RESPONSE_HEADER, SIGNATURE_HEADER, Offer, offers_at
from contracts.access.offers import payment_required as required_document
from contracts.access.quotes import authorized_quote
from contracts.access.refusals import SignedPaymentUnknown
from contracts.access.settling import read_worth, worth_calls
from contracts.access.signed_payments import (
    PAYMENT_PATH,
    PaymentLinks,
    PaymentPending,
    SignedPayment,
    amount_fields,
    ends_at,
    payment_url,
    settle_response,
)
from contracts.access.signing import KeySet
from contracts.access.tiers import Caller, Tier
from contracts.access.waiting import RETRY_AFTER_S
from contracts.errors import (
    OperatorProblem,
    PaymentAnswered,
    PaymentFailed,
    PaymentRefused,
    PaymentRequired,
    PaymentUsed,
    SettlementUnavailable,
)
from contracts.sealing import seal, unseal
from contracts.secrets import DerivedSecrets
from warehouse.access import authorizations, claims
from warehouse.access.authorizations import StoredAuthorization
from warehouse.ledger.ledger import Ledger, Reader

FIRST_POLL_S = 0.05
LAST_POLL_S = 2.0

_log = logging.getLogger(__name__)

AnswerRequest = Callable[[Request], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class _Asked:
    """The part of a request to which a payment is bound. `url` is the resource that its offers name; `offers` are those
    that cover its body."""

    method: str
    path: str
    url: str
    digest: str
    offers: list[Offer]


class SignedPayments:
    """Accepts signed payments. One object per process. `ledger`, `derived` and `key_set` may raise
    `OperatorProblem`."""

    def __init__(
        self,
        settlements: Settlements,
        base_url: str,
        ledger: Callable[[], Ledger],
        derived: Callable[[], DerivedSecrets],
        key_set: Callable[[], KeySet],
        *,
        wait_s: float = MAX_TIMEOUT_S,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._settlements = settlements
        self._rail = settlements.rail
        self._base_url = base_url
        self._ledger = ledger
        self._derived = derived
        self._key_set = key_set
        self._wait_s = wait_s
        self._clock = clock

    async def answer(self, request: Request, answer: AnswerRequest) -> Response | None:
        """Answers a request that has no key. Returns None if no rail is live, so that only a key helps.

        `answer` answers the request for the caller in its scope. Raises `PaymentRequired` with offers, `PaymentUsed`,
        `PaymentAnswered`, `SettlementUnavailable`, and what `answer` raises; then no money is taken.
        """
        if not self._rail.takes_signatures:
            return None
        fields = request.headers.getlist(SIGNATURE_HEADER)
        if not fields:
            if await self._settlements.condition() is not None:
                return None
            asked = await self._asked(request)
            raise self._required(asked, "Send a key, or a signed payment for one of the offers.")
        asked = await self._asked(request)
        presented = await asyncio.to_thread(read_presented, fields[0], self._rail)
        if isinstance(presented, Refused) or len(fields) > 1:
            raise self._refused(asked, presented if isinstance(presented, Refused) else _TWICE)
        stored = await asyncio.to_thread(self._find, presented)
        if stored is None:
            made = await self._new(request, asked, presented, answer)
            if isinstance(made, Response):
                return made
            stored = made
        return await self._outcome(asked, stored, max(RETRY_AFTER_S, earliest_retry_s(request.scope)))

    async def _asked(self, request: Request) -> _Asked:
        method, path, query = request.method, request.scope["path"], request.scope["query_string"]
        url = self._base_url + path + (f"?{query.decode('latin-1')}" if query else "")
        digest = request_digest(method, path, query, await request.body())
        body = await _body(request)
        return _Asked(method, path, url, digest, [offer for offer in offers_at(method, path) if offer.covers(body)])

    def _find(self, presented: Presented) -> StoredAuthorization | None:
        with self._ledger().read() as reader:
            return authorizations.authorization_at(reader, presented.authorization)

    # A new payment.

    async def _new(
        self, request: Request, asked: _Asked, presented: Presented, answer: AnswerRequest
    ) -> StoredAuthorization | Response:
        """Verifies a payment, answers its request and stores both. Returns a response only if it costs nothing."""
        every = offers_at(asked.method, asked.path)
        offer = offer_paid(presented, every, self._rail, url=asked.url, now_s=self._clock().timestamp())
        if isinstance(offer, Refused):
            raise self._refused(asked, offer)
        if offer not in asked.offers:
            raise self._refused(asked, _NEEDS_KEY)
        from_block, balance = await self._verified(asked, presented)
        payment_id, kept = f"pay_{secrets.token_hex(16)}", None
        if offer.is_call:
            request.scope[CALLER] = Caller(payment_id, presented.authorization.payer, Tier.FREE)
            response = await answer(request)
            if response.status_code >= 400:
                return response
            kept = KeptAnswer(
                response.status_code, bytes(response.body).decode(), response.media_type or "application/json"
            )
        stored = await asyncio.to_thread(
            self._store, presented, asked.digest, offer, payment_id, kept, from_block, balance
        )
        if isinstance(stored, Refused):
            raise self._refused(asked, stored)
        return stored

    async def _verified(self, asked: _Asked, presented: Presented) -> tuple[int, int]:
        """Checks on the chain that a payment can be settled. Returns the head and the payer's balance."""
        authorization = presented.authorization
        answers, head = await asyncio.gather(
            self._settlements.providers.ask(worth_calls(authorization)), self._settlements.ready()
        )
        if isinstance(head, Condition):
            raise _unavailable(head)
        worth = read_worth(self._rail, answers)
        reason = worth.refusal(authorization.value)
        if reason is not None:
            raise self._refused(asked, Refused(reason, _WORTHLESS[reason]))
        if not worth.known or worth.balance is None:
            raise _unavailable(SILENT)
        return head.number, worth.balance

    def _store(
        self,
        presented: Presented,
        digest: str,
        offer: Offer,
        payment_id: str,
        kept: KeptAnswer | None,
        from_block: int,
        balance: int,
    ) -> StoredAuthorization | Refused:
        """Stores a payment with its answer, unless another request stored it a moment ago."""
        authorization = presented.authorization
        sealed = None if kept is None else seal(self._derived().sealing_key, kept.text(), payment_id)
        with self._ledger().transaction() as tx:
            earlier = authorizations.authorization_at(tx, authorization)
            if earlier is not None:
                return earlier
            if balance < authorization.value + authorizations.authorized_amount(tx, authorization):
                reason = "invalid_exact_evm_insufficient_balance"
                return Refused(reason, _WORTHLESS[reason])
            now = self._clock()
            quote = authorized_quote(
                offer, authorization, self._rail, self._base_url, quote_id=f"quote_{secrets.token_hex(16)}", now=now
            )
            stored = StoredAuthorization(
                payment_id=payment_id,
                quote_id=quote.quote_id,
                authorization=authorization,
                request_digest=digest,
                from_block=from_block,
                state="stored",
                code=None,
                answer=sealed,
                stored_at=now,
                changed_at=now,
                closed=False,
            )
            signature = self._key_set().signer(now).sign(quote.quote_hash)
            authorizations.store_authorization(tx, quote, signature, stored)
        return stored

    # A stored payment.

    async def _outcome(self, asked: _Asked, stored: StoredAuthorization, retry_after_s: int) -> Response:
        """Waits, within limits, for the outcome of a stored payment and returns it. Raises if the payment failed."""
        if not hmac.compare_digest(stored.request_digest, asked.digest):
            raise PaymentUsed(
                "This authorization pays another request. Sign another one.",
                extensions={"links": {"payment": payment_url(self._base_url, stored.payment_id)}},
            )
        replayed = stored.state == "paid"
        try:
            stored, claim = await self._settled(stored)
        except OperatorProblem as problem:
            # The payment may be under way, so the client must not mistake this for a refusal.
            _log.warning("A signed payment waits: %s", problem)
            claim = None
        if stored.state == "stored":
            return self._pending(stored, retry_after_s)
        if stored.state == "failed":
            reason = stored.code or "transaction_failed"
            detail = f"It was not settled ({reason}), and nothing was taken. Sign again for one of the offers."
            response = settle_response(stored.authorization, None, reason=reason, detail=detail)
            raise self._required(asked, detail, problem=PaymentFailed, headers={RESPONSE_HEADER: response})
        assert claim is not None
        return self._handed_out(stored, claim, replayed=replayed)

    async def _settled(self, stored: StoredAuthorization) -> tuple[StoredAuthorization, Claim | None]:
        """Drives a payment until it is settled or failed, for as long as a request may wait."""
        ends, pause_s = time.monotonic() + self._wait_s, FIRST_POLL_S
        current, claim = await asyncio.to_thread(self._look, stored)
        while current.state == "stored" and time.monotonic() < ends:
            await asyncio.shield(self._settlements.drive())
            current, claim = await asyncio.to_thread(self._look, stored)
            if current.state == "stored":
                await asyncio.sleep(min(pause_s, max(ends - time.monotonic(), 0)))
                pause_s = min(pause_s * 1.5, LAST_POLL_S)
        return current, claim

    def _look(self, stored: StoredAuthorization) -> tuple[StoredAuthorization, Claim | None]:
        with self._ledger().read() as reader:
            return _standing(reader, stored.payment_id) or (stored, None)

    def _handed_out(self, stored: StoredAuthorization, claim: Claim, *, replayed: bool) -> Response:
        fresh = self._clock() - stored.changed_at <= ANSWER_KEPT
        text = None
        if stored.answer is not None and fresh:
            text = unseal(self._derived().sealing_key, stored.answer, stored.payment_id)
        if text is None:
            raise PaymentAnswered(
                "The answer was kept for 24 hours. The receipt shows what was paid; at its `recovery` link the payer "
                "can have a lost key replaced with a signature.",
                extensions={"links": self._links(stored, claim).model_dump(by_alias=True)},
            )
        kept = kept_answer(text)
        headers = {
            "Cache-Control": "no-store",
            RESPONSE_HEADER: settle_response(stored.authorization, claim.transaction_hash),
            "Link": f'<{receipt_url(self._base_url, claim.claim_id)}>; rel="payment-receipt"',
            **replayed_header(replayed),
        }
        return Response(kept.body, kept.status, headers, kept.media_type)

    def _pending(self, stored: StoredAuthorization, retry_after_s: int) -> Response:
        pending = PaymentPending(
            payment_id=stored.payment_id, retry_after=retry_after_s, links=self._links(stored, None)
        )
        headers = {"Retry-After": str(retry_after_s), "Location": pending.links.payment}
        return private_document(pending, 202, headers)

    def status(self, payment_id: str) -> SignedPayment:
        """Returns the state of a payment. Raises `SignedPaymentUnknown`."""
        with self._ledger().read() as reader:
            standing = _standing(reader, payment_id)
            if standing is None:
                raise SignedPaymentUnknown("No signed payment has this id.")
            stored, claim = standing
            quote = claims.find_quote(reader, stored.quote_id)
        assert quote is not None
        settled = "settled" if claim is None or claim.state == "issued" else "reversed"
        return SignedPayment(
            payment_id=payment_id,
            status={"stored": "pending", "failed": "failed"}.get(stored.state, settled),
            reason=stored.code if stored.state == "failed" else None,
            offer=quote.quote.plan_id,
            **amount_fields(stored.authorization),
            payer=stored.authorization.payer,
            pay_to=stored.authorization.pay_to,
            transaction_hash=None if claim is None else claim.transaction_hash,
            claim_id=None if claim is None else claim.claim_id,
            stored_at=stored.stored_at,
            expires_at=ends_at(stored.authorization),
            links=self._links(stored, claim),
        )

    def _links(self, stored: StoredAuthorization, claim: Claim | None) -> PaymentLinks:
        return PaymentLinks(
            payment=payment_url(self._base_url, stored.payment_id),
            receipt=None if claim is None else receipt_url(self._base_url, claim.claim_id),
        )

    # Refusals.

    def _required(
        self,
        asked: _Asked,
        detail: str,
        *,
        problem: type[PaymentRequired] = PaymentRequired,
        headers: dict[str, str] | None = None,
    ) -> PaymentRequired:
        document = required_document(asked.offers, self._rail, method=asked.method, url=asked.url, error=detail)
        return payment_required(document, detail, problem=problem, headers=headers)

    def _refused(self, asked: _Asked, refused: Refused) -> PaymentRequired:
        detail = f"{refused.detail} ({refused.reason}) Nothing was taken."
        problem = self._required(asked, detail, problem=PaymentRefused)
        problem.errors = [(f"/header/{SIGNATURE_HEADER}", refused.reason)]
        return problem


def payments_router(payments: SignedPayments) -> APIRouter:
    router = APIRouter(tags=["agent access"], route_class=JsonRoute)

    @router.get(
        PAYMENT_PATH,
        response_model=SignedPayment,
        responses=problems(SignedPaymentUnknown, *STORE_ERRORS),
        summary="The outcome of a signed payment",
        description="Whether an authorization sent in PAYMENT-SIGNATURE is settled, failed or still under way, with "
        "its transaction and receipt. To get the answer that it bought, send the same request and signature again "
        "within 24 hours.",
        operation_id="agent_access_payment",
    )
    def payment(payment_id: Annotated[str, Path(alias="paymentId")]) -> Response:
        return private_document(payments.status(payment_id))

    return router


def _standing(reader: Reader, payment_id: str) -> tuple[StoredAuthorization, Claim | None] | None:
    stored = authorizations.find_authorization(reader, payment_id)
    if stored is None:
        return None
    return stored, claims.claim_of_quote(reader, stored.quote_id) if stored.state == "paid" else None


async def _body(request: Request) -> Any:
    """Returns the decoded body, or None if it is not JSON, which answering the request then refuses."""
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError):
        return None


def _unavailable(condition: Condition) -> SettlementUnavailable:
    return SettlementUnavailable(
        f"{condition.detail} ({condition.code}) Nothing was taken: send the same again.",
        headers={"Retry-After": str(RETRY_AFTER_S)},
    )


_TWICE = Refused("invalid_payload", f"Send one {SIGNATURE_HEADER} field.")
_NEEDS_KEY = Refused("invalid_payment_requirements", "A single call does not cover this body: it needs a key.")
_WORTHLESS = {
    "invalid_exact_evm_nonce_already_used": "The authorization was used or cancelled before.",
    "invalid_exact_evm_insufficient_balance": "The payer has less of the coin than it has signed for.",
    "invalid_exact_evm_transaction_simulation_failed": "The coin refuses the transfer.",
}
