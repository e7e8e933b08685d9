"""Balances and transfers of a watched contract, on a real EVM and against an independent reading of it."""

import asyncio
import random
from datetime import UTC, datetime, timedelta

import pytest
from ingest_helpers import ingest_once, pool_of, warehouse
from web3 import HTTPProvider, Web3

from cli.demo.anvil import Anvil
from cli.demo.recorded import RecordedChain, RecordedNode
from cli.demo.rpc import calldata
from cli.demo.write import deploy, mined_receipt
from contracts.bidwall import BidwallEventsParameters, BidwallSnapshotParameters
from contracts.discovery.installation import Installation
from contracts.evm.codec import TRANSFER_TOPIC
from contracts.token.holder_documents import ConsistencyLevel
from pipelines.bidwall.source import read_balance
from pipelines.token.sparse_events import ContractTransfers
from warehouse.bidwall.contract_balance import (
    BalanceReading,
    read_balance_series,
    read_bidwall_balance,
    read_bidwall_events,
    read_bidwall_snapshot,
    record_balance,
    record_bidwall_status,
    replace_events,
)
from warehouse.document_context import DocumentContext
from warehouse.token.chain_head import SeenHead
from warehouse.token.transfers import CONTRACT_TRANSFERS, forget_unless_of, tip_blocks

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WALL = "0x" + "ba" * 20


class Place:
    """A bidwall with two tokens on an anvil, and the warehouse that watches it."""

    def __init__(self, anvil: Anvil, connection) -> None:
        self.anvil, self.rpc, self.connection = anvil, anvil.rpc, connection
        self.owner, self.payer, *_ = anvil.rpc.call("eth_accounts")
        self.bidwall = deploy(self.rpc, self.owner, "Bidwall")
        self.token = deploy(self.rpc, self.owner, "ServiceToken", ["string", "string"], ["Service", "SVC"])
        self.usdc = deploy(self.rpc, self.owner, "UsdcStandIn")

    def send(self, to: str, signature: str, *values, wei: int = 0) -> None:
        data = calldata(signature, *values) if signature else "0x"
        call = {"from": self.owner, "to": to, "data": data, "value": hex(wei), "gas": hex(1_000_000)}
        mined_receipt(self.rpc, self.rpc.call("eth_sendTransaction", call))

    def mine(self, blocks: int) -> None:
        self.rpc.call("anvil_mine", hex(blocks))

    def head(self, tag: str = "finalized") -> SeenHead:
        newest = self.rpc.call("eth_getBlockByNumber", "latest", False)
        final = self.rpc.call("eth_getBlockByNumber", tag, False)
        numbers = [(int(block["number"], 16), block["hash"]) for block in (newest, final)]
        return SeenHead(*numbers[0], *numbers[1], ConsistencyLevel.FINALIZED)

    def run(self, *urls: str) -> None:
        """Does the work of a run: reads events and balance, and publishes them."""
        self.report = ingest_once(self.connection, *(urls or (self.anvil.url,)), events=ContractTransfers(self.bidwall))
        head = self.head()
        record_balance(self.connection, self.bidwall, reading_of(self.anvil.url, self.bidwall, head))
        self.serve(head.finalized_block)

    def serve(self, finalized_block: int) -> None:
        replace_events(self.connection, self.bidwall)
        record_bidwall_status(
            self.connection,
            chain_id=8453,
            contract=self.bidwall,
            service_token=self.token,
            usdc=None,
            trigger_wei=10**18,
            finalized_block=finalized_block,
            now=datetime.now(UTC),
        )

    @property
    def context(self) -> DocumentContext:
        return DocumentContext(self.connection, None, Installation("http://x"))

    def events(self, **asked) -> list:
        return read_bidwall_events(self.context, BidwallEventsParameters(**asked)).events


def reading_of(url: str, contract: str, head: SeenHead, **pool) -> BalanceReading:
    async def read():
        async with pool_of(url, patience_s=0.5, **pool) as opened:
            return await read_balance(opened, contract, head)

    return asyncio.run(read())


@pytest.fixture
def place(anvil, tmp_path):
    with warehouse(tmp_path) as connection:
        yield Place(anvil, connection)


