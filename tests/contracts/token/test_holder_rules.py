"""Retention, schedule, cursors and decimals of the holders room, and the judgement of evidence."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.base import Quality
from contracts.errors import CursorInvalid
from contracts.token.holder_documents import SizeCohort
from contracts.token.holders import (
    SIZE_COHORTS,
    ListAge,
    decimal_text,
    decode_cursor,
    due_snapshot,
    encode_cursor,
    retained_blocks,
)
from contracts.token.proof import (
    ContractAnswers,
    FoldedSupply,
    Missing,
    Verdict,
    decode_uint,
    held_by_zero,
    judge,
    pick_sample,
    quality_of,
    why_missing,
    with_storage,
)
from contracts.token.storage_proof import StorageProof, StorageReason, StorageVerdict

NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
HASH = "0x" + "ab" * 32


def taken(block: int, ago: timedelta, *, snapshot: bool = False) -> ListAge:
    return ListAge(block, NOW - ago, snapshot)


def test_plain_lists_are_kept_two_hours_and_the_newest_three() -> None:
    lists = [taken(10 - hours, timedelta(hours=hours)) for hours in range(8)]
    assert retained_blocks(lists, NOW) == {10, 9, 8}
    assert retained_blocks(lists, NOW + timedelta(days=1)) == {10, 9, 8}
    many = [taken(100 - minutes, timedelta(minutes=30 * minutes)) for minutes in range(9)]
    assert retained_blocks(many, NOW) == {100, 99, 98, 97, 96}


def test_snapshots_thin_out_to_one_a_day_and_the_two_newest_stay_for_ever() -> None:
    hourly = [taken(10_000 - hours, timedelta(hours=hours), snapshot=True) for hours in range(24 * 100)]
    kept = retained_blocks(hourly, NOW)
    assert {10_000 - hours for hours in range(49)} <= kept
    older = sorted(10_000 - block for block in kept if block < 10_000 - 48)
    assert older == [24 * days + 12 for days in range(2, 90)]
    assert retained_blocks(hourly, NOW + timedelta(days=900)) == {10_000, 9_999, 9_998}


@given(
    st.lists(
        st.tuples(st.integers(0, 10**6), st.integers(0, 200 * 24 * 60), st.booleans()), unique_by=lambda each: each[0]
    )
)
def test_retention_keeps_the_newest_and_never_invents(drawn: list[tuple[int, int, bool]]) -> None:
    lists = [taken(block, timedelta(minutes=ago), snapshot=snapshot) for block, ago, snapshot in drawn]
    kept = retained_blocks(lists, NOW)
    assert kept <= {each.block for each in lists}
    assert set(sorted((each.block for each in lists), reverse=True)[:3]) <= kept
    assert set(sorted((each.block for each in lists if each.snapshot), reverse=True)[:2]) <= kept


@pytest.mark.parametrize(
    ("latest", "due"),
    [
        (None, "first"),
        (NOW - timedelta(minutes=1), "hourly"),
        (NOW + timedelta(minutes=1), None),
        (NOW - timedelta(hours=13), "daily"),
    ],
)
def test_a_snapshot_is_due_in_every_hour_and_day(latest: datetime | None, due: str | None) -> None:
    assert due_snapshot(latest, NOW + timedelta(minutes=5)) == due


@given(st.integers(0, 10**17), st.integers(0, 10**11))
def test_a_cursor_comes_back_as_it_went(block: int, rank: int) -> None:
    assert decode_cursor(encode_cursor(block, rank)) == (block, rank)


@given(st.text(max_size=40))
def test_any_other_text_is_no_cursor(text: str) -> None:
    with pytest.raises(CursorInvalid):
        decode_cursor(text)


def test_a_cursor_with_one_changed_letter_is_refused() -> None:
    cursor = encode_cursor(16132364, 5000)
    for place in range(len(cursor) - 1):
        with pytest.raises(CursorInvalid):
            decode_cursor(cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :])


@given(st.integers(-(2**256), 2**256), st.integers(0, 77))
def test_decimals_are_exact_and_short(raw: int, decimals: int) -> None:
    text = decimal_text(raw, decimals)
    assert Decimal(text) == Decimal(raw).scaleb(-decimals, Context(prec=200))
    assert "." not in text or not text.endswith(("0", "."))


def test_every_size_cohort_has_its_name_in_the_model() -> None:
    assert [name for name, _ in SIZE_COHORTS] == [cohort.value for cohort in SizeCohort]


def folded(**odd: int) -> FoldedSupply:
    facts = {"holders": 2, "held": 90, "minted": 100, "sent_to_zero": 10, "zero_to_zero": 0, "negative_balances": 0}
    return FoldedSupply(**(facts | odd))


def answers(**odd: object) -> ContractAnswers:
    facts: dict[str, object] = {
        "total_supply": 90,
        "balance_of_zero": 0,
        "balances": (("0xa", 60, 60), ("0xb", 30, 30)),
        "block_hash": HASH,
    }
    return ContractAnswers(**(facts | odd))


@pytest.mark.parametrize(
    ("facts", "said", "verdict", "reason", "quality"),
    [
        ({}, {}, Verdict.PROVEN, None, Quality.EXACT),
        ({}, {"derived": True}, Verdict.PROVEN, "derived", Quality.DERIVED),
        ({"negative_balances": 1}, {}, Verdict.FAILED, "negative_balance", Quality.ESTIMATED),
        ({"held": 91}, {}, Verdict.FAILED, "sum_mismatch", Quality.ESTIMATED),
        ({}, {"total_supply": 91}, Verdict.FAILED, "supply_mismatch", Quality.ESTIMATED),
        ({}, {"balances": (("0xa", 60, 59),)}, Verdict.FAILED, "balance_mismatch", Quality.ESTIMATED),
        ({}, {"block_hash": "0x" + "cd" * 32}, Verdict.FAILED, "block_hash_mismatch", Quality.ESTIMATED),
        ({}, {"total_supply": Missing.EMPTY}, Verdict.UNPROVEN, "no_supply", Quality.DERIVED),
        ({}, {"total_supply": Missing.NO_STATE}, Verdict.UNPROVEN, "no_state", Quality.DERIVED),
        ({}, {"balances": (("0xa", 60, Missing.EMPTY),)}, Verdict.UNPROVEN, "no_balance_of", Quality.DERIVED),
        ({}, {"block_hash": Missing.RPC_UNAVAILABLE}, Verdict.UNPROVEN, "rpc_unavailable", Quality.DERIVED),
        (
            {},
            {"balances": (("0xa", 60, Missing.CALL_REVERTED), ("0xb", 30, 31))},
            Verdict.FAILED,
            "balance_mismatch",
            Quality.ESTIMATED,
        ),
    ],
)
def test_evidence_is_judged(
    facts: dict[str, int], said: dict[str, object], verdict: Verdict, reason: str | None, quality: Quality
) -> None:
    proof = judge(folded(**facts), answers(**said), block=7, block_hash=HASH, ranges_reasked=3)
    assert (proof.verdict, proof.reason, proof.ranges_reasked) == (verdict, reason, 3)
    assert quality_of(proof) is quality


@pytest.mark.parametrize(
    ("zero_to_zero", "supply", "of_zero", "held"),
    [
        (0, 90, 0, 0),
        (5, 95, 5, 5),
        (0, 95, 5, 5),
        (5, 90, 5, 0),
        (0, 95, 4, 0),
        (0, 101, 11, 0),
        (5, Missing.EMPTY, Missing.EMPTY, 5),
        (5, Missing.RPC_UNAVAILABLE, 3, 5),
    ],
)
def test_the_zero_address_holds_what_the_supply_lacks_and_the_contract_confirms(
    zero_to_zero: int, supply: int | Missing, of_zero: int | Missing, held: int
) -> None:
    said = answers(total_supply=supply, balance_of_zero=of_zero)
    assert held_by_zero(folded(zero_to_zero=zero_to_zero), said) == held


def test_the_sample_is_deterministic_and_holds_the_five_largest() -> None:
    holders = [f"0x{number * 0x1234567 % 2**160:040x}" for number in range(1, 500)]
    sample = pick_sample(holders, HASH)
    assert sample == pick_sample(holders, HASH) and sample[:5] == holders[:5]
    assert len(sample) == len(set(sample)) and set(sample) <= set(holders)
    assert pick_sample([], HASH) == []


@pytest.mark.parametrize(
    ("code", "message", "why"),
    [
        (-32000, "missing trie node 1234 (path ) state 0xab is not available", Missing.NO_STATE),
        (-32000, "old data not available due to pruning", Missing.NO_STATE),  # Erigon 3
        (-32000, "header not found", Missing.NO_STATE),
        (-32000, "historical state 0xab is not available", Missing.NO_STATE),
        (-32602, "BlockOutOfRangeError: block height is 5 but requested was 9", Missing.NO_STATE),
        (3, "execution reverted: no", Missing.CALL_REVERTED),
        (-32015, "VM execution error: revert", Missing.CALL_REVERTED),
        (-32603, "internal error", Missing.RPC_UNAVAILABLE),
    ],
)
def test_errors_of_a_call_are_told_apart(code: int, message: str, why: Missing) -> None:
    assert why_missing(code, message) is why


@pytest.mark.parametrize("result", ["0x", None, 5, "0x01", "junk"])
def test_data_that_is_no_number_means_that_there_is_no_such_function(result: object) -> None:
    assert decode_uint(result) is Missing.EMPTY


def storage_of(verdict: StorageVerdict, reason: StorageReason | None) -> StorageProof:
    return StorageProof(
        verdict=verdict,
        reason=reason,
        proven=0,
        unequal=0,
        supply=None,
        balance_layout=None,
        supply_layout=None,
        file=None,
    )


@pytest.mark.parametrize(
    ("supply", "storage", "verdict", "reason"),
    [
        (90, storage_of(StorageVerdict.PROVEN, None), Verdict.PROVEN, None),
        (90, storage_of(StorageVerdict.UNPROVEN, StorageReason.NO_STATE), Verdict.PROVEN, None),
        (90, storage_of(StorageVerdict.FAILED, StorageReason.BALANCE_MISMATCH), Verdict.FAILED, "storage_mismatch"),
        (91, storage_of(StorageVerdict.FAILED, StorageReason.SUPPLY_MISMATCH), Verdict.FAILED, "supply_mismatch"),
        (91, storage_of(StorageVerdict.PROVEN, None), Verdict.FAILED, "supply_mismatch"),
    ],
)
def test_a_storage_that_contradicts_the_list_fails_what_samples_had_proven(
    supply: int, storage: StorageProof, verdict: Verdict, reason: str | None
) -> None:
    totals = FoldedSupply(holders=2, held=90, minted=90, sent_to_zero=0, zero_to_zero=0, negative_balances=0)
    said = ContractAnswers(total_supply=supply, balance_of_zero=0, balances=(("0x", 90, 90),), block_hash=HASH)
    proof = with_storage(judge(totals, said, block=1, block_hash=HASH, ranges_reasked=0), storage)
    assert (proof.verdict, proof.reason, proof.storage) == (verdict, reason, storage)
