"""Transactions of every kind that somebody may present as payment of a quote, and the expected result of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from fake_providers import APPROVAL_TOPIC, Log, topic, transfer

from contracts.evm.codec import TRANSFER_TOPIC

USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913"
BRIDGED_USDC = "0xd9aaec86b65d86f6a7b5b1b0c42ffa531710b6ca"
TREASURY = "0x" + "7e" * 20
STRANGER = "0x" + "5e" * 20


@dataclass(frozen=True)
class Due:
    """What a quote requires; `amount` is in smallest units."""

    payer: str
    pay_to: str
    asset: str
    amount: int


@dataclass(frozen=True)
class Kind:
    """A kind of transaction: the logs it emits, its status, and the code of the answer (`issued` is a 201)."""

    logs: Callable[[Due], list[Log]]
    code: str
    status: str | None = "0x1"


def paying(due: Due, **changed: Any) -> Log:
    """Returns the transfer that pays, or one that differs in `changed` (`payer`, `pay_to`, `asset`, `amount`)."""
    due = replace(due, **changed)
    return transfer(due.asset, due.payer, due.pay_to, due.amount)


def _malformed(log: Log, **changed: Any) -> Log:
    return replace(log, **changed)


def _dirty(word: str) -> str:
    return "0x" + "1" + word[3:]


KINDS: dict[str, Kind] = {
    "honest": Kind(lambda due: [paying(due)], "issued"),
    "amid_others": Kind(
        lambda due: [
            paying(due, payer=STRANGER, pay_to=due.payer, amount=due.amount * 3),
            Log(due.asset, (APPROVAL_TOPIC, topic(due.payer), topic(STRANGER)), f"0x{due.amount:064x}"),
            paying(due),
            paying(due, pay_to=STRANGER, amount=7),
        ],
        "issued",
    ),
    "double": Kind(lambda due: [paying(due), paying(due)], "issued"),
    "wrongtoken": Kind(lambda due: [paying(due, asset=BRIDGED_USDC)], "wrong_asset"),
    "spoof": Kind(lambda due: [paying(due, asset="0x" + "0f" * 20), paying(due, asset=STRANGER)], "wrong_asset"),
    "spoof_beside_dust": Kind(
        lambda due: [paying(due, asset="0x" + "0f" * 20), paying(due, amount=1)], "amount_mismatch"
    ),
    "erc721": Kind(
        lambda due: [_malformed(paying(due), topics=(*paying(due).topics, f"0x{due.amount:064x}"), data="0x")],
        "payment_missing",
    ),
    "erc721_with_data": Kind(
        lambda due: [_malformed(paying(due), topics=(*paying(due).topics, f"0x{due.amount:064x}"))],
        "payment_missing",
    ),
    "unindexed": Kind(
        lambda due: [_malformed(paying(due), topics=(TRANSFER_TOPIC, topic(due.payer)))], "payment_missing"
    ),
    "approval": Kind(
        lambda due: [_malformed(paying(due), topics=(APPROVAL_TOPIC, *paying(due).topics[1:]))], "payment_missing"
    ),
    "dirty_sender": Kind(
        lambda due: [
            _malformed(paying(due), topics=(TRANSFER_TOPIC, _dirty(topic(due.payer)), topic(due.pay_to))),
        ],
        "payment_missing",
    ),
    "dirty_recipient": Kind(
        lambda due: [
            _malformed(paying(due), topics=(TRANSFER_TOPIC, topic(due.payer), _dirty(topic(due.pay_to)))),
        ],
        "payment_missing",
    ),
    "long_data": Kind(lambda due: [_malformed(paying(due), data=paying(due).data + "00" * 32)], "payment_missing"),
    "short_data": Kind(lambda due: [_malformed(paying(due), data=f"0x{due.amount:060x}")], "payment_missing"),
    "no_data": Kind(lambda due: [_malformed(paying(due), data="0x")], "payment_missing"),
    "nothing": Kind(lambda due: [], "payment_missing"),
    "short": Kind(lambda due: [paying(due, amount=due.amount - 1)], "amount_mismatch"),
    "over": Kind(lambda due: [paying(due, amount=due.amount + 1)], "amount_mismatch"),
    "dust": Kind(lambda due: [paying(due, amount=0)], "amount_mismatch"),
    "whole_range": Kind(lambda due: [paying(due, amount=2**256 - 1)], "amount_mismatch"),
    "split": Kind(
        lambda due: [paying(due, amount=due.amount // 2), paying(due, amount=due.amount - due.amount // 2)],
        "amount_mismatch",
    ),
    "wrongpayer": Kind(lambda due: [paying(due, payer=STRANGER)], "payer_mismatch"),
    "wrongto": Kind(lambda due: [paying(due, pay_to=STRANGER)], "recipient_mismatch"),
    "backwards": Kind(lambda due: [paying(due, payer=due.pay_to, pay_to=due.payer)], "payment_missing"),
    "bounce": Kind(
        lambda due: [paying(due), paying(due, payer=due.pay_to, pay_to=due.payer)],
        "payment_returned",
    ),
    "bounce_less": Kind(
        lambda due: [paying(due), paying(due, payer=due.pay_to, pay_to=STRANGER, amount=1)],
        "payment_returned",
    ),
    "failed": Kind(lambda due: [paying(due)], "tx_failed", status="0x0"),
    "status_missing": Kind(lambda due: [paying(due)], "tx_failed", status=None),
    "status_odd": Kind(lambda due: [paying(due)], "tx_failed", status="0x01"),
}
"""In a block of the right time, deep enough, and reported alike by all providers."""

MATCHING = tuple(name for name, kind in KINDS.items() if kind.code == "issued")
MISMATCHING = tuple(name for name, kind in KINDS.items() if kind.code != "issued")
