"""Verifies signatures with the published key set, and digests, and finds documents that only claim to be signed."""

import binascii
import json
from collections.abc import Iterator
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from contracts.canonical import base64url, canonical_json, sha256_hex, unbase64url
from contracts.discovery.checks.evidence import Defect, Evidence, path_below
from contracts.discovery.checks.expected import SHAPES

_CURE = "Sign the card as it is published, with a key of jwks.json (A2A 1.0, JWS over canonical JSON)."


def signature_defects(evidence: Evidence) -> Iterator[Defect]:
    """Yields cards with invalid signatures, named keys that are not published, and digests that differ."""
    keys = evidence.value("/.well-known/jwks.json")
    published = {key.get("kid"): key for key in _dicts(keys, "keys")}
    for path, answer in evidence.documents.items():
        if SHAPES[path] == "agent_card" and isinstance(answer.value, dict):
            yield from _card(path, evidence, answer.value, published)
    yield from _digests(evidence)


def _card(
    path: str, evidence: Evidence, card: dict[str, Any], published: dict[Any, dict[str, Any]]
) -> Iterator[Defect]:
    signatures = _dicts(card, "signatures")
    if not signatures:
        yield Defect(path, "is not signed", _CURE)
        return
    payload = base64url(canonical_json(_without_empty({k: v for k, v in card.items() if k != "signatures"})))
    for signature in signatures:
        header = _header(signature)
        if header is None:
            yield Defect(path, "has a signature whose header can't be read", _CURE)
            continue
        jku = header.get("jku")
        if jku != evidence.base_url + "/.well-known/jwks.json":
            yield Defect(path, f"names the key set {jku}", "Name the jwks.json of this service as jku.")
        key = published.get(header.get("kid"))
        if key is None:
            yield Defect(path, f"is signed by {header.get('kid')}, which jwks.json does not hold", _CURE)
        elif header.get("alg") != "EdDSA" or not _holds(key, signature, payload):
            yield Defect(path, "has a signature that does not hold", _CURE)


def _digests(evidence: Evidence) -> Iterator[Defect]:
    path = "/.well-known/agent-skills/index.json"
    for skill in _dicts(evidence.value(path), "skills"):
        below = path_below(evidence.base_url, str(skill.get("url", "")))
        answer = evidence.documents.get(below or "")
        if answer is None:
            yield Defect(path, f"offers {skill.get('url')}, which is no document here", "Name the served skill.")
        elif skill.get("digest") != f"sha256:{sha256_hex(answer.body)}":
            yield Defect(path, f"states another digest of {below}", "Take the SHA-256 of the served bytes.")


def _holds(key: dict[str, Any], signature: dict[str, Any], payload: str) -> bool:
    try:
        public = Ed25519PublicKey.from_public_bytes(unbase64url(str(key.get("x"))))
        public.verify(unbase64url(signature["signature"]), f"{signature['protected']}.{payload}".encode())
    except (InvalidSignature, ValueError):
        return False
    return True


def _header(signature: dict[str, Any]) -> dict[str, Any] | None:
    try:
        header = json.loads(unbase64url(signature["protected"]))
    except (KeyError, TypeError, ValueError, binascii.Error):
        return None
    return header if isinstance(header, dict) else None


def _without_empty(value: Any) -> Any:
    """Canonicalises a card as A2A requires: empty texts, lists and objects are omitted."""
    if isinstance(value, dict):
        return {
            name: item for name, inner in value.items() if (item := _without_empty(inner)) not in ("", [], {}, None)
        }
    if isinstance(value, list):
        return [item for inner in value if (item := _without_empty(inner)) not in ("", [], {}, None)]
    return value


def _dicts(value: Any, name: str) -> list[dict[str, Any]]:
    items = value.get(name) if isinstance(value, dict) else None
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
