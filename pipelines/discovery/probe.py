"""Probes the service at its public address. Read-only: HEAD, OPTIONS and `/health`."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

import httpx

from contracts.discovery.capabilities import CapabilityState, Status, capability_states
from contracts.discovery.installation import installation_of
from contracts.discovery.judging import Answers, Request, judged_by_answers
from contracts.discovery.registry import NOT_ANSWERING
from contracts.discovery.service import HEALTH_PATH
from contracts.settings import Settings
from pipelines.clients.http_json import Feeds
from warehouse.clients.http import client as http_client
from warehouse.discovery.probes import OWN_ENDPOINTS, looked_at, read_findings
from warehouse.duck.connection import Connection, Warehouse
from warehouse.duck.fetch_log import Attempt

ALL_WELL_EVERY = timedelta(minutes=5)
ELSE_EVERY = timedelta(minutes=1)
HOURLY = timedelta(hours=1)
DUE = "a probe of the service is due"
EARLY = timedelta(seconds=5)
"""Tolerance for a tick that comes slightly early."""

TIMEOUT_S = 3.0

NOT_READY = "not_ready"
ANOTHER_SERVICE = "another_service"


def probe_due(settings: Settings, now: datetime) -> str | None:
    """Returns why a probe is due, in a few words, or None. The first probe is part of the first complete run.

    Raises `RunBusy` while a run writes the warehouse.
    """
    with Warehouse(settings.data_dir).read_only() as connection:
        states = capability_states(installation_of(settings))
        return DUE if connection is not None and is_due(connection, states, now) else None


def hourly_probe_due(settings: Settings, now: datetime) -> str | None:
    """Like `probe_due`, but at most once an hour: for runs without a daemon.

    Each complete run without a daemon probes anyway.
    """
    with Warehouse(settings.data_dir).read_only() as connection:
        last = None if connection is None else looked_at(connection)
    return None if last is None or now - last < HOURLY else DUE


def is_due(connection: Connection, states: Mapping[str, CapabilityState], now: datetime) -> bool:
    """Decides whether a probe is due: every five minutes, or every minute while an address does not answer or was not
    queried because of a rate limit.

    A clock that was set back does not prevent a probe.
    """
    last = looked_at(connection)
    if last is None or last > now:
        return True
    findings = read_findings(connection)
    found = {id_: finding.status for id_, finding in findings.items() if finding.determined_by == "http"}
    well = all(found.get(id_) is Status.LIVE for id_ in judged_by_answers(states))
    return now - last >= (ALL_WELL_EVERY if well else ELSE_EVERY) - EARLY


async def ask_ourselves(
    base_url: str,
    requests: Sequence[Request],
    is_ours: Callable[[str], bool],
    *,
    transport: httpx.AsyncBaseTransport | None = None,
) -> tuple[Answers, Attempt]:
    """Probes the service at `base_url` and returns its answers.

    `is_ours` decides whether a generation's id is one of ours: if another service answers at the address, it gets no
    further requests.
    """
    async with Feeds(timeout_s=TIMEOUT_S, transport=transport) as feeds:
        health = await feeds.get(base_url + HEALTH_PATH)
    attempt = health.attempt(OWN_ENDPOINTS)
    if health.reason is not None:
        return Answers(silent=NOT_READY if health.reason == "http_503" else NOT_ANSWERING), attempt
    if not isinstance(health.value, dict) or not is_ours(str(health.value.get("generation"))):
        return Answers(silent=ANOTHER_SERVICE), health.attempt(OWN_ENDPOINTS, reason=ANOTHER_SERVICE)
    return Answers(health=health.value, statuses=await _statuses(base_url, requests, transport)), attempt


async def _statuses(
    base_url: str, requests: Sequence[Request], transport: httpx.AsyncBaseTransport | None
) -> dict[Request, int | None]:
    async with http_client(TIMEOUT_S, proxied=True, transport=transport) as client:

        async def status(method: str, path: str) -> int | None:
            try:
                async with asyncio.timeout(TIMEOUT_S):
                    async with client.stream(method, base_url + path) as response:
                        return response.status_code
            except (TimeoutError, httpx.HTTPError, httpx.InvalidURL, OSError):
                return None

        statuses = await asyncio.gather(*(status(method, path) for method, path in requests))
    return dict(zip(requests, statuses, strict=True))
