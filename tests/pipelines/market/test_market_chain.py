"""Prices that the chain itself gives: Chainlink's feed, the sequencer's, and a pool, on a real local EVM."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from fault_node import silent_node
from holder_rows import block_time, put_transfers

from cli.demo.anvil import Anvil
from cli.demo.rpc import calldata
from cli.demo.write import deploy, mined_receipt
from contracts.base import Quality
from contracts.market import Quote, Refusal, decimal_of
from contracts.pools import Pair, read_pair
from contracts.settings import Settings
from contracts.token.holders import ZERO_ADDRESS
from pipelines.clients.rpc import RpcPool
from pipelines.market.ask import ask_sources
from pipelines.market.sources import chainlink, configured_sources, pool
from pipelines.token.engine import ingest
from pipelines.token.event_assets import pool_terms
from pipelines.token.sparse_events import PoolReserves
from warehouse.duck.connection import Warehouse
from warehouse.market.prices import PoolPast, SourceAnswer, pool_past
from warehouse.token.pool import record_pool

NOW = datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC)
NOW_S = int(NOW.timestamp())


def words(*values: int) -> str:
    return "0x" + "".join(f"{value % (1 << 256):064x}" for value in values)


def round_of(answer: int, updated_s: int, started_s: int | None = None) -> str:
    return words(7, answer, updated_s if started_s is None else started_s, updated_s, 7)


UP = round_of(0, NOW_S - 90_000)
FEED = round_of(3000_12345678, NOW_S - 30)


def read(latest: object = FEED, decimals: object = words(8), sequencer: object = UP) -> Quote | Refusal:
    return chainlink.decode(latest, decimals, sequencer, has_sequencer=True, block=9, now=NOW)


def test_a_sound_round_is_a_price_of_the_time_it_was_written() -> None:
    quote = read()
    assert isinstance(quote, Quote)
    assert (decimal_of(quote.price_usd), quote.quality, quote.block) == ("3000.12345678", Quality.EXACT, 9)
    assert quote.observed_at == NOW - timedelta(seconds=30)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        ({"latest": round_of(0, NOW_S)}, "no_price"),
        ({"latest": round_of(-1, NOW_S)}, "no_price"),
        ({"latest": round_of(10**30, NOW_S)}, "no_price"),
        ({"latest": round_of(3000_00000000, NOW_S - 1261)}, "heartbeat_missed"),
        ({"latest": round_of(3000_00000000, 0)}, "unfinished_round"),
        ({"latest": round_of(3000_00000000, NOW_S + 900)}, "unfinished_round"),
        ({"latest": "0x"}, "no_feed"),
        ({"latest": None}, "no_feed"),
        ({"latest": "0x" + "zz" * 160}, "no_feed"),
        ({"decimals": words(200)}, "no_feed"),
        ({"decimals": "0x"}, "no_feed"),
        ({"sequencer": round_of(1, NOW_S - 90_000)}, "sequencer_down"),
        ({"sequencer": round_of(0, NOW_S - 3599)}, "sequencer_grace_period"),
        ({"sequencer": round_of(0, NOW_S, started_s=0)}, "sequencer_unknown"),
        ({"sequencer": "0x"}, "sequencer_unknown"),
    ],
)
def test_a_round_that_is_not_sound_is_no_price(answers: dict[str, Any], reason: str) -> None:
    assert read(**answers) == Refusal(reason)


def test_the_heartbeat_and_the_grace_period_end_where_they_say() -> None:
    assert isinstance(read(round_of(3000_00000000, NOW_S - 1260)), Quote)
    assert isinstance(read(sequencer=round_of(0, NOW_S - 3600)), Quote)


@dataclass
class Scene:
    """A token, USDC and a pool of both, with feeds, on an anvil; the first account owns everything."""

    anvil: Anvil

    def __post_init__(self) -> None:
        self.owner = self.anvil.rpc.call("eth_accounts")[0]
        self.token, self.usdc = (deploy(self.anvil.rpc, self.owner, "UsdcStandIn") for _ in range(2))
        self.pool = deploy(self.anvil.rpc, self.owner, "TokenPool", ["address", "address"], [self.token, self.usdc])
        self.feed = deploy(self.anvil.rpc, self.owner, "ChainlinkFeed", ["uint8", "string"], [8, "ETH / USD"])
        self.sequencer = deploy(self.anvil.rpc, self.owner, "SequencerFeed")

    def send(self, to: str, signature: str, *values: Any) -> int:
        transaction = {"from": self.owner, "to": to, "data": calldata(signature, *values), "gas": hex(1_000_000)}
        return int(
            mined_receipt(self.anvil.rpc, self.anvil.rpc.call("eth_sendTransaction", transaction))["blockNumber"], 16
        )

    def hold(self, tokens: int, usdc: int) -> int:
        """Give the pool more; the block in which it counted that."""
        self.send(self.token, "mint(address,uint256)", self.pool, tokens)
        self.send(self.usdc, "mint(address,uint256)", self.pool, usdc)
        return self.send(self.pool, "sync()")

    def settings(self, **changes: Any) -> Settings:
        named: dict[str, Any] = {
            "rpc_urls": (self.anvil.url,),
            "token_address": self.token,
            "pool_address": self.pool,
            "usdc_address": self.usdc,
            "chainlink_feed_address": self.feed,
            "_env_file": None,
        }
        return Settings(**(named | changes))

    def ask_pool(self, past: PoolPast | None = None, **changes: Any) -> SourceAnswer:
        settings = self.settings(**changes)
        sources = configured_sources("token", settings)
        assert sources == (pool.SOURCE,)
        (answer,) = asyncio.run(ask_sources(sources, settings, eth_usd=Decimal(3000), past=past))
        return answer

    def ask_feed(self, **changes: Any) -> SourceAnswer:
        settings = self.settings(**changes)
        sources = configured_sources("eth", settings)
        assert sources == (chainlink.SOURCE,)
        (answer,) = asyncio.run(ask_sources(sources, settings))
        return answer


@pytest.fixture
def scene(anvil: Anvil) -> Iterator[Scene]:
    yield Scene(anvil)


def test_the_feed_is_read_from_its_contract(scene: Scene) -> None:
    assert scene.ask_feed().attempt.reason == "no_feed"
    block = scene.send(scene.feed, "setAnswer(int256)", 3123_45000000)
    quote = scene.ask_feed().quote
    assert quote is not None
    assert (decimal_of(quote.price_usd), quote.block) == ("3123.45", block)
    scene.send(scene.feed, "setAnswer(int256)", -5)
    assert scene.ask_feed().attempt.reason == "no_price"


def test_a_sequencer_that_is_down_or_just_back_silences_the_feed(scene: Scene) -> None:
    scene.send(scene.feed, "setAnswer(int256)", 3000_00000000)
    assert scene.ask_feed(sequencer_feed_address=scene.sequencer).attempt.reason == "sequencer_grace_period"
    scene.send(scene.sequencer, "setDown(bool)", True)
    assert scene.ask_feed(sequencer_feed_address=scene.sequencer).attempt.reason == "sequencer_down"
    assert scene.ask_feed(sequencer_feed_address=scene.pool).attempt.reason == "sequencer_unknown"


def test_the_pool_is_read_from_its_reserves(scene: Scene) -> None:
    assert scene.ask_pool().attempt.reason == "empty_pool"
    block = scene.hold(1_996_000_000, 499_000_000)
    answer = scene.ask_pool()
    assert answer.quote is not None
    assert (decimal_of(answer.quote.price_usd), answer.quote.quality, answer.quote.reason) == (
        "0.25",
        Quality.ESTIMATED,
        "thin_liquidity",
    )
    assert (answer.quote.block, answer.quote.liquidity_usd, answer.quote.mcap_usd) == (block, 998.0, 499.0)
    scene.hold(2_004_000_000, 1_501_000_000)
    quote = scene.ask_pool().quote
    assert quote is not None
    assert (decimal_of(quote.price_usd), quote.quality, quote.liquidity_usd) == ("0.5", Quality.DERIVED, 4000.0)
    assert (quote.mcap_usd, quote.pool, quote.pools) == (2000.0, scene.pool, 1)


def test_trades_and_changes_come_from_transfers_and_the_pools_own_events(scene: Scene) -> None:
    before = scene.hold(4_000_000_000, 1_000_000_000)
    scene.hold(0, 1_000_000_000)
    past = PoolPast(buys=3, sells=1, traded_raw=10_000_000, hour_block=before, day_block=0)
    quote = scene.ask_pool(past).quote
    assert quote is not None
    assert (quote.volume_24h_usd, quote.buys_24h, quote.sells_24h) == (5.0, 3, 1)
    assert (quote.change_1h_percent, quote.change_24h_percent) == (100.0, None)


def test_a_pool_against_another_token_or_no_pool_is_no_price(scene: Scene) -> None:
    scene.hold(1_000_000_000, 1_000_000_000)
    assert scene.ask_pool(usdc_address=None).attempt.reason == "unknown_quote_token"
    assert scene.ask_pool(pool_address=scene.token).attempt.reason == "no_pair"
    assert scene.ask_pool(token_address=scene.feed).attempt.reason == "other_pair"


def test_a_silent_node_leaves_another_the_time_to_answer(scene: Scene) -> None:
    scene.hold(1_000_000_000, 1_000_000_000)
    with silent_node() as silent:
        assert scene.ask_pool(rpc_urls=(silent, scene.anvil.url)).quote is not None


def test_a_chain_that_does_not_answer_is_a_reason(scene: Scene) -> None:
    assert scene.ask_pool(rpc_urls=("http://127.0.0.1:1",)).attempt.reason in ("rpc_unavailable", "timeout")
    assert scene.ask_feed(chain_id=1).attempt.reason == "chain_mismatch"


def test_the_pools_events_are_read_from_the_chain_with_what_their_prices_follow_from(
    scene: Scene, tmp_path: Path
) -> None:
    blocks = [scene.hold(10_000_000, 20_000_000), scene.hold(0, 10_000_000)]
    settings = scene.settings()

    async def read(connection: Any) -> Any:
        async with RpcPool([scene.anvil.url], chain_id=8453) as rpc:
            scene.anvil.rpc.call("anvil_mine", hex(3))  # then the pool's blocks are final
            await ingest(rpc, connection, PoolReserves(scene.pool), start_block=0, confirmations=0)
            wrong = await pool_terms(rpc, settings, scene.feed, scene.token)
            other = await pool_terms(rpc, settings, scene.pool, scene.feed)
            unknown = await pool_terms(rpc, scene.settings(usdc_address=None), scene.pool, scene.token)
            assert (wrong, other, unknown) == tuple(
                Refusal(reason) for reason in ("no_pair", "other_pair", "unknown_quote_token")
            )
            return await pool_terms(rpc, settings, scene.pool, scene.token)

    with Warehouse(tmp_path).connect() as connection:
        terms = asyncio.run(read(connection))
        record_pool(connection, scene.pool, scene.token, terms, NOW)
        ((place,),) = connection.execute("select token_place from raw_chain__pool").fetchall()
        rows = connection.execute(
            f"select block_number, reserve{place}_raw.limb0, reserve{1 - place}_raw.limb0 "
            "from raw_chain__pool_reserves order by block_number"
        ).fetchall()
    assert (terms.decimals, terms.currency, terms.pair.other) == ((6, 6), "usd", scene.usdc)
    assert rows == [(blocks[0], 10_000_000, 20_000_000), (blocks[1], 10_000_000, 30_000_000)]


WETH, TOKEN = "0x4200000000000000000000000000000000000006", "0x" + "70" * 20


@pytest.mark.parametrize("swapped", [False, True])
def test_a_pool_against_ether_takes_its_price_in_dollars(swapped: bool) -> None:
    sides = (WETH, TOKEN) if swapped else (TOKEN, WETH)
    found = read_pair(*(words(int(side, 16)) for side in sides), TOKEN)
    assert isinstance(found, Pair)
    assert pool.usd_of_other(found, chain_id=8453, usdc=None, eth_usd=None) == Refusal("no_eth_price")
    held = (5 * 10**18, 10_000 * 10**6) if swapped else (10_000 * 10**6, 5 * 10**18)
    reserves = pool.read_reserves(found, words(*held, 0), (words(6), words(18)))
    assert isinstance(reserves, pool.Reserves)
    quote = pool.quote_of(reserves, Decimal(3000), supply_raw="0x", pool="0x01", block=1, observed_at=NOW)
    assert isinstance(quote, Quote)
    assert (decimal_of(quote.price_usd), quote.liquidity_usd, quote.mcap_usd) == ("1.5", 30_000.0, None)


def test_trades_of_the_last_day_are_counted_from_transfers(tmp_path: Path) -> None:
    pool, alice = "0x" + "cc" * 20, "0x" + "aa" * 20
    rows = [
        (10, ZERO_ADDRESS, pool, 1 << 200),
        (20, pool, alice, 1 << 130),
        (30, alice, pool, 5),
        (40, alice, alice, 9),
    ]
    with Warehouse(tmp_path).connect() as connection:
        put_transfers(connection, rows, 50)
        now = block_time(50)
        past = pool_past(connection, pool, now)
        assert (past.buys, past.sells, past.traded_raw) == (1, 1, (1 << 130) + 5)
        late = pool_past(connection, pool, now + timedelta(hours=2))
        assert (late.buys, late.sells, late.traded_raw) == (None, None, None)
        assert late.hour_block == 40
