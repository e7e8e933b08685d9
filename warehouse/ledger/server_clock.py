"""The clock of the database server, which several hosts share: with it, even a host whose own clock is wrong counts and
expires like the others.

A process queries the server from time to time, and between two answers adds the time that has passed on its host.
"""

import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path

SQL = Path(__file__).with_name("server_clock.sql")
"""The file of the statement `server_time`, which queries the clock."""

ASKED_EVERY_S = 10.0

TOLERATED_S = 5.0
"""A larger difference is logged for the operator."""

_log = logging.getLogger(__name__)


class ServerClock:
    """The server's time in seconds since 1970. Threads may share it. `ask` queries the server."""

    def __init__(
        self,
        ask: Callable[[], float],
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._ask = ask
        self._wall = wall
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._told = False
        self._answer: tuple[float, float] | None = None

    def now_s(self) -> float:
        """Returns the server's time without a query; before the first answer, this host's."""
        if self._answer is None:
            return self._wall()
        server_s, answered_at = self._answer
        return server_s + self._monotonic() - answered_at

    def keep_right(self) -> None:
        """Queries the server if there is no answer yet or the last one is too old. Raises what `ask` raises."""
        if self._answer is not None and self._monotonic() - self._answer[1] < ASKED_EVERY_S:
            return
        if not self._lock.acquire(blocking=False):
            return  # another thread is querying
        try:
            self._answer = self._asked()
        finally:
            self._lock.release()

    def _asked(self) -> tuple[float, float]:
        asked_at = self._monotonic()
        server_s = self._ask()
        answered_at = self._monotonic()
        server_s += (answered_at - asked_at) / 2
        behind_s = server_s - self._wall()
        if abs(behind_s) > TOLERATED_S and not self._told:
            which = "behind" if behind_s > 0 else "ahead of"
            _log.warning(
                "The clock of this host is %.0f s %s that of the ledger's database, which is used. Set this "
                "host's clock: times in its logs and in what it publishes are wrong.",
                abs(behind_s),
                which,
            )
        self._told = abs(behind_s) > TOLERATED_S
        return server_s, answered_at
