"""A service whose clock jumps, by libfaketime: limits, quotas, pairing and publishing cope with it."""

from __future__ import annotations

import http.client
import json
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest
from clock_windows import stay_within
from fake_clocks import fake_clock
from installation import SVC, Installation
from keyed_service import with_secrets
from publishing import FEW, House

from contracts.access.tiers import Tier
from contracts.settings import Settings
from warehouse.access.keys import create_key
from warehouse.connect.sessions import issue_code
from warehouse.ledger.ledger import open_ledger
from warehouse.ledger.master_secret import load_secrets

HOUR_S, DAY_S = 3_600, 86_400
JUMPS_WITHIN_S = 60
PLANS, CHECK = "/api/agent-access/plans", "/api/v2/world-model/ontology"


class ClockedInstallation(Installation):
    """An installation whose wall clock runs `offset_s` ahead of ours from its next reading on; monotonic clocks are
    unaffected."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.offset = settings.data_dir / "clock-offset"
        self.jump(0)
        self.environment |= fake_clock(settings.data_dir / "python") | {
            "FAKETIME_TIMESTAMP_FILE": str(self.offset),
            "FAKETIME_NO_CACHE": "1",
            "SVC_RATE_LIMIT_PER_MINUTE": "20",
        }

    def keys(self, *arguments: str):
        """Runs `svc keys` in a separate process, which uses the installation's clock."""
        return json.loads(self.svc("keys", *arguments, "--json").stdout)

    def serve(self, log: Path) -> subprocess.Popen[bytes]:
        with log.open("ab") as file:
            return subprocess.Popen([SVC, "serve"], env=self.environment, stdout=file, stderr=file)

    def jump(self, offset_s: int) -> None:
        draft = self.offset.with_suffix(".draft")
        draft.write_text(f"{offset_s:+d}s\n")
        draft.replace(self.offset)

    def jump_while_serving(self, offset_s: int) -> None:
        """Returns once the service's own clock shows the jump."""
        self.jump(offset_s)
        deadline = time.monotonic() + JUMPS_WITHIN_S
        while abs(self.served_clock_s() - time.time() - offset_s) > HOUR_S / 4:
            assert time.monotonic() < deadline, "the clock of the service did not jump"
            time.sleep(0.1)

    def served_clock_s(self) -> float:
        """Returns the service's time by the Date field of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", "/health")
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return parsedate_to_datetime(answer.headers["Date"]).timestamp()

    def statuses(self, path: str, count: int, **headers: str) -> list[int]:
        return [self.ask("GET", path, headers) for _ in range(count)]

    def allowed(self, path: str, count: int) -> int:
        """Returns the number of answered requests among `count` simultaneous ones."""
        with ThreadPoolExecutor(20) as pool:
            return list(pool.map(lambda _: self.ask("GET", path, {}), range(count))).count(200)

    def handshake(self, code: str) -> bool:
        """Decides whether a pairing code opens a session."""
        call = {"name": "svc_connect_handshake", "arguments": {"pairing_code": code}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        _, content = self.answer("POST", "/mcp", headers, json.dumps(body))
        return bool(json.loads(content)["result"].get("structuredContent", {}).get("session_token"))


@pytest.fixture
def clocked(ledger_settings: Settings) -> Iterator[ClockedInstallation]:
    installation = ClockedInstallation(ledger_settings)
    with installation.served(ledger_settings.data_dir / "serve.log"):
        yield installation


def test_a_clock_that_jumps_locks_nobody_out_doubles_no_quota_and_ends_codes(
    clocked: ClockedInstallation, ledger_settings: Settings
) -> None:
    settings = with_secrets(ledger_settings)
    pepper, ledger = load_secrets(settings).pepper, open_ledger(settings, settings.data_dir)
    stay_within(DAY_S, 120)
    with ledger.transaction() as tx:
        issued = create_key(tx, pepper, tier=Tier.FREE, owner="local:ada", now=datetime.now(UTC))
        code = issue_code(tx, pepper).code
    ledger.close()

    paired = {DAY_S: [False], 0: [True, False]}
    for offset_s in (DAY_S, 0, -HOUR_S, -DAY_S):
        clocked.jump_while_serving(offset_s)
        # A code expires by the clock, is valid again if the clock goes back, and opens one session.
        assert [clocked.handshake(code) for _ in paired.get(offset_s, ())] == paired.get(offset_s, []), offset_s
        # A minute may end during the requests, which allows twice as many; no jump allows more, or stops all.
        assert 1 <= clocked.allowed(PLANS, 60) <= 40, offset_s

    key = {"X-Api-Key": issued.key.reveal()}
    clocked.jump_while_serving(0)
    assert clocked.statuses(CHECK, 101, **key) == [200] * 100 + [429]
    clocked.jump_while_serving(-HOUR_S if time.time() % DAY_S > 2 * HOUR_S else HOUR_S)
    assert clocked.statuses(CHECK, 1, **key) == [429], "the same day"
    clocked.jump_while_serving(-DAY_S)
    assert clocked.statuses(CHECK, 1, **key) == [429], "a day back is no second quota"
    clocked.jump_while_serving(DAY_S)
    assert clocked.statuses(CHECK, 2, **key) == [200, 200], "the next day"
    clocked.jump_while_serving(0)
    assert clocked.statuses(CHECK, 1, **key) == [200], "counted on the newer day"


def test_publishing_follows_the_clock_both_ways(tmp_path: Path) -> None:
    house, generations = House(tmp_path), []
    for number, jump in enumerate((0, 2, -4, 2)):
        house.now += timedelta(days=jump)
        house.settings = house.settings.model_copy(update={"contact_email": f"ops-{number}@svc.example"})
        began = time.monotonic()
        generations.append(house.publish(*FEW).generation)
        assert time.monotonic() - began < HOUR_S / 10, "nobody has to wait for the clock to catch up"
    assert generations == sorted(set(generations)), "ids grow whatever the clock does"
