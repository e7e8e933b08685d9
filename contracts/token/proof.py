"""Defines the proof of a holder list, samples balances for it, and judges the evidence. Pure.

`contracts/token/nodes.py` compares the answers of several nodes.
"""

import hashlib
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from contracts.base import Document, HexHash, Quality, RawAmount, Sha256Hex
from contracts.token.nodes import Agreement
from contracts.token.storage_proof import StorageProof, StorageVerdict

AmountByEvents = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]*)$")]
"""Smallest units as a decimal string, summed from events. A contract may emit more than fits into uint256."""

SAMPLE_LARGEST = 5
SAMPLE_RANDOM = 15


class Verdict(StrEnum):
    """Whether the chain itself confirms a list."""

    PROVEN = "proven"
    FAILED = "failed"
    DISPUTED = "disputed"
    UNPROVEN = "unproven"


class SampledBalances(Document):
    """Balances that the contract returned at the list's block."""

    checked: int = Field(ge=0, description="Addresses whose `balanceOf` was answered")
    equal: int = Field(ge=0, description="Number of these that equal ours")


class HolderListFile(Document):
    """The full list of the proof: `address,balance_raw`, largest first, gzip. Immutable."""

    path: str = Field(description="Path on this host")
    sha256: Sha256Hex = Field(description="SHA-256 of the compressed bytes")
    bytes: int = Field(ge=0, description="Size of the compressed file")
    rows: int = Field(ge=0, description="Addresses with a balance above zero")


class Proof(Document):
    """Evidence that the balances of one block add up, and that the token contract agrees."""

    block: int = Field(ge=0)
    block_hash: HexHash
    sum_of_balances: str = Field(
        pattern=r"^-?(0|[1-9][0-9]*)$",
        description="Smallest units; of the list, and of negative balances if there are any",
    )
    total_supply: RawAmount | None = Field(description="`totalSupply()` at the block; null if it was not answered")
    minted: AmountByEvents = Field(description="Smallest units sent from the zero address up to the block")
    burned: AmountByEvents = Field(
        description="Smallest units sent to the zero address up to the block, less what it still holds"
    )
    negative_balances: int = Field(ge=0, description="Addresses that sent more than they received, by the events")
    sampled_balance_of: SampledBalances
    ranges_reasked: int = Field(ge=0, description="Block ranges that were read a second time to catch silent gaps")
    verdict: Verdict
    reason: str | None = Field(
        description="Why it is not fully proven: no_state, no_supply, no_balance_of, call_reverted, no_contract, "
        "rpc_unavailable (unproven); negative_balance, sum_mismatch, supply_mismatch, balance_mismatch, "
        "block_hash_mismatch, storage_mismatch (failed); nodes_disagree (disputed); "
        "derived (proven at a newer block and replayed back)"
    )
    holder_list: HolderListFile | None
    nodes: Agreement | None = Field(
        default=None, description="How many nodes agree, and on what; null for lists older than this comparison"
    )
    storage: StorageProof | None = Field(
        default=None,
        description="Every balance against the block's hash, if a node answers `eth_getProof`. A storage that "
        "contradicts the list fails the whole proof; null for a list that is older than these proofs",
    )


class Missing(StrEnum):
    """The reason why the contract did not answer a call at a block."""

    NO_STATE = "no_state"
    EMPTY = "empty"
    CALL_REVERTED = "call_reverted"
    RPC_UNAVAILABLE = "rpc_unavailable"


@dataclass(frozen=True)
class FoldedSupply:
    """The totals of the events up to one block, in smallest units.

    Holders are addresses with a balance above zero. They exclude the zero address, as does `held`.
    """

    holders: int
    held: int
    minted: int
    sent_to_zero: int
    zero_to_zero: int
    negative_balances: int


@dataclass(frozen=True)
class ContractAnswers:
    """The token contract's answers at one block. `balances` contains (address, ours, theirs)."""

    total_supply: int | Missing
    balance_of_zero: int | Missing
    balances: tuple[tuple[str, int, int | Missing], ...]
    block_hash: str | Missing
    derived: bool = False


_NO_STATE = re.compile(
    r"missing trie node|historical state|header not found|state (is )?not available|no state|prun(?:ed|ing)|"
    r"block ?out ?of ?range|beyond|archive|unknown block|distance to target block|is not available",
    re.IGNORECASE,
)
_REVERTED = re.compile(r"revert|invalid opcode|out of gas|stack (under|over)flow|bad jump", re.IGNORECASE)


def why_missing(code: int | None, message: str) -> Missing:
    """Classifies a JSON-RPC error of `eth_call` by its code and text."""
    if _NO_STATE.search(message):
        return Missing.NO_STATE
    if code == 3 or _REVERTED.search(message):
        return Missing.CALL_REVERTED
    return Missing.RPC_UNAVAILABLE


def decode_uint(result: object) -> int | Missing:
    """Decodes one uint256 of an `eth_call` result. Empty data means that the contract has no such function."""
    if not isinstance(result, str) or not result.startswith("0x") or len(result) < 66:
        return Missing.EMPTY
    return int(result[2:66], 16)


