import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_helpers import ALICE, BOB, TOKEN
from rounds import ROUNDS

from cli.demo.recorded import transfer_log
from contracts.evm.codec import RpcError, TooLarge, Transient
from pipelines.token.decode import LogsInvalid, TransferColumns, decode_logs, decode_pending_logs, decode_receipts

HASH = "0x" + "11" * 32
EMITTED = {"blockHash": HASH, "transactionHash": HASH, "removed": False}


def row(block=5, index=0, value_raw=1, **fields):
    return transfer_log(TOKEN, block, index, ALICE, BOB, value_raw, **{**EMITTED, **fields})


def answer(*rows, **envelope):
    return msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "result": list(rows), **envelope})


def decode(*rows):
    return decode_logs(answer(*rows), token_address=TOKEN, from_block=1, to_block=9)


def values_of(columns: TransferColumns) -> list[int]:
    """Through Arrow, as DuckDB gets them."""
    limbs = columns.to_arrow(np.zeros(len(columns), np.int64), exact=True).column("value_raw").to_pylist()
    return [(v["limb3"] << 192) | (v["limb2"] << 128) | (v["limb1"] << 64) | v["limb0"] for v in limbs]


uint256 = st.integers(0, 2**256 - 1) | st.sampled_from([0, 2**64 - 1, 2**64, 2**128, 2**255, 2**256 - 1])
addresses = st.binary(min_size=20, max_size=20)


@settings(max_examples=12 * ROUNDS)
@given(st.lists(st.tuples(uint256, addresses, addresses), max_size=20))
def test_every_value_and_address_comes_out_as_it_went_in(transfers):
    rows = [
        transfer_log(TOKEN, 5, index, "0x" + sender.hex(), "0x" + recipient.hex(), value_raw, **EMITTED)
        for index, (value_raw, sender, recipient) in enumerate(transfers)
    ]
    columns = decode(*rows)
    assert values_of(columns) == [value_raw for value_raw, _, _ in transfers]
    assert [bytes(sender) for sender in columns.from_address] == [sender for _, sender, _ in transfers]
    assert [bytes(recipient) for recipient in columns.to_address] == [recipient for _, _, recipient in transfers]


def test_rows_out_of_order_and_sent_twice_come_out_once_in_order():
    columns = decode(row(7, 1), row(5, 3), row(7, 1), row(5, 2))
    assert list(zip(columns.block_number.tolist(), columns.log_index.tolist(), strict=True)) == [(5, 2), (5, 3), (7, 1)]
    assert columns.sha256() == decode(row(5, 2), row(5, 3), row(7, 1)).sha256()


def test_block_timestamps_count_only_where_every_row_has_one():
    assert decode(row(blockTimestamp="0x64")).block_timestamp.tolist() == [100]
    assert decode(row(index=0, blockTimestamp="0x64"), row(index=1)).block_timestamp is None


def test_an_empty_answer_has_no_rows():
    assert len(decode()) == 0
    assert decode().to_arrow(np.empty(0, np.int64), exact=True).num_rows == 0


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([row(removed=True)], id="removed"),
        pytest.param([row(block=10)], id="after the range"),
        pytest.param([row(block=0)], id="before the range"),
        pytest.param([{**row(), "address": ALICE}], id="another contract"),
        pytest.param([{**row(), "topics": [HASH, *row()["topics"][1:]]}], id="another event"),
        pytest.param([{**row(), "topics": row()["topics"][:2]}], id="two topics"),
        pytest.param([{**row(), "topics": [*row()["topics"], HASH]}], id="four topics"),
        pytest.param([{**row(), "topics": [*row()["topics"][:2], HASH]}], id="a topic that is no address"),
        pytest.param([{**row(), "data": "0x"}], id="no data"),
        pytest.param([{**row(), "data": "0x" + "0" * 63}], id="short data"),
        pytest.param([{**row(), "data": "0x" + "0" * 128}], id="two words"),
        pytest.param([{**row(), "data": "0x" + "0" * 63 + "g"}], id="no hex"),
        pytest.param([{**row(), "data": "0x" + "0" * 62 + " 1"}], id="a blank in hex"),
        pytest.param([{**row(), "data": "0x" + "0" * 63 + "é"}], id="no ascii"),
        pytest.param([{**row(), "data": "00" + "0" * 64}], id="no 0x"),
        pytest.param([{**row(), "blockNumber": "5"}], id="a decimal block"),
        pytest.param([{**row(), "blockNumber": "0x1_0"}], id="an underscore"),
        pytest.param([{**row(), "logIndex": "0x" + "f" * 20}], id="a huge index"),
        pytest.param([{**row(), "logIndex": None}], id="no index"),
        pytest.param([row(value_raw=1), row(value_raw=2)], id="two rows at one place"),
        pytest.param([{}], id="an empty row"),
    ],
)
def test_a_row_that_was_not_asked_for_is_an_error(rows):
    with pytest.raises(LogsInvalid):
        decode(*rows)


def test_an_error_answer_is_its_cause_and_not_empty():
    body = msgspec.json.encode(
        {"id": 1, "error": {"code": -32005, "message": "query returned more than 10000 results"}}
    )
    with pytest.raises(RpcError) as raised:
        decode_logs(body, token_address=TOKEN, from_block=1, to_block=9)
    assert raised.value.failure == TooLarge()


@pytest.mark.parametrize("body", [b"", b"<html>", answer(row())[:-20], b'{"id":1}', b'{"id":1,"result":null}', b"\xff"])
def test_a_garbled_answer_is_transient(body):
    with pytest.raises(RpcError) as raised:
        decode_logs(body, token_address=TOKEN, from_block=1, to_block=9)
    assert raised.value.failure == Transient()


def test_rows_of_a_block_that_left_the_chain_are_not_taken():
    assert len(decode_pending_logs(answer(row()), token_address=TOKEN, block_hashes={5: HASH})) == 1
    with pytest.raises(RpcError, match="left the chain"):
        decode_pending_logs(answer(row()), token_address=TOKEN, block_hashes={5: "0x" + "22" * 32})
    unsaid = {name: value for name, value in row().items() if name != "blockHash"}
    with pytest.raises(RpcError, match="left the chain"):
        decode_pending_logs(answer(unsaid), token_address=TOKEN, block_hashes={5: HASH})


def test_receipts_give_the_transfers_of_the_token_alone():
    other_event = {**row(index=1), "topics": [HASH]}
    other_token = {**row(index=2), "address": ALICE}
    receipts = [{"logs": [row(), other_event]}, {"logs": [other_token, row(index=3)]}]
    assert decode_receipts(receipts, token_address=TOKEN, block=5).log_index.tolist() == [0, 3]
