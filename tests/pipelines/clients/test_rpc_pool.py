import asyncio
import logging
import time

import pytest
from fault_node import Fault, FaultNode, Reply, always, rpc_error, rpc_result, silent_node
from ingest_helpers import CHAIN_ID, TOKEN, pool_of, small_chain

from contracts.errors import ChainMismatch, RpcUnavailable
from contracts.evm.codec import RpcError, TooLarge
from pipelines.clients.rpc import RpcPool, host_of, numbered

CHAIN = small_chain([])
DEAD = "http://127.0.0.1:1/a-secret-key"


def ask(*urls, method="eth_blockNumber", params=(), **options):
    async def run():
        async with pool_of(*urls, **options) as pool:
            return await pool.call(method, list(params))

    return asyncio.run(run())


def test_a_dead_node_is_stood_in_for_by_the_next():
    with FaultNode(CHAIN) as node:
        assert ask(DEAD, node.url) == hex(200)


def test_if_all_nodes_are_dead_the_error_has_a_cure_and_no_key():
    with pytest.raises(RpcUnavailable) as raised:
        ask(DEAD, patience_s=3.0)
    assert "127.0.0.1:1" in str(raised.value)
    assert "SVC_RPC_URLS" in raised.value.cure
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(Reply(b"<html>bad gateway</html>", 502), id="502"),
        pytest.param(Reply(b'{"jsonrpc":"2.0","id":1,"res'), id="truncated json"),
        pytest.param(Reply(b"\xff\xfe garbage"), id="garbage"),
        pytest.param(Reply(cut=10), id="a body cut off"),
        pytest.param(Reply(b"[]"), id="an array"),
        pytest.param(Reply(b""), id="nothing"),
    ],
)
def test_a_broken_answer_is_requested_again(reply):
    with FaultNode(CHAIN, Fault("eth_blockNumber", always(reply), times=2)) as node:
        assert ask(node.url) == hex(200)
        assert len(node.asked("eth_blockNumber")) == 3


def test_a_transient_error_inside_an_http_200_is_retried():
    with FaultNode(CHAIN, Fault("eth_blockNumber", rpc_error(-32603, "internal error"), times=1)) as node:
        assert ask(node.url) == hex(200)


def test_a_slow_node_is_abandoned_for_a_fast_one():
    slow = Fault("eth_blockNumber", always(Reply(delay_s=300.0)))
    with FaultNode(CHAIN, slow) as sleeper, FaultNode(CHAIN) as node:
        started = time.monotonic()
        assert ask(sleeper.url, node.url, timeout_s=1.0, patience_s=250.0) == hex(200)
        assert time.monotonic() - started < 250


def test_a_silent_node_is_not_waited_for_once_another_has_answered_and_is_asked_last_from_then_on(caplog):
    known: dict[str, float] = {}

    async def run(*urls, **options):
        started = time.monotonic()
        async with pool_of(*urls, late_until=known, **options) as pool:
            said = await pool.each(lambda node: node.call("eth_blockNumber", []), enough=lambda _: True)
            assert await pool.call("eth_blockNumber", []) == hex(200)
        return list(said.values()), time.monotonic() - started

    with silent_node() as silent, FaultNode(CHAIN) as node:
        said, took_s = asyncio.run(run(silent, node.url, timeout_s=300.0, grace_s=0.5))
        assert said == [hex(200)] and 0.5 <= took_s < 150
        assert silent.removeprefix("http://") in caplog.text
        said, took_s = asyncio.run(run(silent, node.url, timeout_s=300.0, grace_s=200.0))  # the next pool knows it
        assert said == [hex(200)] and took_s < 150


def test_a_node_that_fails_is_not_waited_for_once_another_has_answered():
    async def run():
        async with pool_of(DEAD, node.url, grace_s=200.0) as pool:
            started = time.monotonic()
            said = await pool.each(lambda each: each.call("eth_blockNumber", []), enough=lambda _: True)
            return list(said.values()), time.monotonic() - started

    with FaultNode(CHAIN) as node:
        said, took_s = asyncio.run(run())
    assert said == [hex(200)] and took_s < 150


def test_retry_after_is_obeyed():
    limited = Fault("eth_blockNumber", rpc_error(-1, "slow down", status=429, Retry_After="1"), times=1)
    with FaultNode(CHAIN, limited) as node:
        started = time.monotonic()
        assert ask(node.url) == hex(200)
        assert time.monotonic() - started >= 1.0


def test_a_limit_without_retry_after_backs_off_and_continues():
    with FaultNode(CHAIN, Fault("eth_blockNumber", always(Reply(b"", 429)), times=3)) as node:
        assert ask(node.url) == hex(200)


def test_a_limit_sends_the_work_to_another_node_at_once():
    limited = Fault("eth_blockNumber", rpc_error(-1, "slow down", status=429, Retry_After="300"))
    with FaultNode(CHAIN, limited) as first, FaultNode(CHAIN) as second:
        started = time.monotonic()
        assert ask(first.url, second.url) == hex(200)
        assert time.monotonic() - started < 250


def test_a_limit_halves_how_much_is_sent_to_a_node_at_once():
    async def run(url):
        async with pool_of(url) as pool:
            await asyncio.gather(*(pool.call("eth_blockNumber", []) for _ in range(12)))
            return pool.endpoints[0]

    limited = Fault("eth_blockNumber", rpc_error(-1, "slow down", status=429, Retry_After="0"), times=3)
    with FaultNode(CHAIN, limited) as node:
        endpoint = asyncio.run(run(node.url))
        assert not endpoint.busy
        assert len(node.asked("eth_blockNumber")) == 15


