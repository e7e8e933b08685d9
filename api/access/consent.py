"""Makes the operator that a quote names the owner of its key, given a signature sent with the claim or later.

A contract that can't be queried does not delay a paid claim: the payer owns the key until the operator signs here.
"""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Response

from api.access.rpc import Providers, settle
from api.bodies import JsonRoute
from api.responses import STORE_ERRORS, TEXT_ERRORS, private_document, problems
from contracts.access.claims import Claim, ClaimRequest, operator_of
from contracts.access.consent import (
    CONSENT_PATH,
    Consent,
    ConsentAnswer,
    ConsentData,
    ConsentRequest,
    ConsentToFill,
    MovedParts,
    OperatorChallenge,
    check_consent,
    consent_to_claim,
    consent_to_quote,
    consent_url,
)
from contracts.access.proofs import AskContract, NotProved, Proof, Proved
from contracts.access.quotes import Quote
from contracts.access.rail import PaymentRail
from contracts.access.refusals import (
    ClaimUnknown,
    ConsentRefused,
    OperatorContractUnsure,
    OperatorNotProvable,
    OperatorProofInvalid,
    operator_contract_unsure,
)
from warehouse.access.claims import find_claim, find_quote
from warehouse.access.keys import alive_key_of_claim
from warehouse.access.owners import give_to_operator
from warehouse.ledger.ledger import Ledger, Reader

_EVERY = (ClaimUnknown, OperatorNotProvable, *STORE_ERRORS)
_log = logging.getLogger(__name__)

ClaimId = Annotated[str, Path(alias="claimId")]


def checked_consent(request: ClaimRequest, quote: Quote, rail: PaymentRail) -> Proved | AskContract | None:
    """Returns the consent sent with a claim, checked as far as possible without the chain; None if there is none.

    Raises `OperatorProofInvalid`.
    """
    if request.operator_proof is None:
        return None
    if not quote.names_operator:
        raise OperatorProofInvalid(
            "The quote names no operator but its payer, who owns the key. Leave integrity.operator out.",
            errors=[("/integrity/operator", "is a consent, but the quote names no operator to give one")],
        )
    consent = check_consent(request.operator_proof, consent_to_quote(quote.quote_hash, quote.operator, rail.chain_id))
    if isinstance(consent, NotProved):
        raise consent_invalid()
    return consent


async def settled_consent(
    consent: Proved | AskContract | None, providers: Providers, rail: PaymentRail
) -> Proved | NotProved | None:
    """Settles the consent sent with a claim by asking the operator's contract; returns None if that can't be asked."""
    settled = None if consent is None else await settle(consent, providers, rail.quorum)
    if isinstance(settled, str):
        assert isinstance(consent, AskContract)
        _log.warning("The contract of operator %s can't be asked: %s", consent.address, settled)
        return None
    return settled


