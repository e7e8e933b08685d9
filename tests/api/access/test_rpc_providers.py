import asyncio
import time

import pytest
from fake_providers import FakeChain, Provider, transfer
from patience import HANG_S, slowness

from api.access.rpc import CHAIN_ID_FOR_S, Providers
from contracts.access.provider_views import Silence, View

USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
PAYER, TREASURY = "0x" + "aa" * 20, "0x" + "7e" * 20


def chain_with_payment() -> tuple[FakeChain, str]:
    chain = FakeChain()
    transaction = chain.send([transfer(USDC, PAYER, TREASURY, 5_000_042)])
    chain.mine(8)
    return chain, transaction


def views_of(*providers: Provider, transaction: str, **options) -> list[View | Silence]:
    return asyncio.run(Providers([provider.url for provider in providers], **options).views(transaction))


def test_a_provider_is_asked_six_things_about_a_transaction_and_its_chain_once_a_minute():
    chain, transaction = chain_with_payment()
    now = [0.0]
    with Provider(chain) as node:
        providers = Providers([node.url, node.url], monotonic=lambda: now[0])
        (view,) = asyncio.run(providers.views(transaction))
        assert isinstance(view, View)
        assert len(node.calls) == 6
        assert (view.chain_id, view.head.number, view.safe, view.finalized) == (8453, 9, 4, 3)
        assert view.receipt.block_hash == view.block.hash
        assert (view.receipt.status, view.receipt.logs[0].address) == ("0x1", USDC)
        assert asyncio.run(providers.views("0x" + "ab" * 32)) == [View(view.provider, 8453)]
        assert len(node.asked("eth_chainId")) == 1
        now[0] = CHAIN_ID_FOR_S + 1
        asyncio.run(providers.views("0x" + "ab" * 32))
        assert len(node.asked("eth_chainId")) == 2


@pytest.mark.parametrize(
    "mode", ["timeout", "429", "500", "garbage", "empty", "cut", "no_result", "wrong_types", "huge", "deep"]
)
def test_a_faulty_provider_is_silent_within_bounds_and_hides_no_other(mode, caplog):
    chain, transaction = chain_with_payment()
    with Provider(chain) as honest, Provider(chain, mode) as faulty:
        began = time.monotonic()
        # short only where the time-out is waited for: on a busy machine the honest one takes longer too
        timeout_s = 2.0 * slowness() if mode == "timeout" else HANG_S
        heard, silent = views_of(
            honest, faulty, transaction=transaction, timeout_s=timeout_s, all_calls_timeout_s=2 * timeout_s
        )
        assert time.monotonic() - began < HANG_S
    assert isinstance(heard, View)
    assert isinstance(silent, Silence)
    assert silent.provider in faulty.url
    said = caplog.text + repr(silent) + repr(heard)
    assert "a-secret-key" not in said
    assert silent.provider in caplog.text


def test_a_provider_at_a_closed_port_is_silent():
    assert asyncio.run(Providers(["http://127.0.0.1:9/key"]).views("0x" + "ab" * 32)) == [
        Silence("127.0.0.1:9", "ConnectError")
    ]


def test_an_unknown_block_tag_is_ignored_and_the_head_is_still_reported():
    chain, transaction = chain_with_payment()

    def no_tags(method, params, truth):
        return None if method == "eth_getBlockByNumber" and params[0] in ("safe", "finalized") else truth

    with Provider(chain, "lying") as node:
        node.lie = no_tags
        (view,) = views_of(node, transaction=transaction)
    assert isinstance(view, View)
    assert (view.safe, view.finalized, view.head.number) == (None, None, 9)


@pytest.mark.parametrize(
    "lie",
    [
        lambda receipt: receipt | {"transactionHash": "0x" + "cd" * 32},
        lambda receipt: receipt | {"blockHash": "0x12"},
        lambda receipt: receipt | {"logs": None},
        lambda receipt: receipt | {"logs": [{**receipt["logs"][0], "data": "0xzz"}]},
        lambda receipt: receipt | {"logs": [{**receipt["logs"][0], "blockHash": "0x" + "cd" * 32}]},
        lambda receipt: receipt | {"logs": [{**receipt["logs"][0], "transactionHash": "0x" + "cd" * 32}]},
        lambda receipt: receipt | {"logs": [{**receipt["logs"][0], "topics": ["0x" + "00" * 32] * 5}]},
        lambda receipt: receipt | {"logs": [{**receipt["logs"][0], "removed": "no"}]},
        lambda receipt: receipt | {"logs": ["log"]},
        lambda receipt: receipt | {"status": 1},
        lambda receipt: receipt | {"blockNumber": hex(2**37)},
        lambda receipt: "receipt",
    ],
)
def test_an_answer_that_is_no_receipt_of_the_transaction_counts_as_missing(lie):
    chain, transaction = chain_with_payment()
    with Provider(chain, "lying") as node:
        node.lie = lambda method, _, truth: lie(truth) if method == "eth_getTransactionReceipt" else truth
        (answer,) = views_of(node, transaction=transaction)
    assert isinstance(answer, Silence)
