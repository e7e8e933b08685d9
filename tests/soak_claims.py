"""Kills a server of two workers ten times on each engine while buyers buy, and buys with signed payments with a fault
at every step; run by `make soak`."""

import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from claim_kills import killed_rounds
from coin_chain import MODES
from postgres_fixtures import postgres_binaries, temporary_postgres
from settling_rounds import rounds_of
from signing_wallets import CHECK, LIVE

from contracts.settings import Settings

KILLS = 10
PASSES = 3
"""About 190 runs each, on each engine."""


def soak(engine: str, ledger_url: str | None) -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    with tempfile.TemporaryDirectory() as directory:
        settings = Settings(_env_file=None, data_dir=Path(directory), ledger_url=ledger_url)
        outcome = killed_rounds(settings, KILLS, seed)
    print(
        f"claims on {engine}: {outcome.kills} kills, {len(outcome.acknowledged)} acknowledged, "
        f"{outcome.answered_late} requests without an answer, {outcome.replayed} answers repeated, "
        f"lost {outcome.lost}, doubled {outcome.doubled} (seed {seed})",
        flush=True,
    )
    assert (outcome.lost, outcome.doubled, outcome.unsound, outcome.leaked) == (0, 0, set(), set())


def soak_payments(engine: str, ledger_url: str | None) -> None:
    """Buys by signature while something fails at every step, several times per step."""
    seed, modes = random.SystemRandom().randrange(1 << 32), [(mode, path) for mode in MODES for path in (CHECK, LIVE)]
    with tempfile.TemporaryDirectory() as directory:
        settings = Settings(_env_file=None, data_dir=Path(directory), ledger_url=ledger_url)
        rounds = rounds_of(settings, modes * PASSES, every=1, seed=seed)
    print(
        f"signed payments on {engine}: {rounds.outcomes.total()} runs, {rounds.kills} kills, "
        f"{dict(rounds.outcomes)}, wrong {rounds.wrong} (seed {seed})",
        flush=True,
    )
    assert rounds.wrong == []


def main() -> None:
    soak("SQLite", None)
    soak_payments("SQLite", None)
    binaries = postgres_binaries()
    if binaries is None:
        print("claims on PostgreSQL: no server here")
        return
    with temporary_postgres(binaries) as server:
        soak("PostgreSQL", server.url(server.new_database()))
        soak_payments("PostgreSQL", server.url(server.new_database()))


if __name__ == "__main__":
    main()
