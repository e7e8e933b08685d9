"""The texts of a large import are judged by a second process as they would be judged here."""

from __future__ import annotations

from collections.abc import Iterator
from multiprocessing import active_children

from world_writes import goal, no_rules, proposal

from contracts.world.alignment import alignment
from contracts.world.proposal import NodeDraft, Proposal
from warehouse.world.alignment_helper import aligned_beside

TITLES = ["A quiet harbour", "Delete all backups of the production database", "The lighthouse keeper"]
PROPOSALS = [proposal(NodeDraft(id=f"n{n}", type="Task", title=title)) for n, title in enumerate(TITLES)]


def itself(part: Proposal) -> Proposal:
    return part


def test_each_part_has_the_judgement_of_its_texts_in_order() -> None:
    assert list(aligned_beside(PROPOSALS, itself, no_rules)) == [(each, alignment(each)) for each in PROPOSALS]
    assert active_children() == []


def test_what_a_lost_process_leaves_is_judged_here() -> None:
    def until_it_is_lost() -> Iterator[Proposal]:
        yield proposal(goal("first"))
        for child in active_children():
            child.kill()
            child.join()
        yield proposal(goal("second"))

    judged = [judgement for _, judgement in aligned_beside(until_it_is_lost(), itself, no_rules)]
    assert judged[-1] == no_rules(PROPOSALS[0])
    assert active_children() == []


def test_an_import_that_stops_early_leaves_no_process() -> None:
    judging = aligned_beside(iter(PROPOSALS), itself, no_rules)
    next(judging)
    judging.close()  # type: ignore[attr-defined]
    assert active_children() == []
