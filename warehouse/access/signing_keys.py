"""Manages the file of signing keys: `SVC_SIGNING_KEY_FILE`, or a private file that is created in the data directory on
first use.

A file named by the settings is never created here, since several hosts need the same one.
"""

from datetime import datetime
from pathlib import Path

from contracts.access.signing import ACTIVE_AFTER, KeySet, SigningKey, key_text, new_private_key, parse_key_set
from contracts.errors import OperatorProblem, StoreUnusable
from contracts.secrets import require_secrets
from contracts.settings import Settings
from warehouse.file_modes import make_data_directory, write_private_file
from warehouse.full_disk import not_written

SIGNING_KEY_FILE = "signing.pem"


class SigningKeys:
    """Loads the key set of one file and reloads it when the file changes. Threads may share it."""

    def __init__(self, settings: Settings) -> None:
        require_secrets(settings)
        self._named = settings.signing_key_file is not None
        self._path = settings.signing_key_file or settings.data_dir / SIGNING_KEY_FILE
        self._cached: tuple[tuple[int, int, int], KeySet] | None = None

    def current(self) -> KeySet:
        """Returns the file's current keys. Raises `SettingsInvalid`, `StoreUnusable`, `DiskFull`."""
        try:
            if not self._named and not self._path.exists():
                make_data_directory(self._path.parent)
                write_private_file(self._path, key_text(new_private_key()), replace=False)
            status = self._path.stat()
            version = (status.st_ino, status.st_mtime_ns, status.st_size)
            cached = self._cached
            if cached is None or cached[0] != version:
                cached = self._cached = (
                    version,
                    parse_key_set(self._path.read_text(), f"The signing key file {self._path}"),
                )
        except (OSError, UnicodeDecodeError) as error:
            raise _unusable(self._path, error) from None
        return cached[1]

    def rotate(self, now: datetime) -> SigningKey:
        """Adds a key that is published at once and starts signing when every cache of the old key set has expired.

        Raises `SettingsInvalid`, `StoreUnusable`, `DiskFull`.
        """
        self.current()
        private = new_private_key()
        try:
            text = self._path.read_text()
            separator = "" if text.endswith("\n") else "\n"
            write_private_file(self._path, text + separator + key_text(private, now + ACTIVE_AFTER), replace=True)
        except OSError as error:
            raise _unusable(self._path, error) from None
        return self.current().keys[-1]


def _unusable(path: Path, error: OSError | UnicodeDecodeError) -> OperatorProblem:
    file = f"The signing key file {path}"
    return not_written(file, path, error) or StoreUnusable(
        f"{file} can't be read or written: {getattr(error, 'strerror', 'not text')}.",
        cure="Give this user access to the file and its directory, or set SVC_SIGNING_KEY_FILE.",
    )
