"""Seeds of tests with random input: fixed in CI, so that a run is repeatable there, and new in every other run."""

import os
import random


def seed_of_run() -> int:
    return 0 if os.environ.get("CI") else random.SystemRandom().randrange(1 << 32)
