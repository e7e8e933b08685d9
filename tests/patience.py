"""How long tests wait on a machine that others keep busy.

A limit against hangs is `HANG_S`: it has to be so long that it passes for no other reason. A deadline that is part of
what a test promises is a time of a quiet machine, multiplied by `slowness()`.
"""

import os
import time
from functools import cache

HANG_S = 900.0
"""Longer than any step of a test takes beside twenty busy processes; pytest ends a whole test after twice that."""


def slowness() -> float:
    """How many times longer than on a quiet machine a process waits for its turn now; at least 1."""
    started, cpu_started = time.monotonic(), time.process_time()
    while time.process_time() - cpu_started < 0.05:
        pass
    waited = (time.monotonic() - started) / (time.process_time() - cpu_started)
    return max(1.0, waited, os.getloadavg()[0] / (os.cpu_count() or 1))


@cache
def slowness_at_the_start() -> float:
    """The same, measured once: for settings that all tests of a process share."""
    return slowness()
