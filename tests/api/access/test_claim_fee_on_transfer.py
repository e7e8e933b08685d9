"""If a coin begins to take a fee on transfers, as an upgrade of USDC could, the remaining amount pays no quote (S9)."""

from __future__ import annotations

import pytest
from paid_service import PAYER, PaidService, selling

from cli.demo.anvil import Anvil
from contracts.evm.codec import TRANSFER_TOPIC
from contracts.settings import Settings
from warehouse.access.cases import cases_in

FEE_UNITS = 1_000
COLLECTOR = "fe" * 20

TO, CALLER, FEE_TO = bytes.fromhex("600435"), b"\x33", b"\x73" + bytes.fromhex(COLLECTOR)
"""Code that pushes the recipient, the payer and the fee collector: CALLDATALOAD(4), CALLER, an address."""
WHOLE, REST = bytes.fromhex("602435"), b"\x61" + FEE_UNITS.to_bytes(2) + bytes.fromhex("60243503")
FEE = b"\x61" + FEE_UNITS.to_bytes(2)


def emitting(*transfers: tuple[bytes, bytes, bytes]) -> str:
    """Returns runtime code whose every call emits `Transfer(sender, recipient, value)` with the given pushes and
    returns true."""
    code = b""
    for sender, recipient, value in transfers:
        stored = value + bytes.fromhex("600052")  # MSTORE(0, value)
        topics = recipient + sender + b"\x7f" + bytes.fromhex(TRANSFER_TOPIC[2:])
        code += stored + topics + bytes.fromhex("60206000a3")  # LOG3(0, 32, topic, sender, recipient)
    return "0x" + (code + bytes.fromhex("600160005260206000f3")).hex()


@pytest.fixture
def paid(ledger_settings: Settings, anvil: Anvil):
    with selling(ledger_settings, anvil, claim_confirmations=2) as service:
        yield service


@pytest.mark.parametrize(
    ("transfers", "code"),
    [
        ([(CALLER, TO, REST), (CALLER, FEE_TO, FEE)], "amount_mismatch"),
        ([(CALLER, TO, WHOLE), (TO, FEE_TO, FEE)], "payment_returned"),
        ([(CALLER, FEE_TO, FEE), (CALLER, TO, REST)], "amount_mismatch"),
    ],
    ids=["of the amount", "of the recipient", "before the rest"],
)
def test_a_payment_less_a_fee_is_refused_and_kept(paid: PaidService, transfers, code: str) -> None:
    quote = paid.quoted()
    honest = paid.rpc.call("eth_getCode", paid.usdc, "latest")
    paid.rpc.call("anvil_setCode", paid.usdc, emitting(*transfers))
    answer = paid.claim(quote, paid.pay(quote, sender=PAYER.address))
    assert (answer.status_code, answer.json()["code"]) == (402, code)
    with paid.service.ledger.read() as reader:
        assert [case.code for case in cases_in(reader)] == [code]
    paid.rpc.call("anvil_setCode", paid.usdc, honest)
    assert paid.claim(quote, paid.pay(quote)).status_code == 201, "the fee is gone, and the quote still open"
