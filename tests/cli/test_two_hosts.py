"""Two API hosts without a shared disk, on one ledger and one store, behind nginx: they behave as one, whatever fails.

The clock of host `b` is two hours late throughout.
"""

from __future__ import annotations

import json
import os
import random
import secrets
import socket
import time
from collections.abc import Iterator
from datetime import UTC, datetime

import httpx
import pytest
from fake_clocks import fake_clock
from host_faults import (
    DOCUMENT,
    Faults,
    Limits,
    Readers,
    Registrations,
    Service,
    Writers,
    again_and_again,
    asked_once,
    invisible,
    service,
)
from intakes import AGENT, INTAKE
from nginx import have_nginx
from patience import HANG_S
from prometheus_client.openmetrics.parser import text_string_to_metric_families
from rounds import ROUNDS, SOAK_ROUNDS, chosen
from two_hosts import ApiHost, until

from warehouse.discovery.run_status import EndedRun, update_run_status, with_run

pytestmark = pytest.mark.web

FAULTS, BATCHES = 200, 10
"""A run injects each kind of fault once, a soak all batches."""
CLOCK_LATE = "-2h"
DRAIN_S = 5


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    if not have_nginx():
        reason = "nginx is not installed (Debian: apt-get install nginx)"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    directory = tmp_path_factory.mktemp("hosts")
    with service(directory, fake_clock(directory / "python") | {"FAKETIME": CLOCK_LATE}) as running:
        yield running


def test_a_write_on_one_host_is_found_on_the_other_at_once(hosts: Service) -> None:
    headers = hosts.key()
    for writing, reading in (hosts.hosts, hosts.hosts[::-1]):
        word = f"overlay{writing.name}"
        body = {"type": "Goal", "title": f"A goal about {word}", "source": "test"}
        written = httpx.post(f"{writing.url}/api/v2/world-model/signal", json=body, headers=headers, timeout=HANG_S)
        assert written.status_code == 201, written.text
        asked = {"search": word, "scope": "own"}
        found = httpx.post(f"{reading.url}/api/v2/world-model/query", json=asked, headers=headers, timeout=HANG_S)
        assert [node["title"] for node in found.json()["data"]["nodes"]] == [body["title"]]


def test_health_names_host_and_generation(hosts: Service) -> None:
    generation = hosts.publish()
    hosts.wait_until_served(generation)
    said = [host.health() for host in hosts.hosts]
    assert [(health["host"], health["generation"]) for health in said if health] == [
        ("a", generation),
        ("b", generation),
    ]


def test_health_of_every_host_says_which_jobs_of_the_publishing_host_fail(hosts: Service) -> None:
    failed = EndedRun("chain", "failure", datetime(2026, 1, 1, tzinfo=UTC), 3.0, reason="rpc_unavailable")
    update_run_status(hosts.house.data_dir, lambda status: with_run(status, failed))
    for host in hosts.hosts:
        wait_until_a_job_fails(host)
        assert host.health()["failingJobs"][0]["reason"] == "rpc_unavailable"


def test_a_host_with_an_old_clock_says_so_and_counts_as_the_other_does(hosts: Service) -> None:
    hosts.b.wait_for("The clock of this host is 7200 s behind", 0)
    limits = Limits(hosts)
    limits.minute_holds()
    for _ in range(7):
        limits.day_holds(crashes=0)
    assert limits.of_key == 100


ASKED_AGAIN_S = 2.0
"""nginx counts whole seconds, and retries a failed host after more than `fail_timeout`, which is one second."""


def test_a_rolling_restart_loses_no_request(hosts: Service) -> None:
    readers, registrations = Readers(hosts), Registrations(hosts)
    writers = Writers(hosts, hosts.key())
    with again_and_again(readers.read, registrations.register, writers.write):
        for host in hosts.hosts:
            served = host.health()
            assert host.end() == 0, host.said()
            host.start()
            hosts.wait_until_served(served["generation"])
            time.sleep(ASKED_AGAIN_S)
    assert readers.failed == []
    assert registrations.failed == []
    assert invisible(hosts, writers.written, writers.headers) == []


