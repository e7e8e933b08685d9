"""How many rounds of kills, races and hostile repetitions a run makes: a fifth by default, all in `make soak`."""

import os

ROUNDS = int(os.environ.get("TEST_ROUNDS", "1"))
"""1 by default, 5 in `make soak`. Tests multiply their own number of rounds by it."""


def chosen(cases: list, others: int = 5) -> list:
    """Returns all of `cases` in a soak, else every fifth of them: the same ones in each run."""
    return cases if others <= ROUNDS else cases[::others]
