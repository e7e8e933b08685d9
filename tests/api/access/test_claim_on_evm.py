"""Payments on a real EVM: every kind of transfer as contracts emit it, blocks, times and reorgs.

Transactions of several transfers are contract creations, whose code makes the calls: so is their hash that of one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import rlp
from eth_utils.crypto import keccak
from paid_service import PAYER, STRANGER, TREASURY, PaidService, selling

from cli.demo.anvil import PRUNED, Anvil
from cli.demo.rpc import calldata
from cli.demo.write import deploy, mined_receipt
from contracts.settings import Settings
from warehouse.access.cases import cases_in

TRANSFER = "transfer(address,uint256)"
TRANSFER_FROM = "transferFrom(address,address,uint256)"


@pytest.fixture
def paid(ledger_settings: Settings, anvil: Anvil) -> Iterator[PaidService]:
    with selling(ledger_settings, anvil, claim_confirmations=2) as service:
        yield service


@pytest.fixture
def paid_here(tmp_path: Path, anvil: Anvil) -> Iterator[PaidService]:
    with selling(Settings(_env_file=None, data_dir=tmp_path), anvil, claim_confirmations=2) as service:
        yield service


def told(paid: PaidService, quote: dict[str, Any], transaction: str, **headers: str) -> tuple[int, str]:
    answer = paid.claim(quote, transaction, **headers)
    return answer.status_code, "issued" if answer.status_code == 201 else answer.json()["code"]


def units_of(quote: dict[str, Any]) -> int:
    return int(quote["data"]["next"]["pay"]["amountUnits"])


def in_one_transaction(paid: PaidService, calls: list[tuple[str, str]]) -> str:
    """Makes calls (contract, call data) from the code of a contract creation and returns the transaction's hash.

    PAYER and the treasury let that contract move their coins beforehand.
    """
    sender = STRANGER.address
    paid.rpc.call("anvil_setBalance", sender, hex(10**18))
    nonce = int(paid.rpc.call("eth_getTransactionCount", sender, "latest"), 16)
    mover = "0x" + keccak(rlp.encode([bytes.fromhex(sender[2:]), nonce])).hex()[-40:]
    for owner in (PAYER.address, TREASURY):
        paid.sent(owner, calldata("approve(address,uint256)", mover, 2**255))
    data = _calling([(to, bytes.fromhex(call[2:])) for to, call in calls])
    paid.rpc.call("anvil_impersonateAccount", sender)
    transaction = {"from": sender, "data": "0x" + data.hex(), "gas": hex(3_000_000)}
    receipt = mined_receipt(paid.rpc, paid.rpc.call("eth_sendTransaction", transaction))
    assert receipt["contractAddress"].lower() == mover
    paid.bury()
    return str(receipt["transactionHash"])


def _calling(calls: list[tuple[str, bytes]]) -> bytes:
    """Returns creation code that makes each call, reverts if one fails, and leaves an empty contract."""

    def code(data_at: list[int]) -> bytes:
        made = b""
        for (to, data), at in zip(calls, data_at, strict=True):
            size = len(data).to_bytes(2)
            made += b"\x61" + size + b"\x61" + at.to_bytes(2) + b"\x60\x00\x39"  # codecopy(0, at, size)
            made += b"\x60\x00\x60\x00\x61" + size + b"\x60\x00\x60\x00"  # out size, out, in size, in, value
            made += b"\x73" + bytes.fromhex(to[2:]) + b"\x5a\xf1"  # address, gas, call
            made += b"\x61" + (len(made) + 8).to_bytes(2) + b"\x57\x60\x00\x80\xfd\x5b"  # jumpi over a revert
        return made + b"\x60\x00\x60\x00\xf3"

    start = len(code([0] * len(calls)))
    places = [start + sum(len(data) for _, data in calls[:number]) for number in range(len(calls))]
    return code(places) + b"".join(data for _, data in calls)


def paying(paid: PaidService, quote: dict[str, Any], **changed: Any) -> tuple[str, str]:
    """Returns a call that moves the quote's amount from the payer to the treasury, or a variation of it."""
    sender, to = changed.get("sender", PAYER.address), changed.get("to", TREASURY)
    return changed.get("asset", paid.usdc), calldata(TRANSFER_FROM, sender, to, changed.get("units", units_of(quote)))


