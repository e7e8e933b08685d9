"""The one way into the graph, for API, MCP, pipeline and CLI: a proposal is judged and written, or not, in one step.

The ledger's transaction lets one writer in at a time over all processes, so what was judged is what is there.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from contracts.errors import IdempotencyKeyReused, ProposalUnknown
from contracts.world.alignment import Alignment
from contracts.world.alignment import alignment as guardrails
from contracts.world.ontology import load_ontology
from contracts.world.plan import Case, plan
from contracts.world.proposal import Actor, Decision, Proposal, StageResult, checked
from contracts.world.records import Edge, Event, Node
from contracts.world.stages import Judgement
from contracts.world.validator import judge
from warehouse.ledger import Ledger, Reader, Transaction
from warehouse.world.audit import DECISION, decided_stages, record
from warehouse.world.events import append_states, events_of_decision, head_revision
from warehouse.world.view import LedgerView

_encode = msgspec.json.Encoder().encode
_proposal = msgspec.json.Decoder(Proposal).decode


def propose(
    ledger: Ledger, proposal: Proposal, *, alignment: Alignment = guardrails, key_id: str | None = None
) -> Decision:
    """Judge a proposal by the seven stages and write all of it where they approve, none of it otherwise.

    `key_id` is the key that asks: what it wrote alone can become its next owner's.
    The same request with the same idempotency key gets the same answer again. Raises `BodyInvalid`,
    `RevisionConflict`, `IdempotencyKeyReused`, and what the ledger raises; nothing is written then.
    """
    shaped = checked(proposal)
    aligned = alignment(shaped)
    with ledger.transaction() as tx:
        return decide(tx, shaped, aligned, key_id=key_id)


def decide(tx: Transaction, proposal: Proposal, aligned: Judgement, *, key_id: str | None = None) -> Decision:
    """`propose` as a step of a larger transaction. The proposal is as `checked` gave it, `aligned` by `alignment`."""
    known = _answered(tx, proposal)
    if known is not None:
        return known
    case = plan(proposal, LedgerView(tx), load_ontology(), tx.now())
    judged = judge(case, aligned)
    seq = tx.changed(DECISION, judged.verdict)
    events = _apply(tx, case, seq) if judged.verdict == "approved" else []
    record(tx, seq, judged.verdict, proposal, judged.stages, events, key_id=key_id)
    if judged.verdict == "escalated":
        tx.run("world_pend", seq=seq, owner=proposal.actor.owner or "", proposal=_encode(proposal).decode())
    if judged.verdict != "rejected" and proposal.idempotency_key is not None:
        request = proposal.request_sha256()
        tx.run(
            "world_keep_request",
            scope=proposal.actor.name,
            key=proposal.idempotency_key,
            request_sha256=request,
            seq=seq,
        )
    return _decision(tx, seq, judged.verdict, judged.stages, events)


def pending(ledger: Ledger, limit: int = 100) -> list[tuple[int, datetime, Proposal]]:
    """Proposals that wait for an operator, oldest first: seq of the decision, when it was taken, what is proposed."""
    with ledger.read() as reader:
        return [
            (row["seq"], datetime.fromisoformat(row["decided_at"]), _proposal(row["proposal"]))
            for row in reader.rows("world_waiting", limit=limit)
        ]


def approve(ledger: Ledger, seq: int, operator: str, *, alignment: Alignment = guardrails) -> Decision:
    """Judge a waiting proposal again, as the operator's own, and write it. A stage may still reject it: it waits on.

    Raises `ProposalUnknown`.
    """
    with ledger.read() as reader:
        waiting = _waiting(reader, seq)
    actor = Actor("operator", f"operator:{operator}", on_behalf_of=waiting.actor.owner)
    proposal = msgspec.structs.replace(waiting, actor=actor, expected_revision=None, idempotency_key=None)
    aligned = alignment(proposal)
    with ledger.transaction() as tx:
        _waiting(tx, seq)
        case = plan(proposal, LedgerView(tx), load_ontology(), tx.now())
        judged = judge(case, aligned)
        decided = tx.changed(DECISION, judged.verdict)
        events: list[Event] = []
        if judged.verdict == "approved":
            events = _apply(tx, case, decided)
            tx.run("world_settle", seq=seq, decided_seq=decided)
        record(tx, decided, judged.verdict, proposal, judged.stages, events, settles=seq)
        return _decision(tx, decided, judged.verdict, judged.stages, events)


def reject(ledger: Ledger, seq: int, operator: str, reason: str) -> Decision:
    """Decline a waiting proposal for good. Raises `ProposalUnknown`."""
    with ledger.transaction() as tx:
        waiting = _waiting(tx, seq)
        actor = Actor("operator", f"operator:{operator}", on_behalf_of=waiting.actor.owner)
        stages = (StageResult("authority", "fail", f"{actor.name} declined: {reason}"),)
        decided = tx.changed(DECISION, "rejected")
        tx.run("world_settle", seq=seq, decided_seq=decided)
        record(tx, decided, "rejected", msgspec.structs.replace(waiting, actor=actor), stages, [], settles=seq)
        return _decision(tx, decided, "rejected", stages, [])


def recorded_decision(tx: Transaction, seq: int) -> Decision:
    """A decision that was taken before, as it was answered then. It has to be there."""
    row = tx.row("world_decision", seq=seq)
    assert row is not None, "decisions are never deleted"
    answer = _decision(tx, seq, row["verdict"], decided_stages(tx, seq), events_of_decision(tx, seq))
    return msgspec.structs.replace(answer, replayed=True)


def _waiting(reader: Reader, seq: int) -> Proposal:
    row = reader.row("world_waiting_one", seq=seq)
    if row is None:
        raise ProposalUnknown(
            f"No proposal {seq} waits for an operator.", cure="See `svc world pending` for those that do."
        )
    return _proposal(row["proposal"])


def _apply(tx: Transaction, case: Case, seq: int) -> list[Event]:
    states: list[Node | Edge] = [
        *(msgspec.structs.replace(fact, valid_to=end, recorded_at=case.now) for fact, end in case.ended_nodes),
        *(msgspec.structs.replace(edge, valid_to=end, recorded_at=case.now) for edge, end in case.ended_edges),
        *(change.after for change in case.changes if change.is_new_state),
    ]
    return append_states(tx, states, seq)


def _answered(tx: Transaction, proposal: Proposal) -> Decision | None:
    if proposal.idempotency_key is None:
        return None
    row = tx.row("world_request", scope=proposal.actor.name, key=proposal.idempotency_key)
    if row is None:
        return None
    if row["request_sha256"] != proposal.request_sha256():
        raise IdempotencyKeyReused("This idempotency key came with another request before.")
    return recorded_decision(tx, row["seq"])


def _decision(
    tx: Transaction, seq: int, verdict: Any, stages: tuple[StageResult, ...], events: list[Event]
) -> Decision:
    return Decision(
        seq=seq,
        verdict=verdict,
        stages=stages,
        nodes=tuple(event.node for event in events if event.node is not None),
        edges=tuple(event.edge for event in events if event.edge is not None),
        revision=max((event.seq for event in events), default=0) or head_revision(tx),
    )
