"""Lets a key read its own account, rotate itself and revoke itself.

`KeyAccounts` is the service; surfaces other than HTTP use it too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import KW_ONLY, dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response

from api.challenges import unauthorized
from api.deps import AuthenticatedReadingRoute, authenticated_router, caller_of
from api.key_gate import CALLER, DAY_S, presented_key
from api.parameters import REPLAYED_HEADERS, replayed_header
from api.receiving import values_of
from api.responses import private_document, problems
from api.routes import merge_routes
from contracts.access.account import (
    DEFAULT_DAYS,
    REVOKE_PATH,
    ROTATE_PATH,
    AccountAnswer,
    AccountData,
    AccountDay,
    AccountKey,
    AccountParameters,
    AccountTerms,
    RevocationAnswer,
    RevocationData,
    RotationAnswer,
    RotationData,
    account_links,
    account_plan,
    account_quota,
    rotation_digest,
)
from contracts.access.api_keys import ApiKey, parse_key
from contracts.access.claims import activation_packet, recovery_url
from contracts.access.plans import load_plans
from contracts.access.tiers import Caller, quota_counter
from contracts.errors import ParameterInvalid
from contracts.idempotency import IDEMPOTENCY_HEADER, LONGEST_IDEMPOTENCY_KEY, SHORTEST_ANONYMOUS_KEY
from contracts.publish.routes import ACCOUNT_PATH
from contracts.sealing import unseal
from contracts.secrets import DerivedSecrets
from contracts.times import utc_day
from warehouse.access.account import Account, Rotation, find_rotation, read_account, revoke_itself, rotate_itself
from warehouse.access.keys import KeyRecord
from warehouse.ledger.counters import Counters
from warehouse.ledger.ledger import Ledger

_V2 = "/api/v2"

_ROTATED: dict[int | str, dict[str, Any]] = {
    201: {"description": "The next key, or the same answer again on a retry", "headers": REPLAYED_HEADERS}
}

RotationKey = Annotated[
    str,
    Header(
        alias=IDEMPOTENCY_HEADER,
        min_length=SHORTEST_ANONYMOUS_KEY,
        max_length=LONGEST_IDEMPOTENCY_KEY,
        description="A random text, such as a UUID. A retry with the rotated key and this value gets the same new key "
        "until the new key is first used, for at most 24 hours, so a lost reply loses no key",
    ),
]


@dataclass(frozen=True, eq=False)
class KeyAccounts:
    """Serves keys their own accounts. One object per process. The stores may raise `OperatorProblem`."""

    base_url: str
    sells: bool
    """True if this installation sells anything."""
    ledger: Callable[[], Ledger]
    derived: Callable[[], DerivedSecrets]
    counters: Callable[[], Counters]
    _: KW_ONLY
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def read(self, caller: Caller, days: int = DEFAULT_DAYS) -> AccountData | None:
        """Returns the account of a caller's key, with its usage over `days` UTC days; None if the key is gone."""
        now = self.clock()
        since = now - timedelta(days=days - 1)
        with self.ledger().read() as reader:
            account = read_account(reader, caller.key_id, since)
        return None if account is None else self._shown(account, now, utc_day(since))

    def rotate(self, key: ApiKey, idempotency_key: str) -> tuple[RotationAnswer, bool] | None:
        """Replaces the presented key. Returns the answer with the next key, and whether it repeats an earlier answer.

        Returns None if the key is invalid and this request did not rotate it, or if the answer is no longer repeated.
        """
        derived, now = self.derived(), self.clock()
        digest = rotation_digest(derived.pepper, key.digest(derived.pepper), idempotency_key)
        with self.ledger().transaction() as tx:
            rotation = rotate_itself(tx, derived.pepper, derived.sealing_key, key, digest, now=now)
        answer = None if rotation is None else self._packed(rotation, digest)
        return None if rotation is None or answer is None else (answer, rotation.was_done)

    def repeated(self, presented: str, idempotency_key: str) -> RotationAnswer | None:
        """Returns the answer of the rotation that revoked a presented key, if this request is a retry of it."""
        key = parse_key(presented)
        if key is None:
            return None
        derived = self.derived()
        digest = rotation_digest(derived.pepper, key.digest(derived.pepper), idempotency_key)
        with self.ledger().read() as reader:
            rotation = find_rotation(reader, digest, now=self.clock())
        return None if rotation is None else self._packed(rotation, digest)

    def revoke(self, caller: Caller) -> RevocationAnswer | None:
        """Revokes the caller's key. Returns None if it was already revoked a moment ago."""
        with self.ledger().transaction() as tx:
            key = revoke_itself(tx, caller.key_id, now=self.clock())
        if key is None:
            return None
        recovery = None if key.claim_id is None else recovery_url(self.base_url, key.claim_id)
        return RevocationAnswer(data=RevocationData(key_id=key.key_id, revoked_at=key.changed_at, recovery=recovery))

    def _shown(self, account: Account, now: datetime, since: str) -> AccountData:
        key = account.key
        terms = self._terms(key, account.plan_id)
        if terms.requests_per_day_at(now) is None:
            used = account.requests.get(utc_day(now), 0)
        else:
            used = self.counters().taken(quota_counter(key.family_id), DAY_S, now.timestamp())
        return AccountData(
            key_id=key.key_id,
            owner=key.owner,
            role=key.role,
            max_class=key.max_class,
            plan=account_plan(terms, now),
            quota=account_quota(terms, used, now),
            family_id=key.family_id,
            family_size=account.family_size,
            keys=[
                AccountKey(
                    key_id=known.key.key_id,
                    hint=known.key.hint,
                    state=known.key.state.value,
                    is_this_one=known.key.key_id == key.key_id,
                    created_at=known.key.created_at,
                    changed_at=known.key.changed_at,
                    first_used_at=known.key.first_used_at,
                    last_used_at=known.last_used_at,
                )
                for known in account.keys
            ],
            usage=[AccountDay(day=day, requests=requests) for day, requests in account.requests.items()],
            usage_since=since,
            links=account_links(self.base_url, key.claim_id, sells=self.sells),
        )

    def _terms(self, key: KeyRecord, plan_id: str | None = None) -> AccountTerms:
        plan = None if plan_id is None else load_plans().get(plan_id)
        return AccountTerms(plan, key.claim_id, key.tier, key.paid_until, key.trial_ends_at)

    def _packed(self, rotation: Rotation, digest: str) -> RotationAnswer | None:
        text = None if rotation.sealed is None else unseal(self.derived().sealing_key, rotation.sealed, digest)
        if text is None:
            return None
        successor = rotation.successor
        terms, now = self._terms(successor), self.clock()
        packet = activation_packet(
            tier=terms.tier_at(now),
            access_expires_at=account_plan(terms, now).expires_at,
            key_text=text,
            key_id=successor.key_id,
            requests_per_day=terms.requests_per_day_at(now),
            base_url=self.base_url,
        )
        return RotationAnswer(data=RotationData(revoked_key_id=rotation.key.key_id, activation_packet=packet))


