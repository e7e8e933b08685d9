"""Signs and verifies hashes of quotes and receipts as detached JWS, with Ed25519 keys that are only ever added.

A key file is PEM text: private keys, oldest first, each except the first preceded by a line `Active-From: <RFC 3339>`.
`warehouse/access/signing_keys.py` reads and writes that file.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, Literal, TypeVar

import msgspec
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)
from pydantic import Field

from contracts.base import Document
from contracts.canonical import base64url, canonical_json, canonical_sha256, sha256_hex, unbase64url
from contracts.errors import SettingsInvalid
from contracts.times import instant_of, utc_text

ALGORITHM = "EdDSA"

JWKS_PATH = "/.well-known/jwks.json"
JWKS_MAX_AGE_S = 300

ACTIVE_AFTER = timedelta(seconds=2 * JWKS_MAX_AGE_S)
"""Time between the publication of a new key and its first signature. By then no cache contains an older key set."""

_PEM = re.compile(r"-----BEGIN PRIVATE KEY-----.*?-----END PRIVATE KEY-----", re.DOTALL)
_ACTIVE_FROM = re.compile(r"^Active-From:\s*(\S+)\s*$", re.MULTILINE)
_ALWAYS = datetime(1970, 1, 1, tzinfo=UTC)

Statement = TypeVar("Statement", bound=msgspec.Struct)
"""A struct with a field `signature`, which covers all of its other fields."""


class Signature(Document):
    """A signature over a hash by a key of the published key set."""

    alg: Literal["EdDSA"]
    kid: str
    jws: str = Field(description="Compact JWS without its middle part, which is the hash's 64 characters in base64url")


@dataclass(frozen=True, slots=True)
class SigningKey:
    """One key of the set. `kid` is its RFC 7638 thumbprint; keys are compared by it."""

    kid: str
    active_from: datetime
    private: Ed25519PrivateKey = field(repr=False, compare=False)

    @property
    def jwk(self) -> dict[str, str]:
        """Returns the public key in the form of RFC 8037."""
        return {**_public_jwk(self.private.public_key()), "kid": self.kid, "alg": ALGORITHM, "use": "sig"}

    def sign(self, hash_hex: str) -> dict[str, str]:
        """Returns `{alg, kid, jws}`: a compact JWS over the 64 characters of `hash_hex` without its middle part."""
        header = _protected_header(self.kid)
        signature = self.private.sign(f"{header}.{base64url(hash_hex.encode())}".encode())
        return {"alg": ALGORITHM, "kid": self.kid, "jws": f"{header}..{base64url(signature)}"}


@dataclass(frozen=True, slots=True)
class KeySet:
    """Every key that has signed, and future keys, oldest first."""

    keys: tuple[SigningKey, ...]

    def signer(self, now: datetime) -> SigningKey:
        """Returns the key that signs at `now`: the newest active one."""
        return [key for key in self.keys if key.active_from <= now][-1]

    def verifies(self, signature: Mapping[str, str], hash_hex: str) -> bool:
        """Decides whether `signature` is valid for `hash_hex` and the key of this set that it names."""
        key = next((key for key in self.keys if key.kid == signature.get("kid")), None)
        return key is not None and _verifies(key.private.public_key(), key.kid, signature, hash_hex)

    def jwks(self) -> dict[str, list[dict[str, str]]]:
        """Returns the published key set, newest first."""
        return {"keys": [key.jwk for key in reversed(self.keys)]}


def verifies_by_jwks(jwks: Mapping[str, Any], signature: Mapping[str, str], hash_hex: str) -> bool:
    """Decides whether `signature` is valid for `hash_hex` and the key of a published key set that it names.

    A key counts only under its own thumbprint. Anything malformed is invalid.
    """
    keys = jwks.get("keys")
    for jwk in keys if isinstance(keys, list) else ():
        try:
            public = Ed25519PublicKey.from_public_bytes(unbase64url(jwk["x"]))
        except (KeyError, TypeError, ValueError):
            continue
        kid = thumbprint(public)
        if kid == signature.get("kid") and _verifies(public, kid, signature, hash_hex):
            return True
    return False


def signed_sha256(statement: msgspec.Struct) -> str:
    """Returns the hash that a statement's signature covers: that of all other fields, as canonical JSON.

    A statement has no fractions, so its sorted JSON is canonical if it contains no escapes. That avoids the RFC 8785
    encoder, which is written in Python.
    """
    fields: dict[str, Any] = msgspec.to_builtins(statement)
    del fields["signature"]
    plain = msgspec.json.encode(fields, order="sorted")
    return sha256_hex(plain) if plain.isascii() and b"\\" not in plain else canonical_sha256(fields)


def with_signature(statement: Statement, key: SigningKey) -> Statement:
    """Returns the statement with a signature by `key`."""
    return msgspec.structs.replace(statement, signature=key.sign(signed_sha256(statement)))


def parse_key_set(text: str, source: str) -> KeySet:
    """Parses a key file; `source` names the file in errors. Raises `SettingsInvalid`."""
    keys: list[SigningKey] = []
    end = 0
    for pem in _PEM.finditer(text):
        stated = _ACTIVE_FROM.search(text, end, pem.start())
        end = pem.end()
        try:
            active_from = _ALWAYS if stated is None or not keys else instant_of(stated[1])
            private = load_pem_private_key(pem[0].encode(), None)
        except (ValueError, UnsupportedAlgorithm):
            raise _unusable(f"{source} contains a key or a time that can't be read.") from None
        if not isinstance(private, Ed25519PrivateKey):
            raise _unusable(f"{source} contains a key that is not Ed25519.")
        keys.append(SigningKey(thumbprint(private.public_key()), active_from, private))
    if not keys:
        raise _unusable(f"{source} holds no private key.")
    return KeySet(tuple(keys))


def key_text(private: Ed25519PrivateKey, active_from: datetime | None = None) -> str:
    """Returns the text that adds a key to a key file. The first key has no `active_from`."""
    pem = private.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    return pem if active_from is None else f"Active-From: {utc_text(active_from)}\n{pem}"


def new_private_key() -> Ed25519PrivateKey:
    return Ed25519PrivateKey.generate()


def thumbprint(public: Ed25519PublicKey) -> str:
    """Returns the name of a public key: its RFC 7638 thumbprint."""
    return base64url(bytes.fromhex(canonical_sha256(_public_jwk(public))))


def _verifies(public: Ed25519PublicKey, kid: str, signature: Mapping[str, str], hash_hex: str) -> bool:
    header, _, signed = signature.get("jws", "").partition("..")
    if header != _protected_header(kid):
        return False
    try:
        raw = unbase64url(signed)
        public.verify(raw, f"{header}.{base64url(hash_hex.encode())}".encode())
    except (ValueError, InvalidSignature):
        return False
    return base64url(raw) == signed  # because decoding ignores the last character's spare bits


@lru_cache(maxsize=64)
def _protected_header(kid: str) -> str:
    return base64url(canonical_json({"alg": ALGORITHM, "kid": kid}))


def _public_jwk(public: Ed25519PublicKey) -> dict[str, str]:
    raw = public.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return {"crv": "Ed25519", "kty": "OKP", "x": base64url(raw)}


def _unusable(what: str) -> SettingsInvalid:
    return SettingsInvalid(what, cure="Create a key with `openssl genpkey -algorithm ed25519 -out FILE`.")
