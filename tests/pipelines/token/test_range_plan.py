import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.evm.codec import BlockHeader, TooLarge
from pipelines.token.range_plan import TARGET_LOGS, Span, covers, drawn, next_range, overlaps
from pipelines.token.times import are_possible, block_times


def test_empty_history_is_crossed_in_few_requests():
    span, asked, first = Span(), 0, 0
    while first < 8_000_000:
        span, first, asked = span.after_success((first, first + span.blocks - 1), 0), first + span.blocks, asked + 1
    assert asked < 10


def test_a_range_that_is_too_large_is_halved():
    assert Span(blocks=1000).after_too_large((0, 999), TooLarge()).blocks == 500


def test_a_suggested_range_is_taken_only_when_strictly_narrower():
    span = Span(blocks=1000)
    assert span.after_too_large((0, 999), TooLarge(suggested=(0, 99))).blocks == 100
    assert span.after_too_large((0, 999), TooLarge(suggested=(0, 999))).blocks == 500
    assert span.after_too_large((0, 999), TooLarge(suggested=(5, 99))).blocks == 500


def test_the_widest_range_a_node_takes_is_remembered():
    span = Span(blocks=1000).after_too_large((0, 999), TooLarge(max_blocks=300, structural=True))
    assert span.blocks == 300
    for first in range(0, 3000, 300):
        span = span.after_success((first, first + span.blocks - 1), 0)
    assert span.blocks == 300


def test_a_dense_answer_narrows_the_next_range_to_the_target():
    assert Span(blocks=100).after_success((0, 99), 4 * TARGET_LOGS).blocks == 25


def test_growth_is_careful_after_a_refusal_and_fast_again_in_emptiness():
    span = Span(blocks=1000).after_too_large((0, 999), TooLarge())
    careful = span.after_success((0, 499), 5_000)
    assert careful.blocks == 626
    assert careful.after_success((500, 1125), 0).blocks == 6260


def test_answers_of_another_width_change_nothing():
    assert Span(blocks=1000).after_success((0, 99), 0) == Span(blocks=1000)


@given(st.integers(0, 10_000), st.integers(1, 5_000), st.booleans(), st.none() | st.integers(0, 20_000))
def test_refusals_always_narrow_until_one_block_is_left(first, width, structural, suggested_to):
    span = Span(blocks=width)
    suggestion = None if suggested_to is None else (first, suggested_to)
    for _ in range(14):
        asked = (first, first + span.blocks - 1)
        narrower = span.after_too_large(asked, TooLarge(suggestion, None, structural))
        assert narrower.blocks < span.blocks or span.blocks == 1
        span = narrower
    assert span.blocks == 1 or suggestion is not None


@given(st.lists(st.tuples(st.integers(0, 90), st.integers(0, 9)), max_size=6), st.integers(1, 30))
def test_the_next_range_is_the_lowest_gap_and_never_overlaps(starts, blocks):
    active, taken = [], set()
    for start, width in starts:
        covered = set(range(start, start + width + 1))
        if not covered & taken:
            active.append((start, start + width))
            taken |= covered
    asked = next_range(active, from_block=0, to_block=99, blocks=blocks)
    gaps = sorted(set(range(100)) - taken)
    if asked is None:
        assert not gaps
    else:
        assert asked[0] == gaps[0]
        assert asked[1] - asked[0] < blocks
        assert set(range(asked[0], asked[1] + 1)) <= set(gaps)


def test_about_one_range_in_sixteen_is_drawn_and_chance_alone_decides():
    draws = [[drawn(chance) for _ in range(3_200)] for chance in (random.Random(1), random.Random(2))]
    assert all(140 < sum(draw) < 260 for draw in draws)
    assert draws[0] != draws[1]


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [((1, 5), (5, 9), True), ((1, 5), (6, 9), False), ((3, 4), (1, 9), True), ((7, 7), (1, 6), False)],
)
def test_ranges_overlap_where_they_share_a_block(one, other, overlap):
    assert overlaps(one, other) is overlaps(other, one) is overlap


@pytest.mark.parametrize(
    ("ranges", "covered"),
    [([], False), ([(1, 9)], True), ([(1, 4), (5, 12)], True), ([(1, 4), (6, 12)], False), ([(3, 9)], False)],
)
def test_a_range_is_covered_where_all_of_its_blocks_are(ranges, covered):
    assert covers(ranges, (2, 9)) is covered


def header(number, time_s):
    return BlockHeader(number, "0x", "0x", time_s)


def test_times_between_anchors_on_one_line_are_exact():
    times, exact = block_times(np.array([3, 7]), [header(0, 100), header(5, 110), header(10, 120)])
    assert (times.tolist(), exact) == ([106, 114], True)


def test_times_between_uneven_anchors_are_estimated():
    times, exact = block_times(np.array([3, 7]), [header(0, 100), header(5, 111), header(10, 120)])
    assert (times.tolist(), exact) == ([106, 114], False)


def test_two_anchors_are_not_enough_for_exact_times_unless_they_are_neighbours():
    assert block_times(np.array([5]), [header(0, 100), header(10, 120)])[1] is False
    assert block_times(np.array([10]), [header(9, 118), header(10, 120)])[1] is True


@pytest.mark.parametrize(
    ("times", "possible"),
    [
        ([100, 104, 104, 120], True),
        ([100, 100, 100, 120], True),  # chains with several blocks a second
        ([104, 100, 100, 120], False),
        ([100, 104, 105, 120], False),  # two times of one block
        ([100, 104, 104, 119], False),  # a time other than that of the last block
        ([100, 104, 121, 120], False),
        ([0, 104, 104, 120], False),
        ([0, 0, 0, 0], False),
    ],
)
def test_impossible_times_are_detected(times, possible):
    assert are_possible(np.array([1, 3, 3, 10]), np.array(times), header(10, 120)) is possible


def test_rows_before_the_last_block_are_not_later_than_it():
    assert are_possible(np.array([3]), np.array([120]), header(10, 120))
    assert not are_possible(np.array([3]), np.array([121]), header(10, 120))
    assert are_possible(np.empty(0, np.int64), np.empty(0, np.int64), header(10, 120))
