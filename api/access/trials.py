"""Issues trial keys over HTTP: a challenge, and a key in return for its signature."""

import asyncio
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from api.access.rpc import Providers, settle
from api.bodies import JsonRoute
from api.parameters import REPLAYED_HEADERS, replayed_header
from api.responses import STORE_ERRORS, TEXT_ERRORS, private_document, problems
from contracts.access.plans import PLANS_PATH
from contracts.access.proofs import NotProved, Proof
from contracts.access.rail import PaymentRail
from contracts.access.recovery import check_proof
from contracts.access.refusals import PayerContractUnsure, payer_contract_unsure
from contracts.access.trial_keys import (
    TrialAnswer,
    TrialAnswered,
    TrialChallenge,
    TrialRefused,
    TrialRequest,
    TrialsExhausted,
    TrialsOff,
    TrialTaken,
    challenge_sha256,
    is_recent,
    shared_network,
    trial_challenge,
    trial_packet,
    trial_typed_data,
)
from contracts.access.trial_offer import TRIAL_PATH
from contracts.access.trial_plan import trial_plan
from contracts.addresses import AskedAddress
from contracts.errors import ParameterInvalid
from contracts.secrets import DerivedSecrets
from warehouse.access.trials import (
    Applicant,
    IssuedTrial,
    Lacking,
    answered,
    is_answered,
    lacking,
    take_trial,
)
from warehouse.ledger.ledger import Ledger, Reader

_ISSUED: dict[int | str, dict[str, Any]] = {
    201: {"description": "Issued, or the same answer again on a retry", "headers": REPLAYED_HEADERS}
}

Wallet = Annotated[AskedAddress, Path(alias="address", description="The wallet that gets the key, and signs for it")]


@dataclass(frozen=True, eq=False)
class Trials:
    """Issues trial keys, `most_a_day` at most. One object per process.

    `ledger` and `derived` may raise `OperatorProblem`; `client_of` returns the address that a request came from.
    """

    rail: PaymentRail
    providers: Providers
    base_url: str
    most_a_day: int
    ledger: Callable[[], Ledger]
    derived: Callable[[], DerivedSecrets]
    client_of: Callable[[Request], str]
    _: KW_ONLY
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def challenge(self, wallet: str) -> TrialChallenge:
        """Returns the message that a wallet signs. Raises `TrialsOff`."""
        self._refuse_if_off()
        return trial_challenge(
            wallet,
            base_url=self.base_url,
            chain_id=self.rail.chain_id,
            pepper=self.derived().pepper,
            now=self.clock(),
        )

    async def issue(self, wallet: str, request: TrialRequest, client: str) -> tuple[TrialAnswer, bool]:
        """Returns the key of a signed challenge, and whether this repeats an earlier answer.

        Raises `TrialsOff`, `TrialRefused`, `TrialTaken`, `TrialsExhausted`, `TrialAnswered`.
        """
        self._refuse_if_off()
        applicant, proof = await asyncio.to_thread(self._check, wallet, request, client)
        settled = await settle(proof, self.providers, self.rail.quorum)
        if isinstance(settled, str):
            raise payer_contract_unsure()
        if isinstance(settled, NotProved):
            raise _refused()
        issued = await asyncio.to_thread(self._take, applicant)
        packet = trial_packet(
            key_text=issued.key_text,
            key_id=issued.key_id,
            owner=wallet,
            issued_at=issued.issued_at,
            base_url=self.base_url,
        )
        return TrialAnswer(data=packet), issued.replayed

    def _check(self, wallet: str, request: TrialRequest, client: str) -> tuple[Applicant, Proof]:
        """Refuses what can be refused without a signature check, then checks the signature as far as possible without
        the chain. A challenge that was answered is accepted at any age, because its answer may have been lost."""
        message = trial_typed_data(
            wallet,
            request.issued_at,
            base_url=self.base_url,
            chain_id=self.rail.chain_id,
            pepper=self.derived().pepper,
        )
        applicant = Applicant(wallet, shared_network(client), challenge_sha256(message))
        with self.ledger().read() as reader:
            if not is_answered(reader, applicant.challenge_sha256):
                if not is_recent(request.issued_at, self.clock()):
                    raise _refused()
                self._refuse_if_none_left(reader, applicant)
        return applicant, check_proof(request.proof, message, signer=wallet)

    def _take(self, applicant: Applicant) -> IssuedTrial:
        derived, now = self.derived(), self.clock()
        with self.ledger().transaction() as tx:
            if is_answered(tx, applicant.challenge_sha256):
                again = answered(tx, derived, applicant.challenge_sha256, now=now)
                if again is None:
                    raise TrialAnswered("The key was used, or a day has passed. The wallet that signed already got it.")
                return again
            self._refuse_if_none_left(tx, applicant)
            return take_trial(tx, derived, applicant, self.most_a_day, now=now)

    def _refuse_if_off(self) -> None:
        if not self.most_a_day:
            raise TrialsOff("The operator has switched trial keys off (SVC_TRIAL_KEYS_PER_DAY).")

    def _refuse_if_none_left(self, reader: Reader, applicant: Applicant) -> None:
        now = self.clock()
        lacks = lacking(reader, self.derived(), applicant, self.most_a_day, now=now)
        if lacks is not None:
            raise self._exhausted(lacks, now)

    def _exhausted(self, lacks: Lacking, now: datetime) -> TrialTaken | TrialsExhausted:
        links: dict[str, object] = {"links": {"plans": self.base_url + PLANS_PATH}}
        if lacks == "wallet":
            return TrialTaken(
                f"A wallet without another key gets one in {trial_plan().wallet_days} days.", extensions=links
            )
        tomorrow = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1)
        wait = {"Retry-After": str(max(1, int((tomorrow - now).total_seconds()) + 1))}
        whose = (
            f"A network gets {trial_plan().keys_per_network} trial keys per UTC day."
            if lacks == "network"
            else f"This installation issues {self.most_a_day} trial keys per UTC day."
        )
        return TrialsExhausted(whose, headers=wait, extensions=links)


