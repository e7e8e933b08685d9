"""How many rounds of kills, races and hostile repetitions a run performs: a fifth by default, all in `make soak`."""

import os
from typing import TypeVar

ROUNDS = int(os.environ.get("TEST_ROUNDS", "1"))
"""1 by default, 5 in `make soak`. Tests multiply their own number of rounds by it."""


SOAK_ROUNDS = 5
Case = TypeVar("Case")


def chosen(cases: list[Case], others: int = 5) -> list[Case]:
    """Returns all of `cases` in a soak, else every `others`-th one: the same ones in each run."""
    return cases if ROUNDS >= SOAK_ROUNDS else cases[::others]
