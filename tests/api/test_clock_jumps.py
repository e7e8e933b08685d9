"""A service whose clock jumps, by libfaketime: limits, quotas, pairing and publishing bear it."""

from __future__ import annotations

import http.client
import json
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import parsedate_to_datetime
from pathlib import Path

import pytest
from clock_windows import stay_within
from installation import Installation

from contracts.settings import Settings

HOUR_S, DAY_S = 3_600, 86_400
JUMPS_WITHIN_S = 60
PLANS, CHECK = "/api/agent-access/plans", "/api/v2/health"


def library() -> str:
    """The library that fakes the clock, as Debian's package installs it."""
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    if not found:
        reason = "libfaketime is not installed (Debian: apt-get install faketime)"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    return str(found[0])


SLEEP_BY_WAITING = """
import threading, time
time.sleep = lambda seconds: threading.Event().wait(seconds) and None
"""
"""libfaketime 0.9.10 refuses the absolute monotonic sleeps of Python 3.11 where monotonic clocks stay true."""


class ClockedInstallation(Installation):
    """An installation whose wall clock is `offset_s` from ours from the next look on; monotonic clocks stay true."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.offset = settings.data_dir / "clock-offset"
        self.jump(0)
        patches = settings.data_dir / "python"
        patches.mkdir()
        (patches / "sitecustomize.py").write_text(SLEEP_BY_WAITING)
        self.environment |= {
            "PYTHONPATH": str(patches),
            "LD_PRELOAD": library(),
            "FAKETIME_TIMESTAMP_FILE": str(self.offset),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "SVC_RATE_LIMIT_PER_MINUTE": "20",
        }

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
        """The time of the service by the Date field of an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        connection.request("GET", "/health")
        answer = connection.getresponse()
        answer.read()
        connection.close()
        return parsedate_to_datetime(answer.headers["Date"]).timestamp()

    def statuses(self, path: str, count: int, **headers: str) -> list[int]:
        return [self.ask("GET", path, headers) for _ in range(count)]

    def allowed(self, path: str, count: int) -> int:
        """How many of so many requests at once are answered."""
        with ThreadPoolExecutor(20) as pool:
            return list(pool.map(lambda _: self.ask("GET", path, {}), range(count))).count(200)

    def handshake(self, code: str) -> bool:
        """Whether a pairing code opens a session."""
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


def test_a_clock_that_jumps_locks_nobody_out_and_doubles_no_quota(clocked: ClockedInstallation) -> None:
    for offset_s in (0, -HOUR_S, DAY_S, -DAY_S, 0):
        clocked.jump_while_serving(offset_s)
        # A minute may end among the requests, and then twice as many are allowed; no jump gives more, or none.
        assert 1 <= clocked.allowed(PLANS, 60) <= 40, offset_s

    key = {"X-Api-Key": clocked.keys("create", "--tier", "free", "--owner", "ada")["apiKey"]}
    stay_within(DAY_S, 120)
    assert clocked.statuses(CHECK, 101, **key) == [200] * 100 + [429]
    clocked.jump_while_serving(-HOUR_S if time.time() % DAY_S > 2 * HOUR_S else HOUR_S)
    assert clocked.statuses(CHECK, 1, **key) == [429], "the same day"
    clocked.jump_while_serving(-DAY_S)
    assert clocked.statuses(CHECK, 1, **key) == [429], "a day back is no second quota"
    clocked.jump_while_serving(DAY_S)
    assert clocked.statuses(CHECK, 2, **key) == [200, 200], "the next day"
    clocked.jump_while_serving(0)
    assert clocked.statuses(CHECK, 1, **key) == [200], "counted on the newer day"


def test_pairing_and_publishing_follow_the_clock_both_ways(clocked: ClockedInstallation) -> None:
    clocked.svc("publish")
    code = json.loads(clocked.svc("pair", "--json").stdout)["pairingCode"]
    clocked.jump_while_serving(HOUR_S)
    assert not clocked.handshake(code), "the code has run out"
    clocked.jump_while_serving(0)
    assert clocked.handshake(code)
    assert not clocked.handshake(code), "a code opens one session"

    generations = []
    for number, offset_s in enumerate((0, 2 * DAY_S, -2 * DAY_S, 0)):
        clocked.jump(offset_s)
        clocked.environment["SVC_CONTACT_EMAIL"] = f"ops-{number}@svc.example"
        began = time.monotonic()
        published = json.loads(clocked.svc("publish", "--json").stdout)
        assert time.monotonic() - began < HOUR_S / 10, "nobody waits for the clock to come round"
        generations.append(published["generation"])
    assert generations == sorted(set(generations)), "ids grow whatever the clock does"


def test_the_clock_of_these_tests_really_jumps(tmp_path: Path) -> None:
    clocked = ClockedInstallation(Settings(_env_file=None, data_dir=tmp_path))
    clocked.jump(-10 * DAY_S)
    made = clocked.keys("create", "--tier", "free", "--owner", "ada")["keyId"]
    listed = clocked.svc("keys", "list", "--json").stdout
    assert made in listed
    created = next(key for key in json.loads(listed)["keys"] if key["keyId"] == made)["createdAt"]
    today = time.strftime("%Y-%m-%d", time.gmtime())
    assert created[:10] < today
