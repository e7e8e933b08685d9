"""Parses owners that a person or a request names: an address, `local:NAME`, `profile:ID` or `capsule:ID`. Pure."""

import re
from typing import Final

_ADDRESS: Final = re.compile("0x[0-9a-f]{40}")
_OWNER: Final = re.compile(rf"{_ADDRESS.pattern}|(?:local|profile|capsule):\S.*")


def recorded_owner(text: str) -> str | None:
    """Returns an owner as the ledger records it, addresses in lower case, or None if the text is not an owner."""
    owner = text.lower() if text[:2].lower() == "0x" else text
    return owner if owner.isprintable() and _OWNER.fullmatch(owner) else None


def typed_owner(text: str) -> str | None:
    """Returns the owner that an operator typed; a bare name means `local:NAME`.

    A text with a colon, or one that begins like an address, is not a name: that would hide a misspelt kind or address.
    """
    name = text.strip()
    is_bare = name and ":" not in name and name[:2].lower() != "0x"
    return recorded_owner(f"local:{name}" if is_bare else name)


def is_address(owner: str) -> bool:
    """Decides whether a recorded owner is an address."""
    return _ADDRESS.fullmatch(owner) is not None
