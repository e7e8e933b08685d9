"""Signs and verifies the messages exchanged with the companion application, and decides which replies are credible.

The signature covers the message's timestamp (seconds since 1970), nonce and body. `api/connect` sends the messages.
"""

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
"""Seconds by which a message's timestamp may differ from our clock, in either direction."""

MAX_REPLY_BYTES = 8 * 1024

# A nonce contains no dot, because the signed text could then be split in two places.
_NONCE = re.compile(r"[A-Za-z0-9_+/=-]{8,128}")
_TIMESTAMP = re.compile(r"[0-9]{1,12}")


class ReplyRefused(ValueError):
    """A reply that is not credible. Its text is for the log and contains nothing that was sent or received."""


class _Reply(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    ok: bool
    profileId: Annotated[str, Field(pattern=PROFILE_PATTERN)] | None = None
    issuedAt: Instant | None = None
    expiresAt: Instant | None = None


def request_body(code: str) -> bytes:
    """Returns the body of the request that verifies a pairing code."""
    return json.dumps({"pairingCode": code}, separators=(",", ":")).encode()


def signature_of(secret: bytes, timestamp: str, nonce: str, body: bytes) -> str:
    """Returns the value of `X-Svc-Signature` for a message."""
    return "v1=" + hmac.digest(secret, f"{timestamp}.{nonce}.".encode() + body, hashlib.sha256).hex()


def signed_headers(secret: bytes, nonce: str, body: bytes, now_s: float) -> dict[str, str]:
    """Returns the three headers of a message sent at `now_s`, in seconds since 1970."""
    timestamp = str(int(now_s))
    return {
        TIMESTAMP_HEADER: timestamp,
        NONCE_HEADER: nonce,
        SIGNATURE_HEADER: signature_of(secret, timestamp, nonce, body),
    }


def signed_nonce(secret: bytes, headers: Mapping[str, str], body: bytes, now_s: float) -> tuple[str, int]:
    """Returns nonce and timestamp of a recent message that `secret` signed. The caller accepts each nonce only once.

    `headers` is a case-insensitive mapping. Raises `ReplyRefused`.
    """
    timestamp, nonce = headers.get(TIMESTAMP_HEADER, ""), headers.get(NONCE_HEADER, "")
    signature = headers.get(SIGNATURE_HEADER, "")
    if _TIMESTAMP.fullmatch(timestamp) is None or _NONCE.fullmatch(nonce) is None:
        raise ReplyRefused("it is not signed")
    if not hmac.compare_digest(signature_of(secret, timestamp, nonce, body).encode(), signature.encode()):
        raise ReplyRefused("its signature is not that of SVC_HANDOFF_SECRET")
    if abs(int(timestamp) - now_s) > CLOCKS_DIFFER_S:
        raise ReplyRefused(f"its timestamp is more than {CLOCKS_DIFFER_S} s from our clock")
    return nonce, int(timestamp)


def read_reply(body: bytes, now: datetime) -> Vouched | None:
    """Returns the profile with which a valid code pairs, or None if the companion rejects the code.

    Raises `ReplyRefused` if the reply is not credible.
    """
    try:
        reply = _Reply.model_validate_json(body)
    except ValidationError:
        raise ReplyRefused("it is not JSON of the agreed form") from None
    if not reply.ok:
        return None
    if reply.profileId is None or reply.issuedAt is None or reply.expiresAt is None:
        raise ReplyRefused("it is ok, but lacks profileId, issuedAt or expiresAt")
    issued_at, expires_at = instant_of(reply.issuedAt), instant_of(reply.expiresAt)
    if issued_at > now + timedelta(seconds=CLOCKS_DIFFER_S):
        raise ReplyRefused("its code was issued in the future")
    if expires_at <= now:
        raise ReplyRefused("its code has expired")
    if expires_at - issued_at > CODE_LIVES_AT_MOST:
        raise ReplyRefused("its code is valid for longer than a day")
    return Vouched(reply.profileId, issued_at, expires_at)


def may_be_asked(app_url: str, *, signed: bool) -> bool:
    """Decides whether to query a companion: any if requests are signed, otherwise only one on this machine."""
    if signed:
        return True
    host = urlsplit(app_url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
