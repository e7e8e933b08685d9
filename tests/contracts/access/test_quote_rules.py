import itertools
import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
import segno
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from contracts.access.plans import SALT_UNITS, load_plans, plans_answer
from contracts.access.quote_answers import payment_uri, qr_code, quote_answer, transfer_call
from contracts.access.quotes import (
    QuoteRequest,
    entitlement_of,
    free_amount,
    is_intact,
    make_quote,
    terms_of,
)
from contracts.access.rail import Burial, PaymentRail, rail_of, units_of, usd_of
from contracts.access.tiers import Tier
from contracts.canonical import canonical_json, canonical_sha256
from contracts.evm.codec import checksum_address
from contracts.settings import Settings

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
PAYER = "0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a"
OWNER = "0x" + "01" * 20
RAIL = PaymentRail(
    chain_id=8453,
    asset="0x833589fcd6edb6e08f4c7c32d4f71b54bda02913",
    treasury="0x" + "7e" * 20,
    providers=2,
    confirmations=None,
    proof_above=None,
    missing=(),
)


def quote_for(rail: PaymentRail = RAIL, plan: str = "api_basic_monthly", amount: int = 9_000_042, **asked):
    request = QuoteRequest(**({"payerAddress": PAYER} | asked))
    return make_quote(
        request,
        load_plans()[plan],
        rail,
        "https://svc.example",
        quote_id="quote_1",
        nonce="0f" * 16,
        amount=amount,
        now=NOON + timedelta(microseconds=5),
    )


def test_a_quote_is_the_same_bytes_for_the_same_request_for_ever():
    quote = quote_for()
    assert quote.requirement_json == (
        '{"amount":"9000042","asset":"0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913","extra":{"name":"USD Coin",'
        '"nonce":"0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f","quoteId":"quote_1","version":"2"},"maxTimeoutSeconds":1800,'
        '"network":"eip155:8453","payTo":"0x7e7e7e7E7e7E7e7e7e7E7e7e7e7E7e7e7e7e7e7E","scheme":"exact"}'
    )
    said = json.loads(quote.quote_json)
    assert canonical_sha256(said) == quote.quote_hash
    assert canonical_sha256(json.loads(quote.requirement_json)) == quote.requirement_hash
    assert (said["issuedAt"], said["expiresAt"]) == ("2026-01-02T12:00:00Z", "2026-01-02T12:30:00Z")
    assert said["paymentRequirementHash"] == quote.requirement_hash


def test_the_payer_is_payer_address_and_the_operator_a_label_each_standing_in_for_the_other():
    upper = "0x" + PAYER[2:].upper()
    assert (quote_for(payerAddress=upper).payer, quote_for().operator) == (PAYER, PAYER)
    both = quote_for(operatorAddress=OWNER)
    assert (both.payer, both.operator, both.names_operator) == (PAYER, OWNER, True)
    stated = json.loads(both.quote_json)
    assert (stated["owner"], stated["operator"]) == (PAYER, OWNER)
    alone = QuoteRequest.model_validate({"operatorAddress": OWNER})
    assert (alone.payer, alone.operator) == (OWNER, OWNER)


@pytest.mark.parametrize("name", ["payerAddress", "operatorAddress"])
def test_any_forty_hex_digits_are_an_address_of_a_quote_whatever_their_case(name):
    mixed = "0x" + "aB" * 20
    request = QuoteRequest.model_validate({name: mixed})
    assert (request.payer, request.misspelled) == (mixed.lower(), (name,))
    request = QuoteRequest.model_validate({name: "0x" + "ab" * 20})
    assert request.misspelled == ()
    assert QuoteRequest.model_validate({name: checksum_address("0x" + "ab" * 20)}).misspelled == ()
    assert QuoteRequest.model_validate({name: "0x" + "AB" * 20}).misspelled == ()


