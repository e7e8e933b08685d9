"""Writes the graph for API, MCP, pipeline and CLI: a proposal is judged and written as a whole, or not at all.

The ledger admits one writer at a time across all processes, so the judged state is the current one. A large proposal is
judged at a revision before the transaction and written under the lock only if that judgement still holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

from contracts.access.trial_plan import trial_plan
from contracts.errors import IdempotencyKeyReused, ProposalUnknown, StoreBusy, TrialExcluded, TrialFull
from contracts.world.alignment import Alignment
from contracts.world.alignment import alignment as guardrails
from contracts.world.case import MOST_NAMED
from contracts.world.change_set import plan
from contracts.world.proposal import Actor, Confirmation, Decision, Proposal, StageResult, checked, repetition_of
from contracts.world.records import Edge, Event, Node
from contracts.world.stages import Judgement
from contracts.world.validator import Judged, judge
from warehouse.ledger.ledger import Ledger, Reader, Transaction
from warehouse.world.audit import DECISION, decided_stages, record
from warehouse.world.events import append_states, events_of_decision, head_revision
from warehouse.world.judging import Judgment, judge_at, new_states
from warehouse.world.ontologies import ontology_of
from warehouse.world.taken_over import former_names
from warehouse.world.view import LedgerView

JUDGED_UNDER_LOCK_AT_MOST = 100
"""Maximum number of nodes and edges that are judged under the lock: some 30 ms of CPU. They are never judged again."""

JUDGED_AT_MOST = 3
"""Maximum number of attempts to judge a large proposal before it is refused because its subjects keep changing."""

_encode = msgspec.json.Encoder().encode
_proposal = msgspec.json.Decoder(Proposal).decode


@dataclass(frozen=True, slots=True)
class PendingProposal:
    """A proposal that waits for agreement, or did until the decision `decided_seq`."""

    seq: int
    decided_at: str
    proposal: Proposal
    decided_seq: int | None


def propose(
    ledger: Ledger,
    proposal: Proposal,
    *,
    alignment: Alignment = guardrails,
    key_id: str | None = None,
    confirmation: Confirmation | None = None,
) -> Decision:
    """Judges a proposal by the seven stages and writes all of it if they approve, otherwise none of it.

    `key_id` is the requesting key: states that only this key wrote can move to its next owner, and a trial key has
    limits. With a `confirmation` the proposal does not wait for the owner. The same request with the same idempotency
    key returns the same decision. Raises `BodyInvalid`, `RevisionConflict`, `IdempotencyKeyReused`, `TrialExcluded`,
    `TrialFull` and the ledger's errors, without writing anything.
    """
    shaped = checked(proposal)
    aligned = alignment(shaped)
    if is_large(shaped) or _corrects_a_hub(ledger, shaped):
        for _ in range(JUDGED_AT_MOST):
            judgment = judge_outside(ledger, shaped, aligned, confirmed=confirmation is not None)
            decision = write_judged(ledger, shaped, judgment, key_id=key_id, confirmation=confirmation)
            if decision is not None:
                return decision
        raise overtaken()
    with ledger.transaction() as tx:
        return decide(tx, shaped, aligned, key_id=key_id, confirmation=confirmation)


def waits_for_owner(ledger: Ledger, proposal: Proposal, *, alignment: Alignment = guardrails) -> bool:
    """Decides whether a proposal would wait for its owner only. Writes nothing.

    Raises like `propose`.
    """
    shaped = checked(proposal)
    aligned = alignment(shaped)
    with ledger.read() as reader:
        if _answered(reader, shaped) is not None:
            return False
        judged = judge_at(reader, shaped, aligned, ledger.now).judged
    return judged.verdict == "escalated" and judged.owner_may_confirm


def is_large(proposal: Proposal) -> bool:
    """Returns True if a proposal is judged outside the ledger's lock."""
    return len(proposal.nodes) + len(proposal.edges) > JUDGED_UNDER_LOCK_AT_MOST


def _corrects_a_hub(ledger: Ledger, proposal: Proposal) -> bool:
    """Returns True if a proposal corrects nodes with so many edges, which continue at their replacements, that it is
    large."""
    corrected = [act.target for act in proposal.acts if act.kind == "corrects"]
    if not corrected:
        return False
    with ledger.read() as reader:
        view = LedgerView(reader)
        return sum(len(view.edges_at(node_id)) for node_id in corrected) > JUDGED_UNDER_LOCK_AT_MOST


