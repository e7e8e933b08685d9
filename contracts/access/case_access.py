"""Lets the sender of a case's money read the case: defines the challenge to sign, and the answer."""

from datetime import UTC, datetime
from typing import Any, ClassVar, Literal

from pydantic import Field

from contracts.access.cases import CASE_FOR, Case, CaseStanding, CaseState, is_senders
from contracts.access.claims import recovery_url
from contracts.access.plans import CASE_PATH, CASE_SUPPLEMENT_PATH
from contracts.access.proofs import AskContract, NotProved, Proved, typed_data
from contracts.access.quotes import Quote
from contracts.access.rail import network_of, usd_of
from contracts.access.recovery import CHALLENGE_FOR, RecoveryRequest, SignedBody, check_challenge
from contracts.access.refusals import Recorded
from contracts.base import Document, Timestamp
from contracts.errors import Conflict, Leads, NotFound, RequestProblem


class CaseUnknown(NotFound):
    code = "case_not_found"
    title = "No case has this id"


class CaseRefused(RequestProblem):
    status = 403
    code = "case_refused"
    title = "The signature is not from the sender of the money, or not of this challenge"
    leads: ClassVar[Leads] = ("challenge", "docs")


class SupplementNotOffered(Conflict):
    code = "supplement_not_offered"
    title = "The case offers no supplementary quote"


class CaseRequest(RecoveryRequest):
    """A signed challenge."""


class CaseChallenge(Document):
    """The message that the sender of the money must sign, and the URL for the signature."""

    ok: Literal[True] = True
    schema_: Literal["svc.agent_access.case_challenge.v1"] = Field(
        default="svc.agent_access.case_challenge.v1", alias="schema"
    )
    case_id: str
    signer: str = Field(description="The address that sent the money")
    typed_data: dict[str, Any] = Field(description="EIP-712, in the form that wallets accept")
    issued_at: int = Field(description="Unix seconds; repeat it in the request")
    expires_at: Timestamp
    method: Literal["POST"] = "POST"
    url: str
    body: SignedBody = Field(description="Body to send there, as application/json")
    supplement_url: str = Field(description="Accepts the same signature if the case offers to pay the difference")


class CasePayment(Document):
    """The transfer on the chain."""

    network: str
    asset: str
    sender: str = Field(alias="from")
    to: str
    sent_units: str = Field(description="In the token's smallest unit")
    sent: str | None = Field(description="In whole coins, decimal; null if it is not the coin in which plans are sold")
    transaction_hash: str
    log_position: int = Field(description="Index of the transfer among the logs of the transaction's receipt, from 0")
    block_number: int
    paid_at: Timestamp = Field(description="Time of that block")


class CaseQuote(Document):
    """The quote for which the money was sent."""

    quote_id: str
    plan_id: str
    asked_units: str
    asked: str
    expires_at: Timestamp


class CaseRefund(Document):
    """The amount to return to the sender. The operator sends it; the service never does."""

    amount_units: str
    amount: str | None
    transaction_hash: str | None = Field(description="Null until the operator has sent it")


CaseAction = Literal["pay_difference", "claim_with_signature", "wait_for_operator", "recover_key", "none"]


class CaseNext(Document):
    """The next step of a case."""

    action: CaseAction
    detail: str
    url: str | None = Field(description="Where to continue; null if there is nothing to send")
    missing_units: str | None = Field(
        description="The difference, if it can be paid. The quote over it asks for this amount, or for up to 9,999 "
        "units more if another open quote of the payer asks for the same"
    )
    missing: str | None
    not_after: Timestamp | None = Field(description="Deadline for paying the difference by a supplementary quote")


class CaseAnswer(Document):
    """The current state of a case, only for the sender of its money."""

    ok: Literal[True] = True
    schema_: Literal["svc.agent_access.case.v1"] = Field(default="svc.agent_access.case.v1", alias="schema")
    case_id: str
    state: CaseState
    code: str = Field(description="Code with which the claim was refused: why no claim used the money")
    payment: CasePayment
    quote: CaseQuote | None = Field(description="Null until a claim of a quote of this sender names the transfer")
    refund: CaseRefund | None
    claim_id: str | None = Field(description="The claim that uses the money, or that redeemed the quote")
    next: CaseNext
    other_cases: list[str] = Field(description="Further cases of the same sender and quote")
    recorded_at: Timestamp
    changed_at: Timestamp


def case_url(base_url: str, case_id: str) -> str:
    return base_url + CASE_PATH.replace("{caseId}", case_id)


def recorded_of(case: Case, quote: Quote, base_url: str) -> Recorded:
    """Returns the case in the form that a refusal of a claim of `quote` contains."""
    return Recorded(
        case.case_id,
        case_url(base_url, case.case_id),
        sent=case.transfer.amount,
        asked=quote.amount,
        of_payer=is_senders(case.transfer, quote),
    )


