import pytest
from fault_node import Fault, FaultNode, rpc_result
from ingest_helpers import assert_contiguous, held_blocks, ingest_once, logs_at, small_chain, warehouse

from cli.demo.recorded import RecordedNode
from contracts.errors import FinalizedMismatch
from contracts.evm.codec import BlockHeader, RpcError
from pipelines.token.tip import check_linked, common_ancestor
from warehouse.token.transfers import last_checkpoint, tip_blocks

LAG = 20


@pytest.fixture
def connection(tmp_path):
    with warehouse(tmp_path) as opened:
        yield opened


def chain(*blocks, **options):
    return small_chain(logs_at(*blocks), **{"finalized_lag": LAG, **options})


def tip(connection):
    return held_blocks(connection, "raw_chain__tip_transfers")


def assert_tip_is(connection, source):
    """Asserts that the stored tip equals the chain's own, from finality to head."""
    numbers = range(source.head - LAG + 1, source.head + 1)
    assert [(block.number, block.hash) for block in tip_blocks(connection)] == [
        (number, source.block_hash(number)) for number in numbers
    ]


def test_the_highest_shared_block_is_the_common_ancestor():
    assert common_ancestor({1: "a", 2: "b", 3: "c"}, {1: "a", 2: "b", 3: "x"}) == 2
    assert common_ancestor({1: "a"}, {1: "x"}) is None
    assert common_ancestor({}, {}) is None


def test_a_reorg_in_the_tip_is_rolled_back_to_the_ancestor_and_read_again(connection):
    source = chain(10, 185, 190, 195, 199)
    with RecordedNode(source) as node:
        ingest_once(connection, node.url)
        assert tip(connection) == [(185, 0), (190, 0), (195, 0), (199, 0)]
        source.reorg(192, "other", logs_at(196))
        report = ingest_once(connection, node.url)
    assert report.tip_rolled_back == 9
    assert tip(connection) == [(185, 0), (190, 0), (196, 0)]
    assert held_blocks(connection) == [(10, 0)]
    assert_tip_is(connection, source)


def test_a_reorg_of_the_whole_tip_is_read_again(connection):
    source = chain(10, 185, 199)
    with RecordedNode(source) as node:
        ingest_once(connection, node.url)
        source.reorg(181, "other", logs_at(182))
        assert ingest_once(connection, node.url).tip_rolled_back == LAG
    assert tip(connection) == [(182, 0)]
    assert_tip_is(connection, source)


def test_a_reorg_while_the_chain_grows_moves_final_blocks_out_of_the_tip(connection):
    source = chain(10, 185, 195)
    with RecordedNode(source) as node:
        ingest_once(connection, node.url)
        source.reorg(195, "other", logs_at(196, 205))
        source.advance_to(210)
        ingest_once(connection, node.url)
    assert held_blocks(connection) == [(10, 0), (185, 0)]
    assert tip(connection) == [(196, 0), (205, 0)]
    assert_tip_is(connection, source)
    assert_contiguous(connection)


def test_only_new_tip_blocks_are_fetched(connection):
    source = chain(10)
    with FaultNode(source) as node:
        ingest_once(connection, node.url)
        node.calls.clear()
        source.advance_to(203)
        ingest_once(connection, node.url)
        asked = [call["params"][0] for call in node.asked("eth_getBlockByNumber")]
    assert {hex(201), hex(202)} <= set(asked)
    assert len([number for number in asked if number not in ("latest", "finalized", "0x0")]) < 30
    assert_tip_is(connection, source)


def test_a_shorter_head_of_the_same_chain_leaves_the_tip_alone(connection):
    source = chain(10, 195, 199)
    with RecordedNode(source) as node:
        ingest_once(connection, node.url)
    before = tip_blocks(connection)
    with RecordedNode(_WithLatest(source, 198)) as behind:
        assert ingest_once(connection, behind.url).tip_rolled_back == 0
    assert tip_blocks(connection) == before
    assert tip(connection) == [(195, 0), (199, 0)]


def test_headers_that_do_not_follow_one_another_are_no_tip():
    first, second = BlockHeader(1, "0xa", "0x0", 0), BlockHeader(2, "0xb", "0xa", 2)
    check_linked([first, second], "0x0")
    check_linked([first, second], None)
    for headers, parent in (([second, first], "0xa"), ([first, second], "0xb")):
        with pytest.raises(RpcError, match="does not follow"):
            check_linked(headers, parent)


def test_the_tip_keeps_the_newest_256_blocks(connection):
    with RecordedNode(chain(10, finalized_lag=900, head=1000)) as node:
        ingest_once(connection, node.url)
    numbers = [block.number for block in tip_blocks(connection)]
    assert numbers == list(range(745, 1001))


def test_a_tip_block_whose_logs_one_node_leaves_out_is_read_from_another(connection):
    source = chain(10, 195)
    with FaultNode(source, Fault("eth_getLogs", rpc_result([]))) as lying, RecordedNode(source) as honest:
        ingest_once(connection, lying.url, honest.url)
    assert held_blocks(connection) == [(10, 0)]
    assert tip(connection) == [(195, 0)]


def test_a_mismatch_below_finality_stops_and_rewrites_nothing(connection):
    source = chain(10, 150, 195)
    with RecordedNode(source) as node:
        ingest_once(connection, node.url)
        held = last_checkpoint(connection)
        source.reorg(100, "other", logs_at(120))
        source.advance_to(250)
        with pytest.raises(FinalizedMismatch, match="180") as raised:
            ingest_once(connection, node.url)
    assert "SVC_DATA_DIR" in raised.value.cure
    assert last_checkpoint(connection) == held
    assert held_blocks(connection) == [(10, 0), (150, 0)]


def test_one_node_that_contradicts_what_was_final_is_left_out(connection):
    source, forked = chain(10, 150, 205), chain(10, 150, 205)
    forked.reorg(100, "other", logs_at(120, 205, 206))
    with RecordedNode(source) as node, RecordedNode(forked) as fork:
        ingest_once(connection, node.url)
        for each in (source, forked):
            each.advance_to(240)
        report = ingest_once(connection, fork.url, node.url)
    assert report.complete
    assert held_blocks(connection) == [(10, 0), (150, 0), (205, 0)]


def test_nodes_that_lack_the_last_block_are_behind_and_no_mismatch(connection):
    source = chain(10, 150)
    with RecordedNode(source) as node:
        ingest_once(connection, node.url)
        source.advance_to(160)
        assert ingest_once(connection, node.url).log_count == 0
    assert held_blocks(connection) == [(10, 0), (150, 0)]


class _WithLatest:
    """A chain behind a node whose newest block is `number`, with the chain's own finality."""

    def __init__(self, source, number):
        self.source = source
        self.number = number

    def answer(self, method, params):
        newest = method == "eth_getBlockByNumber" and params[0] == "latest"
        return self.source.answer(method, [hex(self.number), False] if newest else params)
