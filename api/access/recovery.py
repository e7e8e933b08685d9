"""Replaces a lost key over HTTP: issues a challenge, and the next key in return for its signature."""

import asyncio
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Path, Response

from api.access.rpc import Providers, settle
from api.bodies import JsonRoute
from api.responses import STORE_ERRORS, TEXT_ERRORS, private_document, problems
from contracts.access.claims import Claim, activation_packet
from contracts.access.plans import load_calls
from contracts.access.proofs import NotProved, Proof, Proved
from contracts.access.rail import PaymentRail
from contracts.access.recovery import (
    CHALLENGE_FOR,
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
from contracts.secrets import DerivedSecrets
from warehouse.access.claims import find_claim
from warehouse.access.keys import KeyRecord, KeyState, replaceable_key_of_claim, replaced_keys_of_claim, rotate_key
from warehouse.ledger.ledger import Ledger, Reader

_CHALLENGES_RECOGNISED = 5
"""How many used challenges are distinguished from forged ones: each costs a signature check."""

_EVERY = (ClaimUnknown, KeyNotRecoverable, *STORE_ERRORS)

ClaimId = Annotated[str, Path(alias="claimId")]


@dataclass(frozen=True, eq=False)
class Recovery:
    """Replaces keys. One object per process. `ledger` and `derived` may raise `OperatorProblem`."""

    rail: PaymentRail
    providers: Providers
    base_url: str
    ledger: Callable[[], Ledger]
    derived: Callable[[], DerivedSecrets]
    requests_per_day: dict[Tier, int | None]
    _: KW_ONLY
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def challenge(self, claim_id: str) -> RecoveryChallenge:
        """Returns the message that the owner of a claim's key signs. Raises `ClaimUnknown`, `KeyNotRecoverable`."""
        with self.ledger().read() as reader:
            claim, key = _recoverable(reader, claim_id)
        return recovery_challenge(
            claim_id,
            key.key_id,
            key.owner,
            chain_id=claim.chain_id,
            base_url=self.base_url,
            now=self.clock(),
        )

    async def replace(self, claim_id: str, request: RecoveryRequest) -> RecoveryAnswer:
        """Revokes a claim's key and issues the next one. Raises `RecoveryRefused` and the errors of `challenge`."""
        key, proof = await asyncio.to_thread(self._check, claim_id, request)
        settled = await settle(proof, self.providers, self.rail.quorum)
        if isinstance(settled, str):
            raise payer_contract_unsure()
        if isinstance(settled, NotProved):
            raise _refused()
        return await asyncio.to_thread(self._rotate, claim_id, key)

    def _check(self, claim_id: str, request: RecoveryRequest) -> tuple[KeyRecord, Proof]:
        now = self.clock()
        with self.ledger().read() as reader:
            claim, key = _recoverable(reader, claim_id)
            since = now - CHALLENGE_FOR
            replaced = replaced_keys_of_claim(reader, claim_id, since=since, limit=_CHALLENGES_RECOGNISED)

        def checked(key_id: str) -> Proof:
            return check_recovery(
                request, claim_id=claim_id, key_id=key_id, signer=key.owner, chain_id=claim.chain_id, now=now
            )

        proof = checked(key.key_id)
        if isinstance(proof, NotProved) and any(isinstance(checked(old.key_id), Proved) for old in replaced):
            raise _used()
        return key, proof

    def _rotate(self, claim_id: str, signed_for: KeyRecord) -> RecoveryAnswer:
        pepper = self.derived().pepper
        with self.ledger().transaction() as tx:
            claim, key = _recoverable(tx, claim_id)
            if (key.key_id, key.owner) != (signed_for.key_id, signed_for.owner):
                raise _used()  # another signature was faster, or the operator has become the owner
            issued = rotate_key(tx, pepper, key.key_id, now=self.clock())
        packet = activation_packet(
            tier=claim.tier,
            access_expires_at=claim.access_expires_at,
            key_text=issued.key.reveal(),
            key_id=issued.record.key_id,
            requests_per_day=self.requests_per_day[claim.tier],
            base_url=self.base_url,
        )
        return RecoveryAnswer(data=RecoveryData(claim_id=claim_id, revoked_key_id=key.key_id, activation_packet=packet))


def recovery_router(recovery: Recovery) -> APIRouter:
    router = APIRouter(tags=["agent access"], route_class=JsonRoute)

    @router.get(
        RECOVERY_PATH,
        response_model=RecoveryChallenge,
        responses=problems(*_EVERY),
        summary="What the owner of a lost key signs to replace it",
        description="EIP-712 typed data that names the claim's current key; valid for ten minutes and one replacement.",
        operation_id="agent_access_recovery_challenge",
    )
    def challenge(claim_id: ClaimId) -> Response:
        return private_document(recovery.challenge(claim_id))

    @router.post(
        RECOVERY_PATH,
        response_model=RecoveryAnswer,
        status_code=201,
        responses=problems(RecoveryRefused, PayerContractUnsure, *TEXT_ERRORS, *_EVERY),
        summary="Replace a lost key",
        description="Revokes the claim's key and issues the next one, given its owner's signature of the challenge. "
        "Owner, tier, paid time and quota stay the same.",
        operation_id="agent_access_recovery",
    )
    async def replace(claim_id: ClaimId, body: RecoveryRequest) -> Response:
        return private_document(await recovery.replace(claim_id, body), 201)

    return router


def _recoverable(reader: Reader, claim_id: str) -> tuple[Claim, KeyRecord]:
    claim = find_claim(reader, claim_id)
    if claim is None:
        raise ClaimUnknown("No claim has this id.")
    key = replaceable_key_of_claim(reader, claim_id)
    if claim.plan_id in {call.id for call in load_calls().values()}:
        raise KeyNotRecoverable("The claim bought a single call, which has no key.")
    if key is None:
        raise KeyNotRecoverable("The operator has revoked the claim's key.")
    if claim.state == "reversed" or key.state is KeyState.SUSPENDED:
        raise KeyNotRecoverable("The claim is reversed: its payment has left the chain.")
    return claim, key


def _used() -> RecoveryRefused:
    return RecoveryRefused(
        "The signature is valid, but its challenge was already used: the key that it names is no longer the claim's "
        "current key. If you have no later key, request a fresh challenge and sign that."
    )


def _refused() -> RecoveryRefused:
    return RecoveryRefused("Ask for a fresh challenge and have the owner of the claim's key, its `signer`, sign it.")
