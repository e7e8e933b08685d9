"""Approvals of actions that the guardrail blocks: who may ask for one, for whose checks, and for how long. Pure.

The token itself is the library's (`guardrail.approval`).
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
        description="Whose check it is: the owner of the key, an address, `local:NAME` or `profile:ID`",
    )
    expires_in: int = Field(
        default=int(USUAL_APPROVAL.total_seconds()),
        ge=1,
        le=int(LONGEST_APPROVAL.total_seconds()),
        strict=True,
        description="Seconds until the token can't be used any more",
    )


class ApprovalResult(_Snake):
    """A token that lets one check of one owner pass, once."""

    approval_token: str = Field(description="Goes into `context.approval_token` of the same check")
    digest: str
    owner: str
    expires_at: Timestamp


class ApprovalAnswer(_Snake):
    """The envelope of API v2."""

    ok: Literal[True] = True
    data: ApprovalResult


@dataclass(frozen=True, slots=True)
class IssuedApproval:
    """A newly made token and its content."""

    approval: Approval
    token: str = field(repr=False)

    @property
    def expires_at(self) -> datetime:
        """Returns the time from which the token is refused."""
        return datetime.fromtimestamp(self.approval.expires_at, UTC)


def owner_named(text: str) -> str | None:
    """Returns an owner as keys and sessions have it, or None if the text names none."""
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
    """Makes a token for an action of `owner`. Raises `BodyInvalid` where the owner's name does not fit into one."""
    # A token never lives longer than asked for, so the fraction of a second is cut.
    approval = Approval(digest, owner, int((now + lives).timestamp()), approval_id or secrets.token_hex(16))
    try:
        return IssuedApproval(approval, make_token(approval, key))
    except ValueError as error:
        raise BodyInvalid(f"No token can be made: {error}.", errors=[("/owner", str(error))]) from None


def repeated_id(key: bytes, caller_owner: str, idempotency_key: str, digest: str, owner: str) -> str:
    """Returns the id that tokens of equal requests share, so that all of them together let one check pass."""
    request = canonical_json([caller_owner, idempotency_key, digest, owner])
    return hmac.new(key, b"approval id\0" + request, hashlib.sha256).hexdigest()[:32]
