"""The order in which the threads of one process write: first come, first served, each for a bounded time of waiting.

Other processes are kept apart by the database's own lock, which knows no order.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from contracts.errors import StoreBusy


class WriterQueue:
    """Gives one thread at a time its turn. A lock of the standard library would let a newcomer overtake."""

    def __init__(self, store: str, wait_s: float) -> None:
        self._store = store
        self._wait_s = wait_s
        self._guard = threading.Lock()
        self._taken = False
        self._waiting: deque[threading.Lock] = deque()

    @property
    def waiting(self) -> int:
        """How many threads wait for their turn."""
        return len(self._waiting)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for this thread's turn and keep it for the block. Raises `StoreBusy` after `wait_s` seconds."""
        self._wait()
        try:
            yield
        finally:
            self._pass_on()

    def _wait(self) -> None:
        with self._guard:
            if not self._taken:
                self._taken = True
                return
            signal = threading.Lock()
            signal.acquire()
            self._waiting.append(signal)
        if signal.acquire(timeout=self._wait_s):
            return
        with self._guard:
            if signal not in self._waiting:
                return  # the turn came while the time ran out
            self._waiting.remove(signal)
        raise StoreBusy(
            f"{self._store} was busy with earlier writes for {self._wait_s:g} s.",
            cure="Nothing was written, so the same step can be tried again.",
        )

    def _pass_on(self) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False
