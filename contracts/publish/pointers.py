"""Defines the pointers of an object store: numbered, signed statements of the generation served from then on.

A store keeps them as a chain that only grows: a publisher creates the next number and never replaces one. Readers use
the highest valid number, so a forged, foreign or half-written pointer has no effect.
"""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum

import msgspec

from contracts.access.signing import KeySet, SigningKey, signed_sha256, with_signature

SCHEMA = "svc.generation-pointer/1"
_NAME = re.compile(r"^(\d{12})\.json$")


class Pointer(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The generation that is served from this number on.

    `manifest` is the SHA-256 of its manifest. After a roll-back, `rolled_back_from` is the newest generation that was
    ever pointed to: no publisher points to that one or an older one again. After an erasure, `forget_before` is the
    first generation without the erased texts: hosts delete all older ones. Later pointers repeat it.
    """

    number: int
    base_url: str
    generation: str
    manifest: str
    written_at: datetime
    rolled_back_from: str | None = None
    forget_before: str | None = None
    schema: str = SCHEMA
    signature: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def newest(self) -> str:
        """Returns the newest generation to which publishers have pointed."""
        return max(self.generation, self.rolled_back_from or "")

    def is_of_now(self, followed: Pointer) -> bool:
        """Decides whether a store whose newest pointer is this one is up to date, given that `followed` was seen
        before.

        The numbers of a store that was set up again start over, with later times.
        """
        return self.number >= followed.number or self.written_at > followed.written_at


class PointerFault(StrEnum):
    """The ways in which a pointer is wrong."""

    MALFORMED = "malformed"
    RENUMBERED = "renumbered"
    FOREIGN = "foreign"
    FORGED = "forged"


def pointer_name(number: int) -> str:
    """Returns the file name of a pointer. Names sort like their numbers."""
    return f"{number:012d}.json"


def pointer_number(name: str) -> int | None:
    """Returns the number in a pointer's file name, or None if it is not a pointer's name."""
    match = _NAME.match(name)
    return None if match is None else int(match[1])


def signed_pointer(pointer: Pointer, key: SigningKey) -> bytes:
    """Returns the bytes of `pointer` with its signature."""
    return msgspec.json.encode(with_signature(pointer, key))


def judge_pointer(body: bytes, number: int, keys: KeySet, base_url: str) -> Pointer | PointerFault:
    """Returns the pointer that was read under `number`, or its fault.

    It must be of the service at `base_url`, and signed by one of its keys.
    """
    try:
        pointer = msgspec.json.decode(body, type=Pointer)
        signed = signed_sha256(pointer)
    except (msgspec.MsgspecError, UnicodeDecodeError, ValueError):
        return PointerFault.MALFORMED
    if pointer.schema != SCHEMA:
        return PointerFault.MALFORMED
    if pointer.number != number:
        return PointerFault.RENUMBERED
    if pointer.base_url != base_url:
        return PointerFault.FOREIGN
    if not keys.verifies(pointer.signature, signed):
        return PointerFault.FORGED
    return pointer
