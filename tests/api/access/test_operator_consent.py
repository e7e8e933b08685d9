"""The operator that a quote names owns the key through its own signature, with the claim or after it, and not
before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from claim_mutants import OWNER_BUGS, seeded
from claim_service import Sale, new_payer, on_sale, said
from claim_store import count, unsound
from eth_account import Account
from eth_account.messages import encode_defunct, encode_typed_data

from api.access import consent as consents
from contracts.access.claims import ClaimAnswer, Receipt
from contracts.access.consent import ConsentAnswer, OperatorChallenge, consent_to_claim, consent_to_quote
from contracts.access.proofs import claim_typed_data
from contracts.access.quote_answers import QuoteAnswer
from contracts.settings import Settings
from warehouse.access import issue
from warehouse.access.claims import find_claim, reverse_claim
from warehouse.access.keys import alive_key_of_claim, list_keys, revoke_key

OPERATOR = Account.from_key("0x" + "33" * 32)
OTHER = Account.from_key("0x" + "44" * 32)
NAMED = OPERATOR.address.lower()
ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


@pytest.fixture
def sale(ledger_settings: Settings) -> Iterator[Sale]:
    with on_sale(ledger_settings) as opened:
        yield opened


@pytest.fixture
def sale_here(tmp_path: Any) -> Iterator[Sale]:
    with on_sale(Settings(_env_file=None, data_dir=tmp_path)) as opened:
        yield opened


def named(sale: Sale, payer: str | None = None, operator: str = OPERATOR.address) -> dict[str, Any]:
    """Returns a quote that names an operator."""
    return sale.quote(payer or new_payer(), operatorAddress=operator)


def typed(signer: Any, message: dict[str, Any]) -> dict[str, str]:
    return {"type": "eip712", "signature": signer.sign_typed_data(full_message=message).signature.to_0x_hex()}


def spoken(signer: Any, text: str) -> dict[str, str]:
    return {"type": "eip191", "signature": signer.sign_message(encode_defunct(text=text)).signature.to_0x_hex()}


def step_of(quote: dict[str, Any]) -> dict[str, Any]:
    return dict(quote["data"]["next"]["claim"]["operator"])


def claimed(sale: Sale, quote: dict[str, Any], key: str | None = None, **integrity: Any) -> httpx.Response:
    """Returns the answer to a claim of a paid quote; `operator` adds the operator's proof."""
    body = {"integrity": integrity} if integrity else {}
    return sale.claim(quote, sale.pay(quote), key, **body)


def issued(sale: Sale, quote: dict[str, Any], **integrity: Any) -> dict[str, Any]:
    answer = claimed(sale, quote, **integrity)
    assert answer.status_code == 201, answer.text
    ClaimAnswer.model_validate_json(answer.text)
    return dict(answer.json()["data"])


def owner_of(sale: Sale, claim_id: str) -> str:
    """Returns the owner of the claim and of its key according to the ledger."""
    with sale.ledger.read() as reader:
        claim, key = find_claim(reader, claim_id), alive_key_of_claim(reader, claim_id)
    assert claim is not None and key is not None and claim.owner == key.owner
    return key.owner


def claim_id_of(data: dict[str, Any]) -> str:
    return str(data["claim"]["claimId"])


# -- what a named address is worth


def test_an_operator_that_has_not_signed_is_a_label_and_the_payer_owns_the_key(sale: Sale) -> None:
    payer = new_payer()
    data = issued(sale, named(sale, payer))
    claim_id = claim_id_of(data)
    assert owner_of(sale, claim_id) == payer
    assert data["claim"]["operator"] == {
        "address": NAMED,
        "state": "unproven",
        "reason": None,
        "consentUrl": f"http://test/api/agent-access/claims/{claim_id}/operator",
    }
    receipt = data["receipt"]
    assert (receipt["owner"], receipt["claim"]["owner"], receipt["recovery"]["signer"]) == (payer, payer, payer)
    assert receipt["operator"] == data["claim"]["operator"]
    assert "operator" not in receipt["integrity"]["hashedFields"]


