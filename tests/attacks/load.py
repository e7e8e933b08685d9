"""Work that delays others: heavy requests from one key, half-open connections, and callers' limits."""

from __future__ import annotations

import socket
import statistics
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress

import httpx

from ..patience import slowness
from .registry import Outcome, Phase, attack
from .service import Service

LIGHT = ("/health", "/llms.txt", "/api/token/holders")
HEAVY = 45
WATCHED_S = 4.0
SLOWEST_MEDIAN_S = 1.0
"""On a quiet machine. It was 21 s and more when light requests waited in the same pool as heavy ones."""
HALF_OPEN = 300
ANSWERED_WITHIN_S = 20.0
CLOSED_WITHIN_S = 40.0
"""Twice a header time-out of about 15 s, since a connection may have waited to be accepted."""
WINDOW_S, WITHIN_ONE_WINDOW_S = 60, 15


@attack("A7", "one key's heavy questions delay light answers", Phase.LOAD)
def heavy_questions(service: Service) -> Outcome:
    times = slowness()
    slowest_median_s, watched_s = SLOWEST_MEDIAN_S * times, WATCHED_S * times
    idle = _medians(service, 1.0)
    over = threading.Event()
    statuses: list[int] = []
    as_of = {"search": "task", "asOf": "2099-01-01T00:00:00Z", "limit": 1000, "include_edges": True, "depth": 3}
    build = {"documents": [{"text": "[" * 200_000}]}

    def send(number: int) -> None:
        path, body = ("/api/v2/world-model/query", as_of) if number % 2 else ("/api/v2/knowledge-graph/build", build)
        with suppress(httpx.HTTPError), service.client() as client:
            while not over.is_set():
                headers = {"Authorization": f"Bearer {service.pro_key}"}
                answer = client.post(path, json=body, headers=headers, timeout=watched_s)
                statuses.append(answer.status_code)
                time.sleep(0.2)

    with ThreadPoolExecutor(2 * HEAVY) as pool:
        for number in range(2 * HEAVY):
            pool.submit(send, number)
        time.sleep(0.5)
        busy = _medians(service, watched_s)
        over.set()
    broken = [f"{path}: {took:.2f} s at the median" for path, took in busy.items() if took > slowest_median_s]
    odd = sorted(set(statuses) - {200, 201, 400, 429, 503})
    if odd:
        broken.append(f"answers {odd}")
    worst = max(busy.values())
    note = f"median {worst * 1000:.0f} ms, idle {max(idle.values()) * 1000:.0f} ms"
    return Outcome(broken, f"{note}, at most {slowest_median_s * 1000:.0f} ms")


def _medians(service: Service, for_s: float) -> dict[str, float]:
    """Returns the median seconds to an answer by path, over `for_s` seconds; a missing answer counts as all of them."""
    took: dict[str, list[float]] = {path: [] for path in LIGHT}
    deadline = time.monotonic() + for_s
    while time.monotonic() < deadline:
        for path in LIGHT:
            began = time.monotonic()
            with suppress(httpx.HTTPError), service.client() as client:
                client.get(path, timeout=for_s)
            took[path].append(time.monotonic() - began)
        time.sleep(0.02)
    return {path: statistics.median(values) for path, values in took.items()}


@attack("H8", "two processes give more requests a minute than one", Phase.ASIDE)
def limits(service: Service) -> Outcome:
    def ask(_: int) -> int:
        transport = httpx.HTTPTransport(local_address="127.0.0.2")
        with httpx.Client(transport=transport, timeout=30) as client:
            return client.get(service.limited_url + "/api/agent-access/plans").status_code

    left_s = WINDOW_S - time.time() % WINDOW_S
    if left_s < WITHIN_ONE_WINDOW_S:
        time.sleep(left_s + 1)
    with ThreadPoolExecutor(12) as pool:
        statuses = list(pool.map(ask, range(60)))
    allowed = statuses.count(200)
    broken = [] if allowed == 20 else [f"{allowed} of 60 were answered"]
    odd = sorted(set(statuses) - {200, 429})
    if odd:
        broken.append(f"answers {odd}")
    return Outcome(broken, f"{allowed} of 60 answered at 20 a minute")


@attack("A10", "half-open connections are kept for ever, and keep others out", Phase.ASIDE)
def half_open(service: Service) -> Outcome:
    host, _, port = service.limited_url.removeprefix("http://").partition(":")
    broken, opened = [], []
    with ExitStack() as stack:
        for number in range(HALF_OPEN):
            with suppress(OSError):
                connection = stack.enter_context(socket.create_connection((host, int(port)), timeout=2))
                connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n" if number % 2 else b"")
                opened.append(connection)
        began = time.monotonic()
        answered = _honest_answer(service.limited_url, within_s=ANSWERED_WITHIN_S)
        if not answered:
            broken.append(f"no answer to an honest client within {ANSWERED_WITHIN_S:.0f} s")
        closed = 0
        while (closed := sum(map(_is_closed, opened))) < len(opened) and time.monotonic() < began + CLOSED_WITHIN_S:
            time.sleep(0.5)
        if closed < len(opened):
            broken.append(f"{len(opened) - closed} of {len(opened)} still open after {CLOSED_WITHIN_S:.0f} s")
    return Outcome(broken, f"{len(opened)} connections to two workers of 256 descriptors each")


def _honest_answer(url: str, within_s: float) -> bool:
    deadline = time.monotonic() + within_s
    while time.monotonic() < deadline:
        with suppress(httpx.HTTPError):
            if httpx.get(url + "/health", timeout=2, trust_env=False).is_success:
                return True
        time.sleep(0.2)
    return False


def _is_closed(connection: socket.socket) -> bool:
    try:
        connection.settimeout(0.001)
        return connection.recv(1024) == b"" or _is_closed(connection)
    except TimeoutError:
        return False
    except OSError:
        return True