def sample_points(seed: str, count: int = SAMPLE_RANDOM) -> list[str]:
    """Returns `count` addresses derived from a seed. Without the seed, nobody can predict them."""
    return ["0x" + hashlib.sha256(f"{seed}/{index}".encode()).hexdigest()[:40] for index in range(count)]


def pick_sample(largest_first: Sequence[str], seed: str) -> list[str]:
    """Returns the addresses to query: the five largest, and the next one after each derived point, with wrap-around."""
    ordered = sorted(largest_first)
    drawn = [ordered[bisect_left(ordered, point) % len(ordered)] for point in sample_points(seed) if ordered]
    return list(dict.fromkeys([*largest_first[:SAMPLE_LARGEST], *drawn]))


def held_by_zero(folded: FoldedSupply, answers: ContractAnswers) -> int:
    """Returns the balance that the zero address still holds, in smallest units.

    A transfer to zero is a burn in most contracts and a deposit in some, and the event does not show which. It is a
    deposit if the supply exceeds the sum of the holders by exactly the contract's balance of zero. Without an answer,
    only a mint from zero to zero counts (like Uniswap v2's locked liquidity).

    Example: holders have 90 and 10 went to zero. `totalSupply()` 100 and `balanceOf(0)` 10 show a deposit of 10;
    `totalSupply()` 90 shows a burn.
    """
    if isinstance(answers.total_supply, Missing) or isinstance(answers.balance_of_zero, Missing):
        return folded.zero_to_zero
    lacking = answers.total_supply - folded.held
    return lacking if 0 < lacking == answers.balance_of_zero <= folded.sent_to_zero else 0


def judge(
    folded: FoldedSupply,
    answers: ContractAnswers,
    *,
    block: int,
    block_hash: str,
    ranges_reasked: int,
    nodes: Agreement | None = None,
) -> Proof:
    """Compares the events with the contract's answers.

    A dispute among nodes outweighs a contradiction, because nobody knows which answer is the contract's. A
    contradiction outweighs a missing answer.
    """
    at_zero = held_by_zero(folded, answers)
    answered = [(ours, theirs) for _, ours, theirs in answers.balances if not isinstance(theirs, Missing)]
    equal = sum(ours == theirs for ours, theirs in answered)
    total = folded.held + at_zero
    burned = folded.sent_to_zero - at_zero
    verdict, reason = _weigh(folded, answers, block_hash, total, folded.minted - burned, len(answered), equal)
    if nodes is not None and any(dispute.settled_at is None for dispute in nodes.disputes):
        verdict, reason = Verdict.DISPUTED, "nodes_disagree"
    return Proof(
        block=block,
        block_hash=block_hash,
        sum_of_balances=str(total),
        total_supply=None if isinstance(answers.total_supply, Missing) else str(answers.total_supply),
        minted=str(folded.minted),
        burned=str(burned),
        negative_balances=folded.negative_balances,
        sampled_balance_of=SampledBalances(checked=len(answered), equal=equal),
        ranges_reasked=ranges_reasked,
        verdict=verdict,
        reason=reason,
        holder_list=None,
        nodes=nodes,
    )


def with_storage(proof: Proof, storage: StorageProof) -> Proof:
    """Adds the storage proof to a proof. Storage that contradicts the list outweighs every other answer."""
    if storage.verdict is StorageVerdict.FAILED and proof.verdict is not Verdict.FAILED:
        proof = proof.model_copy(update={"verdict": Verdict.FAILED, "reason": "storage_mismatch"})
    return proof.model_copy(update={"storage": storage})


def _weigh(
    folded: FoldedSupply,
    answers: ContractAnswers,
    block_hash: str,
    total: int,
    issued: int,
    checked: int,
    equal: int,
) -> tuple[Verdict, str | None]:
    if not isinstance(answers.block_hash, Missing) and answers.block_hash != block_hash:
        return Verdict.FAILED, "block_hash_mismatch"
    if folded.negative_balances:
        return Verdict.FAILED, "negative_balance"
    if total != issued:
        return Verdict.FAILED, "sum_mismatch"
    if not isinstance(answers.total_supply, Missing) and answers.total_supply != total:
        return Verdict.FAILED, "supply_mismatch"
    if equal != checked:
        return Verdict.FAILED, "balance_mismatch"
    unanswered = [theirs for _, _, theirs in answers.balances if isinstance(theirs, Missing)]
    if unanswered:
        return Verdict.UNPROVEN, "no_balance_of" if unanswered[0] is Missing.EMPTY else unanswered[0].value
    if isinstance(answers.total_supply, Missing):
        return Verdict.UNPROVEN, "no_supply" if answers.total_supply is Missing.EMPTY else answers.total_supply.value
    if isinstance(answers.block_hash, Missing):
        return Verdict.UNPROVEN, answers.block_hash.value
    return Verdict.PROVEN, "derived" if answers.derived else None


def quality_of(proof: Proof) -> Quality:
    """Returns how far a reader can trust the numbers of a list with this proof."""
    if proof.verdict is Verdict.PROVEN:
        return Quality.EXACT if proof.reason is None else Quality.DERIVED
    return Quality.DERIVED if proof.verdict is Verdict.UNPROVEN else Quality.ESTIMATED
