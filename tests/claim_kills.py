"""A server of two workers that is killed while buyers buy: a few times in the test, many times in the soak.

Buyers behave as every example tells them to: one Idempotency-Key per quote, and the same claim is sent again until it
is answered.
"""

from __future__ import annotations

import os
import random
import secrets
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
from claim_payments import TREASURY, USDC, paying
from claim_service import CLAIM, QUOTE, api_key_of, body_of, due_of
from claim_store import unsound
from fake_providers import FakeChain, Provider
from forked import ForkedCommand
from keyed_service import with_secrets
from nginx import free_port
from patience import HANG_S
from sqlalchemy import text

from cli.environment import as_environment
from contracts.access.api_keys import parse_key
from contracts.settings import Settings
from warehouse.ledger.ledger import open_ledger
from warehouse.ledger.master_secret import load_secrets

SVC = Path(sys.executable).with_name("svc")
BUYERS = 4


@dataclass
class Outcome:
    """`acknowledged` lists the answers that issued; `lost` counts those of them that are missing from the ledger,
    `doubled` quotes or transfers that were redeemed twice."""

    kills: int = 0
    answered_late: int = 0
    acknowledged: dict[str, str] = field(default_factory=dict)
    replayed: int = 0
    lost: int = 0
    doubled: int = 0
    unsound: set[str] = field(default_factory=set)
    leaked: set[str] = field(default_factory=set)


class Server:
    """`svc serve` on its own port; its output goes to a file in the data directory."""

    def __init__(self, settings: Settings, workers: int = 2) -> None:
        self.settings, self._workers = settings, workers
        self.log = settings.data_dir / "serve.log"
        self.process: subprocess.Popen[bytes] | ForkedCommand | None = None

    def start(self) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("SVC_")}
        self.process = self._process(environment | as_environment(self.settings))
        deadline = time.monotonic() + HANG_S
        with httpx.Client(base_url=self.settings.public_base_url, timeout=5) as client:
            while time.monotonic() < deadline:
                with suppress(httpx.HTTPError):
                    if client.get("/api/agent-access/plans").status_code == 200:
                        return
                assert self.process.poll() is None, self.log.read_text()
                time.sleep(0.05)
        raise AssertionError(f"the server did not start:\n{self.log.read_text()}")

    def _process(self, environment: dict[str, str]) -> subprocess.Popen[bytes] | ForkedCommand:
        if self._workers == 1:
            return ForkedCommand(environment, self.log, "serve")
        command: list[str | Path] = [SVC, "serve", "--workers", str(self._workers)]
        with self.log.open("ab") as log:
            return subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)

    def kill(self) -> None:
        """Kills all of it at once, as a machine that runs out of memory does."""
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def kill_one_worker(self, rng: random.Random) -> None:
        """Kills one worker, which the supervisor replaces."""
        assert self.process is not None
        workers = [
            each for each in psutil.Process(self.process.pid).children() if "resource_tracker" not in _line(each)
        ]
        with suppress(psutil.NoSuchProcess):
            rng.choice(workers).kill()

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.kill()


class Market:
    """The chain that buyers pay on."""

    def __init__(self) -> None:
        self.chain = FakeChain(time_s=int(time.time()) - 60)
        self.lock = threading.Lock()

    def pay(self, quote: dict[str, Any]) -> str:
        with self.lock:
            transaction = self.chain.send([paying(due_of(quote))])
            self.chain.mine(time_s=int(time.time()))
        return transaction


