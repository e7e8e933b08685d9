"""Plans the transactions around the token: the pool's trades, the price feed, attestations, escrow. Pure.

They are seeded like the token's own history and written into the same blocks.
"""

import hashlib
import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from cli.demo.history import DAY_S, LAUNCH, SEED, TOKEN, Movement, PlannedBlock, person
from cli.demo.rpc import calldata

USDC: Final = 10**6
ETHER: Final = 10**18
USD_ON_FEED: Final = 10**8
"""The feed answers with 8 decimals."""

POOL_TOKENS_RAW: Final = 20_000_000 * TOKEN
POOL_USDC_RAW: Final = 500_000 * USDC
MAKER_TOKENS_RAW: Final = 4_000_000 * TOKEN
MAKER_USDC_RAW: Final = 400_000 * USDC
"""USDC of the market maker, the account that owns the contracts, trades and pays."""

HALF_LIFE_S: Final = 14 * DAY_S
ATTESTERS: Final = slice(2, 5)
"""Indexes of the node's accounts that attest."""

_AGENT_ACCOUNTS: Final = slice(5, 10)
_MORE_AGENTS: Final = 4
_OPENING_USD: Final = 3_400.0
NEWEST_USD: Final = 3_412.5
_MAX_UINT: Final = 2**256 - 1

# Mean score at the beginning and at the end of the story, spread, and probability of an attestation per block.
_CAREERS: Final = (
    (90, 95, 4, 0.35),
    (45, 90, 6, 0.30),
    (88, 52, 6, 0.30),
    (72, 74, 8, 0.25),
    (60, 60, 15, 0.20),
    (80, 86, 5, 0.15),
    (30, 41, 8, 0.12),
    (70, 70, 0, 0.03),
    (97, 99, 2, 0.10),
)


@dataclass(frozen=True)
class Scene:
    """Contract addresses and the node's accounts."""

    token: str
    usdc: str
    bidwall: str
    pool: str
    feed: str
    registry: str
    escrow: str
    accounts: Sequence[str]

    @property
    def maker(self) -> str:
        return self.accounts[0]

    @property
    def attesters(self) -> Sequence[str]:
        return self.accounts[ATTESTERS]

    @property
    def agents(self) -> list[str]:
        """The attested agents: accounts that can act, then addresses that only have a name."""
        return [*self.accounts[_AGENT_ACCOUNTS], *(person(-10 - number) for number in range(_MORE_AGENTS))]


@dataclass(frozen=True)
class Happening:
    """One transaction."""

    sender: str
    to: str
    data: str
    value_wei: int = 0

    def transaction(self, gas: int) -> dict[str, str]:
        return {"from": self.sender, "to": self.to, "data": self.data, "value": hex(self.value_wei), "gas": hex(gas)}


Happenings = dict[int, list[Happening]]
"""The transactions of each block, by its index in the plan."""


def opening(scene: Scene) -> list[Happening]:
    """Returns the transactions that precede the history: attesters, the maker's allowances, the first price."""
    maker = scene.maker
    allow = calldata("approve(address,uint256)", scene.pool, _MAX_UINT)
    authorised = [calldata("setAttester(address,bool)", attester, True) for attester in scene.attesters]
    return [
        *(Happening(maker, scene.registry, data) for data in authorised),
        Happening(maker, scene.usdc, calldata("mint(address,uint256)", maker, MAKER_USDC_RAW)),
        Happening(maker, scene.usdc, calldata("mint(address,uint256)", scene.pool, POOL_USDC_RAW)),
        Happening(maker, scene.usdc, allow),
        Happening(maker, scene.token, allow),
        Happening(maker, scene.usdc, calldata("approve(address,uint256)", scene.escrow, _MAX_UINT)),
        price_set(scene, _OPENING_USD),
    ]


def liquidity(scene: Scene) -> list[Movement]:
    """Returns the launch's transfers to the pool and its maker, for the first block."""
    return [Movement(LAUNCH, scene.pool, POOL_TOKENS_RAW), Movement(LAUNCH, scene.maker, MAKER_TOKENS_RAW)]


