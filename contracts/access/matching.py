"""Decides whether a transaction pays a quote, from the answers of RPC providers: match, mismatch or unknown.

A mismatch needs a canonical, buried block. Everything that can still change, and everything on which providers
disagree, is unknown. A single log must pay the whole amount: amounts are never summed. Only the logs of a transaction
are read.

Example: a quote asks payer P for 5.000123 USDC. Of two providers, one returns a receipt with a USDC transfer of
5.000123 from P to the treasury, and the other does not know the transaction: Unknown("rpc_disagree"), so the client
asks again. Once both return the same receipt in the same buried block, the transfer is a Match. Had P sent 2.5 and
2.500123, the transaction would be a Mismatch("amount_mismatch") with both transfers in `found`.
"""

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
"""Time after its expiry during which a quote that was paid in time can still be claimed."""

MOST_FOUND = 8
"""Maximum number of unmatched transfers reported of one transaction, which may have thousands; the payer's first."""

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
    """The terms of a quote: addresses in lower case, `amount` in smallest units, instants in UTC."""

    chain_id: int
    asset: str
    payer: str
    pay_to: str
    amount: int
    issued_at: datetime
    expires_at: datetime
    burial: Burial
    quorum: int
    """Number of providers that must agree."""


@dataclass(frozen=True, slots=True)
class Transfer:
    """One ERC-20 transfer. Chain, transaction and `position` among the receipt's logs (from 0) identify it."""

    position: int
    asset: str
    sender: str
    recipient: str
    amount: int


@dataclass(frozen=True, slots=True)
class Match:
    """The transfer that pays, and its position on the chain."""

    transfer: Transfer
    block: BlockView
    head: int
    surplus: tuple[Transfer, ...] = ()
    """Transfers of the same transaction that would pay the same quote again."""


@dataclass(frozen=True, slots=True)
class Mismatch:
    """The transaction definitely does not pay.

    `found` contains its transfers to us that no claim uses, the payer's first.
    """

    code: MismatchCode
    found: tuple[Transfer, ...] = ()
    block: BlockView | None = None


@dataclass(frozen=True, slots=True)
class Unknown:
    """The outcome can't be decided yet. The client should ask again later, and must not pay again."""

    code: UnknownCode
    detail: str = ""


Verdict = Match | Mismatch | Unknown


@dataclass(frozen=True, slots=True)
class Agreed:
    """The data on which enough providers agree for a transaction in a canonical, buried block."""

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
    """Judges one transaction. `used` contains the positions of its logs that claims of other quotes use."""
    settled = settle(terms, views)
    if isinstance(settled, Unknown):
        return settled
    return judge(terms, settled, now=now, used=used)


def settle(terms: Terms, views: Sequence[View | Silence]) -> Agreed | Unknown:
    """Returns the data on which providers agree if the transaction's block is canonical and buried, or else Unknown.

    A provider that does not know the transaction yet is no contradiction; it just does not count towards the quorum.
    """
    answers = [view for view in views if isinstance(view, View)]
    if not right_chain(terms, answers):
        return Unknown("rpc_unavailable", "a provider answers for another chain")
    if len(answers) < terms.quorum or not answers:
        return Unknown("rpc_unavailable", "too few providers answered")
    informed = [view for view in answers if view.receipt is not None]
    if not informed:
        return Unknown("unknown_tx")
    if not agreed(informed):
        return Unknown("rpc_disagree", "providers differ on the receipt or its block")
    if len(informed) < terms.quorum:
        return Unknown("rpc_disagree", "too few providers know the transaction")
    if not all(canonical(view) for view in informed):
        return Unknown("not_canonical")
    if sum(buried(terms.burial, view) for view in informed) < terms.quorum:
        return Unknown("confirmations")
    first = informed[0]
    assert first.receipt is not None and first.block is not None
    head = min(view.head.number for view in informed if view.head is not None)
    return Agreed(first.receipt, first.block, head)


def right_chain(terms: Terms, views: Sequence[View]) -> bool:
    """Decides whether every provider that answered serves the quote's chain."""
    return all(view.chain_id == terms.chain_id for view in views)


def agreed(views: Sequence[View]) -> bool:
    """Decides whether all providers agree on status, block, block time and every log."""
    answers = {(view.receipt, None if view.block is None else view.block.time_s) for view in views}
    return len(answers) == 1


def canonical(view: View) -> bool:
    """Decides whether the receipt's block is the block that the provider has at that height."""
    receipt, block = view.receipt, view.block
    return receipt is not None and block is not None and block.hash == receipt.block_hash


def buried(burial: Burial, view: View) -> bool:
    """Decides whether the receipt's block is deep enough according to the provider's head or tags."""
    if view.receipt is None or view.head is None:
        return False
    number = view.receipt.block_number
    if burial.confirmations is not None and view.head.number - number + 1 >= max(burial.confirmations, 1):
        return True
    settled = view.finalized if burial.tag == "finalized" else view.safe
    return settled is not None and number <= settled


