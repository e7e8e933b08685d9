"""Scopes the Idempotency-Keys of creating requests and limits how long a replay repeats a one-time token. Pure."""

import hashlib
import hmac
from datetime import datetime, timedelta

from contracts.canonical import canonical_json
from contracts.errors import ParameterInvalid

IDEMPOTENCY_HEADER = "Idempotency-Key"
LONGEST_IDEMPOTENCY_KEY = 200

SHORTEST_ANONYMOUS_KEY = 22
"""Least length of an idempotency key without an API key, in characters.

22 characters of base64 hold 128 random bits, and a UUID has 32 or 36 characters. All anonymous callers share one scope,
so a caller who guesses another's key would get that caller's answer, or block the key for its owner.
"""

TOKENS_REPEATED_FOR = timedelta(minutes=10)
"""Time after the first answer during which a replay still repeats that answer's one-time token."""


def request_digest(pepper: bytes, route: str, owner: str | None, idempotency_key: str) -> str:
    """Returns the digest that identifies a request by route, owner and idempotency key.

    `owner` is None for an anonymous caller. Raises `ParameterInvalid` if the key of such a caller is too short.
    """
    if owner is None and len(idempotency_key) < SHORTEST_ANONYMOUS_KEY:
        wanted = f"without an API key it has at least {SHORTEST_ANONYMOUS_KEY} characters: send a random UUID"
        raise ParameterInvalid(f"{IDEMPOTENCY_HEADER}: {wanted}.", errors=[(f"/header/{IDEMPOTENCY_HEADER}", wanted)])
    request = canonical_json([route, owner, idempotency_key])
    return hmac.new(pepper, b"idempotency\0" + request, hashlib.sha256).hexdigest()


def repeats_token(created_at: datetime, now: datetime) -> bool:
    """Decides whether a replay still repeats the one-time token that was created at `created_at`."""
    return now - created_at <= TOKENS_REPEATED_FOR