def test_a_quote_of_an_earlier_version_which_called_the_operator_owner_is_intact():
    quote = quote_for(operatorAddress=OWNER)
    stated = json.loads(quote.quote_json) | {"owner": OWNER}
    del stated["operator"]
    earlier = canonical_json(stated).decode()
    assert is_intact(replace(quote, quote_json=earlier, quote_hash=canonical_sha256(stated)))


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"payerAddress": None},
        {"payerAddress": "0x" + "0" * 39},
        {"payerAddress": PAYER, "agentId": ""},
        {"payerAddress": PAYER, "callbackUrl": "javascript:alert(1)"},
        {"payerAddress": PAYER, "callbackUrl": "http://"},
        {"payerAddress": PAYER, "callbackUrl": "x" * 3000},
        {"payerAddress": PAYER, "planId": 7},
        {"payerAddress": PAYER, "unknown": 1},
        {"payerAddress": PAYER, "integrity": {"type": "eip712", "signature": "0x00", "issuedAt": "1"}},
    ],
)
def test_a_request_that_names_nobody_or_nonsense_is_refused(asked):
    with pytest.raises(ValidationError):
        QuoteRequest.model_validate(asked)


@given(st.sets(st.integers(5_000_000, 5_000_000 + SALT_UNITS - 1), max_size=500), st.integers(0, 2**32))
def test_an_amount_is_in_the_plans_band_and_not_taken(taken, draw):
    plan = load_plans()["agent_runtime_activation"]
    amount = free_amount(plan.price, taken, draw)
    assert amount not in taken
    assert plan.price <= amount < plan.price + SALT_UNITS


def test_the_last_free_amount_is_found_and_past_it_there_is_none():
    plan = load_plans()["agent_runtime_activation"]
    band = set(range(plan.price, plan.price + SALT_UNITS))
    assert free_amount(plan.price, band - {5_001_234}, 77) == 5_001_234
    with pytest.raises(ValueError, match="taken"):
        free_amount(plan.price, band, 77)


def test_bands_of_plans_do_not_overlap():
    prices = sorted(plan.price for plan in load_plans().values())
    assert all(later - earlier >= SALT_UNITS for earlier, later in itertools.pairwise(prices))


def test_terms_and_entitlement_come_from_the_quotes_own_bytes():
    quote = replace(quote_for(), payer=OWNER, amount=1)
    terms = terms_of(quote, RAIL)
    assert (terms.payer, terms.amount, terms.quorum) == (PAYER, 9_000_042, 2)
    assert (terms.issued_at, terms.expires_at) == (NOON, NOON + timedelta(minutes=30))
    entitlement = entitlement_of(quote)
    assert (entitlement.tier, entitlement.expires_at(NOON)) == (Tier.BASIC, NOON + timedelta(days=30))
    assert entitlement_of(quote_for(plan="agent_runtime_activation")).expires_at(NOON) is None


@pytest.mark.parametrize(
    "change",
    [
        {"quote_json": '{"amount":"1"}'},
        {"requirement_json": "{}"},
        {"quote_hash": "ab" * 32},
        {"requirement_hash": "ab" * 32},
        {"quote_id": "quote_2"},
        {"operator": OWNER},
        {"amount": 1},
    ],
)
def test_a_changed_quote_is_not_intact(change):
    assert is_intact(quote_for())
    assert not is_intact(replace(quote_for(), **change))


def test_a_quote_tells_a_wallet_what_to_send():
    quote = quote_for()
    answer = quote_answer(
        quote, {"alg": "EdDSA", "kid": "k", "jws": "a..b"}, RAIL, "https://svc.example", keys_url="https://k"
    )
    assert answer.data.next.pay.call == transfer_call(RAIL.treasury, 9_000_042)
    assert answer.data.next.pay.call == "0xa9059cbb" + "0" * 24 + "7e" * 20 + f"{9_000_042:064x}"
    assert answer.data.next.pay.uri == payment_uri(quote.amount, RAIL)
    assert answer.price.exact_amount == "9.000042"
    assert answer.data.next.claim.not_after == quote.expires_at + timedelta(days=7)


