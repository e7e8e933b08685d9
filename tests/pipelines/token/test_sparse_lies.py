"""Nodes that leave out events of configured contracts: the gaps that are found, marked and read again."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from fault_node import Fault, FaultNode, rpc_error
from ingest_helpers import ingest_once, pool_of, warehouse
from lying_nodes import Through, node

from cli.demo.anvil import Anvil
from cli.demo.rpc import calldata
from cli.demo.write import deploy, mined_receipt
from contracts.bidwall import BidwallEventsParameters
from contracts.discovery.installation import Installation
from contracts.token.holder_documents import ConsistencyLevel
from pipelines.token.contract_balances import compare_contract_balances
from pipelines.token.events import TokenTransfers
from pipelines.token.sparse_events import Attestations, ContractTransfers
from pipelines.trust.source import ask_scores
from warehouse.bidwall.contract_balance import read_bidwall_events, record_bidwall_status
from warehouse.document_context import DocumentContext
from warehouse.duck.connection import ChainIdentity, stamp
from warehouse.duck.facts import gather_facts, violations_of
from warehouse.token.chain_head import SeenHead
from warehouse.token.disputes import all_open_disputes
from warehouse.token.transfers import CONTRACT_TRANSFERS, forget_unless_of
from warehouse.trust.attestations import (
    fold_scores,
    read_trust_protocol,
    read_trust_state,
    record_checks,
    record_trust_status,
    scores,
)

HALF_LIFE_S = 432_000
AGENTS = ["0x" + f"{number:02x}" * 20 for number in range(1, 4)]
NOW = datetime(2026, 1, 1, tzinfo=UTC)


class Place:
    """A watched contract, two tokens and a trust registry on an anvil, and the warehouse that reads them."""

    def __init__(self, anvil: Anvil, connection: Any) -> None:
        self.anvil, self.rpc, self.connection = anvil, anvil.rpc, connection
        self.owner, self.attester, *_ = anvil.rpc.call("eth_accounts")
        self.wall = deploy(self.rpc, self.owner, "Bidwall").lower()
        self.token = deploy(self.rpc, self.owner, "UsdcStandIn").lower()
        self.usdc = deploy(self.rpc, self.owner, "UsdcStandIn").lower()
        self.registry = deploy(self.rpc, self.owner, "TrustRegistry", ["uint256"], [HALF_LIFE_S]).lower()
        self.send(self.owner, self.registry, "setAttester(address,bool)", self.attester, True)
        stamp(connection, ChainIdentity(8453, "0x" + "00" * 32, self.token, 0))
        forget_unless_of(connection, CONTRACT_TRANSFERS, self.wall, 0)
        self.jobs = 0

    def send(self, sender: str, to: str, signature: str, *values: Any) -> str:
        """Sends a transaction and returns its hash."""
        call = {"from": sender, "to": to, "data": calldata(signature, *values), "gas": hex(1_000_000)}
        sent: str = self.rpc.call("eth_sendTransaction", call)
        mined_receipt(self.rpc, sent)
        return sent

    def pay(self, token: str, units: int) -> str:
        return self.send(self.owner, token, "mint(address,uint256)", self.wall, units)

    def attest(self, agent: str, score: int) -> str:
        self.jobs += 1
        values = (agent, score, self.jobs.to_bytes(32), f"job {self.jobs}")
        return self.send(self.attester, self.registry, "attest(address,uint256,bytes32,string)", *values)

    def bury(self, blocks: int = 300) -> None:
        self.rpc.call("anvil_mine", hex(blocks))

    def read_wall(self, *nodes: FaultNode) -> list[int]:
        """Reads all transfers of the token and of the wall, compares the wall's balances, and returns the amounts."""
        urls = [node.url for node in nodes]
        ingest_once(self.connection, *urls, events=TokenTransfers(self.token))
        ingest_once(self.connection, *urls, events=ContractTransfers(self.wall))
        self.compare(*urls)
        rows = self.connection.execute(
            "select value_raw.limb0 from raw_chain__contract_transfers order by block_number, log_index"
        ).fetchall()
        return [value for (value,) in rows]

    def compare(self, *urls: str, start_block: int = 0) -> None:
        async def work() -> None:
            async with pool_of(*urls) as pool:
                await compare_contract_balances(
                    pool, self.connection, self.wall, self.token, [self.usdc], start_block=start_block, now=NOW
                )

        asyncio.run(work())

    def trust_quality(self) -> tuple[str, str | None]:
        """Returns the quality and reason with which the scores are served."""
        reach = self.connection.execute("select max(to_block) from raw_chain__attestation_ranges").fetchone()[0]
        head = SeenHead(reach, "0x", reach, "0x", ConsistencyLevel.FINALIZED)
        record_trust_status(
            self.connection, chain_id=8453, registry=self.registry, escrow=None, head=head, reason=None, now=NOW
        )
        protocol = read_trust_protocol(DocumentContext(self.connection, None, Installation("http://x")))
        return protocol.quality.value, protocol.reason

    def events_quality(self) -> tuple[str, str | None]:
        """Returns the quality and reason with which the wall's events are served."""
        reach = self.connection.execute("select max(to_block) from raw_chain__contract_ranges").fetchone()[0]
        record_bidwall_status(
            self.connection,
            chain_id=8453,
            contract=self.wall,
            service_token=self.token,
            usdc=None,
            trigger_wei=None,
            finalized_block=reach,
            now=NOW,
        )
        context = DocumentContext(self.connection, None, Installation("http://x"))
        info = read_bidwall_events(context, BidwallEventsParameters()).events_info
        return info.quality.value, info.reason

    def read_attestations(self, *nodes: FaultNode) -> list[tuple[str, int]]:
        """Reads and counts attestations, queries the registry, and returns agent and number of each attestation."""
        urls = [node.url for node in nodes]
        ingest_once(self.connection, *urls, events=Attestations(self.registry))
        fold_scores(self.connection, self.registry, HALF_LIFE_S)
        state = read_trust_state(self.connection)

        async def ask() -> list[Any]:
            async with pool_of(*urls) as pool:
                return await ask_scores(pool, self.registry, state.block, scores(self.connection))

        record_checks(self.connection, state.block, asyncio.run(ask()), datetime.now(UTC))
        rows: list[tuple[str, int]] = self.connection.execute(
            "select '0x' || lower(hex(agent)), number from raw_chain__attestations order by block_number, log_index"
        ).fetchall()
        return rows


