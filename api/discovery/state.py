"""The state that `/health` reports beside the published generation, observed in a thread that nothing else waits for.

A request never looks itself: it gets the newest observation, so that it is answered while every other thread is busy.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

OBSERVE_EVERY_S = 1.0
FRESH_FOR_S = 2.0
"""An older observation is reported only while a newer one can't be had."""

OBSERVED_WITHIN_S = 1.0
"""A ledger that gives no answer for this long is not reachable."""


@dataclass(frozen=True)
class ServiceState:
    """One observation. `clock_skew_s` says how far our clock is ahead of the chain, None where that is not known."""

    ledger_reachable: bool
    guardrail_problem: str | None
    clock_skew_s: int | None


class StateObserver:
    """One object a process. `observe` may block; it runs in the observer's only thread."""

    def __init__(self, observe: Callable[[], ServiceState], clock: Callable[[], float] = time.monotonic) -> None:
        self._observe = observe
        self._clock = clock
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="state")
        self._newest: ServiceState | None = None
        self._observed_at_s = 0.0
        self._begun_at_s = 0.0
        self._under_way: asyncio.Future[None] | None = None

    async def run(self) -> None:
        """Observe again and again, until cancelled."""
        while True:
            self._begin()
            await asyncio.sleep(OBSERVE_EVERY_S)

    async def current(self) -> tuple[ServiceState, int]:
        """The newest observation and its age in seconds.

        Where it is no longer fresh and none can be had in time, the ledger counts as unreachable.
        """
        age_s = self._clock() - self._observed_at_s
        if self._newest is None or age_s > FRESH_FOR_S:
            under_way = self._begin()
            left_s = self._begun_at_s + OBSERVED_WITHIN_S - self._clock()
            await asyncio.wait([under_way], timeout=max(0.0, left_s))
            age_s = self._clock() - self._observed_at_s
        if self._newest is None:
            return ServiceState(False, None, None), 0
        if age_s > FRESH_FOR_S:
            newest = self._newest
            return ServiceState(False, newest.guardrail_problem, newest.clock_skew_s), int(age_s)
        return self._newest, int(age_s)

    def close(self) -> None:
        """Let the thread end. Does not wait for an observation under way."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _begin(self) -> asyncio.Future[None]:
        """The observation under way, begun now where there is none."""
        loop = asyncio.get_running_loop()
        under_way = self._under_way
        if under_way is None or under_way.done() or under_way.get_loop() is not loop:
            self._begun_at_s = self._clock()
            under_way = self._under_way = loop.run_in_executor(self._thread, self._look)
        return under_way

    def _look(self) -> None:
        self._newest = self._observe()
        self._observed_at_s = self._clock()
