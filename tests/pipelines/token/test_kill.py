from kill_rounds import killed_rounds


def test_ingestion_killed_at_random_points_loses_and_doubles_no_row(tmp_path):
    outcome = killed_rounds(tmp_path, rounds=4, seed=7)
    assert outcome.kills == 4
    assert outcome.midway >= 1
    assert outcome.rows == outcome.expected == 20_000
