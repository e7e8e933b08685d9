"""Returns memory to the system that the C library keeps after large requests.

glibc keeps freed memory in an arena for each thread that allocated some, and returns it only from the end of the first
arena. After large requests it kept tens of megabytes as long as the process lived.
"""

import asyncio
import ctypes
import time
from collections.abc import Callable

EVERY_S = 10.0
WORTH_IT_CPU_S = 0.2
"""A process that worked less than this since the last trim has little to return, and is left asleep."""


def trimming() -> Callable[[], object] | None:
    """Returns the C library's function that returns free memory, or None outside of glibc, which has none."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return None if trim is None else lambda: trim(0)


class MemoryKeeper:
    """Returns free memory every `EVERY_S` seconds in which the process worked. Calls `trim` in a thread."""

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
        """Returns free memory if the process has worked since the last time."""
        if self._used_cpu_s() - self._trimmed_at_cpu_s >= WORTH_IT_CPU_S:
            await asyncio.to_thread(self._trim)
            self._trimmed_at_cpu_s = self._used_cpu_s()
