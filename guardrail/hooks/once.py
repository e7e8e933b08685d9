"""One-time permissions: a code, shown in a terminal, is valid for one digest, one use and five minutes."""

from __future__ import annotations

import getpass
import hashlib
import secrets
from pathlib import Path

from guardrail.approval import SHORTEST_KEY, Approval, Approvals, make_token
from guardrail.hooks.directories import state_directory
from guardrail.hooks.files import read_private, read_private_json, write_private, write_private_json
from guardrail.record import record

LIFETIME = 300
"""Seconds for which a code, and its permission, is valid."""
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
_LENGTH = 8


@record
class Once:
    """The store of one user, in a private directory."""

    directory: Path

    def offer(self, digest: str, now: int) -> str:
        """Returns a new code for a digest. Only its hash is stored, so that nobody can read it from the disk."""
        code = "".join(secrets.choice(_LETTERS) for _ in range(_LENGTH))
        codes = self._codes(now)
        codes[_hashed(code)] = {"digest": digest, "expires_at": now + LIFETIME}
        write_private_json(self._codes_file, codes)
        return code

    def allow(self, code: str, now: int) -> str | None:
        """Allows the digest of a code once and returns it; None if the code is unknown, used or too old."""
        codes = self._codes(now)
        found = codes.pop(_hashed(code.strip().upper().replace("-", "")), None)
        if found is None:
            return None
        write_private_json(self._codes_file, codes)
        digest = str(found["digest"])
        token = make_token(Approval(digest, _owner(), now + LIFETIME, secrets.token_hex(16)), self._key())
        write_private(self._grant(digest), token.encode())
        return digest

    def token(self, digest: str) -> str | None:
        """Returns the unused token for a digest."""
        found = read_private(self._grant(digest))
        return found.decode("ascii", "replace") if found is not None else None

    def approvals(self, now: int) -> Approvals:
        """Returns everything that the engine needs to accept a token of this store."""
        return Approvals(self._key(), _owner(), now, self)

    def take(self, approval: Approval) -> bool:
        """Uses up a token. Of several concurrent calls, only one removes the file."""
        try:
            self._grant(approval.digest).unlink()
        except OSError:
            return False
        return True

    @property
    def _codes_file(self) -> Path:
        return self.directory / "codes.json"

    def _codes(self, now: int) -> dict[str, dict[str, object]]:
        codes = read_private_json(self._codes_file)
        return {hashed: found for hashed, found in codes.items() if now < int(found["expires_at"])}

    def _grant(self, digest: str) -> Path:
        return self.directory / "allowed" / digest

    def _key(self) -> bytes:
        file = self.directory / "key"
        key = read_private(file)
        if key is None or len(key) != SHORTEST_KEY:
            key = secrets.token_bytes(SHORTEST_KEY)
            write_private(file, key)
        return key


def own_once() -> Once:
    """Returns the store of the current user."""
    return Once(Path(state_directory()))


def _hashed(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


def _owner() -> str:
    return getpass.getuser()
