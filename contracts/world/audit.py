"""The audit's chain: each decision's link covers its row and the link before it. Pure."""

from __future__ import annotations

from typing import Any

import msgspec

from contracts.canonical import canonical_sha256, sha256_hex

FIRST_LINK = "0" * 64
"""What the first decision's link covers in place of one before it."""


HEAD_SCHEMA = "svc.world.audit_head.v1"


class ChainedDecision(msgspec.Struct, frozen=True, kw_only=True):
    """One decision as the chain holds it. Nothing of it tells who decided or about what."""

    number: int
    seq: int
    decided_at: str
    verdict: str
    commitment: str

    def link(self, previous: str) -> str:
        """The hash that stands for the chain up to this decision."""
        return canonical_sha256([previous, self.number, self.seq, self.decided_at, self.verdict, self.commitment])


def commitment(salt: str, payload: str) -> str:
    """What the chain says of a payload: nothing can be guessed from it once salt and payload are deleted."""
    return sha256_hex(f"{salt}\n{payload}".encode())


class AuditHead(msgspec.Struct, frozen=True, kw_only=True):
    """The chain as it was when a generation was built: how many decisions, and the link of the newest.

    The signature covers the generation's id too, so that one generation's head can't stand in for another's.
    """

    decisions: int
    link: str
    signature: dict[str, str]


def head_sha256(generation: str, decisions: int, link: str) -> str:
    """The hash that is signed of a head."""
    fields = {"schema": HEAD_SCHEMA, "generation": generation, "decisions": decisions, "link": link}
    return canonical_sha256(fields)


class AuditReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """What reading the whole audit found. `head` is the last link: kept elsewhere, it pins everything before it.

    `signed_heads` counts the generations whose signed heads the chain was compared with.
    """

    decisions: int
    events: int
    forgotten: int
    head: str
    signed_heads: int = 0
    faults: list[str]

    @property
    def intact(self) -> bool:
        """Whether nothing was changed, taken out or put in behind the service's back."""
        return not self.faults


def event_sha256(body: str) -> str:
    """What a decision's payload says of an event that it let in."""
    return sha256_hex(body.encode())


def payload_text(payload: dict[str, Any]) -> str:
    """A decision's payload as it is kept and committed to."""
    return msgspec.json.encode(payload).decode()
