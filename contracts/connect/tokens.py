"""Session tokens as text: `svcs_` and 43 URL-safe characters, which hold 256 random bits. Stored as a digest alone."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets

TOKEN_PREFIX = "svcs_"  # noqa: S105 - the part that all have
_RANDOM_BYTES = 32
_TOKEN = re.compile(r"svcs_[A-Za-z0-9_-]{43}")


def new_token() -> str:
    """A session token that nobody has."""
    return TOKEN_PREFIX + secrets.token_urlsafe(_RANDOM_BYTES)


def is_token(given: object) -> bool:
    """Whether what a client gave has the form of a session token."""
    return isinstance(given, str) and _TOKEN.fullmatch(given) is not None


def token_digest(pepper: bytes, token: str) -> str:
    """HMAC-SHA256 of a token under the pepper, as 64 hex digits: what is stored of it."""
    return hmac.digest(pepper, b"session token\0" + token.encode(), hashlib.sha256).hex()


def redact_tokens(text: str) -> str:
    """`text` with everything that has the form of a session token redacted."""
    return _TOKEN.sub(f"{TOKEN_PREFIX}…", text) if TOKEN_PREFIX in text else text
