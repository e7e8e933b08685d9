"""S25: a server that is killed between store, send and answer charges once, and answers the same request afterwards; so
does one whose PostgreSQL fails over at that point."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from payment_kills import STEPS, Step, killed_at
from postgres_fixtures import postgres_binaries, temporary_postgres
from rounds import chosen

from cli.demo.anvil import Anvil
from contracts.access.plans import load_calls
from contracts.settings import Settings


def test_a_server_that_is_killed_while_it_settles_charges_once_and_answers_what_was_paid(
    ledger_settings: Settings, anvil: Anvil
) -> None:
    steps = chosen(list(STEPS), others=len(STEPS))
    outcome = killed_at(ledger_settings, anvil, steps)
    price = load_calls()["POST /api/v2/guardrail/check"].price
    assert (outcome.kills, outcome.unanswered) == (len(steps), len(steps))
    assert outcome.charged == [price] * len(steps)
    assert (outcome.used, outcome.paid, outcome.paid_without_answer) == (len(steps), len(steps), 0)
    assert (len(set(outcome.answers)), outcome.other_answers) == (len(steps), 0)
    assert outcome.unsound == set()


def test_a_ledger_that_fails_over_while_a_payment_settles_charges_once_and_puts_off_with_a_clear_problem(
    tmp_path: Path, anvil: Anvil
) -> None:
    if (binaries := postgres_binaries()) is None:
        pytest.fail("no PostgreSQL") if os.environ.get("CI") else pytest.skip("no PostgreSQL server here")
    in_the_middle = Step("after", "eth_sendRawTransaction")
    steps = chosen(sorted(STEPS, key=lambda step: step != in_the_middle), others=len(STEPS))
    # PostgreSQL ends with the thread that started it
    with ThreadPoolExecutor(1) as starting, temporary_postgres(binaries) as server:
        settings = Settings(_env_file=None, data_dir=tmp_path, ledger_url=server.url(server.new_ledger()))
        outcome = killed_at(settings, anvil, steps, lambda: starting.submit(server.crash).result())
    price = load_calls()["POST /api/v2/guardrail/check"].price
    assert outcome.charged == [price] * len(steps)
    assert (outcome.kills, outcome.unanswered) == (0, 0), "the server itself keeps running"
    assert outcome.refusals <= {"store_unusable", "store_busy", "settlement_unavailable"}
    assert (outcome.used, outcome.paid, outcome.paid_without_answer) == (len(steps), len(steps), 0)
    assert (len(set(outcome.answers)), outcome.other_answers) == (len(steps), 0)
    assert outcome.unsound == set()