def judge(terms: Terms, settled: Agreed, *, now: datetime, used: Collection[int] = ()) -> Match | Mismatch:
    """Judges a settled transaction. The first unused fitting transfer pays; otherwise the nearest miss determines the
    code.

    A transfer fits if it is in the quoted coin, from the payer, to us, and of exactly the amount. A late claim is
    reported only for money that would otherwise pay, so that a wrong amount is reported as a wrong amount.
    """
    block = settled.block
    if not succeeded(settled.receipt):
        return Mismatch("tx_failed", block=block)
    transfers = transfers_of(settled.receipt)
    ours = [transfer for transfer in transfers if of_asset(terms, transfer) and to_treasury(terms, transfer)]
    unused = sorted(
        (transfer for transfer in ours if transfer.position not in used),
        key=lambda transfer: not from_payer(terms, transfer),
    )
    fitting = [transfer for transfer in ours if from_payer(terms, transfer) and pays_amount(terms, transfer)]
    if not fitting:
        return Mismatch(_nearest_miss(terms, transfers, ours), _unused_income(terms, transfers, ours, unused), block)
    if early(terms, block):
        return Mismatch("payment_before_quote", tuple(unused[:MOST_FOUND]), block)
    if late(terms, block):
        return Mismatch("payment_late", tuple(unused[:MOST_FOUND]), block)
    free = [transfer for transfer in fitting if transfer.position not in used]
    if not free:
        return Mismatch("transfer_already_used", block=block)
    if not net_covers(terms, transfers, used):
        return Mismatch("payment_returned", tuple(unused[:MOST_FOUND]), block)
    if now > terms.expires_at + CLAIM_GRACE:
        return Mismatch("claim_late", tuple(free[:MOST_FOUND]), block)
    return Match(free[0], block, settled.head, tuple(free[1 : MOST_FOUND + 1]))


def succeeded(receipt: ReceiptView) -> bool:
    """Decides whether the transaction succeeded. Only a status of exactly `0x1` counts."""
    return receipt.status == "0x1"


def transfers_of(receipt: ReceiptView) -> list[Transfer]:
    """Returns every well-formed ERC-20 transfer in a receipt, regardless of the contract that emitted it."""
    transfers = (_transfer(position, log) for position, log in enumerate(receipt.logs))
    return [transfer for transfer in transfers if transfer is not None]


def of_asset(terms: Terms, transfer: Transfer) -> bool:
    """Decides whether the transfer is of the quoted coin, not of a token that imitates it."""
    return transfer.asset == terms.asset


def to_treasury(terms: Terms, transfer: Transfer) -> bool:
    """Decides whether the transfer came to us."""
    return transfer.recipient == terms.pay_to


def from_payer(terms: Terms, transfer: Transfer) -> bool:
    """Decides whether the transfer came from the quote's payer."""
    return transfer.sender == terms.payer


def pays_amount(terms: Terms, transfer: Transfer) -> bool:
    """Decides whether the amount is exactly the quote's. No other live quote of the payer has the same amount."""
    return transfer.amount == terms.amount


def early(terms: Terms, block: BlockView) -> bool:
    """Decides whether the chain included the payment before the quote was created."""
    return block.time_s < terms.issued_at.timestamp() - SKEW_S


def late(terms: Terms, block: BlockView) -> bool:
    """Decides whether the chain included the payment after the quote's expiry."""
    return block.time_s > terms.expires_at.timestamp()


def net_covers(terms: Terms, transfers: Sequence[Transfer], used: Collection[int]) -> bool:
    """Decides whether our net income of the whole transaction covers its transfers in use and this payment.

    Example: a contract wallet sends us 5 and takes 5 back in the same transaction. A log of 5 exists, but nothing
    remains.
    """
    coins = [transfer for transfer in transfers if of_asset(terms, transfer)]
    came = sum(transfer.amount for transfer in coins if to_treasury(terms, transfer))
    went = sum(transfer.amount for transfer in coins if transfer.sender == terms.pay_to)
    spent = sum(transfer.amount for transfer in coins if to_treasury(terms, transfer) and transfer.position in used)
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
    if any(from_payer(terms, transfer) for transfer in ours):
        return "amount_mismatch"
    if ours:
        return "payer_mismatch"
    if any(of_asset(terms, transfer) and from_payer(terms, transfer) for transfer in transfers):
        return "recipient_mismatch"
    if any(to_treasury(terms, transfer) for transfer in transfers):
        return "wrong_asset"
    return "payment_missing"


def _unused_income(
    terms: Terms, transfers: Sequence[Transfer], ours: Sequence[Transfer], unused: Sequence[Transfer]
) -> tuple[Transfer, ...]:
    """Returns the quoted coin that came to us, or, if none did, the other tokens that came to us."""
    others = [] if ours else [transfer for transfer in transfers if to_treasury(terms, transfer)]
    return tuple([*unused, *others][:MOST_FOUND])
