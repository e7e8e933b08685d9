"""Routes of paid access: plans, quotes, claims, receipts and the key set that signs them."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from api.access.service import AccessService, Redeemed
from api.bodies import JsonRoute
from api.limits import earliest_retry_s
from api.openapi.headers import header_refs
from api.parameters import REPLAYED_HEADERS, IdempotencyKey, replayed_header
from api.publish.negotiation import is_unchanged
from api.responses import STORE_ERRORS, TEXT_ERRORS, UNCHANGED, private_document, private_json, problems
from contracts.access.claims import ClaimAnswer, ClaimRequest, PendingAnswer, Receipt
from contracts.access.plans import CLAIM_PATH, CODE_PATH, PLANS_PATH, QUOTE_PATH, RECEIPT_PATH, PlansAnswer
from contracts.access.quote_answers import QuoteAnswer
from contracts.access.quotes import QuoteRequest
from contracts.access.refusals import (
    CLAIM_REFUSALS,
    ClaimUnknown,
    PayerContractUnsure,
    PayerProofRequired,
    PaymentSignatureMisplaced,
    PaymentSignatureNotLive,
    PlanNotClaimable,
    PlanUnknown,
    QuoteUnknown,
)
from contracts.access.signing import JWKS_MAX_AGE_S, JWKS_PATH
from contracts.base import Document
from contracts.canonical import sha256_hex
from contracts.errors import InternalFault, MethodNotAllowed, ParameterInvalid, StoreUnavailable

PLANS_MAX_AGE_S = 60
SVG = "image/svg+xml"

_QUOTE_REFUSALS = (
    PlanUnknown,
    PlanNotClaimable,
    PayerProofRequired,
    PayerContractUnsure,
    PaymentSignatureNotLive,
    PaymentSignatureMisplaced,
)

_CLAIM_RESPONSES: dict[int | str, dict[str, Any]] = {
    201: {
        "description": "Issued, or the same answer again on a retry",
        "headers": REPLAYED_HEADERS,
    },
    202: {
        "model": PendingAnswer,
        "description": "Not settled yet, or unknown: send the same request again later, and don't pay again",
        "headers": header_refs("Retry-After"),
    },
}


_PICTURE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The picture", "content": {SVG: {"schema": {"type": "string"}}}}
}


class Jwk(Document):
    """An Ed25519 public key in the form of RFC 8037."""

    kty: str
    crv: str
    x: str
    kid: str
    alg: str
    use: str


class Jwks(Document):
    """Every key that has ever signed or will sign, newest first."""

    keys: list[Jwk]


def access_router(service: AccessService) -> APIRouter:
    router = APIRouter(tags=["agent access"], route_class=JsonRoute)

    @router.get(
        PLANS_PATH,
        response_model=PlansAnswer,
        responses=UNCHANGED | problems(*STORE_ERRORS),
        summary="What can be bought",
        description="Plans with prices, how to pay for them and how payments are verified.",
        operation_id="agent_access_plans",
    )
    def plans(request: Request) -> Response:
        return _cached(request, service.plans().model_dump_json(by_alias=True), PLANS_MAX_AGE_S)

    @router.post(
        QUOTE_PATH,
        response_model=QuoteAnswer,
        status_code=201,
        responses=problems(*_QUOTE_REFUSALS, *TEXT_ERRORS, *STORE_ERRORS),
        summary="Get a signed quote",
        description="What to send, where and until when. No other open quote of the payer has the same amount, so "
        "send exactly that amount.",
        operation_id="agent_access_quote",
    )
    async def quote(request: Request, body: QuoteRequest) -> Response:
        _refuse_payment_signature(request, service)
        return private_document(await service.quotes.make(body), 201)

    @router.get(
        CODE_PATH,
        response_class=Response,
        responses=_PICTURE | problems(QuoteUnknown, *STORE_ERRORS),
        summary="The payment of a quote as a QR code",
        description="The quote's EIP-681 link as a picture, for wallets that read it from a screen.",
        operation_id="agent_access_quote_code",
    )
    def code(quote_id: Annotated[str, Path(alias="quoteId")]) -> Response:
        return Response(service.quotes.code(quote_id), headers={"Cache-Control": "no-store"}, media_type=SVG)

    @router.post(
        CLAIM_PATH,
        response_model=ClaimAnswer,
        status_code=201,
        responses=_CLAIM_RESPONSES | problems(*CLAIM_REFUSALS, ParameterInvalid, *TEXT_ERRORS, *STORE_ERRORS),
        summary="Redeem a paid quote",
        description="Verifies the payment on the chain and issues an API key with a receipt, exactly once per quote. "
        "A 402 means that the payment definitely does not match; it is not an x402 challenge. A repeated "
        "Idempotency-Key returns the same key until that key is first used, for at most 24 hours.",
        operation_id="agent_access_claim",
    )
    async def claim(request: Request, body: ClaimRequest, idempotency_key: IdempotencyKey = None) -> Response:
        _refuse_payment_signature(request, service)
        outcome = await service.claim(body, idempotency_key)
        if not isinstance(outcome, Redeemed):
            retry_after_s = max(outcome.retry_after, earliest_retry_s(request.scope))
            pending = outcome.model_copy(update={"retry_after": retry_after_s})
            return private_document(pending, 202, {"Retry-After": str(retry_after_s)})
        return private_json(_compact(outcome.fields), 201, replayed_header(outcome.replayed))

    @router.get(
        RECEIPT_PATH,
        response_model=Receipt,
        responses=problems(ClaimUnknown, *STORE_ERRORS),
        summary="The receipt of a claim",
        description="The redacted, signed record of a claim. It contains neither the key nor the quote's hashes.",
        operation_id="agent_access_receipt",
    )
    def receipt(claim_id: Annotated[str, Path(alias="claimId")]) -> Response:
        return private_json(_compact(service.receipt(claim_id)))

    @router.get(
        JWKS_PATH,
        response_model=Jwks,
        responses=UNCHANGED | problems(MethodNotAllowed, InternalFault, StoreUnavailable),
        summary="Keys that sign quotes and receipts",
        description="The public keys, including old ones, which still verify what they signed.",
        operation_id="jwks",
        tags=["discovery"],
    )
    def jwks(request: Request) -> Response:
        return _cached(request, json.dumps(service.key_set().jwks(), separators=(",", ":")), JWKS_MAX_AGE_S)

    return router


def _refuse_payment_signature(request: Request, service: AccessService) -> None:
    if "payment-signature" not in request.headers:
        return
    if service.rail.takes_signatures:
        raise PaymentSignatureMisplaced("Send it with the request that it pays for, to a path under /api/v2/.")
    raise PaymentSignatureNotLive("Send the transfer yourself and claim it; leave PAYMENT-SIGNATURE out.")


def _cached(request: Request, body: str, max_age_s: int) -> Response:
    """Returns a public document, or 304 if the client has it."""
    etag = f'"{sha256_hex(body.encode())[:32]}"'
    headers = {"Cache-Control": f"public, max-age={max_age_s}", "ETag": etag}
    if is_unchanged(request.headers.get("if-none-match", "").encode("latin-1"), etag.encode()):
        return Response(status_code=304, headers=headers)
    return Response(body, 200, headers, "application/json")


def _compact(fields: dict[str, Any]) -> str:
    return json.dumps(fields, ensure_ascii=False, separators=(",", ":"))