def test_a_payment_out_of_a_contract_creation_by_a_stranger_is_a_payment(paid: PaidService) -> None:
    """S7: the sender and the recipient of the transaction prove nothing; the log does."""
    quote = paid.quoted()
    assert told(paid, quote, in_one_transaction(paid, [paying(paid, quote)])) == (201, "issued")


@pytest.mark.both_engines
def test_a_batch_pays_each_of_its_quotes_once(paid: PaidService) -> None:
    quotes = [paid.quoted() for _ in range(4)]
    transaction = in_one_transaction(paid, [paying(paid, quote) for quote in quotes[:3]])
    for quote in reversed(quotes[:3]):
        assert told(paid, quote, transaction) == (201, "issued")
        assert told(paid, quote, transaction) == (409, "claim_exists")
    assert told(paid, quotes[3], transaction) == (402, "amount_mismatch")


def test_coins_that_leave_in_the_same_transaction_pay_nothing(paid_here: PaidService) -> None:
    paid = paid_here
    for units in (0, 1):
        quote = paid.quoted()
        back = paying(paid, quote, sender=TREASURY, to=PAYER.address, units=units or units_of(quote))
        transaction = in_one_transaction(paid, [paying(paid, quote), back])
        assert told(paid, quote, transaction) == (402, "payment_returned")


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ([{"units": -1}], "amount_mismatch"),
        ([{"units": 1}], "amount_mismatch"),
        ([{"half": 0}, {"half": 1}], "amount_mismatch"),
        ([{"to": STRANGER.address}], "recipient_mismatch"),
        ([{"sender": TREASURY, "to": STRANGER.address}], "payment_missing"),
        ([], "payment_missing"),
    ],
    ids=["short", "over", "split", "wrong_to", "backwards", "nothing"],
)
def test_anything_but_the_one_transfer_is_refused(paid_here: PaidService, changes: list[Any], code: str) -> None:
    paid = paid_here
    paid.mint(TREASURY, 10**9)
    quote = paid.quoted()
    due = units_of(quote)
    calls = []
    for change in changes:
        units = due + change.get("units", 0)
        if "half" in change:
            units = due // 2 + change["half"] * (due % 2)
        calls.append(paying(paid, quote, **{**change, "units": units}))
    assert told(paid, quote, in_one_transaction(paid, calls)) == (402, code)
    assert told(paid, quote, paid.pay(quote)) == (201, "issued")


def test_a_token_with_the_same_code_at_another_address_is_another_token(paid: PaidService) -> None:
    """S6: name, symbol, code and logs are all alike; only the address differs."""
    fake = deploy(paid.rpc, paid.deployer, "UsdcStandIn")
    code = [paid.rpc.call("eth_getCode", each, "latest") for each in (fake, paid.usdc)]
    assert len(code[0]) == len(code[1])
    paid.sent(paid.deployer, calldata("mint(address,uint256)", PAYER.address, 10**9), to=fake)
    quote = paid.quoted()
    receipt = paid.sent(PAYER.address, calldata(TRANSFER, TREASURY, units_of(quote)), to=fake)
    paid.bury()
    assert told(paid, quote, receipt["transactionHash"]) == (402, "wrong_asset")
    with paid.service.ledger.read() as reader:
        (found,) = cases_in(reader)
    assert (found.transfer.asset, found.code) == (fake, "wrong_asset")
    assert told(paid, quote, paid.pay(quote)) == (201, "issued")


def test_a_mint_of_the_right_amount_is_not_from_the_payer(paid_here: PaidService) -> None:
    paid = paid_here
    quote = paid.quoted()
    receipt = paid.sent(paid.deployer, calldata("mint(address,uint256)", TREASURY, units_of(quote)))
    paid.bury()
    assert told(paid, quote, receipt["transactionHash"]) == (402, "payer_mismatch")


