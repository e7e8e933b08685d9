"""Kills publishing at twenty random points, or more: `tests/soak_publish.py [ROUNDS]`. Prints counts."""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

from publish_process import assert_whole, kill_while_publishing, publish_round, start


def soak(rounds: int, seed: int) -> dict[str, int]:
    """Returns the numbers of rounds, of kills before the end, and of rounds that moved the pointer. Raises on a partial
    generation."""
    luck = random.Random(seed)
    counts = {"rounds": rounds, "killed": 0, "moved_on": 0}
    with tempfile.TemporaryDirectory() as directory:
        data_dir = Path(directory)
        last = start(data_dir)
        for number in range(rounds):
            counts["killed"] += kill_while_publishing(data_dir, number + 1, luck, longest_s=0.4)
            now = assert_whole(data_dir)
            counts["moved_on"] += now > last
            last = now
        publish_round(data_dir, rounds + 1)
        assert assert_whole(data_dir) > last
    return counts


if __name__ == "__main__":
    seed = random.SystemRandom().randrange(1 << 32)
    counts = soak(int(sys.argv[1]) if len(sys.argv) > 1 else 20, seed)
    print("publish kills:", ", ".join(f"{name} {count}" for name, count in counts.items()), f"(seed {seed})")
