"""Payments by signature on a real EVM: what x402 clients buy, how a payment is bound to a request, and what is
refused."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from claim_store import unsound
from eth_account import Account
from paid_service import PaidService
from signing_wallets import (
    BUILD,
    BUYER,
    CHECK,
    CHECKED,
    DESIGN,
    LIVE,
    QUERY,
    balance,
    front_client,
    header,
    offered,
    payment,
    settled,
    taken,
    taking_signatures,
)
from sqlalchemy import text

from cli.demo.anvil import Anvil
from contracts.access.plans import DEFAULT_PLAN, load_plans
from contracts.access.quotes import QuoteRequest, make_quote
from contracts.access.rail import rail_of
from contracts.settings import Settings
from warehouse.access.claims import keep_quote
from warehouse.world.forget import callers_of, forget_owner


@pytest.fixture
def paid(ledger_settings: Settings, anvil: Anvil) -> Iterator[PaidService]:
    with taking_signatures(ledger_settings, anvil) as service:
        yield service


@pytest.fixture
def paid_here(tmp_path: Path, anvil: Anvil) -> Iterator[PaidService]:
    with taking_signatures(Settings(_env_file=None, data_dir=tmp_path), anvil) as service:
        yield service


def check(paid: PaidService, payload: Any = None, body: Any = CHECKED, **headers: str) -> httpx.Response:
    return paid.post(CHECK, body, **({} if payload is None else header(payload)), **headers)


def test_a_single_call_is_paid_answered_and_answered_again(paid: PaidService) -> None:
    required = offered(check(paid))
    pays = payment(required)
    answer = check(paid, pays)
    assert answer.status_code == 200, answer.text
    assert answer.json()["data"]["decision"] == "allow"
    assert settled(answer)["success"] is True
    assert (taken(paid), balance(paid, BUYER.address)) == (2_000, 1_000_000_000 - 2_000)
    again = check(paid, pays)
    assert (again.text, again.status_code) == (answer.text, 200)
    assert taken(paid) == 2_000


def test_a_single_call_has_no_key_to_recover(paid: PaidService) -> None:
    pays = payment(offered(check(paid)))
    assert check(paid, pays).status_code == 200
    told = check(paid, pays, {**CHECKED, "action": "ls"}).json()["links"]["payment"]
    claim_id = paid.get(urlsplit(told).path).json()["claimId"]
    refused = paid.get(f"/api/agent-access/claims/{claim_id}/recovery")
    assert (refused.status_code, refused.json()["code"]) == (409, "key_not_recoverable")
    assert refused.json()["detail"] == "The claim bought a single call, which has no key."


def test_the_official_python_client_buys_a_call_and_a_key_in_two_requests_each(paid: PaidService) -> None:
    from x402 import x402Client
    from x402.http.clients import x402AsyncTransport
    from x402.mechanisms.evm.exact import ExactEvmScheme

    asked: list[str] = []

    class Counting(httpx.AsyncBaseTransport):
        inner = front_client(paid)

        async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
            asked.append(request.url.path)
            return await self.inner.handle_async_request(request)

    client = x402Client()
    client.register("eip155:8453", ExactEvmScheme(signer=BUYER))
    client.set_spend_controls(False)

    async def buys() -> tuple[httpx.Response, httpx.Response]:
        async with httpx.AsyncClient(transport=x402AsyncTransport(client, Counting()), base_url="http://test") as http:
            return await http.post(CHECK, json=CHECKED), await http.get(LIVE)

    called, bought = paid.service._loop.run(buys())
    assert called.status_code == 200, called.text
    assert bought.status_code == 201, bought.text
    key = bought.json()["data"]["activationPacket"]["apiKey"]
    assert paid.get(LIVE, Authorization=f"Bearer {key}").status_code == 200
    assert asked == [CHECK, CHECK, LIVE, LIVE]
    assert taken(paid) == 2_000 + 5_000_000
    assert int(paid.rpc.call("eth_getBalance", BUYER.address, "latest"), 16) == 0


def test_a_second_key_of_a_plan_is_sold_to_the_same_wallet_with_a_warning(paid: PaidService) -> None:
    """Here no quote exists to carry the warning before the payment."""

    def bought(offer: str, wallet: Any = BUYER) -> list[dict[str, Any]]:
        pays = payment(offered(paid.get(LIVE)), offer=offer, wallet=wallet)
        answer = paid.get(LIVE, **header(pays))
        assert answer.status_code == 201, answer.text
        assert paid.get(LIVE, **header(pays)).json() == answer.json(), "the answer stays the same"
        return list(answer.json()["data"]["warnings"])

    other = Account.from_key("0x" + "45" * 32)
    paid.mint(other.address, 1_000_000_000)
    assert bought(DEFAULT_PLAN) == []
    (warning,) = bought(DEFAULT_PLAN)
    assert (warning["code"], set(warning["links"])) == ("plan_active", {"account", "plans"})
    assert bought("api_basic_monthly") == []
    assert bought(DEFAULT_PLAN, other) == []


def test_a_transaction_of_ours_pays_no_quote_that_happens_to_ask_for_its_amount(paid: PaidService) -> None:
    """S4: an observer who ordered a quote for the payer's address can't claim with the settlement of a key, not even
    before the key is issued."""
    quote = quote_of_price(paid)
    bought = paid.get(LIVE, **header(payment(offered(paid.get(LIVE)))))
    assert bought.status_code == 201
    transaction = settled(bought)["transaction"]
    with paid.service.ledger.transaction() as tx:  # as if the claim came before the key
        for table in ("access_payments", "access_receipts", "api_keys", "access_claims"):
            tx._connection.execute(text(f"delete from {table}"))
    refused = paid.claim(quote, transaction)
    assert (refused.status_code, refused.json()["code"]) == (409, "transfer_already_used")


def quote_of_price(paid: PaidService) -> dict[str, Any]:
    """Returns a quote for exactly the price, which chance produces once in 10,000 times."""
    plan = load_plans()[DEFAULT_PLAN]
    made = make_quote(
        QuoteRequest(payer_address=BUYER.address),
        plan,
        rail_of(paid.service.settings),
        "http://test",
        quote_id=f"quote_{secrets.token_hex(16)}",
        nonce=secrets.token_hex(16),
        amount=plan.price,
        now=datetime.now(UTC),
    )
    with paid.service.ledger.transaction() as tx:
        keep_quote(tx, made, {})
    body = {
        "quoteId": made.quote_id,
        "transactionHash": "0x",
        "quoteHash": made.quote_hash,
        "paymentRequirementHash": made.requirement_hash,
    }
    return {"data": {"next": {"claim": {"body": body}}}}


def test_every_single_call_is_answered_as_with_a_key_and_a_write_is_not_sold(paid: PaidService) -> None:
    plan = {"agent": {"id": "me"}, "goals": [{"title": "Answer customers", "kinds": ["messages"]}]}
    graph = {"documents": [{"id": "a", "text": "Ada leads Acme."}]}
    for path, body, units in (
        (QUERY, {"search": "proof"}, 5_000),
        (DESIGN, plan, 20_000),
        (BUILD, graph, 20_000),
        (CHECK, CHECKED, 2_000),
    ):
        before = taken(paid)
        answer = paid.post(path, body, **header(payment(offered(paid.post(path, body)))))
        assert (answer.status_code, taken(paid) - before) == (200, units), answer.text
    before = taken(paid)
    for path, body in (
        (DESIGN, plan | {"mode": "apply"}),
        (BUILD, graph | {"mode": "apply"}),
        (CHECK, CHECKED | {"context": {"approval_token": "x"}}),
    ):
        required = offered(paid.post(path, body))
        call = offered(paid.post(path, graph))["accepts"][0]
        refused = paid.post(path, body, **header(payment(required | {"accepts": [call, *required["accepts"]]})))
        assert (refused.status_code, refused.json()["code"]) == (402, "payment_refused")
        assert "A single call does not cover this body" in refused.json()["detail"]
        for challenge in (required, offered(refused)):
            assert [offer["extra"]["offer"] for offer in challenge["accepts"]] == list(load_plans())
    assert taken(paid) == before


def test_a_payer_can_have_its_singly_paid_requests_erased(paid: PaidService) -> None:
    payload = payment(offered(check(paid)))
    assert check(paid, payload).status_code == 200
    owner = BUYER.address.lower()
    ledger = paid.service.ledger
    with ledger.read() as reader:
        (caller,) = callers_of(reader, owner)
    assert caller.startswith("pay_")
    forget_owner(ledger, owner, "tests")
    gone = check(paid, payload)
    assert (gone.status_code, gone.json()["code"]) == (409, "payment_answered")
    assert unsound(ledger) == set()


def test_answers_are_sealed_and_no_key_is_in_the_ledger(paid_here: PaidService) -> None:
    bought = paid_here.get(LIVE, **header(payment(offered(paid_here.get(LIVE)))))
    key = bought.json()["data"]["activationPacket"]["apiKey"]
    checked = check(paid_here, payment(offered(check(paid_here))))
    everything = b"".join(
        path.read_bytes() for path in paid_here.service.settings.data_dir.rglob("ledger.db*") if path.is_file()
    )
    assert key[-36:-6].encode() not in everything
    assert checked.json()["data"]["check_id"].encode() not in everything


def test_any_page_may_read_offers_and_send_payments(paid_here: PaidService) -> None:
    asked = check(paid_here)
    exposed = asked.headers["access-control-expose-headers"].lower()
    assert {"payment-required", "payment-response", "www-authenticate"} <= set(exposed.split(", "))
    assert asked.headers["www-authenticate"] == 'Bearer realm="svc"'
    preflight = paid_here.service.ask(("OPTIONS", CHECK, {"Access-Control-Request-Method": "POST"}, {}))[0]
    assert "payment-signature" in preflight.headers["access-control-allow-headers"].lower()


def test_quote_and_claim_take_no_signed_payment(paid_here: PaidService) -> None:
    refused = paid_here.post(
        "/api/agent-access/quote", {"payerAddress": BUYER.address}, **{"Payment-Signature": "e30="}
    )
    assert (refused.status_code, refused.json()["code"]) == (400, "payment_signature_misplaced")


def test_the_answer_to_a_missing_key_says_where_to_buy_one(paid_here: PaidService) -> None:
    required, refused = check(paid_here), paid_here.get(LIVE, Authorization="Bearer x")
    assert [each.status_code for each in (required, refused)] == [402, 401]
    links = required.json()["links"]
    assert list(links) == list(refused.json()["links"]) == ["plans", "quote", "trial", "docs", "home"]
    assert links["docs"].endswith("/docs/operations/guardrail_check/")
    assert required.links["payment"]["url"] == refused.links["payment"]["url"] == links["plans"]
    assert links["plans"].endswith("/api/agent-access/plans")
