"""The signed manifest reveals whatever a mirror changes, replays or freezes."""

import json
import random
from datetime import UTC, datetime, timedelta

import pytest

from contracts.access.signing import KeySet, SigningKey, new_private_key, thumbprint, verifies_by_jwks
from contracts.canonical import canonical_sha256, sha256_hex
from contracts.open_data.manifest import VALID_FOR, Fault, ManifestFile, ManifestHead, judge_manifest, signed_manifest

NOW = datetime(2026, 1, 2, 12, tzinfo=UTC)
SERVICE = "https://svc.example"


def new_key() -> SigningKey:
    private = new_private_key()
    return SigningKey(thumbprint(private.public_key()), datetime(1970, 1, 1, tzinfo=UTC), private)


KEY, OTHER_KEY = new_key(), new_key()
JWKS = KeySet((KEY,)).jwks()
BODIES = {f"/data/transfers-{number}.parquet": f"rows of {number}".encode() for number in range(20)}
FILES = {path: ManifestFile(sha256_hex(body), len(body)) for path, body in BODIES.items()}


def manifest(version: int = 7, key: SigningKey = KEY, service: str = SERVICE, at: datetime = NOW) -> bytes:
    return signed_manifest(service, f"g-{version}", version, at, FILES, ManifestHead(3, "ab" * 32), key)


def fault(body: bytes, *, seen: int = 0, now: datetime = NOW, jwks=JWKS, service: str | None = SERVICE):
    return judge_manifest(body, jwks, service=service, seen={SERVICE: seen}, now=now)[1]


def test_a_manifest_is_sound_until_it_expires():
    body = manifest()
    assert fault(body) is None
    assert fault(body, seen=7) is None
    assert fault(body, now=NOW + VALID_FOR - timedelta(seconds=1)) is None
    found, _ = judge_manifest(body, JWKS, service=None, seen={}, now=NOW)
    assert (found.version, found.audit_head.decisions, found.files) == (7, 3, dict(sorted(FILES.items())))


@pytest.mark.parametrize(
    ("body", "options", "expected"),
    [
        (manifest(), {"now": NOW + VALID_FOR}, Fault.EXPIRED),
        (manifest(), {"seen": 8}, Fault.REPLAYED),
        (manifest(at=NOW + timedelta(hours=1)), {}, Fault.FROM_THE_FUTURE),
        (manifest(key=OTHER_KEY), {}, Fault.FORGED),
        (manifest(service="https://else.example"), {}, Fault.FOREIGN),
        (manifest(), {"jwks": {}}, Fault.FORGED),
        (manifest(), {"jwks": {"keys": "none"}}, Fault.FORGED),
        (manifest(), {"jwks": {"keys": [{"x": 3}, None, {"x": "short"}]}}, Fault.FORGED),
        (b"", {}, Fault.MALFORMED),
        (b"\xff\xfe", {}, Fault.MALFORMED),
        (b"[]", {}, Fault.MALFORMED),
        (json.dumps(json.loads(manifest())).encode(), {}, Fault.MALFORMED),
    ],
)
def test_a_manifest_that_is_not_sound_has_its_fault(body, options, expected):
    assert fault(body, **options) == expected


@pytest.mark.parametrize(
    "service", [SERVICE, "https://\u00e4.example", 'https://svc.example/"\\', "\x01\x7f", "\U0001f600\ue000"]
)
def test_the_signature_covers_the_canonical_json_of_everything_else(service: str):
    fields = json.loads(manifest(service=service))
    signature = fields.pop("signature")
    assert verifies_by_jwks(JWKS, signature, canonical_sha256(fields))
    assert not verifies_by_jwks(JWKS, signature, canonical_sha256(fields | {"version": 8}))


def test_a_key_counts_under_its_own_thumbprint_only():
    theirs = OTHER_KEY.jwk | {"kid": KEY.kid}
    forged = manifest(key=SigningKey(KEY.kid, KEY.active_from, OTHER_KEY.private))
    assert fault(forged, jwks={"keys": [theirs]}) == Fault.FORGED


def test_a_thousand_of_a_thousand_changes_replays_and_freezes_are_found():
    luck = random.Random(18)
    body = manifest(version=500)
    missed = []
    for number in range(1000):
        kind = luck.choice(("byte", "cut", "file", "swap", "replay", "freeze"))
        if kind == "byte":
            place = luck.randrange(len(body))
            changed = body[:place] + bytes([body[place] ^ (1 << luck.randrange(8))]) + body[place + 1 :]
            found = fault(changed, seen=500) is not None
        elif kind == "cut":
            found = fault(body[: luck.randrange(len(body))], seen=500) is not None
        elif kind == "file":
            path = luck.choice(list(BODIES))
            place = luck.randrange(len(BODIES[path]))
            changed = BODIES[path][:place] + bytes([BODIES[path][place] ^ 1]) + BODIES[path][place + 1 :]
            found = not FILES[path].matches(len(changed), sha256_hex(changed))
        elif kind == "swap":
            one, other = luck.sample(list(BODIES), 2)
            found = not FILES[one].matches(len(BODIES[other]), sha256_hex(BODIES[other]))
        elif kind == "replay":
            found = fault(manifest(version=luck.randrange(500)), seen=500) == Fault.REPLAYED
        else:
            found = (
                fault(body, seen=500, now=NOW + VALID_FOR + timedelta(seconds=luck.randrange(10**7))) == Fault.EXPIRED
            )
        if not found:
            missed.append((number, kind))
    assert missed == []
