import json
import time

import httpx
import pytest
from patience import HANG_S
from recorded_material import RecordedMaterial

from cli.demo.recorded import (
    RecordedChain,
    RecordedNode,
    RpcFault,
    TokenMetadata,
    transfer_log,
)
from contracts.evm.codec import TRANSFER_TOPIC
from contracts.token.holders import ZERO_ADDRESS

TOKEN = "0x" + "aa" * 20
ALICE = "0x" + "01" * 20
BOB = "0x" + "02" * 20


def small_chain(**options) -> RecordedChain:
    logs = [
        transfer_log(TOKEN, 10, 0, ZERO_ADDRESS, ALICE, 100),
        transfer_log(TOKEN, 12, 0, ALICE, BOB, 30),
        transfer_log(TOKEN, 12, 1, BOB, BOB, 5),
        transfer_log(TOKEN, 20, 0, BOB, ZERO_ADDRESS, 10),
    ]
    return RecordedChain(**{"chain_id": 8453, "token": TOKEN, "logs": logs, "first_block": 9, "head": 30, **options})


def call(chain: RecordedChain, data: str, block: int) -> str:
    return chain.answer("eth_call", [{"to": TOKEN, "data": data}, hex(block)])


def balance_of(chain: RecordedChain, address: str, block: int) -> int:
    return int(call(chain, "0x70a08231" + address[2:].rjust(64, "0"), block), 16)


def supply(chain: RecordedChain, block: int) -> int:
    return int(call(chain, "0x18160ddd", block), 16)


def test_headers_form_a_chain_of_parent_hashes_and_times():
    chain = small_chain(head_time=1000)
    headers = [chain.answer("eth_getBlockByNumber", [hex(n), False]) for n in range(31)]
    assert [h["parentHash"] for h in headers[1:]] == [h["hash"] for h in headers[:-1]]
    assert len({h["hash"] for h in headers}) == 31
    assert (int(headers[30]["timestamp"], 16), int(headers[29]["timestamp"], 16)) == (1000, 998)
    assert chain.answer("eth_getBlockByNumber", ["0x1f", False]) is None


def test_tags_name_blocks_below_the_head():
    chain = small_chain()
    numbers = {
        tag: int(chain.answer("eth_getBlockByNumber", [tag, False])["number"], 16)
        for tag in ("latest", "safe", "finalized", "earliest")
    }
    assert numbers == {"latest": 30, "safe": 29, "finalized": 28, "earliest": 0}
    chain.advance_to(35)
    assert chain.answer("eth_blockNumber", []) == "0x23"


def test_a_node_without_finality_tags_says_so():
    with pytest.raises(RpcFault, match="finalized block not found"):
        small_chain(finalized_lag=None).answer("eth_getBlockByNumber", ["finalized", False])


def test_a_block_is_found_by_its_hash_with_and_without_logs():
    chain = small_chain()
    for number in (12, 13):
        header = chain.answer("eth_getBlockByNumber", [hex(number), False])
        assert chain.answer("eth_getBlockByHash", [header["hash"], False]) == header
    assert chain.answer("eth_getBlockByHash", ["0x" + "0" * 64, False]) is None


def test_balances_and_supply_follow_the_transfers_block_by_block():
    chain = small_chain()
    assert [balance_of(chain, ALICE, n) for n in (9, 10, 11, 12, 30)] == [0, 100, 100, 70, 70]
    assert [balance_of(chain, BOB, n) for n in (11, 12, 19, 20)] == [0, 30, 30, 20]
    assert [supply(chain, n) for n in (9, 10, 19, 20)] == [0, 100, 100, 90]


def test_the_zero_address_minting_to_itself_does_not_change_the_supply():
    logs = [
        transfer_log(TOKEN, 1, 0, ZERO_ADDRESS, ZERO_ADDRESS, 1000),
        transfer_log(TOKEN, 1, 1, ZERO_ADDRESS, BOB, 7),
    ]
    assert supply(small_chain(logs=logs, first_block=1), 5) == 7


def test_metadata_calls_are_abi_encoded():
    chain = small_chain(metadata=TokenMetadata("A token of more than thirty-two bytes", "TKN", 6))
    assert int(call(chain, "0x313ce567", 30), 16) == 6
    name = bytes.fromhex(call(chain, "0x06fdde03", 30)[2:])
    assert name[64 : 64 + name[63]] == b"A token of more than thirty-two bytes"
    assert len(name) == 128
    assert bytes.fromhex(call(chain, "0x95d89b41", 30)[2:])[64:67] == b"TKN"


def test_calls_fail_as_on_a_node_without_state():
    with pytest.raises(RpcFault, match="execution reverted"):
        supply(small_chain(has_state=False), 30)
    shallow = small_chain(state_depth=5)
    assert supply(shallow, 26) == 90
    with pytest.raises(RpcFault, match="missing trie node"):
        supply(shallow, 25)
    with pytest.raises(RpcFault, match="header not found"):
        supply(small_chain(), 31)


def test_logs_are_filtered_by_range_address_and_topic():
    chain = small_chain()

    def positions(**query) -> list[tuple[int, int]]:
        rows = chain.answer("eth_getLogs", [query])
        return [(int(row["blockNumber"], 16), int(row["logIndex"], 16)) for row in rows]

    everything = {"fromBlock": "0x0", "toBlock": "latest"}
    assert positions(**everything) == [(10, 0), (12, 0), (12, 1), (20, 0)]
    assert positions(fromBlock="0xb", toBlock="0x13", address=TOKEN.upper().replace("0X", "0x")) == [(12, 0), (12, 1)]
    assert positions(**everything, address=[ALICE]) == []
    assert positions(**everything, topics=[TRANSFER_TOPIC, None, "0x" + ALICE[2:].rjust(64, "0")]) == [(10, 0)]
    assert positions(**everything, topics=[[TRANSFER_TOPIC], "0x" + BOB[2:].rjust(64, "0")]) == [(12, 1), (20, 0)]
    assert positions(blockHash=chain.block_hash(12)) == [(12, 0), (12, 1)]


