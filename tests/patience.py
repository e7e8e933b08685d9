"""How long tests wait on a busy machine.

`HANG_S` is a limit against hangs: it must be so long that nothing else exceeds it. A deadline that is part of what a
test promises is given for a quiet machine and multiplied by `slowness()`.
"""

import os
import time
from functools import cache

HANG_S = 900.0
"""Longer than any step of a test takes alongside twenty busy processes; pytest ends a whole test after twice that."""


def slowness() -> float:
    """Returns how many times longer than on a quiet machine a process now waits for the CPU; at least 1."""
    started, cpu_started = time.monotonic(), time.process_time()
    while time.process_time() - cpu_started < 0.05:
        pass
    waited = (time.monotonic() - started) / (time.process_time() - cpu_started)
    return max(1.0, waited, os.getloadavg()[0] / (os.cpu_count() or 1))


@cache
def slowness_at_the_start() -> float:
    """Returns the same, measured once: for settings that all tests of a process share."""
    return slowness()
