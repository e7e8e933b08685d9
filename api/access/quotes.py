"""Creates signed quotes and stores them before returning them."""

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from datetime import datetime
from typing import Any

from api.access.coin import Coin
from api.access.rpc import Providers, settle
from contracts.access.plan_warnings import checksum_wrong, plan_active
from contracts.access.plans import QUOTE_PATH, Plan, load_plans
from contracts.access.proofs import (
    NotProved,
    Proof,
    check_typed_data,
    contract_question,
    quote_typed_data,
)
from contracts.access.quote_answers import QuoteAnswer, payment_uri, qr_code, quote_answer
from contracts.access.quotes import (
    LIVE_QUOTES_MAX,
    PROVEN_QUOTES_MAX,
    REQUEST_PROOF_AGE,
    QuoteRequest,
    free_amount,
    make_quote,
)
from contracts.access.rail import PaymentRail
from contracts.access.refusals import (
    PayerProofRequired,
    PlanNotClaimable,
    PlanUnknown,
    QuoteUnknown,
    payer_contract_unsure,
    to_be_signed,
)
from contracts.access.signing import JWKS_PATH, KeySet
from contracts.errors import RequestProblem
from warehouse.access import claims
from warehouse.ledger.ledger import Ledger


@dataclass(frozen=True, eq=False)
class QuoteService:
    """Creates quotes. One object per process. `ledger` and `key_set` may raise `OperatorProblem`."""

    rail: PaymentRail
    base_url: str
    ledger: Callable[[], Ledger]
    key_set: Callable[[], KeySet]
    providers: Providers
    coin: Coin
    _: KW_ONLY
    clock: Callable[[], datetime]

    async def make(self, request: QuoteRequest) -> QuoteAnswer:
        """Creates a quote. Raises `PlanUnknown`, `PlanNotClaimable`, `PayerProofRequired`, `PayerContractUnsure`."""
        plan = load_plans().get(request.plan_id)
        if plan is None:
            known = ", ".join(load_plans())
            raise PlanUnknown(f"The plans are {known}.", errors=[("/planId", "no such plan")])
        if self.rail.missing:
            raise PlanNotClaimable(f"The operator has yet to set {', '.join(self.rail.missing)}.")
        if (fault := await self.coin.fault()) is not None:
            raise PlanNotClaimable(f"The coin that the operator has set {fault}: no amount would be right.")
        if request.integrity is not None:
            await self._require_signed(request)
        return await asyncio.to_thread(self._new_quote, request, plan)

    def _new_quote(self, request: QuoteRequest, plan: Plan) -> QuoteAnswer:
        signer = self.key_set().signer(self.clock())
        with self.ledger().transaction() as tx:
            now = self.clock()
            reserved = claims.amounts_held(tx, request.payer, now=now)
            if len(reserved) >= (LIVE_QUOTES_MAX if request.integrity is None else PROVEN_QUOTES_MAX):
                raise self._too_many(request, plan, now)
            quote = make_quote(
                request,
                plan,
                self.rail,
                self.base_url,
                quote_id=f"quote_{secrets.token_hex(16)}",
                nonce=secrets.token_hex(16),
                amount=free_amount(plan.price, reserved, secrets.randbelow(2**32)),
                now=now,
            )
            signature = signer.sign(quote.quote_hash)
            claims.keep_quote(tx, quote, signature)
            has_key = claims.owns_key_of_plan(tx, request.payer, plan.id, now=now)
        warnings = [checksum_wrong(self.base_url, name) for name in request.misspelled]
        if has_key:
            warnings.append(plan_active(self.base_url))
        keys_url = self.base_url + JWKS_PATH
        return quote_answer(quote, signature, self.rail, self.base_url, keys_url=keys_url, warnings=warnings)

    def code(self, quote_id: str) -> str:
        """Returns the payment link of a quote as a QR code in SVG. Raises `QuoteUnknown`."""
        with self.ledger().read() as reader:
            stored = claims.find_quote(reader, quote_id)
        if stored is None:
            raise QuoteUnknown("No quote has this id.")
        return qr_code(payment_uri(stored.quote.amount, self.rail))

    async def _require_signed(self, request: QuoteRequest) -> None:
        proof = await asyncio.to_thread(self._check_request, request)
        settled = await settle(proof, self.providers, self.rail.quorum)
        if isinstance(settled, str):
            raise payer_contract_unsure()
        if isinstance(settled, NotProved):
            raise PayerProofRequired(
                "`integrity` is not the payer's signature of this request, or it is too old.",
                errors=[("/integrity", "sign the typed data in `proof`")],
                extensions=self._to_be_signed(request, self.clock()),
            )

    def _check_request(self, request: QuoteRequest) -> Proof:
        proof = request.integrity
        assert proof is not None
        if abs(self.clock().timestamp() - proof.issued_at) > REQUEST_PROOF_AGE.total_seconds():
            return NotProved()
        message = quote_typed_data(request.payer, request.plan_id, proof.issued_at, self.rail.chain_id)
        check = contract_question if proof.type == "erc1271" else check_typed_data
        return check(message, proof.signature, request.payer)

    def _too_many(self, request: QuoteRequest, plan: Plan, now: datetime) -> RequestProblem:
        if request.integrity is not None:
            return PayerProofRequired(
                f"The payer has {PROVEN_QUOTES_MAX} open quotes: claim them or let them expire first."
            )
        return PayerProofRequired(
            f"The payer has {LIVE_QUOTES_MAX} open quotes. For more, the payer must sign the request.",
            errors=[("/integrity", "sign the typed data in `proof`")],
            extensions=self._to_be_signed(request, now),
        )

    def _to_be_signed(self, request: QuoteRequest, now: datetime) -> dict[str, Any]:
        issued_at = int(now.timestamp())
        message = quote_typed_data(request.payer, request.plan_id, issued_at, self.rail.chain_id)
        return to_be_signed("quote", self.base_url + QUOTE_PATH, request, message, issuedAt=issued_at)
