"""Checks the addresses that requests name and writes them in one form. Pure."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field

from contracts.evm.codec import checksum_address

PATTERN: Final = r"^0x[0-9a-fA-F]{40}$"

_ADDRESS: Final = re.compile(PATTERN.removesuffix("$"))


def address_of(text: str) -> str:
    """Returns an address in lower case. Raises `ValueError` for another form, or for mixed case that breaks EIP-55."""
    if _ADDRESS.fullmatch(text) is None:
        raise ValueError("an address is 0x and 40 hexadecimal digits")
    if has_wrong_checksum(text):
        raise ValueError("the capitals of the address are not its EIP-55 checksum")
    return text.lower()


def has_wrong_checksum(text: str) -> bool:
    """Decides whether an address is of mixed case that breaks EIP-55: one of its digits may be mistyped."""
    digits = text[2:]
    return digits not in (digits.lower(), digits.upper()) and checksum_address(text) != text


AnyCaseAddress = Annotated[str, Field(pattern=PATTERN), AfterValidator(str.lower)]
"""An address of any case, only for quotes: for them the service interface gives this pattern and nothing else. All
other operations refuse a wrong checksum; a quote warns about it."""

AskedAddress = Annotated[str, Field(pattern=PATTERN), AfterValidator(address_of)]
"""An address in a request: lower case, upper case, or mixed case with a correct EIP-55 checksum."""
