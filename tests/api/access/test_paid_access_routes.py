"""Paid access over HTTP against a real EVM, as an agent sees it from the catalog to its key."""

import json
from datetime import UTC, datetime
from urllib.parse import urlsplit

import pytest
from eth_account import Account
from paid_service import CLAIM, PAYER, PLANS, QUOTE, STRANGER, TREASURY, PaidService, claim_body, selling
from signature_checks import verify_signature

from api.access.service import Redeemed
from cli.demo.anvil import PRUNED, Anvil
from cli.demo.write import deploy_code
from contracts.access.api_keys import new_key
from contracts.access.claims import ActivationPacket, ClaimAnswer, PendingAnswer, Receipt
from contracts.access.plans import PlansAnswer
from contracts.access.proofs import claim_typed_data
from contracts.access.quote_answers import QuoteAnswer, qr_code
from contracts.access.tiers import Tier
from contracts.canonical import canonical_sha256
from contracts.problems import Problem
from contracts.settings import Settings
from warehouse.access.cases import cases_in
from warehouse.access.claims import find_claim
from warehouse.access.keys import list_keys, revoke_key


@pytest.fixture
def paid(ledger_settings, anvil):
    with selling(ledger_settings, anvil) as service:
        yield service


@pytest.fixture
def paid_here(tmp_path, anvil):
    with selling(Settings(_env_file=None, data_dir=tmp_path), anvil) as service:
        yield service


def keys_of(paid: PaidService) -> list:
    with paid.service.ledger.read() as reader:
        return list_keys(reader, now=datetime.now(UTC))


def jwks_of(paid: PaidService) -> list[dict]:
    return paid.get("/.well-known/jwks.json").json()["keys"]


def refused(answer, status: int, code: str) -> dict:
    problem = Problem.model_validate(answer.json())
    assert (answer.status_code, problem.code) == (status, code), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert "payment-required" not in answer.headers
    return answer.json()


@pytest.mark.both_engines
def test_an_agent_goes_from_the_catalog_to_a_key_that_works(paid):
    catalog = PlansAnswer.model_validate_json(paid.get(PLANS).text)
    assert {(plan.id, plan.price.amount, plan.claimable) for plan in catalog.plans} >= {
        ("agent_runtime_activation", "5", True),
        ("api_basic_monthly", "9", True),
        ("api_pro_monthly", "49", True),
    }
    quote = paid.quoted(planId="api_basic_monthly", agentId="agent-7", callbackUrl="http://127.0.0.1:9/hook")
    QuoteAnswer.model_validate(quote)
    assert canonical_sha256(quote["data"]["quote"]) == quote["quoteHash"]
    assert canonical_sha256(quote["data"]["paymentRequirement"]) == quote["paymentRequirementHash"]
    assert verify_signature(quote["signature"], quote["quoteHash"], jwks_of(paid))

    transaction = paid.pay(quote)
    answer = paid.claim(quote, transaction, Idempotency_Key="k1")
    assert answer.status_code == 201, answer.text
    claimed = ClaimAnswer.model_validate_json(answer.text).data
    assert answer.headers["cache-control"] == "no-store"
    assert claimed.claim.status == "issued"
    assert claimed.activation_packet.tier is Tier.BASIC
    assert claimed.activation_packet.api_key.startswith("svc_basic_")
    assert claimed.receipt.payment.transaction_hash == transaction
    (used,) = paid.service.check({"Authorization": f"Bearer {claimed.activation_packet.api_key}"})
    assert used.status_code == 200
    assert '"daily";q=1000' in used.headers["ratelimit-policy"]


def test_a_receipt_is_signed_public_and_holds_no_secret(paid):
    quote = paid.quoted()
    claimed = paid.claim(quote, paid.pay(quote)).json()["data"]
    answer = paid.get(f"/api/agent-access/claims/{claimed['claim']['claimId']}")
    receipt = answer.json()
    Receipt.model_validate_json(answer.text)
    assert receipt == claimed["receipt"]
    hashed = {name: receipt[name] for name in receipt["integrity"]["hashedFields"]}
    assert canonical_sha256(hashed) == receipt["receiptHash"]
    assert verify_signature(receipt["signature"], receipt["receiptHash"], jwks_of(paid))
    for secret in (claimed["activationPacket"]["apiKey"], quote["quoteHash"], quote["paymentRequirementHash"]):
        assert secret not in answer.text
    assert receipt["claim"]["keyHint"] == f"svc_free_…{claimed['activationPacket']['apiKey'][-4:]}"
    refused(paid.get("/api/agent-access/claims/claim_none"), 404, "claim_not_found")


