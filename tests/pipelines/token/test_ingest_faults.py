import itertools
import time

import pytest
from fault_node import Fault, FaultNode, Reply, always, blocks_asked, rpc_error, rpc_result, silent_node
from ingest_helpers import TOKEN, assert_contiguous, held_blocks, ingest_once, logs_at, small_chain, warehouse
from patience import HANG_S

from cli.demo.recorded import RecordedChain, RecordedNode
from contracts.errors import ChainDataInvalid, ChainMismatch, FinalityUnknown, RpcUnavailable
from warehouse.token.node_questions import range_totals
from warehouse.token.transfers import last_checkpoint

BLOCKS = (3, 40, 41, 90, 198)
LATE = {hex(number) for number in range(20, 199)}
EXPECTED = [(block, 0) for block in BLOCKS]
SLOW = Fault("eth_getLogs", always(Reply(delay_s=2.0)), times=3)


@pytest.fixture
def connection(tmp_path):
    with warehouse(tmp_path) as opened:
        yield opened


def chain(**options):
    return small_chain(logs_at(*BLOCKS), **options)


def test_history_is_read_up_to_finality_and_not_beyond(connection):
    with RecordedNode(small_chain(logs_at(3, 198, 199, 200))) as node:
        report = ingest_once(connection, node.url)
    assert held_blocks(connection) == [(3, 0), (198, 0)]
    assert held_blocks(connection, "raw_chain__tip_transfers") == [(199, 0), (200, 0)]
    assert (report.complete, report.to_block, report.finalized_block, report.log_count) == (True, 198, 198, 2)
    assert report.percent == 100.0
    assert_contiguous(connection)


def test_a_second_run_reads_only_what_is_new(connection):
    source = chain()
    with FaultNode(source) as node:
        ingest_once(connection, node.url)
        node.calls.clear()
        nothing = ingest_once(connection, node.url)
        assert not node.asked("eth_getLogs")
        source.advance_to(210)
        more = ingest_once(connection, node.url)
    assert (nothing.complete, nothing.range_count, nothing.log_count) == (True, 0, 0)
    assert (more.from_block, more.to_block) == (199, 208)
    assert_contiguous(connection)


def test_a_slice_ends_with_its_budget_and_the_next_continues(connection):
    # all ranges are requested at once, and only the first one is answered in time
    late = Fault("eth_getLogs", lambda call: Reply(delay_s=HANG_S) if blocks_asked(call)[0] else None)
    with FaultNode(chain(), late) as node:
        first = ingest_once(connection, node.url, budget_s=0.0)
    assert not first.complete
    assert 0 < first.percent < 100
    slow = Fault("eth_getLogs", always(Reply(delay_s=0.2)))
    with FaultNode(chain(), slow) as node:
        while not ingest_once(connection, node.url, budget_s=0.3).complete:
            pass
    assert held_blocks(connection) == EXPECTED
    assert_contiguous(connection)


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Fault("eth_getLogs", rpc_error(-1, "slow down", status=429, Retry_After="1"), times=3), id="429"),
        pytest.param(Fault("eth_getLogs", always(Reply(b"", 429)), times=3), id="429 without Retry-After"),
        pytest.param(Fault("eth_getLogs", always(Reply(cut=60)), times=2), id="truncated"),
        pytest.param(Fault("eth_getLogs", always(Reply(b'{"id":1,"result":[{"addr')), times=2), id="truncated json"),
        pytest.param(Fault("eth_getLogs", always(Reply(b"<html>oops</html>")), times=2), id="garbage"),
        pytest.param(Fault("eth_getLogs", rpc_error(-32603, "internal error"), times=3), id="an error as 200"),
        pytest.param(SLOW, id="slow"),
        pytest.param(Fault("eth_getBlockByNumber", always(Reply(b"{", 500)), times=3), id="headers fail"),
    ],
)
def test_a_transient_fault_loses_and_duplicates_nothing(connection, fault):
    with FaultNode(chain(), fault) as node:
        # short only where the time-out is waited for: on a busy machine a sound answer takes longer too
        timeout_s = 1.0 if fault is SLOW else 60.0
        assert ingest_once(connection, node.url, pool={"timeout_s": timeout_s, "patience_s": HANG_S}).complete
    assert held_blocks(connection) == EXPECTED
    assert_contiguous(connection)


def test_a_node_that_suggests_the_same_range_again_is_asked_for_half(connection):
    def suggest(call):
        first, last = blocks_asked(call)
        if last - first < 4:
            return None
        return rpc_error(-32602, f"query exceeds max results 20000, retry with the range {first}-{last}")(call)

    with FaultNode(chain(), Fault("eth_getLogs", suggest)) as node:
        assert ingest_once(connection, node.url).complete
    assert held_blocks(connection) == EXPECTED


