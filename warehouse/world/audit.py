"""Keeps the audit in the ledger: records decisions in a hash chain and verifies the whole chain."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from contracts.times import utc_text
from contracts.world.audit import (
    FIRST_LINK,
    AuditHead,
    AuditReport,
    ChainedDecision,
    KnownHeads,
    batch_of,
    commitment,
    event_sha256,
    payload_text,
)
from contracts.world.proposal import Confirmation, Proposal, StageResult, Verdict
from contracts.world.records import Event
from warehouse.ledger.ledger import Reader, Transaction
from warehouse.publish.generations import published_at
from warehouse.world.events import event_body

DECISION = "world_decision"
_PAGE = 500


def record(
    tx: Transaction,
    seq: int,
    verdict: Verdict,
    proposal: Proposal,
    stages: Sequence[StageResult],
    events: Sequence[Event],
    *,
    settles: int | None = None,
    key_id: str | None = None,
    batch: Mapping[str, Any] | None = None,
    confirmation: Confirmation | None = None,
) -> None:
    """Adds the decision `seq` to the chain, with its proposal and the events that it wrote.

    `settles` is the seq of an escalated decision that this one settles; `key_id` is the requesting key; `confirmation`
    is the claim that the owner agreed. If `batch`, the digest of all its events (`batch_of`), is given, it is stored
    instead of one digest per event.
    """
    payload = payload_text(
        {
            "actor": proposal.actor,
            "proposal": proposal,
            "stages": stages,
            "events": {str(event.seq): event_sha256(event_body(event)) for event in events},
            "settles": settles,
        }
        | ({} if batch is None else {"batch": batch})
        | ({} if confirmation is None else {"claimedConfirmation": confirmation})
    )
    salt = secrets.token_hex(16)
    last = tx.row("world_last_decision")
    decision = ChainedDecision(
        number=1 if last is None else last["number"] + 1,
        seq=seq,
        decided_at=utc_text(tx.now()),
        verdict=verdict,
        commitment=commitment(salt, payload),
    )
    link = decision.link(FIRST_LINK if last is None else last["link"])
    tx.run("world_record_decision", **msgspec.structs.asdict(decision), link=link)
    owner = proposal.actor.owner or ""
    tx.run("world_keep_payload", seq=seq, owner=owner, salt=salt, payload=payload, key_id=key_id)


def decided_stages(reader: Reader, seq: int) -> tuple[StageResult, ...]:
    """Returns the stages' results for the decision `seq`; an empty tuple if it was forgotten."""
    row = reader.row("world_payload", seq=seq)
    if row is None:
        return ()
    return tuple(msgspec.convert(stage, StageResult) for stage in msgspec.json.decode(row["payload"])["stages"])


def newest_decisions(reader: Reader, limit: int) -> list[dict[str, Any]]:
    """Returns the newest decisions, newest first, each with its payload, or None if that was forgotten."""
    return [
        {
            "number": row["number"],
            "seq": row["seq"],
            "decidedAt": row["decided_at"],
            "verdict": row["verdict"],
            "link": row["link"],
            "payload": None if row["payload"] is None else msgspec.json.decode(row["payload"]),
        }
        for row in reader.rows("world_newest_decisions", limit=limit)
    ]


