"""Codes are issued, used, raced, expired and closed in any order and over restarts: one code opens one session."""

from __future__ import annotations

import secrets
from datetime import timedelta
from typing import Any

import pytest
from connect_desk import Clock, Desk, opened
from hypothesis import settings as hypothesis
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from rounds import ROUNDS

from api.connect.service import CODE_WINDOW_S, TRIES_OF_A_CODE
from contracts.connect.pairing import CODE_LIVES
from contracts.connect.sessions import SESSION_LIVES, Session
from contracts.connect.tool_problems import ToolProblem
from contracts.settings import Settings

RACERS = 16


def pairing(settings: Settings, clock: Clock) -> type[RuleBasedStateMachine]:
    """Returns the machine on one ledger, on which its runs follow one another."""

    class Pairing(RuleBasedStateMachine):
        codes = Bundle("codes")
        tokens = Bundle("tokens")

        def __init__(self) -> None:
            super().__init__()
            self.desk = Desk(settings, clock)
            self.good_until: dict[str, Any] = {}
            self.tries: dict[tuple[str, int], int] = {}
            self.open_until: dict[str, Any] = {}

        @rule(target=codes)
        def issue(self) -> str:
            code = self.desk.give()
            self.good_until[code] = clock.now + CODE_LIVES
            return code

        @rule(target=codes)
        def guess(self) -> str:
            return secrets.token_urlsafe(6)

        @rule(target=tokens, code=codes, racers=st.sampled_from([1, 1, 2, RACERS]))
        def redeem(self, code: str, racers: int) -> str | None:
            window = (code, int(clock.now.timestamp()) // CODE_WINDOW_S)
            tried = self.tries.get(window, 0)
            self.tries[window] = tried + racers
            results = opened(self.desk.at_once(*[code] * racers))
            is_good = code in self.good_until and clock.now < self.good_until.pop(code) and tried < TRIES_OF_A_CODE
            assert len(results) == int(is_good)
            if not results:
                return None
            token = results[0].session_token
            self.open_until[token] = clock.now + SESSION_LIVES
            return token

        @rule(target=tokens)
        def pair(self) -> Any:
            return self.redeem(self.issue(), 1)

        @rule(token=tokens)
        def close(self, token: str | None) -> None:
            if token is not None:
                self.desk.close(token)
                self.open_until[token] = min(self.open_until[token], clock.now)

        @rule(minutes=st.sampled_from([1, 9, 10, 20, 30]))
        def wait(self, minutes: int) -> None:
            clock.ahead(timedelta(minutes=minutes))

        @rule()
        def restart(self) -> None:
            self.desk.__exit__(None, None, None)
            self.desk = Desk(settings, clock)

        @invariant()
        def a_session_is_open_until_its_end(self) -> None:
            for token, until in self.open_until.items():
                found = self.desk.session(token)
                if clock.now < until:
                    assert isinstance(found, Session), found
                else:
                    assert isinstance(found, ToolProblem) and found.code == "session_ended"

        def teardown(self) -> None:
            self.desk.__exit__(None, None, None)

    return Pairing


@pytest.mark.both_engines
def test_pairing_in_any_order(ledger_settings: Settings):
    machine = pairing(ledger_settings, Clock())
    few = hypothesis(max_examples=3 * ROUNDS, stateful_step_count=20, deadline=None)
    run_state_machine_as_test(machine, settings=few)