class Buyer:
    """Buys until told to stop, and continues what it has begun whatever happens to the server."""

    def __init__(self, base_url: str, market: Market, outcome: Outcome, stop: threading.Event) -> None:
        self.market, self.outcome, self.stop = market, outcome, stop
        self.client = httpx.Client(base_url=base_url, timeout=20, trust_env=False)

    def run(self) -> None:
        with self.client:
            while not self.stop.is_set():
                quote = self._until(201, QUOTE, {"payerAddress": "0x" + secrets.token_hex(20)}, {}).json()
                body = body_of(quote, self.market.pay(quote))
                headers = {"Idempotency-Key": quote["quoteId"]}
                answer = self._until(201, CLAIM, body, headers)
                self.outcome.replayed += "idempotent-replayed" in answer.headers
                key = api_key_of(answer)
                self.outcome.acknowledged[quote["quoteId"]] = key
                again = self._until(201, CLAIM, body, headers)
                assert api_key_of(again) == key, "another key for the same claim"

    def _until(self, status: int, path: str, body: dict[str, Any], headers: dict[str, str]) -> httpx.Response:
        deadline, last = time.monotonic() + HANG_S, "none"
        while time.monotonic() < deadline:
            try:
                answer = self.client.post(path, json=body, headers=headers)
            except httpx.HTTPError:
                self.outcome.answered_late += 1
                time.sleep(0.05)
                continue
            if answer.status_code == status:
                return answer
            last = f"{answer.status_code} {answer.text}"
            assert answer.status_code in (202, 503) or answer.json()["code"] == "claim_in_progress", last
            time.sleep(0.3)
        raise AssertionError(f"no {status} of {path} within {HANG_S:g} s; last answer: {last}")


def killed_rounds(settings: Settings, kills: int, seed: int, *, between_s: float = 1.5) -> Outcome:
    """Kills the server `kills` times while buyers buy, every third time only one worker; then compares the ledger with
    what they were told, and searches every file for their keys."""
    rng, outcome, market, stop = random.Random(seed), Outcome(), Market(), threading.Event()
    with ExitStack() as stack:
        urls = tuple(stack.enter_context(Provider(market.chain)).url for _ in range(2))
        given = {
            "port": free_port(),
            "rpc_urls": urls,
            "usdc_address": USDC,
            "treasury_address": TREASURY,
            "claim_confirmations": 1,
            "rate_limit_per_minute": 0,
            "base_url": None,
        }
        settings = with_secrets(settings.model_copy(update=given))
        server = Server(settings)
        stack.callback(server.stop)
        server.start()
        with ThreadPoolExecutor(BUYERS) as pool:
            buyers = [pool.submit(Buyer(settings.public_base_url, market, outcome, stop).run) for _ in range(BUYERS)]
            try:
                for number in range(kills):
                    _wait_for_more(outcome, buyers)
                    time.sleep(rng.uniform(0.0, between_s))
                    if number % 3 == 2:
                        server.kill_one_worker(rng)
                    else:
                        server.kill()
                        server.start()
                    outcome.kills += 1
                _wait_for_more(outcome, buyers)
            finally:
                stop.set()
            for buyer in buyers:
                buyer.result()
        server.stop()
    _account(settings, outcome)
    return outcome


def _wait_for_more(outcome: Outcome, buyers: list[Any]) -> None:
    before, deadline = len(outcome.acknowledged), time.monotonic() + HANG_S
    while len(outcome.acknowledged) < before + BUYERS:
        assert time.monotonic() < deadline, "nobody gets anything any more"
        for buyer in buyers:
            if buyer.done():
                buyer.result()
        time.sleep(0.05)


def _account(settings: Settings, outcome: Outcome) -> None:
    ledger = open_ledger(settings, settings.data_dir)
    pepper = load_secrets(settings).pepper
    try:
        with ledger._readers.begin() as connection:
            sold = text(
                "select c.quote_id, k.digest from access_claims c join api_keys k on k.claim_id = c.claim_id "
                "where k.state = 'active'"
            )
            held: dict[str, str] = dict(map(tuple, connection.execute(sold)))
            outcome.doubled += connection.execute(text("select count(*) from access_claims")).scalar_one() - len(held)
            tables = [
                repr(connection.execute(text(f"select * from {table}")).all())
                for table in ("access_quotes", "access_claims", "access_receipts", "api_keys", "ledger_changes")
            ]
        outcome.unsound = unsound(ledger)
    finally:
        ledger.close()
    for quote_id, key_text in outcome.acknowledged.items():
        key = parse_key(key_text)
        assert key is not None
        outcome.lost += held.get(quote_id) != key.digest(pepper)
    outcome.doubled += len(held) - len(outcome.acknowledged)
    files = [path.read_bytes() for path in settings.data_dir.rglob("*") if path.is_file()]
    everything = b"\n".join([*files, *(each.encode() for each in tables)])
    outcome.leaked = {key for key in outcome.acknowledged.values() if key[-36:-6].encode() in everything}


def _line(process: psutil.Process) -> str:
    with suppress(psutil.Error):
        return " ".join(process.cmdline())
    return ""