def test_a_transaction_that_reverted_moved_nothing(paid_here: PaidService) -> None:
    paid = paid_here
    quote = paid.quoted()
    paid.rpc.call("anvil_impersonateAccount", PAYER.address)
    paid.rpc.call("anvil_setBalance", PAYER.address, hex(10**18))
    too_much = calldata(TRANSFER, TREASURY, 10**15)
    transaction = {"from": PAYER.address, "to": paid.usdc, "data": too_much, "gas": hex(100_000)}
    sent = paid.rpc.call("eth_sendTransaction", transaction)
    paid.bury()
    assert paid.rpc.call("eth_getTransactionReceipt", sent)["status"] == "0x0"
    assert told(paid, quote, sent) == (402, "tx_failed")


def test_a_deployment_and_a_plain_transfer_of_ether_pay_nothing(paid_here: PaidService) -> None:
    paid = paid_here
    quote = paid.quoted()
    paid.rpc.call("anvil_impersonateAccount", PAYER.address)
    paid.rpc.call("anvil_setBalance", PAYER.address, hex(10**19))
    ether = paid.rpc.call("eth_sendTransaction", {"from": PAYER.address, "to": TREASURY, "value": hex(10**18)})
    # What is sent next sets the payer's balance, which would drop a payment that still waits.
    mined_receipt(paid.rpc, ether)
    created = in_one_transaction(paid, [])
    for transaction in (ether, created):
        assert told(paid, quote, transaction) == (402, "payment_missing")


def test_a_payment_waits_in_mempool_and_first_block_until_it_is_buried(paid: PaidService) -> None:
    """S11."""
    quote = paid.quoted()
    paid.rpc.call("evm_setAutomine", False)
    paid.rpc.call("anvil_impersonateAccount", PAYER.address)
    paid.rpc.call("anvil_setBalance", PAYER.address, hex(10**18))
    step = quote["data"]["next"]["pay"]
    transaction = {"from": PAYER.address, "to": paid.usdc, "data": step["call"], "gas": hex(100_000)}
    sent = paid.rpc.call("eth_sendTransaction", transaction)
    assert told(paid, quote, sent) == (202, "unknown_tx")
    paid.rpc.call("evm_mine")
    time.sleep(2.1)
    assert told(paid, quote, sent) == (202, "confirmations")
    paid.rpc.call("evm_mine")
    time.sleep(2.1)
    assert told(paid, quote, sent) == (201, "issued")


def test_a_payment_that_a_reorg_takes_away_before_the_claim_is_unknown(paid_here: PaidService) -> None:
    """S11: nothing is issued for it; once it is included again, it pays."""
    paid = paid_here
    quote = paid.quoted()
    transaction = paid.pay(quote)
    paid.rpc.call("anvil_reorg", 4, [])
    assert paid.rpc.call("eth_getTransactionReceipt", transaction) is None
    assert told(paid, quote, transaction) == (202, "unknown_tx")
    again = paid.pay(quote)
    assert told(paid, quote, again) == (201, "issued")


def test_a_payment_after_expiry_is_late_and_kept(paid_here: PaidService) -> None:
    """S15: the chain's time decides, not the time of the claim."""
    paid = paid_here
    quote = paid.quoted()
    paid.rpc.call("evm_setNextBlockTimestamp", int(time.time()) + 31 * 60)
    assert told(paid, quote, paid.pay(quote)) == (402, "payment_late")
    with paid.service.ledger.read() as reader:
        assert [each.code for each in cases_in(reader)] == ["payment_late"]


def test_a_payment_from_before_the_quote_pays_nothing(tmp_path: Path) -> None:
    """S15: the blocks of this chain are an hour old when the quote is created."""
    with Anvil(flags=["--timestamp", str(int(time.time()) - 3600), *PRUNED]) as anvil:
        settings = Settings(_env_file=None, data_dir=tmp_path)
        with selling(settings, anvil, claim_confirmations=2) as paid:
            quote = paid.quoted()
            assert told(paid, quote, paid.pay(quote)) == (402, "payment_before_quote")
            paid.rpc.call("evm_setNextBlockTimestamp", int(time.time()))
            assert told(paid, quote, paid.pay(quote)) == (201, "issued")
