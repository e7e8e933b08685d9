"""Input that agents and attackers send to paid access: each is refused as described, with no look-up and nothing
stored."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from claim_payments import TREASURY, USDC
from claim_service import CLAIM, QUOTE, new_payer, on_sale, said
from described import expanded
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from keyed_service import KeyedService, bearer, serving
from openapi_schema_validator import OAS30Validator
from rounds import ROUNDS

from contracts.access.tiers import Tier
from contracts.discovery.openapi import OPENAPI_FILE
from contracts.settings import Settings
from warehouse.access.keys import revoke_key, suspend_key

DESCRIPTION = expanded(json.loads(OPENAPI_FILE.read_text()))
ROUTES = ("/api/agent-access/plans", QUOTE, CLAIM, "/api/agent-access/claims/{claimId}")
WHOLE = {
    "quoteId": "quote_none",
    "transactionHash": "0x" + "ab" * 32,
    "quoteHash": "a" * 64,
    "paymentRequirementHash": "b" * 64,
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KeyedService]:
    """A shop whose only provider is a closed port: a request that reaches it gets a 202 and fails the test."""
    here = Settings(
        _env_file=None,
        data_dir=tmp_path_factory.mktemp("shop"),
        rpc_urls=("http://127.0.0.1:9",),
        usdc_address=USDC,
        treasury_address=TREASURY,
        rate_limit_per_minute=0,
    )
    with serving(here) as running:
        yield running


def answered(shop: KeyedService, path: str, body: str | bytes, **headers: str) -> Any:
    sent = {"Content-Type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
    return shop.ask(("POST", path, sent, {"content": body}))[0]


def described(path: str, method: str, answer: Any) -> None:
    """Asserts that the description contains the answer's status, and that its body matches the schema."""
    responses = DESCRIPTION["paths"][path][method]["responses"]
    assert str(answer.status_code) in responses, (answer.status_code, answer.text)
    media_type = answer.headers["content-type"].partition(";")[0]
    schema = responses[str(answer.status_code)]["content"][media_type]["schema"]
    OAS30Validator({**schema, "components": DESCRIPTION["components"]}).validate(answer.json())


def changed(**fields: Any) -> str:
    return json.dumps(WHOLE | fields)


BAD_CLAIMS = {
    "nothing": ("", 400, "body_invalid"),
    "no object": ("[]", 400, "body_invalid"),
    "no JSON": ("{", 400, "body_invalid"),
    "no UTF-8": (b'{"quoteId":"\xff"}', 400, "body_invalid"),
    "a key twice": (changed()[:-1] + ',"quoteId":"quote_other"}', 400, "body_invalid"),
    "NaN": (changed()[:-1] + ',"x":NaN}', 400, "body_invalid"),
    "an endless number": (changed()[:-1] + ',"x":1e400}', 400, "body_invalid"),
    "half a character": (changed()[:-1] + ',"x":"\\ud800"}', 400, "body_invalid"),
    "too deep": (changed()[:-1] + ',"x":' + "[" * 100 + "]" * 100 + "}", 400, "body_invalid"),
    "quoteHash missing": (json.dumps({k: v for k, v in WHOLE.items() if k != "quoteHash"}), 400, "body_invalid"),
    "requirement hash missing": (
        json.dumps({k: v for k, v in WHOLE.items() if k != "paymentRequirementHash"}),
        400,
        "body_invalid",
    ),
    "hash in upper case": (changed(quoteHash="A" * 64), 400, "body_invalid"),
    "hash with 0x": (changed(quoteHash="0x" + "a" * 64), 400, "body_invalid"),
    "hash null": (changed(quoteHash=None), 400, "body_invalid"),
    "hash too short": (changed(paymentRequirementHash="b" * 63), 400, "body_invalid"),
    "hash with a line end": (changed(quoteHash="a" * 64 + "\n"), 400, "body_invalid"),
    "transaction without 0x": (changed(transactionHash="ab" * 32), 400, "body_invalid"),
    "transaction too long": (changed(transactionHash="0x" + "ab" * 33), 400, "body_invalid"),
    "transaction a number": (changed(transactionHash=7), 400, "body_invalid"),
    "quoteId a number": (changed(quoteId=7), 400, "body_invalid"),
    "quoteId empty": (changed(quoteId=""), 400, "body_invalid"),
    "quoteId of 10,000 characters": (changed(quoteId="q" * 10_000), 400, "body_invalid"),
    "a field that nobody knows": (changed(amount="0"), 400, "body_invalid"),
    "integrity a text": (changed(integrity="0x"), 400, "body_invalid"),
    "integrity without the payer's signature": (changed(integrity={"type": "eip712"}), 400, "body_invalid"),
    "integrity of another kind": (changed(integrity={"type": "pgp", "signature": "0x00"}), 400, "body_invalid"),
    "signature of 10,000 bytes": (
        changed(integrity={"type": "eip191", "signature": "0x" + "00" * 10_000}),
        400,
        "body_invalid",
    ),
    "1 MB": (changed(quoteId="q" * 1_000_000), 413, "body_too_large"),
    "a quote that there is not": (changed(), 402, "quote_mismatch"),
    "integrity with nothing in it": (changed(integrity={}), 402, "quote_mismatch"),
    "SQL for a quote": (changed(quoteId="' or 1=1 --"), 402, "quote_mismatch"),
    "a null character": (changed(quoteId="quote\u0000"), 400, "body_invalid"),
}


