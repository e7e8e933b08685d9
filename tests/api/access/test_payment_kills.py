"""S25: a server that is killed between store, send and answer charges once, and answers the same request after it."""

from __future__ import annotations

from payment_kills import STEPS, killed_at
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
