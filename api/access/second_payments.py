"""Records money that arrives for a quote after it was redeemed, so that no payment is lost."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field
from datetime import datetime
from typing import Any

from api.access.rpc import Providers
from contracts.access.case_access import recorded_of
from contracts.access.cases import Filing, is_senders
from contracts.access.claims import ClaimRequest
from contracts.access.matching import Match, Mismatch, Unknown, verify
from contracts.access.provider_views import Silence, View
from contracts.access.quotes import Quote, terms_of
from contracts.access.rail import PaymentRail
from contracts.access.refusals import ClaimExists, Recorded, case_members
from contracts.errors import IdempotencyMismatch
from warehouse.access import claims
from warehouse.access.cases import cases_of_transaction, record_money
from warehouse.ledger.ledger import Ledger

SILENT_FOR_S = 2.0
"""Shortest time in seconds between two checks of the same transaction."""

_MOST_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class _Unseen:
    """The redeemed quote of a claim whose transaction is not in the ledger."""

    quote: Quote


@dataclass(eq=False)
class SecondPayments:
    """Finds second payments. One object per process. `ledger` may raise `OperatorProblem`."""

    rail: PaymentRail
    providers: Providers
    base_url: str
    ledger: Callable[[], Ledger]
    _: KW_ONLY
    clock: Callable[[], datetime]
    monotonic: Callable[[], float] = time.monotonic
    _remembered: dict[tuple[str, str], tuple[float, Recorded | Unknown | None]] = field(
        default_factory=dict, init=False
    )

    async def case_of(self, request: ClaimRequest) -> Recorded | Unknown | None:
        """Returns the case of the payer's money in a transaction that the redeemed quote's claim does not use, or None.

        Returns `Unknown` while the transaction is unsettled; the client may ask again later.
        """
        known = await asyncio.to_thread(self._known_case, request)
        if not isinstance(known, _Unseen):
            return known
        transaction = request.quote_id, request.transaction_hash
        until, answer = self._remembered.get(transaction, (0.0, None))
        if self.monotonic() < until:
            return answer
        if len(self._remembered) >= _MOST_REMEMBERED:
            self._remembered.clear()
        self._remembered[transaction] = self.monotonic() + SILENT_FOR_S, None  # until the providers have answered
        views = await self.providers.views(request.transaction_hash)
        answer = await asyncio.to_thread(self._record, request, known.quote, views)
        self._remembered[transaction] = self.monotonic() + SILENT_FOR_S, answer
        return answer

    def _known_case(self, request: ClaimRequest) -> Recorded | _Unseen | None:
        with self.ledger().read() as reader:
            stored = claims.find_quote(reader, request.quote_id)
            assert stored is not None  # its claim exists
            quote = stored.quote
            cases = cases_of_transaction(reader, self.rail.chain_id, request.transaction_hash)
            used = claims.used_positions(reader, self.rail.chain_id, request.transaction_hash)
        of_payer = [case for case in cases if is_senders(case.transfer, quote) and case.transfer.position not in used]
        if of_payer:
            return recorded_of(of_payer[0], quote, self.base_url)
        return None if used else _Unseen(quote)

    def _record(self, request: ClaimRequest, quote: Quote, views: list[View | Silence]) -> Recorded | Unknown | None:
        with self.ledger().transaction() as tx:
            now = self.clock()
            used = claims.spent_positions(tx, self.rail.chain_id, request.transaction_hash)
            match verify(terms_of(quote, self.rail), views, now=now, used=used):
                case Match(transfer, block, _, surplus):
                    transfers, code = (transfer, *surplus), "payment_twice"
                case Mismatch(code, transfers, block) if block is not None:
                    pass
                case Unknown() as unsettled:
                    return unsettled
                case _:
                    return None
            cases = record_money(
                tx,
                transfers,
                block,
                code,
                Filing(quote, proven=False),
                chain_id=self.rail.chain_id,
                transaction_hash=request.transaction_hash,
                now=now,
            )
        return recorded_of(cases[0], quote, self.base_url) if cases else None


def with_second(
    redeemed: ClaimExists | IdempotencyMismatch, second: Recorded | Unknown
) -> ClaimExists | IdempotencyMismatch:
    """Returns the refusal of a claim whose quote was redeemed by another payment than the one it names."""
    if isinstance(second, Unknown):
        return type(redeemed)(
            redeemed.detail + " This transaction is not settled yet. If it paid a second time, the same claim names "
            "its case once it is.",
            extensions=redeemed.extensions,
        )
    named = case_members(second)
    links: Any = {**redeemed.extensions["links"], **named["links"]}  # type: ignore[dict-item]
    return type(redeemed)(
        redeemed.detail + " This transaction is not the one that paid: its money is recorded under caseId for the "
        "operator, who sends it back. links.case says what happens next to who signs for the address that sent it.",
        extensions={**redeemed.extensions, **named, "links": links},
    )
