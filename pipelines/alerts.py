"""Reports to SVC_ALERT_URL that a job began to fail or recovered: one POST of JSON each, however often it fails."""

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
    """One message. `since` is the end of the first failed run (UTC); `reason` is its stable code, None on recovery."""

    event: str
    job: str
    since: datetime
    reason: str | None
    consecutive_failures: int

    def body(self, base_url: str) -> Mapping[str, Any]:
        """Returns the JSON to post."""
        return {
            "event": self.event,
            "service": base_url,
            "job": self.job,
            "since": self.since.isoformat(),
            "reason": self.reason,
            "consecutiveFailures": self.consecutive_failures,
        }


def outstanding(status: RunStatus) -> list[Alert]:
    """Returns the alerts that the status calls for and that were not delivered yet. Pure."""
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
    """Returns the status after an alert was delivered. Pure."""
    others = {name: since for name, since in status.alerted.items() if name != alert.job}
    alerted = {**others, alert.job: alert.since} if alert.event == "job_failing" else others
    return msgspec.structs.replace(status, alerted=alerted)


async def post(url: str, body: Mapping[str, Any], transport: httpx.AsyncBaseTransport | None = None) -> bool:
    """Posts, with one retry. Returns True if the address accepted the alert."""
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
                return True  # it answered 200, and only its body is unusual
    return False


def send_alerts(settings: Settings, status: RunStatus) -> None:
    """Delivers the outstanding alerts. The next call retries those that the address did not accept."""
    if settings.alert_url is None:
        return
    for alert in outstanding(status):
        if not asyncio.run(post(settings.alert_url, alert.body(settings.public_base_url))):
            logger.warning("SVC_ALERT_URL did not accept %s of the job %s", alert.event, alert.job)
            return
        update_run_status(settings.data_dir, partial(delivered, alert=alert))
