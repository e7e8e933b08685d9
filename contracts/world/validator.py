"""Runs the seven stages in order for every change of the graph and derives the verdict. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace

from contracts.errors import BodyInvalid, RevisionConflict
from contracts.world.case import Case
from contracts.world.proposal import StageName, StageResult, Verdict
from contracts.world.stages import (
    Judgement,
    Stage,
    authority,
    deduplication,
    immutability,
    provenance,
    referential_integrity,
    temporal,
)


@dataclass(frozen=True)
class Judged:
    """The results of the stages in order, and the verdict."""

    verdict: Verdict
    stages: tuple[StageResult, ...]
    owner_may_confirm: bool = False
    """True if it escalates and only the owner must agree."""


def judge(case: Case, aligned: Judgement, *, confirmed: bool = False) -> Judged:
    """Runs every stage, even after a failure, so that a client learns everything at once.

    `aligned` is the result of the last stage, `alignment`, for the proposal. A failure rejects. Otherwise a stage that
    needs somebody's agreement escalates; `confirmed` means that the owner agrees. Raises like `refuse_conflict`.
    """
    refuse_conflict(case)
    stages: dict[StageName, Stage] = {
        "immutability": immutability,
        "temporal": temporal,
        "referential_integrity": referential_integrity,
        "authority": authority,
        "deduplication": deduplication,
        "provenance": provenance,
    }
    judgements: dict[StageName, Judgement] = {name: stage(case) for name, stage in stages.items()} | {
        "alignment": aligned
    }
    if confirmed:
        judgements = {name: _as_confirmed(judgement) for name, judgement in judgements.items()}
    results = tuple(judgement.of(name) for name, judgement in judgements.items())
    if any(judged.result == "fail" for judged in results):
        return Judged("rejected", results)
    waiting = [judged for judged in judgements.values() if judged.escalates]
    if all(judged.owner_may_confirm for judged in waiting):
        return Judged("approved" if confirmed or not waiting else "escalated", results, bool(waiting))
    return Judged("escalated", results)


def _as_confirmed(judgement: Judgement) -> Judgement:
    if not judgement.owner_may_confirm:
        return judgement
    return replace(judgement, reason=f"{judgement.reason} A client claims that the owner gave it.")


def refuse_conflict(case: Case) -> None:
    """Raises `RevisionConflict` if something that the proposal builds on is newer than the revision that its actor has
    seen, and `BodyInvalid` if that revision does not exist yet."""
    expected = case.proposal.expected_revision
    if expected is None:
        return
    if expected > (head := case.view.head()):
        raise BodyInvalid(f"The newest revision is {head}.", errors=[("/expectedRevision", f"is above {head}")])
    owner = case.actor.owner
    newest = max(
        0 if owner is None else case.view.newest_of(owner),
        max((state.revision for state in case.touched), default=0),
    )
    if newest > expected:
        raise RevisionConflict(
            f"Expected revision {expected}, but what this builds on was changed at revision {newest}.",
            errors=[("/expectedRevision", f"is behind {newest}")],
        )
