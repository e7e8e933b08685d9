"""Issued claims are watched on a real chain: a payment that leaves it suspends the key, its return reinstates it (S12);
clock skew."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime
from typing import Any

import pytest
from keyed_service import ACTION, CHECK
from paid_service import PAYER, PaidService, selling
from patience import HANG_S
from patient_providers import patient_providers

from api.access.watcher import Watcher
from cli.demo.anvil import Anvil
from cli.demo.write import mined_receipt
from cli.run import held_blocks
from contracts.access.rail import rail_of
from contracts.settings import Settings
from pipelines.access.watch import claims_due, watch_claims
from warehouse.access.claims import find_claim, payments_not_final
from warehouse.access.keys import alive_key_of_claim, revoke_key
from warehouse.access.watch import apply_sightings, payments_to_watch


class Sold:
    """One paid claim, whose payment is in the newest block."""

    def __init__(self, paid: PaidService) -> None:
        self.paid = paid
        quote = paid.quoted(planId="api_basic_monthly")
        step = quote["data"]["next"]["pay"]
        paid.rpc.call("anvil_setBalance", PAYER.address, hex(10**18))
        signed = PAYER.sign_transaction(
            {
                "chainId": 8453,
                "nonce": int(paid.rpc.call("eth_getTransactionCount", PAYER.address, "latest"), 16),
                "to": step["asset"],
                "data": step["call"],
                "gas": 200_000,
                "maxFeePerGas": 10**11,
                "maxPriorityFeePerGas": 10**9,
                "value": 0,
            }
        )
        self.raw = signed.raw_transaction.to_0x_hex()
        self.land()
        self.transaction = signed.hash.to_0x_hex()
        answer = paid.claim(quote, self.transaction)
        assert answer.status_code == 201, answer.text
        self.claim_id = answer.json()["data"]["claim"]["claimId"]
        self.key = answer.json()["data"]["activationPacket"]["apiKey"]

    def land(self) -> int:
        """Sends the signed payment, the same each time, and returns the block that includes it."""
        return int(
            mined_receipt(self.paid.rpc, self.paid.rpc.call("eth_sendRawTransaction", self.raw))["blockNumber"], 16
        )

    def reorg(self, depth: int) -> None:
        """Replaces the newest blocks by empty ones."""
        self.paid.rpc.call("anvil_reorg", depth, [])

    def state(self) -> tuple[str, str, bool, int, str]:
        """Returns the states of claim and key, whether the claim is final, the status of a request with the key, and
        the receipt's status."""
        with self.paid.service.ledger.read() as reader:
            claim, key = find_claim(reader, self.claim_id), alive_key_of_claim(reader, self.claim_id)
        (answer,) = self.paid.service.ask(("POST", CHECK, {"X-Api-Key": self.key}, {"json": ACTION}))
        receipt = self.paid.get(f"/api/agent-access/claims/{self.claim_id}").json()["status"]
        assert claim is not None and key is not None
        return claim.state, key.state, claim.final, answer.status_code, receipt


@pytest.fixture
def sold(ledger_settings: Settings, anvil: Anvil) -> Any:
    # one confirmation settles a claim here, so that blocks above finality can be removed again
    with selling(ledger_settings, anvil, claim_confirmations=1) as paid:
        yield Sold(paid)


def by_api(sold: Sold) -> Counter[Any]:
    settings = sold.paid.service.settings
    watcher = Watcher(rail_of(settings), patient_providers(settings.rpc_urls), lambda: sold.paid.service.ledger)
    return asyncio.run(watcher.watch_claims())


def by_pipeline(sold: Sold) -> Counter[Any]:
    return watch_claims(sold.paid.service.settings, timeout_s=HANG_S)


WATCHERS = pytest.mark.parametrize("watch", [by_api, by_pipeline])

ISSUED, REVERSED = ("issued", "active", False, 200, "issued"), ("reversed", "suspended", False, 401, "reversed")
FINAL = ("issued", "active", True, 200, "issued")


@pytest.mark.both_engines
@WATCHERS
def test_a_payment_that_leaves_the_chain_suspends_the_key_and_one_that_is_back_reinstates_it(sold, watch) -> None:
    assert claims_due(sold.paid.service.settings, datetime.now(UTC)) == "a claim is not final"
    assert watch(sold) == {"stands": 1}
    assert sold.state() == ISSUED
    sold.reorg(1)
    assert watch(sold) == {"reversed": 1}
    assert watch(sold) == {"missing": 1}
    assert sold.state() == REVERSED
    sold.paid.bury(2)
    landed = sold.land()
    assert watch(sold) == {"reinstated": 1}
    assert watch(sold) == {"stands": 1}
    assert sold.state() == ISSUED
    with sold.paid.service.ledger.read() as reader:
        (payment,) = payments_not_final(reader)
    assert payment.block_number == landed
    sold.paid.bury(4)
    assert watch(sold) == {"final": 1}
    assert sold.state() == FINAL
    assert watch(sold) == {}
    assert claims_due(sold.paid.service.settings, datetime.now(UTC)) is None