def test_a_node_of_another_chain_is_left_out():
    with FaultNode(CHAIN, Fault("eth_chainId", rpc_result("0x1"))) as other, FaultNode(CHAIN) as node:
        assert ask(other.url, node.url) == hex(200)
        assert not other.asked("eth_blockNumber")


def test_only_nodes_of_another_chain_is_a_mismatch():
    with FaultNode(CHAIN, Fault("eth_chainId", rpc_result("0x1"))) as node:
        with pytest.raises(ChainMismatch, match="chain 1") as raised:
            ask(node.url)
        assert "secret" not in str(raised.value)


def test_a_revert_is_an_answer_and_raised_at_once():
    reverted = Fault("eth_call", rpc_error(3, "execution reverted"))
    with FaultNode(CHAIN, reverted) as node, FaultNode(CHAIN) as other:
        with pytest.raises(RpcError) as raised:
            ask(node.url, other.url, method="eth_call", params=[{"to": TOKEN, "data": "0x"}, "latest"])
        assert raised.value.reverted
        assert not other.asked("eth_call")


def test_a_request_that_one_node_refuses_is_sent_to_another():
    pruned = Fault("eth_getBalance", rpc_error(-32000, "missing trie node 0x1, state is not available"))
    with FaultNode(CHAIN, pruned) as first, FaultNode(CHAIN) as second:
        assert ask(first.url, second.url, method="eth_getBalance", params=[TOKEN, "0x1"]) == "0x0"
        with pytest.raises(RpcError, match="missing trie node"):
            ask(first.url, method="eth_getBalance", params=[TOKEN, "0x1"])


def test_a_node_that_wants_a_key_is_left_and_named():
    locked = Fault("eth_chainId", always(Reply(b"Must be authenticated!", 401)))
    with FaultNode(CHAIN, locked) as first, FaultNode(CHAIN) as second:
        assert ask(first.url, second.url) == hex(200)
        with pytest.raises(RpcUnavailable, match="HTTP 401"):
            ask(first.url)


def test_a_too_large_answer_is_for_the_caller_to_fix():
    refusal = Fault("eth_getLogs", rpc_error(-32602, "block range too large"))
    with FaultNode(CHAIN, refusal) as node, pytest.raises(RpcError) as raised:
        ask(node.url, method="eth_getLogs", params=[{"fromBlock": "0x0", "toBlock": "0x9"}])
    assert isinstance(raised.value.failure, TooLarge)


def test_a_batch_holds_the_error_of_each_call():
    async def run(url):
        async with pool_of(url) as pool:
            return await pool.batch([("eth_blockNumber", []), ("eth_nothing", []), ("eth_chainId", [])])

    with FaultNode(CHAIN) as node:
        head, refused, chain_id = asyncio.run(run(node.url))
    assert (head, chain_id) == (hex(200), hex(CHAIN_ID))
    assert isinstance(refused, RpcError)


def test_a_node_without_batches_is_asked_one_by_one():
    async def run(url):
        async with pool_of(url) as pool:
            await pool.call("eth_chainId", [])
            node.faults.append(Fault("eth_blockNumber", rpc_error(-32600, "batch requests are not supported"), times=1))
            return await pool.batch([("eth_blockNumber", []), ("eth_chainId", [])])

    with FaultNode(CHAIN) as node:
        assert asyncio.run(run(node.url)) == [hex(200), hex(CHAIN_ID)]


def test_without_an_rpc_url_the_pool_is_unavailable():
    with pytest.raises(RpcUnavailable):
        ask()


def test_keys_in_urls_reach_no_log(caplog):
    caplog.set_level(logging.DEBUG)
    with FaultNode(CHAIN, Fault("eth_chainId", rpc_result("0x1"))) as other, FaultNode(CHAIN) as node:
        ask(DEAD, other.url, node.url)
    assert "secret" not in caplog.text


def test_web3_calls_go_through_the_pool():
    from web3 import AsyncWeb3

    from pipelines.clients.rpc_web3 import PoolProvider

    async def run(*urls):
        async with RpcPool(urls, chain_id=CHAIN_ID) as pool:
            return await AsyncWeb3(PoolProvider(pool)).eth.block_number

    with FaultNode(CHAIN) as node:
        assert asyncio.run(run(DEAD, node.url)) == 200


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://mainnet.base.org", "mainnet.base.org"),
        ("https://name:a-password@node.example:8545/v2/a-key?token=b", "node.example:8545"),
        (
            "https://still-frosty-water.base-mainnet.quiknode.pro/0123456789abcdef",
            "still-frosty-water.base-mainnet.quiknode.pro",
        ),
        ("https://0f1e2d3c4b5a69788796a5b4c3d2e1f0.base.rpc.example/", "***.base.rpc.example"),
        ("http://[::1]:8545", "::1:8545"),
    ],
)
def test_the_host_of_a_node_holds_no_credential(url, host):
    assert host_of(url) == host


def test_two_addresses_of_one_host_are_told_apart():
    assert numbered(["a", "b", "a", "a"]) == ["a", "b", "a#2", "a#3"]
    with FaultNode(CHAIN) as node:
        pool = pool_of(node.url, node.url + "/other")
        assert [endpoint.host for endpoint in pool.endpoints] == [host_of(node.url), host_of(node.url) + "#2"]
