"""S25, L11: kills, lost replies and RPC faults at every step of a signed payment; the relayer's nonces and gas."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from coin_chain import MODES
from rounds import ROUNDS
from seeds import seed_of_run
from settling_rounds import Paying, paying, rounds_of
from signing_wallets import CHECK, LIVE

from contracts.settings import Settings


@pytest.fixture
def service(ledger_settings: Settings) -> Iterator[Paying]:
    with paying(ledger_settings) as made:
        yield made


@pytest.mark.both_engines
def test_whatever_fails_at_whatever_step_nobody_is_charged_twice_or_without_an_answer(
    ledger_settings: Settings,
) -> None:
    """Every fifth step by default; each step in a soak."""
    modes = [(mode, path) for mode in MODES for path in (CHECK, LIVE)]
    rounds = rounds_of(ledger_settings, modes, every=max(1, 6 - ROUNDS), seed=seed_of_run())
    assert rounds.wrong == []
    assert rounds.outcomes["bought"] >= 20
    assert rounds.kills >= 4
