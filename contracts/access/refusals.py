"""Defines the refusals of quotes and claims, each with a stable code. An unknown payment is a 202, not a refusal."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from contracts.access.consent import CONTRACT_UNSURE
from contracts.access.matching import MismatchCode
from contracts.access.rail import usd_of
from contracts.access.waiting import RETRY_AFTER_S
from contracts.base import Document
from contracts.errors import (
    BadRequest,
    Conflict,
    IdempotencyMismatch,
    Leads,
    NotFound,
    RequestProblem,
    StoreUnavailable,
)


class PaymentNotMatched(RequestProblem):
    """The transaction definitely does not pay the quote. This 402 is not an x402 challenge."""

    status = 402
    code = "payment_not_matched"
    title = "The payment does not match the quote"
    leads: ClassVar[Leads] = ("docs", "plans")


class QuoteMismatch(PaymentNotMatched):
    code = "quote_mismatch"
    title = "No quote has this id and these hashes"
    leads: ClassVar[Leads] = ("quote", "plans", "docs")


class PayerProofInvalid(PaymentNotMatched):
    code = "payer_proof_invalid"
    title = "The signature is not the payer's"


class TransactionFailed(PaymentNotMatched):
    code = "tx_failed"
    title = "The transaction failed"
    leads: ClassVar[Leads] = ("quote", "plans", "docs")


class PaymentMissing(PaymentNotMatched):
    code = "payment_missing"
    title = "The transaction contains no transfer to us"
    leads: ClassVar[Leads] = ("quote", "plans", "docs")


class WrongAsset(PaymentNotMatched):
    code = "wrong_asset"
    title = "Another token was sent"


class RecipientMismatch(PaymentNotMatched):
    code = "recipient_mismatch"
    title = "The payment went to somebody else"


class PayerMismatch(PaymentNotMatched):
    code = "payer_mismatch"
    title = "The payment came from somebody else"


class AmountMismatch(PaymentNotMatched):
    code = "amount_mismatch"
    title = "A different amount was sent"


class PaymentBeforeQuote(PaymentNotMatched):
    code = "payment_before_quote"
    title = "The payment is older than the quote"


class PaymentLate(PaymentNotMatched):
    code = "payment_late"
    title = "The payment came after the quote's expiry"


class PaymentReturned(PaymentNotMatched):
    code = "payment_returned"
    title = "The transaction took the money back"


class CaseClosed(PaymentNotMatched):
    code = "case_closed"
    title = "The first payment was settled in another way"


class ClaimLate(PaymentNotMatched):
    code = "claim_late"
    title = "The quote can no longer be claimed"


class ClaimExists(Conflict):
    code = "claim_exists"
    title = "The quote was already claimed"


class TransferAlreadyUsed(Conflict):
    code = "transfer_already_used"
    title = "The transfer has paid another quote"
    leads: ClassVar[Leads] = ("quote", "plans", "docs")


class ClaimInProgress(Conflict):
    code = "claim_in_progress"
    title = "The quote's claim is being verified"
    retryable = True


class ClaimUnknown(NotFound):
    code = "claim_not_found"
    title = "No claim has this id"
    leads: ClassVar[Leads] = ("docs", "plans")


class QuoteUnknown(NotFound):
    code = "quote_not_found"
    title = "No quote has this id"
    leads: ClassVar[Leads] = ("quote", "plans", "docs")


class PlanUnknown(BadRequest):
    code = "plan_unknown"
    title = "No plan has this id"
    leads: ClassVar[Leads] = ("plans", "docs")


class PlanNotClaimable(BadRequest):
    code = "plan_not_claimable"
    title = "The plan can't be bought at the moment"


class PayerProofRequired(BadRequest):
    code = "payer_proof_required"
    title = "The payer's signature is needed"


def to_be_signed(
    step: Literal["quote", "claim"], url: str, request: Document, typed_data: dict[str, Any], **signed: Any
) -> dict[str, Any]:
    """Returns what a client needs to repeat `request` with the payer's signature.

    That is the message to sign, and the whole request with a placeholder for the signature. `signed` are further
    members next to the placeholder.
    """
    body = request.model_dump(mode="json", by_alias=True, exclude_none=True)
    place = {"type": "eip712", "signature": "0x<the payer's signature of proof>", **signed}
    integrity = {**body.get("integrity", {}), **place}
    headers = {"Content-Type": "application/json"}
    again = {"method": "POST", "url": url, "headers": headers, "body": {**body, "integrity": integrity}}
    return {"proof": typed_data, "next": {step: again}}


class OperatorProofInvalid(BadRequest):
    code = "operator_proof_invalid"
    title = "The signature is not the operator's consent to this quote"


class PayerContractUnsure(RequestProblem):
    status = 503
    code = "payer_contract_unsure"
    title = "The payer's contract can't be queried at the moment"
    retryable = True


class OperatorContractUnsure(RequestProblem):
    status = 503
    code = CONTRACT_UNSURE
    title = "The operator's contract can't be queried at the moment"
    retryable = True


class ConsentRefused(RequestProblem):
    status = 403
    code = "operator_consent_refused"
    title = "The signature is not the consent of the claim's operator"
    leads: ClassVar[Leads] = ("challenge", "docs")


class OperatorNotProvable(Conflict):
    code = "operator_not_provable"
    title = "The claim has no operator that could become the owner of its key"


class PaymentSignatureNotLive(BadRequest):
    code = "payment_signature_not_live"
    title = "Settlement by payment signature is not live"
    leads: ClassVar[Leads] = ("plans", "quote", "docs")


class PaymentSignatureMisplaced(BadRequest):
    code = "payment_signature_misplaced"
    title = "This operation is not paid by signature"


class SignedPaymentUnknown(NotFound):
    code = "payment_not_found"
    title = "No signed payment has this id"
    leads: ClassVar[Leads] = ("docs", "plans")


class PaymentsNotConfigured(StoreUnavailable):
    code = "payments_not_configured"
    title = "The operator has not set up payments"
    retryable = False


_MISMATCHES: dict[MismatchCode, tuple[type[RequestProblem], str]] = {
    "tx_failed": (TransactionFailed, "The transaction was included and failed: it moved no money."),
    "payment_missing": (
        PaymentMissing,
        "The transaction contains no transfer of the quoted coin to the quote's payTo.",
    ),
    "wrong_asset": (WrongAsset, "The token that payTo received is not the coin that the quote names."),
    "recipient_mismatch": (RecipientMismatch, "The payer sent the coin to an address other than the quote's payTo."),
    "payer_mismatch": (PayerMismatch, "The transfer to payTo came from an address other than the quote's payer."),
    "amount_mismatch": (AmountMismatch, "No single transfer has exactly the quoted amount."),
    "payment_before_quote": (PaymentBeforeQuote, "The transfer is older than the quote."),
    "payment_late": (PaymentLate, "The transfer was made after the quote had expired."),
    "payment_returned": (PaymentReturned, "The transaction leaves payTo with less than the quoted amount."),
    "claim_late": (ClaimLate, "The time in which a paid quote can be claimed is over."),
    "case_closed": (
        CaseClosed,
        "The first payment was settled in another way after this supplementary quote was made, so it issues nothing.",
    ),
    "transfer_already_used": (
        TransferAlreadyUsed,
        "Every fitting transfer in the transaction has already paid another quote.",
    ),
}

KEPT = (
    " The money is recorded under caseId: don't pay again. "
    "links.case tells whoever signs for the sending address what happens next."
)
SHORT = " Too little was sent: links.case offers a quote for the difference. Don't send the whole amount again."
OVER = " Too much was sent: the operator issues the key and sends the rest back, or sends everything back."


@dataclass(frozen=True, slots=True)
class Recorded:
    """The case of the money of a refused claim. `sent` and `asked` are the amounts of transfer and quote."""

    case_id: str
    url: str
    sent: int
    asked: int
    of_payer: bool
    """True if the payer of the quote sent it."""


def refusal_of(code: MismatchCode, recorded: Recorded | None) -> RequestProblem:
    """Returns the refusal for a mismatch. `recorded` is the case of the money that was sent, if there is one."""
    problem, detail = _MISMATCHES[code]
    return problem(
        detail + _advice(code, recorded), extensions=case_members(recorded, amounts=code == "amount_mismatch")
    )


def case_members(recorded: Recorded | None, *, amounts: bool = False) -> dict[str, object]:
    """Returns the members of a problem that name a case. The amounts are included only for the payer's own money."""
    if recorded is None:
        return {}
    members: dict[str, object] = {"caseId": recorded.case_id, "links": {"case": recorded.url}}
    if amounts and recorded.of_payer:
        members |= {
            "sentUnits": str(recorded.sent),
            "sent": usd_of(recorded.sent),
            "askedUnits": str(recorded.asked),
            "asked": usd_of(recorded.asked),
        }
    return members