def supplement_url(base_url: str, case_id: str) -> str:
    return base_url + CASE_SUPPLEMENT_PATH.replace("{caseId}", case_id)


def case_typed_data(case_id: str, issued_at: int, chain_id: int) -> dict[str, Any]:
    """Returns the EIP-712 message with which the sender requests a case; `issued_at` in Unix seconds."""
    fields = [("caseId", "string"), ("issuedAt", "uint256")]
    return typed_data("CaseAccess", fields, {"caseId": case_id, "issuedAt": issued_at}, chain_id)


def case_challenge(case: Case, *, base_url: str, now: datetime) -> CaseChallenge:
    issued_at = int(now.timestamp())
    return CaseChallenge(
        case_id=case.case_id,
        signer=case.transfer.sender,
        typed_data=case_typed_data(case.case_id, issued_at, case.chain_id),
        issued_at=issued_at,
        expires_at=datetime.fromtimestamp(issued_at, UTC) + CHALLENGE_FOR,
        url=case_url(base_url, case.case_id),
        supplement_url=supplement_url(base_url, case.case_id),
        body=SignedBody(issued_at=issued_at),
    )


def check_case_access(request: CaseRequest, case: Case, *, now: datetime) -> Proved | NotProved | AskContract:
    """Decides whether the sender of the money signed a recent challenge for this case."""
    message = case_typed_data(case.case_id, request.issued_at, case.chain_id)
    return check_challenge(request, message, signer=case.transfer.sender, now=now)


def case_answer(standing: CaseStanding, *, asset: str, base_url: str) -> CaseAnswer:
    """Returns the answer for a case. `asset` is the coin in which plans are sold."""
    case, quote, terms = standing.case, standing.quote, standing.terms
    ours = case.transfer.asset == asset
    return CaseAnswer(
        case_id=case.case_id,
        state=case.state,
        code=case.code,
        payment=CasePayment(
            network=network_of(case.chain_id),
            asset=case.transfer.asset,
            sender=case.transfer.sender,
            to=case.transfer.recipient,
            sent_units=str(case.transfer.amount),
            sent=usd_of(case.transfer.amount) if ours else None,
            transaction_hash=case.transaction_hash,
            log_position=case.transfer.position,
            block_number=case.block.number,
            paid_at=datetime.fromtimestamp(case.block.time_s, UTC),
        ),
        quote=None
        if quote is None or terms is None
        else CaseQuote(
            quote_id=quote.quote_id,
            plan_id=quote.plan_id,
            asked_units=str(terms.amount),
            asked=usd_of(terms.amount),
            expires_at=terms.expires_at,
        ),
        refund=None
        if case.refund_amount is None
        else CaseRefund(
            amount_units=str(case.refund_amount),
            amount=usd_of(case.refund_amount) if ours else None,
            transaction_hash=case.refund_transaction_hash,
        ),
        claim_id=standing.claim_id,
        next=_next(standing, base_url),
        other_cases=list(standing.other_cases),
        recorded_at=case.recorded_at,
        changed_at=case.changed_at,
    )


def _next(standing: CaseStanding, base_url: str) -> CaseNext:
    action, detail, url = _step(standing, base_url)
    missing = standing.missing if action == "pay_difference" else None
    return CaseNext(
        action=action,
        detail=detail,
        url=url,
        missing_units=None if missing is None else str(missing),
        missing=None if missing is None else usd_of(missing),
        not_after=None if missing is None else standing.case.recorded_at + CASE_FOR,
    )


def _step(standing: CaseStanding, base_url: str) -> tuple[CaseAction, str, str | None]:
    case = standing.case
    if case.state == "refunded":
        return "none", "The money was sent back; the case's `refund` names the transaction.", None
    if case.state == "refund_due":
        return "wait_for_operator", "The operator sends the case's `refund` to the sender. Don't pay again.", None
    if case.state in ("claimed", "issued") and standing.claim_id is not None:
        return (
            "recover_key",
            "A key was issued for this money. If it is lost, its recovery replaces it.",
            recovery_url(base_url, standing.claim_id),
        )
    if standing.missing is not None:
        return (
            "pay_difference",
            "POST the same signature to url for a quote over the difference, pay exactly the amount of that quote, and "
            "claim it: its claim issues the first quote's key.",
            supplement_url(base_url, case.case_id),
        )
    if standing.needs_signature:
        return (
            "claim_with_signature",
            "The quote names an operator other than the sender. Claim it again with `integrity`, the payer's signature "
            "of the quote; then the difference can be paid or the operator can issue.",
            None,
        )
    if standing.claim_id is not None:
        return "wait_for_operator", "Other money redeemed the quote: the operator sends this back.", None
    return "wait_for_operator", "The operator issues the key or sends the money back. Don't pay again.", None
