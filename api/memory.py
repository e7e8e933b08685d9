"""Returns memory that the C library retains after large requests to the system.

glibc keeps freed memory in one arena per allocating thread and returns it only from the end of the first arena. After
large requests it retained tens of megabytes for as long as the process lived.
"""

import asyncio
import ctypes
import time
from collections.abc import Callable

EVERY_S = 10.0
WORTH_IT_CPU_S = 0.2
"""A process that has worked less than this since the last trim has little to return, so it is left asleep."""


def trimming() -> Callable[[], object] | None:
    """Returns the C library's function that releases free memory, or None if the library is not glibc."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return None if trim is None else lambda: trim(0)


class MemoryKeeper:
    """Releases free memory every `EVERY_S` seconds if the process has worked. Calls `trim` in a thread."""

    def __init__(self, trim: Callable[[], object], used_cpu_s: Callable[[], float] = time.process_time) -> None:
        self._trim = trim
        self._used_cpu_s = used_cpu_s
        self._trimmed_at_cpu_s = 0.0

    async def run(self) -> None:
        """Runs until cancelled."""
        while True:
            await asyncio.sleep(EVERY_S)
            await self.trim_after_work()

    async def trim_after_work(self) -> None:
        """Releases free memory if the process has worked since the last time."""
        if self._used_cpu_s() - self._trimmed_at_cpu_s >= WORTH_IT_CPU_S:
            await asyncio.to_thread(self._trim)
            self._trimmed_at_cpu_s = self._used_cpu_s()