def test_a_demo_chain_must_have_the_block_of_a_payment_that_is_no_longer_watched(sold) -> None:
    settings = sold.paid.service.settings
    assert by_api(sold) == {"stands": 1}
    assert held_blocks(settings, settings.data_dir) == []
    with sold.paid.service.ledger.read() as reader:
        (payment,) = payments_not_final(reader)
    sold.paid.bury(4)
    assert by_api(sold) == {"final": 1}
    assert held_blocks(settings, settings.data_dir) == [(payment.block_number, payment.block_hash)]


def test_a_payment_that_moved_between_two_checks_is_in_its_new_block(sold) -> None:
    sold.reorg(1)
    sold.paid.bury(1)
    landed = sold.land()
    assert by_api(sold) == {"reinstated": 1}
    assert sold.state() == ISSUED
    with sold.paid.service.ledger.read() as reader:
        (payment,) = payments_not_final(reader)
    assert payment.block_number == landed


def test_a_payment_that_leaves_the_chain_before_its_claim_issues_nothing(
    ledger_settings: Settings, anvil: Anvil
) -> None:
    with selling(ledger_settings, anvil, claim_confirmations=2) as paid:
        quote = paid.quoted()
        step = quote["data"]["next"]["pay"]
        transaction = paid.sent(PAYER.address, step["call"])["transactionHash"]
        assert paid.claim(quote, transaction).json()["code"] == "confirmations"
        paid.rpc.call("anvil_reorg", 1, [])
        paid.bury(4)
        answer = paid.claim(quote, transaction)
        assert answer.status_code == 202
        with paid.service.ledger.read() as reader:
            assert payments_not_final(reader) == []


@pytest.mark.both_engines
def test_a_watcher_does_not_undo_the_result_of_an_earlier_one_that_saw_something_else(sold) -> None:
    """An observation made before another watcher moved the claim is older than that move."""
    ledger, settings = sold.paid.service.ledger, sold.paid.service.settings
    (before,) = payments_to_watch(ledger, rail_of(settings))
    seen_standing = asyncio.run(
        patient_providers(settings.rpc_urls).sightings(before.payment.transaction_hash, before.payment.block_number)
    )
    sold.reorg(1)
    seen_gone = asyncio.run(
        patient_providers(settings.rpc_urls).sightings(before.payment.transaction_hash, before.payment.block_number)
    )
    now = datetime.now(UTC)
    assert apply_sightings(ledger, before, seen_gone, now=now) == "reversed"
    assert apply_sightings(ledger, before, seen_gone, now=now) == "overtaken"
    assert apply_sightings(ledger, before, seen_standing, now=now) in ("stands", "overtaken")
    assert sold.state() == REVERSED


def test_a_key_that_was_revoked_stays_so_when_the_payment_comes_back(sold) -> None:
    with sold.paid.service.ledger.transaction() as tx:
        key = alive_key_of_claim(tx, sold.claim_id)
        assert key is not None
        revoke_key(tx, key.key_id, now=datetime.now(UTC))
    sold.reorg(1)
    assert by_api(sold) == {"reversed": 1}
    sold.land()
    assert by_api(sold) == {"reinstated": 1}
    with sold.paid.service.ledger.read() as reader:
        assert alive_key_of_claim(reader, sold.claim_id) is None


def test_providers_that_answer_nothing_move_nothing(sold) -> None:
    settings = sold.paid.service.settings.model_copy(update={"rpc_urls": ("http://127.0.0.1:9",)})
    watcher = Watcher(rail_of(settings), patient_providers(settings.rpc_urls), lambda: sold.paid.service.ledger)
    assert asyncio.run(watcher.watch_claims()) == {"unclear": 1}
    assert watch_claims(settings) == {"unclear": 1}
    assert sold.state() == ISSUED


def test_without_payments_set_up_nobody_is_asked(tmp_path) -> None:
    settings = Settings(_env_file=None, data_dir=tmp_path)
    assert watch_claims(settings) == {}
    assert claims_due(settings, datetime.now(UTC)) is None
    watcher = Watcher(rail_of(settings), patient_providers(()), lambda: pytest.fail("no ledger is needed"))
    assert asyncio.run(watcher.run()) is None
    assert watcher.skew_s is None


@pytest.mark.parametrize(("ahead_s", "skew"), [(0, 0), (31, 31), (-45, -45)])
def test_our_clock_is_held_against_the_newest_head(anvil: Anvil, tmp_path, ahead_s: int, skew: int) -> None:
    given = {"rpc_urls": (anvil.url, "http://127.0.0.1:9"), "usdc_address": "0x" + "aa" * 20}
    settings = Settings(_env_file=None, data_dir=tmp_path, treasury_address="0x" + "bb" * 20, **given)
    newest = int(anvil.rpc.call("eth_getBlockByNumber", "latest", False)["timestamp"], 16)
    watcher = Watcher(
        rail_of(settings),
        patient_providers(settings.rpc_urls),
        lambda: pytest.fail("no ledger is needed"),
        clock=lambda: datetime.fromtimestamp(newest + ahead_s, UTC),
    )
    asyncio.run(watcher.compare_clocks())
    assert watcher.skew_s == skew