def test_a_limit_of_blocks_is_learnt_once(connection):
    def limit(call):
        first, last = blocks_asked(call)
        return rpc_error(-32005, "please limit the query to at most 10 blocks")(call) if last - first >= 10 else None

    with FaultNode(chain(), Fault("eth_getLogs", limit)) as node:
        assert ingest_once(connection, node.url).complete
        refused = [call for call in node.asked("eth_getLogs") if blocks_asked(call)[1] - blocks_asked(call)[0] >= 10]
    assert held_blocks(connection) == EXPECTED
    assert len(refused) <= 6


@pytest.mark.parametrize("with_block_receipts", [True, False])
def test_one_block_with_too_many_logs_is_read_from_its_receipts(connection, with_block_receipts):
    logs = [*logs_at(3), *logs_at(50, per_block=30), *logs_at(51)]
    node = FaultNode(_WithReceipts(small_chain(logs, max_results=10)))
    if not with_block_receipts:
        node.faults.append(Fault("eth_getBlockReceipts", rpc_error(-32601, "the method does not exist")))
    with node:
        assert ingest_once(connection, node.url).complete
    assert held_blocks(connection) == [(3, 0), *((50, index) for index in range(30)), (51, 0)]
    assert_contiguous(connection)


def test_a_lagging_node_that_answers_empty_is_not_believed(connection):
    """The node returns nothing for the blocks that it lacks, instead of an error."""
    lacking = Fault("eth_getLogs", rpc_result([]))
    old = Fault("eth_getBlockByNumber", lambda call: rpc_result(None)(call) if call["params"][0] in LATE else None)
    with FaultNode(chain(), lacking, old) as lagging, RecordedNode(chain()) as node:
        report = ingest_once(connection, lagging.url, node.url)
    assert report.complete
    assert held_blocks(connection) == EXPECTED


def test_an_empty_answer_against_the_bloom_is_asked_elsewhere(connection):
    empty = Fault("eth_getLogs", rpc_result([]))
    with FaultNode(chain(), empty) as lying, RecordedNode(chain()) as honest:
        report = ingest_once(connection, lying.url, honest.url)
    assert held_blocks(connection) == EXPECTED
    assert report.disagreement_count > 0


def test_a_bloom_that_matches_by_chance_is_accepted_once_every_node_agrees(connection):
    full_bloom = "0x" + "f" * 512
    source = _EveryBloom(chain(), full_bloom)
    with RecordedNode(source) as first, RecordedNode(source) as second:
        report = ingest_once(connection, first.url, second.url)
    assert report.complete
    assert held_blocks(connection) == EXPECTED
    assert report.reasked_count == report.range_count


def test_a_silent_gap_in_old_history_is_found_by_asking_again(connection):
    """Far below finality, where no bloom is read, a second node confirms an empty range."""
    source = small_chain(logs_at(30), head=5000)
    with FaultNode(source, Fault("eth_getLogs", rpc_result([]))) as lying, RecordedNode(source) as honest:
        report = ingest_once(connection, lying.url, honest.url)
    assert held_blocks(connection) == [(30, 0)]
    assert (report.disagreement_count, report.complete) == (1, True)
    assert range_totals(connection).reasked == report.reasked_count > 0


def test_two_nodes_that_keep_differing_stop_the_run(connection):
    flips = itertools.count()
    changing = Fault(
        "eth_getLogs", lambda call: rpc_result(logs_for(small_chain(logs_at(30, value_raw=next(flips))), call))(call)
    )
    with (
        RecordedNode(small_chain([], head=5000)) as empty,
        FaultNode(small_chain([], head=5000), changing) as moody,
        pytest.raises(ChainDataInvalid, match="differ on blocks"),
    ):
        ingest_once(connection, empty.url, moody.url)
    assert_contiguous(connection)


def test_a_head_that_goes_back_is_a_lagging_node(connection):
    source = small_chain(logs_at(*BLOCKS, 149))
    with RecordedNode(source) as node:
        ingest_once(connection, node.url)
        held = last_checkpoint(connection)
        source.advance_to(150)
        report = ingest_once(connection, node.url)
        assert last_checkpoint(connection) == held
        assert (report.complete, report.log_count) == (True, 0)
        assert held_blocks(connection, "raw_chain__tip_transfers") == []
        source.advance_to(220)
        assert ingest_once(connection, node.url).to_block == 218
    assert held_blocks(connection) == sorted([*EXPECTED, (149, 0)])


def test_a_block_that_would_be_earlier_than_those_that_are_held_is_not_taken(connection):
    source = chain()
    with RecordedNode(source) as right:
        ingest_once(connection, right.url)
        held = last_checkpoint(connection)
        early = chain(block_times={number: 1_600_000_000 + number for number in range(199, 220)})
        for grown in (source, early):
            grown.advance_to(210)
        with RecordedNode(early) as wrong:
            message = r"continues the stored history \(.*block 208 would be earlier than the stored block 198\)"
            with pytest.raises(ChainDataInvalid, match=message) as raised:
                ingest_once(connection, wrong.url)
            assert "SVC_TOKEN_ADDRESS" not in raised.value.cure
            assert "`svc demo --reset`" in raised.value.cure
            assert last_checkpoint(connection) == held
            assert ingest_once(connection, wrong.url, right.url).to_block == 208
    assert_contiguous(connection)