@pytest.mark.parametrize(("usd", "units"), [("5", 5_000_000), ("0.01", 10_000), ("0.000001", 1), ("49.5", 49_500_000)])
def test_dollars_and_smallest_units_are_exact(usd, units):
    assert (units_of(usd), usd_of(units)) == (units, usd)


def test_more_decimals_than_the_coin_has_are_refused():
    with pytest.raises(ValueError, match="smallest unit"):
        units_of("0.0000001")


def test_the_needed_depth_of_a_payment_follows_from_its_amount_and_the_settings():
    given_confirmations = replace(RAIL, confirmations=3)
    assert RAIL.burial_of(49_000_000) == Burial(None, "safe")
    assert given_confirmations.burial_of(49_000_000) == Burial(3, "safe")
    assert given_confirmations.burial_of(1_000_000_000) == Burial(None, "finalized")


@pytest.mark.parametrize(
    ("above", "amount", "needed"), [(None, 10**12, False), (5, 5_000_000, False), (5, 5_000_001, True)]
)
def test_a_proof_is_needed_above_the_amount_that_is_set(above, amount, needed):
    settings = Settings(_env_file=None, signature_above_usd=above)
    assert rail_of(settings).needs_proof(amount) is needed


def test_claim_confirmations_fall_back_to_confirmations_and_one_provider_suffices():
    named = {"rpc_urls": ("http://a", "http://a"), "confirmations": 4}
    rail = rail_of(Settings(_env_file=None, **named))
    assert (rail.confirmations, rail.providers, rail.quorum) == (4, 1, 1)
    rail = rail_of(
        Settings(_env_file=None, **named | {"claim_confirmations": 0, "rpc_urls": ("http://a", "http://b", "http://c")})
    )
    assert (rail.confirmations, rail.providers, rail.quorum) == (0, 3, 2)


def test_the_catalog_names_what_is_missing():
    catalog = plans_answer(
        rail_of(Settings(_env_file=None)), "https://svc.example", dict.fromkeys(Tier, 1), trials=True
    )
    assert catalog.payment.missing == ["SVC_USDC_ADDRESS", "SVC_TREASURY_ADDRESS", "SVC_RPC_URLS"]
    assert {plan.status for plan in catalog.plans} == {"unavailable"}
    assert catalog.payment.asset is None


@given(st.integers(0, SALT_UNITS - 1), st.sampled_from(sorted(plan.price for plan in load_plans().values())))
def test_the_code_that_is_put_together_is_the_one_that_segno_draws(salt, price):
    uri = payment_uri(price + salt, RAIL)
    drawn = segno.make(uri, error="l", boost_error=False, mask=0, micro=False)
    assert dark_modules(qr_code(uri)) == {
        (column, row)
        for row, modules in enumerate(drawn.matrix_iter(border=4))
        for column, dark in enumerate(modules)
        if dark
    }


@pytest.mark.parametrize("text", ["ethereum:0xdead", "7", "12345678901234", "a1"])
def test_a_text_with_more_digits_at_its_end_or_none_is_drawn_too(text):
    drawn = segno.make(text, mode="byte", error="l", boost_error=False, mask=0, micro=False)
    assert len(dark_modules(qr_code(text))) == sum(map(sum, drawn.matrix))


def dark_modules(uri):
    """Returns the positions of the unit squares that the path's strokes cover."""
    dark, column, row = set(), 0, 0
    for command, first, second in re.findall(r"([Mmh])(\d+)(?: ([\d.]+))?", uri.partition(" d=")[2]):
        if command == "M":
            column, row = int(first), int(float(second))
            continue
        if command == "h":
            dark |= {(column + step, row) for step in range(int(first))}
        column += int(first)
    return dark
