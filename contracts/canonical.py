"""Canonical bytes and their hashes: RFC 8785 JSON and SHA-256. Every hash that leaves the service is made here."""

from __future__ import annotations

import hashlib
from typing import Any

import rfc8785


def canonical_json(value: Any) -> bytes:
    """RFC 8785 bytes of a JSON value. Raises `rfc8785.CanonicalizationError` on what JSON can't hold exactly."""
    return rfc8785.dumps(value)


def sha256_hex(data: bytes) -> str:
    """SHA-256 as 64 lower-case hex digits."""
    return hashlib.sha256(data).hexdigest()


def canonical_sha256(value: Any) -> str:
    """SHA-256 over the canonical JSON of `value`, as 64 lower-case hex digits."""
    return sha256_hex(canonical_json(value))