TIMES = [1_760_000_000 - 2 * (200 - block) for block in BLOCKS]
OUT_OF_ORDER = [TIMES[place] for place in (0, 2, 1, 3, 4)]


@pytest.mark.parametrize("times", [TIMES, [0] * len(BLOCKS), OUT_OF_ORDER, [time_s + 3_600 for time_s in TIMES]])
def test_rows_with_impossible_times_get_the_times_of_headers(connection, times):
    logs = [{**log, "blockTimestamp": hex(time_s)} for log, time_s in zip(logs_at(*BLOCKS), times, strict=True)]
    with RecordedNode(small_chain(logs)) as node:
        ingest_once(connection, node.url)
    kept = connection.execute("select epoch(block_time)::bigint from raw_chain__transfers order by block_number")
    assert [time_s for (time_s,) in kept.fetchall()] == TIMES


def test_a_node_of_another_chain_is_left_out_and_stops_the_run_if_it_is_the_only_one(connection):
    with RecordedNode(RecordedChain(chain_id=1, token=TOKEN, logs=[], first_block=0, head=200)) as other:
        with RecordedNode(chain()) as node:
            assert ingest_once(connection, other.url, node.url).complete
        with pytest.raises(ChainMismatch):
            ingest_once(connection, other.url)
    assert held_blocks(connection) == EXPECTED


def test_without_a_finalized_tag_confirmations_decide_and_are_asked_for(connection):
    with RecordedNode(chain(finalized_lag=None)) as node:
        with pytest.raises(FinalityUnknown, match="finalized") as raised:
            ingest_once(connection, node.url)
        assert "SVC_CONFIRMATIONS" in raised.value.cure
        assert ingest_once(connection, node.url, confirmations=10).finalized_block == 190


def test_the_lowest_plausible_finality_counts(connection):
    with RecordedNode(chain(finalized_lag=5)) as first, RecordedNode(chain(finalized_lag=20)) as second:
        assert ingest_once(connection, first.url, second.url).finalized_block == 180


def test_a_node_that_never_answers_holds_up_nothing(connection):
    source = chain()
    with silent_node() as silent, RecordedNode(source) as node:
        for head, urls in ((220, (silent, node.url)), (240, (node.url, silent))):
            source.advance_to(head)
            started = time.monotonic()
            assert ingest_once(connection, *urls, pool={"timeout_s": 300.0, "grace_s": 0.3}).complete
            assert time.monotonic() - started < 150  # a single request to the silent node takes three hundred
    assert held_blocks(connection) == EXPECTED
    assert_contiguous(connection)


def test_a_dead_node_ends_the_run_with_a_cure_and_keeps_what_was_read(connection):
    with FaultNode(chain()) as node:

        def die(call):
            return Reply(b"", 503) if blocks_asked(call)[0] > 50 else None

        node.faults.append(Fault("eth_getLogs", die))
        with pytest.raises(RpcUnavailable) as raised:
            ingest_once(connection, node.url, pool={"patience_s": 3.0})
        assert raised.value.cure
        node.faults.clear()
        assert ingest_once(connection, node.url).complete
    assert held_blocks(connection) == EXPECTED
    assert_contiguous(connection)


def test_rows_that_are_no_erc20_transfers_stop_the_run(connection):
    nft = logs_at(3)
    nft[0]["topics"].append("0x" + "0" * 63 + "1")
    nft[0]["data"] = "0x"
    with RecordedNode(small_chain(nft)) as node, pytest.raises(ChainDataInvalid, match="length 3"):
        ingest_once(connection, node.url)
    assert held_blocks(connection) == []


def test_rows_carry_the_host_of_the_node_and_never_its_key(connection):
    with FaultNode(chain()) as node:
        ingest_once(connection, node.url)
    hosts = connection.execute("select distinct rpc_host from raw_chain__ranges").fetchall()
    assert len(hosts) == 1
    assert hosts[0][0].startswith("127.0.0.1:")
    assert "secret" not in hosts[0][0]


def logs_for(source, call):
    return source.answer("eth_getLogs", call["params"])


class _WithReceipts:
    """A chain that also answers `eth_getTransactionReceipt`."""

    def __init__(self, source):
        self.source = source
        self.receipts = {
            receipt["transactionHash"]: receipt for receipt in source.answer("eth_getBlockReceipts", [hex(50)])
        }

    def answer(self, method, params):
        if method == "eth_getTransactionReceipt":
            return self.receipts.get(params[0])
        return self.source.answer(method, params)


class _EveryBloom:
    """A chain whose blooms all match everything."""

    def __init__(self, source, bloom):
        self.source = source
        self.bloom = bloom

    def answer(self, method, params):
        result = self.source.answer(method, params)
        return {**result, "logsBloom": self.bloom} if method == "eth_getBlockByNumber" and result else result
