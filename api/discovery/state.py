"""Observes the state that `/health` reports in addition to the published generation, in a dedicated thread.

A request only reads the newest observation, so it is answered even while every other thread is busy.
"""

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from contracts.discovery.health import JobFacts

OBSERVE_EVERY_S = 1.0
FRESH_FOR_S = 2.0
"""Age above which a request triggers a new observation, if no background task does."""

OBSERVED_WITHIN_S = 1.0
"""Longest time for which such a request waits for the new observation."""

UNANSWERED_AFTER_S = 5.0
"""A ledger that was not observed for this long counts as unreachable."""


@dataclass(frozen=True)
class ServiceState:
    """One observation. `clock_skew_s` is the time by which our clock is ahead of the chain's, or None if unknown.
    `nodes_answering` tells whether each RPC node answered the last request, `jobs` how the pipeline's jobs went, and
    `payments_problem` why nothing is sold although payments are set up."""

    ledger_reachable: bool
    guardrail_problem: str | None
    clock_skew_s: int | None
    nodes_answering: tuple[bool, ...] = ()
    jobs: tuple[JobFacts, ...] = ()
    payments_problem: str | None = None


class StateObserver:
    """Observes the service. One object per process. `observe` may block; it runs in the observer's only thread."""

    def __init__(self, observe: Callable[[], ServiceState], clock: Callable[[], float] = time.monotonic) -> None:
        self._observe = observe
        self._clock = clock
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="state")
        self._newest: ServiceState | None = None
        self._observed_at_s = 0.0
        self._under_way: asyncio.Future[None] | None = None
        self._running = False

    async def run(self) -> None:
        """Observes periodically until cancelled."""
        self._running = True
        try:
            while True:
                self._begin()
                await asyncio.sleep(OBSERVE_EVERY_S)
        finally:
            self._running = False

    async def current(self) -> tuple[ServiceState, int]:
        """Returns the newest observation and its age in seconds. While `run` runs, it waits only for the first one."""
        if self._newest is None:
            await asyncio.wait([self._begin()])
        elif not self._running and self._clock() - self._observed_at_s > FRESH_FOR_S:
            await asyncio.wait([self._begin()], timeout=OBSERVED_WITHIN_S)
        newest = self._newest
        if newest is None:
            return ServiceState(False, None, None), 0
        age_s = self._clock() - self._observed_at_s
        if age_s > UNANSWERED_AFTER_S:
            newest = replace(newest, ledger_reachable=False)
        return newest, int(age_s)

    def close(self) -> None:
        """Lets the thread end without waiting for an observation under way."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _begin(self) -> asyncio.Future[None]:
        """Returns the current observation, and starts one if necessary."""
        loop = asyncio.get_running_loop()
        under_way = self._under_way
        if under_way is None or under_way.done() or under_way.get_loop() is not loop:
            under_way = self._under_way = loop.run_in_executor(self._thread, self._record_observation)
        return under_way

    def _record_observation(self) -> None:
        self._newest = self._observe()
        self._observed_at_s = self._clock()
