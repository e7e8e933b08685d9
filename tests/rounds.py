"""How many rounds of kills, races and hostile repetitions a run makes: a fifth by default, all in `make soak`."""

import os

ROUNDS = int(os.environ.get("TEST_ROUNDS", "1"))
"""1 by default, 5 in `make soak`. Tests multiply their own number of rounds by it."""


SOAK_ROUNDS = 5


def chosen(cases: list, others: int = 5) -> list:
    """Returns all of `cases` in a soak, else one of every `others`: the same ones in each run."""
    return cases if ROUNDS >= SOAK_ROUNDS else cases[::others]