@dataclass(frozen=True, eq=False)
class OperatorConsents:
    """Accepts consents after the claim. One object per process; `ledger` may raise `OperatorProblem`."""

    rail: PaymentRail
    providers: Providers
    base_url: str
    ledger: Callable[[], Ledger]

    def challenge(self, claim_id: str) -> OperatorChallenge:
        """Returns the message that the operator of a claim signs. Raises `ClaimUnknown`, `OperatorNotProvable`."""
        with self.ledger().read() as reader:
            claim = _provable(reader, claim_id)
        consent = consent_to_claim(claim_id, claim.operator, claim.chain_id)
        operator = operator_of(claim, self.base_url)
        assert operator is not None
        return OperatorChallenge(
            claim_id=claim_id,
            owner=claim.owner,
            operator=operator,
            typed_data=consent.typed_data,
            text=consent.text,
            url=consent_url(self.base_url, claim_id),
            body=ConsentToFill(),
        )

    async def accept(self, claim_id: str, request: ConsentRequest) -> ConsentAnswer:
        """Makes the operator the owner, if it is not already. Raises `ConsentRefused` and the errors of `challenge`."""
        proof = await asyncio.to_thread(self._check, claim_id, request)
        settled = await settle(proof, self.providers, self.rail.quorum)
        if isinstance(settled, str):
            raise operator_contract_unsure()
        if isinstance(settled, NotProved):
            raise ConsentRefused(
                "Have the operator that the claim's quote names sign the message that a GET of this address returns, "
                'or, with `over: "quote"`, the one that the quote returned.'
            )
        return await asyncio.to_thread(self._give, claim_id)

    def _check(self, claim_id: str, request: ConsentRequest) -> Proof:
        with self.ledger().read() as reader:
            claim = _provable(reader, claim_id)
            consent = _consent_to(reader, claim, request)
        return check_consent(request.proof, consent)

    def _give(self, claim_id: str) -> ConsentAnswer:
        with self.ledger().transaction() as tx:
            moved = give_to_operator(tx, _provable(tx, claim_id))
            claim = _provable(tx, claim_id)
        operator = operator_of(claim, self.base_url)
        assert operator is not None
        parts = MovedParts(nodes=moved.nodes, edges=moved.edges, left=moved.left)
        return ConsentAnswer(data=ConsentData(claim_id=claim_id, owner=claim.owner, operator=operator, moved=parts))


def consent_router(consents: OperatorConsents) -> APIRouter:
    router = APIRouter(tags=["agent access"], route_class=JsonRoute)

    @router.get(
        CONSENT_PATH,
        response_model=OperatorChallenge,
        responses=problems(*_EVERY),
        summary="What the operator signs to own the key",
        description="EIP-712 typed data, and the same as text, for the operator that the claim's quote names. Until "
        "the operator has signed, the payer owns the key and what the key writes.",
        operation_id="agent_access_operator_challenge",
    )
    def challenge(claim_id: ClaimId) -> Response:
        return private_document(consents.challenge(claim_id))

    @router.post(
        CONSENT_PATH,
        response_model=ConsentAnswer,
        responses=problems(ConsentRefused, OperatorContractUnsure, *TEXT_ERRORS, *_EVERY),
        summary="Make the operator the owner of the key",
        description="With the operator's signature, the key, its replacements and what it wrote become the operator's. "
        "The key stays the same, so its holder reads the operator's private data from then on; the operator can "
        "replace it. Repeating the request changes nothing.",
        operation_id="agent_access_operator",
    )
    async def accept(claim_id: ClaimId, body: ConsentRequest) -> Response:
        return private_document(await consents.accept(claim_id, body))

    return router


def _provable(reader: Reader, claim_id: str) -> Claim:
    claim = find_claim(reader, claim_id)
    if claim is None:
        raise ClaimUnknown("No claim has this id.")
    if claim.operator == claim.payer:
        raise OperatorNotProvable("The claim's quote names no operator: its payer owns the key, so nobody has to sign.")
    if claim.state == "reversed":
        raise OperatorNotProvable("The claim is reversed: its payment has left the chain. Sign when it is back.")
    if alive_key_of_claim(reader, claim_id) is None:
        raise OperatorNotProvable("The claim's key is revoked. If it revoked itself, have it replaced first.")
    return claim


def _consent_to(reader: Reader, claim: Claim, request: ConsentRequest) -> Consent:
    if request.over == "claim":
        return consent_to_claim(claim.claim_id, claim.operator, claim.chain_id)
    stored = find_quote(reader, claim.quote_id)
    assert stored is not None
    return consent_to_quote(stored.quote.quote_hash, claim.operator, claim.chain_id)


def consent_invalid() -> OperatorProofInvalid:
    """Returns the refusal of a consent that the operator did not give."""
    return OperatorProofInvalid(
        "`integrity.operator` is not the consent of the operator that the quote names. Sign the message in "
        "data.next.claim.operator of the quote, or leave it out, and send the claim again: nothing is consumed.",
        errors=[("/integrity/operator", "is not the operator's signature")],
    )
