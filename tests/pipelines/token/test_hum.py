"""The full history of a real token, at its real block numbers, through a recorded node."""

from ingest_helpers import assert_contiguous, ingest_once, warehouse
from recorded_material import RecordedMaterial

from cli.demo.recorded import RecordedChain, RecordedNode
from pipelines.token.events import TokenTransfers

TOKEN = "0x174afe7a032b5a33a3270a9f6c30746e25708532"
FIRST_BLOCK, LAST_BLOCK = 8_345_679, 16_273_318

WIDE_BLOCKS = 20_000
"""Size of ranges that nobody would request throughout, since public nodes refuse more than 2,000 to 10,000 blocks. The
number of our requests depends on the order of the answers: about 140 to 260."""


def test_eight_million_sparse_blocks_are_read_exactly_and_in_few_requests(
    tmp_path, recorded_material: RecordedMaterial
):
    logs = list(recorded_material.json_lines("data/hum/hum_transfer_logs.rpc.jsonl.gz"))
    chain = RecordedChain(
        chain_id=1, token=TOKEN, logs=logs, first_block=FIRST_BLOCK, head=LAST_BLOCK + 2, max_results=10_000
    )
    with warehouse(tmp_path) as connection, RecordedNode(chain) as node:
        report = ingest_once(
            connection,
            node.url,
            events=TokenTransfers(TOKEN),
            start_block=FIRST_BLOCK,
            pool={"chain_id": 1, "timeout_s": 20.0},
        )
        held = connection.execute(
            """
            select block_number, log_index, '0x' || lower(hex(tx_hash)), '0x' || lower(hex(from_address)),
                '0x' || lower(hex(to_address)),
                value_raw.limb3, value_raw.limb2, value_raw.limb1, value_raw.limb0
            from raw_chain__transfers
            """
        ).fetchall()
        assert_contiguous(connection)
    assert (report.complete, report.to_block, report.log_count) == (True, LAST_BLOCK, 30_389)
    assert report.requests < (LAST_BLOCK - FIRST_BLOCK) / WIDE_BLOCKS
    assert [(*row[:5], _uint256(row[5:])) for row in held] == [
        (
            int(log["blockNumber"], 16),
            int(log["logIndex"], 16),
            log["transactionHash"],
            "0x" + log["topics"][1][26:],
            "0x" + log["topics"][2][26:],
            int(log["data"], 16),
        )
        for log in logs
    ]


def _uint256(limbs):
    return sum(limb << place for limb, place in zip(limbs, (192, 128, 64, 0), strict=True))
