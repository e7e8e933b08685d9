"""Approval tokens: a person with the right to approve signs one action, once, for one owner of a key.

This module creates and verifies the signature. The caller provides the time and the store of used tokens.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
from enum import StrEnum
from typing import Protocol

from guardrail.record import record

LONGEST_TOKEN = 1_024
SHORTEST_KEY = 32
"""Minimum length of the key in bytes, which is the length of the hash."""

_PREFIX = "svcga1"
_DIGEST = re.compile(r"[0-9a-f]{64}\Z")
_ID = re.compile(r"[A-Za-z0-9_-]{16,64}\Z")


class Outcome(StrEnum):
    """The outcome of presenting a token."""

    ACCEPTED = "accepted"
    MALFORMED = "malformed"
    FORGED = "forged"
    OTHER_ACTION = "other_action"
    OTHER_OWNER = "other_owner"
    EXPIRED = "expired"
    TAKEN = "taken"


@record
class Approval:
    """The content of a token. `digest` is that of the check, `expires_at` in seconds since 1970, `id` is used once."""

    digest: str
    owner: str
    expires_at: int
    id: str


class ApprovalStore(Protocol):
    """A store of the tokens that were used."""

    def take(self, approval: Approval) -> bool:
        """Marks the token as used in one statement; returns False if it was used before."""


@record
class Approvals:
    """Everything needed to accept a token in a check: the key, the owner of the check, the time, and the store."""

    key: bytes
    owner: str
    now: int
    store: ApprovalStore

    def accept(self, token: str, digest: str) -> Outcome:
        """Verifies a token for a digest and uses it up. Only an accepted token is used up."""
        approval = verified(token, self.key)
        if isinstance(approval, Outcome):
            return approval
        if not hmac.compare_digest(approval.digest, digest):
            return Outcome.OTHER_ACTION
        if not hmac.compare_digest(approval.owner.encode(), self.owner.encode()):
            return Outcome.OTHER_OWNER
        if approval.expires_at <= self.now:
            return Outcome.EXPIRED
        return Outcome.ACCEPTED if self.store.take(approval) else Outcome.TAKEN


def make_token(approval: Approval, key: bytes) -> str:
    """Signs an approval and returns its token. Raises ValueError for an approval that no check could accept."""
    if len(key) < SHORTEST_KEY:
        raise ValueError(f"the key must have at least {SHORTEST_KEY} bytes")
    if not _DIGEST.match(approval.digest):
        raise ValueError("the digest must be 64 lower-case hex digits")
    if not _ID.match(approval.id):
        raise ValueError("the id must be 16 to 64 letters, digits, - or _")
    if not approval.owner or approval.expires_at <= 0:
        raise ValueError("an approval has an owner and an expiry")
    payload = _payload(approval)
    token = f"{_PREFIX}.{_encoded(payload)}.{_encoded(_signature(payload, key))}"
    if len(token) > LONGEST_TOKEN:
        raise ValueError("the owner's name is too long")
    return token


def verified(token: str, key: bytes) -> Approval | Outcome:
    """Returns the approval in a token if this key signed it, else the reason why not. It may be expired or already
    used."""
    parts = token.split(".") if len(token) <= LONGEST_TOKEN and token.isascii() else []
    if len(parts) != 3 or parts[0] != _PREFIX:
        return Outcome.MALFORMED
    payload, signature = _decoded(parts[1]), _decoded(parts[2])
    if payload is None or signature is None:
        return Outcome.MALFORMED
    if not hmac.compare_digest(signature, _signature(payload, key)):
        return Outcome.FORGED
    approval = _approval(payload)
    # One approval has exactly one spelling; otherwise a second spelling would pass for a second approval.
    return approval if approval is not None and _payload(approval) == payload else Outcome.MALFORMED


def _payload(approval: Approval) -> bytes:
    members = {"d": approval.digest, "e": approval.expires_at, "i": approval.id, "o": approval.owner}
    return json.dumps(members, sort_keys=True, separators=(",", ":")).encode()


def _approval(payload: bytes) -> Approval | None:
    try:
        members = json.loads(payload)
        approval = Approval(members["d"], members["o"], members["e"], members["i"])
    except (ValueError, KeyError, TypeError):
        return None
    texts = (approval.digest, approval.owner, approval.id)
    return approval if all(isinstance(text, str) for text in texts) and type(approval.expires_at) is int else None


def _signature(payload: bytes, key: bytes) -> bytes:
    return hmac.new(key, f"{_PREFIX}.".encode() + payload, hashlib.sha256).digest()


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decoded(text: str) -> bytes | None:
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if _encoded(data) == text else None
