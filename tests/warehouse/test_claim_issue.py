"""The one transaction that redeems a quote, held against faults in its middle, races, tampering and lost power.

| row of the promises | held here by |
|---|---|
| S1 one claim, one key | `test_a_fault_at_any_step...`, `test_a_quote_is_redeemed_once...`, races, kills |
| S2 one quote a transfer | `test_a_transfer_pays_one_quote...` |
| S3 batches | `test_each_transfer_of_a_batch_pays_one_quote` |
| S4 the payer's own amount | `test_no_two_open_quotes_of_a_payer_have_one_amount` |
| S12 reversal | `test_a_payment_that_leaves_the_chain_suspends_the_key_and_one_that_returns_reinstates_it` |
| S16 the key's text | `test_the_text_of_a_key_is_nowhere_in_the_ledger` |
| S19 monotone states | `test_no_state_of_quote_or_claim_ever_goes_back` |
| L5 money is recorded | `test_money_that_pays_nothing_is_recorded_once_however_often_it_is_claimed` |
| L6 durability | `test_every_connection_waits_for_the_disk`, `test_power_lost_at_any_byte_of_the_log...` |
| L7 leases | `test_a_lease_is_one_clients_until_it_runs_out` |
"""

from __future__ import annotations

import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from claim_payments import STRANGER, TREASURY, USDC
from claim_store import (
    NOW,
    PAYER,
    RAIL,
    SECRETS,
    UNSOUND,
    count,
    issue,
    issuing_process,
    matched,
    open_quote,
    transaction_hash,
    unsound,
)
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from contracts.commerce.matching import CLAIM_GRACE, Mismatch, Transfer
from contracts.commerce.quotes import QUOTE_TTL, is_intact, terms_of
from contracts.commerce.views import BlockView
from contracts.keys import ApiKey, parse_key
from contracts.settings import Settings
from warehouse.access import (
    LEASE_FOR,
    claim_of_quote,
    claims_not_final,
    close_quote,
    find_claim,
    find_quote,
    find_receipt,
    record_unmatched,
    reinstate_claim,
    release_lease,
    reverse_claim,
    settle_claim,
    settle_unmatched,
    take_lease,
    unmatched_payments,
    used_positions,
)
from warehouse.keys import KeyState, alive_key_of_claim
from warehouse.ledger import Ledger, Transaction, open_ledger

EVERYTHING = (
    "access_quotes",
    "access_claims",
    "access_receipts",
    "access_leases",
    "access_unmatched_payments",
    "api_keys",
    "ledger_changes",
)


def execute(ledger: Ledger, statement: str) -> None:
    """Change the ledger behind the back of the code under test."""
    with ledger._writers.begin() as connection:
        connection.execute(text(statement))


def rows_of(ledger: Ledger) -> dict[str, int]:
    return {table: count(ledger, table) for table in EVERYTHING}


class PowerCut(Exception):
    """The process ends here."""


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
    """End the issuing before its first, second, ... step until it gets through; what of it was wrong in between."""
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
    raise AssertionError("it never gets through")


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
        assert claims_not_final(reader) == [claim]
    assert kept is not None and kept.state == "claimed" and kept.quote == quote and is_intact(kept.quote)
    assert key is not None and key.key_id == issued.key_id and key.hint == issued.key.redacted
    assert (key.tier, key.owner, key.paid_until) == ("basic", PAYER, NOW + timedelta(days=30))
    assert receipt == issued.receipt
    assert unsound(ledger) == set()


def redeemed_twice(ledger: Ledger) -> bool:
    """Whether the store lets a quote be redeemed twice, by two transfers."""
    with ledger.transaction() as tx:
        quote = open_quote(tx)
    with ledger.transaction() as tx:
        issue(tx, quote, transaction_hash())
    try:
        with ledger.transaction() as tx:
            issue(tx, quote, transaction_hash())
    except IntegrityError:
        return False
    return True


def used_twice(ledger: Ledger) -> bool:
    """Whether the store lets a transfer pay two quotes."""
    with ledger.transaction() as tx:
        one, two = open_quote(tx, payer=STRANGER), open_quote(tx)
    paid_by = transaction_hash()
    with ledger.transaction() as tx:
        issue(tx, one, paid_by)
    try:
        with ledger.transaction() as tx:
            issue(tx, two, paid_by)
    except IntegrityError:
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
    execute(ledger, "drop index access_claims_of_transfer")
    assert used_twice(ledger)
    assert "two claims of a transfer" in unsound(ledger)


