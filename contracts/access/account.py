"""Defines what a key can read and change about itself: its account, its rotation and its revocation."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Literal

from pydantic import Field

from contracts.access.claims import ActivationPacket, receipt_url, recovery_url
from contracts.access.plans import PLANS_PATH, QUOTE_PATH, Plan
from contracts.access.tiers import Role, Tier
from contracts.access.trial_plan import requests_a_day, trial_plan
from contracts.base import DIGITS, Document, Timestamp
from contracts.canonical import canonical_json
from contracts.publish.routes import ACCOUNT_PATH
from contracts.standing import SourceClass

ROTATE_PATH = ACCOUNT_PATH + "/rotate"
REVOKE_PATH = ACCOUNT_PATH + "/revoke"

KEYS_SHOWN = 50
"""Maximum number of listed keys of a family, the newest first."""

MOST_DAYS = 400
DEFAULT_DAYS = 30


class AccountParameters(Document):
    """Query parameters of the account."""

    days: Annotated[int, Field(ge=1, le=MOST_DAYS), DIGITS] = Field(
        default=DEFAULT_DAYS, description="UTC days for which to show the usage, including today"
    )


class AccountPlan(Document):
    """The plan that was bought, or that of the trial, and the current tier."""

    id: str | None = Field(description="Null if the operator created the key")
    name: str | None
    tier: Tier = Field(description="From `expiresAt` it is `free`")
    bought_tier: Tier
    expires_at: Timestamp | None = Field(description="When the paid time or the trial ends; null: never")


class AccountQuota(Document):
    """The requests of the current UTC day, which all keys of the family share."""

    requests_per_day: int | None = Field(description="Null: unlimited")
    used: int = Field(ge=0)
    remaining: int | None = Field(description="Null: unlimited")
    resets_at: Timestamp


class AccountKey(Document):
    """A key of the family. Its text appears only in the answer that issued it."""

    key_id: str
    hint: str = Field(description="Its prefix and last four characters")
    state: Literal["active", "suspended", "revoked"]
    is_this_one: bool = Field(description="Whether the request was sent with it")
    created_at: Timestamp
    changed_at: Timestamp
    first_used_at: Timestamp | None
    last_used_at: Timestamp | None = Field(description="Uses of the last seconds may be missing")


class AccountDay(Document):
    """The usage of one UTC day."""

    day: str = Field(description="YYYY-MM-DD")
    requests: int = Field(
        ge=0,
        description="Requests with a valid key of the family, including those that "
        "were refused before their work began and did not count against the day",
    )


class AccountLinks(Document):
    """Links to the next steps with a key."""

    rotate: str = Field(description="POST with an Idempotency-Key: replaces this key by the family's next one")
    revoke: str = Field(description="POST: revokes this key")
    plans: str
    quote: str | None = Field(description="Null if nothing can be bought")
    receipt: str | None = Field(description="Null if the operator created the key")
    recovery: str | None = Field(description="Replaces a lost key by its owner's signature; null without a claim")


class AccountData(Document):
    """The account of a key, as that key can read it."""

    key_id: str
    owner: str = Field(description="A lower-case address, `local:<name>` or `profile:<id>`")
    role: Role
    max_class: SourceClass = Field(description="The highest class of sources that the key may claim")
    plan: AccountPlan
    quota: AccountQuota
    family_id: str
    family_size: int = Field(ge=1, description="Number of keys that the family has had")
    keys: list[AccountKey] = Field(description=f"The newest first, at most {KEYS_SHOWN}")
    usage: list[AccountDay] = Field(
        description="Days without a request are omitted. Requests of the last seconds may be missing"
    )
    usage_since: str = Field(description="The first day of `usage`, YYYY-MM-DD")
    links: AccountLinks


class AccountAnswer(Document):
    """The envelope of an account."""

    ok: Literal[True] = True
    data: AccountData


class RotationData(Document):
    """The next key of the family. The old one is revoked."""

    revoked_key_id: str
    activation_packet: ActivationPacket


class RotationAnswer(Document):
    """The envelope of a rotation."""

    ok: Literal[True] = True
    data: RotationData


class RevocationData(Document):
    """A key that revoked itself."""

    key_id: str
    state: Literal["revoked"] = "revoked"
    revoked_at: Timestamp
    recovery: str | None = Field(
        description="Where the owner's signature still obtains the next key of the paid plan; null without a claim"
    )


class RevocationAnswer(Document):
    """The envelope of a revocation."""

    ok: Literal[True] = True
    data: RevocationData


@dataclass(frozen=True, slots=True)
class AccountTerms:
    """The current state of a key. `plan` and `claim_id` are None if nobody bought it."""

    plan: Plan | None
    claim_id: str | None
    bought_tier: Tier
    paid_until: datetime | None
    trial_ends_at: datetime | None = None

    def tier_at(self, now: datetime) -> Tier:
        """Returns the tier at `now`. After its paid time, a key has the free tier."""
        return Tier.FREE if self.paid_until is not None and self.paid_until <= now else self.bought_tier

    def requests_per_day_at(self, now: datetime) -> int | None:
        """Returns the number of requests per UTC day at `now`, or None for an unlimited number."""
        return requests_a_day(self.tier_at(now), self.trial_ends_at)


def account_plan(terms: AccountTerms, now: datetime) -> AccountPlan:
    plan = terms.plan if terms.trial_ends_at is None else trial_plan()
    return AccountPlan(
        id=None if plan is None else plan.id,
        name=None if plan is None else plan.name,
        tier=terms.tier_at(now),
        bought_tier=terms.bought_tier,
        expires_at=terms.paid_until if terms.trial_ends_at is None else terms.trial_ends_at,
    )


def account_quota(terms: AccountTerms, used: int, now: datetime) -> AccountQuota:
    """Returns the quota of the UTC day of `now`, with `used` requests used."""
    limit = terms.requests_per_day_at(now)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    return AccountQuota(
        requests_per_day=limit,
        used=used,
        remaining=None if limit is None else max(limit - used, 0),
        resets_at=midnight + timedelta(days=1),
    )


def account_links(base_url: str, claim_id: str | None, *, sells: bool) -> AccountLinks:
    """Returns the links of an account. `sells` is true if anything can be bought."""
    return AccountLinks(
        rotate=base_url + ROTATE_PATH,
        revoke=base_url + REVOKE_PATH,
        plans=base_url + PLANS_PATH,
        quote=base_url + QUOTE_PATH if sells else None,
        receipt=None if claim_id is None else receipt_url(base_url, claim_id),
        recovery=None if claim_id is None else recovery_url(base_url, claim_id),
    )


def rotation_digest(pepper: bytes, key_digest: str, idempotency_key: str) -> str:
    """Returns the digest that identifies a rotation by the key that requested it and its Idempotency-Key."""
    request = canonical_json([key_digest, idempotency_key])
    return hmac.new(pepper, b"rotation\0" + request, hashlib.sha256).hexdigest()
