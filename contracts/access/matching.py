"""Whether a transaction pays a quote, by what RPC providers say: yes, no, or not known yet. Never a guess.

"No" is said of a canonical, buried block alone; whatever could still change, or that providers don't agree on, is
unknown. One log pays, whole and alone: amounts are never summed, and a transaction is never looked at but its logs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from contracts.access.provider_views import BlockView, LogView, ReceiptView, Silence, View
from contracts.access.rail import Burial
from contracts.evm.codec import TRANSFER_TOPIC

SKEW_S = 60
"""Seconds by which the chain's clock may be behind ours."""

CLAIM_GRACE = timedelta(days=7)
"""How long after its expiry a quote that was paid in time can still be claimed."""

MOST_FOUND = 8
"""Transfers of one transaction that are reported as unmatched, the payer's first; it may hold thousands of others."""

UnknownCode = Literal["unknown_tx", "confirmations", "not_canonical", "rpc_unavailable", "rpc_disagree"]

MismatchCode = Literal[
    "tx_failed",
    "payment_missing",
    "wrong_asset",
    "recipient_mismatch",
    "payer_mismatch",
    "amount_mismatch",
    "payment_before_quote",
    "payment_late",
    "payment_returned",
    "claim_late",
    "transfer_already_used",
    "case_closed",
]


@dataclass(frozen=True, slots=True)
class Terms:
    """What a quote asks for: addresses in lower case, `amount` in smallest units, instants in UTC."""

    chain_id: int
    asset: str
    payer: str
    pay_to: str
    amount: int
    issued_at: datetime
    expires_at: datetime
    burial: Burial
    quorum: int
    """How many providers have to agree."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """One ERC-20 transfer; with chain and transaction, `position` among the receipt's logs (from 0) identifies it."""

    position: int
    asset: str
    sender: str
    recipient: str
    amount: int


@dataclass(frozen=True, slots=True)
class Match:
    """The transfer that pays, and where the chain holds it."""

    transfer: Transfer
    block: BlockView
    head: int
    surplus: tuple[Transfer, ...] = ()
    """Transfers of the same transaction that would pay the same quote once more."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The transaction definitely does not pay. `found` is money that came to us with it and that no claim has used, the
    payer's first."""

    code: MismatchCode
    found: tuple[Transfer, ...] = ()
    block: BlockView | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """Nobody can say yet. Asking again later is right, paying again is not."""

    code: UnknownCode
    detail: str = ""


Verdict = Match | Mismatch | Unknown


@dataclass(frozen=True, slots=True)
class Agreed:
    """What enough providers say alike of a transaction in a canonical, buried block."""

    receipt: ReceiptView
    block: BlockView
    head: int


def verify(
    terms: Terms,
    views: Sequence[View | Silence],
    *,
    now: datetime,
    used: Collection[int] = (),
) -> Verdict:
    """Judge one transaction. `used` are positions of its logs that claims of other quotes have used."""
    settled = settle(terms, views)
    if isinstance(settled, Unknown):
        return settled
    return judge(terms, settled, now=now, used=used)


def settle(terms: Terms, views: Sequence[View | Silence]) -> Agreed | Unknown:
    """What providers agree on of a transaction whose block is canonical and buried, or why that is not known."""
    heard = [view for view in views if isinstance(view, View)]
    if not right_chain(terms, heard):
        return Unknown("rpc_unavailable", "a provider answers for another chain")
    if len(heard) < terms.quorum or not heard:
        return Unknown("rpc_unavailable", "too few providers answered")
    knowing = [view for view in heard if view.receipt is not None]
    if not knowing:
        return Unknown("unknown_tx")
    if not agreed(knowing):
        return Unknown("rpc_disagree", "providers differ on the receipt or its block")
    if len(knowing) < terms.quorum:
        return Unknown("rpc_disagree", "too few providers know the transaction")
    if not all(canonical(view) for view in knowing):
        return Unknown("not_canonical")
    if sum(buried(terms.burial, view) for view in knowing) < terms.quorum:
        return Unknown("confirmations")
    first = knowing[0]
    assert first.receipt is not None and first.block is not None
    head = min(view.head.number for view in knowing if view.head is not None)
    return Agreed(first.receipt, first.block, head)


def right_chain(terms: Terms, views: Sequence[View]) -> bool:
    """Whether every provider that answered is of the quote's chain."""
    return all(view.chain_id == terms.chain_id for view in views)


def agreed(views: Sequence[View]) -> bool:
    """Whether all say the same of status, block, its time and every log."""
    said = {(view.receipt, None if view.block is None else view.block.time_s) for view in views}
    return len(said) == 1


def canonical(view: View) -> bool:
    """Whether the receipt's block is the one that the provider has at its height."""
    receipt, block = view.receipt, view.block
    return receipt is not None and block is not None and block.hash == receipt.block_hash


def buried(burial: Burial, view: View) -> bool:
    """Whether the receipt's block lies deep enough for the provider's head or tags."""
    if view.receipt is None or view.head is None:
        return False
    number = view.receipt.block_number
    if burial.confirmations is not None and view.head.number - number + 1 >= max(burial.confirmations, 1):
        return True
    settled = view.finalized if burial.tag == "finalized" else view.safe
    return settled is not None and number <= settled


