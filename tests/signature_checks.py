"""Checks the signature of a quote or a receipt as a client does: with another library, and only the published key
set."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import jwt


def verify_signature(signature: dict[str, str], hash_hex: str, jwks: Sequence[dict[str, Any]]) -> bool:
    """Decides whether `signature` is a valid one over `hash_hex` by the key that it names."""
    key = next((each for each in jwks if each["kid"] == signature.get("kid")), None)
    header, _, signed = signature.get("jws", "").partition("..")
    middle = base64.urlsafe_b64encode(hash_hex.encode()).decode().rstrip("=")
    if key is None:
        return False
    try:
        found = jwt.api_jws.decode_complete(f"{header}.{middle}.{signed}", jwt.PyJWK(key), algorithms=["EdDSA"])
    except jwt.InvalidTokenError:
        return False
    return bool(found["header"] == {"alg": "EdDSA", "kid": key["kid"]})
