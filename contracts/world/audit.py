"""Chains the decisions of the audit: each link covers its decision and the link before it. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from contracts.canonical import canonical_sha256, sha256_hex

FIRST_LINK = "0" * 64
"""The predecessor of the first decision's link."""


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
    """Returns the chain's commitment to a payload. It reveals nothing to anyone without the salt and the payload."""
    return sha256_hex(f"{salt}\n{payload}".encode())


class AuditHead(msgspec.Struct, frozen=True, kw_only=True):
    """The number of decisions and the newest link when a generation was built.

    The signature also covers the generation's id, so a head can't pass for another generation's.
    """

    decisions: int
    link: str
    signature: dict[str, str]


def head_sha256(generation: str, decisions: int, link: str) -> str:
    """Returns the hash that the signature of a head covers."""
    fields = {"schema": HEAD_SCHEMA, "generation": generation, "decisions": decisions, "link": link}
    return canonical_sha256(fields)


class Restore(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """An operator's record that a backup of the ledger was restored, with the head of the chain at `restored_at`.

    The signature makes it as trustworthy as a generation's head: write access to the ledger is not enough to forge it.
    """

    restored_at: str
    head: AuditHead

    @property
    def sha256(self) -> str:
        """Returns the hash that the signature of the head covers. No generation's id begins with "restored"."""
        return head_sha256(f"restored {self.restored_at}", self.head.decisions, self.head.link)


class KnownHeads(msgspec.Struct, frozen=True, kw_only=True):
    """Evidence about the ledger's chain that is stored outside the ledger.

    `published` contains the signed heads of retained generations by generation id. `faults` names heads that were
    forged or removed, `of_lost_keys` the generations whose heads are signed by keys that the service does not have.
    """

    published: Mapping[str, AuditHead] = {}
    faults: tuple[str, ...] = ()
    of_lost_keys: tuple[str, ...] = ()
    restore: Restore | None = None


class AuditReport(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """The result of reading the whole audit. `head` is the last link; a copy of it elsewhere pins everything before it.

    `signed_heads` counts the generations whose signed heads were compared with the chain. `rolled_back` names those
    that were published from a longer chain than the present one, as happens when a backup is restored. `superseded`
    counts the ones that an operator's record of the restore at `restored_at` explains.
    """

    decisions: int
    events: int
    forgotten: int
    head: str
    signed_heads: int = 0
    superseded: int = 0
    restored_at: str | None = None
    rolled_back: list[str] = []
    faults: list[str]

    @property
    def verdict(self) -> Literal["intact", "rolled_back", "tampered"]:
        """Returns `tampered` if anything within the chain was changed, removed or inserted, and `rolled_back` if
        decisions at its end are missing, through an unrecorded restore or deliberate removal."""
        if self.faults:
            return "tampered"
        return "rolled_back" if self.rolled_back else "intact"

    @property
    def intact(self) -> bool:
        return self.verdict == "intact"


def event_sha256(body: str) -> str:
    """Returns the digest that identifies an accepted event in a decision's payload."""
    return sha256_hex(body.encode())


def batch_of(bodies: Iterable[str]) -> dict[str, Any]:
    """Returns the number of events in a batch and one digest of all of them in order."""
    digest, events = hashlib.sha256(), 0
    for body in bodies:
        events += 1
        digest.update(body.encode())
        digest.update(b"\n")
    return {"events": events, "sha256": digest.hexdigest()}


def payload_text(payload: dict[str, Any]) -> str:
    """Returns a decision's payload in the form that is stored and committed to."""
    return msgspec.json.encode(payload).decode()
