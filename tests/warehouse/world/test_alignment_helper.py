"""The texts of a large import are judged by a second process as they would be judged here."""

from __future__ import annotations

from multiprocessing import active_children, get_context

import pytest
from world_writes import no_rules, proposal

from contracts.world.alignment import alignment
from contracts.world.proposal import NodeDraft
from warehouse.world import alignment_helper, side_process
from warehouse.world.alignment_helper import judging_beside

TITLES = ["A quiet harbour", "Delete all backups of the production database", "The lighthouse keeper"]
PROPOSALS = [proposal(NodeDraft(id=f"n{n}", type="Task", title=title)) for n, title in enumerate(TITLES)]


def test_each_proposal_has_its_judgement(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_process, "get_context", get_context)  # spawned, as a service does
    with judging_beside(no_rules) as judging:
        judged = [judging.ask(each) for each in PROPOSALS]
        assert [each.result() for each in judged] == [alignment(each) for each in PROPOSALS]
    assert active_children() == []


def test_who_asks_waits_while_too_many_texts_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alignment_helper, "MOST_WAITING_BYTES", 0)
    with judging_beside(no_rules) as judging:
        judged = [judging.ask(each) for each in PROPOSALS]
        assert [each.done() for each in judged[:-1]] == [True, True]
        assert [each.result() for each in judged] == [alignment(each) for each in PROPOSALS]


def test_what_the_process_has_not_begun_is_judged_here_from_the_end() -> None:
    with judging_beside(no_rules) as judging:
        judged = [judging.ask(each) for each in PROPOSALS]
        here = 0
        while not judged[0].done() and judging.judge_last():
            here += 1
        results = [each.result() for each in judged]
    assert results[: len(results) - here] == [alignment(each) for each in PROPOSALS[: len(results) - here]]
    assert results[len(results) - here :] == [no_rules(each) for each in PROPOSALS[len(results) - here :]]
    assert here
    assert not judging.judge_last()


def test_what_a_lost_process_leaves_is_judged_here() -> None:
    with judging_beside(no_rules) as judging:
        for child in active_children():
            child.kill()
            child.join()
        assert [judging.ask(each).result() for each in PROPOSALS] == [no_rules(each) for each in PROPOSALS]
    assert active_children() == []


def test_an_import_that_stops_early_leaves_no_process() -> None:
    with pytest.raises(LookupError), judging_beside(no_rules) as judging:
        judging.ask(PROPOSALS[0])
        raise LookupError
    assert active_children() == []
