"""Repeated purchases with signed payments while something goes wrong at every step: a fifth in tests, all in a soak."""

from __future__ import annotations

import asyncio
import random
import secrets
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from claim_payments import TREASURY, USDC
from claim_store import unsound
from coin_chain import CoinChain, Killed, SteppedProviders, Steps
from eth_account import Account
from fastapi import FastAPI, Request, Response
from keyed_service import with_secrets
from patience import HANG_S
from signing_wallets import CHECK, LIVE, header, offered, payment
from sqlalchemy import text

from api.access.payments import SignedPayments, payments_router
from api.access.settlements import Settlements
from api.deps import AuthenticatedReadingRoute, authenticated_router, caller_of, set_payments
from api.problems import handle_problems
from api.responses import private_json
from api.routes import merge_routes
from contracts.access.rail import rail_of
from contracts.access.tiers import REQUESTS_A_DAY
from contracts.errors import BodyInvalid
from contracts.problem_links import ProblemLinks
from contracts.settings import Settings
from warehouse.access.signing_keys import SigningKeys
from warehouse.ledger.ledger import Ledger, open_ledger
from warehouse.ledger.master_secret import load_secrets

RELAYER = Account.from_key("0x" + "33" * 32)
START = datetime(2027, 1, 15, 8, tzinfo=UTC)
MOST_TRIES = 40
ROUND_WAIT_S = 0.25
"""How long a request of a round waits. Anything that needs the chain's time gets it between two requests."""


class SteppedLedger:
    """A ledger in which every transaction is a step."""

    def __init__(self, ledger: Ledger, steps: Steps) -> None:
        self._ledger, self._steps = ledger, steps

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        now = self._steps.begin()
        with self._ledger.transaction() as tx:
            yield tx
        self._steps.end(now)

    def read(self) -> Any:
        if self._steps.dead:
            raise Killed
        return self._ledger.read()


class Paying:
    """Created by `paying`. One ledger and chain; `start` creates the service again, as after a kill.

    The service answers `CHECK` with a number that it never repeats, so that an answer identifies the run that created
    it.
    """

    def __init__(self, settings: Settings, **changed: Any) -> None:
        given: dict[str, Any] = {
            "rpc_urls": ("http://a.example", "http://b.example"),
            "usdc_address": USDC,
            "treasury_address": TREASURY,
            "claim_confirmations": 1,
            "base_url": "http://test",
            "relayer_key_file": settings.data_dir / "never-read",
        }
        self.settings = with_secrets(settings.model_copy(update=given | changed))
        self.now = START
        self.chain = CoinChain(time_s=int(START.timestamp()) - 1)
        self.chain.gas[RELAYER.address.lower()] = 10**21
        self.ledger = open_ledger(self.settings, self.settings.data_dir, wait_s=30)
        self._derived, self._signing = load_secrets(self.settings), SigningKeys(self.settings)
        self._runner = asyncio.Runner()
        self.start()

    def start(self, steps: Steps | None = None, *, wait_s: float = HANG_S) -> None:
        self.steps = steps or Steps()
        self.client, self.settlements = self._process(self.steps, wait_s)

    def _process(self, steps: Steps, wait_s: float) -> tuple[httpx.AsyncClient, Settlements]:
        ledger = SteppedLedger(self.ledger, steps)
        settlements = Settlements(
            rail_of(self.settings),
            "http://test",
            lambda: ledger,  # type: ignore[arg-type,return-value]
            lambda: self._derived,
            self._signing.current,
            lambda: RELAYER,
            REQUESTS_A_DAY,
            SteppedProviders(self.chain, steps),  # type: ignore[arg-type]
            clock=lambda: self.now,
            monotonic=lambda: self.now.timestamp(),
        )
        payments = SignedPayments(
            settlements,
            "http://test",
            lambda: ledger,  # type: ignore[arg-type,return-value]
            lambda: self._derived,
            self._signing.current,
            wait_s=wait_s,
            clock=lambda: self.now,
        )
        app = FastAPI()
        handle_problems(app, ProblemLinks("http://test", sells=True), lambda: None)
        set_payments(app, payments)
        router = authenticated_router("test", AuthenticatedReadingRoute)

        @router.post("/guardrail/check")
        def check(request: Request, body: dict[str, Any]) -> Response:
            if "action" not in body:
                raise BodyInvalid("No action.")
            return private_json(f'{{"made":"{secrets.token_hex(8)}","for":"{caller_of(request).owner}"}}')

        @router.get("/world-model/live")
        def live(request: Request) -> Response:
            return private_json("{}")

        merge_routes(app.router, router, payments_router(payments))

        async def with_id(scope: Any, receive: Any, send: Any) -> None:
            await app({**scope, "request_id": "test"}, receive, send)

        transport = httpx.ASGITransport(with_id, raise_app_exceptions=False)
        return httpx.AsyncClient(transport=transport, base_url="http://test"), settlements

    def another(self) -> httpx.AsyncClient:
        """Returns a client of a second process over the same ledger and chain."""
        return self._process(Steps(), HANG_S)[0]

    def run(self, work: Any) -> Any:
        return self._runner.run(work)

    def ask(self, payload: Any = None, *, path: str = CHECK, body: Any = None, **options: Any) -> httpx.Response:
        headers = options.pop("headers", {}) if payload is None else header(payload)
        method, sent = ("GET", None) if path == LIVE else ("POST", body or {"action": "ls"})
        answer: httpx.Response = self.run(self.client.request(method, path, headers=headers, json=sent, **options))
        return answer

    def wallet(self, coins: int = 10**9) -> Any:
        wallet = Account.create()
        self.chain.coins[wallet.address.lower()] = coins
        return wallet

    def signed(self, wallet: Any = None, *, path: str = CHECK, **changed: Any) -> dict[str, Any]:
        """Returns a payment for the first offer of a path, as its service makes it now."""
        required = offered(self.ask(path=path))
        return payment(required, wallet=wallet or self.wallet(), now_s=self.now.timestamp(), **changed)

    def pass_time(self, seconds: float) -> None:
        """Lets time pass, on the chain too."""
        self.now += timedelta(seconds=seconds)
        if self.now.timestamp() > self.chain.time_s:
            self.chain.mine(time_s=int(self.now.timestamp()))

    def ledger_value(self, question: str) -> Any:
        with self.ledger._readers.begin() as connection:
            return connection.execute(text(question)).scalar_one()

    def drive(self) -> None:
        self.run(self.settlements.drive())

    def close(self) -> None:
        self._runner.close()
        self.ledger.close()


