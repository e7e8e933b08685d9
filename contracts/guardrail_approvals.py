"""Approves actions that the guardrail blocks: decides who may request an approval, for whose checks and how long. Pure.

The library `guardrail.approval` defines the token.
"""

import hashlib
import hmac
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from contracts.base import Timestamp
from contracts.canonical import canonical_json
from contracts.errors import BodyInvalid, OperatorRoleNeeded, OwnApproval
from contracts.owners import recorded_owner
from guardrail.approval import Approval, make_token

LONGEST_APPROVAL = timedelta(hours=1)
USUAL_APPROVAL = timedelta(minutes=10)

DIGEST = r"^[0-9a-f]{64}$"
LONGEST_OWNER = 200


class _Snake(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, json_schema_serialization_defaults_required=True)


class ApprovalRequest(_Snake):
    """One action that may be taken once although the guardrail blocks it."""

    digest: str = Field(pattern=DIGEST, description="The `digest` of the check that blocked the action")
    owner: str = Field(
        min_length=1,
        max_length=LONGEST_OWNER,
        pattern=r"^(0[xX][0-9a-fA-F]{40}|(local|profile):\S.*)$",
        description="Owner of the check: the owner of the key, an address, `local:NAME` or `profile:ID`",
    )
    expires_in: int = Field(
        default=int(USUAL_APPROVAL.total_seconds()),
        ge=1,
        le=int(LONGEST_APPROVAL.total_seconds()),
        strict=True,
        description="Seconds until the token expires",
    )


class ApprovalResult(_Snake):
    """A token that lets one check of one owner pass, once."""

    approval_token: str = Field(description="For `context.approval_token` of the same check")
    digest: str
    owner: str
    expires_at: Timestamp


class ApprovalAnswer(_Snake):
    """The envelope of API v2."""

    ok: Literal[True] = True
    data: ApprovalResult


@dataclass(frozen=True, slots=True)
class IssuedApproval:
    """A new token and its content."""

    approval: Approval
    token: str = field(repr=False)

    @property
    def expires_at(self) -> datetime:
        """Returns the time at which the token expires."""
        return datetime.fromtimestamp(self.approval.expires_at, UTC)


def owner_named(text: str) -> str | None:
    """Returns an owner as keys and sessions record it, or None if the text does not name one."""
    owner = recorded_owner(text)
    return None if owner is None or len(owner) > LONGEST_OWNER or owner.startswith("capsule:") else owner


def refuse_others(*, is_operator: bool, caller_owner: str, owner: str) -> None:
    """Raises `OperatorRoleNeeded` or `OwnApproval` if this caller may not approve checks of `owner`."""
    if not is_operator:
        raise OperatorRoleNeeded("An operator of this service makes such a key: `svc keys create --role operator`.")
    if owner == caller_owner:
        raise OwnApproval("Another operator, or `svc guardrail approve` on the service's host, can approve it.")


def issue_approval(
    key: bytes, digest: str, owner: str, lives: timedelta, now: datetime, approval_id: str | None = None
) -> IssuedApproval:
    """Creates a token for an action of `owner`. Raises `BodyInvalid` if the owner's name can't be part of a token."""
    # Truncates the fraction of a second, so that a token never lives longer than requested.
    approval = Approval(digest, owner, int((now + lives).timestamp()), approval_id or secrets.token_hex(16))
    try:
        return IssuedApproval(approval, make_token(approval, key))
    except ValueError as error:
        raise BodyInvalid(f"No token can be made: {error}.", errors=[("/owner", str(error))]) from None


def repeated_id(key: bytes, caller_owner: str, idempotency_key: str, digest: str, owner: str) -> str:
    """Returns the id that tokens of equal requests share, so that together they let only one check pass."""
    request = canonical_json([caller_owner, idempotency_key, digest, owner])
    return hmac.new(key, b"approval id\0" + request, hashlib.sha256).hexdigest()[:32]
