import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ingest_helpers import ALICE, BOB, TOKEN
from rounds import ROUNDS

from cli.demo.recorded import transfer_log
from contracts.evm.codec import LogsAnswer, RpcError, TooLarge, TransferLog, Transient
from pipelines.token.decode import (
    LogsInvalid,
    TransferColumns,
    columns_of,
    decode_logs,
    decode_pending_logs,
    decode_receipts,
    rows_of,
)
from pipelines.token.uniform_logs import FEWEST_ROWS, decode_uniform

ROWS = msgspec.json.Decoder(LogsAnswer[TransferLog])
HASH = "0x" + "11" * 32
EMITTED = {"blockHash": HASH, "transactionHash": HASH, "removed": False}


def row(block=5, index=0, value_raw=1, **fields):
    return transfer_log(TOKEN, block, index, ALICE, BOB, value_raw, **{**EMITTED, **fields})


def answer(*rows, **envelope):
    return msgspec.json.encode({"jsonrpc": "2.0", "id": 1, "result": list(rows), **envelope})


def decode(*rows):
    return decode_logs(answer(*rows), token_address=TOKEN, from_block=1, to_block=9)


def values_of(columns: TransferColumns) -> list[int]:
    """Returns the values after a conversion to Arrow, as DuckDB gets them."""
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
def test_a_row_that_was_not_requested_is_an_error(rows):
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
def test_a_garbled_answer_is_a_transient_error(body):
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


def test_receipts_give_only_the_transfers_of_the_token():
    other_event = {**row(index=1), "topics": [HASH]}
    other_token = {**row(index=2), "address": ALICE}
    receipts = [{"logs": [row(), other_event]}, {"logs": [other_token, row(index=3)]}]
    assert decode_receipts(receipts, token_address=TOKEN, block=5).log_index.tolist() == [0, 3]


def as_read_one_by_one(body):
    """Returns the outcome of decoding each row by itself: the digest of the columns with their times, or the kind of
    error."""
    try:
        columns = columns_of(rows_of(body, ROWS), token_address=TOKEN, from_block=1, to_block=9)
    except RpcError as error:
        return type(error), error.failure
    return outcome_of(columns)


def as_read(body):
    try:
        columns = decode_logs(body, token_address=TOKEN, from_block=1, to_block=9)
    except RpcError as error:
        return type(error), error.failure
    return outcome_of(columns)


def outcome_of(columns):
    times = columns.block_timestamp
    return columns.sha256(), None if times is None else times.tolist()


