"""Seeds of tests that draw at random: fixed in CI, so that a run there repeats, and a new one in every other run."""

import os
import random


def seed_of_run() -> int:
    return 0 if os.environ.get("CI") else random.SystemRandom().randrange(1 << 32)
