"""Data contracts of the watched contract and of trust: each holds on sound rows and fails on the fault that it is
for."""

import pytest
from ingest_helpers import warehouse

from pipelines.checks import judge
from warehouse.duck.facts import gather_facts
from warehouse.trust.attestations import fold_scores

WALL, ALICE = "ba" * 20, "a1" * 20
SOUND = f"""
insert into raw_chain__subjects values ('raw_chain__contract_transfers', '0x{WALL}', 0);
insert into raw_chain__contract_ranges values (0, 9, '0x', '2026-01-01', 1, 'd', 'n', false, '2026-01-01');
insert into raw_chain__contract_transfers values
    (5, 0, '\\x00'::blob, unhex('{ALICE}'), unhex('{ALICE}'), unhex('{WALL}'),
     {{limb3: 0, limb2: 0, limb1: 0, limb0: 1}}, '2026-01-01', 'exact');
insert into raw_chain__attestation_ranges values (0, 9, '0x', '2026-01-01', 2, 'd', 'n', false, '2026-01-01');
insert into raw_chain__attestations values
    (5, 0, '\\x00'::blob, unhex('{ALICE}'), unhex('{WALL}'), '\\x00'::blob, 1, 80, '2026-01-01', '',
     '2026-01-01', 'exact'),
    (6, 0, '\\x00'::blob, unhex('{ALICE}'), unhex('{WALL}'), '\\x01'::blob, 2, 90, '2026-01-02', '',
     '2026-01-02', 'exact');
insert into core_trust__checks values (9, '0x{ALICE}', 50, true, 85, true, 85, null, '2026-01-02');
insert into out_bidwall__status by name
    select 8453 as chain_id, '5' as balance_wei, 9 as block, '0x' as block_hash, now()::timestamp as block_time,
        9 as events_block, now()::timestamp as recorded_at;
insert into out_bidwall__events values
    ('0x', 5, 0, '0x', '0x', '0x', 'in', {{limb3: 0, limb2: 0, limb1: 0, limb0: 1}}, '2026-01-01', 'exact', 'final');
"""
SUITES = (
    "raw_chain__contract_transfers",
    "raw_chain__attestations",
    "core_trust__scores",
    "out_bidwall__status",
    "core_trust__checks",
)


@pytest.fixture
def sound(tmp_path):
    with warehouse(tmp_path) as connection:
        connection.execute(SOUND)
        fold_scores(connection, "0x" + WALL, 86_400)
        yield connection


def failures(connection, suite: str) -> set[str]:
    facts = gather_facts(connection, suite)
    return {column for _, column, _ in judge(suite, facts).failures}


@pytest.mark.parametrize("suite", SUITES)
def test_sound_rows_and_no_rows_pass(sound, tmp_path, suite):
    assert failures(sound, suite) == set()
    with warehouse(tmp_path / "empty") as empty:
        assert failures(empty, suite) == set()


@pytest.mark.parametrize(
    ("suite", "damage", "fact"),
    [
        (SUITES[0], "insert into raw_chain__contract_transfers from raw_chain__contract_transfers", "doubled_events"),
        (SUITES[0], "delete from raw_chain__contract_transfers", "rows_missing_from_ranges"),
        (SUITES[0], "update raw_chain__contract_transfers set to_address = from_address", "strangers"),
        (
            SUITES[0],
            "insert into raw_chain__contract_ranges "
            "select * replace (11 as from_block, 12 as to_block, 0 as log_count) from raw_chain__contract_ranges",
            "range_gaps",
        ),
        (SUITES[1], "update raw_chain__attestations set score = 0", "scores_out_of_range"),
        (SUITES[1], "delete from raw_chain__attestations where number = 2", "rows_missing_from_ranges"),
        (SUITES[2], "delete from core_trust__history where number = 2", "attestations_not_counted"),
        (SUITES[2], "update core_trust__scores set attestation_count = 1", "counts_unlike_history"),
        (SUITES[2], "update core_trust__scores set weighted_score = 101", "scores_out_of_range"),
        (SUITES[2], "insert into core_trust__scores from core_trust__scores", "doubled_agents"),
        (SUITES[4], "update raw_chain__attestations set number = 3 where number = 2", "number_gaps"),
        (SUITES[4], "update raw_chain__attestations set number = number + 1", "number_gaps"),
        (SUITES[4], "update core_trust__checks set theirs_score = 1", "contradicted_scores"),
        (SUITES[4], "update core_trust__checks set theirs_meets = not ours_meets", "contradicted_scores"),
        (SUITES[3], "update out_bidwall__status set block_hash = null", "balances_without_block"),
        (SUITES[3], "update out_bidwall__events set block = 10", "final_events_above_reach"),
        (SUITES[3], "insert into out_bidwall__events from out_bidwall__events", "doubled_events"),
    ],
)
def test_damage_is_found(sound, suite, damage, fact):
    sound.execute(damage).fetchall()
    assert fact in failures(sound, suite)
