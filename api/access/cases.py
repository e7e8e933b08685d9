"""Serves cases over HTTP: the sender of money that no claim uses can follow its case and pay a missing amount."""

import asyncio
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Response

from api.access.coin import Coin
from api.access.rpc import Providers, settle
from api.bodies import JsonRoute
from api.responses import BODY_ERRORS, STORE_ERRORS, private_document, problems
from contracts.access.case_access import (
    CaseAnswer,
    CaseChallenge,
    CaseRefused,
    CaseRequest,
    CaseUnknown,
    SupplementNotOffered,
    case_answer,
    case_challenge,
    case_url,
    check_case_access,
)
from contracts.access.cases import Case, CaseStanding
from contracts.access.plans import CASE_PATH, CASE_SUPPLEMENT_PATH
from contracts.access.proofs import NotProved, Proof
from contracts.access.quote_answers import QuoteAnswer, quote_answer
from contracts.access.rail import PaymentRail
from contracts.access.refusals import PayerContractUnsure, PaymentsNotConfigured, payer_contract_unsure
from contracts.access.signing import JWKS_PATH, KeySet
from contracts.errors import PaymentUnknown
from warehouse.access.cases import find_case
from warehouse.access.supplements import offer_supplement, standing_of
from warehouse.ledger.ledger import Ledger, Reader

_EVERY = (CaseUnknown, *STORE_ERRORS)
_SIGNED = (CaseRefused, PayerContractUnsure, *BODY_ERRORS)

CaseId = Annotated[str, Path(alias="caseId")]


@dataclass(frozen=True, eq=False)
class Cases:
    """Serves cases. One object per process. `ledger` and `key_set` may raise `OperatorProblem`."""

    rail: PaymentRail
    providers: Providers
    base_url: str
    ledger: Callable[[], Ledger]
    key_set: Callable[[], KeySet]
    coin: Coin
    _: KW_ONLY
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def challenge(self, case_id: str) -> CaseChallenge:
        """Returns the challenge that the sender of a case's money signs. Raises `CaseUnknown`."""
        with self.ledger().read() as reader:
            case = _known(reader, case_id)
        return case_challenge(case, base_url=self.base_url, now=self.clock())

    async def read(self, case_id: str, request: CaseRequest) -> CaseAnswer:
        """Returns a case to the sender of its money. Raises `CaseUnknown`, `CaseRefused`, `PayerContractUnsure`."""
        await self._require_sender(case_id, request)
        return await asyncio.to_thread(self._read, case_id)

    async def supplement(self, case_id: str, request: CaseRequest) -> QuoteAnswer:
        """Returns the quote for the missing amount, the same one for as long as it can be paid.

        Raises `SupplementNotOffered`, `PaymentsNotConfigured` and the errors of `read`.
        """
        if self.rail.missing:
            raise PaymentsNotConfigured(f"The operator has yet to set {', '.join(self.rail.missing)}.")
        if (fault := await self.coin.fault()) is not None:
            raise PaymentsNotConfigured(f"The coin that the operator has set {fault}: no amount would be right.")
        await self._require_sender(case_id, request)
        return await asyncio.to_thread(self._supplement, case_id)

    async def _require_sender(self, case_id: str, request: CaseRequest) -> None:
        proof = await asyncio.to_thread(self._check, case_id, request)
        settled = await settle(proof, self.providers, self.rail.quorum)
        if isinstance(settled, str):
            raise payer_contract_unsure()
        if isinstance(settled, NotProved):
            raise CaseRefused("Ask for a fresh challenge and have the sender of the money sign it.")

    def _check(self, case_id: str, request: CaseRequest) -> Proof:
        with self.ledger().read() as reader:
            case = _known(reader, case_id)
        return check_case_access(request, case, now=self.clock())

    def _read(self, case_id: str) -> CaseAnswer:
        with self.ledger().read() as reader:
            standing = standing_of(reader, _known(reader, case_id), self.rail, now=self.clock())
        return _answer(standing, self.rail, self.base_url)

    def _supplement(self, case_id: str) -> QuoteAnswer:
        with self.ledger().transaction() as tx:
            now = self.clock()
            standing = standing_of(tx, _known(tx, case_id), self.rail, now=now)
            offered = offer_supplement(tx, standing, self.key_set().signer(now), now=now)
        if offered is None:
            step = _answer(standing, self.rail, self.base_url).next
            links = {"case": case_url(self.base_url, case_id)}
            if step.action == "recover_key" and step.url is not None:
                links["recovery"] = step.url
            raise SupplementNotOffered(step.detail, extensions={"links": links})
        keys_url = self.base_url + JWKS_PATH
        return quote_answer(offered.quote, offered.signature, self.rail, self.base_url, keys_url=keys_url)


def cases_router(cases: Cases) -> APIRouter:
    router = APIRouter(tags=["agent access"], route_class=JsonRoute)

    @router.get(
        CASE_PATH,
        response_model=CaseChallenge,
        responses=problems(*_EVERY),
        summary="What the sender signs to read a case",
        description="EIP-712 typed data, valid for ten minutes. A claim's refusal names the case of its money.",
        operation_id="agent_access_case_challenge",
    )
    def challenge(case_id: CaseId) -> Response:
        return private_document(cases.challenge(case_id))

    @router.post(
        CASE_PATH,
        response_model=CaseAnswer,
        responses=problems(*_SIGNED, *_EVERY),
        summary="Read a case",
        description="The amounts sent and asked for, the state of the case and what happens next, for the sender of "
        "the money only.",
        operation_id="agent_access_case",
    )
    async def read(case_id: CaseId, body: CaseRequest) -> Response:
        return private_document(await cases.read(case_id, body))

    @router.post(
        CASE_SUPPLEMENT_PATH,
        response_model=QuoteAnswer,
        status_code=201,
        responses=problems(SupplementNotOffered, PaymentsNotConfigured, *_SIGNED, *_EVERY),
        summary="Get a quote for the difference",
        description="If less was sent than the quote asked for: a quote for the rest. Its claim uses both payments and "
        "issues the first quote's key. While that quote is valid, a repeated request returns the same one.",
        operation_id="agent_access_case_supplement",
    )
    async def supplement(case_id: CaseId, body: CaseRequest) -> Response:
        return private_document(await cases.supplement(case_id, body), 201)

    return router


def _known(reader: Reader, case_id: str) -> Case:
    try:
        return find_case(reader, case_id)
    except PaymentUnknown:
        raise CaseUnknown("No case has this id.") from None


def _answer(standing: CaseStanding, rail: PaymentRail, base_url: str) -> CaseAnswer:
    return case_answer(standing, asset=rail.asset, base_url=base_url)
