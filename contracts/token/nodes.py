"""Compares what several nodes say about one holder list: who agrees, on what, and what is in dispute. Pure.

`contracts/token/proof.py` judges one node's answers; `pipelines/token/nodes.py` asks.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from contracts.base import Document, Timestamp


class DisputedFact(StrEnum):
    """The kinds of facts about which nodes can differ."""

    BLOCK_HASH = "block_hash"
    TOTAL_SUPPLY = "total_supply"
    BALANCE = "balance"
    TRANSFERS = "transfers"


class NodeAnswer(Document):
    """One node's answer about a disputed fact."""

    host: str = Field(description="Host of the node's address, never its path or key")
    answer: str = Field(description="Smallest units, a hash, or the number of rows with their digest")


class Dispute(Document):
    """A fact about which nodes differ. It stays until a later proof settles it, and then it keeps its history."""

    fact: DisputedFact
    subject: str | None = Field(
        description="The address of a balance, or the first and last block of transfers; null for the other facts"
    )
    block: int = Field(ge=0, description="Block for which the nodes were last asked")
    answers: list[NodeAnswer]
    first_seen_at: Timestamp
    last_seen_at: Timestamp
    settled_at: Timestamp | None = Field(description="When the dispute ended; null while it is open")
    settled_by: str | None = Field(
        description="`nodes_agree`: all nodes gave the same answer later, and it is ours; `receipts`: the receipts of "
        "the block, which hash to the root in a header that the nodes share, decided it; null while it is open"
    )


class NodeStanding(Document):
    """One node's part in a proof."""

    host: str
    delivered: bool = Field(description="Whether rows of the list came from this node")
    answered: bool
    agreed: bool = Field(description="Whether all of its answers equal the list and the other nodes' answers")
    reason: str | None = Field(
        description="Why it did not answer: wrong_chain, no_state (it is behind, or keeps no state that old), "
        "call_reverted, empty, rpc_unavailable; null where it did"
    )


class ComparedBalances(Document):
    """Balances of the list that were compared with a node that did not deliver its rows."""

    holders: int = Field(ge=0, description="Addresses with a balance above zero by the events")
    compared: int = Field(ge=0, description="Of these, how many were compared for this list")
    complete: bool = Field(
        description="Whether every balance was compared since it last changed: now, or for an earlier list"
    )


class ConfirmedRanges(Document):
    """Ranges of transfers that a second node confirmed. Which ones is drawn by chance as each range is read."""

    ranges: int = Field(ge=0, description="Ranges behind the list")
    confirmed: int = Field(ge=0, description="Of these, how many a second node confirmed, then or since")


class CheckedReceipts(Document):
    """Blocks whose receipts hash to the root in their header, and whose header hashes to the block's hash."""

    blocks: int = Field(ge=0, description="Blocks drawn: the newest one with a transfer, the others by chance")
    reproduced: int = Field(ge=0, description="Of these, how many roots and hashes a node's answers reproduce")
    equal: int = Field(ge=0, description="Of the reproduced ones, how many hold exactly the transfers of the list")


class Agreement(Document):
    """The number of nodes that agree with a list and with one another, and the subjects that they agree on."""

    asked: int = Field(ge=0, description="RPC addresses that are set")
    answered: int = Field(ge=0, description="Nodes that answered for the list's block")
    agreed: int = Field(ge=0, description="Nodes whose answers equal the list's and each other's")
    nodes: list[NodeStanding]
    sample_seed: str = Field(
        pattern=r"^[0-9a-f]{64}$",
        description="The random value that the sampled addresses follow from. No node could know it before it answered",
    )
    balances: ComparedBalances
    transfers: ConfirmedRanges
    receipts: CheckedReceipts
    disputes: list[Dispute] = Field(description="Open disputes, and those that this proof settled")


@dataclass(frozen=True)
class Disagreement:
    """A fact with at least two answers: `answers` holds (host, answer)."""

    fact: DisputedFact
    subject: str | None
    block: int
    answers: tuple[tuple[str, str], ...]

    @property
    def key(self) -> tuple[DisputedFact, str | None]:
        return self.fact, self.subject


def differing(
    fact: DisputedFact, subject: str | None, block: int, answers: Iterable[tuple[str, object]]
) -> list[Disagreement]:
    """Returns the disagreement among the answers of nodes about one fact, or nothing where they agree."""
    texts = tuple((host, str(answer)) for host, answer in answers)
    return [Disagreement(fact, subject, block, texts)] if len({text for _, text in texts}) > 1 else []


def settled_facts(
    disputes: Iterable[Dispute],
    disagreements: Collection[Disagreement],
    agreed: Mapping[tuple[DisputedFact, str | None], Collection[str]],
    configured: Collection[str],
) -> list[tuple[DisputedFact, str | None]]:
    """Returns the open disputes that end: every party to one that is still set has answered, all alike and as we hold.

    `agreed` has the hosts that gave the same answer about a fact, which equals ours. A node that lied and is now silent
    settles nothing.
    """
    open_again = {disagreement.key for disagreement in disagreements}
    ended = []
    for dispute in disputes:
        key = (dispute.fact, dispute.subject)
        parties = {answer.host for answer in dispute.answers} & set(configured)
        if key not in open_again and key in agreed and agreed[key] and parties <= set(agreed[key]):
            ended.append(key)
    return ended


def opened(disagreement: Disagreement, now: datetime) -> Dispute:
    """Returns the dispute that a disagreement begins."""
    return Dispute(
        fact=disagreement.fact,
        subject=disagreement.subject,
        block=disagreement.block,
        answers=[NodeAnswer(host=host, answer=answer) for host, answer in disagreement.answers],
        first_seen_at=now,
        last_seen_at=now,
        settled_at=None,
        settled_by=None,
    )
