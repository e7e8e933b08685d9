"""Parses the owner that an operator names, in the same way for all commands."""

from contracts.errors import OwnerInvalid
from contracts.owners import typed_owner


def given_owner(text: str) -> str:
    """Returns the owner as the ledger records it. Raises `OwnerInvalid`."""
    owner = typed_owner(text)
    if owner is None:
        raise OwnerInvalid(
            f"{text!r} is not an owner.",
            cure="Pass a name, such as alice, which stands for local:alice; or an address, profile:ID or capsule:ID.",
        )
    return owner
