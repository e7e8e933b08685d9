from datetime import UTC, datetime

import pytest
from ingest_helpers import ALICE, TOKEN, logs_at
from recorded_material import RecordedMaterial

from cli.demo.recorded import RecordedChain
from contracts.evm.codec import (
    TRANSFER_TOPIC,
    Fatal,
    RateLimit,
    RpcError,
    TooLarge,
    Transient,
    bloom_may_hold,
    checksum_address,
    classify,
    quantity,
    read_answer,
    read_batch,
    read_header,
    selector,
)


@pytest.mark.parametrize(
    ("message", "failure"),
    [
        ("query returned more than 10000 results. Try with this block range [0x10, 0x20].", TooLarge((16, 32))),
        ("query exceeds max results 20000, retry with the range 25766988-25775072", TooLarge((25766988, 25775072))),
        ("query exceeds max block range 100000", TooLarge(None, 100_000, True)),
        ("range 1000000 exceeds limit of 10000", TooLarge(None, 10_000, True)),
        ("eth_getLogs is limited to a 10,000 range", TooLarge(None, 10_000, True)),
        ("eth_getLogs range is too large, max is 1k blocks", TooLarge(None, 1_000, True)),
        ("please limit the query to at most 1000 blocks", TooLarge(None, 1_000, True)),
        ("maximum block range: 50000", TooLarge(None, 50_000, True)),
        ("ranges over 10000 blocks are not supported on freetier", TooLarge(None, 10_000, True)),
        (
            "Invalid eth_getLogs request. 'fromBlock'-'toBlock' range too large. Max range: 800",
            TooLarge(None, 800, True),
        ),
        ("Block range limit exceeded.", TooLarge(None, None, True)),
        ("backend response too large", TooLarge()),
        ("request timed out", TooLarge()),
        ("Your app has exceeded its compute units per second capacity.", RateLimit()),
        ("daily request count exceeded, request rate limited", RateLimit()),
        ("invalid block range params", Transient()),
        ("One of the blocks specified in filter (fromBlock, toBlock or blockHash) cannot be found.", Transient()),
        ("no backend is currently healthy to serve traffic", Transient()),
        ("missing trie node 0x12 (path ) state 0x34 is not available", Fatal()),
        ("the method eth_getLogs does not exist/is not available", Fatal()),
    ],
)
def test_texts_of_providers_are_understood(message, failure):
    assert classify("eth_getLogs", code=-32000, message=message) == failure


def test_every_recorded_limit_is_a_cause_to_ask_for_less_or_later(recorded_material: RecordedMaterial):
    for row in recorded_material.json("upstream/rpc_getlogs_limits.json")["rows"]:
        for error in row["errors"]:
            message = error.get("message") or error["message_pattern"]
            failure = classify(
                "eth_getLogs",
                code=error.get("code"),
                message=message,
                data=error.get("data"),
                http_status=error.get("http", 200),
            )
            elsewhere = ("trie", "healthy", "API key", "Monthly", "authenticated")
            assert isinstance(failure, TooLarge | RateLimit) or any(word in message for word in elsewhere), message


def test_a_timeout_is_too_large_only_where_less_can_be_asked_for():
    assert classify("eth_call", message="request timed out") == Transient()


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (401, Fatal(True)),
        (403, Fatal(True)),
        (413, TooLarge()),
        (500, Transient()),
        (503, Transient()),
        (429, RateLimit()),
    ],
)
def test_http_statuses_are_understood(status, failure):
    assert classify("eth_getLogs", http_status=status) == failure


def test_retry_after_is_seconds_or_a_date_and_capped():
    now = datetime(2026, 11, 21, 12, 0, 0, tzinfo=UTC)

    def wait(text):
        return classify("eth_call", http_status=429, retry_after=text, now=now)

    assert wait("7") == RateLimit(7.0)
    assert wait("Sat, 21 Nov 2026 12:00:30 GMT") == RateLimit(30.0)
    assert wait("Sat, 21 Nov 2026 11:00:00 GMT") == RateLimit(0.0)
    assert wait("86400") == RateLimit(120.0)
    assert wait("soon") == RateLimit(None)


def test_a_bloom_admits_what_is_in_the_block_and_excludes_most_else():
    chain = RecordedChain(chain_id=1, token=TOKEN, logs=logs_at(5), first_block=0, head=9)
    full, empty = (read_header(chain.answer("eth_getBlockByNumber", [hex(number), False])) for number in (5, 6))
    assert bloom_may_hold(full.logs_bloom, TOKEN, TRANSFER_TOPIC)
    assert not bloom_may_hold(full.logs_bloom, "0x" + "99" * 20, TRANSFER_TOPIC)
    assert not bloom_may_hold(empty.logs_bloom, TOKEN)
    assert read_header(None) is None


@pytest.mark.parametrize(
    "result", [{}, [], "0x1", {"number": "0x1", "hash": "0x", "parentHash": "0x", "timestamp": "0x1"}]
)
def test_a_malformed_header_is_a_transient_error(result):
    with pytest.raises(RpcError) as raised:
        read_header(result)
    assert raised.value.failure == Transient()


def test_a_batch_comes_back_in_the_order_of_its_calls():
    calls = [("eth_chainId", []), ("eth_call", [])]
    body = b'[{"id":1,"error":{"code":3,"message":"execution reverted"}},{"id":0,"result":"0x1"}]'
    first, second = read_batch(body, calls)
    assert first == "0x1"
    assert second.reverted
    with pytest.raises(RpcError):
        read_batch(b'[{"id":0,"result":"0x1"}]', calls)


def test_an_error_inside_an_http_200_is_an_error():
    with pytest.raises(RpcError) as raised:
        read_answer(b'{"id":1,"error":{"code":429,"message":"slow down"}}', method="eth_call")
    assert raised.value.failure == RateLimit()


@pytest.mark.parametrize("text", ["", "1", "0x", "0x1_0", " 0x1", "0x1 ", "-0x1", "0xg"])
def test_a_malformed_quantity_is_refused(text):
    with pytest.raises(ValueError, match="quantity"):
        quantity(text)


def test_selectors_and_checksums_are_the_known_ones():
    assert selector("balanceOf(address)") == "0x70a08231"
    assert (
        checksum_address("0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed") == "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"
    )
    assert checksum_address(ALICE).lower() == ALICE
