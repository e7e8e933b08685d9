"""The one transaction that redeems a quote, tried against faults in its middle, forgetful programs and tampering.

| row of the promises | held here by |
|---|---|
| S1 one claim, one key | `test_a_fault_at_any_step...`, `test_a_quote_is_redeemed_once...` |
| S2 one quote a transfer | `test_a_transfer_pays_one_quote...` |
| S3 batches | `test_each_transfer_of_a_batch_pays_one_quote` |
| S4 the payer's own amount | `test_no_two_open_quotes_of_a_payer_have_one_amount` |
| S16 the key's text | `test_the_text_of_a_key_is_nowhere_in_the_ledger` |

Races, kills and lost power: `test_claim_durability.py`. States, unmatched money and leases: `test_claim_states.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest
from claim_payments import STRANGER
from claim_store import (
    NOW,
    PAYER,
    RAIL,
    SECRETS,
    UNSOUND,
    count,
    issue,
    open_quote,
    transaction_hash,
    unsound,
)
from ledger_process import BROKEN_CONSTRAINT
from sqlalchemy import text

from contracts.access.api_keys import ApiKey, parse_key
from contracts.access.matching import CLAIM_GRACE
from contracts.access.quotes import QUOTE_TTL, is_intact, terms_of
from contracts.settings import Settings
from warehouse.access.claims import (
    claim_of_quote,
    close_quote,
    find_claim,
    find_quote,
    find_receipt,
    payments_not_final,
    used_positions,
)
from warehouse.access.keys import alive_key_of_claim
from warehouse.ledger.ledger import Ledger, Transaction

EVERYTHING = (
    "access_quotes",
    "access_claims",
    "access_receipts",
    "access_leases",
    "access_cases",
    "api_keys",
    "ledger_changes",
)


def execute(ledger: Ledger, statement: str) -> None:
    """Changes the ledger without the knowledge of the code under test."""
    with ledger._writers.begin() as connection:
        connection.execute(text(statement))


def rows_of(ledger: Ledger) -> dict[str, int]:
    return {table: count(ledger, table) for table in EVERYTHING}


class PowerCut(Exception):
    """Stands for the end of the process."""


class Dying(Transaction):
    """A transaction that ends before its `steps`-th write."""

    def __init__(self, tx: Transaction, steps: int) -> None:
        super().__init__(tx._connection, tx._clock)
        self.left = steps

    def run(self, step: str, **parameters: Any) -> int:
        if self.left == 0:
            raise PowerCut
        self.left -= 1
        return super().run(step, **parameters)


class Split(Transaction):
    """The seeded bug `split_tx`: every step commits on its own, and the process ends before the `steps`-th."""

    def __init__(self, ledger: Ledger, steps: int) -> None:
        self.ledger = ledger
        self.left = steps

    def run(self, step: str, **parameters: Any) -> int:
        if self.left == 0:
            raise PowerCut
        self.left -= 1
        with self.ledger.transaction() as tx:
            return tx.run(step, **parameters)

    def row(self, question: str, **parameters: Any) -> Any:
        with self.ledger.read() as reader:
            return reader.row(question, **parameters)

    def changed(self, kind: str, entity_id: str) -> int:
        with self.ledger.transaction() as tx:
            return tx.changed(kind, entity_id)


@contextmanager
def whole(ledger: Ledger, steps: int) -> Iterator[Transaction]:
    with ledger.transaction() as tx:
        yield Dying(tx, steps)


@contextmanager
def split(ledger: Ledger, steps: int) -> Iterator[Transaction]:
    yield Split(ledger, steps)


def broken_by_a_fault(ledger: Ledger, transaction: Any) -> set[str]:
    """Aborts the issuing before its first, second, ... step until it succeeds, and returns the faults seen in
    between."""
    wrong: set[str] = set()
    for steps in range(40):
        with ledger.transaction() as tx:
            quote = open_quote(tx)
        before = rows_of(ledger)
        try:
            with transaction(ledger, steps) as tx:
                issue(tx, quote, transaction_hash())
        except PowerCut:
            wrong |= unsound(ledger)
            if rows_of(ledger) != before:
                wrong.add("something of a claim that was not issued")
        else:
            assert steps > 3
            return wrong | unsound(ledger)
    raise AssertionError("it never succeeds")


def test_a_fault_at_any_step_of_issuing_leaves_nothing_of_it(ledger: Ledger) -> None:
    assert broken_by_a_fault(ledger, whole) == set()


def test_the_seeded_bug_split_tx_is_caught(ledger: Ledger) -> None:
    assert "a claim without a key" in broken_by_a_fault(ledger, split)


def test_issuing_makes_claim_key_receipt_and_feed_in_one_step(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        quote = open_quote(tx)
    paid_by = transaction_hash()
    with ledger.transaction() as tx:
        issued = issue(tx, quote, paid_by)
    with ledger.read() as reader:
        claim = claim_of_quote(reader, quote.quote_id)
        kept = find_quote(reader, quote.quote_id)
        key = alive_key_of_claim(reader, issued.claim.claim_id)
        receipt = find_receipt(reader, issued.claim.claim_id)
        assert used_positions(reader, 8453, paid_by) == {0}
        assert claim == find_claim(reader, issued.claim.claim_id) == issued.claim
        assert [payment.claim_id for payment in payments_not_final(reader)] == [issued.claim.claim_id]
    assert kept is not None and kept.state == "claimed" and kept.quote == quote and is_intact(kept.quote)
    assert key is not None and key.key_id == issued.key_id and key.hint == issued.key.redacted
    assert (key.tier, key.owner, key.paid_until) == ("basic", PAYER, NOW + timedelta(days=30))
    assert receipt == issued.receipt
    assert unsound(ledger) == set()


def redeemed_twice(ledger: Ledger) -> bool:
    """Decides whether the store lets a quote be redeemed twice, by two transfers."""
    with ledger.transaction() as tx:
        quote = open_quote(tx)
    with ledger.transaction() as tx:
        issue(tx, quote, transaction_hash())
    try:
        with ledger.transaction() as tx:
            issue(tx, quote, transaction_hash())
    except BROKEN_CONSTRAINT:
        return False
    return True


def used_twice(ledger: Ledger) -> bool:
    """Decides whether the store lets a transfer pay two quotes."""
    with ledger.transaction() as tx:
        one, two = open_quote(tx, payer=STRANGER), open_quote(tx)
    paid_by = transaction_hash()
    with ledger.transaction() as tx:
        issue(tx, one, paid_by)
    try:
        with ledger.transaction() as tx:
            issue(tx, two, paid_by)
    except BROKEN_CONSTRAINT:
        return False
    return True


def test_a_quote_is_redeemed_once_whoever_forgets_to_look(ledger: Ledger) -> None:
    assert not redeemed_twice(ledger)
    assert unsound(ledger) == set()
    assert count(ledger, "access_claims") == count(ledger, "api_keys") == 1


def test_a_transfer_pays_one_quote_whoever_forgets_to_look(ledger: Ledger) -> None:
    assert not used_twice(ledger)
    assert unsound(ledger) == set()
    assert count(ledger, "access_quotes", "state = 'open'") == 1


def test_the_seeded_bug_no_uq_quote_is_caught(ledger: Ledger) -> None:
    execute(ledger, "drop index access_claims_of_quote")
    assert redeemed_twice(ledger)
    assert "two claims of a quote" in unsound(ledger)


def test_the_seeded_bug_no_uq_tx_is_caught(ledger: Ledger) -> None:
    execute(ledger, "drop index access_payments_of_transfer")
    assert used_twice(ledger)
    assert "two claims of a transfer" in unsound(ledger)


def test_no_two_open_quotes_of_a_payer_have_one_amount(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        quote = open_quote(tx)
    with pytest.raises(BROKEN_CONSTRAINT), ledger.transaction() as tx:
        open_quote(tx, amount=quote.amount)
    with ledger.transaction() as tx:
        open_quote(tx, payer=STRANGER, amount=quote.amount)
        close_quote(tx, quote.quote_id)
        open_quote(tx, amount=quote.amount)


def test_an_amount_is_held_as_long_as_its_quote_can_be_claimed(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        quote = open_quote(tx)
    last = quote.issued_at + QUOTE_TTL + CLAIM_GRACE
    with pytest.raises(BROKEN_CONSTRAINT), ledger.transaction() as tx:
        open_quote(tx, amount=quote.amount, now=last)
    with ledger.transaction() as tx:
        open_quote(tx, amount=quote.amount, now=last + timedelta(seconds=1))
    with ledger.read() as reader:
        kept = find_quote(reader, quote.quote_id)
        assert kept is not None and kept.state == "expired"


def test_each_transfer_of_a_batch_pays_one_quote(ledger: Ledger) -> None:
    paid_by = transaction_hash()
    with ledger.transaction() as tx:
        quotes = [open_quote(tx, payer=f"0x{number:040x}") for number in range(1, 5)]
    for position, quote in enumerate(quotes[:3]):
        with ledger.transaction() as tx:
            issue(tx, quote, paid_by, position)
    for position in range(3):
        with pytest.raises(BROKEN_CONSTRAINT), ledger.transaction() as tx:
            issue(tx, quotes[3], paid_by, position)
    assert count(ledger, "access_claims") == count(ledger, "api_keys") == 3
    assert unsound(ledger) == set()


def test_the_text_of_a_key_is_nowhere_in_the_ledger(ledger: Ledger, ledger_settings: Settings) -> None:
    keys = []
    for number in range(3):
        with ledger.transaction() as tx:
            issued = issue(tx, open_quote(tx), transaction_hash(), idempotency_digest=f"d{number}", request_digest="r")
            keys.append(issued.key)
    with ledger._readers.begin() as connection:
        held = "\n".join(
            repr(row) for table in EVERYTHING for row in connection.execute(text(f"select * from {table}")).fetchall()
        )
    assert keys[0].redacted in held
    for key in keys:
        assert parse_key(key.reveal()) is not None
        assert key.reveal() not in held
        assert key.reveal()[10:-6] not in held
    if ledger_settings.ledger_url is None:
        files = b"".join(path.read_bytes() for path in ledger_settings.data_dir.iterdir() if path.is_file())
        assert keys[0].redacted.rpartition("…")[2].encode() in files
        assert not any(key.reveal()[10:-6].encode() in files for key in keys)


def shown_in_receipt(ledger: Ledger) -> tuple[bool, bool]:
    """Returns whether the receipt of a new claim contains the key, and whether it contains its hint."""
    with ledger.transaction() as tx:
        issued = issue(tx, open_quote(tx), transaction_hash())
    assert "quoteHash" not in issued.receipt.body_json
    return issued.key.reveal() in issued.receipt.body_json, issued.key.redacted in issued.receipt.body_json


def test_a_receipt_shows_only_the_hint_of_the_key(ledger: Ledger) -> None:
    assert shown_in_receipt(ledger) == (False, True)


def test_the_seeded_bug_leak_is_caught(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ApiKey, "redacted", property(ApiKey.reveal))
    assert shown_in_receipt(ledger)[0]


COLUMNS = {
    "amount": "amount = amount - 1",
    "payer": f"payer = '{STRANGER}'",
    "operator": f"operator = '{STRANGER}'",
    "plan": "plan_id = 'api_pro_monthly'",
    "user": "user_id = 'somebody'",
    "agent": "agent_id = 'somebody'",
    "expiry": "expires_at = '2030-01-01T00:00:00.000000Z'",
    "issue": "issued_at = '2020-01-01T00:00:00.000000Z'",
    "requirement": "requirement_json = replace(requirement_json, 'exact', 'exacT')",
    "requirement_hash": "requirement_hash = quote_hash",
    "quote_hash": "quote_hash = requirement_hash",
    "amount_in_quote": """quote_json = replace(quote_json, '"amount":"9', '"amount":"1')""",
    "tier_in_quote": """quote_json = replace(quote_json, '"tier":"basic"', '"tier":"pro"')""",
    "spelling_of_quote": "quote_json = quote_json || ' '",
}


@pytest.mark.parametrize("column", COLUMNS)
def test_tampering_with_a_quote_is_detected(ledger: Ledger, column: str) -> None:
    """S17: whatever part of a stored quote is changed, the quote is refused, or everything that counts is unchanged."""
    with ledger.transaction() as tx:
        quote = open_quote(tx)
    execute(ledger, f"update access_quotes set {COLUMNS[column]}")
    with ledger.read() as reader:
        kept = find_quote(reader, quote.quote_id)
    assert kept is not None and kept.quote != quote
    assert not is_intact(kept.quote)
    assert terms_of(quote, RAIL).amount == quote.amount


def test_every_rule_of_soundness_can_be_broken(ledger: Ledger) -> None:
    """The queries run on a ledger in which each of them has something to find."""
    with ledger.transaction() as tx:
        issue(tx, open_quote(tx), transaction_hash())
    for statement in (
        "drop index access_quotes_amount_of_payer",
        "update access_quotes set state = 'open', amount = amount + 1",
        "delete from access_receipts",
        "update api_keys set claim_id = 'claim_gone'",
        "delete from ledger_changes where kind = 'claim'",
    ):
        execute(ledger, statement)
    found = unsound(ledger)
    assert found == {
        "a claim without a key",
        "a paid key without a claim",
        "a claim without a receipt",
        "a claim of a quote that is still open",
        "a payment of another amount than its quote and without a case",
        "a claim that the feed does not know",
    }
    assert found < set(UNSOUND)
    assert SECRETS.pepper != SECRETS.sealing_key