def test_a_lost_answer_is_repeated_under_its_idempotency_key_until_the_key_is_used(paid):
    quote = paid.quoted()
    transaction = paid.pay(quote)
    first = paid.claim(quote, transaction, Idempotency_Key="same")
    again = paid.claim(quote, transaction, Idempotency_Key="same")
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert ("idempotent-replayed" in first.headers, again.headers["idempotent-replayed"]) == (False, "true")
    refused(paid.claim(quote, "0x" + "00" * 32, Idempotency_Key="same"), 409, "idempotency_mismatch")
    for other in ({}, {"Idempotency_Key": "another"}):
        problem = refused(paid.claim(quote, transaction, **other), 409, "claim_exists")
        assert problem["claimId"] == first.json()["data"]["claim"]["claimId"]
        assert problem["links"]["recovery"] == first.json()["data"]["receipt"]["recovery"]["url"]
    key = first.json()["data"]["activationPacket"]["apiKey"]
    assert paid.service.check({"X-Api-Key": key})[0].status_code == 200
    refused(paid.claim(quote, transaction, Idempotency_Key="same"), 409, "claim_exists")
    assert len(keys_of(paid)) == 1


def test_a_pending_claim_never_asks_to_be_sent_again_before_the_budget_of_its_address_allows(tmp_path, anvil):
    settings = Settings(_env_file=None, data_dir=tmp_path)
    with selling(settings, anvil, rate_limit_per_minute=20) as paid:
        quote = paid.quoted()
        seen = []
        for _ in range(30):
            pending = paid.claim(quote, "0x" + "ab" * 32)
            assert pending.status_code == 202, "a client that waits as told is never refused"
            wait_s = int(pending.headers["retry-after"])
            assert pending.json()["retryAfter"] == wait_s >= 5
            seen.append(wait_s)
            for _ in range(2):
                paid.get("/api/agent-access/plans")  # other clients of the same address
            paid.service.now_s += wait_s
        assert max(seen) > 5


def test_a_payment_that_is_not_buried_is_pending_and_consumes_nothing(paid_here):
    paid = paid_here
    quote = paid.quoted()
    unknown = paid.claim(quote, "0x" + "ab" * 32)
    assert (unknown.status_code, unknown.headers["retry-after"]) == (202, "5")
    assert PendingAnswer.model_validate_json(unknown.text).code == "unknown_tx"
    told = ("depth", "neededDepth", "secondsLeft", "retryAfter")
    assert [unknown.json()[name] for name in told] == [0, None, None, 5]
    step = quote["data"]["next"]["pay"]
    receipt = paid.sent(PAYER.address, step["call"])
    fresh = paid.claim(quote, receipt["transactionHash"])
    assert (fresh.status_code, fresh.json()["code"]) == (202, "confirmations")
    assert [fresh.json()[name] for name in told] == [1, 2, 2, 5]
    paid.bury()
    still = paid.claim(quote, receipt["transactionHash"])
    assert still.status_code == 202, "for two seconds it is answered without asking again"
    assert keys_of(paid) == []


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"units": 1}, "amount_mismatch"),
        ({"sender": STRANGER.address}, "payer_mismatch"),
        ({"to": STRANGER.address}, "recipient_mismatch"),
    ],
)
def test_money_that_does_not_match_is_refused_and_recorded(paid_here, changed, code):
    paid = paid_here
    quote = paid.quoted()
    refused(paid.claim(quote, paid.pay(quote, **changed)), 402, code)
    with paid.service.ledger.read() as reader:
        recorded = cases_in(reader)
    assert [each.code for each in recorded] == ([] if code == "recipient_mismatch" else [code])
    assert paid.claim(quote, paid.pay(quote)).status_code == 201


def test_money_found_by_the_wrong_quote_still_pays_the_right_one(paid):
    wrong, right = paid.quoted(), paid.quoted()
    transaction = paid.pay(right)
    refused(paid.claim(wrong, transaction), 402, "amount_mismatch")
    with paid.service.ledger.read() as reader:
        (found,) = cases_in(reader)
    assert found.transfer.amount == int(right["price"]["exactAmountUnits"])
    assert paid.claim(right, transaction).status_code == 201
    with paid.service.ledger.read() as reader:
        assert cases_in(reader) == []
        assert [each.case_id for each in cases_in(reader, "claimed")] == [found.case_id]


