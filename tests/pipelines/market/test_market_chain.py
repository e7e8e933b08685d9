"""Prices from the chain itself: Chainlink's feed, the sequencer's feed, and a pool, on a real local EVM."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import isqrt
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
from contracts.pools import (
    CONCENTRATED,
    FEE_SWAP_TOPIC,
    GET_RESERVES,
    LIQUIDITY,
    PAIR,
    SLOT0,
    SWAP_TOPIC,
    TOKEN0,
    TOKEN1,
    Pair,
    PoolTerms,
    read_pair,
)
from contracts.settings import Settings
from contracts.token.holders import ZERO_ADDRESS
from pipelines.clients.rpc import RpcPool
from pipelines.market.ask import ask_sources
from pipelines.market.sources import chainlink, configured_sources, pool
from pipelines.token.engine import ingest
from pipelines.token.event_assets import pool_terms
from pipelines.token.sparse_events import PoolReserves
from warehouse.duck.connection import Warehouse
from warehouse.market.prices import PoolPast, SourceAnswer, Traded, pool_past
from warehouse.token.pool import record_pool
from warehouse.token.series import record_bucket_prices

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
def test_an_unsound_round_is_no_price(answers: dict[str, Any], reason: str) -> None:
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
        """Adds to the pool's reserves and returns the block in which the pool updated them."""
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
    past = PoolPast(buys=3, sells=1, traded=Traded(unvalued=10_000_000), trades_block=7, hour_block=before, day_block=0)
    quote = scene.ask_pool(past).quote
    assert quote is not None
    assert (quote.volume_24h_usd, quote.buys_24h, quote.sells_24h, quote.trades_block) == (5.0, 3, 1, 7)
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
            await ingest(rpc, connection, PoolReserves(scene.pool, PAIR), start_block=0, confirmations=0)
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


POOL_CODE = bytes.fromhex(
    "5f3560e01c54"  # PUSH0 CALLDATALOAD PUSH1 224 SHR SLOAD: the word stored under the selector that is called
    "8015601157"  # DUP1 ISZERO PUSH1 17 JUMPI
    "5f5260e05ff3"  # PUSH0 MSTORE PUSH1 224 PUSH0 RETURN: seven words, the first one is the stored one
    "5b6060361060" + "2d" + "57"  # JUMPDEST PUSH1 96 CALLDATASIZE LT PUSH1 45 JUMPI: reverts without three topics
    "6040356020355f35"  # PUSH1 64 CALLDATALOAD PUSH1 32 CALLDATALOAD PUSH0 CALLDATALOAD: the topics
    "60603603"  # PUSH1 96 CALLDATASIZE SUB: the size of the data
    "8060605f375fa300"  # DUP1 PUSH1 96 PUSH0 CALLDATACOPY PUSH0 LOG3 STOP
    "5b5f5ffd"  # JUMPDEST PUSH0 PUSH0 REVERT
)
"""A contract that answers with the words stored under a selector, and otherwise emits its call data: topics, then
data."""


