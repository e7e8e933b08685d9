"""Derives the secrets of an installation from its master secret, which `warehouse/ledger/master_secret.py` provides."""

from dataclasses import dataclass, field

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from contracts.errors import SettingsInvalid
from contracts.settings import PREFIX, Settings

SHORTEST_MASTER_SECRET = 32
"""Minimum length of the master secret, in characters; 32 hex digits contain 128 bits."""

PEPPER_VERSION = 1
"""Stored with each key's HMAC, so that keys of a later pepper can coexist with these."""


@dataclass(frozen=True, slots=True)
class DerivedSecrets:
    """Independent 32-byte secrets of one installation. None of them reveals another secret or the master secret."""

    pepper: bytes = field(repr=False)
    """Keys the HMACs under which API keys, session tokens and pairing codes are stored."""
    sealing_key: bytes = field(repr=False)
    """AES-256-GCM key for texts that stay sealed until a client acknowledges them."""
    approval_key: bytes = field(repr=False)
    """Signs the approvals with which a person lets an action pass the guardrail."""
    question_key: bytes = field(repr=False)
    """Seals the state that an MCP client returns with its user's reply to a question."""


def derive_secrets(master: str) -> DerivedSecrets:
    """Returns all derived secrets of `master`."""
    return DerivedSecrets(
        pepper=_derive(master, f"pepper {PEPPER_VERSION}"),
        sealing_key=_derive(master, "sealing 1"),
        approval_key=_derive(master, "guardrail approvals 1"),
        question_key=_derive(master, "mcp questions 1"),
    )


_MADE_WITH = {
    "master_secret": "SVC_MASTER_SECRET to the output of `openssl rand -hex 32`",
    "signing_key_file": "SVC_SIGNING_KEY_FILE to a file of `openssl genpkey -algorithm ed25519 -out FILE`",
}
"""The secrets that processes on one ledger share -> what to set them to."""


def require_secrets(settings: Settings) -> None:
    """Raises `SettingsInvalid` if required secrets are not set, naming all of them, or if the master secret is too
    short.

    Processes on several hosts may share a PostgreSQL ledger, so none of them may generate its own secret.
    """
    missing = [name for name in _MADE_WITH if settings.ledger_url is not None and getattr(settings, name) is None]
    faults = []
    if missing:
        names = " and ".join(PREFIX + name.upper() for name in missing)
        faults.append(
            f"{names} are not set, and SVC_LEDGER_URL requires them."
            if len(missing) > 1
            else f"{names} is not set, and SVC_LEDGER_URL requires it."
        )
    master = settings.master_secret
    if master is not None and len(master.get_secret_value()) < SHORTEST_MASTER_SECRET:
        faults.append(f"SVC_MASTER_SECRET has fewer than {SHORTEST_MASTER_SECRET} characters.")
        missing.insert(0, "master_secret")
    if faults:
        wanted = " and ".join(_MADE_WITH[name] for name in missing)
        raise SettingsInvalid(" ".join(faults), cure=f"Set {wanted}, the same for every process.")


def _derive(master: str, purpose: str) -> bytes:
    return HKDF(SHA256(), 32, salt=None, info=f"svc {purpose}".encode()).derive(master.encode())
