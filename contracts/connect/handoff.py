"""The hand-off with the companion application, as rules: what is sent, how it is signed, which replies are believed.

A message is signed over its timestamp (seconds since 1970), its nonce and its body. Sending is `api/connect`'s matter.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from contracts.connect.pairing import CODE_LIVES_AT_MOST, PROFILE_PATTERN, Vouched
from contracts.intake.formats import Instant
from contracts.times import instant_of

VERIFY_PATH = "/api/handoff/verify"
TIMESTAMP_HEADER = "X-Svc-Timestamp"
NONCE_HEADER = "X-Svc-Nonce"
SIGNATURE_HEADER = "X-Svc-Signature"

CLOCKS_DIFFER_S = 60
"""How far the timestamp of a message may be from our clock, either way."""

MAX_REPLY_BYTES = 8 * 1024

# No dot in a nonce: what is signed could be cut at two places.
_NONCE = re.compile(r"[A-Za-z0-9_+/=-]{8,128}")
_TIMESTAMP = re.compile(r"[0-9]{1,12}")


class ReplyRefused(ValueError):
    """A reply that is not believed. Its text is for the log, and holds nothing that was sent or received."""


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    ok: bool
    profileId: Annotated[str, Field(pattern=PROFILE_PATTERN)] | None = None
    issuedAt: Instant | None = None
    expiresAt: Instant | None = None


def request_body(code: str) -> bytes:
    """What is asked about a pairing code."""
    return json.dumps({"pairingCode": code}, separators=(",", ":")).encode()


def signature_of(secret: bytes, timestamp: str, nonce: str, body: bytes) -> str:
    """The value of `X-Svc-Signature` for a message."""
    return "v1=" + hmac.digest(secret, f"{timestamp}.{nonce}.".encode() + body, hashlib.sha256).hex()


def signed_headers(secret: bytes, nonce: str, body: bytes, now_s: float) -> dict[str, str]:
    """The three headers of a message that is sent at `now_s`, seconds since 1970."""
    timestamp = str(int(now_s))
    return {
        TIMESTAMP_HEADER: timestamp,
        NONCE_HEADER: nonce,
        SIGNATURE_HEADER: signature_of(secret, timestamp, nonce, body),
    }


def signed_nonce(secret: bytes, headers: Mapping[str, str], body: bytes, now_s: float) -> tuple[str, int]:
    """Nonce and timestamp of a message that was signed with `secret` about now; the caller takes each nonce but once.

    `headers` looks names up whatever their case. Raises `ReplyRefused`.
    """
    timestamp, nonce = headers.get(TIMESTAMP_HEADER, ""), headers.get(NONCE_HEADER, "")
    given = headers.get(SIGNATURE_HEADER, "")
    if _TIMESTAMP.fullmatch(timestamp) is None or _NONCE.fullmatch(nonce) is None:
        raise ReplyRefused("it is not signed")
    if not hmac.compare_digest(signature_of(secret, timestamp, nonce, body).encode(), given.encode()):
        raise ReplyRefused("its signature is not that of SVC_HANDOFF_SECRET")
    if abs(int(timestamp) - now_s) > CLOCKS_DIFFER_S:
        raise ReplyRefused(f"its timestamp is more than {CLOCKS_DIFFER_S} s from our clock")
    return nonce, int(timestamp)


def read_reply(body: bytes, now: datetime) -> Vouched | None:
    """Whom a good code pairs with; None where the companion says that it is not good. Raises `ReplyRefused`."""
    try:
        reply = _Reply.model_validate_json(body)
    except ValidationError:
        raise ReplyRefused("it is not the JSON that was agreed on") from None
    if not reply.ok:
        return None
    if reply.profileId is None or reply.issuedAt is None or reply.expiresAt is None:
        raise ReplyRefused("it says ok without profileId, issuedAt and expiresAt")
    issued_at, expires_at = instant_of(reply.issuedAt), instant_of(reply.expiresAt)
    if issued_at > now + timedelta(seconds=CLOCKS_DIFFER_S):
        raise ReplyRefused("its code was issued in the future")
    if expires_at <= now:
        raise ReplyRefused("its code has expired")
    if expires_at - issued_at > CODE_LIVES_AT_MOST:
        raise ReplyRefused("its code lives for longer than a day")
    return Vouched(reply.profileId, issued_at, expires_at)


def may_be_asked(app_url: str, *, signed: bool) -> bool:
    """Whether a companion's word counts: any one's that signs, else only that of one on this machine."""
    if signed:
        return True
    host = urlsplit(app_url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
