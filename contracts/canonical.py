"""Writes canonical JSON (RFC 8785) and SHA-256 hashes. Every hash that leaves the service is computed here."""

import hashlib
from typing import Any

import rfc8785


def canonical_json(value: Any) -> bytes:
    """Returns the RFC 8785 bytes of a JSON value.

    Raises `rfc8785.CanonicalizationError` for values that JSON can't represent exactly.
    """
    return rfc8785.dumps(value)


def sha256_hex(data: bytes) -> str:
    """Returns the SHA-256 as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def canonical_sha256(value: Any) -> str:
    """Returns the SHA-256 of the canonical JSON of `value` as 64 lower-case hex digits."""
    return sha256_hex(canonical_json(value))
