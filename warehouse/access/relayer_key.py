"""Loads the key of the relayer, the address that sends signed payments: `SVC_RELAYER_KEY_FILE`, 64 hex digits.

The file is never created here, because its address needs money for gas.
"""

import re
from pathlib import Path
from typing import Any

from contracts.access.eth_accounts import eth_account
from contracts.errors import SettingsInvalid
from contracts.settings import Settings

_KEY = re.compile(r"(0x)?[0-9a-fA-F]{64}")


def load_relayer(settings: Settings) -> Any:
    """Returns the relayer's account (`eth_account.signers.local.LocalAccount`). Raises `SettingsInvalid`."""
    path = settings.relayer_key_file
    try:
        text = "" if path is None else path.read_text().strip()
        if path is None or _KEY.fullmatch(text) is None:
            raise _unusable(path, "contains no private key")
        return eth_account().Account.from_key(text)
    except (OSError, ValueError):
        raise _unusable(path, "can't be read, or contains no private key") from None


def _unusable(path: Path | None, why: str) -> SettingsInvalid:
    return SettingsInvalid(
        f"The relayer key file {path} {why}.",
        cure="Write a key that nothing else uses with `openssl rand -hex 32 > FILE`, and send its address some gas.",
    )