def without(transaction: str, named: str) -> Any:
    """Returns a lie that leaves out a transaction's logs if the filter names an address."""

    def lie(method: str, params: Sequence[Any], truth: Any) -> Any:
        if method == "eth_getLogs" and named[2:] in repr(params).lower():
            return [row for row in truth if row["transactionHash"] != transaction]
        return truth

    return lie


@pytest.fixture
def place(anvil: Anvil, tmp_path: Any) -> Iterator[Place]:
    with warehouse(tmp_path) as connection:
        yield Place(anvil, connection)


def honest_again(liar: FaultNode) -> None:
    assert isinstance(liar.chain, Through)
    liar.chain.lie = lambda method, params, truth: truth


def test_transfers_of_the_wall_that_one_of_two_nodes_leaves_out_are_read_from_the_other(place, anvil):
    left_out = [place.pay(place.usdc, units) for units in (1, 2, 3)][1]
    place.bury()
    with node(anvil, without(left_out, place.wall)) as liar, node(anvil) as honest:
        assert place.read_wall(liar, honest) == [1, 2, 3]
    assert place.events_quality() == ("exact", None)


@pytest.mark.parametrize("name", ["token", "usdc"])
def test_transfers_of_the_wall_that_the_only_node_left_out_are_marked_and_read_again(place, anvil, name):
    left_out = [place.pay(getattr(place, name), units) for units in (1, 2, 3)][2]
    place.bury()
    with node(anvil, without(left_out, place.wall)) as only:
        assert place.read_wall(only) == [1, 2]
        assert place.events_quality() == ("estimated", "balance_mismatch")
        (dispute,) = all_open_disputes(place.connection)
        assert (dispute.subject, {answer.answer for answer in dispute.answers}) == (getattr(place, name), {"6", "3"})
        honest_again(only)
        assert place.read_wall(only) == [1, 2, 3]
    assert place.events_quality() == ("exact", None)
    assert all_open_disputes(place.connection) == []