def test_a_quote_says_what_the_operator_signs_only_where_it_names_another_address(sale_here: Sale) -> None:
    payer = new_payer()
    quote = named(sale_here, payer)
    QuoteAnswer.model_validate(quote)
    step = step_of(quote)
    assert step["typedData"]["primaryType"] == "OperatorConsent"
    assert step["typedData"]["message"] == {"quoteHash": f"0x{quote['quoteHash']}", "operatorAddress": NAMED}
    assert NAMED in step["text"] and quote["quoteHash"] in step["text"]
    assert (quote["data"]["quote"]["owner"], quote["data"]["quote"]["operator"]) == (payer, NAMED)
    for asked in ({"payerAddress": payer, "operatorAddress": payer}, {"operatorAddress": payer}):
        plain = sale_here.ask("POST", "/api/agent-access/quote", json=asked).json()
        assert plain["data"]["next"]["claim"]["operator"] is None
        assert plain["data"]["quote"]["payer"] == plain["data"]["quote"]["owner"] == payer
        data = issued(sale_here, plain)
        assert data["claim"]["operator"] is data["receipt"]["operator"] is None
        assert owner_of(sale_here, claim_id_of(data)) == payer


# -- with the claim

FORMS: dict[str, Callable[[dict[str, Any]], dict[str, str]]] = {
    "eip712": lambda quote: typed(OPERATOR, step_of(quote)["typedData"]),
    "eip191": lambda quote: spoken(OPERATOR, step_of(quote)["text"]),
    "erc1271": lambda quote: {"type": "erc1271", "signature": "0x1234"},
}


@pytest.mark.parametrize("form", FORMS)
def test_the_operators_signature_with_the_claim_makes_it_the_owner(sale: Sale, form: str) -> None:
    quote = named(sale)
    data = issued(sale, quote, operator=FORMS[form](quote))
    assert owner_of(sale, claim_id_of(data)) == NAMED
    assert (data["claim"]["operator"]["state"], data["claim"]["operator"]["reason"]) == ("proven", None)
    receipt = Receipt.model_validate(data["receipt"])
    assert (receipt.owner, receipt.claim.owner, receipt.recovery.signer) == (NAMED, NAMED, NAMED)
    assert receipt.recovery.method == "owner_signed_rotation"


@pytest.mark.both_engines
def test_both_the_payer_and_the_operator_may_sign(ledger_settings: Settings) -> None:
    payer = Account.from_key("0x" + "11" * 32)
    with on_sale(ledger_settings, signature_above_usd=0) as sale:
        quote = named(sale, payer.address)
        consent = FORMS["eip712"](quote)
        assert said(claimed(sale, quote, operator=consent)) == (400, "payer_proof_required")
        data = issued(sale, quote, **typed(payer, claim_typed_data(quote["quoteHash"], 8453)), operator=consent)
        assert owner_of(sale, claim_id_of(data)) == NAMED


FORGED: dict[str, Callable[[Sale, dict[str, Any]], dict[str, str]]] = {
    "of a stranger": lambda sale, quote: typed(OTHER, step_of(quote)["typedData"]),
    "of a stranger, as a text": lambda sale, quote: spoken(OTHER, step_of(quote)["text"]),
    "of another quote": lambda sale, quote: typed(OPERATOR, step_of(named(sale))["typedData"]),
    "of another quote, as a text": lambda sale, quote: spoken(OPERATOR, step_of(named(sale))["text"]),
    "of another quote of the payer": lambda sale, quote: typed(
        OPERATOR, step_of(named(sale, quote["data"]["quote"]["payer"]))["typedData"]
    ),
    "naming somebody else": lambda sale, quote: typed(
        OPERATOR, consent_to_quote(quote["quoteHash"], OTHER.address.lower(), 8453).typed_data
    ),
    "of another chain": lambda sale, quote: typed(OPERATOR, consent_to_quote(quote["quoteHash"], NAMED, 1).typed_data),
    "a payer's proof": lambda sale, quote: typed(OPERATOR, claim_typed_data(quote["quoteHash"], 8453)),
    "a payer's proof as a text": lambda sale, quote: spoken(OPERATOR, quote["quoteHash"]),
    "consent to a claim": lambda sale, quote: typed(OPERATOR, consent_to_claim("claim_1", NAMED, 8453).typed_data),
    "no signature": lambda sale, quote: {"type": "eip712", "signature": "0x" + "00" * 65},
    "too short": lambda sale, quote: {"type": "eip191", "signature": "0x00"},
}


