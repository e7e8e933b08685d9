"""A lost key is replaced by the payer's signature (L4): once per challenge, by nobody else, and the old key is
revoked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from eth_account import Account
from keyed_service import ACTION, CHECK
from paid_service import PAYER, STRANGER, PaidService, selling

from cli.demo.anvil import Anvil
from cli.demo.write import deploy_code
from contracts.access.proofs import ERC1271_MAGIC
from contracts.access.recovery import CHALLENGE_FOR
from contracts.settings import Settings
from warehouse.access.claims import find_claim, reverse_claim
from warehouse.access.keys import alive_key_of_claim, list_keys, revoke_key

OLDEST_S = int(CHALLENGE_FOR.total_seconds())


class Lost:
    """A claim whose key is to be replaced."""

    def __init__(self, paid: PaidService, payer: str = PAYER.address) -> None:
        self.paid = paid
        quote = paid.quoted(planId="api_basic_monthly", payerAddress=payer)
        data = paid.claim(quote, paid.pay(quote, sender=payer)).json()["data"]
        self.claim_id = data["claim"]["claimId"]
        self.key = data["activationPacket"]["apiKey"]
        self.recovery = data["receipt"]["recovery"]
        self.path = self.recovery["url"].removeprefix(paid.service.settings.public_base_url)

    def challenge(self) -> dict[str, Any]:
        answer = self.paid.get(self.path)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def signed(self, signer: Any = PAYER, challenge: dict[str, Any] | None = None, **message: Any) -> dict[str, Any]:
        challenge = challenge or self.challenge()
        typed = challenge["typedData"] | {"message": challenge["typedData"]["message"] | message}
        signature = Account.sign_typed_data(signer.key, full_message=typed).signature
        return {
            "issuedAt": typed["message"]["issuedAt"],
            "proof": {"type": "eip712", "signature": signature.to_0x_hex()},
        }

    def replace(self, body: dict[str, Any]) -> httpx.Response:
        return self.paid.post(self.path, body)

    def works(self, key: str) -> bool:
        (answer,) = self.paid.service.ask(("POST", CHECK, {"X-Api-Key": key}, {"json": ACTION}))
        return answer.status_code == 200


@pytest.fixture
def lost(ledger_settings: Settings, anvil: Anvil) -> Iterator[Lost]:
    with selling(ledger_settings, anvil) as paid:
        yield Lost(paid)


def test_the_payer_gets_the_next_key_and_the_old_one_is_revoked(lost: Lost) -> None:
    assert lost.recovery["method"] == "payer_signed_rotation"
    assert lost.recovery["signer"] == PAYER.address.lower()
    answer = lost.replace(lost.signed())
    assert answer.status_code == 201, answer.text
    data = answer.json()["data"]
    packet = data["activationPacket"]
    assert (packet["tier"], packet["requestsPerDay"]) == ("basic", 1_000)
    assert answer.headers["cache-control"] == "no-store"
    assert lost.works(packet["apiKey"])
    assert not lost.works(lost.key)
    with lost.paid.service.ledger.read() as reader:
        keys = {each.key.key_id: each.key for each in list_keys(reader, now=datetime.now(UTC))}
    assert len(keys) == 2
    old, new = keys[data["revokedKeyId"]], keys[packet["keyId"]]
    assert (old.state, new.state) == ("revoked", "active")
    assert (new.family_id, new.owner, new.paid_until) == (old.family_id, PAYER.address.lower(), old.paid_until)


def test_the_challenge_shows_the_body_that_is_to_be_sent(lost: Lost) -> None:
    challenge = lost.challenge()
    body, signed = challenge["body"], lost.signed(challenge=challenge)
    assert (challenge["method"], challenge["url"]) == ("POST", lost.recovery["url"])
    assert body["proof"]["signature"].startswith("0x<")
    body["proof"]["signature"] = signed["proof"]["signature"]
    assert body == signed
    assert lost.replace(body).status_code == 201


def test_a_signature_is_good_for_one_replacement(lost: Lost) -> None:
    body = lost.signed()
    assert lost.replace(body).status_code == 201
    assert lost.replace(lost.signed()).status_code == 201
    again = lost.replace(body)
    assert (again.status_code, again.json()["code"]) == (403, "recovery_refused")
    assert "its challenge was already used" in again.json()["detail"]


@pytest.mark.both_engines
def test_only_one_of_simultaneous_signatures_replaces_the_key(lost: Lost) -> None:
    body = lost.signed()

    async def asked() -> list[int]:
        transport = httpx.ASGITransport(lost.paid.service.front, client=("192.0.2.1", 50000))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            answers = await asyncio.gather(*(client.post(lost.path, json=body) for _ in range(6)))
        return sorted(answer.status_code for answer in answers)

    assert asyncio.run(asked()) == [201, 403, 403, 403, 403, 403]
    with lost.paid.service.ledger.read() as reader:
        assert len(list_keys(reader, now=datetime.now(UTC))) == 2


def test_a_lost_answer_is_no_loss_since_the_next_challenge_replaces_again(lost: Lost) -> None:
    first, second = lost.replace(lost.signed()).json(), lost.replace(lost.signed()).json()
    assert second["data"]["revokedKeyId"] == first["data"]["activationPacket"]["keyId"]
    assert lost.works(second["data"]["activationPacket"]["apiKey"])


@pytest.mark.both_engines
def test_a_key_that_revoked_itself_is_replaced_and_one_that_an_operator_revoked_is_not(lost: Lost) -> None:
    (revoked,) = lost.paid.service.ask(("POST", "/api/v2/me/revoke", {"X-Api-Key": lost.key}, {}))
    assert revoked.status_code == 200
    assert revoked.json()["data"]["recovery"] == lost.recovery["url"]
    assert not lost.works(lost.key)
    answer = lost.replace(lost.signed())
    assert answer.status_code == 201, answer.text
    data = answer.json()["data"]
    assert lost.works(data["activationPacket"]["apiKey"])
    with lost.paid.service.ledger.transaction() as tx:
        revoke_key(tx, data["activationPacket"]["keyId"], now=datetime.now(UTC))
    assert lost.paid.get(lost.path).json()["code"] == "key_not_recoverable"


def test_a_key_that_rotated_itself_keeps_its_plan_and_its_payer_may_still_replace_it(lost: Lost) -> None:
    headers = {"X-Api-Key": lost.key, "Idempotency-Key": "a" * 22}
    (rotated,) = lost.paid.service.ask(("POST", "/api/v2/me/rotate", headers, {}))
    assert rotated.status_code == 201, rotated.text
    packet = rotated.json()["data"]["activationPacket"]
    (shown,) = lost.paid.service.ask(("GET", "/api/v2/me", {"X-Api-Key": packet["apiKey"]}, {}))
    account = shown.json()["data"]
    assert (account["plan"]["id"], account["plan"]["tier"]) == ("api_basic_monthly", "basic")
    assert account["plan"]["expiresAt"] == packet["accessExpiresAt"]
    assert account["links"]["recovery"] == lost.recovery["url"]
    answer = lost.replace(lost.signed())
    assert answer.json()["data"]["revokedKeyId"] == packet["keyId"]
    assert not lost.works(packet["apiKey"])


FORGED: dict[str, Callable[[Lost], dict[str, Any]]] = {
    "another signer": lambda lost: lost.signed(STRANGER),
    "another claim": lambda lost: lost.signed(claimId="claim_" + "0" * 32),
    "another key": lambda lost: lost.signed(keyId="key_" + "0" * 32),
    "another time": lambda lost: (body := lost.signed()) | {"issuedAt": body["issuedAt"] - 1},
    "too old": lambda lost: lost.signed(issuedAt=lost.challenge()["issuedAt"] - OLDEST_S - 2),
    "of the future": lambda lost: lost.signed(issuedAt=lost.challenge()["issuedAt"] + 120),
    "no signature": lambda lost: _with_proof(lost, signature="0x" + "00" * 65),
    "too short": lambda lost: _with_proof(lost, signature="0x00"),
    "a contract where there is none": lambda lost: _with_proof(lost, type="erc1271"),
}


def test_whatever_is_not_the_payers_signature_of_the_challenge_is_refused(lost: Lost) -> None:
    for name, forge in FORGED.items():
        answer = lost.replace(forge(lost))
        assert (answer.status_code, answer.json()["code"]) == (403, "recovery_refused"), name
        assert "was used" not in answer.json()["detail"], name
    assert lost.works(lost.key)


MALFORMED: list[dict[str, Any]] = [
    {},
    {"issuedAt": 1},
    {"issuedAt": "1", "proof": {"type": "eip712", "signature": "0x00"}},
    {"issuedAt": True, "proof": {"type": "eip712", "signature": "0x00"}},
    {"issuedAt": 2**53, "proof": {"type": "eip712", "signature": "0x00"}},
    {"issuedAt": 1, "proof": {"type": "eip191", "signature": "0x00"}},
    {"issuedAt": 1, "proof": {"type": "eip712", "signature": "00"}},
    {"issuedAt": 1, "proof": {"type": "eip712", "signature": "0x" + "00" * 5000}},
    {"issuedAt": 1, "proof": {"type": "eip712", "signature": "0x00"}, "more": 1},
]


def test_a_malformed_body_is_400(lost: Lost) -> None:
    assert [lost.replace(body).status_code for body in MALFORMED] == [400] * len(MALFORMED)


def test_a_claim_without_a_key_to_replace_says_so(lost: Lost) -> None:
    unknown = lost.path.replace(lost.claim_id, "claim_" + "0" * 32)
    for answer in (lost.paid.get(unknown), lost.paid.post(unknown, lost.signed())):
        assert (answer.status_code, answer.json()["code"]) == (404, "claim_not_found")
    body = lost.signed()
    ledger = lost.paid.service.ledger
    with ledger.transaction() as tx:
        claim = find_claim(tx, lost.claim_id)
        assert claim is not None
        reverse_claim(tx, claim, now=datetime.now(UTC))
    for answer in (lost.paid.get(lost.path), lost.replace(body)):
        assert (answer.status_code, answer.json()["code"]) == (409, "key_not_recoverable")
    with ledger.transaction() as tx:
        key = alive_key_of_claim(tx, lost.claim_id)
        assert key is not None
        revoke_key(tx, key.key_id, now=datetime.now(UTC))
    assert lost.replace(body).json()["code"] == "key_not_recoverable"


def test_a_payer_that_is_a_contract_is_asked_on_the_chain(ledger_settings: Settings, anvil: Anvil) -> None:
    with selling(ledger_settings, anvil) as paid:
        agreeing, refusing = (_wallet(paid, says) for says in (ERC1271_MAGIC, "0xffffffff"))
        for wallet, status in ((agreeing, 201), (refusing, 403)):
            paid.mint(wallet, 100_000_000)
            lost = Lost(paid, wallet)
            issued_at = lost.challenge()["issuedAt"]
            body = {"issuedAt": issued_at, "proof": {"type": "erc1271", "signature": "0x1234"}}
            assert lost.replace(body).status_code == status
            assert lost.works(lost.key) is (status == 403)


def test_an_unreachable_contract_is_asked_again_later(ledger_settings: Settings, anvil: Anvil) -> None:
    with selling(ledger_settings, anvil) as paid:
        wallet = _wallet(paid, ERC1271_MAGIC)
        paid.mint(wallet, 100_000_000)
        lost = Lost(paid, wallet)
        body = {"issuedAt": lost.challenge()["issuedAt"], "proof": {"type": "erc1271", "signature": "0x1234"}}
        anvil.stop()
        answer = lost.replace(body)
        assert (answer.status_code, answer.json()["code"]) == (503, "payer_contract_unsure")
        assert answer.headers["retry-after"]
        assert answer.json()["retryable"] is True
        assert lost.works(lost.key)


def _wallet(paid: PaidService, says: str) -> str:
    """Returns a contract that answers every call with `says` and 28 zero bytes."""
    word = says.removeprefix("0x").ljust(64, "0")
    runtime = f"7f{word}60005260206000f3"
    size = len(runtime) // 2
    return deploy_code(paid.rpc, paid.deployer, f"0x60{size:02x}600c60003960{size:02x}6000f3{runtime}")


def _with_proof(lost: Lost, **changed: str) -> dict[str, Any]:
    body = lost.signed()
    return body | {"proof": body["proof"] | changed}
