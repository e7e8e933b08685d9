"""Bi-temporal facts against a plain model: what held when, by what was believed when, after any changes."""

from __future__ import annotations

import statistics
import time
from pathlib import Path

import pytest
from bitemporal import OWNER, SUBJECTS, History
from rounds import ROUNDS

from contracts.world.identity import fact_key
from contracts.world.ontology import load_ontology
from warehouse.world.audit import verify
from warehouse.world.history import Past, facts_then, known_revision, node_then

HISTORIES, CHANGES, QUESTIONS = 4, 90, 500
"""Numbers of one round; a soak asks 10,000 questions."""


@pytest.mark.parametrize("seed", range(HISTORIES * ROUNDS))
def test_every_question_about_the_past_is_answered_as_the_model_does(seed: int, tmp_path: Path) -> None:
    history = History.of(seed, tmp_path)
    history.grow(CHANGES)
    seconds = []
    with history.ledger.read() as reader:
        for _ in range(QUESTIONS):
            claim_id, as_of, recorded = history.question()
            before = time.thread_time()
            past = Past(as_of, known_revision(reader, recorded))
            node = node_then(reader, claim_id, OWNER, past)
            seconds.append(time.thread_time() - before)
            claim = history.model.now()[claim_id]
            held = history.model.holding(claim.subject, as_of, recorded)
            disputed = len({said.value for said in held}) > 1
            expected = disputed if claim_id in [said.id for said in held] else None
            if "subject" in (node.properties if node else {}) or expected is not None:
                assert (None if node is None else node.disputed) == expected, (claim_id, as_of, recorded)
            elif node is not None:
                assert not node.disputed
        for subject in SUBJECTS:
            _, as_of, recorded = history.question()
            key = fact_key(load_ontology(), OWNER, {"subject": subject.upper(), "predicate": "state"})
            assert key is not None
            facts = facts_then(reader, key, Past(as_of, known_revision(reader, recorded)))
            assert {fact.id for fact in facts} == {s.id for s in history.model.holding(subject, as_of, recorded)}
        assert verify(reader).faults == []
    history.ledger.close()
    assert statistics.median(seconds) < 0.005, "each of them takes milliseconds at most"