@pytest.mark.parametrize("name", BAD_CLAIMS)
def test_a_bad_claim_is_refused_before_a_provider_is_asked(shop: KeyedService, name: str) -> None:
    body, status, code = BAD_CLAIMS[name]
    answer = answered(shop, CLAIM, body)
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    described(CLAIM, "post", answer)


BAD_QUOTES = {
    "neither address": {"planId": "api_basic_monthly"},
    "an address too short": {"payerAddress": "0x12"},
    "an address without 0x": {"payerAddress": "12" * 20},
    "an address that is a number": {"payerAddress": 12},
    "a plan that is a number": {"payerAddress": new_payer(), "planId": 1},
    "an agent without a name": {"payerAddress": new_payer(), "agentId": ""},
    "a callback to a file": {"payerAddress": new_payer(), "callbackUrl": "file:///etc/passwd"},
    "a callback that is no address": {"payerAddress": new_payer(), "callbackUrl": "https://"},
    "a callback of 10,000 characters": {"payerAddress": new_payer(), "callbackUrl": "https://x/" + "y" * 10_000},
    "a price of one's own": {"payerAddress": new_payer(), "amount": "1"},
}


@pytest.mark.parametrize("name", BAD_QUOTES)
def test_a_bad_request_for_a_quote_is_refused(shop: KeyedService, name: str) -> None:
    answer = answered(shop, QUOTE, json.dumps(BAD_QUOTES[name]))
    assert (answer.status_code, answer.json()["code"]) == (400, "body_invalid"), answer.text
    described(QUOTE, "post", answer)


@pytest.mark.both_engines
def test_a_null_character_is_no_fault_on_either_engine(ledger_settings: Settings) -> None:
    """PostgreSQL stores no null characters in its texts."""
    with on_sale(ledger_settings) as sale:
        for field in ("agentId", "agentName", "assistantId", "userId"):
            asked = {"payerAddress": new_payer(), field: "a\u0000b"}
            assert sale.ask("POST", QUOTE, json=asked).status_code in (201, 400), field
        callback = {"payerAddress": new_payer(), "callbackUrl": "https://x/\u0000"}
        assert sale.ask("POST", QUOTE, json=callback).status_code in (201, 400)
        assert said(sale.ask("POST", CLAIM, json=WHOLE | {"quoteId": "quote\u0000"}))[0] in (400, 402)
        assert sale.ask("GET", "/api/agent-access/claims/claim%00").status_code == 404


def test_an_unknown_plan_is_named(shop: KeyedService) -> None:
    for plan in ("free", "", "API_BASIC_MONTHLY"):
        answer = answered(shop, QUOTE, json.dumps({"payerAddress": new_payer(), "planId": plan}))
        assert (answer.status_code, answer.json()["code"]) == (400, "plan_unknown")


@pytest.mark.parametrize("key", ["x" * 10_000, "x" * 201, ""])
def test_an_idempotency_key_of_another_length_is_refused(shop: KeyedService, key: str) -> None:
    answer = answered(shop, CLAIM, changed(), Idempotency_Key=key)
    assert (answer.status_code, answer.json()["code"]) == (400, "parameter_invalid")


