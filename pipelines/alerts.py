"""Tells SVC_ALERT_URL that a job began to fail or recovered: one POST of JSON for each, however often it fails."""

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any

import httpx
import msgspec

from contracts.settings import Settings
from warehouse.clients.http import BodyRefused, ask, client
from warehouse.discovery.run_status import RunStatus, update_run_status

TIMEOUT_S = 3.0
ATTEMPTS = 2
MAX_BYTES = 64 * 1024

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Alert:
    """One message. `since` is when the first failure ended (UTC); `reason` is its stable code, None when mended."""

    event: str
    job: str
    since: datetime
    reason: str | None
    consecutive_failures: int

    def body(self, base_url: str) -> Mapping[str, Any]:
        """Returns the JSON that is posted."""
        return {
            "event": self.event,
            "service": base_url,
            "job": self.job,
            "since": self.since.isoformat(),
            "reason": self.reason,
            "consecutiveFailures": self.consecutive_failures,
        }


def outstanding(status: RunStatus) -> list[Alert]:
    """Returns the alerts that follow from the status and were not delivered. Pure."""
    failing = [
        Alert("job_failing", name, job.failing_since, job.reason, job.consecutive_failures)
        for name, job in sorted(status.jobs.items())
        if job.failing_since is not None and status.alerted.get(name) != job.failing_since
    ]
    mended = [
        Alert("job_recovered", name, since, None, 0)
        for name, since in sorted(status.alerted.items())
        if name in status.jobs and status.jobs[name].failing_since is None
    ]
    return failing + mended


def delivered(status: RunStatus, alert: Alert) -> RunStatus:
    """Returns the status once an alert was delivered. Pure."""
    others = {name: since for name, since in status.alerted.items() if name != alert.job}
    alerted = {**others, alert.job: alert.since} if alert.event == "job_failing" else others
    return msgspec.structs.replace(status, alerted=alerted)


async def post(url: str, body: Mapping[str, Any], transport: httpx.AsyncBaseTransport | None = None) -> bool:
    """Posts once, and once more where that fails. Returns whether the address accepted it."""
    content, headers = msgspec.json.encode(body), {"Content-Type": "application/json"}
    async with client(TIMEOUT_S, proxied=True, transport=transport) as http:
        for _ in range(ATTEMPTS):
            try:
                reply = await ask(
                    http, "POST", url, timeout_s=TIMEOUT_S, max_bytes=MAX_BYTES, headers=headers, content=content
                )
                if 200 <= reply.status < 300:
                    return True
            except (TimeoutError, httpx.HTTPError, httpx.InvalidURL, OSError):
                continue
            except BodyRefused:
                return True  # it answered 200, and only its text is odd
    return False


def send_alerts(settings: Settings, status: RunStatus) -> None:
    """Delivers what is outstanding. What the address does not accept is tried again at the next call."""
    if settings.alert_url is None:
        return
    for alert in outstanding(status):
        if not asyncio.run(post(settings.alert_url, alert.body(settings.public_base_url))):
            logger.warning("SVC_ALERT_URL did not accept %s of the job %s", alert.event, alert.job)
            return
        update_run_status(settings.data_dir, partial(delivered, alert=alert))
