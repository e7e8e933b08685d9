"""Creates, checks and hashes pairing codes and limits their lifetime. The ledger records which ones were used."""

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts.access.api_keys import BASE62

CODE_PATTERN = r"^[A-Za-z0-9_-]{6,64}$"
CODE_LENGTH = 22
"""Length of our own codes: 131 random bits, so nobody can guess one at any request rate."""

CODE_LIVES = timedelta(minutes=10)
CODE_LIVES_AT_MOST = timedelta(days=1)
"""Longest lifetime of a companion's codes. A reply with a longer one is not credible."""

BUILT_IN_PROFILE = "svc-pair"
"""The profile of codes that `svc pair` prints: the operator of this installation."""

PROFILE_PATTERN = r"^[\x21-\x7e]{1,200}$"

_CODE = re.compile(CODE_PATTERN.replace("$", r"\Z"))


@dataclass(frozen=True, slots=True)
class Vouched:
    """A companion's statement about a valid code: its profile, and when it was issued and expires (UTC)."""

    profile_id: str
    issued_at: datetime
    expires_at: datetime


def new_code() -> str:
    return "".join(secrets.choice(BASE62) for _ in range(CODE_LENGTH))


def is_code(value: object) -> bool:
    """Decides whether a client's value has the form of a pairing code."""
    return isinstance(value, str) and _CODE.match(value) is not None


def code_digest(pepper: bytes, code: str) -> str:
    """Returns the HMAC-SHA256 under the pepper as 64 hex digits: the only stored form of a code, valid or not."""
    return hmac.digest(pepper, b"pairing code\0" + code.encode("utf-8", "surrogatepass"), hashlib.sha256).hex()
