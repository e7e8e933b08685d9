"""Plans the demo token's history as values: who moves what in which block. Pure and seeded; writes nothing.

A launch mints the supply and funds whales and a pool. People arrive, trade with the pool and with one another by a
power law, and some leave with exactly nothing. Rewards are minted and tokens burned now and then, a few transfers have
no effect (zero value, to oneself), and the bidwall collects tokens and native coin.
"""

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from contracts.token.holders import ZERO_ADDRESS

SEED: Final = 8453
DAY_S: Final = 86_400
HISTORY_S: Final = 30 * DAY_S
NEWEST_AGE_S: Final = 3_600

TOKEN: Final = 10**18
# Amounts are multiples of a ten-thousandth of a token, like amounts that people choose.
STEP: Final = 10**14

BLOCKS: Final = 96
TRANSFERS_PER_BLOCK: Final = 220
PEOPLE: Final = 2_900
WHALES: Final = 12


@dataclass(frozen=True)
class Movement:
    """One Transfer event; the zero address mints and burns."""

    sender: str
    recipient: str
    value_raw: int


@dataclass(frozen=True)
class PlannedBlock:
    """Content of one block. `age_s` is the time from the block to the end of the history."""

    age_s: int
    movements: tuple[Movement, ...]
    native_to_bidwall_wei: int


def person(number: int) -> str:
    """Returns the address of a made-up holder; nobody has its key."""
    return "0x" + hashlib.sha256(f"demo holder {number}".encode()).hexdigest()[:40]


LAUNCH: Final = person(-1)
POOL: Final = person(-2)


def plan_history(bidwall: str, seed: int = SEED) -> list[PlannedBlock]:
    """Plans the whole history, oldest block first; deterministic for equal arguments."""
    return _Story(bidwall, seed).blocks()


def balances_after(movements: Iterable[Movement]) -> dict[str, int]:
    """Returns the final balance of every address that ever had or moved a token, including zero balances."""
    balances: dict[str, int] = defaultdict(int)
    for movement in movements:
        balances[movement.sender] -= movement.value_raw
        balances[movement.recipient] += movement.value_raw
    balances.pop(ZERO_ADDRESS, None)
    return dict(balances)


def plan_traffic(rng: random.Random, balances_raw: Mapping[str, int]) -> list[Movement]:
    """Plans a few movements among the addresses of `balances_raw`, none of more than its sender has."""
    addresses = sorted(balances_raw)
    movements = []
    for sender in rng.sample(addresses, min(len(addresses), rng.randint(2, 4))):
        share = rng.choice((1, 1, 5, 20))
        value_raw = balances_raw[sender] * share // 1000 // STEP * STEP
        movements.append(Movement(sender, rng.choice(addresses), value_raw))
    return movements


class _Story:
    """Tracks balances and cast while planning. Every movement passes through `_move`, so none overdraws."""

    def __init__(self, bidwall: str, seed: int) -> None:
        self._rng = random.Random(seed)  # noqa: S311 - a made-up history, not a secret
        self._bidwall = bidwall.lower()
        self._balances: dict[str, int] = defaultdict(int)
        self._whales = [person(number) for number in range(WHALES)]
        self._newcomers = [person(number) for number in range(WHALES, PEOPLE)][::-1]
        self._present: list[str] = []
        self._block: list[Movement] = []

    def blocks(self) -> list[PlannedBlock]:
        blocks = []
        for number in range(BLOCKS):
            self._block = []
            if number == 0:
                self._launch()
            self._fill(number)
            pause_s = (HISTORY_S - NEWEST_AGE_S) // (BLOCKS - 1)
            native_wei = self._rng.randint(1, 40) * 10**16 if number % 3 == 2 else 0
            blocks.append(PlannedBlock(HISTORY_S - number * pause_s, tuple(self._block), native_wei))
        return blocks

    def _launch(self) -> None:
        self._move(ZERO_ADDRESS, LAUNCH, 1_000_000_000 * TOKEN)
        self._move(LAUNCH, POOL, 450_000_000 * TOKEN)
        for rank, whale in enumerate(self._whales, start=1):
            self._move(LAUNCH, whale, int(120_000_000 / rank**1.2) * TOKEN)

    def _fill(self, number: int) -> None:
        if number % 24 == 23:
            self._move(ZERO_ADDRESS, LAUNCH, 250_000 * TOKEN)
        if number % 16 == 15:
            self._move(LAUNCH, ZERO_ADDRESS, self._rng.randint(10_000, 90_000) * TOKEN)
        if number % 12 == 11:
            self._move(self._bidwall, LAUNCH, self._balances[self._bidwall] // 2)
        while len(self._block) < TRANSFERS_PER_BLOCK:
            self._act(number)

    def _act(self, number: int) -> None:
        # Most people arrive early, but even the last blocks have newcomers.
        arrivals = 0.55 if number < 8 else 0.14 if self._newcomers else 0.0
        dice = self._rng.random()
        if dice < arrivals and self._newcomers:
            self._arrive(self._newcomers.pop())
            return
        if len(self._present) < 20:
            return
        someone, other = self._rng.choice(self._present), self._rng.choice(self._present)
        balance = self._balances[someone]
        dice = self._rng.random()
        if dice < 0.34:
            self._move(POOL, someone, self._amount(120))
        elif dice < 0.60:
            self._move(someone, POOL, self._part(balance))
        elif dice < 0.90:
            self._move(someone, other, self._part(balance))
        elif dice < 0.935:
            self._leave(someone)
        elif dice < 0.95:
            self._move(someone, self._bidwall, self._part(balance) // 20)
        elif dice < 0.97:
            whale = self._rng.choice(self._whales)
            self._move(whale, self._rng.choice([POOL, *self._whales]), self._part(self._balances[whale]) // 10)
        elif dice < 0.985:
            self._move(someone, other, 0)
        else:
            self._move(someone, someone, self._part(balance))

    def _arrive(self, address: str) -> None:
        self._present.append(address)
        self._move(POOL, address, self._amount(900))

    def _leave(self, address: str) -> None:
        self._present.remove(address)
        self._move(address, self._rng.choice([POOL, *self._whales]), self._balances[address])

    def _amount(self, scale: int) -> int:
        """Returns a Pareto amount: many small, a few huge."""
        return int(min(self._rng.paretovariate(1.1) * scale, 2_000_000) * (TOKEN // STEP)) * STEP

    def _part(self, held_raw: int) -> int:
        return held_raw * self._rng.randint(1, 60) // 100 // STEP * STEP

    def _move(self, sender: str, recipient: str, value_raw: int) -> None:
        if sender != ZERO_ADDRESS:
            value_raw = min(value_raw, self._balances[sender])
            self._balances[sender] -= value_raw
        if recipient != ZERO_ADDRESS:
            self._balances[recipient] += value_raw
        self._block.append(Movement(sender, recipient, value_raw))
