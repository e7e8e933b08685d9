"""S26: what an x402 client signs is compared with our offers field by field; a change of any field is refused."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from claim_payments import TREASURY, USDC
from eth_account import Account
from hypothesis import given
from hypothesis import strategies as st
from signing_wallets import BUYER, payment
from x402.schemas import PaymentRequired

from contracts.access.authorizations import (
    HIGHEST_S,
    Authorization,
    Presented,
    Refused,
    offer_paid,
    read_presented,
)
from contracts.access.offers import Offer, offers_at, payment_required
from contracts.access.plans import load_calls, load_plans
from contracts.access.rail import PaymentRail

RAIL = PaymentRail(8453, USDC, TREASURY, providers=2, confirmations=1, proof_above=None, missing=(), relays=True)
NOW_S = 1_800_000_000
METHOD, PATH = "POST", "/api/v2/guardrail/check"
URL = "https://svc.example" + PATH
OFFERS = offers_at(METHOD, PATH)
REQUIRED = payment_required(OFFERS, RAIL, method=METHOD, url=URL, error="pay")
STRANGER = Account.from_key("0x" + "55" * 32)

Payload = dict[str, Any]


def signed(**changed: Any) -> Payload:
    return payment(REQUIRED, now_s=NOW_S, **changed)


def judged(payload: Any) -> Offer | Refused:
    field = payload if isinstance(payload, str) else base64.b64encode(json.dumps(payload).encode()).decode()
    presented = read_presented(field, RAIL)
    if isinstance(presented, Refused):
        return presented
    return offer_paid(presented, OFFERS, RAIL, url=URL, now_s=NOW_S)


def reason(payload: Any) -> str:
    found = judged(payload)
    assert isinstance(found, Refused), f"accepted as {found.id}"
    return found.reason


def put(*path: str, to: Any) -> Callable[[Payload], None]:
    """Returns a change that sets a member after signing."""

    def change(payload: Payload) -> None:
        inner = payload
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] = to

    return change


def mirrored(payload: Payload) -> None:
    """Replaces the signature by the other one of the same payer and message, which anybody can derive (S18)."""
    signature = bytes.fromhex(payload["payload"]["signature"][2:])
    s, order = int.from_bytes(signature[32:64]), 2 * HIGHEST_S + 1
    other = signature[:32] + (order - s).to_bytes(32) + bytes([55 - signature[64]])
    payload["payload"]["signature"] = "0x" + other.hex()


def without(*path: str) -> Callable[[Payload], None]:
    """Returns a change that removes a member."""

    def change(payload: Payload) -> None:
        inner = payload
        for name in path[:-1]:
            inner = inner[name]
        del inner[path[-1]]

    return change


def test_every_offer_of_a_route_is_taken_as_it_is_offered() -> None:
    PaymentRequired.model_validate(REQUIRED)
    ids = [each["extra"]["offer"] for each in REQUIRED["accepts"]]
    assert ids == ["call_guardrail_check", *load_plans()]
    for id_ in ids:
        found = judged(signed(offer=id_))
        assert isinstance(found, Offer)
        assert (found.id, found.is_call) == (id_, id_ == "call_guardrail_check")


def test_a_route_without_a_price_offers_only_keys() -> None:
    assert [offer.id for offer in offers_at("POST", "/api/v2/world-model/signal")] == list(load_plans())


SIGNATURE = "invalid_exact_evm_payload_signature"
UNLIKE = "invalid_payment_requirements"
WINDOW = "invalid_exact_evm_payload_authorization_valid"

TAMPERED: dict[str, tuple[Callable[[Payload], None], str]] = {
    "from": (put("payload", "authorization", "from", to=STRANGER.address), SIGNATURE),
    "to": (put("payload", "authorization", "to", to=STRANGER.address), SIGNATURE),
    "value": (put("payload", "authorization", "value", to="1"), SIGNATURE),
    "valid after": (put("payload", "authorization", "validAfter", to="1"), SIGNATURE),
    "valid before": (put("payload", "authorization", "validBefore", to=str(NOW_S + 61)), SIGNATURE),
    "nonce": (put("payload", "authorization", "nonce", to="0x" + "00" * 32), SIGNATURE),
    "signature": (put("payload", "signature", to="0x" + "11" * 64 + "1b"), SIGNATURE),
    "mirrored signature": (mirrored, SIGNATURE),
    "signature of a coin that counts otherwise": (put("payload", "signature", to="0x" + "11" * 64 + "1d"), SIGNATURE),
    "further member of the authorization": (put("payload", "authorization", "more", to="1"), "invalid_payload"),
    "authorization without a nonce": (without("payload", "authorization", "nonce"), "invalid_payload"),
    "further member of the payload": (put("payload", "more", to="1"), "invalid_payload"),
    "nothing accepted": (without("accepted"), "invalid_payload"),
    "version of x402": (put("x402Version", to=1), "invalid_payload"),
    "scheme": (put("accepted", "scheme", to="upto"), "unsupported_scheme"),
    "network": (put("accepted", "network", to="eip155:1"), "network_mismatch"),
    "asset": (put("accepted", "asset", to=STRANGER.address), UNLIKE),
    "amount": (put("accepted", "amount", to="1"), UNLIKE),
    "recipient": (put("accepted", "payTo", to=STRANGER.address), UNLIKE),
    "timeout": (put("accepted", "maxTimeoutSeconds", to=3600), UNLIKE),
    "domain name": (put("accepted", "extra", "name", to="USDC"), UNLIKE),
    "domain version": (put("accepted", "extra", "version", to="1"), UNLIKE),
    "offer": (put("accepted", "extra", "offer", to="api_pro_monthly"), UNLIKE),
    "no domain": (without("accepted", "extra", "name"), UNLIKE),
    "further member of extra": (put("accepted", "extra", "more", to=1), UNLIKE),
    "no extra": (without("accepted", "extra"), UNLIKE),
    "no such offer": (put("accepted", "extra", "offer", to="call_of_nature"), UNLIKE),
    "further member": (put("accepted", "more", to=1), UNLIKE),
    "resource": (put("resource", "url", to="https://svc.example/api/v2/world-model/query"), "invalid_resource"),
    "query of the resource": (put("resource", "url", to=f"{URL}?x=1"), "invalid_resource"),
    "scheme of the resource": (put("resource", "url", to=URL.replace("https", "http")), "invalid_resource"),
}
"""Changes after signing. A changed signed field no longer fits its signature; a changed named field no longer fits an
offer."""


@pytest.mark.parametrize("field", TAMPERED)
def test_a_payment_with_one_changed_field_is_refused(field: str) -> None:
    change, expected = TAMPERED[field]
    payload = signed()
    change(payload)
    assert reason(payload) == expected


RESIGNED: dict[str, tuple[dict[str, Any], str]] = {
    "to a stranger": ({"to": STRANGER.address}, "invalid_exact_evm_payload_recipient_mismatch"),
    "less": ({"value": "1999"}, "invalid_exact_evm_payload_authorization_value_mismatch"),
    "more": ({"value": "2001"}, "invalid_exact_evm_payload_authorization_value_mismatch"),
    "nothing": ({"value": "0"}, "invalid_exact_evm_payload_authorization_value_mismatch"),
    "not valid yet": ({"validAfter": str(NOW_S)}, WINDOW + "_after"),
    "expired": ({"validBefore": str(NOW_S - 1)}, WINDOW + "_before"),
    "about to expire": ({"validBefore": str(NOW_S + 5)}, WINDOW + "_before"),
    "valid for a day": ({"validBefore": str(NOW_S + 86_400)}, WINDOW + "_before"),
    "domain name": ({"domain": {"name": "Bridged USDC"}}, SIGNATURE),
    "domain version": ({"domain": {"version": "1"}}, SIGNATURE),
    "domain chain": ({"domain": {"chainId": 1}}, SIGNATURE),
    "domain contract": ({"domain": {"verifyingContract": STRANGER.address}}, SIGNATURE),
}
"""Authorizations that a payer really signed, and that pay nothing here."""


@pytest.mark.parametrize("what", RESIGNED)
def test_an_authorization_that_was_signed_otherwise_is_refused(what: str) -> None:
    changed, expected = RESIGNED[what]
    assert reason(signed(**changed)) == expected


def test_an_authorization_that_another_wallet_signed_for_the_payer_is_refused() -> None:
    assert reason(signed(wallet=STRANGER, **{"from": BUYER.address})) == SIGNATURE


MALFORMED: dict[str, Any] = {
    "no base64": "%%%",
    "no JSON": base64.b64encode(b"{").decode(),
    "no object": [],
    "nothing": {},
    "deep": base64.b64encode(b"[" * 10_000).decode(),
    "not UTF-8": base64.b64encode(b"\xff\xfe").decode(),
}


@pytest.mark.parametrize("what", MALFORMED)
def test_a_malformed_field_is_refused_and_never_fails(what: str) -> None:
    assert reason(MALFORMED[what]) == "invalid_payload"


@pytest.mark.parametrize(
    ("member", "text"),
    [
        ("value", "0x7d0"), ("value", "2000.0"), ("value", " 2000"), ("value", "٢٠٠٠"), ("value", "9" * 40),
        ("value", 2000), ("validAfter", "-1"), ("validBefore", "1e12"), ("nonce", "0x00"), ("nonce", "00" * 33),
        ("from", "0x"), ("to", None), ("to", []), ("from", {"x": 1}),
    ],
)  # fmt: skip
def test_a_member_of_an_authorization_in_another_form_is_refused(member: str, text: Any) -> None:
    payload = signed()
    payload["payload"]["authorization"][member] = text
    assert reason(payload) == "invalid_payload"


def test_a_signature_of_a_contract_is_sent_to_the_other_way_to_pay() -> None:
    payload = signed()
    payload["payload"]["signature"] += "00" * 32
    found = judged(payload)
    assert isinstance(found, Refused)
    assert "quote" in found.detail


def test_other_spellings_of_the_same_payment_are_accepted() -> None:
    payload = signed()
    payload["accepted"]["payTo"] = payload["accepted"]["payTo"].lower()
    payload["accepted"]["asset"] = payload["accepted"]["asset"].lower()
    payload["resource"] = None
    assert isinstance(judged(payload), Offer)
    signature = payload["payload"]["signature"]
    payload["payload"]["signature"] = signature[:-2] + f"{int(signature[-2:], 16) - 27:02x}"
    assert isinstance(judged(payload), Offer)


@given(
    st.sampled_from(["payer", "pay_to", "value", "valid_after", "valid_before", "nonce"]),
    st.integers(1, 2**64),
)
def test_any_other_value_of_any_signed_field_is_refused(name: str, shift: int) -> None:
    presented = read_presented(base64.b64encode(json.dumps(PAYLOAD).encode()).decode(), RAIL)
    assert isinstance(presented, Presented)
    old = getattr(presented.authorization, name)
    if isinstance(old, int):
        new: Any = old + shift
    else:
        digits = len(old) - 2
        new = f"0x{(int(old, 16) + shift) % 16**digits:0{digits}x}"
    changed = replace(presented.authorization, **{name: new})
    assert isinstance(judged(as_payload(changed)), Refused)


MEMBERS = ["x402Version", "payload", "accepted", "resource", "authorization", "signature", "extra", "from"]
DOCUMENTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(MEMBERS), inner),
)


@given(DOCUMENTS)
def test_nothing_that_somebody_may_send_makes_it_fail(document: Any) -> None:
    for sent in (document, PAYLOAD | {"payload": document}, PAYLOAD | {"accepted": document}):
        assert isinstance(judged(sent), Refused)


@pytest.mark.parametrize("operation", load_calls())
def test_the_same_request_with_a_write_in_it_needs_a_key(operation: str) -> None:
    call = load_calls()[operation]
    writing = {"mode": "apply", "context": {"approval_token": "x"}}
    assert call.covers({"search": "x", "mode": "preview", "context": {}})
    assert call.covers({}) and call.covers(None) and call.covers([])
    assert call.covers(writing) is (not call.unless)


PAYLOAD = signed()


def as_payload(authorization: Authorization) -> Payload:
    """Returns a payload with another authorization under the old signature."""
    return PAYLOAD | {
        "payload": {
            "signature": authorization.signature,
            "authorization": {
                "from": authorization.payer,
                "to": authorization.pay_to,
                "value": str(authorization.value),
                "validAfter": str(authorization.valid_after),
                "validBefore": str(authorization.valid_before),
                "nonce": authorization.nonce,
            },
        }
    }
