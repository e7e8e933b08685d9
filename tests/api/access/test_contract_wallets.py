"""Wallets that are contracts, on a real EVM: wherever a challenge is signed, the contract's answer counts
(ERC-1271)."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from contract_wallets import owned_wallet, proof_of, undeployed
from eth_account import Account
from keyed_service import KeyedService, serving
from mcp_service import JSON, message
from paid_service import CLAIM, QUOTE, STRANGER, PaidService, claim_body
from signing_wallets import CHECK, CHECKED, balance, header, offered, payment, taken, taking_signatures
from trial_wallets import PATH as TRIALS

from cli.demo.anvil import PRUNED, Anvil
from contracts.access.plans import DEFAULT_PLAN
from contracts.access.proofs import quote_typed_data
from contracts.settings import Settings
from warehouse.connect.sessions import issue_code

OWNER = Account.from_key("0x" + "77" * 32)


class CutOff(PaidService):
    """A service whose chain is unreachable."""

    def __init__(self, service: KeyedService) -> None:
        self.service = service


Send = Callable[[dict[str, str]], httpx.Response]
"""Sends a proof in answer to a challenge."""


@pytest.fixture(scope="module")
def paid(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PaidService]:
    settings = Settings(_env_file=None, data_dir=tmp_path_factory.mktemp("wallets"))
    with Anvil(flags=PRUNED) as anvil, taking_signatures(settings, anvil, signature_above_usd=0) as service:
        yield service


@pytest.fixture
def wallet(paid: PaidService) -> str:
    address = owned_wallet(paid.rpc, paid.deployer, OWNER.address)
    paid.mint(address, 1_000_000_000)
    return address


def challenge(paid: PaidService, url: str) -> tuple[dict[str, Any], Send]:
    """Returns the message that a GET asks the wallet to sign, and a function that sends the proof."""
    path = url.removeprefix(paid.service.settings.public_base_url)
    answer = paid.get(path)
    assert answer.status_code == 200, answer.text
    issued = {name: answer.json()[name] for name in ("issuedAt",) if name in answer.json()}
    return answer.json()["typedData"], lambda proof: paid.post(path, issued | {"proof": proof})


def trial(paid: PaidService, wallet: str) -> tuple[dict[str, Any], Send]:
    return challenge(paid, TRIALS + wallet)


def claim(paid: PaidService, wallet: str) -> tuple[dict[str, Any], Send]:
    quote = paid.quoted(payerAddress=wallet)
    transaction_hash = paid.pay(quote, sender=wallet)
    typed_data = quote["data"]["next"]["claim"]["proof"]
    return typed_data, lambda proof: paid.post(CLAIM, claim_body(quote, transaction_hash, integrity=proof))


def bought(paid: PaidService, wallet: str, **named: str) -> dict[str, Any]:
    quote = paid.quoted(payerAddress=wallet, **named)
    proof = proof_of(OWNER, quote["data"]["next"]["claim"]["proof"])
    answer = paid.post(CLAIM, claim_body(quote, paid.pay(quote, sender=wallet), integrity=proof))
    assert answer.status_code == 201, answer.text
    return dict(answer.json()["data"])


def recovery(paid: PaidService, wallet: str) -> tuple[dict[str, Any], Send]:
    return challenge(paid, bought(paid, wallet)["receipt"]["recovery"]["url"])


def consent(paid: PaidService, wallet: str) -> tuple[dict[str, Any], Send]:
    """Returns the consent challenge of a quote whose operator and payer are two wallets of the same owner."""
    payer = owned_wallet(paid.rpc, paid.deployer, OWNER.address)
    paid.mint(payer, 1_000_000_000)
    claim_id = bought(paid, payer, operatorAddress=wallet)["claim"]["claimId"]
    return challenge(paid, f"/api/agent-access/claims/{claim_id}/operator")


def case(paid: PaidService, wallet: str) -> tuple[dict[str, Any], Send]:
    quote = paid.quoted(payerAddress=wallet)
    short = int(quote["data"]["next"]["pay"]["amountUnits"]) - 1
    transaction_hash = paid.pay(quote, sender=wallet, units=short)
    proof = proof_of(OWNER, quote["data"]["next"]["claim"]["proof"])
    refused = paid.post(CLAIM, claim_body(quote, transaction_hash, integrity=proof))
    assert refused.json()["code"] == "amount_mismatch", refused.text
    return challenge(paid, f"/api/agent-access/cases/{refused.json()['caseId']}")


def quote(paid: PaidService, wallet: str) -> tuple[dict[str, Any], Send]:
    issued_at = int(time.time())
    typed_data = quote_typed_data(wallet.lower(), DEFAULT_PLAN, issued_at, paid.service.settings.chain_id)
    body = {"payerAddress": wallet}
    return typed_data, lambda proof: paid.post(QUOTE, body | {"integrity": proof | {"issuedAt": issued_at}})


def called(paid: PaidService, tool: str, **arguments: Any) -> tuple[bool, dict[str, Any]]:
    """Returns whether a tool of a paired session failed, and its answer."""
    body = message("tools/call", {"name": tool, "arguments": arguments})
    answer = paid.service.ask(("POST", "/mcp", JSON, {"content": body}))[0].json()["result"]
    return answer.get("isError", False), json.loads(answer["content"][0]["text"])


def session(paid: PaidService, wallet: str) -> tuple[str, dict[str, Any]]:
    """Returns a new session's token, and the message that the wallet must sign for the session to see its graph."""
    with paid.service.ledger.transaction() as tx:
        code = issue_code(tx, paid.service.pepper).code
    token = called(paid, "svc_connect_handshake", pairing_code=code)[1]["session_token"]
    return token, called(paid, "svc_connect_graph", session_token=token, address=wallet)[1]


