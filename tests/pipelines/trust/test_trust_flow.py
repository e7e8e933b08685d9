"""Scores counted from attestations, on a real EVM, equal the contract's own at the same block."""

import asyncio
import random
from datetime import UTC, datetime

import pytest
from ingest_helpers import ingest_once, pool_of, warehouse
from web3 import HTTPProvider, Web3

from cli.demo.anvil import Anvil
from cli.demo.compile import load_artifact
from cli.demo.rpc import calldata
from cli.demo.write import deploy, mined_receipt
from contracts.discovery.installation import Installation
from contracts.token.holder_documents import ConsistencyLevel
from pipelines.token.sparse_events import Attestations
from pipelines.trust.source import ask_scores, read_half_life
from warehouse.document_context import DocumentContext
from warehouse.token.chain_head import SeenHead
from warehouse.trust.attestations import (
    fold_scores,
    read_trust_protocol,
    read_trust_registry,
    read_trust_score,
    read_trust_state,
    record_checks,
    record_trust_status,
    scores,
)

DAY_S = 86_400
HALF_LIFE_S = 5 * DAY_S
AGENTS = ["0x" + f"{number:02x}" * 20 for number in range(1, 6)]


class Place:
    """A registry on an anvil and the warehouse that counts its attestations."""

    def __init__(self, anvil: Anvil, connection) -> None:
        self.anvil, self.rpc, self.connection = anvil, anvil.rpc, connection
        self.owner, self.attester, *_ = anvil.rpc.call("eth_accounts")
        self.registry = deploy(self.rpc, self.owner, "TrustRegistry", ["uint256"], [HALF_LIFE_S])
        self.send(self.owner, "setAttester(address,bool)", self.attester, True)
        self.jobs = 0

    def send(self, sender: str, signature: str, *values) -> None:
        call = {"from": sender, "to": self.registry, "data": calldata(signature, *values), "gas": hex(1_000_000)}
        mined_receipt(self.rpc, self.rpc.call("eth_sendTransaction", call))

    def attest(self, agent: str, score: int, pause_s: int = 0) -> None:
        self.jobs += 1
        if pause_s:
            self.rpc.call("evm_increaseTime", pause_s)
        values = (agent, score, self.jobs.to_bytes(32), f"job {self.jobs}")
        self.send(self.attester, "attest(address,uint256,bytes32,string)", *values)

    def count(self) -> frozenset[str]:
        self.rpc.call("anvil_mine", "0x3")
        self.report = ingest_once(self.connection, self.anvil.url, events=Attestations(self.registry))
        return fold_scores(self.connection, self.registry, HALF_LIFE_S)

    def check(self) -> list:
        state = read_trust_state(self.connection)

        async def ask():
            async with pool_of(self.anvil.url) as pool:
                return await ask_scores(pool, self.registry, state.block, scores(self.connection))

        found = asyncio.run(ask())
        record_checks(self.connection, state.block, found, datetime.now(UTC))
        return found

    def serve(self, **changed) -> DocumentContext:
        head = SeenHead(0, "0x", self.report.finalized_block, "0x", ConsistencyLevel.FINALIZED)
        options = {"registry": self.registry, "escrow": None, "head": head, "reason": None, **changed}
        record_trust_status(self.connection, chain_id=8453, now=datetime.now(UTC), **options)
        return DocumentContext(self.connection, None, Installation("http://x"))


@pytest.fixture
def place(anvil, tmp_path):
    with warehouse(tmp_path) as connection:
        yield Place(anvil, connection)


def test_counted_in_steps_the_scores_are_the_contracts_at_the_same_block(place):
    rng = random.Random(3)
    contract = Web3(HTTPProvider(place.anvil.url)).eth.contract(
        address=Web3.to_checksum_address(place.registry), abi=load_artifact("TrustRegistry")["abi"]
    )
    for _ in range(3):
        for _ in range(8):
            place.attest(rng.choice(AGENTS), rng.randint(1, 100), rng.randint(0, 9 * DAY_S))
        place.count()
        state = read_trust_state(place.connection)
        ours = scores(place.connection)
        for agent in AGENTS:
            asked = Web3.to_checksum_address(agent)
            for least in (1, 50, 70, 85):
                meets, score = contract.functions.meetsTrustThreshold(asked, least).call(block_identifier=state.block)
                assert (meets, score) == (agent in ours and ours[agent] >= least, ours.get(agent, 0))
    body = read_trust_score(place.serve(), AGENTS[0])
    asked = Web3.to_checksum_address(AGENTS[0])
    assert body.trust_score == contract.functions.averageScore(asked).call()
    assert body.attestation_count == contract.functions.attestationCount(asked).call()
    history = place.connection.execute(
        "select number, weighted_score from core_trust__history where agent = ? order by number", [AGENTS[0]]
    ).fetchall()
    assert [number for number, _ in history] == list(range(1, body.attestation_count + 1))
    assert history[-1][1] == body.weighted_score


