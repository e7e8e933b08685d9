"""Implements `svc verify --mirror URL`: checks every file of a mirror against the service's signed manifest.

The pure judgement of manifests is in `contracts.open_data.manifest`.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import msgspec

from cli.environment import effective_settings, given_address
from contracts.access.signing import JWKS_PATH
from contracts.errors import OperatorProblem, SettingsInvalid
from contracts.open_data.manifest import LARGEST_BYTES, Fault, ManifestFile, PublicManifest, judge_manifest
from contracts.open_data.names import MANIFEST_PATH
from contracts.publish.routes import file_of
from contracts.times import retry_after_s
from contracts.token.verification import Check, Outcome, check

_TRIES_AGAIN = 2
"""Further attempts at files that differ: a mirror may switch to a newer generation while it is read."""

LONGEST_WAIT_S = 300.0
"""Total time for which a mirror that limits requests may make the check wait."""

MOST_LAG = timedelta(minutes=10)
"""How much older a mirror's manifest may be than the service's own newest one."""

_SAID = {
    Fault.MALFORMED: "is not a manifest of this format",
    Fault.FORGED: "is not signed by a key of the service",
    Fault.FOREIGN: "belongs to another service",
    Fault.REPLAYED: "is older than one seen before: the mirror went back",
    Fault.EXPIRED: "has expired: the mirror is no longer updated",
    Fault.FROM_THE_FUTURE: "was signed in the future, according to this machine's clock",
}


class KeysUnknown(OperatorProblem):
    """There is no key set with which to check a mirror's signature."""

    code = "keys_unknown"


@dataclass
class _Mirror:
    """A mirror that is read as fast as it allows. `wait_left_s` is how much longer it may make us wait."""

    client: httpx.Client
    address: str
    sleep: Callable[[float], None]
    wait_left_s: float = LONGEST_WAIT_S

    def faults(self, files: Mapping[str, ManifestFile]) -> dict[str, Check]:
        """Returns the files that differ or could not be read, by path."""
        compared = {path: self._fault(path, file) for path, file in files.items()}
        return {path: fault for path, fault in compared.items() if fault is not None}

    def _fault(self, path: str, file: ManifestFile) -> Check | None:
        """Returns what is wrong with the mirror's file, or None.

        A copy of the tree has documents under their file names, and a web server may redirect from a document's path to
        the folder of the same name, so both paths are tried.
        """
        for address in dict.fromkeys((path, f"/{file_of(path)}")):
            try:
                with self._opened(address) as response:
                    if response.status_code == 404 or 300 <= response.status_code < 400:
                        continue
                    if response.status_code == 429:
                        return Check("file", Outcome.UNKNOWN, f"{path} is not checked: the mirror answers 429")
                    if response.status_code != 200:
                        return check("file", False, f"{path} answers {response.status_code}")
                    digest, size = hashlib.sha256(), 0
                    for part in response.iter_raw():
                        size += len(part)
                        if size > file.longest:
                            return check("file", False, f"{path} is longer than {file.longest} bytes")
                        digest.update(part)
            except httpx.HTTPError as error:
                return check("file", False, f"{path} can't be read ({error})")
            if file.matches(size, digest.hexdigest()):
                return None
            return check("file", False, f"{path} differs: {size} bytes, SHA-256 {digest.hexdigest()}")
        return check("file", False, f"{path} is missing")

    @contextmanager
    def _opened(self, address: str) -> Iterator[httpx.Response]:
        """Opens the answer at `address`, waiting as often as the mirror requests."""
        while True:
            with self.client.stream("GET", self.address + address, headers={"accept-encoding": "identity"}) as response:
                wait_s = max(1.0, retry_after_s(response.headers.get("retry-after", ""), None) or 0.0)
                if response.status_code != 429 or wait_s > self.wait_left_s:
                    yield response
                    return
            self.wait_left_s -= wait_s
            self.sleep(wait_s)


def mirror_checks(
    client: httpx.Client,
    mirror: str,
    url: str | None,
    keys_file: Path | None,
    seen_file: Path | None,
    now: datetime,
    *,
    sleep: Callable[[float], None] = time.sleep,
) -> list[Check]:
    """Returns every check of the mirror at `now`. If the mirror limits requests, waits up to `LONGEST_WAIT_S` in total.

    Keys come from a saved key set, or else from the service at `url`, by default this installation's. The newest
    version seen comes from `seen_file`, which is updated, and from the service if it answers.
    """
    mirror = given_address("--mirror", mirror).rstrip("/")
    origin = (given_address("URL", url) if url else effective_settings().public_base_url).rstrip("/")
    keys = _key_set(client, origin, keys_file)
    seen = _seen_versions(seen_file)
    known = _origin_manifest(client, origin, keys, now)
    service = known.service if known is not None else None if keys_file is not None else origin
    copy = _Mirror(client, mirror, sleep)
    checks, newest = _checked(copy, lambda body: _judge(body, keys, service, seen, known, now))
    if seen_file is not None and newest is not None:
        seen[newest.service] = max(newest.version, seen.get(newest.service, 0))
        seen_file.write_text(json.dumps(seen, indent=1, sort_keys=True) + "\n")
    return checks