@pytest.mark.both_engines
def test_simultaneous_claims_issue_one_key(paid):
    quote = paid.quoted()
    body = claim_body(quote, paid.pay(quote))
    answers = paid.together(*[body] * 8)
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 7
    assert {answer.json()["code"] for answer in answers if answer.status_code == 409} <= {
        "claim_exists",
        "claim_in_progress",
    }
    assert len(keys_of(paid)) == 1


def test_wrong_hashes_get_one_answer_whatever_is_wrong_and_no_provider_is_asked(paid_here, anvil):
    paid = paid_here
    quote, other = paid.quoted(), paid.quoted()
    transaction = paid.pay(quote)
    bodies = [
        claim_body(quote, transaction, quoteHash=other["quoteHash"]),
        claim_body(quote, transaction, paymentRequirementHash=quote["quoteHash"]),
        claim_body(quote, transaction, quoteId=other["quoteId"]),
        claim_body(quote, transaction, quoteId="quote_none"),
    ]
    anvil.stop()
    answers = [refused(paid.post(CLAIM, body), 402, "quote_mismatch") for body in bodies]
    assert len({json.dumps({**answer, "requestId": ""}) for answer in answers}) == 1
    silent = paid.claim(quote, transaction)
    assert (silent.status_code, silent.json()["code"]) == (202, "rpc_unavailable")


def test_malformed_claims_and_quotes_are_refused_before_anything_is_looked_up(paid_here, anvil):
    paid = paid_here
    quote = paid.quoted()
    anvil.stop()
    transaction = "0x" + "ab" * 32
    whole = claim_body(quote, transaction)
    for body in (
        {name: value for name, value in whole.items() if name != "quoteHash"},
        {name: value for name, value in whole.items() if name != "paymentRequirementHash"},
        whole | {"quoteHash": quote["quoteHash"].upper()},
        whole | {"transactionHash": "0xabc"},
        whole | {"quoteId": 7},
        whole | {"integrity": {"type": "eip191"}},
    ):
        refused(paid.post(CLAIM, body), 400, "body_invalid")
    refused(paid.post(CLAIM, whole, Idempotency_Key="x" * 201), 400, "parameter_invalid")
    refused(paid.post(CLAIM, whole, Payment_Signature="e30="), 400, "payment_signature_not_live")
    for body in (
        {},
        {"planId": "api_basic_monthly"},
        {"payerAddress": "0x12"},
        {"payerAddress": PAYER.address, "callbackUrl": "javascript:alert(1)"},
        {"payerAddress": PAYER.address, "agentId": ""},
        {"payerAddress": PAYER.address, "price": 1},
    ):
        refused(paid.post(QUOTE, body), 400, "body_invalid")
    refused(paid.post(QUOTE, {"payerAddress": PAYER.address, "planId": "free"}), 400, "plan_unknown")


def test_the_code_of_a_quote_is_a_link_to_a_picture_and_keeps_the_quote_small(paid_here):
    quote = paid_here.quoted()
    step, url = quote["data"]["next"]["pay"], urlsplit(quote["data"]["next"]["pay"]["qrCode"])
    assert url.path == f"/api/agent-access/quotes/{quote['quoteId']}/code.svg"
    drawn = paid_here.get(url.path)
    assert (drawn.status_code, drawn.headers["content-type"]) == (200, "image/svg+xml")
    assert drawn.text == qr_code(step["uri"])
    refused(paid_here.get(url.path.replace(quote["quoteId"], "quote_unknown")), 404, "quote_not_found")
    assert len(json.dumps(quote)) < 4_500


def test_a_second_key_of_a_plan_is_sold_to_the_same_wallet_with_a_warning(paid_here):
    paid = paid_here
    first = paid.quoted()
    assert first["data"]["warnings"] == []
    assert paid.claim(first, paid.pay(first)).status_code == 201
    (warning,) = paid.quoted()["data"]["warnings"]
    assert (warning["code"], set(warning["links"])) == ("plan_active", {"account", "plans"})
    assert paid.quoted(planId="api_basic_monthly")["data"]["warnings"] == []
    assert paid.quoted(payerAddress=STRANGER.address)["data"]["warnings"] == []
    with paid.service.ledger.transaction() as tx:
        (usage,) = list_keys(tx, now=datetime.now(UTC))
        revoke_key(tx, usage.key.key_id, now=datetime.now(UTC))
    assert paid.quoted()["data"]["warnings"] == []


