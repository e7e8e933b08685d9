"""Two API hosts on one ledger and one store, the people who use them, and the faults that they must survive."""

from __future__ import annotations

import hashlib
import http.client
import itertools
import json
import random
import secrets
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
from faulty_store import FORBIDDEN, UNAVAILABLE, FaultyStore, faulty_store
from intakes import AGENT, INTAKE
from nginx import free_port
from object_stores import BUCKET, local_s3
from paid_service import CLAIM, PAYER, QUOTE, PaidService, claim_body, selling
from patience import HANG_S
from postgres_fixtures import TemporaryPostgres, postgres_binaries, temporary_postgres
from publishing import House, mint
from two_hosts import ApiHost, Process, balancing, until

from cli.demo.anvil import PRUNED, Anvil
from cli.environment import as_environment
from contracts.access.tiers import REQUESTS_A_DAY, Tier
from contracts.settings import Settings
from warehouse.publish.generations import Generation, Part, current_generation

DOCUMENT = "/api/token/holders"
SIGNAL = "/api/v2/world-model/signal"
NODES = "/api/v2/world-model/nodes/"
COUNTED = "/api/v2/world-model/ontology"
LIMIT_A_MINUTE = 20
_PAUSE_S = 0.25


class Service:
    """Hosts `a` and `b` behind nginx at `base_url`, the publisher `house` with its `pusher`, and a chain to pay on.

    If the variables `late_clock` are set, the clock of `b` is two hours late.
    """

    def __init__(
        self,
        directory: Path,
        paid: PaidService,
        postgres: TemporaryPostgres,
        store: FaultyStore,
        variables: dict[str, str],
    ) -> None:
        self.paid, self.postgres, self.store = paid, postgres, store
        settings = paid.service.settings
        self.base_url = settings.public_base_url
        self.house = House(settings.data_dir)
        self.house.settings = settings
        self.house.now = datetime.now(UTC)
        self.blocks = itertools.count(20, 20)
        self.published: set[str] = set()
        environment = as_environment(settings) | variables
        self.pusher = Process(directory / "pusher", environment, "generations", "push")
        self.hosts = [ApiHost(name, directory / "hosts", environment) for name in "ab"]

    @property
    def port(self) -> int:
        return int(self.base_url.rpartition(":")[2])

    @property
    def a(self) -> ApiHost:
        return self.hosts[0]

    @property
    def b(self) -> ApiHost:
        return self.hosts[1]

    def publish(self) -> str:
        """Publishes a new generation with one holder more, whose bytes are known from then on."""
        block = next(self.blocks)
        self.house.read_chain(mint(1, first=block, block=block - 10), block)
        generation = self.house.publish(DOCUMENT).generation
        for copy in ("public", "stale"):
            for file in (self.house.current / copy).glob("api/token/holders*"):
                self.published.add(hashlib.sha256(file.read_bytes()).hexdigest())
        assert generation is not None
        return generation

    def wait_until_served(self, generation: str) -> None:
        until(
            lambda: all(host.serves(generation) for host in self.hosts),
            lambda: (
                f"{generation} is not served: {[host.health() for host in self.hosts]}\n"
                + "\n".join(process.said()[-2_000:] for process in (self.pusher, *self.hosts))
            ),
        )

    def key(self, tier: Tier = Tier.PRO) -> dict[str, str]:
        return {"X-Api-Key": self.paid.service.key(tier).key.reveal()}

    def half(self) -> list[str]:
        """Returns the files that a host serves and that differ from its manifest."""
        return [wrong for host in self.hosts for wrong in _half(host.data_dir)]


def _half(data_dir: Path) -> list[str]:
    """Reads as a process does that still uses a generation while it is superseded."""
    generation = current_generation(data_dir)
    if generation is None:
        return []
    return [
        f"{generation.id}/{path}"
        for path, component in generation.manifest.components.items()
        if _content(generation, path) != component.sha256
    ]


