"""Loads the master secret from the settings, or from a private file that is created on first use."""

import secrets
from pathlib import Path

from contracts.errors import StoreUnusable
from contracts.secrets import SHORTEST_MASTER_SECRET, DerivedSecrets, derive_secrets, require_secrets
from contracts.settings import Settings
from warehouse.file_modes import make_data_directory, write_private_file
from warehouse.full_disk import not_written

MASTER_SECRET_FILE = "master.secret"  # noqa: S105 - a file's name
_RANDOM_BYTES = 32


def load_secrets(settings: Settings) -> DerivedSecrets:
    """Returns the secrets of this installation. Raises `SettingsInvalid`, `StoreUnusable`, `DiskFull`."""
    require_secrets(settings)
    if settings.master_secret is not None:
        return derive_secrets(settings.master_secret.get_secret_value())
    return derive_secrets(_read_or_make(settings.data_dir / MASTER_SECRET_FILE))


def _read_or_make(path: Path) -> str:
    try:
        if not path.exists():
            make_data_directory(path.parent)
            write_private_file(path, secrets.token_hex(_RANDOM_BYTES) + "\n", replace=False)
        text = path.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise not_written(f"The master secret {path}", path, error) or StoreUnusable(
            f"The master secret {path} can't be read or created: {getattr(error, 'strerror', 'not text')}.",
            cure="Give this user access to the file and its directory, or set SVC_MASTER_SECRET.",
        ) from None
    if len(text) < SHORTEST_MASTER_SECRET:
        raise StoreUnusable(
            f"The master secret {path} is shorter than when it was created.",
            cure="Restore it from a backup; without it no API key of this ledger is valid.",
        )
    return text
