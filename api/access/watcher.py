"""Watches the chain between requests: its clock against ours, the coin, and issued claims until they are final.

Every process watches independently, because doing it twice changes nothing.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime

from api.access.rpc import Providers
from contracts.access.provider_views import BlockView
from contracts.access.rail import PaymentRail
from contracts.discovery.health import MOST_CLOCK_SKEW_S
from contracts.errors import OperatorProblem
from warehouse.access.watch import Outcome, Watched, apply_sightings, payments_to_watch
from warehouse.ledger.ledger import Ledger

WATCH_EVERY_S = 20.0
_AT_ONCE = 8
_log = logging.getLogger(__name__)


@dataclass(eq=False)
class Watcher:
    """Watches the chain. One object per process; does nothing if payments are not configured. `ledger` may raise
    `OperatorProblem`."""

    rail: PaymentRail
    providers: Providers
    ledger: Callable[[], Ledger]
    _: KW_ONLY
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    settle: Callable[[], Awaitable[None]] | None = None
    """Settles signed payments that nobody waits for, for example after a kill."""
    look_at_coin: Callable[[], Awaitable[None]] | None = None
    """Checks that the coin has the decimals in which amounts are counted."""
    _skew_s: int | None = field(default=None, init=False)
    _answering: tuple[bool, ...] = field(default=(), init=False)

    @property
    def skew_s(self) -> int | None:
        """Seconds by which our clock was ahead of the newest head; None if no provider answered."""
        return self._skew_s

    @property
    def nodes_answering(self) -> tuple[bool, ...]:
        """Returns for each provider, in the order of the settings, whether it answered the last request."""
        return self._answering

    async def run(self) -> None:
        """Watches until cancelled; a failed check is repeated in the next round."""
        if self.rail.missing:
            return
        while True:
            try:
                await self.compare_clocks()
                if self.look_at_coin is not None:
                    await self.look_at_coin()
                await self.watch_claims()
                if self.settle is not None and self.rail.takes_signatures:
                    await self.settle()
            except OperatorProblem as problem:
                _log.warning("Issued claims are not watched at the moment: %s", problem)
            except Exception:
                _log.exception("Issued claims are not watched at the moment.")
            await asyncio.sleep(WATCH_EVERY_S)

    async def compare_clocks(self) -> None:
        """Compares our clock with the newest head of any provider."""
        answers = await self.providers.heads()
        self._answering = tuple(isinstance(answer, BlockView) for answer in answers)
        heads = [head for head in answers if isinstance(head, BlockView)]
        newest = max((head.time_s for head in heads), default=None)
        self._skew_s = None if newest is None else int(self.clock().timestamp()) - newest
        if self._skew_s is not None and abs(self._skew_s) > MOST_CLOCK_SKEW_S:
            _log.warning("Our clock is %d s ahead of the chain's newest block.", self._skew_s)

    async def watch_claims(self) -> Counter[Outcome]:
        """Checks every unfinal payment once and counts the outcomes. Raises `OperatorProblem`."""
        payments = await asyncio.to_thread(lambda: payments_to_watch(self.ledger(), self.rail))
        limit = asyncio.Semaphore(_AT_ONCE)

        async def check(watched: Watched) -> Outcome:
            payment = watched.payment
            async with limit:
                sightings = await self.providers.sightings(payment.transaction_hash, payment.block_number)
                outcome = await asyncio.to_thread(
                    lambda: apply_sightings(self.ledger(), watched, sightings, now=self.clock())
                )
            if outcome in ("reversed", "reinstated", "given_up"):
                _log.warning("A payment of claim %s is %s.", payment.claim_id, outcome)
            return outcome

        return Counter(await asyncio.gather(*map(check, payments)))
