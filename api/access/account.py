"""Serves what a key knows and does about itself: its account, its rotation and its revocation.

`KeyAccounts` is the service; other surfaces than HTTP answer by it too.
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
    201: {"description": "The next key, or the same answer again", "headers": REPLAYED_HEADERS}
}

RotationKey = Annotated[
    str,
    Header(
        alias=IDEMPOTENCY_HEADER,
        min_length=SHORTEST_ANONYMOUS_KEY,
        max_length=LONGEST_IDEMPOTENCY_KEY,
        description="A random text, such as a UUID. The rotated key, sent again with it, gets the same new key until "
        "that is first used, or for 24 hours: so a lost reply loses no key",
    ),
]


@dataclass(frozen=True, eq=False)
class KeyAccounts:
    """Answers keys about themselves. One object a process. The stores may raise `OperatorProblem`."""

    base_url: str
    sells: bool
    """True if this installation sells anything."""
    ledger: Callable[[], Ledger]
    derived: Callable[[], DerivedSecrets]
    counters: Callable[[], Counters]
    _: KW_ONLY
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def read(self, caller: Caller, days: int = DEFAULT_DAYS) -> AccountData | None:
        """Returns the account of a caller's key, with its usage of `days` UTC days; None if it has no key."""
        now = self.clock()
        since = now - timedelta(days=days - 1)
        with self.ledger().read() as reader:
            account = read_account(reader, caller.key_id, since)
        return None if account is None else self._shown(account, now, utc_day(since))

    def rotate(self, key: ApiKey, idempotency_key: str) -> tuple[RotationAnswer, bool] | None:
        """Returns the next key of the presented one, and whether it was given before.

        None if the key is not valid and this request has not rotated it, or its answer is no longer repeated.
        """
        derived, now = self.derived(), self.clock()
        digest = rotation_digest(derived.pepper, key.digest(derived.pepper), idempotency_key)
        with self.ledger().transaction() as tx:
            rotation = rotate_itself(tx, derived.pepper, derived.sealing_key, key, digest, now=now)
        answer = None if rotation is None else self._packed(rotation, digest)
        return None if rotation is None or answer is None else (answer, rotation.was_done)

    def repeated(self, presented: str, idempotency_key: str) -> RotationAnswer | None:
        """Returns the answer of the rotation by which a presented key was revoked, if this is that request."""
        key = parse_key(presented)
        if key is None:
            return None
        derived = self.derived()
        digest = rotation_digest(derived.pepper, key.digest(derived.pepper), idempotency_key)
        with self.ledger().read() as reader:
            rotation = find_rotation(reader, digest, now=self.clock())
        return None if rotation is None else self._packed(rotation, digest)

    def revoke(self, caller: Caller) -> RevocationAnswer | None:
        """Revokes the caller's key. Returns None if it was revoked a moment ago."""
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
        """Answers the key that it has revoked, if the very request that rotated it comes again; else refuses it."""

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
        description="Plan, quota left, expiry, all keys of the family and the usage by day. It counts for the address, "
        "not for the key's day, so it is answered when that is used up.",
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
        "of its family. Owner, tier, paid time and quota stay.",
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
        description="The key that the request is sent with is valid no more, in every process at once, and it can't be "
        "made valid again. If it was bought, its owner can still have it replaced by a signature.",
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