def judge_outside(
    ledger: Ledger, proposal: Proposal, aligned: Judgement, *, confirmed: bool = False
) -> Judgment | None:
    """Judges a proposal against the current graph while others write. Returns None if it was answered before.

    The proposal comes from `checked`, `aligned` from `alignment`. Raises like `refuse_conflict`, and
    `IdempotencyKeyReused`.
    """
    with ledger.read() as reader:
        if _answered(reader, proposal) is not None:
            return None
        return judge_at(reader, proposal, aligned, ledger.now, confirmed=confirmed)


def write_judged(
    ledger: Ledger,
    proposal: Proposal,
    judgment: Judgment | None,
    *,
    key_id: str | None = None,
    confirmation: Confirmation | None = None,
) -> Decision | None:
    """Writes the judgement of `judge_outside`. Returns None without writing anything if the proposal's subjects
    changed."""
    with ledger.transaction() as tx:
        known = _answered(tx, proposal)
        if known is not None:
            return known
        if judgment is None or not judgment.holds_in(tx):
            return None
        return _write(tx, proposal, judgment.judged, judgment.states, key_id, confirmation)


def overtaken() -> StoreBusy:
    """Returns the problem of a proposal that was judged `JUDGED_AT_MOST` times without success."""
    return StoreBusy(
        f"The subjects of a large proposal were changed {JUDGED_AT_MOST} times while it was judged.",
        cure="Nothing was written, so the same proposal can be sent again.",
    )


def decide(
    tx: Transaction,
    proposal: Proposal,
    aligned: Judgement,
    *,
    key_id: str | None = None,
    confirmation: Confirmation | None = None,
) -> Decision:
    """Does what `propose` does, as a step of a larger transaction. The proposal comes from `checked`, `aligned` from
    `alignment`."""
    known = _answered(tx, proposal)
    if known is not None:
        return known
    case = plan(proposal, LedgerView(tx), ontology_of(tx, proposal.actor.owner), tx.now())
    judged = judge(case, aligned, confirmed=confirmation is not None)
    states = new_states(case) if judged.verdict == "approved" else []
    return _write(tx, proposal, judged, states, key_id, confirmation)


def _write(
    tx: Transaction,
    proposal: Proposal,
    judged: Judged,
    states: Sequence[Node | Edge],
    key_id: str | None,
    confirmation: Confirmation | None,
) -> Decision:
    seq = tx.changed(DECISION, judged.verdict)
    events = append_states(tx, states, seq)
    claimed = confirmation if judged.owner_may_confirm else None
    record(tx, seq, judged.verdict, proposal, judged.stages, events, key_id=key_id, confirmation=claimed)
    if key_id is not None:
        _refuse_beyond_trial(tx, key_id, judged, states)
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
        if (repeated := repetition_of(proposal.idempotency_key)) is not None:
            first, after = repeated
            tx.run("world_keep_repetition", scope=proposal.actor.name, key=_newest_key(first), after=after)
    return _decision(tx, seq, judged.verdict, judged.stages, events)


def stated_again_after(reader: Reader, actor: Actor, key: str) -> int:
    """Returns the decision after which the statements with an idempotency key were last repeated; 0 if never."""
    return decision_of_request(reader, actor, _newest_key(key))


def decision_of_request(reader: Reader, actor: Actor, key: str) -> int:
    """Returns the decision about the request with an idempotency key; 0 if there is none."""
    row = reader.row("world_request", scope=actor.name, key=key)
    return 0 if row is None else int(row["seq"])


def _newest_key(first: str) -> str:
    return f"{first}:newest"


def _refuse_beyond_trial(tx: Transaction, key_id: str, judged: Judged, states: Sequence[Node | Edge]) -> None:
    """Raises if a trial key wrote more nodes than it includes, or public states, or anything that needs agreement."""
    row = tx.row("access_trial_nodes", key_id=key_id)
    if row is None:
        return
    if judged.verdict == "escalated" or any(state.visibility == "public" for state in states):
        raise TrialExcluded(
            "A trial key writes private nodes only: nothing public, nothing that an operator has to agree to."
        )
    most = trial_plan().private_nodes
    if row["nodes"] > most and any(isinstance(state, Node) for state in states):
        raise TrialFull(f"A trial key includes {most} private nodes; with this write it would have {row['nodes']}.")


