"""Hosts share the database server's clock, whatever their own clocks show."""

from __future__ import annotations

import logging
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from patience import HANG_S
from postgres_fixtures import TemporaryPostgres

from contracts.settings import Settings
from warehouse.ledger.counters import open_counters
from warehouse.ledger.ledger import open_ledger
from warehouse.ledger.server_clock import ASKED_EVERY_S, ServerClock


class Machine:
    """A host whose wall clock is `late_s` behind a server that reports its time."""

    def __init__(self, late_s: float = 0.0) -> None:
        self.server_s = 1_800_000_000.0
        self.monotonic_s = 5.0
        self.late_s = late_s
        self.asked = 0
        self.clock = ServerClock(self._answer, lambda: self.server_s - self.late_s, lambda: self.monotonic_s)

    def pass_by(self, seconds: float) -> None:
        self.server_s += seconds
        self.monotonic_s += seconds

    def _answer(self) -> float:
        self.asked += 1
        return self.server_s


def test_between_two_answers_the_time_that_passed_here_is_added():
    machine = Machine(late_s=7_200)
    machine.clock.keep_right()
    machine.pass_by(3.5)
    assert machine.clock.now_s() == machine.server_s
    machine.late_s = -500_000  # setting this host's clock changes nothing
    assert machine.clock.now_s() == machine.server_s


def test_the_server_is_asked_once_in_ten_seconds():
    machine = Machine()
    for _ in range(30):
        machine.clock.keep_right()
        machine.pass_by(1.0)
    assert machine.asked == 30 / ASKED_EVERY_S


def test_before_the_servers_first_answer_this_hosts_clock_counts():
    machine = Machine(late_s=10)
    assert machine.clock.now_s() == machine.server_s - 10


@pytest.mark.parametrize(("late_s", "said"), [(3_600, "3600 s behind"), (-90, "90 s ahead of"), (4, None)])
def test_a_host_with_a_wrong_clock_says_so_once(late_s: float, said: str | None, caplog: pytest.LogCaptureFixture):
    machine = Machine(late_s)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            machine.clock.keep_right()
            machine.pass_by(ASKED_EVERY_S)
    lines = [record.getMessage() for record in caplog.records]
    assert len(lines) == (said is not None)
    assert said is None or said in lines[0]


def test_on_postgresql_ledger_and_counters_take_the_servers_time(postgres: TemporaryPostgres, tmp_path: Path):
    settings = Settings(_env_file=None, ledger_url=postgres.url(postgres.new_ledger()), data_dir=tmp_path)
    ledger, counters = open_ledger(settings, tmp_path), open_counters(settings, tmp_path)
    with postgres.connect() as looking:
        [(before,)] = looking.execute("select clock_timestamp()")
        said = [ledger.now(), datetime.fromtimestamp(counters.now_s(), UTC)]
        [(after,)] = looking.execute("select clock_timestamp()")
    # off by half of a round trip, which a busy machine may prolong
    halted = timedelta(seconds=HANG_S)
    assert all(before - halted < now < after + halted for now in said)
    ledger.close()
    counters.close()