def trials_router(trials: Trials) -> APIRouter:
    router = APIRouter(tags=["agent access"], route_class=JsonRoute)
    plan = trial_plan()

    @router.get(
        TRIAL_PATH,
        response_model=TrialChallenge,
        responses=problems(ParameterInvalid, TrialsOff, *STORE_ERRORS),
        summary="What a wallet signs to get a trial key",
        description="EIP-712 typed data that names the wallet and this service; valid for ten minutes and one key.",
        operation_id="agent_access_trial_challenge",
    )
    def challenge(address: Wallet) -> Response:
        return private_document(trials.challenge(address))

    @router.post(
        TRIAL_PATH,
        response_model=TrialAnswer,
        status_code=201,
        responses=_ISSUED
        | problems(
            ParameterInvalid,
            TrialRefused,
            TrialTaken,
            TrialAnswered,
            TrialsExhausted,
            TrialsOff,
            PayerContractUnsure,
            *TEXT_ERRORS,
            *STORE_ERRORS,
        ),
        summary="Get a trial key",
        description=f"Issues a key for {plan.requests_per_day} requests per UTC day over {plan.days} days, in return "
        "for the wallet's signature of the challenge and without payment. It can write up to "
        f"{plan.private_nodes} private nodes, which are erased {plan.erased_after_days} days after the trial ends "
        "unless the wallet has another key by then. The same signed challenge returns the same key until that is "
        "used, for at most 24 hours.",
        operation_id="agent_access_trial",
    )
    async def issue(address: Wallet, body: TrialRequest, request: Request) -> Response:
        answer, replayed = await trials.issue(address, body, trials.client_of(request))
        return private_document(answer, 201, replayed_header(replayed))

    return router


def _refused() -> TrialRefused:
    return TrialRefused("Ask for a fresh challenge and have the wallet sign its typedData as it is.")
