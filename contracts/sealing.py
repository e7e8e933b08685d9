"""Encrypts texts until their owner acknowledges them, with AES-256-GCM. Each text is bound to what it belongs to."""

import base64
import secrets

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

_NONCE_BYTES = 12


def seal(key: bytes, text: str, belongs_to: str) -> str:
    """Encrypts `text` under `key` (32 bytes). Decryption requires the same `belongs_to`."""
    nonce = secrets.token_bytes(_NONCE_BYTES)
    return base64.b64encode(nonce + AESGCM(key).encrypt(nonce, text.encode(), belongs_to.encode())).decode()


def unseal(key: bytes, sealed: str, belongs_to: str) -> str | None:
    """Returns the sealed text, or None if the key or the owner is different or the sealed text was changed."""
    try:
        data = base64.b64decode(sealed)
        return AESGCM(key).decrypt(data[:_NONCE_BYTES], data[_NONCE_BYTES:], belongs_to.encode()).decode()
    except (InvalidTag, ValueError):
        return None
