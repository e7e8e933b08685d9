"""Every situation in which a transaction is judged, with the code expected for each; on values, without a network.

The table holds for the current code; a seeded bug must break one of its rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from claim_payments import KINDS, STRANGER, TREASURY, USDC, Due, paying
from fake_providers import FakeChain

from contracts.access import matching
from contracts.access.matching import CLAIM_GRACE, SKEW_S, Match, Terms, Verdict
from contracts.access.provider_views import Silence, View, read_block, read_receipt
from contracts.access.rail import Burial
from contracts.evm.codec import quantity

ISSUED_AT = datetime(2027, 1, 15, 8, tzinfo=UTC)
PAYER = "0x" + "9a" * 20
DUE = Due(PAYER, TREASURY, USDC, 5_001_234)
TERMS = Terms(
    chain_id=8453,
    asset=USDC,
    payer=PAYER,
    pay_to=TREASURY,
    amount=DUE.amount,
    issued_at=ISSUED_AT,
    expires_at=ISSUED_AT + timedelta(minutes=30),
    burial=Burial(3, "safe"),
    quorum=2,
)
NOW = ISSUED_AT + timedelta(minutes=5)

Case = Callable[[], Verdict]


def chain_at(offset_s: int = 60) -> FakeChain:
    """Returns a chain whose next block comes `offset_s` after the quote."""
    return FakeChain(time_s=int(ISSUED_AT.timestamp()) + offset_s - 4)


def view_of(chain: Any, transaction: str, provider: str = "one") -> View:
    """Returns a provider's view of a transaction on this chain, parsed as every answer is."""
    receipt = read_receipt(chain.answer("eth_getTransactionReceipt", [transaction]), transaction)
    block = None
    if receipt is not None:
        block = read_block(chain.answer("eth_getBlockByNumber", [hex(receipt.block_number), False]))
    safe, finalized = (read_block(chain.answer("eth_getBlockByNumber", [tag, False])) for tag in ("safe", "finalized"))
    return View(
        provider,
        quantity(chain.answer("eth_chainId", [])),
        receipt,
        block,
        read_block(chain.answer("eth_getBlockByNumber", ["latest", False])),
        None if safe is None else safe.number,
        None if finalized is None else finalized.number,
    )


def judged(
    views: Sequence[View | Silence], terms: Terms = TERMS, now: datetime = NOW, used: Sequence[int] = ()
) -> Verdict:
    return matching.verify(terms, views, now=now, used=used)


def paid_chain(logs: Sequence[Any], *, status: str | None = "0x1", offset_s: int = 60) -> tuple[FakeChain, str]:
    chain = chain_at(offset_s)
    transaction = chain.send(logs, status)
    chain.mine(4)
    return chain, transaction


def _kind(name: str) -> Case:
    def case() -> Verdict:
        chain, transaction = paid_chain(KINDS[name].logs(DUE), status=KINDS[name].status)
        return judged([view_of(chain, transaction), view_of(chain, transaction, "two")])

    return case


def _paid(
    *, offset_s: int = 60, now: datetime = NOW, used: Sequence[int] = (), logs: Sequence[Any] = (), terms: Terms = TERMS
) -> Case:
    def case() -> Verdict:
        chain, transaction = paid_chain(logs or [paying(DUE)], offset_s=offset_s)
        return judged([view_of(chain, transaction), view_of(chain, transaction, "two")], terms, now, used)

    return case


def _views(make: Callable[[FakeChain, str], list[View | Silence]], terms: Terms = TERMS) -> Case:
    def case() -> Verdict:
        chain, transaction = paid_chain([paying(DUE)])
        return judged(make(chain, transaction), terms)

    return case


def _forged(amount: int = DUE.amount) -> Case:
    """A case in which the transaction paid somebody else, but the first of two providers claims that it paid us."""

    def case() -> Verdict:
        honest, transaction = paid_chain([paying(DUE, pay_to=STRANGER)])
        liar, _ = paid_chain([paying(DUE, amount=amount)])
        return judged([view_of(liar, transaction), view_of(honest, transaction, "two")])

    return case


def _mined(blocks: int, *, terms: Terms = TERMS) -> Case:
    def case() -> Verdict:
        chain = chain_at()
        transaction = chain.send([paying(DUE)])
        chain.mine(blocks) if blocks else None
        return judged([view_of(chain, transaction), view_of(chain, transaction, "two")], terms)

    return case


def _off_the_chain(view: View) -> View:
    assert view.block is not None
    return replace(view, block=replace(view.block, hash="0x" + "00" * 32))


def _lagging(chain: FakeChain, transaction: str, blocks: int) -> View:
    return view_of(chain.at_height(len(chain.blocks) - blocks), transaction, "two")


LIFETIME_S = int((TERMS.expires_at - TERMS.issued_at).total_seconds())
ONE = replace(TERMS, quorum=1)
DEEP = replace(TERMS, burial=Burial(None, "finalized"))
BY_TAG = replace(TERMS, burial=Burial(None, "safe"))