def half_sent(port: int) -> tuple[socket.socket, bytes]:
    """Sends the head and half of the body of a registration, and returns the connection and the other half."""
    body = json.dumps(AGENT).encode()
    head = f"POST {INTAKE} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    connection = socket.create_connection(("127.0.0.1", port), timeout=HANG_S)
    connection.sendall(f"{head}Idempotency-Key: {secrets.token_hex(16)}\r\n\r\n".encode() + body[: len(body) // 2])
    return connection, body[len(body) // 2 :]


def is_refused(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=HANG_S).close()
    except ConnectionRefusedError:
        return True
    return False


@pytest.fixture(scope="module", params=[pytest.param(1, marks=pytest.mark.soak), 2])
def draining(request: pytest.FixtureRequest, hosts: Service) -> Iterator[ApiHost]:
    """Yields a further host that drains, with the given number of workers."""
    host = ApiHost(f"draining{request.param}", hosts.a.data_dir.parent, hosts.a.environment)
    host.environment["SVC_DRAIN_SECONDS"] = str(DRAIN_S)
    host.command += ["--workers", str(request.param)]
    host.start()
    try:
        until(lambda: host.health() is not None, host.said)
        yield host
    finally:
        host.kill()


def wait_until_a_job_fails(host: ApiHost) -> None:
    until(lambda: bool((host.health() or {}).get("failingJobs")), host.said)


def answers_given(host: ApiHost) -> dict[str, float]:
    """Returns the number of documents that each worker answered, as any of them reports it."""
    answer = asked_once(host.port, "GET", "/metrics", headers={"Host": "127.0.0.1"})
    assert not isinstance(answer, str), answer
    status, text = answer
    assert status == 200, text
    families = text_string_to_metric_families(text.decode())
    samples = [sample for family in families if family.name == "svc_answers" for sample in family.samples]
    return {
        sample.labels["process"]: sample.value
        for sample in samples
        if (sample.labels["by"], sample.labels["status"]) == ("published", "200")
    }


def test_any_worker_gives_the_answers_of_all(draining: ApiHost) -> None:
    asked = 20
    for _ in range(asked):
        assert asked_once(draining.port, "GET", DOCUMENT)[0] == 200
    until(lambda: sum(answers_given(draining).values()) == asked, lambda: str(answers_given(draining)))
    assert all(sum(answers_given(draining).values()) == asked for _ in range(10))


def test_a_host_that_drains_answers_everything_but_health_and_then_takes_nothing_new(draining: ApiHost) -> None:
    host = draining
    begun, rest = half_sent(host.port)
    with begun:
        assert host.process is not None
        host.process.terminate()
        signalled_s = time.monotonic()
        until(lambda: all(host.health() is None for _ in range(4)), host.said)
        while time.monotonic() - signalled_s < DRAIN_S - 1:
            health, document = (asked_once(host.port, "GET", path) for path in ("/health", DOCUMENT))
            assert (health[0], document[0]) == (503, 200), (health, document)
            assert json.loads(health[1])["detail"] == "This host is about to stop. Ask another one."
        until(lambda: is_refused(host.port), host.said)
        assert time.monotonic() - signalled_s > DRAIN_S
        begun.sendall(rest)
        assert begun.recv(1 << 16).startswith(b"HTTP/1.1 201 ")
    assert host.process.wait(HANG_S) == 0, host.said()


@pytest.mark.parametrize("batch", chosen(list(range(BATCHES)), others=BATCHES))
def test_no_fault_shows_half_a_generation_fails_a_read_or_loses_a_write(hosts: Service, batch: int) -> None:
    random_ = random.Random(batch)
    faults, limits = Faults(hosts, random_), Limits(hosts)
    readers, writers = Readers(hosts), Writers(hosts, hosts.key())
    kinds = faults.kinds
    rows = [kinds[number % len(kinds)] for number in range(FAULTS)][batch::BATCHES]
    with again_and_again(readers.read, writers.write):
        for fault in rows if ROUNDS >= SOAK_ROUNDS else rows[: len(kinds)]:
            fault()
            hosts.store.heal()
            hosts.wait_until_served(faults.generation)
            limits.minute_holds()
            limits.day_holds(faults.crashes)
            assert hosts.half() == []
    assert readers.failed == []
    assert readers.seen <= hosts.published
    assert invisible(hosts, writers.written, writers.headers) == []
    print(f"{readers.count} reads, {len(writers.written)} writes, asked again after {dict(writers.unanswered)}")
