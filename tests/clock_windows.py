"""Windows of the wall clock, for tests of services that count requests per window."""

import time

from patience import slowness


def stay_within(window_s: int, for_s: int) -> None:
    """Returns if the current window lasts for another `for_s` seconds of a quiet machine, else waits for the next
    one."""
    left_s = window_s - time.time() % window_s
    if left_s < min(for_s * slowness(), window_s / 2):
        time.sleep(left_s + 1)