def plan_happenings(scene: Scene, plan: Sequence[PlannedBlock], now: int) -> Happenings:
    """Plans the transactions besides the token's for the blocks of `plan`; the history ends at `now` (Unix seconds)."""
    return _Story(scene, plan, now).transactions()


def price_set(scene: Scene, usd: float) -> Happening:
    """Builds the transaction that sets the ETH/USD feed's answer."""
    return Happening(scene.maker, scene.feed, calldata("setAnswer(int256)", round(usd * USD_ON_FEED)))


def trade(scene: Scene, rng: random.Random) -> Happening:
    """Builds a trade: the maker buys or sells some of the token at the pool."""
    if rng.random() < 0.5:
        sold, amount = scene.usdc, rng.randint(40, 1_000) * USDC
    else:
        sold, amount = scene.token, rng.randint(1_600, 40_000) * TOKEN
    values = (sold, amount, 0, scene.maker)
    return Happening(scene.maker, scene.pool, calldata("swap(address,uint256,uint256,address)", *values))


def attestation(scene: Scene, attester: str, agent: str, score: int, job: str) -> Happening:
    """Builds one attestation of an agent's job; `job` may be any text."""
    job_id = hashlib.sha256(job.encode()).digest()
    values = (agent, score, job_id, f"https://jobs.example/{job_id.hex()[:12]}.json")
    return Happening(attester, scene.registry, calldata("attest(address,uint256,bytes32,string)", *values))


def next_price(rng: random.Random, usd: float) -> float:
    """Returns the next step of a random walk that reverts to its starting value."""
    return max(500.0, usd * (1 + rng.gauss(0, 0.006)) + (_OPENING_USD - usd) * 0.03)


@dataclass
class _Story:
    scene: Scene
    plan: Sequence[PlannedBlock]
    now: int
    jobs: int = 0
    happenings: Happenings = field(default_factory=lambda: defaultdict(list))

    def transactions(self) -> Happenings:
        rng = random.Random(f"happenings {SEED}")  # noqa: S311 - a made-up history, not a secret
        scene, usd = self.scene, _OPENING_USD
        self._add(0, scene.pool, "sync()")
        for number in range(1, len(self.plan)):
            usd = next_price(rng, usd)
            self.happenings[number] += [price_set(scene, usd), trade(scene, rng)]
            if number % 6 == 5:
                self._add(
                    number, scene.usdc, "transfer(address,uint256)", scene.bidwall, rng.randint(2_500, 40_000) * 10**4
                )
            self._attest(rng, number)
        self._escrow()
        return dict(self.happenings)

    def _attest(self, rng: random.Random, number: int) -> None:
        progress = number / (len(self.plan) - 1)
        for agent, (first, last, spread, likely) in zip(self.scene.agents, _CAREERS, strict=True):
            if rng.random() < likely:
                mean = first + (last - first) * progress
                score = min(100, max(1, round(rng.gauss(mean, spread))))
                attester = rng.choice(self.scene.attesters)
                self.jobs += 1
                job = f"demo job {self.jobs}"
                self.happenings[number].append(attestation(self.scene, attester, agent, score, job))

    def _escrow(self) -> None:
        """Adds one deposit that its receiver's score releases, and one that waits for a higher score."""
        scene = self.scene
        trusted, improving = scene.agents[0], scene.agents[3]
        deadline = self.now + 60 * DAY_S
        self._add(80, scene.escrow, "deposit(address,uint256,uint256)", trusted, 85, deadline, value_wei=ETHER)
        self._add(84, scene.escrow, "release(uint256)", 1)
        values = (scene.usdc, 250 * USDC, improving, 85, deadline)
        self._add(88, scene.escrow, "depositToken(address,uint256,address,uint256,uint256)", *values)

    def _add(self, number: int, to: str, signature: str, *values: Any, value_wei: int = 0) -> None:
        self.happenings[number].append(Happening(self.scene.maker, to, calldata(signature, *values), value_wei))
