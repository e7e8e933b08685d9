"""Chains the decisions of the audit: each link covers its decision and the link before it. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec

from contracts.canonical import canonical_sha256, sha256_hex

FIRST_LINK = "0" * 64
"""The predecessor in the first decision's link."""


HEAD_SCHEMA = "svc.world.audit_head.v1"


class ChainedDecision(msgspec.Struct, frozen=True, kw_only=True):
    """One decision in the chain. Its fields reveal neither who decided nor about what."""

    number: int
    seq: int
    decided_at: str
    verdict: str
    commitment: str

    def link(self, previous: str) -> str:
        """Returns the hash that represents the chain up to this decision."""
        return canonical_sha256([previous, self.number, self.seq, self.decided_at, self.verdict, self.commitment])


def commitment(salt: str, payload: str) -> str:
    """Returns the chain's commitment to a payload. Without salt and payload, nobody can guess anything from it."""
    return sha256_hex(f"{salt}\n{payload}".encode())


class AuditHead(msgspec.Struct, frozen=True, kw_only=True):
    """The number of decisions and the newest link at the build of a generation.

    The signature also covers the generation's id, so a head can't pass for that of another generation.
    """

    decisions: int
    link: str
    signature: dict[str, str]


def head_sha256(generation: str, decisions: int, link: str) -> str:
    """Returns the hash that the signature of a head covers."""
    fields = {"schema": HEAD_SCHEMA, "generation": generation, "decisions": decisions, "link": link}
    return canonical_sha256(fields)


class AuditReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The result of reading the whole audit. `head` is the last link; a copy of it elsewhere pins everything before it.

    `signed_heads` counts the generations whose signed heads were compared with the chain.
    """

    decisions: int
    events: int
    forgotten: int
    head: str
    signed_heads: int = 0
    faults: list[str]

    @property
    def intact(self) -> bool:
        """Returns True if nobody changed, removed or inserted anything."""
        return not self.faults


def event_sha256(body: str) -> str:
    """Returns the digest by which a decision's payload names an event that it accepted."""
    return sha256_hex(body.encode())


def batch_of(bodies: Iterable[str]) -> dict[str, Any]:
    """Returns the number of the events of a batch, in their order, and one digest of them all."""
    digest, events = hashlib.sha256(), 0
    for body in bodies:
        events += 1
        digest.update(body.encode())
        digest.update(b"\n")
    return {"events": events, "sha256": digest.hexdigest()}


def payload_text(payload: dict[str, Any]) -> str:
    """Returns a decision's payload in the form that is stored and committed to."""
    return msgspec.json.encode(payload).decode()
