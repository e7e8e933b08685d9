"""Alerts: one message when a job begins to fail, one when it recovers; an address that does not work does no harm."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import httpx
import pytest
from nginx import free_port

from contracts.settings import Settings
from pipelines.alerts import Alert, delivered, outstanding, post, send_alerts
from warehouse.discovery.run_status import EndedRun, RunStatus, read_run_status, update_run_status, with_run

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
FAILING = EndedRun("chain", "failure", NOON, 1.0, None, "rpc_unavailable")
LATER = EndedRun("chain", "failure", NOON + timedelta(minutes=2), 1.0, None, "disk_full")
MENDED = EndedRun("chain", "success", NOON + timedelta(minutes=4), 1.0)


def test_a_streak_of_failures_is_announced_once_and_its_end_once():
    status = with_run(RunStatus(), FAILING)
    (alert,) = outstanding(status)
    assert alert == Alert("job_failing", "chain", NOON, "rpc_unavailable", 1)
    status = with_run(delivered(status, alert), LATER)
    assert outstanding(status) == []
    status = with_run(status, MENDED)
    (recovered,) = outstanding(status)
    assert recovered == Alert("job_recovered", "chain", NOON, None, 0)
    assert outstanding(delivered(status, recovered)) == []


def test_a_job_that_never_failed_or_recovered_before_an_alert_causes_no_message():
    assert outstanding(with_run(RunStatus(), MENDED)) == []
    assert outstanding(with_run(with_run(RunStatus(), FAILING), MENDED)) == []


def test_a_new_streak_after_a_mended_one_is_announced_again():
    status = with_run(RunStatus(), FAILING)
    status = delivered(status, outstanding(status)[0])
    status = with_run(status, MENDED)
    status = delivered(status, outstanding(status)[0])
    again = EndedRun("chain", "failure", NOON + timedelta(minutes=9), 1.0, None, "disk_full")
    assert [alert.since for alert in outstanding(with_run(status, again))] == [again.ended_at]


@pytest.mark.parametrize(
    ("statuses", "accepted", "requests"),
    [((200,), True, 1), ((204,), True, 1), ((500, 200), True, 2), ((500, 500), False, 2), ((404, 302), False, 2)],
)
def test_a_message_that_is_not_accepted_is_sent_once_more(statuses: tuple[int, ...], accepted: bool, requests: int):
    answers = iter(statuses)
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(next(answers))

    body = Alert("job_failing", "chain", NOON, "disk_full", 1).body("https://svc.example")
    assert asyncio.run(post("https://hook.example/x", body, httpx.MockTransport(answer))) is accepted
    assert len(seen) == requests
    assert json.loads(seen[0].content) == {
        "event": "job_failing",
        "service": "https://svc.example",
        "job": "chain",
        "since": "2026-01-01T12:00:00+00:00",
        "reason": "disk_full",
        "consecutiveFailures": 1,
    }


class Hook(BaseHTTPRequestHandler):
    """Stores the bodies that are posted to it."""

    received: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        self.received.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Logs nothing."""


def test_an_alert_that_was_not_accepted_is_sent_once_more_at_the_next_call(tmp_path: Path):
    port = free_port()
    settings = Settings(data_dir=tmp_path, alert_url=f"http://127.0.0.1:{port}/hook", _env_file=None)
    status = update_run_status(tmp_path, lambda before: with_run(before, FAILING))
    send_alerts(settings, status)  # nothing listens there
    assert read_run_status(tmp_path).alerted == {}
    server = ThreadingHTTPServer(("127.0.0.1", port), Hook)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        send_alerts(settings, read_run_status(tmp_path))
        send_alerts(settings, read_run_status(tmp_path))
    finally:
        server.shutdown()
        server.server_close()
    assert [(sent["event"], sent["job"], sent["reason"]) for sent in Hook.received] == [
        ("job_failing", "chain", "rpc_unavailable")
    ]


def test_without_an_address_nothing_is_sent(tmp_path: Path):
    status = update_run_status(tmp_path, lambda before: with_run(before, FAILING))
    send_alerts(Settings(data_dir=tmp_path, _env_file=None), status)
    assert read_run_status(tmp_path).alerted == {}
