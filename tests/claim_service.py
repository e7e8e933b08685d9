"""Paid access over HTTP on a chain in memory: the real routes and service, with the tests' own clock, chain and
providers."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from claim_cases import view_of
from claim_payments import TREASURY, USDC, Due, paying
from fake_providers import FakeChain, Log
from fastapi import FastAPI
from keyed_service import with_secrets

from api.access.cases import Cases, cases_router
from api.access.consent import OperatorConsents, consent_router
from api.access.router import access_router
from api.access.service import AccessService
from api.problems import handle_problems
from api.routes import merge_routes
from contracts.access.plans import load_plans
from contracts.access.provider_views import BlockView, Call, Silence, View, read_block
from contracts.access.quote_answers import quote_answer
from contracts.access.quotes import Quote, QuoteRequest, make_quote
from contracts.access.tiers import REQUESTS_A_DAY
from contracts.evm.codec import RpcError
from contracts.problem_links import ProblemLinks
from contracts.settings import Settings
from warehouse.access.claims import keep_quote
from warehouse.access.signing_keys import SigningKeys
from warehouse.ledger.ledger import open_ledger
from warehouse.ledger.master_secret import load_secrets

QUOTE = "/api/agent-access/quote"
CLAIM = "/api/agent-access/claim"
START = datetime(2027, 1, 15, 8, tzinfo=UTC)
CONFIRMATIONS = 3


class NearProviders:
    """Two providers without a network. `modes` gives the fault of each; `asked` counts the calls about payments and
    payers, `asked_of_coin` those about the coin."""

    def __init__(self, chain: FakeChain) -> None:
        self.chain = chain
        self.modes = ["honest", "honest"]
        self.lie: Any = lambda method, params, truth: truth
        self.stands_by: list[bool | None] = [True, True]
        self.asked = 0
        self.asked_of_coin = 0

    async def views(self, transaction_hash: str) -> list[View | Silence]:
        self.asked += 1
        return [self._view(mode, transaction_hash, name) for mode, name in zip(self.modes, "ab", strict=True)]

    async def calls(self, address: str, data: str) -> list[str | Silence]:
        self.asked += 1
        answers = {True: "0x1626ba7e" + "0" * 56, False: "0x"}
        return [Silence("a", "timeout") if each is None else answers[each] for each in self.stands_by]

    async def heads(self) -> list[BlockView | Silence]:
        self.asked += 1
        return [read_block(self.chain.answer("eth_getBlockByNumber", ["latest", False])) or Silence("a", "no block")]

    async def ask(self, calls: Sequence[Call]) -> list[list[Any | RpcError] | Silence]:
        self.asked_of_coin += 1
        return [self._answers(mode, calls, name) for mode, name in zip(self.modes, "ab", strict=True)]

    def _answers(self, mode: str, calls: Sequence[Call], name: str) -> list[Any | RpcError] | Silence:
        answers = [self.chain.answer(*call) for call in calls]
        match mode:
            case "honest" | "lagging":
                return answers
            case "other_chain":
                return [
                    hex(1) if method == "eth_chainId" else answer
                    for (method, _), answer in zip(calls, answers, strict=True)
                ]
            case "lying":
                return [self.lie(*call, answer) for call, answer in zip(calls, answers, strict=True)]
        return Silence(name, mode)

    def _view(self, mode: str, transaction_hash: str, name: str) -> View | Silence:
        match mode:
            case "honest":
                return view_of(self.chain, transaction_hash, name)
            case "lagging":
                return view_of(self.chain.at_height(len(self.chain.blocks) - 6), transaction_hash, name)
            case "other_chain":
                return replace(view_of(self.chain, transaction_hash, name), chain_id=1)
            case "lying":
                return view_of(_Lying(self.chain, self.lie), transaction_hash, name)
        return Silence(name, mode)


class _Lying:
    def __init__(self, chain: FakeChain, lie: Any) -> None:
        self._chain, self._lie = chain, lie

    def answer(self, method: str, params: Sequence[Any]) -> Any:
        return self._lie(method, params, self._chain.answer(method, params))


class Sale:
    """Created by `on_sale`. `now` is the clock of the service and of the blocks that `mine` adds."""

    def __init__(self, settings: Settings, **changed: Any) -> None:
        given: dict[str, Any] = {
            "rpc_urls": ("http://a.example/a-secret", "http://b.example/a-secret"),
            "usdc_address": USDC,
            "treasury_address": TREASURY,
            "claim_confirmations": CONFIRMATIONS,
            "base_url": "http://test",
        }
        self.settings = with_secrets(settings.model_copy(update=given | changed))
        self.now = START
        self.monotonic_s = 0.0
        self.chain = FakeChain(time_s=int(START.timestamp()) - 10)
        self.providers = NearProviders(self.chain)
        self.ledger = open_ledger(self.settings, self.settings.data_dir, wait_s=30)
        derived, signing = load_secrets(self.settings), SigningKeys(self.settings)
        self.service = AccessService(
            self.settings,
            lambda: self.ledger,
            lambda: derived,
            signing.current,
            REQUESTS_A_DAY,
            providers=self.providers,  # type: ignore[arg-type]
            clock=lambda: self.now,
            monotonic=lambda: self.monotonic_s,
        )
        app = FastAPI()
        handle_problems(app, ProblemLinks("http://test", sells=True), lambda: None)
        cases = Cases(
            self.service.rail,
            self.providers,  # type: ignore[arg-type]
            "http://test",
            lambda: self.ledger,
            signing.current,
            self.service.coin,
            clock=lambda: self.now,
        )
        consents = OperatorConsents(self.service.rail, self.providers, "http://test", lambda: self.ledger)  # type: ignore[arg-type]
        merge_routes(app.router, access_router(self.service), cases_router(cases), consent_router(consents))

        async def with_id(scope: Any, receive: Any, send: Any) -> None:
            await app({**scope, "request_id": "test"}, receive, send)

        self._runner = asyncio.Runner()
        transport = httpx.ASGITransport(with_id, raise_app_exceptions=False)
        self.client = httpx.AsyncClient(transport=transport, base_url="http://test")

    def ask(self, method: str, path: str, **options: Any) -> httpx.Response:
        return self._runner.run(self.client.request(method, path, **options))

    def at_once(self, *requests: tuple[str, str, dict[str, Any]]) -> list[httpx.Response]:
        async def asked() -> list[httpx.Response]:
            return await asyncio.gather(*(self.client.request(m, path, **rest) for m, path, rest in requests))

        return self._runner.run(asked())

    def quote(self, payer: str, plan: str = "api_basic_monthly", **changed: Any) -> dict[str, Any]:
        answer = self.ask("POST", QUOTE, json={"payerAddress": payer, "planId": plan} | changed)
        assert answer.status_code == 201, answer.text
        return dict(answer.json())

    def quote_of_amount(self, payer: str, amount: int, plan: str = "api_basic_monthly") -> dict[str, Any]:
        """Returns a quote with a chosen amount, as chance might give it."""
        rail = self.service.rail
        made: Quote = make_quote(
            QuoteRequest(payer_address=payer, plan_id=plan),
            load_plans()[plan],
            rail,
            "http://test",
            quote_id=f"quote_{secrets.token_hex(16)}",
            nonce=secrets.token_hex(16),
            amount=amount,
            now=self.now,
        )
        signature = self.service.key_set().signer(self.now).sign(made.quote_hash)
        with self.ledger.transaction() as tx:
            keep_quote(tx, made, signature)
        answer = quote_answer(made, signature, rail, "http://test", keys_url="http://test/keys")
        return answer.model_dump(mode="json", by_alias=True)

    def send(self, logs: Sequence[Log], status: str | None = "0x1", *, bury: int = CONFIRMATIONS) -> str:
        """Sends a transaction with these logs, mined and buried `bury` blocks deep in all; with 0 it stays in the
        mempool."""
        transaction = self.chain.send(logs, status)
        if bury:
            self.mine(bury)
        return transaction

    def mine(self, blocks: int = 1) -> None:
        """Mines blocks at the service's time."""
        for _ in range(blocks):
            self.pass_time(2)
            self.chain.mine(time_s=int(self.now.timestamp()))

    def pass_time(self, seconds: float) -> None:
        """Lets time pass. The chain notices with its next block."""
        self.now += timedelta(seconds=seconds)

    def pay(self, quote: dict[str, Any], **changed: Any) -> str:
        return self.send([paying(due_of(quote), **changed)])

    def claim(
        self, quote: dict[str, Any], transaction: str, key: str | None = None, *, remembered: bool = False, **body: Any
    ) -> httpx.Response:
        """Returns the answer to a claim; unless `remembered`, an earlier answer of "pending" has expired."""
        if not remembered:
            self.monotonic_s += 10
        headers = {} if key is None else {"Idempotency-Key": key}
        return self.ask("POST", CLAIM, json=body_of(quote, transaction) | body, headers=headers)

    def close(self) -> None:
        self._runner.run(self.client.aclose())
        self._runner.close()
        self.ledger.close()


@contextmanager
def on_sale(settings: Settings, **changed: Any) -> Iterator[Sale]:
    sale = Sale(settings, **changed)
    try:
        yield sale
    finally:
        sale.close()


def due_of(quote: dict[str, Any]) -> Due:
    said = quote["data"]["quote"]
    return Due(said["payer"], said["payTo"], said["asset"], int(said["amount"]))


def body_of(quote: dict[str, Any], transaction: str) -> dict[str, Any]:
    return {
        "quoteId": quote["quoteId"],
        "transactionHash": transaction,
        "quoteHash": quote["quoteHash"],
        "paymentRequirementHash": quote["paymentRequirementHash"],
    }


def said(answer: httpx.Response) -> tuple[int, str]:
    """Returns status and code of an answer; for an issued key the code is `issued` or `replayed`."""
    if answer.status_code == 201:
        return 201, "replayed" if answer.headers.get("idempotent-replayed") == "true" else "issued"
    return answer.status_code, answer.json()["code"]


def api_key_of(answer: httpx.Response) -> str:
    return str(answer.json()["data"]["activationPacket"]["apiKey"])


def new_payer() -> str:
    return "0x" + secrets.token_hex(20)
