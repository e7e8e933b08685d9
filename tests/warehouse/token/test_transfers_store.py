import numpy as np
import pytest
from ingest_helpers import held_blocks, warehouse

from pipelines.token.decode import TransferColumns
from warehouse.token.transfers import (
    RangeAppender,
    RangeRead,
    TipBlock,
    last_checkpoint,
    replace_tip,
    tip_blocks,
)


@pytest.fixture
def connection(tmp_path):
    with warehouse(tmp_path) as opened:
        yield opened


def rows(*blocks):
    """Returns one transfer of 2^64 + 1 for each block."""
    count = len(blocks)
    value_raw = np.zeros((count, 32), np.uint8)
    value_raw[:, 23] = value_raw[:, 31] = 1
    columns = TransferColumns(
        block_number=np.array(blocks, np.int64),
        log_index=np.zeros(count, np.int32),
        tx_hash=np.zeros((count, 32), np.uint8),
        from_address=np.full((count, 20), 1, np.uint8),
        to_address=np.full((count, 20), 2, np.uint8),
        value_raw=value_raw,
        block_timestamp=None,
    )
    return columns.to_arrow(np.array(blocks, np.int64), exact=True)


def read(first, last, *blocks, reasked=False):
    return RangeRead(first, last, f"0x{last}", last, "digest", "host", reasked, rows(*blocks))


def append(connection, *ranges):
    appender = RangeAppender(connection)
    try:
        appender.append(ranges)
    except ValueError:
        appender.rollback()
        raise
    appender.commit()


def held_ranges(connection):
    """Returns first and last block, rows, and whether a second node confirmed them, for each stored range."""
    return connection.execute("select from_block, to_block, log_count, reasked from raw_chain__ranges").fetchall()


def test_ranges_and_their_rows_are_held_together(connection):
    append(connection, read(5, 9, 6), read(10, 19, 12, 19, reasked=True))
    checkpoint = last_checkpoint(connection)
    assert checkpoint is not None
    assert (checkpoint.from_block, checkpoint.to_block, checkpoint.to_block_hash) == (10, 19, "0x19")
    assert held_blocks(connection) == [(6, 0), (12, 0), (19, 0)]
    assert held_ranges(connection) == [(5, 9, 1, False), (10, 19, 2, True)]
    limbs = connection.execute("select distinct value_raw from raw_chain__transfers").fetchall()
    assert limbs == [({"limb3": 0, "limb2": 0, "limb1": 1, "limb0": 1},)]


@pytest.mark.parametrize("later", [read(21, 29, 25), read(19, 29, 25), read(5, 9), read(20, 19)])
def test_a_gap_or_an_overlap_is_refused_and_leaves_nothing_behind(connection, later):
    append(connection, read(5, 19, 6))
    with pytest.raises(ValueError, match="do not follow"):
        append(connection, later)
    with pytest.raises(ValueError, match="do not follow"):
        append(connection, read(20, 24, 22), read(26, 29))
    assert held_blocks(connection) == [(6, 0)]


def test_ranges_of_one_transaction_are_held_together_or_not_at_all(connection):
    appender = RangeAppender(connection)
    appender.append([read(5, 9, 6)])
    appender.append([read(10, 19, 12)])
    appender.rollback()
    assert held_blocks(connection) == []
    assert last_checkpoint(connection) is None
    appender.append([read(5, 9, 6)])
    appender.commit()
    appender.commit()
    appender.rollback()
    assert held_blocks(connection) == [(6, 0)]


def test_an_empty_store_has_no_checkpoint(connection):
    assert last_checkpoint(connection) is None
    assert held_ranges(connection) == []


def test_a_tip_is_kept_within_bounds_and_appended_to(connection):
    first = [TipBlock(number, f"0x{number}", f"0x{number - 1}", number) for number in (10, 11, 12)]
    replace_tip(connection, first_kept=0, last_kept=-1, blocks=first, rows=[rows(10, 11, 12)])
    other = TipBlock(12, "0xother", "0x11", 13)
    replace_tip(connection, first_kept=11, last_kept=11, blocks=[other], rows=[rows(12)])
    assert tip_blocks(connection) == [first[1], other]
    assert held_blocks(connection, "raw_chain__tip_transfers") == [(11, 0), (12, 0)]
