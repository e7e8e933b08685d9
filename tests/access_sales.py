"""Quotes created and redeemed in a ledger, without a chain, as the starting point of tests around claims."""

from __future__ import annotations

from datetime import UTC, datetime

from contracts.access.cases import Filing
from contracts.access.matching import Match, Transfer
from contracts.access.plans import load_plans
from contracts.access.provider_views import BlockView
from contracts.access.quotes import Quote, QuoteRequest, make_quote
from contracts.access.rail import PaymentRail
from contracts.access.signing import KeySet, SigningKey, new_private_key, thumbprint
from contracts.secrets import derive_secrets
from warehouse.access.cases import record_money
from warehouse.access.claims import keep_quote
from warehouse.access.issue import Issued, Issuer, issue_claim
from warehouse.ledger.ledger import Ledger

USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
TREASURY = "0x" + "7e" * 20
PAYER = "0x" + "a1" * 20
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
BASE_URL = "http://test"
_PRIVATE = new_private_key()
SIGNER = SigningKey(thumbprint(_PRIVATE.public_key()), datetime(1970, 1, 1, tzinfo=UTC), _PRIVATE)
SECRETS = derive_secrets("0123456789abcdef" * 4)


def rail(
    *, asset: str = USDC, treasury: str = TREASURY, providers: int = 1, confirmations: int | None = 2
) -> PaymentRail:
    return PaymentRail(8453, asset, treasury, providers, confirmations, None, ())


def issuer(on: PaymentRail | None = None) -> Issuer:
    return Issuer(on or rail(), BASE_URL, SECRETS, SIGNER)


def sell(
    ledger: Ledger, number: int = 1, *, plan: str = "api_basic_monthly", payer: str = PAYER, now: datetime = NOON
) -> Quote:
    """Creates a quote; `number` distinguishes it from the payer's other quotes."""
    chosen = load_plans()[plan]
    quote = make_quote(
        QuoteRequest(payer_address=payer, plan_id=plan),
        chosen,
        rail(),
        BASE_URL,
        quote_id=f"quote_{number:032x}",
        nonce=f"{number:032x}",
        amount=chosen.price + number,
        now=now,
    )
    with ledger.transaction() as tx:
        keep_quote(tx, quote, SIGNER.sign(quote.quote_hash))
    return quote


def transaction_of(number: int) -> str:
    return f"0x{number:064x}"


def match_of(quote: Quote, *, position: int = 0, block: BlockView | None = None) -> Match:
    """Returns the transfer that pays a quote."""
    found = block or BlockView(100, "0x" + "bb" * 32, int(quote.issued_at.timestamp()) + 10)
    return Match(Transfer(position, USDC, quote.payer, TREASURY, quote.amount), found, found.number + 5)


def redeem(
    ledger: Ledger, quote: Quote, *, match: Match | None = None, transaction: str | None = None, now: datetime = NOON
) -> Issued:
    """Issues a claim for a quote."""
    paid_in = transaction or "0x" + quote.quote_hash
    with ledger.transaction() as tx:
        return issue_claim(tx, issuer(), quote, match or match_of(quote), paid_in, now=now)


def miss(ledger: Ledger, quote: Quote, code: str = "amount_mismatch", amount: int = 7, now: datetime = NOON) -> None:
    """Records money that arrived for a quote and pays nothing."""
    found = Transfer(0, USDC, quote.payer, TREASURY, amount)
    block = BlockView(101, "0x" + "cc" * 32, int(now.timestamp()))
    with ledger.transaction() as tx:
        record_money(
            tx,
            [found],
            block,
            code,
            Filing(quote, proven=False),
            chain_id=8453,
            transaction_hash="0x" + quote.requirement_hash,
            now=now,
        )


def key_set() -> KeySet:
    return KeySet((SIGNER,))
