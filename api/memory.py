"""Memory that the C library keeps for later after large requests, given back to the system.

glibc keeps freed memory in an arena of each thread that asked for some, and gives it back only from the end of the
first one. After large requests that were tens of megabytes for as long as the process lived.
"""

from __future__ import annotations

import asyncio
import ctypes
import time
from collections.abc import Callable

EVERY_S = 10.0
WORTH_IT_CPU_S = 0.2
"""A process that worked less than this since it last looked has little to give back, and is left asleep."""


def trimming() -> Callable[[], object] | None:
    """The C library's function that gives free memory back; None where it has none, which is so outside of glibc."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    return None if trim is None else lambda: trim(0)


class MemoryKeeper:
    """Gives free memory back every `EVERY_S` seconds in which the process worked. `trim` is called in a thread."""

    def __init__(self, trim: Callable[[], object], used_cpu_s: Callable[[], float] = time.process_time) -> None:
        self._trim = trim
        self._used_cpu_s = used_cpu_s
        self._trimmed_at_cpu_s = 0.0

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            await asyncio.sleep(EVERY_S)
            await self.look()

    async def look(self) -> None:
        """Give free memory back where the process has worked since the last time."""
        if self._used_cpu_s() - self._trimmed_at_cpu_s >= WORTH_IT_CPU_S:
            await asyncio.to_thread(self._trim)
            self._trimmed_at_cpu_s = self._used_cpu_s()
