"""The stand-ins that prices are read from: feeds and a pool, on a real EVM."""

import pytest
from eth_abi.abi import decode

from cli.demo.anvil import Anvil
from cli.demo.rpc import Rpc, RpcError, calldata
from cli.demo.write import deploy, mined_receipt

ROUND = ["uint80", "int256", "uint256", "uint256", "uint80"]


def send(rpc: Rpc, sender: str, to: str, signature: str, *values) -> dict:
    transaction = {"from": sender, "to": to, "data": calldata(signature, *values), "gas": hex(1_000_000)}
    return mined_receipt(rpc, rpc.call("eth_sendTransaction", transaction))


def read(rpc: Rpc, to: str, types: list[str], signature: str, *values) -> tuple:
    answer = rpc.call("eth_call", {"to": to, "data": calldata(signature, *values)}, "latest")
    return decode(types, bytes.fromhex(answer[2:]))


def test_a_feed_answers_with_its_latest_round_and_keeps_older_ones(anvil):
    owner, stranger, *_ = anvil.rpc.call("eth_accounts")
    feed = deploy(anvil.rpc, owner, "ChainlinkFeed", ["uint8", "string"], [8, "ETH / USD"])
    with pytest.raises(RpcError):
        read(anvil.rpc, feed, ROUND, "latestRoundData()")
    times = []
    for answer in (3_400 * 10**8, -1):
        receipt = send(anvil.rpc, owner, feed, "setAnswer(int256)", answer)
        times.append(int(anvil.rpc.call("eth_getBlockByNumber", receipt["blockNumber"], False)["timestamp"], 16))
    with pytest.raises(RpcError):
        send(anvil.rpc, stranger, feed, "setAnswer(int256)", 1)
    assert read(anvil.rpc, feed, ROUND, "latestRoundData()") == (2, -1, times[1], times[1], 2)
    assert read(anvil.rpc, feed, ROUND, "getRoundData(uint80)", 1) == (1, 3_400 * 10**8, times[0], times[0], 1)
    with pytest.raises(RpcError):
        read(anvil.rpc, feed, ROUND, "getRoundData(uint80)", 3)
    described = read(anvil.rpc, feed, ["uint8"], "decimals()") + read(anvil.rpc, feed, ["string"], "description()")
    assert described == (8, "ETH / USD")


def test_a_sequencer_feed_says_since_when_the_sequencer_is_as_it_is(anvil):
    owner, stranger, *_ = anvil.rpc.call("eth_accounts")
    feed = deploy(anvil.rpc, owner, "SequencerFeed")
    _, answer, since, _, _ = read(anvil.rpc, feed, ROUND, "latestRoundData()")
    assert answer == 0
    anvil.rpc.call("evm_increaseTime", 100)
    send(anvil.rpc, owner, feed, "setDown(bool)", False)
    unchanged = read(anvil.rpc, feed, ROUND, "latestRoundData()")
    assert (unchanged[2], unchanged[3] >= since + 100) == (since, True)
    send(anvil.rpc, owner, feed, "setDown(bool)", True)
    down = read(anvil.rpc, feed, ROUND, "latestRoundData()")
    assert (down[0], down[1], down[2] >= since + 100) == (2, 1, True)
    with pytest.raises(RpcError):
        send(anvil.rpc, stranger, feed, "setDown(bool)", False)


class Pool:
    """A pool of 1,000,000 tokens against 25,000 USDC, and a trader with some of both."""

    def __init__(self, anvil: Anvil) -> None:
        self.rpc = anvil.rpc
        self.owner, self.trader, *_ = anvil.rpc.call("eth_accounts")
        self.token = deploy(self.rpc, self.owner, "ServiceToken", ["string", "string"], ["Service", "SVC"])
        self.usdc = deploy(self.rpc, self.owner, "UsdcStandIn")
        self.pool = deploy(self.rpc, self.owner, "TokenPool", ["address", "address"], [self.usdc, self.token])
        for token, held in ((self.token, 1_000_000 * 10**18), (self.usdc, 25_000 * 10**6)):
            send(self.rpc, self.owner, token, "mint(address,uint256)", self.pool, held)
            send(self.rpc, self.owner, token, "mint(address,uint256)", self.trader, held)
            send(self.rpc, self.trader, token, "approve(address,uint256)", self.pool, 2**256 - 1)
        send(self.rpc, self.trader, self.pool, "sync()")

    @property
    def ordered(self) -> list[str]:
        return sorted([self.token, self.usdc])

    def reserves(self) -> dict[str, int]:
        held = read(self.rpc, self.pool, ["uint112", "uint112", "uint32"], "getReserves()")
        return dict(zip(self.ordered, held[:2], strict=True))

    def held(self, token: str, who: str) -> int:
        return read(self.rpc, token, ["uint256"], "balanceOf(address)", who)[0]


def test_a_pool_reads_like_a_v2_pair_and_swaps_by_the_constant_product(anvil):
    pool = Pool(anvil)
    rpc = pool.rpc
    tokens = read(rpc, pool.pool, ["address"], "token0()") + read(rpc, pool.pool, ["address"], "token1()")
    assert list(tokens) == pool.ordered
    before = pool.reserves()
    assert before == {pool.token: 1_000_000 * 10**18, pool.usdc: 25_000 * 10**6}

    paid = 100 * 10**6
    expected = paid * 997 * before[pool.token] // (before[pool.usdc] * 1000 + paid * 997)
    swap = "swap(address,uint256,uint256,address)"
    with pytest.raises(RpcError):
        send(rpc, pool.trader, pool.pool, swap, pool.usdc, paid, expected + 1, pool.trader)
    receipt = send(rpc, pool.trader, pool.pool, swap, pool.usdc, paid, expected, pool.owner)
    assert pool.held(pool.token, pool.owner) == expected
    after = pool.reserves()
    assert after == {pool.token: before[pool.token] - expected, pool.usdc: before[pool.usdc] + paid}
    assert after[pool.token] * after[pool.usdc] >= before[pool.token] * before[pool.usdc]
    emitters = [log["address"] for log in receipt["logs"]]
    assert (emitters.count(pool.pool), emitters.count(pool.token), emitters.count(pool.usdc)) == (2, 1, 1)
    for refused in (
        (pool.pool, 1, 0, pool.trader),
        (pool.usdc, 0, 0, pool.trader),
        (pool.usdc, 10**15, 0, pool.trader),
    ):
        with pytest.raises(RpcError):
            send(rpc, pool.trader, pool.pool, swap, *refused)


def test_only_the_owner_takes_liquidity_out_and_can_take_all_of_it(anvil):
    pool = Pool(anvil)
    all_of_it = [pool.reserves()[token] for token in pool.ordered]
    with pytest.raises(RpcError):
        send(pool.rpc, pool.trader, pool.pool, "withdraw(uint256,uint256,address)", *all_of_it, pool.trader)
    send(pool.rpc, pool.owner, pool.pool, "withdraw(uint256,uint256,address)", *all_of_it, pool.owner)
    assert [pool.held(token, pool.pool) for token in pool.ordered] == [0, 0]
    assert set(pool.reserves().values()) == {0}