def _content(generation: Generation, path: str) -> str:
    return Part.of_bytes((generation.path / path).read_bytes()).version


@contextmanager
def service(directory: Path, late_clock: dict[str, str], limit_a_minute: int = LIMIT_A_MINUTE) -> Iterator[Service]:
    """Starts everything and serves one generation; `late_clock` are the variables that make a process's clock late."""
    binaries = postgres_binaries()
    assert binaries is not None
    publisher = directory / "publisher"
    publisher.mkdir()
    with ExitStack() as stack:
        postgres = stack.enter_context(temporary_postgres(binaries))
        anvil = stack.enter_context(Anvil(flags=PRUNED))
        variables = stack.enter_context(local_s3())
        store = stack.enter_context(faulty_store(variables["AWS_ENDPOINT_URL"]))
        port = free_port()
        settings = Settings(
            _env_file=None,
            data_dir=publisher,
            base_url=f"http://127.0.0.1:{port}",
            ledger_url=postgres.url(postgres.new_database()),
            publish_url=f"s3://{BUCKET}/svc",
            trusted_proxies=("127.0.0.1",),
        )
        given = {"claim_confirmations": 1, "rate_limit_per_minute": limit_a_minute}
        paid = stack.enter_context(selling(settings, anvil, **given))
        running = Service(directory, paid, postgres, store, {**variables, "AWS_ENDPOINT_URL": store.url})
        running.b.environment |= late_clock
        for process in (running.pusher, *running.hosts):
            stack.callback(process.kill)
            process.start()
        generation = running.publish()
        running.wait_until_served(generation)
        stack.enter_context(balancing(directory / "balancer", port, running.hosts))
        yield running


@dataclass
class Readers:
    """Reads the document through the load balancer, without retries."""

    service: Service
    failed: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    count: int = 0

    def read(self) -> None:
        answer = asked_once(self.service.port, "GET", DOCUMENT)
        self.count += 1
        if isinstance(answer, str) or answer[0] != 200:
            self.failed.append(str(answer)[:500])
        else:
            self.seen.add(hashlib.sha256(answer[1]).hexdigest())


@dataclass
class Registrations:
    """Registers through the load balancer with an Idempotency-Key, without retries."""

    service: Service
    failed: list[str] = field(default_factory=list)

    def register(self) -> None:
        headers = {"Content-Type": "application/json", "Idempotency-Key": secrets.token_hex(16)}
        answer = asked_once(self.service.port, "POST", INTAKE, json.dumps(AGENT).encode(), headers)
        if isinstance(answer, str) or answer[0] != 201:
            self.failed.append(str(answer)[:500])


def _any_address() -> str:
    return f"127.{random.randrange(1, 255)}.{random.randrange(256)}.{random.randrange(1, 255)}"


