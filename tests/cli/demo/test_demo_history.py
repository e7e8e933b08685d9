import random
from collections import Counter

from eth_abi.abi import encode
from hypothesis import given
from hypothesis import strategies as st

from cli.demo.history import (
    HISTORY_S,
    NEWEST_AGE_S,
    Movement,
    PlannedBlock,
    balances_after,
    person,
    plan_history,
    plan_traffic,
)
from cli.demo.write import move_calldata
from contracts.evm.codec import selector
from contracts.token.holders import ZERO_ADDRESS

BIDWALL = "0x" + "bd" * 20


def movements() -> list[Movement]:
    return [movement for block in plan_history(BIDWALL) for movement in block.movements]


def test_the_history_is_equal_for_equal_arguments_and_differs_by_seed():
    assert plan_history(BIDWALL) == plan_history(BIDWALL)
    assert plan_history(BIDWALL) != plan_history(BIDWALL, seed=1)


def test_movements_are_sent_as_eth_abi_encodes_them():
    for block in [*plan_history(BIDWALL)[::40], PlannedBlock(0, (), 0)]:
        rows = [(movement.sender, movement.recipient, movement.value_raw) for movement in block.movements]
        encoded = encode(["(address,address,uint256)[]"], [rows])
        assert move_calldata(block.movements) == selector("move((address,address,uint256)[])") + encoded.hex()


def test_the_history_is_as_large_and_as_mixed_as_promised():
    told = movements()
    balances = balances_after(told)
    kinds = Counter(
        "mint"
        if movement.sender == ZERO_ADDRESS
        else "burn"
        if movement.recipient == ZERO_ADDRESS
        else "zero"
        if movement.value_raw == 0
        else "self"
        if movement.sender == movement.recipient
        else "bidwall"
        if BIDWALL in (movement.sender, movement.recipient)
        else "plain"
        for movement in told
    )
    holders = sorted((balance for balance in balances.values() if balance > 0), reverse=True)
    assert len(told) >= 20_000
    assert len(holders) >= 2_000
    assert sum(balance == 0 for balance in balances.values()) >= 200
    assert set(kinds) == {"mint", "burn", "zero", "self", "bidwall", "plain"}
    assert min(kinds.values()) >= 4
    assert 0.5 < sum(holders[:10]) / sum(holders) < 0.99


def test_no_movement_overdraws_its_sender():
    balances = Counter()
    for movement in movements():
        if movement.sender != ZERO_ADDRESS:
            assert balances[movement.sender] >= movement.value_raw
        balances[movement.sender] -= movement.value_raw
        balances[movement.recipient] += movement.value_raw


def test_the_history_fits_in_a_hundred_blocks_over_thirty_days_oldest_first():
    blocks = plan_history(BIDWALL)
    ages = [block.age_s for block in blocks]
    assert len(blocks) <= 100
    assert ages == sorted(ages, reverse=True)
    assert ages[0] == HISTORY_S
    assert NEWEST_AGE_S <= ages[-1] < 2 * NEWEST_AGE_S
    assert sum(block.native_to_bidwall_wei > 0 for block in blocks) > 10


@given(
    st.integers(),
    st.dictionaries(st.integers(0, 50).map(person), st.integers(0, 2**200), min_size=2, max_size=30),
)
def test_traffic_never_moves_more_than_a_sender_holds(seed, balances):
    planned = plan_traffic(random.Random(seed), balances)
    senders = [movement.sender for movement in planned]
    assert len(set(senders)) == len(senders) >= 2
    assert all(0 <= movement.value_raw <= balances[movement.sender] for movement in planned)