def test_balance_and_events_are_those_of_an_independent_read_at_the_same_block(place):
    rng = random.Random(5)
    big = 2**256 - 2**70
    place.send(place.token, "mint(address,uint256)", place.owner, big)
    place.send(place.token, "transfer(address,uint256)", place.bidwall, big // 2)
    for _ in range(12):
        place.send(place.usdc, "mint(address,uint256)", rng.choice([place.bidwall, place.payer]), rng.randint(0, 10**9))
        place.send(place.bidwall, "", wei=rng.randint(1, 10**17))
    place.send(place.bidwall, "withdrawToken(address,address,uint256)", place.token, place.bidwall, 3)
    place.send(place.bidwall, "withdrawToken(address,address,uint256)", place.token, place.payer, big // 4)
    place.mine(3)
    place.run()

    body = read_bidwall_snapshot(place.context, BidwallSnapshotParameters(events_limit=20))
    web3 = Web3(HTTPProvider(place.anvil.url))
    at = body.at
    assert at.block == web3.eth.get_block("finalized")["number"]
    assert at.block_hash == "0x" + web3.eth.get_block(at.block)["hash"].hex()
    contract = Web3.to_checksum_address(place.bidwall)
    assert int(body.balance_wei) == web3.eth.get_balance(contract, at.block)
    assert (body.quality, body.stale, at.finality) == ("exact", False, "final")

    logs = web3.eth.get_logs({"fromBlock": 0, "toBlock": at.block, "topics": [TRANSFER_TOPIC]})
    expected = [
        (log["blockNumber"], log["logIndex"], log["address"].lower(), int(log["data"].hex(), 16))
        for log in logs
        if place.bidwall[2:] in (log["topics"][1].hex()[-40:], log["topics"][2].hex()[-40:])
    ]
    found = [(each.block, each.log_index, each.token, int(each.value_raw)) for each in place.events(limit=40)]
    assert found == sorted(expected, reverse=True)
    directions = [each.direction for each in place.events(scope="odai")]
    assert directions == ["out", "self", "in"]
    assert {each.token for each in place.events(token=place.usdc)} == {place.usdc}
    assert len(place.events(limit=1)) == 1
    assert place.events(token=place.payer) == []


def test_events_above_finality_are_pending_and_go_with_a_reorg(place):
    place.send(place.usdc, "mint(address,uint256)", place.bidwall, 1)
    place.mine(3)
    place.run()
    place.send(place.usdc, "mint(address,uint256)", place.bidwall, 2)
    place.run()
    assert [(each.value_raw, each.finality) for each in place.events()] == [("2", "pending"), ("1", "final")]
    place.rpc.call("anvil_reorg", 1, [])
    place.mine(1)
    place.run()
    assert place.report.tip_rolled_back == 1
    assert [(each.value_raw, each.finality) for each in place.events()] == [("1", "final")]
    place.send(place.usdc, "mint(address,uint256)", place.bidwall, 3)
    place.mine(3)
    place.run()
    assert [(each.value_raw, each.finality) for each in place.events()] == [("3", "final"), ("1", "final")]


def test_a_run_continues_from_its_checkpoint_and_another_contract_starts_over(place):
    forget_unless_of(place.connection, CONTRACT_TRANSFERS, place.bidwall, 0)
    place.send(place.usdc, "mint(address,uint256)", place.bidwall, 1)
    place.mine(3)
    place.run()
    reached = place.report.to_block
    place.mine(2)
    forget_unless_of(place.connection, CONTRACT_TRANSFERS, place.bidwall, 0)
    place.run()
    assert place.report.from_block == reached + 1
    assert len(place.events()) == 1
    forget_unless_of(place.connection, CONTRACT_TRANSFERS, place.payer, 0)
    assert tip_blocks(place.connection, CONTRACT_TRANSFERS) == []
    place.serve(reached)
    assert place.events() == []


def test_if_no_node_has_the_state_of_the_final_block_the_newest_block_is_named_instead():
    chain = RecordedChain(
        chain_id=8453, token="0x" + "70" * 20, logs=[], first_block=0, head=30, finalized_lag=9,
        state_depth=4, balances_wei={WALL: 7},
    )  # fmt: skip
    head = SeenHead(30, chain.block_hash(30), 21, chain.block_hash(21), ConsistencyLevel.FINALIZED)
    with RecordedNode(chain) as node:
        reading = reading_of(node.url, WALL, head)
    assert (reading.balance_wei, reading.block, reading.block_hash) == (7, 30, chain.block_hash(30))
    assert (reading.is_final, reading.reason) == (False, None)


def test_a_balance_of_another_block_than_the_final_one_is_not_believed(place):
    place.mine(5)
    head = place.head()
    other = SeenHead(head.head_block, head.head_hash, head.finalized_block, "0x" + "99" * 32, head.level)
    reading = reading_of(place.anvil.url, place.bidwall, other)
    assert (reading.balance_wei, reading.reason) == (None, "block_hash_mismatch")


def test_a_dead_node_gives_a_reason_and_the_last_balance_is_served_stale(place):
    place.send(place.bidwall, "", wei=5)
    place.mine(3)
    place.run()
    failed = reading_of("http://127.0.0.1:9", place.bidwall, place.head())
    assert (failed.balance_wei, failed.reason) == (None, "rpc_unavailable")
    record_balance(place.connection, place.bidwall, failed)
    place.serve(place.report.to_block)
    body = read_bidwall_balance(place.context)
    assert (body.balance_wei, body.stale, body.reason) == ("5", True, "rpc_unavailable")
    assert body.observed_at == body.at.time

    place.mine(1)
    place.run()
    body = read_bidwall_balance(place.context)
    assert (body.balance_wei, body.stale, body.reason) == ("5", False, None)


def test_a_balance_that_fills_uint256_is_exact(place):
    place.rpc.call("anvil_setBalance", place.bidwall, hex(2**256 - 1))
    place.mine(3)
    place.run()
    body = read_bidwall_balance(place.context)
    assert int(body.balance_wei) == 2**256 - 1
    assert body.trigger.reached and body.trigger.progress == 1.0


def test_the_series_has_a_point_of_every_hour_with_its_block_and_says_why_one_has_no_balance(tmp_path):
    def read(minute: int, wei: int | None, block: int | None, final: bool | None = True, reason: str | None = None):
        at = NOW + timedelta(minutes=minute)
        block_hash = None if block is None else f"0x{block:064x}"
        block_time = None if block is None else at
        return BalanceReading(wei, block, block_hash, block_time, None if block is None else final, reason, at)

    readings = [
        read(1, 10**18, 5), read(20, 4 * 10**18, 6), read(50, 3 * 10**18, 7),
        read(70, None, None, reason="rpc_unavailable"),
        read(185, 2**200, 9), read(190, 5, 10, final=False), read(200, None, None, reason="timeout"),
    ]  # fmt: skip
    with warehouse(tmp_path) as connection:
        for reading in readings:
            record_balance(connection, WALL, reading)
        record_balance(connection, "0x" + "cc" * 20, read(400, 1, 20))
        record_bidwall_status(
            connection,
            chain_id=8453,
            contract=WALL,
            service_token=None,
            usdc=None,
            trigger_wei=7,
            finalized_block=10,
            now=NOW,
        )
        context = DocumentContext(connection, None, Installation("http://x"))
        hours, days = (read_balance_series(context, interval) for interval in ("hour", "day"))
    assert [
        (point.start.hour, point.balance_wei, point.lowest_wei, point.highest_wei, point.readings,
         point.at and point.at.block, point.quality, point.reason)
        for point in hours.points
    ] == [
        (0, str(3 * 10**18), str(10**18), str(4 * 10**18), 3, 7, "exact", None),
        (1, None, None, None, 0, None, "unavailable", "rpc_unavailable"),
        (2, None, None, None, 0, None, "unavailable", "not_read"),
        (3, "5", "5", str(2**200), 2, 10, "estimated", None),
    ]  # fmt: skip
    assert (hours.trigger_wei, hours.reason, hours.points[0].balance_eth) == ("7", "timeout", "3")
    assert [(point.start, point.balance_wei, point.readings) for point in days.points] == [(NOW, "5", 5)]


def test_without_a_contract_or_a_reading_the_series_is_empty_and_says_why(tmp_path):
    with warehouse(tmp_path) as connection:
        empty = read_balance_series(DocumentContext(connection, None, Installation("http://x")), "day")
    assert (empty.points, empty.quality, empty.reason) == ([], "unavailable", "not_configured")
