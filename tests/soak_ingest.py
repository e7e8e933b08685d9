"""Kills ingestion twenty times at random points, in three histories; run by `make soak`."""

import random
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from kill_rounds import killed_rounds

ROUNDS = 20


def main() -> None:
    for history in range(3):
        seed = random.randrange(1 << 32)
        with tempfile.TemporaryDirectory() as directory:
            outcome = killed_rounds(Path(directory), ROUNDS, seed)
        print(
            f"history {history + 1} (seed {seed}): {outcome.kills} of {ROUNDS} runs killed, "
            f"{outcome.midway} of them midway, "
            f"{outcome.rows} of {outcome.expected} rows held, none twice",
            flush=True,
        )


if __name__ == "__main__":
    main()