def _checked(
    mirror: _Mirror, judge: Callable[[bytes], tuple[PublicManifest | None, str]]
) -> tuple[list[Check], PublicManifest | None]:
    """Returns the checks, and the mirror's manifest if it is valid."""
    manifest, problem = _judged(mirror, judge)
    if manifest is None:
        return [check("manifest", False, f"{MANIFEST_PATH} {problem}")], None
    left = mirror.faults(manifest.files)
    for _ in range(_TRIES_AGAIN):
        newer, _ = _judged(mirror, judge) if left else (None, "")
        if newer is None or newer.version == manifest.version:
            break
        manifest = newer
        left = mirror.faults({path: newer.files[path] for path in left if path in newer.files})
    signed = check("manifest", True, f"version {manifest.version}, signed {manifest.signed_at:%Y-%m-%d %H:%M:%S} UTC")
    if left:
        return [signed, *left.values()], manifest
    return [signed, check("files", True, f"{len(manifest.files)}, all as in the manifest")], manifest


def _judged(
    mirror: _Mirror, judge: Callable[[bytes], tuple[PublicManifest | None, str]]
) -> tuple[PublicManifest | None, str]:
    body = published_body(mirror.client, mirror.address + MANIFEST_PATH)
    return (None, "can't be read from the mirror") if body is None else judge(body)


def _judge(
    body: bytes,
    keys: Mapping[str, Any],
    service: str | None,
    seen: Mapping[str, int],
    origin: PublicManifest | None,
    now: datetime,
) -> tuple[PublicManifest | None, str]:
    """Returns the manifest if it is valid, or else what is wrong with it."""
    manifest, fault = judge_manifest(body, keys, service=service, seen=seen, now=now)
    if manifest is None or fault is not None:
        return None, _SAID[fault or Fault.MALFORMED]
    lags = origin is not None and manifest.version < origin.version and origin.signed_at - manifest.signed_at > MOST_LAG
    return (None, _SAID[Fault.REPLAYED]) if lags else (manifest, "")


def _key_set(client: httpx.Client, origin: str, keys_file: Path | None) -> Mapping[str, Any]:
    if keys_file is not None:
        try:
            text = keys_file.read_bytes()
        except OSError as error:
            raise SettingsInvalid(
                f"{keys_file} can't be read: {error.strerror}.", cure=f"Save {JWKS_PATH} of the service there."
            ) from None
    else:
        text = published_body(client, origin + JWKS_PATH) or b""
    with suppress(msgspec.MsgspecError, UnicodeDecodeError):
        return msgspec.json.decode(text, type=dict[str, Any])
    raise KeysUnknown(
        f"There is no key set at {keys_file or origin + JWKS_PATH}.",
        cure="Pass the service's address as URL, or a key set saved from it with --keys FILE.",
    )


def _origin_manifest(
    client: httpx.Client, origin: str, keys: Mapping[str, Any], now: datetime
) -> PublicManifest | None:
    """Returns the service's own newest manifest, or None if it does not answer with a valid one."""
    body = published_body(client, origin + MANIFEST_PATH)
    if body is None:
        return None
    manifest, fault = judge_manifest(body, keys, service=None, seen={}, now=now)
    return manifest if fault is None else None


def _seen_versions(seen_file: Path | None) -> dict[str, int]:
    if seen_file is None or not seen_file.exists():
        return {}
    try:
        return msgspec.json.decode(seen_file.read_bytes(), type=dict[str, int])
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
        raise SettingsInvalid(
            f"{seen_file} does not contain versions by service.",
            cure="Pass a file that this command wrote, or a new one.",
        ) from None


def published_body(client: httpx.Client, address: str) -> bytes | None:
    """Returns a body of bounded size, or None if there is none."""
    try:
        with client.stream("GET", address, headers={"accept-encoding": "identity"}) as response:
            if response.status_code != 200:
                return None
            body = bytearray()
            for part in response.iter_raw():
                body += part
                if len(body) > LARGEST_BYTES:
                    return None
            return bytes(body)
    except httpx.HTTPError:
        return None
