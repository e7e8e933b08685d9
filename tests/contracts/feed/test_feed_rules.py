"""The rules that turn rows into events."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.feed import (
    KEPT,
    AttestationSeen,
    BalanceSeen,
    Event,
    EventKind,
    ListSeen,
    Move,
    attestation_events,
    milestone_events,
    milestones,
    mover_events,
    snapshot_events,
    threshold_events,
    to_keep,
)

NOON = datetime(2026, 1, 1, 12, 0, tzinfo=UTC)
A, B, C = ("0x" + digit * 40 for digit in "abc")


def seen(block, holders=10, *, snapshot=True, sum_raw=10_000):
    return ListSeen(block, NOON + timedelta(minutes=block), snapshot, holders, sum_raw, "exact")


def balance(block, wei):
    return BalanceSeen(block, NOON + timedelta(minutes=block), wei)


def test_a_snapshot_is_an_event_and_another_list_is_not():
    assert [event.id for event in snapshot_events([seen(10), seen(20, snapshot=False), seen(30)])] == [
        "snapshot:10",
        "snapshot:30",
    ]


@pytest.mark.parametrize(
    ("above", "upto", "reached"),
    [
        (0, 99, []),
        (99, 100, [100]),
        (100, 100, []),
        (90, 1100, [100, 250, 500, 1000]),
        (9_999, 26_000, [10_000, 25_000]),
    ],
)
def test_milestones_lie_above_what_was_and_not_above_what_is(above, upto, reached):
    assert milestones(above, upto) == reached


def test_a_milestone_is_reported_once_however_often_the_count_passes_it():
    counts = [90, 110, 95, 105, 260, 240, 255]
    events = milestone_events([seen(block, count) for block, count in enumerate(counts)])
    assert [(event.id, event.block) for event in events] == [("holders:100", 1), ("holders:250", 4)]


def test_the_first_list_that_is_kept_reaches_nothing():
    assert milestone_events([seen(1, 5_000)]) == []
    assert milestone_events([]) == []


def test_movers_of_one_percent_and_more_are_reported_largest_first():
    moves = [Move(A, 0, 100), Move(B, 500, 401), Move(C, 900, 0)]
    events = mover_events(seen(1), seen(2), moves, decimals=2)
    assert [event.facts["address"] for event in events] == [C, A]
    assert events[0].title == f"{C} gave away 9.0 % of all balances"
    assert events[1].text == f"{A} gained 1 (1.0 % of all balances) between blocks 1 and 2."
    assert events[0].id == f"mover:1-2:{C}"


def test_at_most_five_movers_of_a_pair_are_reported_and_none_of_an_empty_token():
    moves = [Move(f"0x{number:040x}", 0, 1000) for number in range(9)]
    assert len(mover_events(seen(1), seen(2), moves, None)) == 5
    assert mover_events(seen(1), seen(2, sum_raw=0), moves, None) == []


@pytest.mark.parametrize(
    ("readings", "ids"),
    [
        ([1, 9], []),
        ([9, 10], ["threshold:1:reached"]),
        ([10, 9], ["threshold:1:left"]),
        ([9, 11, 12, 9, 9, 30], ["threshold:1:reached", "threshold:3:left", "threshold:5:reached"]),
        ([11], []),
    ],
)
def test_a_crossing_is_reported_when_the_side_changes(readings, ids):
    balances = [balance(block, wei) for block, wei in enumerate(readings)]
    assert [event.id for event in threshold_events(reversed(balances), 10)] == ids
    assert threshold_events(balances, None) == []


def test_an_attestation_is_identified_by_its_place_on_the_chain():
    (event,) = attestation_events([AttestationSeen(7, NOON, 3, "0x" + "1" * 64, A, B, 88)])
    assert (event.id, event.path) == (f"attestation:0x{'1' * 64}:3", f"/api/v2/trust/score/{A}")
    assert event.facts["score"] == 88


def event(number):
    return Event(f"e:{number:05}", EventKind.SNAPSHOT, NOON + timedelta(minutes=number), number, "t", "x", "/")


@given(st.lists(st.integers(0, 3 * KEPT), max_size=60), st.integers(0, 60))
def test_a_history_gives_the_same_events_in_whatever_pieces_it_is_read(numbers, cut):
    def kept(*pieces):
        known = []
        for piece in pieces:
            new = to_keep(known, [event(number) for number in piece])
            known = sorted([*known, *((each.occurred_at, each.id) for each in new)], reverse=True)[:KEPT]
        return known

    assert kept(numbers) == kept(numbers[:cut], numbers[cut:]) == kept(numbers, numbers)
    assert len(set(kept(numbers))) == len(kept(numbers))


def test_events_older_than_a_full_table_do_not_come_back():
    known = [(event(number).occurred_at, event(number).id) for number in range(10, 10 + KEPT)]
    assert to_keep(known, [event(3)]) == []
    assert [each.id for each in to_keep(known, [event(5000)])] == ["e:05000"]
