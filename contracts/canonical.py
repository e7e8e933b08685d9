"""Writes canonical JSON (RFC 8785), base64url, and SHA-256 hashes. Every hash that leaves the service is made here."""

import base64
import hashlib
from typing import Any

import rfc8785


def canonical_json(value: Any) -> bytes:
    """Returns the RFC 8785 bytes of a JSON value.

    Raises `rfc8785.CanonicalizationError` for values that JSON can't represent exactly.
    """
    return rfc8785.dumps(value)


def base64url(data: bytes) -> str:
    """Returns bytes as base64url without padding (RFC 7515)."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def unbase64url(text: str) -> bytes:
    """Returns the bytes of a base64url text. Raises `ValueError` for characters of another alphabet."""
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def sha256_hex(data: bytes) -> str:
    """Returns the SHA-256 as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def canonical_sha256(value: Any) -> str:
    """Returns the SHA-256 of the canonical JSON of `value` as 64 lower-case hex digits."""
    return sha256_hex(canonical_json(value))
