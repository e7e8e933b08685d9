"""Creates the supplementary quote with which a payer who sent too little pays the rest of the first quote."""

import json
from dataclasses import replace
from datetime import datetime

from contracts.access.cases import Case
from contracts.access.quotes import QUOTE_TTL, Quote
from contracts.access.rail import usd_of
from contracts.canonical import canonical_json, sha256_hex
from contracts.times import utc_seconds


def make_supplement(
    first: Quote, case: Case, missing: int, *, quote_id: str, nonce: str, amount: int, now: datetime
) -> Quote:
    """Creates the quote for the amount `missing` from `first`. `amount` is `missing`, or the next one that no other
    open quote of the payer has.

    Chain, coin, recipient, payer, plan and names are those of the first quote. `nonce` is 32 random hex digits.
    """
    issued_at = now.replace(microsecond=0)
    expires_at = issued_at + QUOTE_TTL
    requirement = json.loads(first.requirement_json)
    requirement |= {
        "amount": str(amount),
        "extra": requirement["extra"] | {"quoteId": quote_id, "nonce": nonce},
    }
    requirement_json = canonical_json(requirement).decode()
    requirement_hash = sha256_hex(requirement_json.encode())
    terms = json.loads(first.quote_json) | {
        "quoteId": quote_id,
        "amount": str(amount),
        "price": {"amount": usd_of(missing), "currency": "USD"},
        "nonce": nonce,
        "issuedAt": utc_seconds(issued_at),
        "expiresAt": utc_seconds(expires_at),
        "paymentRequirementHash": requirement_hash,
        "supplementTo": {"quoteId": first.quote_id, "caseId": case.case_id},
    }
    quote_json = canonical_json(terms).decode()
    return replace(
        first,
        quote_id=quote_id,
        amount=amount,
        issued_at=issued_at,
        expires_at=expires_at,
        quote_json=quote_json,
        requirement_json=requirement_json,
        quote_hash=sha256_hex(quote_json.encode()),
        requirement_hash=requirement_hash,
    )


def is_supplement(quote: Quote) -> bool:
    """Decides, from a quote's bytes, whether it is for the rest of another quote's price."""
    return "supplementTo" in json.loads(quote.quote_json)
