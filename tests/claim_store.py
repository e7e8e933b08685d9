"""Paid quotes in a ledger: the starting point for tests of the issuing transaction, and what must hold after it."""

from __future__ import annotations

import secrets
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta

from claim_payments import TREASURY, USDC
from forked import ForkedProcess, forked
from ledger_process import MASTER_SECRET
from sqlalchemy import text

from contracts.access.matching import Match, Transfer
from contracts.access.plans import load_plans
from contracts.access.provider_views import BlockView
from contracts.access.quotes import Quote, QuoteRequest, free_amount, make_quote
from contracts.access.rail import PaymentRail
from contracts.access.signing import SigningKey, key_text, new_private_key, parse_key_set
from contracts.secrets import derive_secrets
from contracts.settings import Settings
from warehouse.access.claims import amounts_held, keep_quote
from warehouse.access.issue import Issued, Issuer, issue_claim
from warehouse.ledger.ledger import Ledger, Transaction, open_ledger

NOW = datetime(2027, 1, 15, 8, tzinfo=UTC)
PAYER = "0x" + "9a" * 20
PLANS = load_plans()
SECRETS = derive_secrets(MASTER_SECRET)
RAIL = PaymentRail(8453, USDC, TREASURY, providers=2, confirmations=3, proof_above=None, missing=())


def signing_key() -> SigningKey:
    return parse_key_set(key_text(new_private_key()), "a test").keys[0]


ISSUER = Issuer(RAIL, "http://svc.test", SECRETS, signing_key())


def open_quote(
    tx: Transaction, *, payer: str = PAYER, plan: str = "api_basic_monthly", now: datetime = NOW, amount: int = 0
) -> Quote:
    """Stores and returns a new quote of `payer`, with a free amount unless one is given."""
    asked = QuoteRequest(payer_address=payer, plan_id=plan)
    held = amounts_held(tx, payer, now=now)
    quote = make_quote(
        asked,
        PLANS[plan],
        RAIL,
        "http://svc.test",
        quote_id=f"quote_{secrets.token_hex(16)}",
        nonce=secrets.token_hex(16),
        amount=amount or free_amount(PLANS[plan].price, held, secrets.randbelow(10_000)),
        now=now,
    )
    keep_quote(tx, quote, ISSUER.signer.sign(quote.quote_hash))
    return quote


def matched(quote: Quote, position: int = 0) -> Match:
    """Returns what verification finds if the log at `position` pays the quote."""
    transfer = Transfer(position, USDC, quote.payer, TREASURY, quote.amount)
    block = BlockView(7, "0x" + "bb" * 32, int((quote.issued_at + timedelta(seconds=30)).timestamp()))
    return Match(transfer, block, 17)


def transaction_hash() -> str:
    return "0x" + secrets.token_hex(32)


def issue(tx: Transaction, quote: Quote, transaction: str, position: int = 0, **options: object) -> Issued:
    """Redeems without checking whether quote or transfer were used before, so that only the store's own constraints
    apply."""
    return issue_claim(tx, ISSUER, quote, matched(quote, position), transaction, **{"now": NOW} | options)  # type: ignore[arg-type]


def count(ledger: Ledger, table: str, where: str = "true") -> int:
    with ledger._readers.begin() as connection:
        return int(connection.execute(text(f"select count(*) from {table} where {where}")).scalar_one())


