from kill_rounds import killed_rounds
from rounds import ROUNDS


def test_ingestion_killed_at_random_points_loses_and_duplicates_no_row(tmp_path):
    outcome = killed_rounds(tmp_path, rounds=2 * ROUNDS, seed=7)
    assert outcome.kills == 2 * ROUNDS
    assert outcome.midway >= 1
    assert outcome.rows == outcome.expected == 20_000