def many_rows(count=FEWEST_ROWS + 300):
    """Returns rows as a node writes them: indexes of one to three digits, several transactions and blocks."""
    return [
        row(
            5 + index // 200,
            index,
            7**index % 2**256,
            transactionHash=f"0x{index // 7:064x}",
            transactionIndex=hex(index // 7),
            blockTimestamp=hex(100 + 2 * (index // 200)),
        )
        for index in range(count)
    ]


def test_many_rows_are_read_in_bulk_as_they_are_one_by_one():
    body = answer(*many_rows())
    assert decode_uniform(body) is not None
    assert as_read(body) == as_read_one_by_one(body)


few_amounts = st.lists(
    st.sampled_from([0, 1, 255, 2**64, 2**128 + 1, 2**255, 2**256 - 1]) | st.integers(0, 2**256 - 1),
    min_size=1,
    max_size=3,
)


@settings(max_examples=15 * ROUNDS)
@given(short=few_amounts, long=few_amounts, parties=st.lists(addresses, min_size=1, max_size=3))
def test_digits_that_are_alike_in_rows_of_one_length_or_in_all_are_read_as_they_are_one_by_one(short, long, parties):
    rows = [
        transfer_log(
            TOKEN,
            5,
            index,
            "0x" + parties[index % len(parties)].hex(),
            "0x" + parties[-1 if index < 16 else 0].hex(),
            short[index % len(short)] if index < 16 else long[index % len(long)],
            **EMITTED,
        )
        for index in range(FEWEST_ROWS + 16)
    ]
    body = answer(*rows)
    assert decode_uniform(body) is not None
    assert as_read(body) == as_read_one_by_one(body)


def test_few_rows_are_read_one_by_one():
    assert decode_uniform(answer(*many_rows(FEWEST_ROWS - 1))) is None
    assert decode_uniform(answer(*many_rows(FEWEST_ROWS))) is not None


ODD_ROWS = {
    "other order of names": lambda odd: dict(reversed(odd.items())),
    "upper case": lambda odd: {**odd, "data": "0x" + odd["data"][2:].upper()},
    "no time": lambda odd: {name: value for name, value in odd.items() if name != "blockTimestamp"},
    "another field": lambda odd: {**odd, "l1BlockNumber": "0x12"},
    "a text with brackets": lambda odd: {**odd, "note": "},{"},
    "an escaped text": lambda odd: {**odd, "note": '"removed":true'},
    "a field within a field": lambda odd: {**odd, "more": {"data": HASH}},
    "fields within fields": lambda odd: {**odd, "a": {"b": {"c": {}}}},
    "a field in a text": lambda odd: {**odd, "note": "data", "z": '":"0x'},
    "removed": lambda odd: {**odd, "removed": True},
    "another contract": lambda odd: {**odd, "address": ALICE},
    "a longer address": lambda odd: {**odd, "address": odd["address"] + "00"},
    "a topic that is no address": lambda odd: {**odd, "topics": [*odd["topics"][:2], HASH]},
    "no hex": lambda odd: {**odd, "data": odd["data"][:-1] + "g"},
    "no 0x": lambda odd: {**odd, "data": "00" + odd["data"][2:]},
    "a huge index": lambda odd: {**odd, "logIndex": "0x80000000"},
    "an index of many digits": lambda odd: {**odd, "logIndex": "0x" + "f" * 16},
    "after the range": lambda odd: {**odd, "blockNumber": "0xa"},
    "sent twice": lambda odd: {**odd, "blockNumber": "0x5", "logIndex": "0x0"},
    "no hex where nobody reads": lambda odd: {**odd, "blockHash": "0x" + "zz" * 32},
}


@pytest.mark.parametrize("change", ODD_ROWS.values(), ids=ODD_ROWS.keys())
@pytest.mark.parametrize("place", [0, 1, 200, -1])
def test_an_odd_row_among_many_is_read_as_it_is_by_itself(change, place):
    rows = many_rows()
    rows[place] = change(rows[place])
    body = answer(*rows)
    assert as_read(body) == as_read_one_by_one(body)


ALIKE = answer(*many_rows(FEWEST_ROWS + 30))


@settings(max_examples=150 * ROUNDS)
@given(st.integers(0, len(ALIKE) - 1), st.sampled_from(b'"\\{}[]:,x0fFg \n\x00\xff'))
def test_a_changed_byte_is_read_in_bulk_as_it_is_one_by_one(place, byte):
    body = ALIKE[:place] + bytes([byte]) + ALIKE[place + 1 :]
    assert as_read(body) == as_read_one_by_one(body)


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        (b'{"result":[', b'],"id":1}'),
        (b'{"id":1,"result":null,"result":[', b"]}"),
        (b'{"id":1,"result":[', b'],"result":[]}'),
        (b'{"id":[', b'],"result":[]}'),
        (b'{"result":[],"id":[', b"]}"),
        (b'{"id":"\\"result\\":[","result":[', b"]}"),
        (b'{"error":{"code":1,"message":"no"},"result":[', b"]}"),
        (b'{"result":[', b'],"error":{"code":1,"message":"no"}}'),
        (b'{"result":[', b"]"),
        (b'{"result":[', b",]}"),
        (b'{"result":[1,', b"]}"),
        (b"[", b"]"),
        (b'[{"result":[', b"]}]"),
        (b' {"result": [', b"]}"),
        (b'{"a":{"b":{}},"result":[', b"]}"),
        (b'{"result":[', b"]}{}"),
        (b'{"result":[', b'],"a":{}}'),
        (b'{"result":[', b",{}]}"),
    ],
)
def test_many_rows_in_another_frame_are_read_as_one_by_one(opening, closing):
    rows = answer(*many_rows()).removeprefix(b'{"jsonrpc":"2.0","id":1,"result":[').removesuffix(b"]}")
    body = opening + rows + closing
    assert as_read(body) == as_read_one_by_one(body)