def test_an_address_whose_capitals_are_no_checksum_is_quoted_with_a_warning(paid_here):
    mistyped = PAYER.address.swapcase().replace("X", "x")
    quote = paid_here.quoted(payerAddress=mistyped, operatorAddress=STRANGER.address)
    assert quote["data"]["quote"]["payer"] == PAYER.address.lower()
    assert [warning["code"] for warning in quote["data"]["warnings"]] == ["checksum_wrong"]
    assert "payerAddress" in quote["data"]["warnings"][0]["detail"]
    assert paid_here.quoted(payerAddress=PAYER.address)["data"]["warnings"] == []


def test_a_quote_states_the_payment_as_an_x402_requirement_a_link_and_a_qr_code(paid_here):
    quote = paid_here.quoted()
    requirement, step = quote["data"]["paymentRequirement"], quote["data"]["next"]["pay"]
    assert set(requirement) == {"scheme", "network", "amount", "asset", "payTo", "maxTimeoutSeconds", "extra"}
    assert (requirement["scheme"], requirement["network"]) == ("exact", "eip155:8453")
    assert requirement["amount"] == step["amountUnits"]
    assert requirement["payTo"].lower() == TREASURY
    assert 5_000_000 <= int(step["amountUnits"]) < 5_010_000
    assert step["uri"] == (
        f"ethereum:{requirement['asset']}@8453/transfer?address={requirement['payTo']}&uint256={step['amountUnits']}"
    )
    paid_here.sent(PAYER.address, step["call"])


def test_amounts_of_a_payers_open_quotes_differ_and_past_the_cap_the_payer_signs(paid_here):
    quotes = [paid_here.quoted() for _ in range(100)]
    amounts = {quote["price"]["exactAmountUnits"] for quote in quotes}
    assert len(amounts) == 100
    problem = refused(paid_here.post(QUOTE, {"payerAddress": PAYER.address}), 400, "payer_proof_required")
    assert paid_here.quoted(payerAddress=STRANGER.address)
    message = problem["proof"]
    proofs = {
        name: {
            "type": "eip712",
            "signature": "0x" + Account.sign_typed_data(who.key, full_message=message).signature.hex(),
            "issuedAt": message["message"]["issuedAt"],
        }
        for name, who in {"payer": PAYER, "stranger": STRANGER}.items()
    }
    refused(
        paid_here.post(QUOTE, {"payerAddress": PAYER.address, "integrity": proofs["stranger"]}),
        400,
        "payer_proof_required",
    )
    assert paid_here.quoted(integrity=proofs["payer"])["price"]["exactAmountUnits"] not in amounts


def test_above_an_amount_the_payer_must_sign_the_quote(tmp_path, anvil):
    settings = Settings(_env_file=None, data_dir=tmp_path)
    with selling(settings, anvil, signature_above_usd=5) as paid:
        quote = paid.quoted()
        transaction = paid.pay(quote)
        body = claim_body(quote, transaction)
        problem = refused(paid.post(CLAIM, body), 400, "payer_proof_required")
        assert problem["proof"] == claim_typed_data(quote["quoteHash"], 8453)
        place = {"type": "eip712", "signature": "0x<the payer's signature of proof>"}
        assert problem["next"]["claim"]["body"] == body | {"integrity": place}
        for signer, status in ((STRANGER, 402), (PAYER, 201)):
            signature = Account.sign_typed_data(signer.key, full_message=problem["proof"]).signature.hex()
            answer = paid.post(CLAIM, body | {"integrity": {"type": "eip712", "signature": f"0x{signature}"}})
            assert answer.status_code == status, answer.text


def test_without_a_treasury_nothing_is_for_sale_and_the_catalog_says_why(tmp_path, anvil):
    settings = Settings(_env_file=None, data_dir=tmp_path)
    with selling(settings, anvil, treasury_address=None) as paid:
        catalog = paid.get(PLANS).json()
        assert {(plan["claimable"], plan["reason"]) for plan in catalog["plans"]} == {
            (False, "payments_not_configured")
        }
        assert catalog["payment"]["missing"] == ["SVC_TREASURY_ADDRESS"]
        refused(paid.post(QUOTE, {"payerAddress": PAYER.address}), 400, "plan_not_claimable")
        body = {
            "quoteId": "q",
            "transactionHash": "0x" + "ab" * 32,
            "quoteHash": "a" * 64,
            "paymentRequirementHash": "b" * 64,
        }
        refused(paid.post(CLAIM, body), 503, "payments_not_configured")


