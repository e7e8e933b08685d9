"""Replaces a lost key over HTTP: a challenge, and its signed answer that issues the next key."""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Response

from api.access.rpc import Providers
from api.bodies import JsonRoute
from api.responses import private_document, problems
from contracts.access.claims import Claim, activation_packet
from contracts.access.proofs import AskContract, NotProved, contract_says
from contracts.access.rail import PaymentRail
from contracts.access.recovery import (
    RECOVERY_PATH,
    KeyNotRecoverable,
    RecoveryAnswer,
    RecoveryChallenge,
    RecoveryData,
    RecoveryRefused,
    RecoveryRequest,
    check_recovery,
    recovery_challenge,
)
from contracts.access.refusals import ClaimUnknown, PayerContractUnsure, payer_contract_unsure
from contracts.access.tiers import Tier
from contracts.errors import (
    BodyInvalid,
    BodyTooLarge,
    InternalFault,
    MediaTypeUnsupported,
    MethodNotAllowed,
    RateLimited,
    StoreUnavailable,
)
from contracts.secret_texts import SecretInText
from contracts.secrets import DerivedSecrets
from warehouse.access.claims import find_claim
from warehouse.access.keys import KeyRecord, KeyState, alive_key_of_claim, rotate_key
from warehouse.ledger.ledger import Ledger, Reader

_EVERY = (ClaimUnknown, KeyNotRecoverable, MethodNotAllowed, RateLimited, InternalFault, StoreUnavailable)
_BODY = (BodyInvalid, SecretInText, BodyTooLarge, MediaTypeUnsupported)

ClaimId = Annotated[str, Path(alias="claimId")]


class Recovery:
    """Replaces keys. One object a process. `ledger` and `derived` may raise `OperatorProblem`."""

    def __init__(
        self,
        rail: PaymentRail,
        providers: Providers,
        base_url: str,
        ledger: Callable[[], Ledger],
        derived: Callable[[], DerivedSecrets],
        requests_per_day: dict[Tier, int | None],
        *,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._rail = rail
        self._providers = providers
        self._base_url = base_url
        self._ledger = ledger
        self._derived = derived
        self._requests_per_day = requests_per_day
        self._clock = clock

    def challenge(self, claim_id: str) -> RecoveryChallenge:
        """Returns the message that the owner of a claim's key signs. Raises `ClaimUnknown`, `KeyNotRecoverable`."""
        with self._ledger().read() as reader:
            claim, key = _recoverable(reader, claim_id)
        return recovery_challenge(
            claim_id,
            key.key_id,
            key.owner,
            chain_id=claim.chain_id,
            base_url=self._base_url,
            now=self._clock(),
        )

    async def replace(self, claim_id: str, request: RecoveryRequest) -> RecoveryAnswer:
        """Revokes a claim's key and issues the next one. Raises `RecoveryRefused` and the errors of `challenge`."""
        key, proof = await asyncio.to_thread(self._check, claim_id, request)
        if isinstance(proof, NotProved):
            raise _refused()
        if isinstance(proof, AskContract):
            await self._ask_contract(proof)
        return await asyncio.to_thread(self._rotate, claim_id, key)

    def _check(self, claim_id: str, request: RecoveryRequest) -> tuple[KeyRecord, object]:
        with self._ledger().read() as reader:
            claim, key = _recoverable(reader, claim_id)
        proof = check_recovery(
            request,
            claim_id=claim_id,
            key_id=key.key_id,
            signer=key.owner,
            chain_id=claim.chain_id,
            now=self._clock(),
        )
        return key, proof

    async def _ask_contract(self, proof: AskContract) -> None:
        verdict = contract_says(await self._providers.calls(proof.address, proof.data), self._rail.quorum)
        if isinstance(verdict, str):
            raise payer_contract_unsure()
        if not verdict:
            raise _refused()

    def _rotate(self, claim_id: str, signed_for: KeyRecord) -> RecoveryAnswer:
        pepper = self._derived().pepper
        with self._ledger().transaction() as tx:
            claim, key = _recoverable(tx, claim_id)
            if (key.key_id, key.owner) != (signed_for.key_id, signed_for.owner):
                raise _refused()  # another signature was faster, or the operator has become the owner
            issued = rotate_key(tx, pepper, key.key_id, now=self._clock())
        packet = activation_packet(
            claim,
            key_text=issued.key.reveal(),
            key_id=issued.record.key_id,
            requests_per_day=self._requests_per_day[claim.tier],
            base_url=self._base_url,
        )
        return RecoveryAnswer(data=RecoveryData(claim_id=claim_id, revoked_key_id=key.key_id, activation_packet=packet))


def recovery_router(recovery: Recovery) -> APIRouter:
    """Creates the routes over this process's `Recovery`."""
    router = APIRouter(tags=["agent access"], route_class=JsonRoute)

    @router.get(
        RECOVERY_PATH,
        response_model=RecoveryChallenge,
        responses=problems(*_EVERY),
        summary="What its owner signs to replace a lost key",
        description="EIP-712 typed data that names the claim's present key; good for ten minutes and one replacement.",
        operation_id="agent_access_recovery_challenge",
    )
    def challenge(claim_id: ClaimId) -> Response:
        return private_document(recovery.challenge(claim_id))

    @router.post(
        RECOVERY_PATH,
        response_model=RecoveryAnswer,
        status_code=201,
        responses=problems(RecoveryRefused, PayerContractUnsure, *_BODY, *_EVERY),
        summary="Replace a lost key",
        description="Revokes the claim's key and issues the next one, by its owner's signature of the challenge. "
        "Owner, tier, paid time and quota stay.",
        operation_id="agent_access_recovery",
    )
    async def replace(claim_id: ClaimId, body: RecoveryRequest) -> Response:
        return private_document(await recovery.replace(claim_id, body), 201)

    return router


def _recoverable(reader: Reader, claim_id: str) -> tuple[Claim, KeyRecord]:
    claim = find_claim(reader, claim_id)
    if claim is None:
        raise ClaimUnknown("No claim has this id.")
    key = alive_key_of_claim(reader, claim_id)
    if key is None:
        raise KeyNotRecoverable("The operator has revoked the claim's key.")
    if claim.state == "reversed" or key.state is KeyState.SUSPENDED:
        raise KeyNotRecoverable("The claim is reversed: its payment has left the chain.")
    return claim, key


def _refused() -> RecoveryRefused:
    return RecoveryRefused("Ask for a fresh challenge and have the owner of the claim's key, its `signer`, sign it.")