def asked_once(
    port: int, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[int, bytes] | str:
    """Returns status and body of an answer, or why there is none. Each request comes from another client address."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=HANG_S, source_address=(_any_address(), 0))
    try:
        connection.request(method, path, body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    except (OSError, http.client.HTTPException) as error:
        return repr(error)
    finally:
        connection.close()


@dataclass
class Writers:
    """Writes goals through the load balancer, and repeats each with the same key until it is answered."""

    service: Service
    headers: dict[str, str]
    written: list[str] = field(default_factory=list)
    unanswered: Counter[str] = field(default_factory=Counter)

    def write(self) -> None:
        name = secrets.token_hex(8)
        body = {"type": "Goal", "title": f"Goal {name}", "source": "test", "idempotencyKey": name}
        deadline = time.monotonic() + HANG_S
        while time.monotonic() < deadline:
            try:
                answer = httpx.post(
                    self.service.base_url + SIGNAL, json=body, headers=self.headers, timeout=HANG_S, trust_env=False
                )
            except httpx.TransportError as error:
                self.unanswered[type(error).__name__] += 1
                continue
            if answer.status_code in (200, 201):
                self.written.append(answer.json()["data"]["nodes"][0]["id"])
                return
            assert answer.status_code in (502, 503, 504), answer.text
            self.unanswered[str(answer.status_code)] += 1
            time.sleep(_PAUSE_S)
        raise AssertionError(f"never answered: {self.unanswered}")


@contextmanager
def again_and_again(*actions: Callable[[], None]) -> Iterator[None]:
    """Repeats each action in its own thread until the context ends. Raises what one of them raised."""
    ending = threading.Event()
    raised: list[BaseException] = []

    def go_on(action: Callable[[], None]) -> None:
        try:
            while not ending.wait(_PAUSE_S):
                action()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=go_on, args=(action,)) for action in actions]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        ending.set()
        for thread in threads:
            thread.join()
    for error in raised:
        raise error


class Faults:
    """Each method causes one fault while a generation is published, and undoes it once it has shown."""

    def __init__(self, service: Service, random_: random.Random) -> None:
        self.service = service
        self._random = random_
        self.crashes = 0
        self.generation = ""

    @property
    def kinds(self) -> list[Callable[[], None]]:
        """Returns all faults. Their number is prime, so that any tenth of a long run can meet each of them."""
        return [
            lambda: self._lost(self.service.a),
            self.store_is_slow,
            self.postgresql_fails_over_in_a_claim,
            lambda: self._lost(self.service.b),
            lambda: self._store_refuses(UNAVAILABLE),
            self.pusher_is_killed,
            self.store_alters_what_it_holds,
            self.serving_process_is_killed,
            lambda: self._store_refuses(FORBIDDEN),
            self.supervisor_is_killed,
            self.store_lists_old_pointers,
        ]

    def _publish(self) -> None:
        self.generation = self.service.publish()

    def _lost(self, host: ApiHost) -> None:
        self._publish()
        time.sleep(self._random.uniform(0.0, 0.8))
        host.kill()
        host.start()

    def pusher_is_killed(self) -> None:
        self._publish()
        time.sleep(self._random.uniform(0.0, 0.4))
        self.service.pusher.kill()
        self.service.pusher.start()

    def serving_process_is_killed(self) -> None:
        said = len(self.service.a.said())
        self.service.a.serving_process().kill()
        self._publish()
        self.service.a.wait_for("which had stopped by itself", said)

    def supervisor_is_killed(self) -> None:
        """Kills the supervisor; its next start ends the processes that it left."""
        supervisor, *left = self.service.b.whole()
        supervisor.kill()
        self._publish()
        assert self.service.b.process is not None
        self.service.b.process.wait()
        self.service.b.start()
        until(lambda: not any(process.is_running() for process in left), lambda: f"{left} still run")

    def store_is_slow(self) -> None:
        self.service.store.delay_s = 0.2
        self._publish()
        self.service.wait_until_served(self.generation)

    def _store_refuses(self, answer: tuple[int, bytes]) -> None:
        before = self._said()
        self.service.store.refuses = answer
        self._publish()
        self._wait_for_all("can't be used", before)

    def store_alters_what_it_holds(self) -> None:
        before = self._said()
        self.service.store.alters = True
        self._publish()
        for host in self.service.hosts:
            host.wait_for("can't be taken over", before[host])

    def store_lists_old_pointers(self) -> None:
        hidden_from = self.service.store.lists_up_to = self.service.store.newest
        self._publish()
        until(lambda: self.service.store.newest > hidden_from, lambda: f"{self.generation} is not stored")
        before = self._said()
        self._publish()
        self.service.pusher.wait_for("but holds a newer one", before[self.service.pusher])

    def postgresql_fails_over_in_a_claim(self) -> None:
        """Fails PostgreSQL over during a claim, which is repeated until it is answered; both hosts then return the same
        key."""
        paid = self.service.paid
        self._publish()
        quote = self._post(self.service.a, QUOTE, {"payerAddress": PAYER.address}, {}).json()
        body = claim_body(quote, paid.pay(quote))
        headers = {"Idempotency-Key": secrets.token_hex(16)}
        final: list[httpx.Response] = []

        def claim() -> None:
            if not final:
                with suppress(httpx.TransportError):
                    answer = self._post(None, CLAIM, body, headers)
                    if answer.status_code not in (202, 502, 503) and "claim_in_progress" not in answer.text:
                        final.append(answer)

        with again_and_again(claim):
            time.sleep(self._random.uniform(0.0, 0.3))
            self.service.postgres.crash()
            self.crashes += 1
            until(lambda: bool(final), lambda: "the claim is never answered")
        assert final[0].status_code == 201, final[0].text
        for host in self.service.hosts:
            answer = self._post(host, CLAIM, body, headers)
            assert (answer.status_code, answer.headers["Idempotent-Replayed"]) == (201, "true"), answer.text
            assert answer.json()["data"]["activationPacket"] == final[0].json()["data"]["activationPacket"]

    def _post(self, host: ApiHost | None, path: str, body: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
        """Returns the answer of a host, or of the load balancer, to a client with its own address."""
        url = self.service.base_url if host is None else host.url
        address = _any_address()
        with httpx.Client(transport=httpx.HTTPTransport(local_address=address), timeout=HANG_S) as client:
            return client.post(url + path, json=body, headers=headers | {"X-Forwarded-For": address})

    def _said(self) -> dict[Process, int]:
        return {process: len(process.said()) for process in (self.service.pusher, *self.service.hosts)}

    def _wait_for_all(self, text: str, before: dict[Process, int]) -> None:
        for process, after in before.items():
            process.wait_for(text, after)


class Limits:
    """Calls both hosts in turn, and counts the requests that they allow."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.key = service.key(Tier.FREE)
        self.of_key = 0
        self._first = 1

    def minute_holds(self) -> None:
        """Asserts that both hosts together allow an address only its requests per minute."""
        self._first += 1
        address = {"X-Forwarded-For": f"203.0.113.{self._first % 256}"}
        begun = self._server_s()
        allowed = self._allowed("/api/agent-access/plans", address, LIMIT_A_MINUTE + 6)
        windows = int(self._server_s() // 60) - int(begun // 60) + 1
        assert allowed <= LIMIT_A_MINUTE * windows, f"{allowed} in {windows} minutes"

    def day_holds(self, crashes: int) -> None:
        """Asserts that both hosts together allow a key only its requests per day; a crash may lose the last moment's
        count."""
        each = 20
        self.of_key += self._allowed(COUNTED, self.key, each)
        most = REQUESTS_A_DAY[Tier.FREE]
        assert most is not None
        assert self.of_key <= most + each * crashes, f"{self.of_key} with {crashes} crashes"

    def _allowed(self, path: str, headers: dict[str, str], times: int) -> int:
        statuses: Counter[int] = Counter()
        with httpx.Client(headers=headers, timeout=HANG_S, trust_env=False) as client:
            for number in range(times):
                host = self.service.hosts[number % 2]
                statuses[client.get(host.url + path).status_code] += 1
        assert set(statuses) <= {200, 429}, statuses
        return statuses[200]

    def _server_s(self) -> float:
        clock = self.service.paid.service.counters._clock
        assert clock is not None
        return clock.now_s()


def invisible(service: Service, node_ids: list[str], headers: dict[str, str]) -> list[str]:
    """Returns the nodes that one of the hosts does not know."""
    missing = []
    with httpx.Client(headers=headers, timeout=HANG_S, trust_env=False) as client:
        for number, node_id in enumerate(node_ids):
            if client.get(service.hosts[number % 2].url + NODES + node_id).status_code != 200:
                missing.append(node_id)
    return missing