def verify(reader: Reader, known: KnownHeads | None = None) -> AuditReport:
    """Reads every decision and event and reports everything that contradicts the chain.

    It finds a changed, missing, added or reordered decision, a changed payload, an event without the decision that
    wrote it, a changed event, and a current state that differs from its newest event. A chain that was rewritten or cut
    off as a whole is self-consistent; `known`, the signed heads of earlier generations, reveals it.
    """
    compared = _compared(reader, known or KnownHeads())
    faults = compared.faults
    previous, number, seq, forgotten = FIRST_LINK, 0, 0, 0
    while rows := reader.rows("world_decisions_after", seq=seq, limit=_PAGE):
        for row in rows:
            number, seq = number + 1, row["seq"]
            decision = ChainedDecision(**{name: row[name] for name in ChainedDecision.__struct_fields__})
            if decision.number != number:
                faults.append(f"decision {number} is missing: {decision.number} follows")
                number = decision.number
            if decision.link(previous) != row["link"]:
                faults.append(f"decision {decision.number} does not fit the chain")
            previous = row["link"]
            if row["payload"] is None:
                forgotten += 1
            elif commitment(row["salt"], row["payload"]) != decision.commitment:
                faults.append(f"the payload of decision {decision.number} was changed")
            else:
                payload = msgspec.json.decode(row["payload"])
                if "batch" in payload:
                    faults += _batch_faults(reader, decision, payload["batch"])
                else:
                    faults += _event_faults(reader, decision, payload["events"])
    faults += [f"decision with seq {row['seq']} was removed" for row in reader.rows("world_decisions_lost")]
    faults += [f"event {row['seq']} has no approved decision" for row in reader.rows("world_events_without_decision")]
    faults += [f"{row['id']} differs from its newest event" for row in reader.rows("world_states_unlike_events")]
    count = reader.row("world_event_count")
    events = 0 if count is None else int(count["events"])
    return AuditReport(
        decisions=number,
        events=events,
        forgotten=forgotten,
        head=previous,
        signed_heads=len(known.published) if known else 0,
        superseded=compared.superseded,
        restored_at=known.restore.restored_at if known and known.restore else None,
        rolled_back=compared.rolled_back,
        faults=faults,
    )


def begins_with(reader: Reader, decisions: int, link: str) -> bool:
    """Decides whether `link` is the head of the chain's first `decisions`."""
    if decisions == 0:
        return link == FIRST_LINK
    row = reader.row("world_numbered_decision", number=decisions)
    return row is not None and row["link"] == link


@dataclass(slots=True)
class _Compared:
    """The result of comparing the chain with known heads, in the fields of `AuditReport`."""

    faults: list[str]
    rolled_back: list[str]
    superseded: int = 0


def _compared(reader: Reader, known: KnownHeads) -> _Compared:
    found = _Compared(list(known.faults), [])
    restored_at = "" if known.restore is None else known.restore.restored_at
    if known.restore is not None:
        _compare(reader, f"the restore of {restored_at}", restored_at, known.restore.head, found)
    for generation, head in known.published.items():
        at = published_at(generation)
        # only the record of a restore counts for the time before it, regardless of what was published then
        if at > restored_at:
            _compare(reader, f"generation {generation}", at, head, found)
        elif not begins_with(reader, head.decisions, head.link):
            found.superseded += 1
    for generation in known.of_lost_keys:
        if published_at(generation) > restored_at:
            found.rolled_back.append(f"generation {generation} is signed by a key that this service does not have")
        else:
            found.superseded += 1
    return found


def _compare(reader: Reader, name: str, at: str, head: AuditHead, found: _Compared) -> None:
    """Adds to `found` how the chain contradicts a head that was signed at `at`.

    A restored backup ends before the head's decision, and any decision with that number was made later. An earlier
    decision with that number is a sign of tampering.
    """
    if begins_with(reader, head.decisions, head.link):
        return
    row = reader.row("world_numbered_decision", number=head.decisions)
    if row is None:
        found.rolled_back.append(f"{name} has {head.decisions} decisions, but the chain ends earlier")
    elif row["decided_at"] > at:
        found.rolled_back.append(
            f"{name} has another decision {head.decisions} than the chain, whose decision is later"
        )
    else:
        found.faults.append(f"the chain up to decision {head.decisions} differs from that of {name}")


def _batch_faults(reader: Reader, decision: ChainedDecision, recorded: dict[str, Any]) -> list[str]:
    rows = reader.rows("world_events_of_decision", decision_seq=decision.seq)
    if batch_of(row["body"] for row in rows) == recorded:
        return []
    return [f"the {len(rows)} events of decision {decision.number} are not those that it accepted"]


def _event_faults(reader: Reader, decision: ChainedDecision, recorded: dict[str, str]) -> list[str]:
    if decision.verdict != "approved":
        return []
    stored = {
        str(row["seq"]): event_sha256(row["body"])
        for row in reader.rows("world_events_of_decision", decision_seq=decision.seq)
    }
    return [
        f"event {seq} is not the one that decision {decision.number} accepted"
        for seq in sorted(stored.keys() | recorded.keys(), key=int)
        if stored.get(seq) != recorded.get(seq)
    ]
