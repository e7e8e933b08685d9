import pytest

from cli.demo.anvil import Anvil
from cli.demo.happenings import MAKER_TOKENS_RAW, NEWEST_USD, POOL_TOKENS_RAW, liquidity
from cli.demo.history import LAUNCH, Movement, balances_after, plan_history
from cli.demo.record import RECORDING_PATH, State, chain_of, load_recording, packed, record, unpacked_logs
from cli.demo.recorded import RecordedChain, RpcFault
from cli.demo.rpc import calldata
from cli.demo.write import DemoContracts, deploy, mined_receipt, move_calldata
from contracts.evm.codec import TRANSFER_TOPIC
from contracts.token.holders import ZERO_ADDRESS

ALICE, BOB = "0x" + "01" * 20, "0x" + "02" * 20


def test_the_committed_recording_is_small_and_is_reproduced_byte_for_byte():
    committed = RECORDING_PATH.read_bytes()
    assert len(committed) < 1_000_000
    assert record() == committed


def test_the_recorded_chain_answers_with_the_planned_history():
    recording = load_recording()
    contracts = DemoContracts(**recording.contracts)
    chain = chain_of(recording)
    expected = balances_after(
        movement for block in plan_history(contracts.bidwall_address) for movement in block.movements
    )
    expected[LAUNCH] -= sum(movement.value_raw for movement in liquidity(contracts.scene([ZERO_ADDRESS] * 10)))
    finalized = chain.answer("eth_getBlockByNumber", ["finalized", False])["number"]

    def read(data: str) -> int:
        return int(chain.answer("eth_call", [{"to": contracts.token_address, "data": data}, finalized]), 16)

    assert read(calldata("totalSupply()")) == sum(expected.values()) + POOL_TOKENS_RAW + MAKER_TOKENS_RAW
    assert all(read(calldata("balanceOf(address)", address)) == held for address, held in list(expected.items())[:300])
    query = {"address": contracts.token_address, "topics": [TRANSFER_TOPIC], "fromBlock": "0x0", "toBlock": finalized}
    assert len(chain.answer("eth_getLogs", [query])) >= 20_000
    assert int(chain.answer("eth_getBalance", [contracts.bidwall_address, finalized]), 16) > 0


def test_the_recorded_chain_answers_for_the_state_that_it_holds_and_for_no_other():
    recording = load_recording()
    contracts = DemoContracts(**recording.contracts)
    chain = chain_of(recording)
    trusted = contracts.scene(["0x" + "0" * 39 + str(number) for number in range(10)]).agents[-1]

    def ask(to: str, signature: str, *values, tag: str = "finalized") -> str:
        return chain.answer("eth_call", [{"to": to, "data": calldata(signature, *values)}, tag])

    meets = ask(contracts.trust_registry_address, "meetsTrustThreshold(address,uint256)", trusted, 85)
    assert int(meets[2:66], 16) == 1
    price = int(ask(contracts.chainlink_feed_address, "latestRoundData()")[66:130], 16)
    assert price == round(NEWEST_USD * 10**8)
    assert int(ask(contracts.pool_address, "token0()"), 16) == int(contracts.token_address, 16)
    for signature, values, tag in (
        ("meetsTrustThreshold(address,uint256)", (trusted, 84), "finalized"),
        ("meetsTrustThreshold(address,uint256)", (trusted, 85), "0x10"),
        ("owner()", (), "finalized"),
    ):
        with pytest.raises(RpcFault, match="missing trie node"):
            ask(contracts.trust_registry_address, signature, *values, tag=tag)
    for address, tag in ((contracts.bidwall_address, "0x10"), (trusted, "finalized")):
        with pytest.raises(RpcFault, match="missing trie node"):
            chain.answer("eth_getBalance", [address, tag])


@pytest.fixture
def small_history(anvil: Anvil) -> tuple[list[dict], list[dict], DemoContracts]:
    """Returns blocks and logs of an anvil with two blocks of demo transfers."""
    owner = anvil.rpc.call("eth_accounts")[0]
    token = deploy(anvil.rpc, owner, "DemoToken", ["string", "string"], ["Demo", "DEMO"])
    for movements in (
        [Movement(ZERO_ADDRESS, ALICE, 2**200), Movement(ALICE, BOB, 0)],
        [Movement(ALICE, ALICE, 5), Movement(ALICE, BOB, 2**199), Movement(BOB, ZERO_ADDRESS, 1)],
    ):
        transaction = {"from": owner, "to": token, "data": move_calldata(movements), "gas": hex(1_000_000)}
        mined_receipt(anvil.rpc, anvil.rpc.call("eth_sendTransaction", transaction))
    head = int(anvil.rpc.call("eth_blockNumber"), 16)
    blocks = anvil.rpc.batch([("eth_getBlockByNumber", [hex(number), False]) for number in range(head + 1)])
    logs = anvil.rpc.call("eth_getLogs", {"fromBlock": "0x0", "toBlock": hex(head)})
    return blocks, logs, DemoContracts(token, *[ZERO_ADDRESS] * 8, token_start_block=1)  # type: ignore[misc]


def test_packing_and_unpacking_gives_the_rows_of_the_node_back(small_history):
    blocks, logs, contracts = small_history
    assert unpacked_logs(packed(contracts, State(0, {}, []), blocks, logs)) == logs


def test_a_recorded_chain_agrees_with_the_real_node_on_blooms_calls_and_receipts(anvil, small_history):
    blocks, logs, contracts = small_history
    token, head = contracts.token_address, blocks[-1]["number"]
    chain = RecordedChain(chain_id=8453, token=token, logs=logs, first_block=1, head=int(head, 16))
    for block in blocks:
        ours = chain.answer("eth_getBlockByNumber", [block["number"], False])
        assert ours["logsBloom"] == block["logsBloom"]
        if int(block["logsBloom"], 16):
            assert ours["hash"] == block["hash"]
            real = anvil.rpc.call("eth_getBlockReceipts", block["number"])
            ours_receipts = chain.answer("eth_getBlockReceipts", [block["number"]])
            assert [receipt["logs"] for receipt in ours_receipts] == [receipt["logs"] for receipt in real]
    for data in (calldata("totalSupply()"), *(calldata("balanceOf(address)", who) for who in (ALICE, BOB))):
        request = [{"to": token, "data": data}, head]
        assert chain.answer("eth_call", request) == anvil.rpc.call("eth_call", *request)
