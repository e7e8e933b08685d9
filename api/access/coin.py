"""Checks on the chain that the configured coin has the decimals in which amounts are counted."""

import asyncio
import logging
import time
from collections.abc import Callable

from api.access.rpc import Providers
from contracts.access.coin import COIN_DIFFERS, coin_calls, coin_decimals, coin_fault
from contracts.access.rail import PaymentRail

ASKED_AGAIN_AFTER_S = 20.0

_log = logging.getLogger(__name__)


class Coin:
    """Caches what is wrong with the coin, one object per process. A coin found correct is not checked again."""

    def __init__(
        self, rail: PaymentRail, providers: Providers, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._rail = rail
        self._providers = providers
        self._monotonic = monotonic
        self._asked_at: float | None = None
        self._asking: asyncio.Future[None] | None = None
        self._fits = False
        self._fault: str | None = None

    @property
    def problem(self) -> str | None:
        """Returns the stable code of the reason why nothing is sold, as providers last agreed, or None."""
        return None if self._fault is None else COIN_DIFFERS

    async def fault(self) -> str | None:
        """Returns what is known to be wrong with the coin; None if nothing is, or if it is unknown.

        Only the first request waits for the chain. Later ones repeat the check in the background until the coin is
        known to be right, so that silent providers delay nobody.
        """
        if self._asked_at is None:
            await self.look()
        elif self._is_due() and (self._asking is None or self._asking.done()):
            self._asking = asyncio.ensure_future(self.look())
        return self._fault

    async def look(self) -> None:
        """Asks the providers, unless the coin is known to be right. If they disagree, the last result remains."""
        if self._fits or self._rail.missing:
            return
        decimals = coin_decimals(self._rail, await self._providers.ask(coin_calls(self._rail)))
        self._asked_at = self._monotonic()
        if decimals is None:
            return
        fault = coin_fault(decimals)
        self._fits = fault is None
        if fault is not None and fault != self._fault:
            _log.error("Nothing is sold: the coin at %s %s.", self._rail.asset, fault)
        self._fault = fault

    def _is_due(self) -> bool:
        assert self._asked_at is not None
        return not self._fits and self._monotonic() - self._asked_at >= ASKED_AGAIN_AFTER_S
