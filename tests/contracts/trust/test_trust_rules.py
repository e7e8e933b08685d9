from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.addresses import address_of
from contracts.bidwall import eth_text, trigger_of
from contracts.trust import NEW, ONE, attested, decayed, level_of, sample_agents

DAY_S = 86_400
CHECKSUMMED = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed"  # from EIP-55


def standing_after(attestations: list[tuple[int, int]], half_life_s: int):
    """Returns the standing after `attestations`: pairs of (seconds since the previous one, score)."""
    at_s, standing = 1_700_000_000, NEW
    for pause_s, score in attestations:
        at_s += pause_s
        standing = attested(standing, score, at_s, half_life_s)
    return standing


ATTESTATIONS = st.lists(st.tuples(st.integers(0, 400 * DAY_S), st.integers(1, 100)), min_size=1, max_size=30)


@given(ATTESTATIONS, st.integers(1, 3650 * DAY_S))
def test_a_weighted_score_lies_among_the_scores_it_is_made_of(attestations, half_life_s):
    scores = [score for _, score in attestations]
    standing = standing_after(attestations, half_life_s)
    assert min(scores) <= standing.weighted_score <= max(scores)
    assert standing.average_score == sum(scores) // len(scores)


@given(ATTESTATIONS, st.integers(DAY_S, 3650 * DAY_S))
def test_integer_arithmetic_is_the_weighted_mean_but_for_the_last_digits(attestations, half_life_s):
    weights = weighted = Fraction(0)
    for pause_s, score in attestations:
        halvings, rest_s = divmod(pause_s, half_life_s)
        factor = Fraction(2 * half_life_s - rest_s, 2 * half_life_s) / 2**halvings
        weights, weighted = weights * factor + 1, weighted * factor + score
    standing = standing_after(attestations, half_life_s)
    assert abs(Fraction(standing.weighted_sum, standing.weight_sum) - weighted / weights) < Fraction(1, 10**12)


@pytest.mark.parametrize(
    ("age_s", "left"),
    [(0, ONE), (5, ONE * 3 // 4), (10, ONE // 2), (15, ONE * 3 // 8), (20, ONE // 4), (10 * 256, 0)],
)
def test_a_weight_halves_with_each_half_life_in_a_straight_line(age_s, left):
    assert decayed(ONE, age_s, 10) == left


def test_the_highest_threshold_that_is_met_is_the_level():
    assert [level_of(score, True) for score in (49, 50, 69, 70, 84, 85, 100)] == [
        "none",
        "low",
        "low",
        "medium",
        "medium",
        "high",
        "high",
    ]
    assert level_of(100, False) == "none"


def test_the_sample_takes_newly_attested_agents_first_and_differs_from_block_to_block():
    agents = [f"0x{number:040x}" for number in range(100)]
    first = sample_agents(agents, agents[:2], "0xaa")
    assert first == sample_agents(agents, agents[:2], "0xaa")
    assert len(set(first)) == 8 and set(agents[:2]) <= set(first)
    assert first != sample_agents(agents, agents[:2], "0xbb")
    assert sorted(sample_agents(agents[:3], agents[:3], "0xaa")) == agents[:3]


@pytest.mark.parametrize("text", [CHECKSUMMED, CHECKSUMMED.lower(), "0x" + CHECKSUMMED[2:].upper()])
def test_an_address_may_be_spelled_plainly_or_with_its_checksum(text):
    assert address_of(text) == CHECKSUMMED.lower()


@pytest.mark.parametrize(
    "text",
    [
        "0x5AAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
        "0x12",
        "",
        CHECKSUMMED[2:],
        CHECKSUMMED + "00",
        CHECKSUMMED[:-1] + "g",
        CHECKSUMMED + "\n",
        "0X" + CHECKSUMMED[2:],
    ],
)
def test_another_spelling_or_a_wrong_checksum_is_refused(text):
    with pytest.raises(ValueError, match="address"):
        address_of(text)


@pytest.mark.parametrize(
    ("balance_wei", "trigger_wei", "reached", "progress", "remaining"),
    [
        (0, 10, False, 0.0, "10"),
        (7, 10, False, 0.7, "3"),
        (10**30 - 1, 10**30, False, 0.999999, "1"),
        (10, 10, True, 1.0, "0"),
        (2**256 - 1, 1, True, 1.0, "0"),
    ],
)
def test_progress_towards_the_trigger_is_cut_so_that_1_means_reached(
    balance_wei, trigger_wei, reached, progress, remaining
):
    found = trigger_of(balance_wei, trigger_wei, None)
    assert (found.reached, found.progress, found.remaining_wei, found.reason) == (reached, progress, remaining, None)


def test_without_a_trigger_or_a_balance_there_is_no_progress_but_a_reason():
    assert trigger_of(5, None, None).reason == "not_configured"
    assert trigger_of(None, 5, "no_state").reason == "no_state"
    assert trigger_of(None, 5, "no_state").progress is None


def test_wei_as_eth_is_exact():
    assert [eth_text(wei) for wei in (0, 1, 10**18, 15 * 10**17)] == ["0", "0.000000000000000001", "1", "1.5"]
