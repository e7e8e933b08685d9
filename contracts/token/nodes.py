"""Compares several nodes' answers about one holder list: who agrees, on what, and what is in dispute. Pure.

`contracts/token/proof.py` judges one node's answers; `pipelines/token/nodes.py` queries the nodes.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from pydantic import Field

from contracts.base import Document, Timestamp


class DisputedFact(StrEnum):
    """The kinds of facts on which nodes can differ."""

    BLOCK_HASH = "block_hash"
    TOTAL_SUPPLY = "total_supply"
    BALANCE = "balance"
    TRANSFERS = "transfers"


class NodeAnswer(Document):
    """One node's answer about a disputed fact."""

    host: str = Field(description="Host of the node's address, never its path or key")
    answer: str = Field(description="Smallest units, a hash, or the number of rows with their digest")


class Dispute(Document):
    """A fact on which nodes differ. It remains open until a later proof settles it, and then keeps its history."""

    fact: DisputedFact
    subject: str | None = Field(
        description="The address of a balance, or the first and last block of transfers; null for the other facts"
    )
    block: int = Field(ge=0, description="Block for which the nodes were last queried")
    answers: list[NodeAnswer]
    first_seen_at: Timestamp
    last_seen_at: Timestamp
    settled_at: Timestamp | None = Field(description="When the dispute ended; null while it is open")
    settled_by: str | None = Field(
        description="`nodes_agree`: all nodes later gave the same answer, and it equals ours; `receipts`: the receipts "
        "of the block, which hash to the root in a header that the nodes share, decided it; null while it is open"
    )


class NodeStanding(Document):
    """One node's part in a proof."""

    host: str
    delivered: bool = Field(description="Whether rows of the list came from this node")
    answered: bool
    agreed: bool = Field(description="Whether all of its answers equal the list and the other nodes' answers")
    reason: str | None = Field(
        description="Why it did not answer: wrong_chain, no_state (it is behind, or has no state that old), "
        "call_reverted, empty, rpc_unavailable; null if it answered"
    )


class ComparedBalances(Document):
    """Balances of the list that were compared with a node other than the one that delivered its rows."""

    holders: int = Field(ge=0, description="Addresses with a balance above zero according to the events")
    compared: int = Field(ge=0, description="Number of these that were compared for this list")
    complete: bool = Field(
        description="Whether every balance was compared since its last change, for this or an earlier list"
    )


class ConfirmedRanges(Document):
    """Ranges of transfers that a second node confirmed. They are chosen at random when they are read."""

    ranges: int = Field(ge=0, description="Number of ranges from which the list was built")
    confirmed: int = Field(ge=0, description="Number of these that a second node confirmed, then or later")


class CheckedReceipts(Document):
    """Blocks whose receipts hash to the root in their header, and whose header hashes to the block's hash."""

    blocks: int = Field(ge=0, description="Blocks selected: the newest one with a transfer, the others at random")
    reproduced: int = Field(ge=0, description="Number of these whose root and hash a node's answers reproduce")
    equal: int = Field(ge=0, description="Number of reproduced blocks that contain exactly the list's transfers")


class Agreement(Document):
    """The number of nodes that agree with a list and with each other, and on what they agree."""

    asked: int = Field(ge=0, description="Number of configured RPC addresses")
    answered: int = Field(ge=0, description="Nodes that answered for the list's block")
    agreed: int = Field(ge=0, description="Nodes whose answers equal the list's and each other's")
    nodes: list[NodeStanding]
    sample_seed: str = Field(
        pattern=r"^[0-9a-f]{64}$",
        description="The random value from which the sample is derived. No node could know it before it answered",
    )
    balances: ComparedBalances
    transfers: ConfirmedRanges
    receipts: CheckedReceipts
    disputes: list[Dispute] = Field(description="Open disputes, and those that this proof settled")


@dataclass(frozen=True)
class Disagreement:
    """A fact with at least two answers: `answers` contains (host, answer)."""

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
    """Returns the disagreement among the nodes' answers about one fact, or an empty list if they agree."""
    texts = tuple((host, str(answer)) for host, answer in answers)
    return [Disagreement(fact, subject, block, texts)] if len({text for _, text in texts}) > 1 else []


def settled_facts(
    disputes: Iterable[Dispute],
    disagreements: Collection[Disagreement],
    agreed: Mapping[tuple[DisputedFact, str | None], Collection[str]],
    configured: Collection[str],
) -> list[tuple[DisputedFact, str | None]]:
    """Returns the open disputes that end.

    A dispute ends once all of its parties that are still configured have given the same answer, equal to ours. `agreed`
    has, for each fact, the hosts that gave that answer. A node that lied and is now silent settles nothing.
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
    """Returns the dispute that a disagreement opens."""
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