@dataclass
class ConcentratedPool:
    """A stand-in for a concentrated pool of the scene's token and USDC, with prices and events at will."""

    scene: Scene
    address: str = "0x" + "c3" * 20

    def __post_init__(self) -> None:
        self.scene.anvil.rpc.call("anvil_setCode", self.address, "0x" + POOL_CODE.hex())
        self.sides = sorted((self.scene.token, self.scene.usdc))
        for getter, side in zip((TOKEN0, TOKEN1), self.sides, strict=True):
            self.answer(getter, int(side, 16))

    def answer(self, getter: str, word: int) -> None:
        self.scene.anvil.rpc.call("anvil_setStorageAt", self.address, "0x" + getter[2:].zfill(64), f"0x{word:064x}")

    def root(self, usd: Fraction) -> int:
        """Returns the root of token0's price, times 2^96, at which the token costs `usd` dollars."""
        price = usd if self.sides[0] == self.scene.token else 1 / usd
        return isqrt(price.numerator * 2**192 // price.denominator)

    def swap(self, root: int, liquidity: int, *, fees: bool = False) -> int:
        """Emits a Swap, with `fees` in PancakeSwap's form, and returns its block."""
        topics = [int(FEE_SWAP_TOPIC if fees else SWAP_TOPIC, 16), 1, 2]
        data = words(*topics, 5, -7, root, liquidity, -3, *([1, 2] if fees else []))
        transaction = {"from": self.scene.owner, "to": self.address, "data": data, "gas": hex(1_000_000)}
        receipt = mined_receipt(self.scene.anvil.rpc, self.scene.anvil.rpc.call("eth_sendTransaction", transaction))
        assert receipt["status"] == "0x1"
        return int(receipt["blockNumber"], 16)


def test_a_concentrated_pool_is_read_from_its_price_and_what_it_holds(scene: Scene) -> None:
    pair = ConcentratedPool(scene)
    quarter = pair.root(Fraction(1, 4))
    assert scene.ask_pool(pool_address=pair.address).attempt.reason == "unknown_pool"  # only its tokens
    pair.answer(SLOT0, quarter)
    pair.answer(LIQUIDITY, 10**15)
    block = scene.send(scene.token, "mint(address,uint256)", pair.address, 1_996_000_000)
    thin = scene.ask_pool(pool_address=pair.address).quote
    assert thin is not None
    assert (decimal_of(thin.price_usd), thin.liquidity_usd, thin.reason) == ("0.25", 499.0, "thin_liquidity")
    block = scene.send(scene.usdc, "mint(address,uint256)", pair.address, 1_501_000_000)
    quote = scene.ask_pool(pool_address=pair.address).quote
    assert quote is not None
    assert (decimal_of(quote.price_usd), quote.liquidity_usd, quote.quality, quote.block) == (
        "0.25",
        2000.0,
        Quality.DERIVED,
        block,
    )
    pair.answer(LIQUIDITY, 999_000_000)  # liquidity counts twice its half in dollars, which is traded at this price
    shallow = scene.ask_pool(pool_address=pair.address).quote
    assert shallow is not None
    assert (shallow.reason, shallow.liquidity_usd) == ("thin_liquidity", 2000.0)
    pair.answer(LIQUIDITY, 0)
    assert (
        scene.ask_pool(pool_address=pair.address).attempt.reason == "unknown_pool"
    )  # it reverts, since nothing is stored
    pair.answer(LIQUIDITY, 10**15)
    pair.answer(GET_RESERVES, 5)
    assert scene.ask_pool(pool_address=pair.address).attempt.reason == "unknown_pool"


def test_changes_of_a_concentrated_pool_come_from_its_swaps(scene: Scene) -> None:
    pair = ConcentratedPool(scene)
    pair.answer(SLOT0, pair.root(Fraction(1)))
    pair.answer(LIQUIDITY, 10**15)
    pair.swap(pair.root(Fraction(9)), 10**15)
    hour = pair.swap(pair.root(Fraction(1, 4)), 10**15, fees=True)
    pair.swap(pair.root(Fraction(1)), 10**15)
    past = PoolPast(buys=3, sells=1, traded=Traded(unvalued=10_000_000), trades_block=7, hour_block=hour, day_block=0)
    quote = scene.ask_pool(past, pool_address=pair.address).quote
    assert quote is not None
    assert (quote.volume_24h_usd, quote.change_1h_percent, quote.change_24h_percent) == (10.0, 300.0, None)


def test_swaps_are_read_from_the_chain_and_become_the_prices_of_their_hours(scene: Scene, tmp_path: Path) -> None:
    pair = ConcentratedPool(scene)
    pair.answer(SLOT0, pair.root(Fraction(1)))
    pair.answer(LIQUIDITY, 10**15)
    now_s = int(scene.anvil.rpc.call("eth_getBlockByNumber", "latest", False)["timestamp"], 16)
    scene.anvil.rpc.call("evm_setNextBlockTimestamp", now_s // 3600 * 3600 + 3600)  # all of them within one hour
    prices = (Fraction(1), Fraction(9, 16), Fraction(10**6), Fraction(1, 3))
    blocks = [pair.swap(pair.root(usd), 10**15, fees=place == 1) for place, usd in enumerate(prices)]
    settings = scene.settings(pool_address=pair.address)

    async def read(connection: Any) -> Any:
        async with RpcPool([scene.anvil.url], chain_id=8453) as rpc:
            scene.anvil.rpc.call("anvil_mine", hex(3), hex(60))  # then the swaps are final, and their time has passed
            terms = await pool_terms(rpc, settings, pair.address, scene.token)
            assert isinstance(terms, PoolTerms)
            await ingest(rpc, connection, PoolReserves(pair.address, terms.kind), start_block=0, confirmations=0)
            return terms

    with Warehouse(tmp_path).connect() as connection:
        terms = asyncio.run(read(connection))
        assert terms.kind is CONCENTRATED
        record_pool(connection, pair.address, scene.token, terms, NOW)
        events = connection.execute(
            "select block_number from raw_chain__pool_reserves order by block_number"
        ).fetchall()
        connection.execute(
            "insert into out_holders__hourly (start, last_block, holders, new_holders, returned, left_holders, "
            "transfers, volume_raw) select date_trunc('hour', min(block_time)), 0, 0, 0, 0, 0, 0, '0' "
            "from raw_chain__pool_reserves"
        )
        record_bucket_prices(connection, scene.token)
        (candle,) = connection.execute(
            "select price_open, price_high, price_low, price_close, price_source, price_quality "
            "from out_holders__hourly"
        ).fetchall()
    assert [number for (number,) in events] == blocks
    assert candle == (
        *(pytest.approx(float(price), rel=1e-12) for price in (1, 10**6, prices[3], prices[3])),
        *candle[4:],
    )
    assert candle[4:] == ("pool", "derived")


WETH, TOKEN = "0x4200000000000000000000000000000000000006", "0x" + "70" * 20


@pytest.mark.parametrize("swapped", [False, True])
def test_a_pool_against_ether_takes_its_price_in_dollars(swapped: bool) -> None:
    sides = (WETH, TOKEN) if swapped else (TOKEN, WETH)
    token0, token1 = (words(int(side, 16)) for side in sides)
    found = read_pair(token0, token1, TOKEN)
    assert isinstance(found, Pair)
    assert pool.usd_of_other(found, chain_id=8453, usdc=None, eth_usd=None) == Refusal("no_eth_price")
    held = (5 * 10**18, 10_000 * 10**6) if swapped else (10_000 * 10**6, 5 * 10**18)
    balances = (words(10_000 * 10**6), words(5 * 10**18))
    reading = pool.read_reserves(PAIR, found, held, (6, 18), balances)
    assert isinstance(reading, pool.PoolReading)
    quote = pool.quote_of(reading, Decimal(3000), supply_raw="0x", pool="0x01", block=1, observed_at=NOW)
    assert isinstance(quote, Quote)
    assert (decimal_of(quote.price_usd), quote.liquidity_usd, quote.mcap_usd) == ("1.5", 30_000.0, None)


def test_a_trade_is_worth_what_its_pool_paid_whatever_the_price_is_since(tmp_path: Path) -> None:
    """A pool whose tokens and dollars have the product 16 * 10**12, and a trade before any price was read."""
    pool, alice, bob = ("0x" + digits * 20 for digits in ("cc", "aa", "bb"))
    rows = [
        (10, bob, pool, 7),
        (20, alice, pool, 1_000_000),  # 3 million tokens become 4, and 16/3 million dollars 4
        (30, pool, alice, 2_000_000),  # 2, and 8
        (40, alice, pool, 2_000_000),  # 4 and 4, before any price was read
    ]
    with Warehouse(tmp_path).connect() as connection:
        put_transfers(connection, rows, 50)
        for block, usd in ((15, "1.777777777777777777777778"), (25, "1"), (30, "4"), (31, "4")):
            connection.execute(
                "insert into raw_market__token_prices (token_address, source, fetched_at, latency_ms, quality, "
                "suspicious, price_usd, pool, block) values ('0x70', 'pool', ?, 1, 'derived', false, ?, ?, ?)",
                [block_time(block).replace(tzinfo=None), usd, pool, block],
            )
        past = pool_past(connection, pool, block_time(50))
    assert past.traded is not None
    worth = 7 * 16 / 9 + 4e6 / 3 + 4e6 + 4e6
    assert past.traded.usd(1.0) == pytest.approx(worth)


def test_trades_of_the_last_day_are_counted_from_transfers(tmp_path: Path) -> None:
    pool, alice = "0x" + "cc" * 20, "0x" + "aa" * 20
    rows = [
        (10, ZERO_ADDRESS, pool, 1 << 200),
        (20, pool, alice, 1 << 130),
        (30, alice, pool, 5),
        (31, pool, alice, 0),  # `transferFrom(pool, alice, 0)` needs no allowance
        (32, alice, pool, 0),
        (40, alice, alice, 9),
    ]
    with Warehouse(tmp_path).connect() as connection:
        put_transfers(connection, rows, 50)
        now = block_time(50)
        past = pool_past(connection, pool, now)
        assert (past.buys, past.sells, past.traded) == (1, 1, Traded(unvalued=float((1 << 130) + 5)))
        assert past.trades_block == 50
        late = pool_past(connection, pool, now + timedelta(hours=2))
        assert (late.buys, late.sells, late.traded, late.trades_block) == (None, None, None, None)
        assert late.hour_block == 40


@pytest.mark.parametrize(
    ("tip", "counted_to", "buys"),
    [
        ([], 50, 1),
        ([51, 52, 53], 53, 3),
        ([50, 51, 52], 52, 2),  # block 50 became final in this run, and its transfer is stored twice
        ([52, 53], 50, 1),  # finality is further behind than the tip reaches: block 51 is unknown
        ([49, 50], 50, 1),
    ],
)
def test_trades_are_counted_up_to_the_last_block_before_which_none_is_unknown(
    tmp_path: Path, tip: list[int], counted_to: int, buys: int
) -> None:
    pool, alice = "0x" + "cc" * 20, "0x" + "aa" * 20
    pending = [(50, pool, alice, 5), (51, pool, alice, 5), (53, pool, alice, 5)]
    with Warehouse(tmp_path).connect() as connection:
        put_transfers(connection, pending, 50)
        connection.execute("insert into raw_chain__tip_transfers select * from raw_chain__transfers")
        connection.execute("delete from raw_chain__transfers where block_number > 50")
        for block in tip:
            connection.execute(
                "insert into raw_chain__tip_blocks values (?, ?, '', ?)",
                [block, str(block), block_time(block).replace(tzinfo=None)],
            )
        past = pool_past(connection, pool, block_time(55))
    assert (past.trades_block, past.buys) == (counted_to, buys)
