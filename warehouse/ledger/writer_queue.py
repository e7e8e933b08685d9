"""Orders the writes of one process's threads: first come, first served, with a bounded wait.

Between processes only the database's lock decides, which keeps no order.
"""

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager

from contracts.errors import StoreBusy


class WriterQueue:
    """Gives one thread at a time its turn. A lock of the standard library would let later threads overtake."""

    def __init__(self, store: str, wait_s: float) -> None:
        self._store = store
        self._wait_s = wait_s
        self._guard = threading.Lock()
        self._busy = False
        self._waiting: deque[threading.Lock] = deque()

    @property
    def waiting(self) -> int:
        """The number of threads that wait for their turn."""
        return len(self._waiting)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Waits for this thread's turn and keeps it for the block. Raises `StoreBusy` after `wait_s` seconds."""
        self._wait()
        try:
            yield
        finally:
            self._pass_on()

    def _wait(self) -> None:
        with self._guard:
            if not self._busy:
                self._busy = True
                return
            signal = threading.Lock()
            signal.acquire()
            self._waiting.append(signal)
        if signal.acquire(timeout=self._wait_s):
            return
        with self._guard:
            if signal not in self._waiting:
                return  # the turn came just as the wait timed out
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
                self._busy = False
