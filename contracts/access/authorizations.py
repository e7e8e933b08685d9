"""Parses and checks a payment that an x402 client signed: an EIP-3009 authorization that pays one of our offers. Pure.

Every field is compared with an offer. Only the chain can tell if the payer has the money (`settling.py`). Refusals use
the codes of the x402 package, which clients know. The package is imported on first use, because its imports take more
than a second.
"""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from contracts.access.eth_accounts import eth_account
from contracts.access.offers import X402_VERSION, Offer, requirement_of
from contracts.access.rail import ASSET_NAME, ASSET_VERSION, PaymentRail
from contracts.canonical import canonical_sha256, sha256_hex
from contracts.evm.codec import checksum_address, selector

LEAST_LEFT_S = 6
"""Minimum time, in seconds, for which an authorization must still be valid when it arrives; blocks need part of it."""

MOST_AHEAD_S = 3600
"""Seconds from now before which an authorization must expire, so that nobody is charged long after the request."""

HIGHEST_S = 0x7FFFFFFFFFFFFFFFFFFFFFFFFFFFFFFF5D576E7357A4501DDFE92F46681B20A0
"""Half the order of secp256k1. A signature with a larger s mirrors an existing one (EIP-2), and the coin refuses it."""

TRANSFER_WITH_AUTHORIZATION = (
    "transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)"
)

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{40}")
_NONCE = re.compile(r"0x[0-9a-fA-F]{64}")
_SIGNATURE = re.compile(r"0x[0-9a-fA-F]{130}")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,30}", re.ASCII)
_PAYLOAD = {"authorization", "signature"}
_AUTHORIZATION = {"from", "to", "value", "validAfter", "validBefore", "nonce"}


@dataclass(frozen=True, slots=True)
class Authorization:
    """A signed EIP-3009 transfer: addresses, nonce and signature as lower-case hex, `value` in smallest units, times in
    Unix seconds. Chain, asset, payer and nonce identify it, but not its signature."""

    chain_id: int
    asset: str
    payer: str
    pay_to: str
    value: int
    valid_after: int
    valid_before: int
    nonce: str
    signature: str

    @property
    def call(self) -> str:
        """Returns the call data that transfers the money; any sender can submit it."""
        from eth_abi.abi import encode

        raw = bytes.fromhex(self.signature[2:])
        v = raw[64] + 27 if raw[64] < 2 else raw[64]
        kinds = ["address", "address", "uint256", "uint256", "uint256", "bytes32", "uint8", "bytes32", "bytes32"]
        values = [
            self.payer,
            self.pay_to,
            self.value,
            self.valid_after,
            self.valid_before,
            bytes.fromhex(self.nonce[2:]),
            v,
            raw[:32],
            raw[32:64],
        ]
        return selector(TRANSFER_WITH_AUTHORIZATION) + encode(kinds, values).hex()


@dataclass(frozen=True, slots=True)
class Refused:
    """The reason why an authorization pays nothing here. `reason` is an x402 code."""

    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Presented:
    """The content of a PAYMENT-SIGNATURE field: the payer's signed authorization, and the offer that it names."""

    authorization: Authorization
    accepted: dict[str, Any]
    resource: str | None


def read_presented(field: str, rail: PaymentRail) -> Presented | Refused:
    """Parses a PAYMENT-SIGNATURE field and checks its form and signature, which do not depend on the time."""
    try:
        document = json.loads(base64.b64decode(field, validate=True))
        payload = _payload_of(document)
    except (ValueError, binascii.Error, RecursionError, TypeError):
        return Refused("invalid_payload", f"The field is not base64 of an x402 v{X402_VERSION} PaymentPayload.")
    signed = payload.payload
    authorization = signed.get("authorization")
    if not isinstance(authorization, dict) or set(signed) != _PAYLOAD or set(authorization) != _AUTHORIZATION:
        return Refused("invalid_payload", "`payload` is not `authorization` and `signature` of EIP-3009.")
    if not all(isinstance(value, str) for value in (signed["signature"], *authorization.values())):
        return Refused("invalid_payload", "The members of `authorization` and `signature` are texts.")
    if _SIGNATURE.fullmatch(signed["signature"]) is None:
        return Refused(
            "invalid_exact_evm_payload_signature",
            "A signature of 65 bytes is needed. A wallet that is a contract buys a key with a quote and a transfer.",
        )
    forms = {"from": _ADDRESS, "to": _ADDRESS, "nonce": _NONCE}
    for name, text in authorization.items():
        if forms.get(name, _NUMBER).fullmatch(text) is None:
            return Refused("invalid_payload", f"`authorization.{name}` is malformed.")
    read = Authorization(
        chain_id=rail.chain_id,
        asset=rail.asset,
        payer=authorization["from"].lower(),
        pay_to=authorization["to"].lower(),
        value=int(authorization["value"]),
        valid_after=int(authorization["validAfter"]),
        valid_before=int(authorization["validBefore"]),
        nonce=authorization["nonce"].lower(),
        signature=signed["signature"].lower(),
    )
    if not _is_signed(read):
        return Refused(
            "invalid_exact_evm_payload_signature",
            "`signature` is not that of `authorization.from` over this authorization in the coin's domain.",
        )
    resource = None if payload.resource is None else payload.resource.url
    return Presented(read, document["accepted"], resource)


