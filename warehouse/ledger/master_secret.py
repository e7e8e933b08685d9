"""Loads the master secret from the settings, or from a private file that is created on first use."""

import os
import secrets
from pathlib import Path

from contracts.errors import StoreUnusable
from contracts.secrets import SHORTEST_MASTER_SECRET, DerivedSecrets, derive_secrets, require_secrets
from contracts.settings import Settings
from warehouse.file_modes import make_data_directory

MASTER_SECRET_FILE = "master.secret"  # noqa: S105 - a file's name
_RANDOM_BYTES = 32


def load_secrets(settings: Settings) -> DerivedSecrets:
    """Returns the secrets of this installation. Raises `SettingsInvalid`, `StoreUnusable`."""
    require_secrets(settings)
    if settings.master_secret is not None:
        return derive_secrets(settings.master_secret.get_secret_value())
    return derive_secrets(_read_or_make(settings.data_dir / MASTER_SECRET_FILE))


def _read_or_make(path: Path) -> str:
    try:
        if not path.exists():
            _make(path)
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise StoreUnusable(
            f"The master secret {path} can't be read or made: {getattr(error, 'strerror', 'not text')}.",
            cure="Give this user access to the file and its directory, or set SVC_MASTER_SECRET.",
        ) from None
    if len(text) < SHORTEST_MASTER_SECRET:
        raise StoreUnusable(
            f"The master secret {path} is shorter than it was made.",
            cure="Restore it from a backup; without it no API key of this ledger is valid.",
        )
    return text


def _make(path: Path) -> None:
    """Writes the file completely and privately under another name, then links it.

    Of several processes that start together, one wins.
    """
    make_data_directory(path.parent)
    draft = path.with_name(f".{path.name}-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_hex(_RANDOM_BYTES) + "\n")
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            return
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    finally:
        draft.unlink(missing_ok=True)
