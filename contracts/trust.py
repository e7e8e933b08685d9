"""Defines the trust documents and weighs attestations with the registry's integer arithmetic. Pure."""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import Field

from contracts.base import AddressText, Document, HexHash, TelemetryDocument, Timestamp

THRESHOLDS: Final = {"low": 50, "medium": 70, "high": 85}
"""Minimum weighted score of each level."""

ONE: Final = 10**18
"""The weight of a new attestation, as in the contract."""

MAX_AGE_S: Final = 900
SAMPLE: Final = 8
"""Number of agents whose scores are compared with the contract's at each block."""


@dataclass(frozen=True)
class Standing:
    """The registry's record of one agent. Weight sums are in units of 1e-18."""

    count: int
    last_at_s: int
    score_sum: int
    weight_sum: int
    weighted_sum: int

    @property
    def weighted_score(self) -> int:
        """Returns the mean in which recent work weighs more, rounded down."""
        return self.weighted_sum // self.weight_sum

    @property
    def average_score(self) -> int:
        """Returns the plain mean, rounded down."""
        return self.score_sum // self.count


NEW: Final = Standing(0, 0, 0, 0, 0)


def decayed(total: int, age_s: int, half_life_s: int) -> int:
    """Returns a sum of weights after `age_s` seconds: halved with each half-life, and linear in between."""
    halvings, rest_s = divmod(age_s, half_life_s)
    return (total >> halvings) * (2 * half_life_s - rest_s) // (2 * half_life_s) if halvings < 256 else 0


def attested(before: Standing, score: int, at_s: int, half_life_s: int) -> Standing:
    """Returns the agent's record after one more attestation at Unix time `at_s`."""
    age_s = at_s - before.last_at_s
    return Standing(
        count=before.count + 1,
        last_at_s=at_s,
        score_sum=before.score_sum + score,
        weight_sum=decayed(before.weight_sum, age_s, half_life_s) + ONE,
        weighted_sum=decayed(before.weighted_sum, age_s, half_life_s) + score * ONE,
    )