@contextmanager
def paying(settings: Settings, **changed: Any) -> Iterator[Paying]:
    made = Paying(settings, **changed)
    try:
        yield made
    finally:
        made.close()


@dataclass
class Rounds:
    """The results of all rounds. `wrong` names what must never happen."""

    outcomes: Counter[str] = field(default_factory=Counter)
    kills: int = 0
    wrong: list[str] = field(default_factory=list)


def one_round(service: Paying, mode: str, at: int, *, path: str, rounds: Rounds) -> bool:
    """Buys once while `mode` happens at step `at`, and repeats the request until it is answered. Returns False if the
    purchase has fewer steps."""
    service.start(wait_s=ROUND_WAIT_S)
    wallet = service.wallet()
    payer, before = wallet.address.lower(), service.chain.coins[wallet.address.lower()]
    payload = service.signed(wallet, path=path)
    steps = Steps(mode, at)
    service.start(steps, wait_s=ROUND_WAIT_S)
    answer: httpx.Response | None = None
    for _ in range(MOST_TRIES):
        try:
            answer = service.ask(payload, path=path)
        except Killed:
            rounds.kills += 1
            service.start(wait_s=ROUND_WAIT_S)
            service.pass_time(16)  # the lease of what was killed ends
            continue
        if answer.status_code in (200, 201, 402, 409):
            break
        assert answer.status_code in (202, 503), answer.text
        service.pass_time(3)
    assert answer is not None
    name = f"{mode} at {at} of {path}"
    taken = before - service.chain.coins[payer]
    value = int(payload["payload"]["authorization"]["value"])
    bought = answer.status_code in (200, 201)
    rounds.outcomes["bought" if bought else str(answer.status_code)] += 1
    if taken not in (0, value) or max(service.chain.charged.values(), default=0) > 1:
        rounds.wrong.append(f"{name}: charged {taken} of {value}")
    if bought != (taken == value):
        rounds.wrong.append(f"{name}: answered {answer.status_code}, charged {taken}")
    service.start(wait_s=ROUND_WAIT_S)
    again = service.ask(payload, path=path)
    if bought and (again.text, again.status_code) != (answer.text, answer.status_code):
        rounds.wrong.append(f"{name}: another answer to the same signature")
    return steps.taken > at


def rounds_of(settings: Settings, modes: list[tuple[str, str]], *, every: int, seed: int) -> Rounds:
    """Buys once for each step of a purchase, each mode and each path of `modes`, or every `every`-th of them."""
    rng, rounds = random.Random(seed), Rounds()
    with paying(settings) as service:
        for mode, path in modes:
            at = rng.randrange(every)
            while one_round(service, mode, at, path=path, rounds=rounds):
                at += every
        service.start()
        service.drive()
        used = service.chain.nonces[RELAYER.address.lower()]
        if service.chain.waiting:
            rounds.wrong.append(f"after {used} nonces, some hang: {list(service.chain.waiting)}")
        rounds.wrong += sorted(unsound(service.ledger))
    return rounds