def _advice(code: MismatchCode, recorded: Recorded | None) -> str:
    if recorded is None:
        return ""
    if code != "amount_mismatch" or not recorded.of_payer:
        return KEPT
    return KEPT + (SHORT if recorded.sent < recorded.asked else OVER)


def payer_contract_unsure() -> PayerContractUnsure:
    """Returns the problem for a client if too few providers agree on the payer's contract."""
    return PayerContractUnsure(
        "Too few RPC providers agree. Repeat the request.", headers={"Retry-After": str(RETRY_AFTER_S)}
    )


def operator_contract_unsure() -> OperatorContractUnsure:
    """Returns the problem for an operator if too few providers agree on the operator's contract."""
    return OperatorContractUnsure(
        "Too few RPC providers agree. Repeat the request.", headers={"Retry-After": str(RETRY_AFTER_S)}
    )


CLAIM_REFUSALS: tuple[type[RequestProblem], ...] = (
    QuoteMismatch,
    PayerProofInvalid,
    *(problem for problem, _ in _MISMATCHES.values()),
    ClaimExists,
    ClaimInProgress,
    IdempotencyMismatch,
    PayerProofRequired,
    OperatorProofInvalid,
    PaymentSignatureNotLive,
    PaymentSignatureMisplaced,
    PaymentsNotConfigured,
)
