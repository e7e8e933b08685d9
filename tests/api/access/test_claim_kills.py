"""L2: a buyer who paid gets exactly one key, although the server of two workers is killed; `make soak` kills more."""

from __future__ import annotations

from claim_kills import BUYERS, killed_rounds
from rounds import ROUNDS
from seeds import seed_of_run

from contracts.settings import Settings


def test_a_killed_server_loses_and_duplicates_no_claim(ledger_settings: Settings) -> None:
    outcome = killed_rounds(ledger_settings, kills=ROUNDS, seed=seed_of_run(), between_s=0.5)
    assert (outcome.kills, outcome.lost, outcome.doubled) == (ROUNDS, 0, 0)
    assert (outcome.unsound, outcome.leaked) == (set(), set())
    assert len(outcome.acknowledged) >= (ROUNDS + 1) * BUYERS
    assert outcome.answered_late > 0, "no buyer was ever in the middle of anything"