@pytest.mark.parametrize("media_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"])
def test_bodies_that_are_not_json_are_refused(shop: KeyedService, media_type: str) -> None:
    for path in (QUOTE, CLAIM):
        assert answered(shop, path, changed(), Content_Type=media_type).status_code == 415


def test_methods_that_routes_do_not_have_are_refused(shop: KeyedService) -> None:
    for path in ROUTES:
        asked = path.replace("{claimId}", "claim_none")
        for method in ("PUT", "DELETE", "PATCH", "GET" if path in (QUOTE, CLAIM) else "POST"):
            assert shop.ask((method, asked, {}, {}))[0].status_code == 405, (method, asked)


def test_keys_that_disagree_or_are_no_longer_valid_are_no_keys(shop: KeyedService) -> None:
    """Covers revoked and suspended claims. After its paid time a key still works, with the limits of the free tier."""
    good, other, revoked, suspended = (shop.key() for _ in range(4))
    expired = shop.key(Tier.PRO, paid_until=datetime.fromtimestamp(shop.now_s, UTC) - timedelta(seconds=1))
    shop.change(revoke_key, revoked)
    shop.change(suspend_key, suspended)
    both = bearer(good) | {"X-Api-Key": other.key.reveal()}
    refusals = [shop.check(headers)[0] for headers in (both, bearer(revoked), bearer(suspended))]
    assert [refusal.status_code for refusal in refusals] == [401, 401, 401]
    assert len({refusal.text.replace(refusal.json()["requestId"], "") for refusal in refusals}) == 1
    assert shop.check(bearer(good) | {"X-Api-Key": good.key.reveal()})[0].status_code == 200
    opened = shop.check(bearer(expired))[0]
    assert opened.status_code == 200
    assert '"daily";q=100;' in opened.headers["ratelimit-policy"]


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
TEXTS = st.sampled_from(
    ["", "0x", "0x" + "ab" * 20, "0x" + "AB" * 32, "a" * 64, "api_pro_monthly", "https://x", "é\x00"]
)


def bodies_of(path: str) -> st.SearchStrategy[Any]:
    """Generates bodies with the fields of a route's described body, valid and invalid, and arbitrary JSON as well."""
    reference = DESCRIPTION["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"]
    fields = DESCRIPTION["components"]["schemas"][reference.rpartition("/")[2]]["properties"]
    assert fields
    given_fields = st.fixed_dictionaries({}, optional=dict.fromkeys(fields, TEXTS | ANY_JSON))
    started = st.builds(lambda extra: WHOLE | extra, given_fields) if path == CLAIM else given_fields
    payer = st.builds(lambda extra: {"payerAddress": "0x" + "9a" * 20} | extra, given_fields)
    return st.one_of(started, given_fields, payer if path == QUOTE else started, ANY_JSON)


@pytest.mark.parametrize("path", [QUOTE, CLAIM])
def test_any_body_is_answered_as_described_and_never_with_a_500(shop: KeyedService, path: str) -> None:
    @settings(max_examples=24 * ROUNDS, deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(bodies=st.lists(bodies_of(path), min_size=1, max_size=4), key=st.none() | st.text("ab-", max_size=4))
    def sent(bodies: list[Any], key: str | None) -> None:
        headers = {"Content-Type": "application/json"} | ({} if key is None else {"Idempotency-Key": key})
        requests = [("POST", path, headers, {"content": json.dumps(body)}) for body in bodies]
        for answer in shop.ask(*requests):
            assert answer.status_code < 500, answer.text
            described(path, "post", answer)

    sent()


@given(st.text("abc/%._-~é\x00?#", min_size=1, max_size=30))
@settings(max_examples=12 * ROUNDS, deadline=None, database=None, suppress_health_check=list(HealthCheck))
def test_an_invalid_claim_id_is_not_found(shop: KeyedService, claim_id: str) -> None:
    from urllib.parse import quote

    answer = shop.ask(("GET", f"/api/agent-access/claims/{quote(claim_id, safe='')}", {}, {}))[0]
    assert answer.status_code == 404, answer.text
    assert answer.json()["code"] in ("claim_not_found", "route_unknown")


def test_the_catalog_is_as_described(shop: KeyedService, tmp_path: Path) -> None:
    described(ROUTES[0], "get", shop.ask(("GET", ROUTES[0], {}, {}))[0])
