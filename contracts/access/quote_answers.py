"""Builds the signed answer with a quote, and its payment as call data, link and QR code."""

import json
import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, reduce
from operator import xor
from typing import Any, Literal

from pydantic import Field

from contracts.access.consent import OperatorStep, operator_step
from contracts.access.plan_warnings import PlanWarning
from contracts.access.plans import CLAIM_PATH, CODE_PATH, PLANS_PATH, RECEIPT_PATH, SALT_UNITS
from contracts.access.proofs import claim_typed_data
from contracts.access.quotes import Quote
from contracts.access.rail import ASSET_SYMBOL, USDC_DECIMALS, PaymentRail, usd_of
from contracts.access.signing import Signature
from contracts.base import Document, Timestamp
from contracts.evm.codec import checksum_address

_QR_MASK = 0
"""The chequered mask."""

_VARYING = len(str(SALT_UNITS - 1))
"""Number of digits at the end of a link that differ between the quotes of a plan."""

_QR_BORDER = 4
"""Light modules around a code, as ISO/IEC 18004 requires."""

_QR_SCALE = 4
"""Pixels per module."""


class QuotePrice(Document):
    """The price of the plan, and the amount of this quote."""

    amount: str = Field(description="The plan's price, decimal")
    currency: Literal["USD"] = "USD"
    exact_amount: str = Field(description="Amount to send, in whole coins, decimal")
    exact_amount_units: str = Field(description="Amount to send, in the coin's smallest unit")


class PayTransfer(Document):
    """The single transfer that pays."""

    method: Literal["erc20_transfer"] = "erc20_transfer"
    network: str
    chain_id: int
    asset: str
    asset_symbol: str = ASSET_SYMBOL
    decimals: int = USDC_DECIMALS
    sender: str = Field(description="The transfer must come from this address", alias="from")
    to: str
    amount_units: str
    amount: str
    call: str = Field(description="The transfer's call data, for a transaction to the asset's contract")
    uri: str = Field(description="EIP-681")
    qr_code: str = Field(description="Address of the URI as a QR code: an SVG picture")
    not_before: Timestamp
    not_after: Timestamp


class ExampleClaim(Document):
    """The body of the claim, complete except for the transaction hash."""

    quote_id: str
    transaction_hash: str
    quote_hash: str
    payment_requirement_hash: str


class ClaimStep(Document):
    """The request that claims the key."""

    method: Literal["POST"] = "POST"
    url: str
    headers: dict[str, str]
    body: ExampleClaim
    proof_required: bool = Field(description="Whether `integrity` with the payer's signature is needed")
    proof: dict[str, Any] = Field(description="EIP-712 typed data for the payer's signature")
    operator: OperatorStep | None = Field(
        description="How the operator that the quote names becomes the owner of the key, by its signature; "
        "null if it names no address other than the payer's"
    )
    not_after: Timestamp = Field(description="Until then, a payment made in time can be claimed")


class QuoteNext(Document):
    """The next steps with a quote."""

    pay: PayTransfer
    claim: ClaimStep
    receipt: str
    plans: str


class QuoteData(Document):
    """The quote and its requirement, whose RFC 8785 bytes give the two hashes, and the next steps."""

    quote: dict[str, Any]
    payment_requirement: dict[str, Any] = Field(description="x402 v2 PaymentRequirements")
    next: QuoteNext
    warnings: list[PlanWarning] = Field(description="Empty if there is no reason against paying")


class QuoteIntegrity(Document):
    """The rules for computing the hashes and checking the signature."""

    algorithm: Literal["SHA-256"] = "SHA-256"
    canonicalization: Literal["RFC 8785"] = "RFC 8785"
    quote_hash_of: Literal["data.quote"] = "data.quote"
    payment_requirement_hash_of: Literal["data.paymentRequirement"] = "data.paymentRequirement"
    signature_of: Literal["quoteHash"] = "quoteHash"
    keys_url: str


class QuoteAnswer(Document):
    """A signed quote."""

    ok: Literal[True] = True
    schema_: Literal["svc.agent_access.quote_response.v1"] = Field(
        default="svc.agent_access.quote_response.v1", alias="schema"
    )
    quote_id: str
    quote_hash: str
    payment_requirement_hash: str
    expires_at: Timestamp
    signature: Signature
    price: QuotePrice
    integrity: QuoteIntegrity
    data: QuoteData


