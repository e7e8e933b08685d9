"""Signs and judges the manifest of everything public, so that a mirror can be checked. Pure.

It adopts the parts of TUF that work with one online key: a version that only grows (a mirror can't go back), an expiry
(it can't stand still), length and SHA-256 of all files together (it can't mix, change or drop files), and a signature
over everything by a key of the key set.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import msgspec

from contracts.access.signing import SigningKey, signed_sha256, verifies_by_jwks, with_signature

SCHEMA = "svc.manifest.v1"

VALID_FOR = timedelta(hours=24)
SIGNED_AGAIN_AFTER = timedelta(hours=12)
"""An unchanged manifest is signed again at this age, at the next run."""

MOST_CLOCK_SKEW = timedelta(minutes=5)
LARGEST_BYTES = 32 << 20


class ManifestFile(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """One public file. A document that ages has a second body, which is served once it is stale."""

    sha256: str
    bytes: int
    stale_sha256: str | None = None
    stale_bytes: int | None = None

    def matches(self, size: int, sha256: str) -> bool:
        """Returns whether a body is one of the file's bodies."""
        return (size, sha256) in ((self.bytes, self.sha256), (self.stale_bytes, self.stale_sha256))

    @property
    def longest(self) -> int:
        """Returns the size of the larger body in bytes."""
        return max(self.bytes, self.stale_bytes or 0)


class ManifestHead(msgspec.Struct, frozen=True):
    """The head of the graph's audit: number of decisions, and the newest link, which covers all earlier ones."""

    decisions: int
    link: str


class PublicManifest(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """Everything public at one time: files by path. `version` grows with every manifest of a service."""

    schema: str
    service: str
    generation: str
    version: int
    signed_at: datetime
    expires_at: datetime
    audit_head: ManifestHead | None
    files: dict[str, ManifestFile]
    signature: dict[str, str] = msgspec.field(default_factory=dict)


class Fault(StrEnum):
    """The ways in which a mirror's manifest is wrong."""

    MALFORMED = "malformed"
    FORGED = "forged"
    FOREIGN = "foreign"
    REPLAYED = "replayed"
    EXPIRED = "expired"
    FROM_THE_FUTURE = "from_the_future"


def signed_manifest(
    service: str,
    generation: str,
    version: int,
    now: datetime,
    files: Mapping[str, ManifestFile],
    audit_head: ManifestHead | None,
    key: SigningKey,
) -> bytes:
    """Returns the bytes of a manifest that is valid from `now`."""
    manifest = PublicManifest(
        SCHEMA, service, generation, version, now, now + VALID_FOR, audit_head, dict(sorted(files.items()))
    )
    return written(with_signature(manifest, key))


def judge_manifest(
    body: bytes, jwks: Mapping[str, Any], *, service: str | None, seen: Mapping[str, int], now: datetime
) -> tuple[PublicManifest | None, Fault | None]:
    """Returns the manifest, and the fault that makes it worthless, or None.

    `service` is the required base URL, None for any; `seen` has the newest version seen of each service.
    """
    try:
        manifest = msgspec.json.decode(body, type=PublicManifest)
        signed = signed_sha256(manifest)
        if written(manifest) != body:
            return None, Fault.MALFORMED
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError):
        return None, Fault.MALFORMED
    if manifest.schema != SCHEMA or not verifies_by_jwks(jwks, manifest.signature, signed):
        return manifest, Fault.FORGED
    if service is not None and manifest.service != service:
        return manifest, Fault.FOREIGN
    if manifest.version < seen.get(manifest.service, 0):
        return manifest, Fault.REPLAYED
    if now >= manifest.expires_at:
        return manifest, Fault.EXPIRED
    if manifest.signed_at > now + MOST_CLOCK_SKEW:
        return manifest, Fault.FROM_THE_FUTURE
    return manifest, None


def written(value: object) -> bytes:
    """Returns the JSON of a file about open data. A manifest is valid only in exactly these bytes."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1)
