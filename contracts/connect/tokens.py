"""Creates, checks, hashes and redacts session tokens: `svcs_` and 43 URL-safe characters with 256 random bits.

Only the digest of a token is stored.
"""

import hashlib
import hmac
import re
import secrets

TOKEN_PREFIX = "svcs_"  # noqa: S105 - the part that all tokens share
_RANDOM_BYTES = 32
_TOKEN = re.compile(r"svcs_[A-Za-z0-9_-]{43}")


def new_token() -> str:
    return TOKEN_PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)


def is_token(value: object) -> bool:
    """Decides whether a client's value has the form of a session token."""
    return isinstance(value, str) and _TOKEN.fullmatch(value) is not None


def token_digest(pepper: bytes, token: str) -> str:
    """Returns the HMAC-SHA256 of a token under the pepper as 64 hex digits, its only stored form."""
    return hmac.digest(pepper, b"session token\0" + token.encode(), hashlib.sha256).hex()


def redact_tokens(text: str) -> str:
    """Returns `text` with everything redacted that has the form of a session token."""
    return _TOKEN.sub(f"{TOKEN_PREFIX}…", text) if TOKEN_PREFIX in text else text
