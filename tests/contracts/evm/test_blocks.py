"""Hashes of headers and roots of receipts, recomputed from recorded blocks, published vectors and a running chain."""

from typing import Any

import pytest
from recorded_material import RecordedMaterial

from cli.demo.anvil import Anvil
from cli.demo.write import mined_receipt
from contracts.evm.blocks import BlockInvalid, block_hash, header_rlp, read_header_rlp, receipt_rlp, receipts_root
from contracts.evm.codec import bloom_may_hold, keccak256
from contracts.evm.trie import EMPTY_ROOT

NO_BLOOM = "0x" + "00" * 256
ALICE, BOB = "0x" + "a1" * 20, "0x" + "b0" * 20

RECEIPT: dict[str, Any] = {
    "type": "0x1",
    "status": "0x1",
    "cumulativeGasUsed": "0x18eb4",
    "logsBloom": NO_BLOOM[:-1] + "1",
    "logs": [{"address": "0x" + "00" * 20, "topics": [], "data": "0x"}],
}
DEPOSIT: dict[str, Any] = {
    "type": "0x7e",
    "status": "0x1",
    "cumulativeGasUsed": "0xb741",
    "logsBloom": NO_BLOOM,
    "logs": [],
    "depositNonce": "0x3d3bbf",
}


@pytest.fixture(scope="module")
def base_blocks(recorded_material: RecordedMaterial) -> list[dict[str, Any]]:
    return [row["block"] for row in recorded_material.json_lines("data/base-recorded/base_blocks.jsonl.gz")]


def test_every_recorded_base_header_has_its_hash(base_blocks):
    assert [block_hash(block) for block in base_blocks] == [block["hash"] for block in base_blocks]
    upgrades = {
        name: sum(name in block for block in base_blocks)
        for name in ("withdrawalsRoot", "parentBeaconBlockRoot", "requestsHash")
    }
    assert upgrades == {"withdrawalsRoot": 112, "parentBeaconBlockRoot": 101, "requestsHash": 37}


@pytest.mark.parametrize("name", ["receiptsRoot", "stateRoot", "parentHash"])
def test_a_recorded_header_with_another_root_has_another_hash(base_blocks, name):
    assert all(block_hash({**block, name: "0x" + "11" * 32}) != block["hash"] for block in base_blocks)


def test_the_fields_of_a_header_are_read_back(base_blocks):
    for block in base_blocks:
        fields = read_header_rlp(header_rlp(block))
        assert "0x" + fields["stateRoot"].hex() == block["stateRoot"]
        assert int.from_bytes(fields["number"]) == int(block["number"], 16)
        assert ("requestsHash" in fields) == ("requestsHash" in block)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"\xc0", id="no fields"),
        pytest.param(b"\x80", id="no list"),
        pytest.param(b"\xc1", id="no RLP"),
        pytest.param(b"\xcf" + b"\x80" * 15, id="fields without their width"),
    ],
)
def test_bytes_that_are_no_header_are_refused(data):
    with pytest.raises(BlockInvalid):
        read_header_rlp(data)


@pytest.mark.parametrize(
    "changes",
    [
        {"stateRoot": None},
        {"stateRoot": "0x12"},
        {"number": "twelve"},
        {"number": 12},
        {"withdrawalsRoot": None},
    ],
)
def test_a_header_of_another_form_is_refused(base_blocks, changes):
    with pytest.raises(BlockInvalid):
        block_hash({**base_blocks[-1], **changes})


def test_the_root_of_a_receipt_equals_the_published_one():
    assert receipts_root([RECEIPT]) == "0xfe70ae4a136d98944951b2123859698d59ad251a381abc9960fa81cae3d0d4a0"
    assert receipts_root([]) == "0x" + EMPTY_ROOT.hex()


def test_a_deposit_contains_its_nonce_next_to_a_version():
    """The published encoding of Canyon; before Canyon the trie left the nonce out."""
    before = "7ef901080182b741b90100" + "00" * 256 + "c0"
    since = "7ef9010d0182b741b90100" + "00" * 256 + "c0833d3bbf01"
    assert receipt_rlp(DEPOSIT).hex() == before
    assert receipt_rlp({**DEPOSIT, "depositReceiptVersion": "0x1"}).hex() == since