def sample_agents(agents: Collection[str], touched: Collection[str], block_hash: str) -> list[str]:
    """Selects the agents to compare with the contract at a block: half of them newly attested, the rest at random.

    The random order is derived from the block's hash, so nobody can choose it and anybody can repeat it.
    """

    def lot(agent: str) -> str:
        return hashlib.sha256(f"{block_hash}/{agent}".encode()).hexdigest()

    newly = sorted(touched, key=lot)[: SAMPLE // 2]
    return newly + sorted(set(agents) - set(newly), key=lot)[: SAMPLE - len(newly)]


class Thresholds(Document):
    """Minimum weighted score of each level."""

    low: int
    medium: int
    high: int


class SampledScores(Document):
    """Scores and thresholds that the contract returned (`meetsTrustThreshold`) at the block."""

    checked: int = Field(ge=0, description="Answers of the contract")
    equal: int = Field(ge=0, description="Of these, how many equal ours")
    verdict: Literal["proven", "failed", "unproven"]
    reason: str | None = Field(
        description="Why it is not proven: no_agents, no_state, call_reverted, rpc_unavailable, empty (unproven); "
        "score_mismatch (failed)"
    )


class TrustConsistency(Document):
    """The block up to which attestations are counted, and the comparison with the contract at that block."""

    level: Literal["finalized", "confirmations"]
    block: int = Field(ge=0)
    block_hash: HexHash
    time: Timestamp
    sampled: SampledScores


class TrustScore(TelemetryDocument):
    """The score of one agent, from its attestations up to a named block."""

    agent: AddressText
    trust_score: int | None = Field(description="Plain mean of all attestations, rounded down; 0 without any")
    weighted_score: int | None = Field(
        description="Mean in which recent work weighs more, rounded down; thresholds apply to it"
    )
    attestation_count: int | None
    registered: bool | None = Field(description="Whether the agent has an attestation")
    thresholds: Thresholds
    level: Literal["none", "low", "medium", "high"] | None = Field(description="The highest threshold that is met")
    last_attested_at: Timestamp | None
    registry: AddressText | None
    network: str | None = Field(description="CAIP-2 chain id; null before any run")
    consistency: TrustConsistency | None


class Weighting(Document):
    """The rule for the weights of attestations."""

    half_life_s: int | None = Field(description="Read from the contract")
    rule: str


class TrustTotals(Document):
    """Totals of the registry, counted from its events."""

    attestations: int
    agents: int
    attesters: int = Field(description="Accounts that have attested")


class Erc8004Mapping(Document):
    """A mapping of an attestation to feedback under ERC-8004, which this registry does not implement."""

    compatible: Literal[False] = False
    value: str
    value_decimals: int
    tag1: str
    note: str


class TrustProtocol(TelemetryDocument):
    """The definition of the trust scores: contracts, thresholds, weighting, totals, and the block of the count."""

    registry: AddressText | None
    escrow: AddressText | None
    network: str | None = Field(description="CAIP-2 chain id; null before any run")
    lowest_score: int = Field(description="Lowest score of an attestation")
    highest_score: int
    thresholds: Thresholds
    weighting: Weighting
    totals: TrustTotals | None
    score_path: str
    functions: dict[str, str] = Field(description="Functions of the contracts, by purpose")
    erc8004: Erc8004Mapping
    consistency: TrustConsistency | None


LISTED_AT_MOST: Final = 500
"""Maximum number of agents, attesters and attestations in the registry's lists."""


class ListedAgent(Document):
    """One agent of the registry."""

    agent: AddressText
    weighted_score: int
    trust_score: int = Field(description="Plain mean of all attestations, rounded down")
    level: Literal["none", "low", "medium", "high"]
    attestation_count: int
    last_attested_at: Timestamp


class ListedAttester(Document):
    """One account that attested."""

    attester: AddressText
    attestation_count: int
    agent_count: int = Field(description="Number of agents that it attested")
    mean_score: int = Field(description="Mean of its attestations, rounded down")
    last_attested_at: Timestamp


class ListedAttestation(Document):
    """One attestation, and the agent's score after it."""

    agent: AddressText
    attester: AddressText
    score: int
    weighted_score: int = Field(description="The agent's score after it")
    job_id: HexHash
    block: int
    attested_at: Timestamp


class TrustRegistry(TelemetryDocument):
    """The attestations of the registry, with agents and attesters. The totals include those that are not listed."""

    registry: AddressText | None
    network: str | None = Field(description="CAIP-2 chain id; null before any run")
    totals: TrustTotals | None
    agents: list[ListedAgent] = Field(description="The highest score first")
    attesters: list[ListedAttester] = Field(description="Most attestations first")
    attestations: list[ListedAttestation] = Field(description="Newest first")
    truncated: bool = Field(description="Whether there are more than listed")
    consistency: TrustConsistency | None


WEIGHTING_RULE: Final = (
    "A new attestation weighs 1. Its weight falls in a straight line to a half over one half-life, to a quarter over "
    "the next, and so on; between attestations all weights fall alike, so a score remains the same. Integer "
    "arithmetic with 18 decimals, rounded down, as in the contract."
)
FUNCTIONS: Final = {
    "attest": "attest(address agent, uint256 score, bytes32 jobId, string metadataURI)",
    "meetsTrustThreshold": "meetsTrustThreshold(address agent, uint256 minScore) returns (bool, uint256)",
    "weightedScore": "weightedScore(address agent) returns (uint256)",
    "escrowDeposit": "deposit(address receiver, uint256 minScore, uint256 deadline) payable returns (uint256)",
    "escrowRelease": "release(uint256 id)",
    "escrowRefund": "refund(uint256 id)",
}
ERC8004: Final = Erc8004Mapping(
    value="score",
    value_decimals=0,
    tag1="starred",
    note="ERC-8004 names agents by token id; this registry names them by address. A mapping, not an implementation.",
)


def thresholds() -> Thresholds:
    return Thresholds(**THRESHOLDS)


def level_of(weighted_score: int, registered: bool) -> Literal["none", "low", "medium", "high"]:
    """Returns the highest threshold that a score meets."""
    if registered and weighted_score >= THRESHOLDS["high"]:
        return "high"
    if registered and weighted_score >= THRESHOLDS["medium"]:
        return "medium"
    return "low" if registered and weighted_score >= THRESHOLDS["low"] else "none"
