"""Creates, checks, hashes and redacts API keys as text. The ledger stores their owners.

A key is `svc_<tier>_`, 30 base62 characters (178 random bits), and 6 more with the CRC-32 of everything before, so a
typing error is found offline. Only the HMAC of a key is ever stored.
"""

import hashlib
import hmac
import re
import secrets
import string
import zlib

from contracts.access.tiers import Tier
from contracts.connect.tokens import redact_tokens

BASE62 = string.digits + string.ascii_uppercase + string.ascii_lowercase
RANDOM_LENGTH = 30
CHECKSUM_LENGTH = 6
KEY_LENGTH_MAX = len("svc_basic_") + RANDOM_LENGTH + CHECKSUM_LENGTH

KEY_FORM = re.compile(rf"svc_(free|basic|pro)_[0-9A-Za-z]{{{RANDOM_LENGTH + CHECKSUM_LENGTH}}}")
_SHOWN_LENGTH = 4


class ApiKey:
    """A whole key. Its printed form is always redacted; only `reveal` returns the text."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """Returns the text of the key, for the only answer that contains it."""
        return self._text

    @property
    def redacted(self) -> str:
        """Returns the prefix and the last four characters, as in `svc_free_…k3Xa`."""
        prefix = self._text[: -(RANDOM_LENGTH + CHECKSUM_LENGTH)]
        return f"{prefix}…{self._text[-_SHOWN_LENGTH:]}"

    def digest(self, pepper: bytes) -> str:
        """Returns the HMAC-SHA256 under the pepper as 64 hex digits, the only form in which a key is stored."""
        return hmac.digest(pepper, self._text.encode(), hashlib.sha256).hex()

    def __repr__(self) -> str:
        return f"ApiKey({self.redacted})"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ApiKey) and hmac.compare_digest(self._text, other._text)

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> str:
        raise TypeError("an API key can't be pickled")


def new_key(tier: Tier) -> ApiKey:
    """Returns a random key with the prefix of `tier`."""
    body = f"svc_{tier}_" + "".join(secrets.choice(BASE62) for _ in range(RANDOM_LENGTH))
    return ApiKey(body + checksum(body))


def parse_key(text: str) -> ApiKey | None:
    """Returns `text` as a key, or None if its form or its checksum is wrong."""
    if len(text) > KEY_LENGTH_MAX or KEY_FORM.fullmatch(text) is None:
        return None
    if checksum(text[:-CHECKSUM_LENGTH]) != text[-CHECKSUM_LENGTH:]:
        return None
    return ApiKey(text)


def checksum(text: str) -> str:
    """Returns the CRC-32 of ASCII `text` in base62: six digits, most significant first."""
    left = zlib.crc32(text.encode())
    digits = ""
    for _ in range(CHECKSUM_LENGTH):
        left, digit = divmod(left, 62)
        digits = BASE62[digit] + digits
    return digits


def redact_keys(text: str) -> str:
    """Returns `text` with everything redacted that has the form of a key or a session token."""
    text = redact_tokens(text)
    if "svc_" not in text:
        return text
    return KEY_FORM.sub(lambda key: ApiKey(key[0]).redacted, text)