def test_an_old_receipt_holds_a_state_root_in_place_of_a_status():
    old = {**RECEIPT, "type": "0x0", "status": None, "root": "0x" + "62" * 32}
    assert receipt_rlp(old)[:5].hex() == "f90141a062"
    del old["type"]
    assert receipt_rlp(old)[:5].hex() == "f90141a062"


def test_every_recorded_receipt_encodes_what_its_bloom_holds(recorded_material: RecordedMaterial):
    """No recorded block has all of its receipts, so their root is tested on a running chain below."""
    kinds = set()
    for row in recorded_material.json_lines("data/base-recorded/base_receipts.jsonl.gz"):
        receipt = row["receipt"]
        kinds.add(receipt["type"])
        encoded = receipt_rlp(receipt)
        bloom = bytes.fromhex(receipt["logsBloom"][2:])
        assert bloom in encoded
        for log in receipt["logs"]:
            assert bloom_may_hold(bloom, log["address"], *log["topics"])
            assert all(bytes.fromhex(topic[2:]) in encoded for topic in [log["address"], *log["topics"]])
    assert kinds == {"0x0", "0x2", "0x7e"}


@pytest.mark.parametrize(
    "changes",
    [
        {"logs": None},
        {"logs": ["log"]},
        {"logs": [{"address": ALICE, "data": "0x"}]},
        {"logs": [{"address": ALICE, "topics": ["0x12"], "data": "0x"}]},
        {"logs": [{"address": ALICE, "topics": [7], "data": "0x"}]},
        {"logsBloom": "0x00"},
        {"status": "yes"},
        {"status": None},
        {"cumulativeGasUsed": None},
        {"type": None},
    ],
)
def test_a_receipt_of_another_form_is_refused(changes):
    with pytest.raises(BlockInvalid):
        receipts_root([{**RECEIPT, **changes}])


_DEPOSITED = {"value": "0x1", "gas": "0x30000", "isSystemTx": False, "input": "0x"}


def test_deposits_of_a_running_chain_of_the_op_stack_are_reproduced():
    with Anvil(flags=("--network", "optimism")) as chain:
        sender = chain.rpc.call("eth_accounts")[0]
        deposit = {"type": "0x7e", "sourceHash": "0x" + "12" * 32, "mint": "0x10", "from": sender, "to": BOB}
        sent = chain.rpc.call("eth_sendTransaction", deposit | _DEPOSITED)
        assert int(mined_receipt(chain.rpc, sent)["type"], 16) == 0x7E
        block = chain.rpc.call("eth_getBlockByNumber", "latest", False)
        receipts = chain.rpc.call("eth_getBlockReceipts", "latest")
    assert [receipt["depositReceiptVersion"] for receipt in receipts] == ["0x1"]
    assert block_hash(block) == block["hash"]
    assert receipts_root(receipts) == block["receiptsRoot"]
    assert receipts_root([{**receipts[0], "depositNonce": "0x2"}]) != block["receiptsRoot"]


def test_hash_and_receipts_of_a_running_chain_are_reproduced(anvil: Anvil):
    # Code that emits its calldata size as data of a log with one topic: calldatasize, mstore, log1.
    anvil.rpc.call("anvil_setCode", BOB, "0x366000527f" + "ab" * 32 + "60206000a1")
    sender = anvil.rpc.call("eth_accounts")[0]
    anvil.rpc.call("evm_setAutomine", False)
    for gas, data in [(100_000, "0x" + "11" * size) for size in range(140)] + [(21_500, "0x")]:
        call = {"from": sender, "to": BOB, "data": data, "gas": hex(gas)}
        anvil.rpc.call("eth_sendTransaction", call)
    anvil.rpc.call("evm_mine")
    block = anvil.rpc.call("eth_getBlockByNumber", "latest", False)
    receipts = anvil.rpc.call("eth_getBlockReceipts", "latest")
    assert len(receipts) == 141
    assert {receipt["status"] for receipt in receipts} == {"0x0", "0x1"}
    assert block_hash(block) == block["hash"]
    assert "0x" + keccak256(header_rlp(block)).hex() == block["hash"]
    assert receipts_root(receipts) == block["receiptsRoot"]
    receipts[70]["logs"][0]["data"] = "0x" + "00" * 31 + "01"
    assert receipts_root(receipts) != block["receiptsRoot"]