def account_router(accounts: KeyAccounts) -> APIRouter:
    """Creates the routes. The stores may raise `OperatorProblem`."""

    class RotationRoute(AuthenticatedReadingRoute):
        """Accepts a revoked key only for a retry of the very request that rotated it."""

        def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
            answer = super().get_route_handler()

            async def answer_rotated(request: Request) -> Response:
                presented, idempotency_key = _presented(request), request.headers.get(IDEMPOTENCY_HEADER)
                if request.scope.get(CALLER) is None and presented is not None and idempotency_key is not None:
                    repeated = await asyncio.to_thread(accounts.repeated, presented, idempotency_key)
                    if repeated is not None:
                        return private_document(repeated, 201, replayed_header(True))
                return await answer(request)

            return answer_rotated

    reading = authenticated_router("agent access", AuthenticatedReadingRoute)
    rotating = authenticated_router("agent access", RotationRoute)

    @reading.get(
        ACCOUNT_PATH.removeprefix(_V2),
        response_model=AccountAnswer,
        responses=problems(ParameterInvalid),
        summary="Your key",
        description="Plan, quota left, expiry, all keys of the family and the usage by day. It counts against the "
        "address, not against the key's day, so it still answers when the day's quota is used up.",
        operation_id="my_key",
    )
    def read(request: Request, parameters: Annotated[AccountParameters, Query()]) -> Response:
        account = accounts.read(caller_of(request), parameters.days)
        if account is None:
            raise unauthorized()
        return private_document(AccountAnswer(data=account))

    @rotating.post(
        ROTATE_PATH.removeprefix(_V2),
        response_model=RotationAnswer,
        status_code=201,
        responses=_ROTATED | problems(ParameterInvalid),
        summary="Replace your key",
        description="Revokes the key that the request is sent with, in every process at once, and issues the next one "
        "of its family. Owner, tier, paid time and quota stay the same.",
        operation_id="my_key_rotate",
    )
    def rotate(request: Request, idempotency_key: RotationKey) -> Response:
        key = parse_key(_presented(request) or "")
        rotated = None if key is None else accounts.rotate(key, idempotency_key)
        if rotated is None:
            raise unauthorized()
        answer, replayed = rotated
        return private_document(answer, 201, replayed_header(replayed))

    @reading.post(
        REVOKE_PATH.removeprefix(_V2),
        response_model=RevocationAnswer,
        summary="Revoke your key",
        description="Revokes the key that the request is sent with, in every process at once and for good. If the key "
        "was bought, its owner can still have it replaced with a signature.",
        operation_id="my_key_revoke",
    )
    def revoke(request: Request) -> Response:
        revoked = accounts.revoke(caller_of(request))
        if revoked is None:
            raise unauthorized()
        return private_document(revoked)

    merge_routes(reading, rotating)
    return reading


def _presented(request: Request) -> str | None:
    return presented_key(*(values_of(request.scope["headers"], name) for name in (b"authorization", b"x-api-key")))