def test_no_two_open_quotes_of_a_payer_have_one_amount(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        quote = open_quote(tx)
    with pytest.raises(IntegrityError), ledger.transaction() as tx:
        open_quote(tx, amount=quote.amount)
    with ledger.transaction() as tx:
        open_quote(tx, payer=STRANGER, amount=quote.amount)
        close_quote(tx, quote.quote_id)
        open_quote(tx, amount=quote.amount)


def test_an_amount_is_held_as_long_as_its_quote_can_be_claimed(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        quote = open_quote(tx)
    last = quote.issued_at + QUOTE_TTL + CLAIM_GRACE
    with pytest.raises(IntegrityError), ledger.transaction() as tx:
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
        with pytest.raises(IntegrityError), ledger.transaction() as tx:
            issue(tx, quotes[3], paid_by, position)
    assert count(ledger, "access_claims") == count(ledger, "api_keys") == 3
    assert unsound(ledger) == set()


def test_threads_that_redeem_one_quote_at_once_get_one_key(ledger: Ledger) -> None:
    for _ in range(4):
        with ledger.transaction() as tx:
            quote = open_quote(tx, payer="0x" + transaction_hash()[2:42])
        paid_by = transaction_hash()
        together = threading.Barrier(8)

        def redeem(
            position: int, quote: Any = quote, paid_by: str = paid_by, together: threading.Barrier = together
        ) -> int:
            together.wait()
            try:
                with ledger.transaction() as tx:
                    issue(tx, quote, paid_by, position)
            except IntegrityError:
                return 0
            return 1

        with ThreadPoolExecutor(8) as pool:
            assert sum(pool.map(redeem, range(8))) == 1
    assert unsound(ledger) == set()
    assert count(ledger, "access_claims") == count(ledger, "api_keys") == 4


def test_four_processes_on_one_ledger_issue_all_and_double_none(ledger: Ledger, ledger_settings: Settings) -> None:
    with ExitStack() as stack:
        running = [stack.enter_context(issuing_process(ledger_settings, 25)) for _ in range(4)]
        said = [line for process in running for line in process.communicate(timeout=60)[0].split()]
    assert len(said) == len(set(said)) == count(ledger, "access_claims") == count(ledger, "api_keys") == 100
    assert unsound(ledger) == set()
    seqs = [change.seq for change in ledger.changes_after(0, 10_000)]
    assert seqs == list(range(1, len(seqs) + 1))


def test_issuing_that_is_killed_keeps_all_it_said_and_nothing_half(ledger: Ledger, ledger_settings: Settings) -> None:
    said: list[str] = []
    for kill_after in (0.02, 0.13):
        with issuing_process(ledger_settings, 100_000) as process:
            assert process.stdout is not None
            said += [process.stdout.readline().strip() for _ in range(3)]
            time.sleep(kill_after)
            process.kill()
            said += [line.strip() for line in process.stdout if line.endswith("\n")]
            process.wait()
        with ledger.transaction():
            """Waits until the server has noticed the death."""
        assert unsound(ledger) == set()
    with ledger.read() as reader:
        assert all(find_claim(reader, claim_id) is not None for claim_id in said)
    assert len(said) == len(set(said)) > 3


def test_every_connection_waits_for_the_disk(ledger: Ledger) -> None:
    """L6: what is acknowledged is on the disk. Connections are asked anew, and several at once."""
    with ExitStack() as stack:
        for engine in (ledger._writers, ledger._readers, ledger._readers):
            connection = stack.enter_context(engine.connect())
            if connection.dialect.name == "sqlite":
                assert connection.exec_driver_sql("pragma synchronous").scalar() == 2
                assert connection.exec_driver_sql("pragma journal_mode").scalar() == "wal"
            else:
                assert connection.exec_driver_sql("show synchronous_commit").scalar() == "on"
            connection.rollback()


FRAME_HEADER, WAL_HEADER = 24, 32


def acknowledged(ledger: Ledger, wal: Path, claims: int) -> list[tuple[int, str]]:
    """Issue claims; of each, how long the log was when it was acknowledged (all of that is synced), and its id."""
    sizes = []
    for _ in range(claims):
        with ledger.transaction() as tx:
            quote = open_quote(tx)
            issued = issue(tx, quote, transaction_hash())
        sizes.append((wal.stat().st_size, issued.claim.claim_id))
    return sizes


def test_power_lost_at_any_byte_of_the_log_keeps_what_was_acknowledged_before(tmp_path: Path) -> None:
    """The log is cut at, and within, every frame: all claims that were acknowledged up to there are whole."""
    settings = Settings(_env_file=None, data_dir=tmp_path / "live")
    ledger = open_ledger(settings, settings.data_dir)
    database, wal = settings.data_dir / "ledger.db", settings.data_dir / "ledger.db-wal"
    with ledger._writers.connect() as connection:
        connection.exec_driver_sql("rollback")
        connection.exec_driver_sql("pragma wal_checkpoint(truncate)").fetchall()
        page = connection.exec_driver_sql("pragma page_size").scalar()
    sizes = acknowledged(ledger, wal, 6)
    frame = FRAME_HEADER + page
    content = wal.read_bytes()
    cuts = sorted({at for start in range(WAL_HEADER, len(content) + 1, frame) for at in (start, start + frame // 2)})
    assert len(cuts) > 40
    for number, cut in enumerate([0, *[cut for cut in cuts if cut <= len(content)]]):
        lost = tmp_path / f"lost-{number}"
        lost.mkdir()
        shutil.copy(database, lost / "ledger.db")
        (lost / "ledger.db-wal").write_bytes(content[:cut])
        after = open_ledger(settings, lost)
        held = {claim_id for _, claim_id in sizes if _is_held(after, claim_id)}
        assert held == {claim_id for size, claim_id in sizes if size <= cut}
        assert unsound(after) == set()
        assert after.head() == len(after.changes_after(0, 1_000))
        with after.transaction() as tx:
            issue(tx, open_quote(tx), transaction_hash())
        after.close()
        shutil.rmtree(lost)
    ledger.close()


def test_a_torn_or_foreign_frame_ends_the_log_and_spoils_nothing_before_it(tmp_path: Path) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path / "live")
    ledger = open_ledger(settings, settings.data_dir)
    database, wal = settings.data_dir / "ledger.db", settings.data_dir / "ledger.db-wal"
    sizes = acknowledged(ledger, wal, 3)
    content = bytearray(wal.read_bytes())
    (_, first), (synced, second), (_, third) = sizes
    content[synced + FRAME_HEADER + 100] ^= 0xFF
    torn = tmp_path / "torn"
    torn.mkdir()
    shutil.copy(database, torn / "ledger.db")
    (torn / "ledger.db-wal").write_bytes(content)
    after = open_ledger(settings, torn)
    assert [_is_held(after, claim_id) for claim_id in (first, second, third)] == [True, True, False]
    assert unsound(after) == set()
    after.close()
    ledger.close()


def _is_held(ledger: Ledger, claim_id: str) -> bool:
    with ledger.read() as reader:
        return find_claim(reader, claim_id) is not None


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
    """Whether the receipt of a new claim holds the key, and its hint."""
    with ledger.transaction() as tx:
        issued = issue(tx, open_quote(tx), transaction_hash())
    assert "quoteHash" not in issued.receipt.body_json
    return issued.key.reveal() in issued.receipt.body_json, issued.key.redacted in issued.receipt.body_json


def test_a_receipt_shows_the_key_by_its_hint_alone(ledger: Ledger) -> None:
    assert shown_in_receipt(ledger) == (False, True)


def test_the_seeded_bug_leak_is_caught(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ApiKey, "redacted", property(ApiKey.reveal))
    assert shown_in_receipt(ledger)[0]


COLUMNS = {
    "amount": "amount = amount - 1",
    "payer": f"payer = '{STRANGER}'",
    "owner": f"owner = '{STRANGER}'",
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
def test_a_quote_that_was_tampered_with_is_seen(ledger: Ledger, column: str) -> None:
    """S17: whatever is changed of a kept quote, it is refused, or what counts is unchanged."""
    with ledger.transaction() as tx:
        quote = open_quote(tx)
    execute(ledger, f"update access_quotes set {COLUMNS[column]}")
    with ledger.read() as reader:
        kept = find_quote(reader, quote.quote_id)
    assert kept is not None and kept.quote != quote
    assert not is_intact(kept.quote)
    assert terms_of(quote, RAIL).amount == quote.amount


def test_a_payment_that_leaves_the_chain_suspends_the_key_and_one_that_returns_reinstates_it(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        claim = issue(tx, open_quote(tx), transaction_hash()).claim

    def state() -> tuple[str, KeyState]:
        with ledger.read() as reader:
            held, key = find_claim(reader, claim.claim_id), alive_key_of_claim(reader, claim.claim_id)
        assert held is not None and key is not None
        return held.state, key.state

    assert state() == ("issued", KeyState.ACTIVE)
    for _ in range(2):
        with ledger.transaction() as tx:
            assert reverse_claim(tx, claim, now=NOW)
            assert not reverse_claim(tx, claim, now=NOW)
        assert state() == ("reversed", KeyState.SUSPENDED)
        with ledger.transaction() as tx:
            back = replace(matched(open_quote(tx)).block, number=9, hash="0x" + "99" * 32)
            assert reinstate_claim(tx, claim, back, now=NOW)
            assert not reinstate_claim(tx, claim, back, now=NOW)
        assert state() == ("issued", KeyState.ACTIVE)
    with ledger.transaction() as tx:
        assert settle_claim(tx, claim, now=NOW)
        assert not settle_claim(tx, claim, now=NOW)
        assert claims_not_final(tx) == []
        held = find_claim(tx, claim.claim_id)
        assert held is not None and (held.block_number, held.block_hash) == (9, "0x" + "99" * 32)
    assert unsound(ledger) == set()
    assert count(ledger, "api_keys") == 1


def test_no_state_of_quote_or_claim_ever_goes_back(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        quote = open_quote(tx)
        assert close_quote(tx, quote.quote_id)
        assert not close_quote(tx, quote.quote_id)
        assert tx.run("access_move_quote", quote_id=quote.quote_id, state="open") == 0
        assert tx.run("access_move_quote", quote_id=quote.quote_id, state="expired") == 0
    assert count(ledger, "access_quotes", "state = 'claimed'") == 1


def mismatch(*positions: int, code: Any = "amount_mismatch", amount: int = 1) -> Mismatch:
    found = tuple(Transfer(each, USDC, PAYER, TREASURY, amount) for each in positions)
    return Mismatch(code, found, BlockView(7, "0x" + "bb" * 32, 1))


def test_money_that_pays_nothing_is_recorded_once_however_often_it_is_claimed(ledger: Ledger) -> None:
    paid_by = transaction_hash()
    with ledger.transaction() as tx:
        quote = open_quote(tx)
    known = {"chain_id": 8453, "transaction_hash": paid_by, "quote_id": quote.quote_id, "now": NOW}
    new = []
    for found in (mismatch(0), mismatch(0), mismatch(0, 3), mismatch(3, code="payment_late"), mismatch()):
        with ledger.transaction() as tx:
            new.append(record_unmatched(tx, found, **known))
    assert new == [1, 0, 1, 0, 0]
    with ledger.transaction() as tx:
        first, second = sorted(unmatched_payments(tx), key=lambda each: each.transfer.position)
        assert (first.code, first.transfer.amount, first.quote_id) == ("amount_mismatch", 1, quote.quote_id)
        assert settle_unmatched(tx, first.payment_id, "refunded", now=NOW, refund_transaction_hash=paid_by)
        assert not settle_unmatched(tx, first.payment_id, "issued", now=NOW)
        assert [each.payment_id for each in unmatched_payments(tx)] == [second.payment_id]


def test_money_of_any_size_is_recorded_exactly(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        quote = open_quote(tx)
        found = mismatch(0, code="wrong_asset", amount=2**256 - 1)
        record_unmatched(
            tx, found, chain_id=8453, transaction_hash=transaction_hash(), quote_id=quote.quote_id, now=NOW
        )
        assert unmatched_payments(tx)[0].transfer.amount == 2**256 - 1


def test_money_that_a_later_quote_claims_is_no_longer_unmatched(ledger: Ledger) -> None:
    paid_by = transaction_hash()
    with ledger.transaction() as tx:
        quote, other = open_quote(tx), open_quote(tx)
        record_unmatched(tx, mismatch(0), chain_id=8453, transaction_hash=paid_by, quote_id=other.quote_id, now=NOW)
    with ledger.transaction() as tx:
        issue(tx, quote, paid_by)
        assert unmatched_payments(tx) == []
        assert len(unmatched_payments(tx, "claimed")) == 1
    assert unsound(ledger) == set()


def test_a_lease_is_one_clients_until_it_runs_out(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        quote = open_quote(tx)
        assert take_lease(tx, quote.quote_id, "one", now=NOW)
        assert not take_lease(tx, quote.quote_id, "two", now=NOW + LEASE_FOR - timedelta(seconds=1))
        release_lease(tx, quote.quote_id, "two")
        assert not take_lease(tx, quote.quote_id, "two", now=NOW)
        assert take_lease(tx, quote.quote_id, "two", now=NOW + LEASE_FOR)
        release_lease(tx, quote.quote_id, "one")
        assert not take_lease(tx, quote.quote_id, "three", now=NOW + LEASE_FOR)
        release_lease(tx, quote.quote_id, "two")
        assert take_lease(tx, quote.quote_id, "three", now=NOW)


def test_of_many_that_want_a_lease_at_once_one_gets_it(ledger: Ledger) -> None:
    with ledger.transaction() as tx:
        quote = open_quote(tx)
    together = threading.Barrier(8)

    def take(number: int) -> bool:
        together.wait()
        with ledger.transaction() as tx:
            return take_lease(tx, quote.quote_id, f"client-{number}", now=NOW)

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(take, range(8))) == 1


def test_every_rule_of_soundness_can_be_broken(ledger: Ledger) -> None:
    """The questions are asked of a ledger in which each of them has something to find."""
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
        "a claim of another amount or payer than its quote",
        "a claim that the feed does not know",
    }
    assert found < set(UNSOUND)
    assert SECRETS.pepper != SECRETS.sealing_key