def quote_answer(
    quote: Quote,
    signature: dict[str, str],
    rail: PaymentRail,
    base_url: str,
    *,
    keys_url: str,
    warnings: Sequence[PlanWarning] = (),
) -> QuoteAnswer:
    """Returns the answer that delivers a quote to the client."""
    body: dict[str, Any] = json.loads(quote.quote_json)
    requirement: dict[str, Any] = json.loads(quote.requirement_json)
    uri = payment_uri(quote.amount, rail)
    exact = usd_of(quote.amount)
    return QuoteAnswer(
        quote_id=quote.quote_id,
        quote_hash=quote.quote_hash,
        payment_requirement_hash=quote.requirement_hash,
        expires_at=quote.expires_at,
        signature=Signature(**signature),
        price=QuotePrice(amount=body["price"]["amount"], exact_amount=exact, exact_amount_units=str(quote.amount)),
        integrity=QuoteIntegrity(keys_url=keys_url),
        data=QuoteData(
            quote=body,
            payment_requirement=requirement,
            next=QuoteNext(
                pay=PayTransfer(
                    network=rail.network,
                    chain_id=rail.chain_id,
                    asset=requirement["asset"],
                    sender=checksum_address(quote.payer),
                    to=requirement["payTo"],
                    amount_units=str(quote.amount),
                    amount=exact,
                    call=transfer_call(rail.treasury, quote.amount),
                    uri=uri,
                    qr_code=base_url + CODE_PATH.replace("{quoteId}", quote.quote_id),
                    not_before=quote.issued_at,
                    not_after=quote.expires_at,
                ),
                claim=ClaimStep(
                    url=base_url + CLAIM_PATH,
                    headers={"Content-Type": "application/json", "Idempotency-Key": quote.quote_id},
                    body=ExampleClaim(
                        quote_id=quote.quote_id,
                        transaction_hash="0x<the transaction's hash>",
                        quote_hash=quote.quote_hash,
                        payment_requirement_hash=quote.requirement_hash,
                    ),
                    proof_required=rail.needs_proof(quote.amount),
                    proof=claim_typed_data(quote.quote_hash, rail.chain_id),
                    operator=operator_step(quote.quote_hash, quote.operator, rail.chain_id, base_url)
                    if quote.names_operator
                    else None,
                    not_after=quote.amount_held_until,
                ),
                receipt=base_url + RECEIPT_PATH,
                plans=base_url + PLANS_PATH,
            ),
            warnings=list(warnings),
        ),
    )


def payment_uri(amount: int, rail: PaymentRail) -> str:
    """Returns the transfer as an EIP-681 link."""
    asset, treasury = checksum_address(rail.asset), checksum_address(rail.treasury)
    return f"ethereum:{asset}@{rail.chain_id}/transfer?address={treasury}&uint256={amount}"


def transfer_call(recipient: str, amount: int) -> str:
    """Returns the call data of ERC-20's `transfer(address,uint256)`."""
    return "0xa9059cbb" + recipient[2:].rjust(64, "0") + f"{amount:064x}"


def qr_code(text: str) -> str:
    """Returns a QR code of `text` as SVG."""
    stem = text[: max(len(text.rstrip(string.digits)), len(text) - _VARYING)]
    stencil = _stencil(stem, len(text) - len(stem))
    modules = stencil.blank
    for digit, flips in zip(text[len(stem) :], stencil.flips, strict=True):
        modules ^= reduce(xor, (flip for bit, flip in enumerate(flips) if int(digit) >> bit & 1), 0)
    side, eighths, drawn = stencil.size, -(-stencil.size // 8), _drawn_eighths()
    rows = ((modules >> row * side & (1 << side) - 1) << eighths * 8 - side for row in range(side))
    path = "".join(
        f"M{_QR_BORDER} {row + _QR_BORDER}.5" + "".join([drawn[eighth] for eighth in bits.to_bytes(eighths)])
        for row, bits in enumerate(rows)
    )
    whole = side + 2 * _QR_BORDER
    return (
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{whole * _QR_SCALE}' height='{whole * _QR_SCALE}' "
        f"viewBox='0 0 {whole} {whole}'><rect width='100%' height='100%' fill='#fff'/>"
        f"<path stroke='#000' d='{path}'/></svg>"
    )


@cache
def _drawn_eighths() -> list[str]:
    """Returns, for each byte, the path over eight modules of a row: lines if they are dark (1), moves if light."""
    return [
        "".join(f"h{len(run)}" if run[0] == "1" else f"m{len(run)} 0" for run in re.findall("0+|1+", f"{eight:08b}"))
        for eight in range(256)
    ]


@dataclass(frozen=True, slots=True)
class _Stencil:
    """The code of a text that ends in zeros, and the modules that each bit of those digits flips.

    Both are numbers with one bit per module.
    """

    size: int
    blank: int
    flips: tuple[tuple[int, ...], ...]


@lru_cache(maxsize=8)
def _stencil(stem: str, digits: int) -> _Stencil:
    """Computes a stencil once for all codes with the same stem.

    Codes with the same mask are affine in the bits of their text: each bit flips the same modules, regardless of the
    other bits. The links of a plan's quotes differ only in their last digits, so a code is the XOR of parts that segno
    draws once per process. That takes 0.3 ms of CPU per code instead of 2.7.

    Example: code("…12") = code("…00") ^ flips of bit 0 of the tens ^ flips of bit 1 of the ones.
    """
    size, blank = _drawn(stem + "0" * digits)
    flips = tuple(
        tuple(_drawn(f"{stem}{'0' * place}{1 << bit}{'0' * (digits - place - 1)}")[1] ^ blank for bit in range(4))
        for place in range(digits)
    )
    return _Stencil(size, blank, flips)


def _drawn(text: str) -> tuple[int, int]:
    """Returns the modules per side, and the code's modules: first row lowest, first module of a row highest."""
    import segno

    # On a screen, readers need neither more redundancy nor the best mask.
    code = segno.make(text, mode="byte", error="l", boost_error=False, mask=_QR_MASK, micro=False)
    rows = [int("".join(map(str, row)), 2) for row in code.matrix]
    return len(rows), sum(row << (number * len(rows)) for number, row in enumerate(rows))