def test_a_log_query_beyond_the_head_is_answered_silently():
    chain = small_chain(head=11)
    assert len(chain.answer("eth_getLogs", [{"fromBlock": "0x0", "toBlock": "0xffff"}])) == 4
    assert len(chain.answer("eth_getLogs", [{"fromBlock": "0x0", "toBlock": "latest"}])) == 1


def test_faulty_log_queries_get_the_errors_of_real_nodes():
    with pytest.raises(RpcFault, match="query returned more than 3 results") as too_many:
        small_chain(max_results=3).answer("eth_getLogs", [{"fromBlock": "0x0", "toBlock": "latest"}])
    assert too_many.value.code == -32005
    with pytest.raises(RpcFault, match="unknown block"):
        small_chain().answer("eth_getLogs", [{"blockHash": "0x" + "12" * 32}])
    with pytest.raises(RpcFault, match="invalid block range"):
        small_chain().answer("eth_getLogs", [{"fromBlock": "0x2", "toBlock": "0x1"}])
    with pytest.raises(RpcFault, match="invalid params"):
        small_chain().answer("eth_getLogs", [])
    with pytest.raises(RpcFault, match="eth_nothing"):
        small_chain().answer("eth_nothing", [])


def test_a_reorg_changes_hashes_from_its_block_on_and_may_replace_logs():
    chain = small_chain()
    before = {n: chain.block_hash(n) for n in (11, 12, 13, 30)}
    chain.reorg(12, "fork")
    assert chain.block_hash(11) == before[11]
    assert all(chain.block_hash(n) != before[n] for n in (12, 13, 30))
    assert chain.answer("eth_getBlockByHash", [before[13], False]) is None
    rows = chain.answer("eth_getLogs", [{"fromBlock": "0xc", "toBlock": "0xc"}])
    assert {row["blockHash"] for row in rows} == {chain.block_hash(12)}
    chain.reorg(12, "second fork", [transfer_log(TOKEN, 13, 0, ALICE, BOB, 1)])
    assert (balance_of(chain, ALICE, 30), balance_of(chain, BOB, 30), supply(chain, 30)) == (99, 1, 100)


def test_receipts_group_the_logs_of_a_block_by_transaction():
    one = {"transactionHash": "0x" + "11" * 32, "transactionIndex": "0x0"}
    logs = [transfer_log(TOKEN, 3, index, ZERO_ADDRESS, BOB, 1, **one) for index in (0, 1)]
    logs.append(transfer_log(TOKEN, 3, 2, ZERO_ADDRESS, BOB, 1))
    receipts = small_chain(logs=logs, first_block=1).answer("eth_getBlockReceipts", ["0x3"])
    assert [len(receipt["logs"]) for receipt in receipts] == [2, 1]


def test_the_bloom_is_set_for_blocks_with_logs_only():
    header = small_chain().answer("eth_getBlockByNumber", ["0xa", False])
    bits = int(header["logsBloom"], 16)
    assert 0 < bits.bit_count() <= 12
    empty = small_chain().answer("eth_getBlockByNumber", ["0xb", False])
    assert int(empty["logsBloom"], 16) == 0
    assert "logsBloom" not in small_chain(logs_bloom=False).answer("eth_getBlockByNumber", ["0xa", False])


def test_the_node_answers_single_calls_batches_and_nonsense():
    with RecordedNode(small_chain()) as node, httpx.Client(base_url=node.url, timeout=HANG_S) as client:
        one = client.post("/", json={"jsonrpc": "2.0", "id": 7, "method": "eth_chainId", "params": []}).json()
        assert one == {"jsonrpc": "2.0", "id": 7, "result": "0x2105"}
        batch = client.post(
            "/",
            json=[
                {"jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": []},
                {"jsonrpc": "2.0", "id": 2, "method": "eth_nothing", "params": []},
            ],
        ).json()
        assert (batch[0]["result"], batch[1]["error"]["code"]) == ("0x1e", -32601)
        assert client.post("/", content=b"{").json()["error"]["code"] == -32700


def test_the_hum_history_is_served_whole_within_a_second_over_eight_million_sparse_blocks(
    recorded_material: RecordedMaterial,
):
    logs = list(recorded_material.json_lines("data/hum/hum_transfer_logs.rpc.jsonl.gz"))
    token = logs[0]["address"]
    chain = RecordedChain(chain_id=1, token=token, logs=logs, first_block=8_345_679, head=16_273_318)
    query = {"address": token, "fromBlock": hex(8_345_679), "toBlock": "latest", "topics": [TRANSFER_TOPIC]}
    with RecordedNode(chain) as node, httpx.Client(timeout=HANG_S) as client:
        started = time.process_time()
        body = {"jsonrpc": "2.0", "id": 1, "method": "eth_getLogs", "params": [query]}
        content = client.post(node.url, json=body).content
        cpu_s = time.process_time() - started
        supply_call = {"jsonrpc": "2.0", "id": 2, "method": "eth_call", "params": [{"to": token, "data": "0x18160ddd"}]}
        total = int(client.post(node.url, json=supply_call).json()["result"], 16)
    assert len(json.loads(content)["result"]) == 30_389
    assert total == 1_084_734_273_380_000_000_000_000_000
    assert cpu_s < 1
