"""Creates an installation's example quote, which the connect page and the description show to payers."""

from datetime import UTC, datetime
from typing import Any

from contracts.access.plans import load_plans
from contracts.access.quote_answers import quote_answer
from contracts.access.quotes import Quote, QuoteRequest, make_quote
from contracts.access.rail import PaymentRail
from contracts.access.signing import JWKS_PATH, KeySet
from contracts.canonical import sha256_hex

EXAMPLE_PLAN = "api_basic_monthly"
EXAMPLE_PAYER = "0x" + "70" * 20
"""An address whose key nobody has."""

_ISSUED_AT = datetime(2026, 1, 1, tzinfo=UTC)
"""A constant in the past, so that nobody pays the example and its bytes never change."""


def example_quote(rail: PaymentRail, base_url: str) -> Quote:
    """Returns the example quote. Raises the same errors as `make_quote` if the rail is not set up."""
    digits = sha256_hex(b"an example")[:32]
    plan = load_plans()[EXAMPLE_PLAN]
    return make_quote(
        QuoteRequest(payer_address=EXAMPLE_PAYER, plan_id=plan.id),
        plan,
        rail,
        base_url,
        quote_id=f"quote_{digits}",
        nonce=digits,
        amount=plan.price + int(digits[:3], 16),
        now=_ISSUED_AT,
    )


def example_quote_answer(rail: PaymentRail, base_url: str, keys: KeySet) -> dict[str, Any]:
    """Returns the whole answer with the example quote, signed with the current key of `keys`."""
    quote = example_quote(rail, base_url)
    signature = keys.signer(_ISSUED_AT).sign(quote.quote_hash)
    answer = quote_answer(quote, signature, rail, base_url, keys_url=base_url + JWKS_PATH)
    return answer.model_dump(mode="json", by_alias=True)
