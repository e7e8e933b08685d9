"""Windows of the wall clock, for tests whose service counts by it."""

import time


def stay_within(window_s: int, for_s: int) -> None:
    """Return where the present window goes on for `for_s` seconds; wait for the next one else."""
    left_s = window_s - time.time() % window_s
    if left_s < for_s:
        time.sleep(left_s + 1)
