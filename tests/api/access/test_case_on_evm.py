"""A payment that was too little, topped up on a real chain through the whole application."""

from __future__ import annotations

from typing import Any

import pytest
from paid_service import PAYER, STRANGER, PaidService, selling

from cli.demo.anvil import Anvil
from contracts.settings import Settings
from warehouse.access.cases import cases_in

CASE = "/api/agent-access/cases/{}"


@pytest.fixture
def paid(ledger_settings: Settings, anvil: Anvil) -> Any:
    with selling(ledger_settings, anvil, claim_confirmations=2) as opened:
        yield opened


def signed(paid: PaidService, case_id: str, account: Any) -> dict[str, Any]:
    challenge = paid.get(CASE.format(case_id)).json()
    signature = account.sign_typed_data(full_message=challenge["typedData"]).signature.to_0x_hex()
    return {"issuedAt": challenge["issuedAt"], "proof": {"type": "eip712", "signature": signature}}


def test_a_payment_that_was_too_little_is_topped_up_and_its_key_works(paid: PaidService) -> None:
    quote, unpaid = paid.quoted(planId="api_basic_monthly"), paid.quoted(payerAddress=STRANGER.address)
    short = paid.pay(quote, units=int(quote["price"]["exactAmountUnits"]) - 4_000_000)
    assert paid.claim(unpaid, short).json()["code"] == "payer_mismatch"
    refusal = paid.claim(quote, short)
    assert (refusal.status_code, refusal.json()["code"]) == (402, "amount_mismatch")
    case_id = refusal.json()["caseId"]
    assert paid.post(CASE.format(case_id), signed(paid, case_id, STRANGER)).status_code == 403
    read = paid.post(CASE.format(case_id), signed(paid, case_id, PAYER)).json()
    assert (read["state"], read["next"]["action"], read["next"]["missing"]) == ("open", "pay_difference", "4")
    answer = paid.post(CASE.format(case_id) + "/supplement", signed(paid, case_id, PAYER))
    assert answer.status_code == 201, answer.text
    supplement = answer.json()
    rest = paid.pay(supplement)
    first, *others = sorted(
        paid.together(*[supplement["data"]["next"]["claim"]["body"] | {"transactionHash": rest}] * 4),
        key=lambda reply: reply.status_code,
    )
    assert first.status_code == 201, first.text
    assert {reply.status_code for reply in others} == {409}
    data = first.json()["data"]
    assert (data["claim"]["quoteId"], data["claim"]["planId"]) == (quote["quoteId"], "api_basic_monthly")
    key = data["activationPacket"]["apiKey"]
    assert paid.get("/api/v2/world-model/live", **{"X-Api-Key": key}).status_code != 401
    assert paid.claim(unpaid, rest).json()["code"] in ("payer_mismatch", "transfer_already_used")
    with paid.service.ledger.read() as reader:
        assert {case.state for case in cases_in(reader, "open", "supplement_offered", "claimed")} == {"claimed"}