def judge(terms: Terms, settled: Agreed, *, now: datetime, used: Collection[int] = ()) -> Match | Mismatch:
    """Judge what is settled: the first unused transfer that fits pays; else the code of the nearest miss."""
    block = settled.block
    if not succeeded(settled.receipt):
        return Mismatch("tx_failed", block=block)
    transfers = transfers_of(settled.receipt)
    ours = [each for each in transfers if of_asset(terms, each) and to_treasury(terms, each)]
    unused = sorted((each for each in ours if each.position not in used), key=lambda each: not from_payer(terms, each))
    fitting = [each for each in ours if from_payer(terms, each) and pays_amount(terms, each)]
    if not fitting:
        return Mismatch(_nearest_miss(terms, transfers, ours), _found(terms, transfers, ours, unused), block)
    if early(terms, block):
        return Mismatch("payment_before_quote", tuple(unused[:MOST_FOUND]), block)
    if late(terms, block):
        return Mismatch("payment_late", tuple(unused[:MOST_FOUND]), block)
    free = [each for each in fitting if each.position not in used]
    if not free:
        return Mismatch("transfer_already_used", block=block)
    if not net_covers(terms, transfers, used):
        return Mismatch("payment_returned", tuple(unused[:MOST_FOUND]), block)
    if now > terms.expires_at + CLAIM_GRACE:
        return Mismatch("claim_late", tuple(free[:MOST_FOUND]), block)
    return Match(free[0], block, settled.head, tuple(free[1 : MOST_FOUND + 1]))


def succeeded(receipt: ReceiptView) -> bool:
    """Whether the transaction succeeded, as a status of exactly `0x1` says."""
    return receipt.status == "0x1"


def transfers_of(receipt: ReceiptView) -> list[Transfer]:
    """Every well-formed ERC-20 transfer in a receipt, of whatever contract."""
    read = (_transfer(position, log) for position, log in enumerate(receipt.logs))
    return [each for each in read if each is not None]


def of_asset(terms: Terms, transfer: Transfer) -> bool:
    """Whether the quoted coin moved, and none that looks like it."""
    return transfer.asset == terms.asset


def to_treasury(terms: Terms, transfer: Transfer) -> bool:
    """Whether it came to us."""
    return transfer.recipient == terms.pay_to


def from_payer(terms: Terms, transfer: Transfer) -> bool:
    """Whether it came from the quote's payer."""
    return transfer.sender == terms.payer


def pays_amount(terms: Terms, transfer: Transfer) -> bool:
    """Whether it is the quote's amount exactly, which belongs to one quote of the payer alone."""
    return transfer.amount == terms.amount


def early(terms: Terms, block: BlockView) -> bool:
    """Whether the chain took the payment before the quote was made."""
    return block.time_s < terms.issued_at.timestamp() - SKEW_S


def late(terms: Terms, block: BlockView) -> bool:
    """Whether the chain took the payment after the quote's expiry."""
    return block.time_s > terms.expires_at.timestamp()


def net_covers(terms: Terms, transfers: Sequence[Transfer], used: Collection[int]) -> bool:
    """Whether what stays with us of the whole transaction covers what claims used of it, and this payment."""
    coins = [each for each in transfers if of_asset(terms, each)]
    came = sum(each.amount for each in coins if to_treasury(terms, each))
    went = sum(each.amount for each in coins if each.sender == terms.pay_to)
    spent = sum(each.amount for each in coins if to_treasury(terms, each) and each.position in used)
    return came - went >= spent + terms.amount


def _transfer(position: int, log: LogView) -> Transfer | None:
    if log.removed or len(log.topics) != 3 or log.topics[0] != TRANSFER_TOPIC or len(log.data) != 66:
        return None
    sender, recipient = _address(log.topics[1]), _address(log.topics[2])
    if sender is None or recipient is None:
        return None
    return Transfer(position, log.address, sender, recipient, int(log.data, 16))


def _address(topic: str) -> str | None:
    return "0x" + topic[26:] if topic[2:26] == "0" * 24 else None


def _nearest_miss(terms: Terms, transfers: Sequence[Transfer], ours: Sequence[Transfer]) -> MismatchCode:
    if any(from_payer(terms, each) for each in ours):
        return "amount_mismatch"
    if ours:
        return "payer_mismatch"
    if any(of_asset(terms, each) and from_payer(terms, each) for each in transfers):
        return "recipient_mismatch"
    if any(to_treasury(terms, each) for each in transfers):
        return "wrong_asset"
    return "payment_missing"


def _found(
    terms: Terms, transfers: Sequence[Transfer], ours: Sequence[Transfer], unused: Sequence[Transfer]
) -> tuple[Transfer, ...]:
    """Our coin that came to us; where there is none, other tokens that did."""
    others = [] if ours else [each for each in transfers if to_treasury(terms, each)]
    return tuple([*unused, *others][:MOST_FOUND])