def test_whatever_is_not_the_operators_consent_to_this_quote_is_refused_and_consumes_nothing(sale: Sale) -> None:
    quote = named(sale)
    for name, forge in FORGED.items():
        answer = claimed(sale, quote, operator=forge(sale, quote))
        assert said(answer) == (400, "operator_proof_invalid"), name
        assert answer.json()["errors"][0]["pointer"] == "/integrity/operator"
    assert sale.providers.asked == count(sale.ledger, "api_keys") == count(sale.ledger, "access_leases") == 0
    assert owner_of(sale, claim_id_of(issued(sale, quote, operator=FORMS["eip712"](quote)))) == NAMED
    assert unsound(sale.ledger) == set()


def test_a_contract_that_disowns_the_signature_is_refused_and_consumes_nothing(sale: Sale) -> None:
    quote = named(sale)
    sale.providers.stands_by = [False, False]
    assert said(claimed(sale, quote, operator=FORMS["erc1271"](quote))) == (400, "operator_proof_invalid")
    assert count(sale.ledger, "api_keys") == count(sale.ledger, "access_leases") == 0
    assert claimed(sale, quote).status_code == 201


def test_an_operators_signature_proves_nothing_of_the_payer(ledger_settings: Settings) -> None:
    """Neither the text nor the typed data of one can be mistaken for the other."""
    with on_sale(ledger_settings, signature_above_usd=0) as sale:
        quote = named(sale, OTHER.address)
        for proof in (typed(OTHER, step_of(quote)["typedData"]), spoken(OTHER, step_of(quote)["text"])):
            assert said(claimed(sale, quote, **proof)) == (402, "payer_proof_invalid")


def test_consent_to_a_quote_that_names_nobody_is_refused(sale_here: Sale) -> None:
    payer = Account.from_key("0x" + "11" * 32)
    quote = sale_here.quote(payer.address)
    for signer in (payer, OPERATOR):
        message = consent_to_quote(quote["quoteHash"], signer.address.lower(), 8453).typed_data
        assert said(claimed(sale_here, quote, operator=typed(signer, message))) == (400, "operator_proof_invalid")


MALFORMED: list[dict[str, Any]] = [
    {"operator": {}},
    {"operator": {"type": "eip712"}},
    {"operator": {"type": "eip1", "signature": "0x00"}},
    {"operator": {"type": "eip712", "signature": "00"}},
    {"operator": {"type": "eip712", "signature": "0x00", "address": NAMED}},
    {"type": "eip712", "operator": {"type": "eip712", "signature": "0x00"}},
    {"signature": "0x00", "operator": {"type": "eip712", "signature": "0x00"}},
]


def test_malformed_signatures_are_400(sale_here: Sale) -> None:
    quote = named(sale_here)
    transaction = sale_here.pay(quote)
    answers = [said(sale_here.claim(quote, transaction, integrity=body)) for body in MALFORMED]
    assert answers == [(400, "body_invalid")] * len(MALFORMED)


@pytest.mark.parametrize("stands_by", [[None, None], [True, None], [True, False]])
def test_an_unreachable_contract_holds_up_no_paid_claim(sale: Sale, stands_by: list[bool | None]) -> None:
    payer = new_payer()
    quote = named(sale, payer)
    transaction = sale.pay(quote)
    sale.providers.stands_by = stands_by
    body = {"integrity": {"operator": FORMS["erc1271"](quote)}}
    answer = sale.claim(quote, transaction, "k", **body)
    assert said(answer) == (201, "issued"), answer.text
    data = answer.json()["data"]
    operator, claim_id = data["claim"]["operator"], claim_id_of(data)
    assert (operator["state"], operator["reason"]) == ("unsure", "operator_contract_unsure")
    assert owner_of(sale, claim_id) == payer
    again = sale.claim(quote, transaction, "k", **body)
    assert (said(again), again.json()) == ((201, "replayed"), answer.json())
    sale.providers.stands_by = [True, True]
    path = operator["consentUrl"].removeprefix("http://test")
    later = sale.ask("POST", path, json={"proof": body["integrity"]["operator"], "over": "quote"})
    assert later.status_code == 200, later.text
    assert owner_of(sale, claim_id) == NAMED


