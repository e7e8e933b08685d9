"""Nodes that lie, lag, prune or answer for another chain: what is published meanwhile, and what settles the dispute.

Each node is a separate HTTP server in front of the same anvil.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from fault_node import Fault, Reply, always, rpc_error, rpc_result, silent_node
from holder_rows import address
from ingest_helpers import ingest_once, logs_at, small_chain
from lying_nodes import Lie, Through, TokenChain, node, run, short_by_one
from patience import HANG_S
from rounds import chosen

from cli.demo.anvil import Anvil
from cli.demo.recorded import RecordedNode
from contracts.base import Quality
from contracts.token.nodes import DisputedFact
from contracts.token.proof import Proof, Verdict, quality_of
from warehouse.duck.connection import Warehouse
from warehouse.duck.facts import gather_facts, violations_of
from warehouse.token.disputes import open_disputes
from warehouse.token.holders import balances_of

ALICE, BOB = "0x" + "a1" * 20, "0x" + "b0" * 20
MINTED = 10**12
DEAF = Fault("eth_call", rpc_error(-32000, "missing trie node 0x12, state is not available"))


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Any]:
    with Warehouse(tmp_path).connect() as opened:
        yield opened


@pytest.fixture
def chain(anvil: Anvil) -> TokenChain:
    chain = TokenChain(anvil)
    chain.mint(ALICE, MINTED)
    return chain


def outcome(proof: Proof) -> tuple[str, str | None, int, int, int]:
    """Returns the verdict, the reason, and how many nodes were asked, answered and agreed."""
    assert proof.nodes is not None
    return proof.verdict.value, proof.reason, proof.nodes.asked, proof.nodes.answered, proof.nodes.agreed


def disputed(proof: Proof) -> dict[tuple[DisputedFact, str | None], list[str]]:
    assert proof.nodes is not None
    return {
        (dispute.fact, dispute.subject): [answer.answer for answer in dispute.answers]
        for dispute in proof.nodes.disputes
        if dispute.settled_at is None
    }


def history(connection: Any) -> list[tuple[str, str | None]]:
    """Returns the fact and what settled it, for every dispute so far."""
    rows: list[tuple[str, str | None]] = connection.execute(
        "select fact, settled_by from out_chain__disputes order by all"
    ).fetchall()
    return rows


def test_two_honest_nodes_prove_the_list_and_every_balance_is_compared(chain, anvil, connection, tmp_path):
    chain.move(ALICE, BOB, 5)
    chain.bury()
    with node(anvil) as first, node(anvil) as second:
        _, taken = run(connection, tmp_path, chain, first, second)
    assert outcome(taken.proof) == ("proven", None, 2, 2, 2)
    agreement = taken.proof.nodes
    assert [standing.delivered for standing in agreement.nodes] == [True, False]
    assert (agreement.balances.holders, agreement.balances.compared, agreement.balances.complete) == (2, 2, True)
    assert agreement.transfers.ranges == agreement.transfers.confirmed
    assert (agreement.receipts.blocks, agreement.receipts.reproduced, agreement.receipts.equal) == (1, 1, 1)
    assert agreement.disputes == []
    assert quality_of(taken.proof) is Quality.EXACT


def test_one_address_suffices_and_its_receipts_are_recomputed(chain, anvil, connection, tmp_path):
    chain.bury()
    with node(anvil) as only:
        _, taken = run(connection, tmp_path, chain, only)
    assert outcome(taken.proof) == ("proven", None, 1, 1, 1)
    assert (taken.proof.nodes.balances.compared, taken.proof.nodes.balances.complete) == (0, False)
    assert taken.proof.nodes.receipts.equal == 1


def test_receipts_with_another_transfer_than_the_same_node_gave_are_a_dispute(chain, anvil, connection, tmp_path):
    moved = chain.move(ALICE, BOB, 5)
    chain.bury()
    with node(anvil, short_by_one(chain, moved, ALICE, BOB)) as only:
        _, taken = run(connection, tmp_path, chain, only)
    receipts = taken.proof.nodes.receipts
    assert (receipts.blocks, receipts.reproduced, receipts.equal) == (1, 1, 0)
    ours, theirs = next(told for (fact, _), told in disputed(taken.proof).items() if fact is DisputedFact.TRANSFERS)
    assert "by its logs" in ours and "by its receipts" in theirs


def test_each_list_draws_its_sample_again(chain, anvil, connection, tmp_path):
    seeds = set()
    with node(anvil) as first, node(anvil) as second:
        for _ in range(3):
            chain.bury()
            seeds.add(run(connection, tmp_path, chain, first, second)[1].proof.nodes.sample_seed)
    assert len(seeds) == 3


@pytest.mark.parametrize("liar_is_first", [True, pytest.param(False, marks=pytest.mark.soak)])
def test_one_of_two_that_tells_a_transfer_one_unit_short_is_found(chain, anvil, connection, tmp_path, liar_is_first):
    """The lie is in old history, which no rule has confirmed, and in a block whose receipts are drawn only by
    chance."""
    moved = chain.move(ALICE, BOB, 5)
    for number in range(3, 30):
        chain.move(ALICE, address(number), number)
    chain.bury(300)
    with node(anvil, short_by_one(chain, moved, ALICE, BOB)) as liar, node(anvil) as honest:
        nodes = (liar, honest) if liar_is_first else (honest, liar)
        _, taken = run(connection, tmp_path, chain, *nodes)
    assert outcome(taken.proof) == ("disputed", "nodes_disagree", 2, 2, 0)
    alice = str(MINTED - 5 - sum(range(3, 30)))
    told = disputed(taken.proof)
    assert set(told[DisputedFact.BALANCE, ALICE]) == {alice, str(int(alice) + 1)}
    assert set(told[DisputedFact.BALANCE, BOB]) == {"4", "5"}
    assert quality_of(taken.proof) is Quality.ESTIMATED
    hosts = {answer.host for dispute in taken.proof.nodes.disputes for answer in dispute.answers}
    assert hosts == {standing.host for standing in taken.proof.nodes.nodes}
    assert "secret" not in taken.proof.model_dump_json()


def test_a_lie_is_read_again_and_the_dispute_ends_when_the_liar_is_gone(chain, anvil, connection, tmp_path):
    moved = chain.move(ALICE, BOB, 5)
    chain.bury(300)
    lie = short_by_one(chain, moved, ALICE, BOB)
    with node(anvil, lie) as liar, node(anvil) as honest:
        first = run(connection, tmp_path, chain, liar, honest)[1]
        chain.bury()
        second = run(connection, tmp_path, chain, liar, honest)[1]
        # Receipts settled the rows, which match the chain again; about its state the liar still lies.
        assert balances_of(connection, [BOB]) == {BOB: 5}
        assert (first.proof.verdict, second.proof.verdict) == (Verdict.DISPUTED, Verdict.DISPUTED)
        assert {fact for fact, _ in disputed(second.proof)} == {DisputedFact.BALANCE}
        chain.bury()
        third = run(connection, tmp_path, chain, honest)[1]
    assert outcome(third.proof) == ("proven", None, 1, 1, 1)
    ended = [dispute for dispute in third.proof.nodes.disputes if dispute.settled_by == "nodes_agree"]
    assert {dispute.subject for dispute in ended} == {ALICE, BOB}
    assert all(len(dispute.answers) == 2 for dispute in ended)
    assert open_disputes(connection) == []
    assert ("balance", "nodes_agree") in history(connection)
    assert ("transfers", "receipts") in history(connection)


def test_a_liar_that_falls_silent_settles_nothing(chain, anvil, connection, tmp_path):
    moved = chain.move(ALICE, BOB, 5)
    chain.bury()
    with node(anvil, short_by_one(chain, moved, ALICE, BOB)) as liar, node(anvil) as honest:
        assert run(connection, tmp_path, chain, liar, honest)[1].proof.verdict is Verdict.DISPUTED
        chain.bury()
        liar.faults.append(DEAF)
        silent = run(connection, tmp_path, chain, liar, honest)[1]
        chain.bury()
        liar.faults.clear()
        assert isinstance(liar.chain, Through)
        liar.chain.lie = lambda method, params, truth: truth
        honest_again = run(connection, tmp_path, chain, liar, honest)[1]
    assert silent.proof.verdict is Verdict.DISPUTED
    assert outcome(honest_again.proof) == ("proven", None, 2, 2, 2)


def test_a_lie_about_rows_only_is_settled_by_receipts_and_kept_as_history(chain, anvil, connection, tmp_path):
    moved = chain.move(ALICE, BOB, 5)
    chain.bury()
    whole = short_by_one(chain, moved, ALICE, BOB)

    def lie(method: str, params: Sequence[Any], truth: Any) -> Any:
        return whole(method, params, truth) if method == "eth_getLogs" else truth

    with node(anvil, lie) as liar, node(anvil) as honest:
        report, taken = run(connection, tmp_path, chain, liar, honest)
    assert report.disagreement_count >= 1
    assert balances_of(connection, [BOB]) == {BOB: 5}
    assert outcome(taken.proof) == ("proven", None, 2, 2, 2)
    assert set(history(connection)) == {("transfers", "receipts")}


def test_receipts_that_do_not_hash_to_the_root_prove_nothing(chain, anvil, connection, tmp_path):
    moved = chain.move(ALICE, BOB, 5)
    chain.bury()
    whole = short_by_one(chain, moved, ALICE, BOB)

    def lie(method: str, params: Sequence[Any], truth: Any) -> Any:
        if method == "eth_getBlockReceipts":
            for receipt in truth:
                whole("eth_getLogs", params, receipt["logs"])
        return whole(method, params, truth)

    with node(anvil, lie) as liar, node(anvil) as honest:
        _, taken = run(connection, tmp_path, chain, liar, honest)
    assert balances_of(connection, [BOB]) == {BOB: 5}
    assert taken.proof.verdict is Verdict.DISPUTED


@pytest.mark.parametrize(("liars", "balances"), chosen([(2, ["4", "4", "5"]), (1, ["4", "5", "5"])]))
def test_no_majority_of_three_nodes_decides_who_lies(chain, anvil, connection, tmp_path, liars, balances):
    moved = chain.move(ALICE, BOB, 5)
    chain.bury(300)
    lie = short_by_one(chain, moved, ALICE, BOB)
    with ExitStack() as opened:
        nodes = [opened.enter_context(node(anvil, *([lie] if place < liars else []))) for place in range(3)]
        _, taken = run(connection, tmp_path, chain, *nodes)
    assert outcome(taken.proof) == ("disputed", "nodes_disagree", 3, 3, 0)
    assert sorted(disputed(taken.proof)[DisputedFact.BALANCE, BOB]) == balances


def test_a_supply_on_which_nodes_differ_is_a_dispute_and_one_that_all_report_is_a_failure(
    chain, anvil, connection, tmp_path
):
    chain.bury()

    def more(method: str, params: Sequence[Any], truth: Any) -> Any:
        is_supply = method == "eth_call" and params[0].get("data") == "0x18160ddd"
        return f"0x{int(truth, 16) + 1:064x}" if is_supply else truth

    with node(anvil, more) as liar, node(anvil) as honest:
        _, taken = run(connection, tmp_path, chain, honest, liar)
        assert disputed(taken.proof) == {(DisputedFact.TOTAL_SUPPLY, None): [str(MINTED), str(MINTED + 1)]}
    chain.bury()
    with node(anvil, more) as one, node(anvil, more) as other:
        _, taken = run(connection, tmp_path, chain, one, other)
    assert outcome(taken.proof) == ("failed", "supply_mismatch", 2, 2, 2)


def test_a_node_of_another_fork_is_a_dispute_about_the_block(chain, anvil, connection, tmp_path):
    chain.bury()
    final = int(anvil.rpc.call("eth_getBlockByNumber", "finalized", False)["number"], 16)

    def forked(method: str, params: Sequence[Any], truth: Any) -> Any:
        if method == "eth_getBlockByNumber" and truth and int(truth["number"], 16) == final:
            truth["hash"] = "0x" + "f0" * 32
        return truth

    with node(anvil) as honest, node(anvil, forked) as fork:
        _, taken = run(connection, tmp_path, chain, honest, fork)
    assert outcome(taken.proof) == ("disputed", "nodes_disagree", 2, 2, 0)
    assert set(disputed(taken.proof)) == {(DisputedFact.BLOCK_HASH, None)}


@pytest.mark.parametrize("late_count", chosen([2, 1]))
def test_nodes_that_are_far_behind_are_not_waited_for(chain, anvil, connection, tmp_path, late_count):
    chain.bury(6)
    behind = anvil.rpc.call("eth_getBlockByNumber", hex(3), False)
    anvil.rpc.call("evm_increaseTime", 3600)
    chain.bury(6)

    def lag(method: str, params: Sequence[Any], truth: Any) -> Any:
        if method == "eth_getBlockByNumber" and truth and int(truth["number"], 16) > 3:
            return None if params[0].startswith("0x") else behind
        return truth

    with ExitStack() as opened:
        late = [opened.enter_context(node(anvil, lag)) for _ in range(late_count)]
        _, taken = run(connection, tmp_path, chain, *late, opened.enter_context(node(anvil)))
    assert outcome(taken.proof) == ("proven", None, late_count + 1, 1, 1)
    assert [standing.reason for standing in taken.proof.nodes.nodes] == [*["no_state"] * late_count, None]


@pytest.mark.parametrize("is_silent", [True, False], ids=["silent", "dead"])
def test_one_of_two_that_gives_no_answer_leaves_the_proof_to_the_other(chain, anvil, connection, tmp_path, is_silent):
    chain.bury()
    with silent_node() as silent, node(anvil) as good, node(anvil) as dead:
        dead.faults.append(Fault("eth_chainId", always(Reply(b"", 503))))
        gone = silent if is_silent else dead.url
        started = time.monotonic()
        _, taken = run(connection, tmp_path, chain, gone, good)
    assert outcome(taken.proof) == ("proven", None, 2, 1, 1)
    assert taken.proof.nodes.nodes[0].reason == "rpc_unavailable"
    assert time.monotonic() - started < HANG_S


@pytest.mark.parametrize("place", chosen([23, 0, 11], others=3))
def test_a_lie_about_any_transfer_is_found_in_the_first_list(chain, anvil, connection, tmp_path, place):
    moves = [(chain.move(ALICE, address(100 + number % 7), 9), address(100 + number % 7)) for number in range(24)]
    chain.bury(300)
    moved, recipient = moves[place]
    with node(anvil, short_by_one(chain, moved, ALICE, recipient)) as liar, node(anvil) as honest:
        _, taken = run(connection, tmp_path, chain, liar, honest)
    assert {(DisputedFact.BALANCE, ALICE), (DisputedFact.BALANCE, recipient)} <= set(disputed(taken.proof))


@pytest.mark.parametrize("stranger_count", chosen([2, 1]))
def test_nodes_that_answer_for_another_chain_are_named(chain, anvil, connection, tmp_path, stranger_count):
    chain.bury()
    truth: Lie = lambda method, params, truth: truth  # noqa: E731
    with ExitStack() as opened:
        strangers = [
            opened.enter_context(node(anvil, truth, Fault("eth_chainId", rpc_result("0x1"))))
            for _ in range(stranger_count)
        ]
        _, taken = run(connection, tmp_path, chain, *strangers, opened.enter_context(node(anvil)))
    assert outcome(taken.proof) == ("proven", None, stranger_count + 1, 1, 1)
    assert [standing.reason for standing in taken.proof.nodes.nodes] == [*["wrong_chain"] * stranger_count, None]


def test_one_of_two_that_keeps_no_state_leaves_the_proof_to_the_other(chain, anvil, connection, tmp_path):
    chain.bury()
    with node(anvil, lambda method, params, truth: truth, DEAF) as pruned, node(anvil) as good:
        _, taken = run(connection, tmp_path, chain, good, pruned)
    assert outcome(taken.proof) == ("proven", None, 2, 1, 1)
    assert taken.proof.nodes.nodes[1].reason == "no_state"
    assert (taken.proof.nodes.balances.compared, taken.proof.nodes.balances.complete) == (0, False)


def test_two_of_three_that_keep_no_state_leave_the_proof_to_the_third(chain, anvil, connection, tmp_path):
    chain.bury()
    truth: Lie = lambda method, params, truth: truth  # noqa: E731
    with node(anvil, truth, DEAF) as one, node(anvil, truth, DEAF) as two, node(anvil) as good:
        _, taken = run(connection, tmp_path, chain, one, two, good)
    assert outcome(taken.proof) == ("proven", None, 3, 1, 1)
    assert taken.proof.nodes.balances.complete


def test_if_no_node_has_state_the_list_is_unproven(chain, anvil, connection, tmp_path):
    chain.bury()
    truth: Lie = lambda method, params, truth: truth  # noqa: E731
    with node(anvil, truth, DEAF) as one, node(anvil, truth, DEAF) as two:
        _, taken = run(connection, tmp_path, chain, one, two)
    assert outcome(taken.proof) == ("unproven", "no_state", 2, 0, 0)


def test_a_node_that_does_not_run_the_bulk_call_is_asked_one_by_one(chain, anvil, connection, tmp_path):
    moved = chain.move(ALICE, BOB, 5)
    for number in range(3, 40):
        chain.move(ALICE, address(number), number)
    chain.bury(300)

    def refuse(call: dict[str, Any]) -> Any:
        if "to" in call["params"][0]:
            return None
        return rpc_error(-32000, "contract creation is not allowed")(call)

    simple = Fault("eth_call", refuse)
    with node(anvil, short_by_one(chain, moved, ALICE, BOB)) as liar, node(anvil) as honest:
        honest.faults.append(simple)
        _, taken = run(connection, tmp_path, chain, liar, honest)
    assert taken.proof.nodes.balances.compared == 39
    assert set(disputed(taken.proof)[DisputedFact.BALANCE, BOB]) == {"4", "5"}


@pytest.mark.parametrize("both_stay", [True, False])
def test_a_failed_list_is_proven_by_the_next_run_with_an_honest_node(chain, anvil, connection, tmp_path, both_stay):
    """A node leaves transfers out of logs and tells no lie about balances: its list fails, undisputed."""
    left_out = {chain.move(ALICE, address(number), number)["transactionHash"] for number in range(3, 43)}
    chain.bury(300)

    def lie(method: str, params: Sequence[Any], truth: Any) -> Any:
        return [row for row in truth if row["transactionHash"] not in left_out] if method == "eth_getLogs" else truth

    with node(anvil) as honest, node(anvil, lie) as liar:
        _, taken = run(connection, tmp_path, chain, liar)
        assert outcome(taken.proof) == ("failed", "balance_mismatch", 1, 1, 0)
        nodes = (liar, honest) if both_stay else (honest,)
        _, taken = run(connection, tmp_path, chain, *nodes)
    assert taken.proof.verdict is Verdict.PROVEN
    assert ("transfers", "receipts") in history(connection)
    assert violations_of(gather_facts(connection, "out_holders__history")) == {"gaps": 0, "transfers_missing": 0}


def test_rows_that_no_receipt_can_settle_are_in_dispute_until_the_nodes_agree(connection):
    """Nodes of a chain whose headers have another form, so that no receipts can be verified."""
    odd, even = (small_chain(logs_at(30, value_raw=value)) for value in (7, 8))
    with RecordedNode(even) as honest:
        with RecordedNode(odd) as liar:
            for _ in range(2):
                ingest_once(connection, liar.url, honest.url)
        (dispute,) = open_disputes(connection)
        assert (dispute.fact, {answer.answer[:6] for answer in dispute.answers}) == (DisputedFact.TRANSFERS, {"1 rows"})
        with RecordedNode(even) as good:
            ingest_once(connection, good.url, honest.url)
    assert open_disputes(connection) == []
    assert set(history(connection)) == {("transfers", "nodes_agree")}
    assert connection.execute("select value_raw.limb0 from raw_chain__transfers").fetchall() == [(8,)]


def test_the_rows_of_a_node_that_was_removed_are_read_again_where_the_others_agree(connection):
    odd = small_chain(logs_at(30, value_raw=7), head=5000)
    even = small_chain(logs_at(30, value_raw=8), head=5000)
    with RecordedNode(odd) as liar:
        ingest_once(connection, liar.url)
    with RecordedNode(even) as one, RecordedNode(even) as other:
        for _ in range(400):  # each run draws two of some old ranges
            ingest_once(connection, one.url, other.url)
            values = connection.execute("select value_raw.limb0 from raw_chain__transfers").fetchall()
            if values == [(8,)]:
                break
    assert values == [(8,)]


def test_rows_are_not_dropped_because_new_nodes_keep_no_old_logs(connection):
    with RecordedNode(small_chain(logs_at(30), head=200)) as node_before:
        ingest_once(connection, node_before.url)
    empty = small_chain([], head=200, logs_bloom=False)
    with RecordedNode(empty) as one, RecordedNode(empty) as other:
        runs = 0
        while runs < 200 and not open_disputes(connection):  # each run draws two of eight old ranges
            ingest_once(connection, one.url, other.url)
            runs += 1
        for _ in range(10):
            ingest_once(connection, one.url, other.url)
    assert connection.execute("select block_number from raw_chain__transfers").fetchall() == [(30,)]
    assert [dispute.fact for dispute in open_disputes(connection)] == [DisputedFact.TRANSFERS]