def pending(ledger: Ledger, limit: int = 100) -> list[tuple[int, datetime, Proposal]]:
    """Returns proposals that wait for an operator, oldest first: the decision's seq and time, and the proposal."""
    with ledger.read() as reader:
        return [
            (row["seq"], datetime.fromisoformat(row["decided_at"]), _proposal(row["proposal"]))
            for row in reader.rows("world_waiting", limit=limit)
        ]


def approve(ledger: Ledger, seq: int, operator: str, *, alignment: Alignment = guardrails) -> Decision:
    """Judges a waiting proposal again, as the operator's, and writes it. If a stage rejects it, it keeps waiting.

    Raises `ProposalUnknown`.
    """
    with ledger.read() as reader:
        waiting = _waiting(reader, seq)
    actor = Actor(
        "operator", f"operator:{operator}", on_behalf_of=waiting.actor.owner, max_class=waiting.actor.max_class
    )
    proposal = msgspec.structs.replace(waiting, actor=actor, expected_revision=None, idempotency_key=None)
    aligned = alignment(proposal)
    with ledger.transaction() as tx:
        _waiting(tx, seq)
        case = plan(proposal, LedgerView(tx), ontology_of(tx, proposal.actor.owner), tx.now())
        judged = judge(case, aligned)
        decided = tx.changed(DECISION, judged.verdict)
        events: list[Event] = []
        if judged.verdict == "approved":
            events = append_states(tx, new_states(case), decided)
            tx.run("world_settle", seq=seq, decided_seq=decided)
        record(tx, decided, judged.verdict, proposal, judged.stages, events, settles=seq)
        return _decision(tx, decided, judged.verdict, judged.stages, events)


def pending_of(reader: Reader, seq: int, owner: str) -> PendingProposal | None:
    """Returns the proposal of `owner` that waits or waited, or None if the owner has no such proposal."""
    row = reader.row("world_pending_of_owner", seq=seq, owner=owner)
    if row is None:
        return None
    return PendingProposal(seq, row["decided_at"], _proposal(row["proposal"]), row["decided_seq"])


def owner_may_confirm(ledger: Ledger, waiting: PendingProposal, *, alignment: Alignment = guardrails) -> bool:
    """Decides whether only the owner must agree to a waiting proposal in the graph's present state."""
    proposal = _again(waiting.proposal)
    aligned = alignment(proposal)
    with ledger.read() as reader:
        judged = judge_at(reader, proposal, aligned, ledger.now, confirmed=True).judged
    return judged.verdict == "approved" and judged.owner_may_confirm


def confirm(
    ledger: Ledger, seq: int, owner: str, confirmation: Confirmation, *, alignment: Alignment = guardrails, key_id: str
) -> Decision | None:
    """Judges a waiting proposal of `owner` again, with the owner's agreement, and writes it.

    Returns None if it no longer waits. If a stage rejects it, or an operator must agree too, it keeps waiting and
    nothing is recorded; the verdict tells which.
    """
    with ledger.read() as reader:
        waiting = pending_of(reader, seq, owner)
    if waiting is None:
        return None
    proposal = _again(waiting.proposal)
    aligned = alignment(proposal)
    with ledger.transaction() as tx:
        waiting = pending_of(tx, seq, owner)
        if waiting is None or waiting.decided_seq is not None:
            return None
        case = plan(proposal, LedgerView(tx), ontology_of(tx, proposal.actor.owner), tx.now())
        judged = judge(case, aligned, confirmed=True)
        if judged.verdict != "approved":
            return Decision(
                seq=seq, verdict=judged.verdict, stages=judged.stages, nodes=(), edges=(), revision=head_revision(tx)
            )
        decided = tx.changed(DECISION, judged.verdict)
        events = append_states(tx, new_states(case), decided)
        tx.run("world_settle", seq=seq, decided_seq=decided)
        record(
            tx,
            decided,
            judged.verdict,
            proposal,
            judged.stages,
            events,
            settles=seq,
            key_id=key_id,
            confirmation=confirmation,
        )
        return _decision(tx, decided, judged.verdict, judged.stages, events)