@pytest.mark.parametrize(
    ("challenged", "accepted", "refused"),
    [
        (trial, 201, (403, "trial_refused")),
        (claim, 201, (402, "payer_proof_invalid")),
        (recovery, 201, (403, "recovery_refused")),
        (consent, 200, (403, "operator_consent_refused")),
        (case, 200, (403, "case_refused")),
        (quote, 201, (400, "payer_proof_required")),
    ],
)
def test_only_the_owners_signature_is_accepted(
    paid: PaidService,
    wallet: str,
    challenged: Callable[[PaidService, str], tuple[dict[str, Any], Send]],
    accepted: int,
    refused: tuple[int, str],
) -> None:
    typed_data, send = challenged(paid, wallet)
    right = proof_of(OWNER, typed_data)
    other_message = typed_data | {"domain": typed_data["domain"] | {"chainId": 1}}
    for wrong in (proof_of(STRANGER, typed_data), proof_of(OWNER, other_message), right | {"type": "eip712"}):
        answer = send(wrong)
        assert (answer.status_code, answer.json()["code"]) == refused, answer.text
    unknown = send(undeployed(right))
    assert (unknown.status_code, unknown.json()["code"]) == (400, "body_invalid")
    assert "ERC-6492" in unknown.text
    answer = send(right)
    assert answer.status_code == accepted, answer.text


def test_a_session_of_mcp_sees_its_graph_after_what_its_owner_signed_and_nothing_else(
    paid: PaidService, wallet: str
) -> None:
    token, asked = session(paid, wallet)

    def opened(proof: dict[str, str]) -> tuple[bool, dict[str, Any]]:
        sent = {"session_token": token, "address": wallet, "issued_at": asked["issued_at"], "proof": proof}
        return called(paid, "svc_connect_graph", **sent)

    right = proof_of(OWNER, asked["typed_data"])
    other_message = session(paid, wallet)[1]["typed_data"]
    wrong = (proof_of(STRANGER, asked["typed_data"]), proof_of(OWNER, other_message), right | {"type": "eip712"})
    assert [opened(each)[1]["code"] for each in wrong] == ["signature_rejected"] * 3
    assert opened(undeployed(right))[1]["code"] == "arguments_invalid"
    is_error, answered = opened(right)
    assert (is_error, answered["owner"], answered["by"]) == (False, wallet.lower(), "signature")


def test_a_contracts_signature_is_not_refused_while_the_contract_is_unreachable(
    tmp_path: Path, paid: PaidService, wallet: str
) -> None:
    """L1: unknown is neither refused nor accepted, wherever the signature goes."""
    settings = paid.service.settings.model_copy(update={"data_dir": tmp_path, "rpc_urls": ("http://127.0.0.1:9",)})
    with serving(settings) as silent:
        cut_off = CutOff(silent)
        for challenged in (trial, quote):
            typed_data, send = challenged(cut_off, wallet)
            answer = send(proof_of(OWNER, typed_data))
            assert (answer.status_code, answer.json()["retryable"]) == (503, True), answer.text
        token, asked = session(cut_off, wallet)
        proof = proof_of(OWNER, asked["typed_data"])
        sent = {"session_token": token, "address": wallet, "issued_at": asked["issued_at"], "proof": proof}
        is_error, problem = called(cut_off, "svc_connect_graph", **sent)
        assert (is_error, problem["code"], problem["retryable"]) == (True, "contract_unsure", True)


def test_a_contracts_signed_payment_is_refused_and_takes_nothing(paid: PaidService, wallet: str) -> None:
    """EIP-3009 as x402 signs it knows only keys; a contract buys a key with a quote and a transfer."""
    before = taken(paid)
    pays = payment(offered(paid.post(CHECK, CHECKED)), wallet=OWNER, **{"from": wallet})
    for signature in (pays["payload"]["signature"], "0x" + "12" * 97):
        pays["payload"]["signature"] = signature
        answer = paid.post(CHECK, CHECKED, **header(pays))
        assert (answer.status_code, answer.json()["code"]) == (402, "payment_refused"), answer.text
        assert "(invalid_exact_evm_payload_signature) Nothing was taken." in offered(answer)["error"]
    assert (taken(paid), balance(paid, wallet)) == (before, 1_000_000_000)
