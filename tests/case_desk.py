"""The sender's and the operator's side of a case, on a sale in memory."""

from __future__ import annotations

from typing import Any

import httpx
from claim_service import Sale
from eth_account import Account

from contracts.access.cases import Case
from contracts.access.quote_answers import quote_answer
from contracts.access.rail import PaymentRail
from warehouse.access.cases import cases_in, find_case
from warehouse.access.issue import Issuer
from warehouse.access.resolve import IssuedForCase, issue_for_case, mark_refund, mark_refunded
from warehouse.access.supplements import offer_supplement, standing_of
from warehouse.ledger.master_secret import load_secrets

ALICE = Account.from_key("0x" + "11" * 32)
MALLORY = Account.from_key("0x" + "22" * 32)

CASE = "/api/agent-access/cases/{}"


def signed_request(sale: Sale, case_id: str, account: Any = ALICE, kind: str = "eip712") -> dict[str, Any]:
    """Returns the challenge of a case, signed."""
    challenge = sale.ask("GET", CASE.format(case_id))
    assert challenge.status_code == 200, challenge.text
    body = challenge.json()
    signature = account.sign_typed_data(full_message=body["typedData"]).signature.to_0x_hex()
    return {"issuedAt": body["issuedAt"], "proof": {"type": kind, "signature": signature}}


def read_case(sale: Sale, case_id: str, account: Any = ALICE, kind: str = "eip712") -> httpx.Response:
    return sale.ask("POST", CASE.format(case_id), json=signed_request(sale, case_id, account, kind))


def ask_supplement(sale: Sale, case_id: str, account: Any = ALICE) -> httpx.Response:
    return sale.ask("POST", CASE.format(case_id) + "/supplement", json=signed_request(sale, case_id, account))


def supplement_of(sale: Sale, case_id: str) -> dict[str, Any]:
    answer = ask_supplement(sale, case_id)
    assert answer.status_code == 201, answer.text
    return dict(answer.json())


def next_of(sale: Sale, case_id: str) -> tuple[str, str]:
    """Returns the state and next action of a case, as its sender reads them."""
    answer = read_case(sale, case_id)
    assert answer.status_code == 200, answer.text
    return answer.json()["state"], answer.json()["next"]["action"]


def offered_supplement(sale: Sale, case_id: str) -> dict[str, Any]:
    """Returns the quote for a case's missing amount, as offered by the operator."""
    signer = sale.service.key_set().signer(sale.now)
    with sale.ledger.transaction() as tx:
        found = standing_of(tx, find_case(tx, case_id), rail_of(sale), now=sale.now)
        offered = offer_supplement(tx, found, signer, now=sale.now)
    assert offered is not None
    answer = quote_answer(offered.quote, offered.signature, rail_of(sale), "http://test", keys_url="http://test/keys")
    return answer.model_dump(mode="json", by_alias=True)


def case_of(sale: Sale, case_id: str) -> Case:
    with sale.ledger.read() as reader:
        return find_case(reader, case_id)


def waiting(sale: Sale) -> list[Case]:
    with sale.ledger.read() as reader:
        return cases_in(reader)


def rail_of(sale: Sale) -> PaymentRail:
    return sale.service.rail


def accept(sale: Sale, case_id: str, received: str | None = None) -> IssuedForCase:
    """Accepts a case as the operator's `--issue` does, or `--received`."""
    signer = sale.service.key_set().signer(sale.now)
    issuer = Issuer(rail_of(sale), "http://test", load_secrets(sale.settings), signer)
    with sale.ledger.transaction() as tx:
        return issue_for_case(tx, issuer, case_id, received, now=sale.now)


def refund(sale: Sale, case_id: str) -> Case:
    with sale.ledger.transaction() as tx:
        return mark_refund(tx, case_id, now=sale.now)


def refunded(sale: Sale, case_id: str, transaction_hash: str = "0x" + "ab" * 32) -> Case:
    with sale.ledger.transaction() as tx:
        return mark_refunded(tx, case_id, transaction_hash, now=sale.now)