def decline(ledger: Ledger, seq: int, owner: str, confirmation: Confirmation, *, key_id: str) -> Decision | None:
    """Withdraws a waiting proposal of `owner` permanently. Returns None if it no longer waits."""
    with ledger.transaction() as tx:
        waiting = pending_of(tx, seq, owner)
        if waiting is None or waiting.decided_seq is not None:
            return None
        stages = (StageResult("authority", "fail", f"{owner} declined."),)
        decided = tx.changed(DECISION, "rejected")
        tx.run("world_settle", seq=seq, decided_seq=decided)
        record(
            tx,
            decided,
            "rejected",
            waiting.proposal,
            stages,
            [],
            settles=seq,
            key_id=key_id,
            confirmation=confirmation,
        )
        return _decision(tx, decided, "rejected", stages, [])


def _again(proposal: Proposal) -> Proposal:
    """Returns a waiting proposal in a form to be judged against the present graph."""
    return msgspec.structs.replace(proposal, expected_revision=None, idempotency_key=None)


def reject(ledger: Ledger, seq: int, operator: str, reason: str) -> Decision:
    """Declines a waiting proposal permanently. Raises `ProposalUnknown`."""
    with ledger.transaction() as tx:
        waiting = _waiting(tx, seq)
        actor = Actor("operator", f"operator:{operator}", on_behalf_of=waiting.actor.owner)
        stages = (StageResult("authority", "fail", f"{actor.name} declined: {reason}"),)
        decided = tx.changed(DECISION, "rejected")
        tx.run("world_settle", seq=seq, decided_seq=decided)
        record(tx, decided, "rejected", msgspec.structs.replace(waiting, actor=actor), stages, [], settles=seq)
        return _decision(tx, decided, "rejected", stages, [])


def recorded_decision(reader: Reader, seq: int) -> Decision:
    """Returns the stored answer of an earlier decision, which must exist."""
    row = reader.row("world_decision", seq=seq)
    assert row is not None, "decisions are never deleted"
    answer = _decision(reader, seq, row["verdict"], decided_stages(reader, seq), events_of_decision(reader, seq))
    return msgspec.structs.replace(answer, replayed=True)


def _waiting(reader: Reader, seq: int) -> Proposal:
    row = reader.row("world_waiting_one", seq=seq)
    if row is None:
        raise ProposalUnknown(
            f"No proposal {seq} waits for an operator.", cure="See `svc world pending` for those that do."
        )
    return _proposal(row["proposal"])


def _answered(reader: Reader, proposal: Proposal) -> Decision | None:
    if proposal.idempotency_key is None:
        return None
    row = reader.row("world_request", scope=proposal.actor.name, key=proposal.idempotency_key)
    if row is None:
        return None
    if not _is_of(reader, proposal, row["request_sha256"]):
        raise IdempotencyKeyReused(
            "This idempotency key came with another request before: repeat that one unchanged, or send a fresh key."
        )
    decision = recorded_decision(reader, row["seq"])
    if decision.nodes and all(node.erased for node in decision.nodes):
        return _not_again(decision)
    return decision


def is_repeated(reader: Reader, proposal: Proposal) -> bool:
    """Decides whether a request with this idempotency key and these statements was decided before."""
    row = reader.row("world_request", scope=proposal.actor.name, key=proposal.idempotency_key)
    return row is not None and _is_of(reader, proposal, row["request_sha256"])


def _is_of(reader: Reader, proposal: Proposal, request_sha256: str) -> bool:
    """Decides whether a digest is that of this request, even if its key belonged to another owner then."""
    if request_sha256 == proposal.request_sha256():
        return True
    actors = (msgspec.structs.replace(proposal.actor, name=name) for name in former_names(reader, proposal.actor.name))
    return any(request_sha256 == msgspec.structs.replace(proposal, actor=actor).request_sha256() for actor in actors)


def _not_again(decision: Decision) -> Decision:
    """Returns the answer to a request that is repeated after all of its nodes were erased. Records nothing."""
    named = ", ".join(node.id for node in decision.nodes[:MOST_NAMED])
    reason = f"{named}: erased since, and can't come back. State it under another key."
    return msgspec.structs.replace(
        decision,
        verdict="rejected",
        stages=(StageResult("immutability", "fail", reason),),
        nodes=(),
        edges=(),
        replayed=False,
    )


def _decision(reader: Reader, seq: int, verdict: Any, stages: tuple[StageResult, ...], events: list[Event]) -> Decision:
    return Decision(
        seq=seq,
        verdict=verdict,
        stages=stages,
        nodes=tuple(event.node for event in events if event.node is not None),
        edges=tuple(event.edge for event in events if event.edge is not None),
        revision=max((event.seq for event in events), default=0) or head_revision(reader),
    )
