"""A table is divided by ranges of blocks: every row is in one file, and a new block changes few files."""

from bisect import bisect_left, bisect_right
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.open_data.block_ranges import BlockRange, RangeFacts, plan_ranges
from contracts.open_data.names import FileName, parse_file_name


def plan(blocks: list[int], last_block: int | None = None, **limits: int) -> list[BlockRange]:
    """Plans ranges for rows at `blocks`, which ascend."""

    def facts_of(first: int, last: int) -> RangeFacts:
        within = blocks[bisect_left(blocks, first) : bisect_right(blocks, last)]
        return RangeFacts(len(within), within[-1] if within else -1, sum(within))

    small = {"longest_blocks": 1000, "most_rows": 20, "most_growing_rows": 5}
    return plan_ranges(max(blocks, default=-1) if last_block is None else last_block, facts_of, **(small | limits))


def spans(ranges: list[BlockRange]) -> list[tuple[int, int, int]]:
    return [(part.first, part.last, part.facts.rows) for part in ranges]


@pytest.mark.parametrize(
    ("blocks", "last_block", "expected"),
    [
        ([], -1, []),
        ([], 5000, []),
        ([7], 7, [(0, 999, 1)]),
        ([7], 900, [(0, 999, 1)]),
        ([7], 999, [(0, 999, 1)]),
        ([7, 1500], 1500, [(0, 999, 1), (1000, 1999, 1)]),
        ([1, 2, 3, 101, 102, 103], 110, [(0, 99, 3), (100, 199, 3)]),
        ([5] * 8, 5, [(5, 5, 8)]),
        ([5] * 30, 2000, [(5, 5, 30)]),
    ],
)
def test_rows_are_divided_where_ranges_end_and_where_files_grow(blocks, last_block, expected):
    assert spans(plan(blocks, last_block)) == expected


histories = st.lists(st.integers(0, 4000), max_size=120).map(sorted)


@given(histories)
def test_every_row_is_in_exactly_one_file(blocks):
    files = plan(blocks)
    assert sum(file.facts.rows for file in files) == len(blocks)
    assert all(before.last < after.first for before, after in pairwise(files))
    assert {block for block in blocks if any(file.first <= block <= file.last for file in files)} == set(blocks)


@given(histories, st.lists(st.integers(1, 400), max_size=10))
def test_new_blocks_leave_the_files_of_complete_ranges_unless_these_join(blocks, steps):
    before = {(file.first, file.last): file.facts for file in plan(blocks)}
    highest = max(blocks, default=0)
    after = {
        (file.first, file.last): file.facts for file in plan([*blocks, *(highest + step for step in sorted(steps))])
    }
    for span, facts in after.items():
        assert span not in before or before[span] == facts or span[1] >= highest


@pytest.mark.parametrize(
    "name",
    [
        FileName("transfers", first_block=0, last_block=999),
        FileName("holders", first_block=20, last_block=20),
        FileName("holders", "csv.gz", first_block=20, last_block=20),
        FileName("token_prices", day="2026-01-02"),
        FileName("trust_scores"),
        FileName("trust_scores", "csv"),
    ],
)
def test_a_file_name_says_which_rows_it_has(name):
    assert parse_file_name(str(name)) == name


@pytest.mark.parametrize("name", ["svc.duckdb", "index.json", "transfers-1-.parquet", "../etc.parquet", "x.parquet.gz"])
def test_other_files_are_no_data_files(name):
    assert parse_file_name(name) is None