def offer_paid(
    presented: Presented, offers: Sequence[Offer], rail: PaymentRail, *, url: str, now_s: float
) -> Offer | Refused:
    """Returns the offer that an authorization pays now, or the reason why it pays none of `offers`."""
    authorization, accepted = presented.authorization, presented.accepted
    offer = next((offer for offer in offers if _accepts(accepted, requirement_of(offer, rail))), None)
    if offer is None:
        return _unlike(accepted, offers, rail)
    if presented.resource is not None and presented.resource != url:
        return Refused("invalid_resource", f"`resource.url` is not the URL of this request, {url}.")
    if authorization.pay_to != rail.treasury:
        return Refused("invalid_exact_evm_payload_recipient_mismatch", "`authorization.to` is not the offer's payTo.")
    if authorization.value != offer.amount:
        return Refused(
            "invalid_exact_evm_payload_authorization_value_mismatch", "`authorization.value` is not the offer's amount."
        )
    if authorization.valid_after >= now_s:
        return Refused(
            "invalid_exact_evm_payload_authorization_valid_after", "`authorization.validAfter` is in the future."
        )
    if authorization.valid_before < now_s + LEAST_LEFT_S:
        return Refused(
            "invalid_exact_evm_payload_authorization_valid_before",
            f"`authorization.validBefore` has passed, or is less than {LEAST_LEFT_S} seconds away.",
        )
    if authorization.valid_before > now_s + MOST_AHEAD_S:
        return Refused(
            "invalid_exact_evm_payload_authorization_valid_before",
            f"`authorization.validBefore` is more than {MOST_AHEAD_S} seconds away.",
        )
    return offer


def request_digest(method: str, path: str, query: bytes, body: bytes) -> str:
    """Returns a hash that distinguishes a request from every other request."""
    return canonical_sha256([method, path, query.decode("latin-1"), sha256_hex(body)])


def domain_separator(rail: PaymentRail) -> str:
    """Returns the EIP-712 domain separator that the rail's coin must have, as `0x` hex."""
    eth_account()  # imported before x402 imports it, because that import raises the recursion limit
    from x402.mechanisms.evm.eip712 import hash_domain
    from x402.mechanisms.evm.types import TypedDataDomain

    return "0x" + hash_domain(TypedDataDomain(ASSET_NAME, ASSET_VERSION, rail.chain_id, rail.asset)).hex()


def _payload_of(document: Any) -> Any:
    """Parses an x402 `PaymentPayload`. Raises `ValueError`."""
    eth_account()
    from x402.schemas import PaymentPayload

    if not isinstance(document, dict) or document.get("x402Version") != X402_VERSION:
        raise ValueError("another version")
    return PaymentPayload.model_validate(document)


def _is_signed(authorization: Authorization) -> bool:
    eth_account()
    from x402.mechanisms.evm.eip712 import hash_eip3009_authorization
    from x402.mechanisms.evm.types import ExactEIP3009Authorization
    from x402.mechanisms.evm.verify import verify_eoa_signature

    signed = ExactEIP3009Authorization(
        from_address=authorization.payer,
        to=authorization.pay_to,
        value=str(authorization.value),
        valid_after=str(authorization.valid_after),
        valid_before=str(authorization.valid_before),
        nonce=authorization.nonce,
    )
    digest = hash_eip3009_authorization(
        signed, authorization.chain_id, checksum_address(authorization.asset), ASSET_NAME, ASSET_VERSION
    )
    signature = bytes.fromhex(authorization.signature[2:])
    if int.from_bytes(signature[32:64]) > HIGHEST_S:
        return False
    try:
        return verify_eoa_signature(digest, signature, authorization.payer)
    except ValueError:
        return False


def _accepts(accepted: dict[str, Any], requirement: dict[str, Any]) -> bool:
    return _comparable(accepted) == _comparable(requirement)


def _comparable(requirement: dict[str, Any]) -> dict[str, Any]:
    """Returns a requirement with its addresses in lower case."""
    lower = {name: str(requirement[name]).lower() for name in ("asset", "payTo") if name in requirement}
    return requirement | lower


def _unlike(accepted: dict[str, Any], offers: Sequence[Offer], rail: PaymentRail) -> Refused:
    """Names the first field in which `accepted` differs from the offer that it names."""
    wanted = [_comparable(requirement_of(offer, rail)) for offer in offers]
    named = (accepted.get("extra") or {}).get("offer") if isinstance(accepted.get("extra"), dict) else None
    nearest = next((each for each in wanted if each["extra"]["offer"] == named), None)
    if nearest is None:
        return Refused("invalid_payment_requirements", "`accepted.extra.offer` is not an offer of this request.")
    given = _comparable(accepted)
    codes = {"scheme": "unsupported_scheme", "network": "network_mismatch"}
    for name in (*nearest, *given):
        if given.get(name) != nearest.get(name):
            detail = f"`accepted.{name}` is not that of the offer {named}: repeat the request, and sign the new offer."
            return Refused(codes.get(name, "invalid_payment_requirements"), detail)
    return Refused("invalid_payment_requirements", f"`accepted` is not the offer {named}.")
