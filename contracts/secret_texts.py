"""Finds secrets in texts: seed phrases (BIP-39), private keys in PEM, and our API keys. Pure.

It does not search for hexadecimal private keys, which look like the hash of a transaction.
"""

import hashlib
import re
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from contracts.access.api_keys import KEY_FORM, parse_key
from contracts.errors import BadRequest

SecretKind = Literal["seed_phrase", "private_key", "api_key"]

SECRETS: dict[SecretKind, str] = {
    "seed_phrase": "a seed phrase",
    "private_key": "a private key",
    "api_key": "an API key of this service",
}

_WORD_COUNTS = (12, 15, 18, 21, 24)
_SHORTEST_PHRASE = _WORD_COUNTS[0]
_BITS_A_WORD = 11

_SHORTEST_SECRET = 44
"""Length of the shortest secret, an API key, in characters. Twelve words of three letters have 47 with separators."""

_MOST_CANDIDATES = 500
"""Maximum number of phrases, keys and headers checked in one text.

Every sixteenth phrase of random words has a correct checksum, so a text with this many wrong ones was written to waste
time.
"""

_LONGEST_RUN = _MOST_CANDIDATES + _WORD_COUNTS[-1]

_PEM_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_PEM_BODY = re.compile(r"[A-Za-z0-9+/=]{40}")
_PEM_BODY_WITHIN = 1_000
"""Characters after the header in which the body may begin. An encrypted key has fields before its Base64."""

_WORDS_ONLY = bytes(
    byte if chr(byte).islower() and byte < 0x80 else byte + 32 if 65 <= byte <= 90 else 32 for byte in range(256)
)
"""Maps bytes: ASCII letters to lower case, everything else to a space."""


class SecretInText(BadRequest):
    code = "secret_in_text"
    title = "A text of the request contains a secret"


def refuse_secrets(value: Any) -> None:
    """Raises `SecretInText` if a text of a JSON value contains a secret, or if a list of texts spells one.

    The problem points to the text and does not repeat it.
    """
    for kind, pointer in _secrets_in(value, ""):
        reason = f"contains {SECRETS[kind]}"
        raise SecretInText(
            f"The text {reason}. It is not stored. Remove it and send the rest; replace the secret, because it was "
            "sent over a network.",
            errors=[(pointer, reason)],
        )


def secret_in(text: str) -> SecretKind | None:
    """Returns the kind of secret that `text` contains, or None. Takes about 10 ms per mebibyte, and never more than
    50."""
    if len(text) < _SHORTEST_SECRET:
        return None
    if "PRIVATE KEY" in text and _holds_private_key(text):
        return "private_key"
    if "svc_" in text and any(parse_key(key[0]) for key in islice(KEY_FORM.finditer(text), _MOST_CANDIDATES)):
        return "api_key"
    return "seed_phrase" if _holds_seed_phrase(text) else None


def _secrets_in(value: Any, pointer: str) -> Iterator[tuple[SecretKind, str]]:
    """Yields each secret with the pointer to its text. Pointers never contain a name that is itself a secret."""
    if isinstance(value, str):
        if kind := secret_in(value):
            yield kind, pointer
    elif isinstance(value, dict):
        for name, inner in value.items():
            if kind := secret_in(name):
                yield kind, pointer
            yield from _secrets_in(inner, f"{pointer}/{name.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(value, list):
        texts = [inner for inner in value if isinstance(inner, str)]
        if kind := secret_in(" ".join(texts)):
            yield kind, pointer
        for place, inner in enumerate(value):
            if not isinstance(inner, str):
                yield from _secrets_in(inner, f"{pointer}/{place}")


def _holds_private_key(text: str) -> bool:
    for header in islice(_PEM_BEGIN.finditer(text), _MOST_CANDIDATES):
        body = text[header.end() : header.end() + _PEM_BODY_WITHIN].partition("-----")[0]
        if _PEM_BODY.search(body):
            return True
    return False


def _holds_seed_phrase(text: str) -> bool:
    words = text.encode(errors="replace").translate(_WORDS_ONLY).split()
    numbers = _word_numbers()
    checked = 0
    place = _SHORTEST_PHRASE - 1
    # Every run of twelve words of the list covers one of these places, so checking each twelfth word is enough.
    while place < len(words) and checked < _MOST_CANDIDATES:
        if words[place] not in numbers:
            place += _SHORTEST_PHRASE
            continue
        first, end = place, place + 1
        while first > 0 and words[first - 1] in numbers:
            first -= 1
        while end < min(len(words), first + _LONGEST_RUN) and words[end] in numbers:
            end += 1
        run = [numbers[word] for word in words[first:end]]
        starts = range(len(run) - _SHORTEST_PHRASE + 1)
        if any(_has_right_check(run[start : start + count]) for start in starts for count in _WORD_COUNTS):
            return True
        checked += len(starts)
        # The word after a run is not in the list, so the next run begins after it.
        place = end + _SHORTEST_PHRASE
    return False


def _has_right_check(phrase: list[int]) -> bool:
    """Decides whether the last bits of a phrase equal those of the SHA-256 of its entropy, as BIP-39 requires."""
    if len(phrase) not in _WORD_COUNTS:
        return False
    bits = 0
    for number in phrase:
        bits = bits << _BITS_A_WORD | number
    check_bits = len(phrase) * _BITS_A_WORD // 33
    entropy = (bits >> check_bits).to_bytes(check_bits * 4, "big")
    return hashlib.sha256(entropy).digest()[0] >> (8 - check_bits) == bits & ((1 << check_bits) - 1)


@cache
def _word_numbers() -> dict[bytes, int]:
    """Returns the English words of BIP-39 with their numbers.

    It reads the data file of eth-account directly, because importing that package takes a second.
    """
    spec = find_spec("eth_account")
    assert spec is not None and spec.origin is not None, "eth-account is a dependency"
    words = Path(spec.origin).with_name("hdaccount") / "wordlist" / "english.txt"
    return {word: number for number, word in enumerate(words.read_bytes().split())}
