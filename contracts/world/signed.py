"""Verifies the signature that a system puts on a signal, so that it may stand as `signed_system`. Pure."""

from __future__ import annotations

from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from contracts.canonical import canonical_json, unbase64url

PUBLIC_KEY_BYTES = 32


def signed_bytes(body: dict[str, Any]) -> bytes:
    """Returns the bytes that a system signs: RFC 8785 of the signal as sent, without `signature`.

    Raises `ValueError` if the body contains a number that JSON can't carry exactly.
    """
    return canonical_json({name: value for name, value in body.items() if name != "signature"})


def is_signed(body: dict[str, Any], signature: str, public_key: str) -> bool:
    """Decides whether `signature` (base64url) is the key's signature of the body."""
    try:
        key = Ed25519PublicKey.from_public_bytes(unbase64url(public_key))
        key.verify(unbase64url(signature), signed_bytes(body))
    except (ValueError, InvalidSignature):
        return False
    return True


def is_public_key(text: str) -> bool:
    """Decides whether a text is the base64url form of an Ed25519 public key."""
    try:
        return len(unbase64url(text)) == PUBLIC_KEY_BYTES
    except ValueError:
        return False