def test_a_quote_that_was_changed_in_the_ledger_is_refused(paid):
    quote = paid.quoted()
    transaction = paid.pay(quote)
    with paid.service.ledger.transaction() as tx:
        changed = '{"amount":"1"}'
        tx._connection.exec_driver_sql(f"update access_quotes set quote_json = '{changed}'")
    refused(paid.claim(quote, transaction), 402, "quote_mismatch")


def test_a_claim_in_the_ledger_says_who_paid_for_whom(paid):
    quote = paid.quoted(operatorAddress=STRANGER.address, agentId="agent-7", userId="intake-9")
    claimed = paid.claim(quote, paid.pay(quote)).json()["data"]
    with paid.service.ledger.read() as reader:
        claim = find_claim(reader, claimed["claim"]["claimId"])
    assert (claim.payer, claim.owner) == (PAYER.address.lower(), PAYER.address.lower())
    assert claim.operator == STRANGER.address.lower()
    assert (claim.agent_id, claim.user_id, claim.final) == ("agent-7", "intake-9", False)
    (key,) = keys_of(paid)
    assert (key.key.owner, key.key.claim_id, key.key.paid_until) == (claim.owner, claim.claim_id, None)


WALLET = "601080600b6000396000f3631626ba7e60e01b60005260206000f3"
"""Creation code of a contract that accepts every signature."""
SLY_WALLET = "601080600b6000396000f363deadbeef60e01b60005260206000f3"


@pytest.mark.parametrize(("code", "status"), [(WALLET, 201), (SLY_WALLET, 402)])
def test_a_payer_that_is_a_contract_proves_by_its_own_word(tmp_path, anvil, code, status):
    with selling(Settings(_env_file=None, data_dir=tmp_path), anvil, signature_above_usd=0) as paid:
        wallet = deploy_code(paid.rpc, paid.deployer, "0x" + code)
        paid.mint(wallet, 100_000_000)
        quote = paid.quoted(payerAddress=wallet)
        body = claim_body(quote, paid.pay(quote, sender=wallet), integrity={"type": "erc1271", "signature": "0x1234"})
        answer = paid.post(CLAIM, body)
        assert answer.status_code == status, answer.text
        stranger = paid.quoted(payerAddress=STRANGER.address)
        body = claim_body(stranger, paid.pay(stranger, sender=STRANGER.address), integrity=body["integrity"])
        refused(paid.post(CLAIM, body), 402, "payer_proof_invalid")


def test_two_providers_must_agree(tmp_path, anvil):
    with Anvil(flags=PRUNED) as other:
        urls = (anvil.url, other.url)
        with selling(Settings(_env_file=None, data_dir=tmp_path), anvil, rpc_urls=urls) as paid:
            quote = paid.quoted()
            transaction = paid.pay(quote)
            lagging = paid.claim(quote, transaction)
            assert (lagging.status_code, lagging.json()["code"]) == (202, "rpc_disagree")
            assert keys_of(paid) == []


def test_no_key_shows_where_an_answer_is_printed():
    text = new_key(Tier.PRO).reveal()
    packet = ActivationPacket(
        api_key=text,
        key_id="key_1",
        tier=Tier.PRO,
        requests_per_day=None,
        access_expires_at=None,
        headers={"X-Api-Key": text},
        base_url="b",
        first_request="f",
    )
    assert text not in repr(packet) + str(packet) + repr(Redeemed({"data": text}, replayed=False))


def test_catalog_and_key_set_are_cacheable_and_need_not_be_sent_twice(tmp_path, anvil):
    with selling(Settings(_env_file=None, data_dir=tmp_path), anvil) as paid:
        for path in (PLANS, "/.well-known/jwks.json"):
            first = paid.get(path)
            assert first.headers["cache-control"].startswith("public, max-age=")
            again = paid.get(path, **{"If-None-Match": first.headers["etag"]})
            assert (again.status_code, again.content) == (304, b"")
            assert again.headers["access-control-allow-origin"] == "*"