def test_a_sample_of_scores_is_compared_with_the_contract_and_reported(place):
    for agent in AGENTS[:3]:
        place.attest(agent, 90)
    place.count()
    assert all(check.theirs == check.ours for check in place.check())
    protocol = read_trust_protocol(place.serve())
    sampled = protocol.consistency.sampled
    assert (sampled.checked, sampled.equal, sampled.verdict) == (9, 9, "proven")
    assert (protocol.quality, protocol.totals.attestations, protocol.totals.agents) == ("exact", 3, 3)

    place.connection.execute("update core_trust__scores set weighted_score = 89 where agent = ?", [AGENTS[0]])
    place.check()
    body = read_trust_score(place.serve(), AGENTS[0])
    assert (body.quality, body.reason) == ("estimated", "score_mismatch")
    assert body.consistency.sampled.verdict == "failed"


def test_agents_attesters_and_attestations_are_listed(place):
    for agent, score in ((AGENTS[0], 90), (AGENTS[1], 60), (AGENTS[0], 81)):
        place.attest(agent, score)
    place.count()
    lists = read_trust_registry(place.serve())
    assert [(each.agent, each.level, each.attestation_count) for each in lists.agents] == [
        (AGENTS[0], "high", 2),
        (AGENTS[1], "low", 1),
    ]
    (attester,) = lists.attesters
    assert (attester.attester, attester.attestation_count, attester.agent_count) == (place.attester.lower(), 3, 2)
    assert attester.mean_score == (90 + 60 + 81) // 3
    newest = lists.attestations[0]
    assert (newest.agent, newest.score, newest.job_id) == (AGENTS[0], 81, f"0x{3:064x}")
    assert newest.weighted_score == lists.agents[0].weighted_score
    assert (len(lists.attestations), lists.truncated, lists.totals.attesters) == (3, False, 1)


def test_an_unknown_agent_is_not_registered_and_a_registry_without_attestations_is_exact(place):
    place.count()
    body = read_trust_score(place.serve(), AGENTS[0])
    assert (body.registered, body.trust_score, body.weighted_score, body.level) == (False, 0, 0, "none")
    assert (body.quality, body.reason) == ("exact", None)


def test_without_a_registry_or_before_it_is_read_scores_are_null_with_a_reason(place):
    place.count()
    place.connection.execute("delete from core_trust__state")
    for changed, reason in (
        ({"registry": None}, "not_configured"),
        ({"head": None}, "backfilling"),
        ({"reason": "registry_unanswered"}, "registry_unanswered"),
    ):
        body = read_trust_score(place.serve(**changed), AGENTS[0])
        assert (body.quality, body.reason, body.trust_score) == ("unavailable", reason, None)
        assert body.registered is None


def test_if_the_contract_does_not_answer_the_scores_are_derived(place):
    place.attest(AGENTS[0], 80)
    place.count()

    async def ask(url: str):
        async with pool_of(url, patience_s=0.3) as pool:
            return await ask_scores(pool, place.registry, 10**6, {AGENTS[0]: 80}), await read_half_life(pool, AGENTS[0])

    unasked, no_contract = asyncio.run(ask(place.anvil.url))
    assert ({check.reason for check in unasked}, no_contract) == ({"no_state"}, None)
    dead, _ = asyncio.run(ask("http://127.0.0.1:9"))
    assert {check.reason for check in dead} == {"rpc_unavailable"}
    record_checks(place.connection, read_trust_state(place.connection).block, dead, datetime.now(UTC))
    body = read_trust_score(place.serve(), AGENTS[0])
    assert (body.quality, body.reason, body.trust_score) == ("derived", "rpc_unavailable", 80)


def test_another_registry_or_half_life_starts_over(place):
    place.attest(AGENTS[0], 80)
    assert place.count() == {AGENTS[0]}
    assert fold_scores(place.connection, place.registry, HALF_LIFE_S) == frozenset()
    assert fold_scores(place.connection, place.registry, HALF_LIFE_S + 1) == {AGENTS[0]}
    assert fold_scores(place.connection, AGENTS[4], HALF_LIFE_S) == {AGENTS[0]}
    assert place.connection.execute("select count(*) from core_trust__history").fetchall() == [(1,)]
    place.connection.execute("delete from raw_chain__attestation_ranges")
    assert fold_scores(place.connection, AGENTS[4], HALF_LIFE_S) == frozenset()
    assert scores(place.connection) == {}


def test_the_half_life_is_the_contracts_own(place):
    async def ask():
        async with pool_of(place.anvil.url) as pool:
            return await read_half_life(pool, place.registry)

    assert asyncio.run(ask()) == HALF_LIFE_S