def test_the_twin_of_a_consent_gives_no_second_key(sale: Sale) -> None:
    """S18: anybody can derive a second valid signature from an ECDSA signature."""
    quote = named(sale)
    transaction = sale.pay(quote)
    signed = OPERATOR.sign_typed_data(full_message=step_of(quote)["typedData"])
    low = signed.r.to_bytes(32) + signed.s.to_bytes(32) + bytes([signed.v])
    high = signed.r.to_bytes(32) + (ORDER - signed.s).to_bytes(32) + bytes([55 - signed.v])
    first, second = (
        {"integrity": {"operator": {"type": "eip712", "signature": "0x" + each.hex()}}} for each in (high, low)
    )
    answer = sale.claim(quote, transaction, "k", **first)
    assert said(answer) == (201, "issued")
    for key, proof in (("k", second), (None, second), ("other", first)):
        assert sale.claim(quote, transaction, key, **proof).status_code == 409
    path = answer.json()["data"]["claim"]["operator"]["consentUrl"].removeprefix("http://test")
    for proof in (first, second):
        body = {"proof": proof["integrity"]["operator"], "over": "quote"}
        again = sale.ask("POST", path, json=body)
        assert (again.status_code, again.json()["data"]["moved"]) == (200, {"nodes": 0, "edges": 0, "left": 0})
    assert count(sale.ledger, "api_keys") == 1


# -- after the claim


class Issued:
    """A claim whose operator has not signed."""

    def __init__(self, sale: Sale) -> None:
        self.sale = sale
        self.payer = new_payer()
        self.quote = named(sale, self.payer)
        self.data = issued(sale, self.quote)
        self.claim_id = claim_id_of(self.data)
        self.path = f"/api/agent-access/claims/{self.claim_id}/operator"

    def challenge(self) -> dict[str, Any]:
        answer = self.sale.ask("GET", self.path)
        assert answer.status_code == 200, answer.text
        OperatorChallenge.model_validate_json(answer.text)
        return dict(answer.json())

    def send(self, proof: dict[str, str], **fields: Any) -> httpx.Response:
        return self.sale.ask("POST", self.path, json={"proof": proof, **fields})

    @property
    def owner(self) -> str:
        return owner_of(self.sale, self.claim_id)


LATER: dict[str, Callable[[Issued], dict[str, Any]]] = {
    "eip712": lambda it: {"proof": typed(OPERATOR, it.challenge()["typedData"])},
    "eip191": lambda it: {"proof": spoken(OPERATOR, it.challenge()["text"])},
    "erc1271": lambda it: {"proof": {"type": "erc1271", "signature": "0x1234"}},
    "the quote's": lambda it: {"proof": typed(OPERATOR, step_of(it.quote)["typedData"]), "over": "quote"},
}


@pytest.mark.parametrize("form", LATER)
def test_the_operators_signature_after_the_claim_makes_it_the_owner_once(sale: Sale, form: str) -> None:
    it = Issued(sale)
    challenge = it.challenge()
    assert (challenge["owner"], challenge["operator"]["state"]) == (it.payer, "unproven")
    assert challenge["typedData"]["primaryType"] == "ClaimConsent"
    assert it.quote["quoteHash"] not in str(challenge)
    body = LATER[form](it)
    first, again = (it.send(**body) for _ in range(2))
    for answer in (first, again):
        assert answer.status_code == 200, answer.text
        data = ConsentAnswer.model_validate_json(answer.text).data
        assert (data.owner, data.operator.state) == (NAMED, "proven")
    assert it.owner == NAMED
    assert it.challenge()["operator"]["state"] == "proven"
    receipt = sale.ask("GET", f"/api/agent-access/claims/{it.claim_id}").json()
    assert (receipt["owner"], receipt["operator"]["state"]) == (NAMED, "proven")
    assert receipt["claim"]["owner"] == it.payer
    signed = {name: receipt[name] for name in receipt["integrity"]["hashedFields"]}
    assert signed == {name: it.data["receipt"][name] for name in signed}
    with sale.ledger.read() as reader:
        assert {each.key.owner for each in list_keys(reader, now=datetime.now(UTC))} == {NAMED}


FORGED_LATER: dict[str, Callable[[Issued], dict[str, Any]]] = {
    "of a stranger": lambda it: {"proof": typed(OTHER, it.challenge()["typedData"])},
    "of another claim": lambda it: {"proof": typed(OPERATOR, Issued(it.sale).challenge()["typedData"])},
    "naming somebody else": lambda it: {
        "proof": typed(OPERATOR, consent_to_claim(it.claim_id, OTHER.address.lower(), 8453).typed_data)
    },
    "of the quote, sent as the claim's": lambda it: {"proof": typed(OPERATOR, step_of(it.quote)["typedData"])},
    "of the claim, sent as the quote's": lambda it: {
        "proof": typed(OPERATOR, it.challenge()["typedData"]),
        "over": "quote",
    },
    "of another quote": lambda it: {
        "proof": typed(OPERATOR, step_of(named(it.sale))["typedData"]),
        "over": "quote",
    },
    "a payer's proof": lambda it: {
        "proof": typed(OPERATOR, claim_typed_data(it.quote["quoteHash"], 8453)),
        "over": "quote",
    },
    "no signature": lambda it: {"proof": {"type": "eip712", "signature": "0x" + "00" * 65}},
}


