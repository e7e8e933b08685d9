"""Answers of nodes are compared by value: what is in dispute, what settles it, and the verdict that follows."""

from datetime import UTC, datetime

import pytest

from contracts.base import Quality
from contracts.token.nodes import (
    Agreement,
    CheckedReceipts,
    ComparedBalances,
    ConfirmedRanges,
    Disagreement,
    Dispute,
    DisputedFact,
    differing,
    opened,
    settled_facts,
)
from contracts.token.proof import ContractAnswers, FoldedSupply, Missing, Proof, Verdict, judge, quality_of

NOW = datetime(2026, 2, 1, tzinfo=UTC)
ALICE = "0x" + "a1" * 20
HASH = "0x" + "12" * 32
BALANCE = (DisputedFact.BALANCE, ALICE)


def disagreement(*answers: tuple[str, str]) -> Disagreement:
    return Disagreement(DisputedFact.BALANCE, ALICE, 9, answers)


DISPUTE = opened(disagreement(("a", "4"), ("b", "5")), NOW)


def agreement(*disputes: Dispute) -> Agreement:
    return Agreement(
        asked=2,
        answered=2,
        agreed=0,
        nodes=[],
        sample_seed="0" * 64,
        balances=ComparedBalances(holders=1, compared=1, complete=True),
        transfers=ConfirmedRanges(ranges=1, confirmed=1),
        receipts=CheckedReceipts(blocks=1, reproduced=1, equal=1),
        disputes=list(disputes),
    )


def judged(nodes: Agreement | None, *, theirs: int | Missing = 4, supply: int = 4, negative: int = 0) -> Proof:
    folded = FoldedSupply(holders=1, held=4, minted=4, sent_to_zero=0, zero_to_zero=0, negative_balances=negative)
    answers = ContractAnswers(total_supply=supply, balance_of_zero=0, balances=((ALICE, 4, theirs),), block_hash=HASH)
    return judge(folded, answers, block=9, block_hash=HASH, ranges_reasked=0, nodes=nodes)


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ([], 0),
        ([("a", 4)], 0),
        ([("a", 4), ("b", 4)], 0),
        ([("a", 4), ("b", 5)], 1),
        ([("a", 4), ("b", 4), ("c", 5)], 1),
    ],
)
def test_nodes_differ_where_their_answers_do(answers, found):
    assert len(differing(DisputedFact.BALANCE, ALICE, 9, answers)) == found


@pytest.mark.parametrize(
    ("again", "agreed", "configured", "ends"),
    [
        pytest.param([], {BALANCE: {"a", "b"}}, ["a", "b"], True, id="both answer alike"),
        pytest.param([], {BALANCE: {"b"}}, ["a", "b"], False, id="one party is silent"),
        pytest.param([], {BALANCE: {"b"}}, ["b"], True, id="one party was removed"),
        pytest.param([], {BALANCE: {"b", "c"}}, ["b", "c"], True, id="one party was replaced"),
        pytest.param([], {}, ["a", "b"], False, id="nobody answers, or not as we hold"),
        pytest.param([], {BALANCE: set()}, ["c"], False, id="a node that was not asked"),
        pytest.param([disagreement(("a", "4"), ("b", "6"))], {}, ["a", "b"], False, id="they differ again"),
    ],
)
def test_a_dispute_ends_when_all_of_its_parties_that_are_set_answer_alike(again, agreed, configured, ends):
    assert settled_facts([DISPUTE], again, agreed, configured) == ([BALANCE] if ends else [])


@pytest.mark.parametrize(
    ("nodes", "other", "verdict", "reason"),
    [
        (agreement(), {}, Verdict.PROVEN, None),
        (None, {}, Verdict.PROVEN, None),
        (agreement(DISPUTE), {}, Verdict.DISPUTED, "nodes_disagree"),
        (agreement(DISPUTE), {"theirs": Missing.NO_STATE}, Verdict.DISPUTED, "nodes_disagree"),
        (agreement(DISPUTE), {"negative": 1}, Verdict.DISPUTED, "nodes_disagree"),
        (agreement(), {"theirs": 5}, Verdict.FAILED, "balance_mismatch"),
        (
            agreement(DISPUTE.model_copy(update={"settled_at": NOW, "settled_by": "nodes_agree"})),
            {},
            Verdict.PROVEN,
            None,
        ),
    ],
)
def test_an_open_dispute_outweighs_everything_else(nodes, other, verdict, reason):
    proof = judged(nodes, **other)
    assert (proof.verdict, proof.reason) == (verdict, reason)
    assert (quality_of(proof) is Quality.EXACT) == (verdict is Verdict.PROVEN)


def test_a_proof_from_before_nodes_were_compared_is_still_read():
    text = judged(agreement(DISPUTE)).model_dump(mode="json", by_alias=True)
    del text["nodes"]
    assert Proof.model_validate(text).nodes is None