def test_a_node_without_old_state_has_the_walls_transfers_compared_with_the_tokens_own(place, anvil):
    left_out = [place.pay(place.token, units) for units in (1, 2, 3)][1]
    place.bury()
    deaf = Fault("eth_call", rpc_error(-32000, "missing trie node 0x12, state is not available"))
    with node(anvil, without(left_out, place.wall), deaf) as only:
        assert place.read_wall(only) == [1, 3]
        asked = [(call["params"][0]["to"], str(call["params"][1])) for call in only.asked("eth_call")]
        assert len(asked) == 3 * len(set(asked)), "a call without state is sent three times, and then given up"
    (dispute,) = all_open_disputes(place.connection)
    assert [answer.answer for answer in dispute.answers] == ["6", "4"]
    assert place.events_quality() == ("estimated", "balance_mismatch")


def test_while_the_only_node_goes_on_to_lie_the_wall_stays_marked(place, anvil):
    left_out = [place.pay(place.usdc, units) for units in (1, 2, 3)][1]
    place.bury()
    with node(anvil, without(left_out, place.wall)) as only:
        for _ in range(2):
            assert place.read_wall(only) == [1, 3]
    assert place.events_quality() == ("estimated", "balance_mismatch")


def test_transfers_that_a_removed_node_left_out_are_read_again_from_the_next_node(place, anvil):
    left_out = [place.pay(place.usdc, units) for units in (1, 2, 3)][1]
    place.bury()
    with node(anvil, without(left_out, place.wall)) as liar:
        assert place.read_wall(liar) == [1, 3]
    with node(anvil) as honest:
        assert place.read_wall(honest) == [1, 2, 3]
    assert place.events_quality() == ("exact", None)


def test_a_token_that_was_held_before_the_first_block_is_compared_from_there_on(place, anvil):
    place.pay(place.usdc, 5)
    start = int(place.rpc.call("eth_blockNumber"), 16) + 1
    place.pay(place.usdc, 2)
    place.bury(3)
    with node(anvil) as only:
        ingest_once(place.connection, only.url, events=TokenTransfers(place.token), start_block=start)
        ingest_once(place.connection, only.url, events=ContractTransfers(place.wall), start_block=start)
        place.compare(only.url, start_block=start)
    assert all_open_disputes(place.connection) == []


def test_a_gap_in_the_numbers_of_an_agent_is_read_again(place, anvil):
    """The registry numbers each agent's attestations: a third one without the second proves that one is missing."""
    _, left_out, _ = [place.attest(AGENTS[0], score) for score in (50, 60, 70)]
    place.attest(AGENTS[1], 70)
    place.bury()
    with node(anvil, without(left_out, place.registry)) as liar:
        assert place.read_attestations(liar) == [(AGENTS[0], 1), (AGENTS[0], 3), (AGENTS[1], 1)]
        assert place.trust_quality() == ("estimated", "attestations_missing")
    with node(anvil) as honest:
        whole = place.read_attestations(honest)
    assert whole == [(AGENTS[0], 1), (AGENTS[0], 2), (AGENTS[0], 3), (AGENTS[1], 1)]
    assert place.connection.execute("select count(*) from core_trust__history").fetchone() == (4,)
    assert place.trust_quality() == ("exact", None)


def test_a_score_that_the_registry_contradicts_has_its_attestations_read_again(place, anvil):
    left_out = [place.attest(AGENTS[0], score) for score in (50, 60, 90)][2]
    place.bury()
    with node(anvil, without(left_out, place.registry)) as only:
        assert place.read_attestations(only) == [(AGENTS[0], 1), (AGENTS[0], 2)]
        assert place.trust_quality() == ("estimated", "score_mismatch")
        assert violations(place, "core_trust__checks") == {"contradicted_scores": 3, "number_gaps": 0}
        honest_again(only)
        assert place.read_attestations(only) == [(AGENTS[0], 1), (AGENTS[0], 2), (AGENTS[0], 3)]
    assert violations(place, "core_trust__checks") == {"contradicted_scores": 0, "number_gaps": 0}
    assert place.trust_quality() == ("exact", None)


def test_attestations_that_one_of_two_nodes_leaves_out_are_read_from_the_other(place, anvil):
    left_out = [place.attest(AGENTS[0], score) for score in (50, 60, 90)][1]
    place.bury()
    with node(anvil, without(left_out, place.registry)) as liar, node(anvil) as honest:
        assert len(place.read_attestations(liar, honest)) == 3


def violations(place: Place, table: str) -> dict[str, int]:
    return violations_of(gather_facts(place.connection, table))