def test_only_the_operators_consent_counts_after_the_claim_too(sale: Sale) -> None:
    it = Issued(sale)
    for name, forge in FORGED_LATER.items():
        answer = it.send(**forge(it))
        assert said(answer) == (403, "operator_consent_refused"), name
    sale.providers.stands_by = [False, False]
    assert said(it.send({"type": "erc1271", "signature": "0x1234"})) == (403, "operator_consent_refused")
    sale.providers.stands_by = [True, None]
    silent = it.send({"type": "erc1271", "signature": "0x1234"})
    assert said(silent) == (503, "operator_contract_unsure")
    assert silent.headers["retry-after"] and silent.json()["retryable"] is True
    assert it.owner == it.payer


def test_a_claim_that_no_operator_can_own_says_so(sale: Sale) -> None:
    it = Issued(sale)
    proof = typed(OPERATOR, it.challenge()["typedData"])
    unknown = it.path.replace(it.claim_id, "claim_" + "0" * 32)
    unnamed = f"/api/agent-access/claims/{claim_id_of(issued(sale, sale.quote(new_payer())))}/operator"
    for path, expected in ((unknown, (404, "claim_not_found")), (unnamed, (409, "operator_not_provable"))):
        assert said(sale.ask("GET", path)) == said(sale.ask("POST", path, json={"proof": proof})) == expected
    with sale.ledger.transaction() as tx:
        claim = find_claim(tx, it.claim_id)
        assert claim is not None
        reverse_claim(tx, claim, now=sale.now)
    assert said(it.send(proof)) == (409, "operator_not_provable")
    with sale.ledger.transaction() as tx:
        key = alive_key_of_claim(tx, it.claim_id)
        assert key is not None and key.owner == it.payer
        revoke_key(tx, key.key_id, now=sale.now)
    assert said(it.send(proof)) == (409, "operator_not_provable")


def test_a_malformed_consent_is_400(sale_here: Sale) -> None:
    it = Issued(sale_here)
    proof = {"type": "eip712", "signature": "0x00"}
    bodies: list[Any] = [{}, {"proof": {}}, {"proof": proof, "over": "all"}, {"proof": proof, "owner": NAMED}]
    assert [said(sale_here.ask("POST", it.path, json=body)) for body in bodies] == [(400, "body_invalid")] * 4


@pytest.mark.both_engines
def test_simultaneous_consents_move_the_key_once(sale: Sale) -> None:
    it = Issued(sale)
    body = {"proof": typed(OPERATOR, it.challenge()["typedData"])}
    answers = sale.at_once(*[("POST", it.path, {"json": body})] * 6)
    assert [answer.status_code for answer in answers] == [200] * 6
    assert it.owner == NAMED


# -- the bugs that these promises prevent


def is_owned_by_a_name(sale: Sale) -> bool:
    """Decides whether a buyer who only named an address gets a key that belongs to that address."""
    return owner_of(sale, claim_id_of(issued(sale, named(sale)))) == NAMED


def test_the_seeded_bug_operator_owner_is_caught(sale_here: Sale) -> None:
    assert not is_owned_by_a_name(sale_here)
    with seeded(OWNER_BUGS["operator_owner"], issue):
        assert is_owned_by_a_name(sale_here)


def test_the_seeded_bug_no_consent_is_caught(sale_here: Sale) -> None:
    def is_forged() -> bool:
        quote = named(sale_here)
        return claimed(sale_here, quote, operator=typed(OTHER, step_of(quote)["typedData"])).status_code == 201

    assert not is_forged()
    with seeded(OWNER_BUGS["no_consent"], consents):
        assert is_forged()


def test_typed_data_is_what_wallets_take(sale_here: Sale) -> None:
    it = Issued(sale_here)
    for message in (step_of(it.quote)["typedData"], it.challenge()["typedData"]):
        signed = OPERATOR.sign_message(encode_typed_data(full_message=message))
        assert signed.signature == OPERATOR.sign_typed_data(full_message=message).signature