CASES: dict[str, tuple[str, Case]] = {
    **{name: (kind.code, _kind(name)) for name, kind in KINDS.items()},
    "mempool": ("unknown_tx", _mined(0)),
    "one_confirmation": ("confirmations", _mined(1)),
    "one_short_of_buried": ("confirmations", _mined(2)),
    "just_buried": ("issued", _mined(3)),
    "not_yet_safe": ("confirmations", _mined(5, terms=BY_TAG)),
    "just_safe": ("issued", _mined(6, terms=BY_TAG)),
    "large_not_yet_final": ("confirmations", _mined(6, terms=DEEP)),
    "large_final": ("issued", _mined(7, terms=DEEP)),
    "no_confirmation_wanted_but_block_there": ("issued", _mined(1, terms=replace(TERMS, burial=Burial(0, "safe")))),
    "early": ("payment_before_quote", _paid(offset_s=-SKEW_S - 1)),
    "within_skew": ("issued", _paid(offset_s=-SKEW_S + 1)),
    "last_moment": ("issued", _paid(offset_s=LIFETIME_S - 2)),
    "late": ("payment_late", _paid(offset_s=LIFETIME_S + 4)),
    "paid_in_time_claimed_after_expiry": ("issued", _paid(now=TERMS.expires_at + CLAIM_GRACE)),
    "claimed_after_the_grace": ("claim_late", _paid(now=TERMS.expires_at + CLAIM_GRACE + timedelta(seconds=1))),
    "used": ("transfer_already_used", _paid(used=[0])),
    "batch_second": ("issued", _paid(logs=[paying(DUE), paying(DUE)], used=[0])),
    "batch_exhausted": ("transfer_already_used", _paid(logs=[paying(DUE), paying(DUE)], used=[0, 1])),
    "bounced_behind_a_used_one": (
        "payment_returned",
        _paid(logs=[paying(DUE), paying(DUE), paying(DUE, payer=TREASURY, pay_to=PAYER)], used=[0]),
    ),
    "other_money_does_not_make_up_for_a_bounce_that_took_it_too": (
        "payment_returned",
        _paid(
            logs=[
                paying(DUE),
                paying(DUE, payer=STRANGER, amount=10),
                paying(DUE, payer=TREASURY, pay_to=PAYER, amount=DUE.amount + 1),
            ],
            terms=TERMS,
        ),
    ),
    "off_the_chain": (
        "not_canonical",
        _views(lambda chain, tx: [_off_the_chain(view_of(chain, tx)), _off_the_chain(view_of(chain, tx, "two"))]),
    ),
    "one_says_off_the_chain": (
        "not_canonical",
        _views(lambda chain, tx: [view_of(chain, tx), _off_the_chain(view_of(chain, tx, "two"))]),
    ),
    "preconfirmed": (
        "not_canonical",
        _views(lambda chain, tx: [replace(view_of(chain, tx, name), block=None) for name in ("one", "two")]),
    ),
    "all_of_another_chain": (
        "rpc_unavailable",
        _views(lambda chain, tx: [replace(view_of(chain, tx, name), chain_id=1) for name in ("one", "two")]),
    ),
    "one_of_another_chain": (
        "rpc_unavailable",
        _views(lambda chain, tx: [view_of(chain, tx), replace(view_of(chain, tx, "two"), chain_id=84532)]),
    ),
    "one_silent": ("rpc_unavailable", _views(lambda chain, tx: [view_of(chain, tx), Silence("two", "timeout")])),
    "both_silent": ("rpc_unavailable", _views(lambda chain, tx: [Silence("one", "429"), Silence("two", "timeout")])),
    "nobody_asked": ("rpc_unavailable", _views(lambda chain, tx: [])),
    "one_of_three_silent": (
        "issued",
        _views(lambda chain, tx: [view_of(chain, tx), Silence("two", "timeout"), view_of(chain, tx, "three")]),
    ),
    "the_only_one": ("issued", _views(lambda chain, tx: [view_of(chain, tx)], ONE)),
    "the_only_one_silent": ("rpc_unavailable", _views(lambda chain, tx: [Silence("one", "timeout")], ONE)),
    "second_does_not_know_it_yet": (
        "rpc_disagree",
        _views(lambda chain, tx: [view_of(chain, tx), _lagging(chain, tx, 4)]),
    ),
    "second_a_little_behind": (
        "confirmations",
        _views(lambda chain, tx: [view_of(chain, tx), _lagging(chain, tx, 2)]),
    ),
    "forged_payment": ("rpc_disagree", _forged()),
    "forged_mismatch": ("rpc_disagree", _forged(amount=1)),
    "second_names_another_status": (
        "rpc_disagree",
        _views(
            lambda chain, tx: [
                view_of(chain, tx),
                replace(view_of(chain, tx, "two"), receipt=replace(view_of(chain, tx).receipt, status="0x0")),  # type: ignore[type-var]
            ]
        ),
    ),
    "second_names_another_time": (
        "rpc_disagree",
        _views(
            lambda chain, tx: [
                view_of(chain, tx),
                replace(view_of(chain, tx, "two"), block=replace(view_of(chain, tx).block, time_s=1)),  # type: ignore[type-var]
            ]
        ),
    ),
}


def outcome(name: str) -> str:
    """Returns the code that a case results in: `issued`, or that of a mismatch or an unknown."""
    verdict = CASES[name][1]()
    return "issued" if isinstance(verdict, Match) else verdict.code


def broken() -> set[str]:
    """Returns the cases whose outcome is not the expected one."""
    wrong = set()
    for name, (due, _) in CASES.items():
        try:
            if outcome(name) != due:
                wrong.add(name)
        except AssertionError:
            wrong.add(name)
    return wrong
