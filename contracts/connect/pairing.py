"""Pairing codes as text, who a code pairs with, and for how long one holds. Who consumed one is the ledger's matter."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from contracts.access.api_keys import BASE62

CODE_PATTERN = r"^[A-Za-z0-9_-]{6,64}$"
CODE_LENGTH = 22
"""Of codes that we make: 131 random bits, so that guessing at them is hopeless at any rate."""

CODE_LIVES = timedelta(minutes=10)
CODE_LIVES_AT_MOST = timedelta(days=1)
"""Of codes that a companion vouches for; what it says of longer ones is not believed."""

BUILT_IN_PROFILE = "svc-pair"
"""The profile of codes that `svc pair` prints: whoever operates this installation."""

PROFILE_PATTERN = r"^[\x21-\x7e]{1,200}$"

_CODE = re.compile(CODE_PATTERN.replace("$", r"\Z"))


@dataclass(frozen=True, slots=True)
class Vouched:
    """What a companion says of a code that is good: for whom, and when it was issued and expires (UTC)."""

    profile_id: str
    issued_at: datetime
    expires_at: datetime


def new_code() -> str:
    """A pairing code that nobody has."""
    return "".join(secrets.choice(BASE62) for _ in range(CODE_LENGTH))


def is_code(given: object) -> bool:
    """Whether what a client gave has the form of a pairing code."""
    return isinstance(given, str) and _CODE.match(given) is not None


def code_digest(pepper: bytes, code: str) -> str:
    """HMAC-SHA256 of a code, or of what was given for one, under the pepper, as 64 hex digits: what is stored of it."""
    return hmac.digest(pepper, b"pairing code\0" + code.encode("utf-8", "surrogatepass"), hashlib.sha256).hex()