UNSOUND = {
    "a claim without a key": """select count(*) from access_claims c
        join access_quotes q on q.quote_id = c.quote_id
        where q.plan_id not like 'call_%' and not exists (select 1 from api_keys k where k.claim_id = c.claim_id)""",
    "a key for a single call": """select count(*) from access_claims c join access_quotes q on q.quote_id = c.quote_id
        join api_keys k on k.claim_id = c.claim_id where q.plan_id like 'call_%'""",
    "a signed payment that is paid without a claim": """select count(*) from access_authorizations a
        where (a.state = 'paid') <> exists (select 1 from access_claims c where c.quote_id = a.quote_id)""",
    "a nonce of two signed payments": """select count(*) from (select payment_id from access_relays
        where lost = 0 and payment_id is not null group by payment_id having count(*) > 1) twice""",
    "a nonce without a signed transaction": """select count(*) from access_relays r where not exists
        (select 1 from access_relayed_transactions t where t.relayer = r.relayer and t.nonce = r.nonce)""",
    "a paid key without a claim": """select count(*) from api_keys k where k.claim_id is not null and not exists
        (select 1 from access_claims c where c.claim_id = k.claim_id)""",
    "two keys alive for a claim": """select count(*) from (select claim_id from api_keys
        where claim_id is not null and state <> 'revoked' group by claim_id having count(*) > 1) twice""",
    "a claim without a receipt": """select count(*) from access_claims c where not exists
        (select 1 from access_receipts r where r.claim_id = c.claim_id and r.receipt_id = c.receipt_id)""",
    "a receipt without a claim": """select count(*) from access_receipts r where not exists
        (select 1 from access_claims c where c.claim_id = r.claim_id)""",
    "two claims of a quote": """select count(*) from
        (select quote_id from access_claims group by quote_id having count(*) > 1) twice""",
    "two claims of a transfer": """select count(*) from (select 1 from access_payments
        group by chain_id, transaction_hash, log_position having count(*) > 1) twice""",
    "a claim without its own payment": """select count(*) from access_claims c where not exists
        (select 1 from access_payments p where p.claim_id = c.claim_id and p.quote_id = c.quote_id
            and p.transaction_hash = c.transaction_hash and p.log_position = c.log_position)""",
    "a claim of another amount than its payments": """select count(*) from access_claims c where c.amount <>
        (select sum(p.amount) from access_payments p where p.claim_id = c.claim_id)""",
    "a claimed quote without a claim": """select count(*) from access_quotes q where q.state = 'claimed'
        and not exists (select 1 from access_payments p where p.quote_id = q.quote_id)""",
    "a claim of a quote that is still open": """select count(*) from access_claims c
        join access_quotes q on q.quote_id = c.quote_id where q.state <> 'claimed'""",
    "a claim of another payer than its quote": """select count(*) from access_claims c
        join access_quotes q on q.quote_id = c.quote_id where q.payer <> c.payer""",
    "a payment of another amount than its quote and without a case": """select count(*) from access_payments p
        join access_quotes q on q.quote_id = p.quote_id where q.amount <> p.amount and not exists
        (select 1 from access_cases k where k.transaction_hash = p.transaction_hash
            and k.log_position = p.log_position)""",
    "money filed under a quote that does not ask its sender": """select count(*) from access_cases k
        join access_quotes q on q.quote_id = k.quote_id where q.payer <> k.sender""",
    "two open quotes of a payer with one amount": """select count(*) from (select 1 from access_quotes
        where state = 'open' group by payer, amount having count(*) > 1) twice""",
    "a claim that the feed does not know": """select count(*) from access_claims c where not exists
        (select 1 from ledger_changes f where f.kind = 'claim' and f.entity_id = c.claim_id)""",
    "a case of a transfer that a claim uses, and that waits": """select count(*) from access_cases k
        join access_payments p on p.chain_id = k.chain_id and p.transaction_hash = k.transaction_hash
            and p.log_position = k.log_position
        where k.state in ('open', 'supplement_offered')""",
}


def unsound(ledger: Ledger) -> set[str]:
    """Returns the names of the states that must never occur and that the ledger contains."""
    with ledger._readers.begin() as connection:
        return {name for name, question in UNSOUND.items() if connection.execute(text(question)).scalar_one()}


def issuing_process(settings: Settings, rounds: int) -> AbstractContextManager[ForkedProcess]:
    """Starts another process, to kill or to race with, that issues paid quotes one after another and prints their
    claims."""
    return forked(issue_many, settings, rounds)


def issue_many(settings: Settings, rounds: int) -> None:
    ledger = open_ledger(settings, settings.data_dir, wait_s=60)
    for _ in range(rounds):
        with ledger.transaction() as tx:
            quote = open_quote(tx, payer="0x" + secrets.token_hex(20))
        with ledger.transaction() as tx:
            issued = issue(tx, quote, transaction_hash())
        print(issued.claim.claim_id, flush=True)
