"""Verifies a published holder list against its file and a contract's answers, by pure functions of values."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from contracts.token.further_tokens import IndexedToken, PublishedToken, TokenState, indexed_token, token_folder
from contracts.token.holder_documents import Holder, TokenHolders
from contracts.token.holders import csv_file_name, csv_path
from contracts.token.nodes import Agreement
from contracts.token.proof import ContractAnswers, Missing, Proof, Verdict
from contracts.token.storage_proof import ProofStep, StorageProofInvalid, header_hash, prove, unpack

CSV_HEADER = b"address,balance_raw\n"
MAX_LINE_BYTES = 42 + 1 + 100 + 1
MAX_FILE_BYTES = 1 << 30
_MOST_NAMED = 5

_LINE = re.compile(rb"(0x[0-9a-f]{40}),([1-9][0-9]{0,99})\n")


class Outcome(StrEnum):
    """The result of one check; `unknown` if the evidence was not available."""

    OK = "ok"
    FAIL = "fail"
    UNKNOWN = "unknown"


_CLAIMED = {Verdict.PROVEN: Outcome.OK, Verdict.UNPROVEN: Outcome.UNKNOWN, Verdict.FAILED: Outcome.FAIL}
"""The outcome for each claim of the publisher. A list that the publisher calls unproven is not a failed proof."""


@dataclass(frozen=True)
class Check:
    """One line of the verification."""

    name: str
    outcome: Outcome
    detail: str


@dataclass(frozen=True)
class PublishedList:
    """The rows of a list file in order, and its first fault, or None."""

    rows: list[tuple[str, int]]
    fault: str | None


@dataclass(frozen=True)
class ClaimedList:
    """A list as its document claims it: its token, block, path and proof."""

    token: str
    chain_id: int
    block: int
    block_hash: str
    path: str
    holders: int | None
    proof: Proof


def claimed_list(document: TokenHolders) -> ClaimedList | None:
    """Returns the list of the service token, or None before the first one."""
    held = document.consistency
    if held is None or document.token is None or document.chain_id is None:
        return None
    return ClaimedList(
        document.token.address,
        document.chain_id,
        held.block,
        held.block_hash,
        csv_path(held.block),
        document.holder_count,
        held.proof,
    )


def claimed_list_of(token: PublishedToken) -> ClaimedList | None:
    """Returns the list of a further token, or None before the first one."""
    if token.block is None or token.block_hash is None or token.proof is None:
        return None
    path = token_folder(token.address) + csv_file_name(token.block)
    return ClaimedList(token.address, token.chain_id, token.block, token.block_hash, path, token.holders, token.proof)


def check(name: str, passed: bool, detail: str) -> Check:
    """Returns a check with a definite result."""
    return Check(name, Outcome.OK if passed else Outcome.FAIL, detail)


def read_list(lines: Iterable[bytes], *, max_rows: int) -> PublishedList:
    """Parses the rows of a list file up to its first fault.

    Each line must contain a lower-case address and a balance above zero. The largest balance comes first, equal
    balances are ordered by address, and no address occurs twice.
    """
    rows: list[tuple[str, int]] = []
    seen: set[str] = set()
    for number, line in enumerate(lines, start=1):
        if number == 1:
            if line != CSV_HEADER:
                return PublishedList(rows, "line 1 is not the header address,balance_raw")
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            return PublishedList(rows, f"line {number} is not an address and a balance above zero")
        address, balance = match[1].decode(), int(match[2])
        if address in seen:
            return PublishedList(rows, f"line {number} repeats {address}")
        if rows and (balance, rows[-1][0]) > (rows[-1][1], address):
            return PublishedList(rows, f"line {number} is out of order")
        if len(rows) == max_rows:
            return PublishedList(rows, f"there are more than {max_rows} rows")
        seen.add(address)
        rows.append((address, balance))
    return PublishedList(rows, None)


def further_token_checks(token: PublishedToken, row: IndexedToken) -> list[Check]:
    """Checks the document of a further token against the line of the index, and its state against its proof."""
    state = f"{token.state.value}{f' ({token.reason})' if token.reason else ''}"
    newest = "it has no list" if token.block is None else f"its newest list is of block {token.block}"
    if token.state is TokenState.BROKEN:
        said = Check("state", Outcome.UNKNOWN, f"{state}: its history can't be read further, and {newest}")
    elif token.state is TokenState.WAITING:
        said = Check("state", Outcome.UNKNOWN, f"{state}: {newest} yet")
    else:
        said = check("state", token.proof is not None and token.state.value == token.proof.verdict.value, state)
    listed = row.state.value if row.block is None else f"{row.state.value} at block {row.block}"
    return [check("index", indexed_token(token) == row, listed), said]


def supply_check(document: TokenHolders, claim: ClaimedList) -> Check:
    """Checks that the document and its proof state the same supply."""
    return check(
        "supply of the document",
        document.total_supply_raw == claim.proof.total_supply,
        f"{document.total_supply_raw} = the proof's {claim.proof.total_supply}",
    )


def claim_checks(claim: ClaimedList) -> list[Check]:
    """Checks a document's claims against each other: verdict, block, and the arithmetic of the proof."""
    proof = claim.proof
    path = None if proof.holder_list is None else proof.holder_list.path
    issued = int(proof.minted) - int(proof.burned)
    return [
        Check("claimed verdict", _CLAIMED[proof.verdict], _verdict_text(proof)),
        check(
            "one block",
            (proof.block, proof.block_hash, path) == (claim.block, claim.block_hash, claim.path),
            f"block {claim.block}",
        ),
        check(
            "minted - burned",
            issued == int(proof.sum_of_balances) and proof.negative_balances == 0,
            f"{issued} = the proof's sum {proof.sum_of_balances}",
        ),
        *_agreement_checks(proof.nodes),
    ]


def _agreement_checks(nodes: Agreement | None) -> list[Check]:
    """Checks that no dispute among the publisher's nodes is open, if the publisher queried several."""
    if nodes is None or (nodes.asked < 2 and not nodes.disputes):
        return []
    detail = f"{nodes.agreed} of {nodes.asked} agreed, {nodes.balances.compared} balances compared between nodes"
    for dispute in nodes.disputes:
        if dispute.settled_at is None:
            told = ", ".join(f"{answer.host} answers {answer.answer}" for answer in dispute.answers)
            subject = "" if dispute.subject is None else f" {dispute.subject}"
            detail = f"{detail}; in dispute: {dispute.fact.value}{subject} ({told})"
    return [check("nodes", all(dispute.settled_at is not None for dispute in nodes.disputes), detail)]


def list_checks(claim: ClaimedList, published: PublishedList) -> list[Check]:
    """Checks that the rows are valid and add up to the numbers of the proof and the document."""
    proof = claim.proof
    total = sum(balance for _, balance in published.rows)
    named = 0 if proof.holder_list is None else proof.holder_list.rows
    return [
        check("list rows", published.fault is None, published.fault or "unique addresses, ordered, all above zero"),
        check(
            "list length",
            len(published.rows) == named == claim.holders,
            f"{len(published.rows)} rows, proof {named}, document {claim.holders}",
        ),
        check(
            "list sum",
            str(total) == proof.sum_of_balances,
            f"{total}, proof {proof.sum_of_balances}",
        ),
    ]


def chain_checks(claim: ClaimedList, published: PublishedList, answers: ContractAnswers) -> list[Check]:
    """Checks the list against the chain: the block's hash, the supply, and every sampled balance."""
    total = sum(balance for _, balance in published.rows)
    unequal = [
        address for address, ours, theirs in answers.balances if not isinstance(theirs, Missing) and ours != theirs
    ]
    missing = [theirs for _, _, theirs in answers.balances if isinstance(theirs, Missing)]
    how = " (carried back from the newest block)" if answers.derived else ""
    if unequal:
        sample = check("balanceOf", False, f"{len(unequal)} of {len(answers.balances)} differ, first {unequal[0]}")
    elif missing or not answers.balances:
        sample = Check("balanceOf", Outcome.UNKNOWN, missing[0].value if missing else "no address to query")
    else:
        sample = check("balanceOf", True, f"{len(answers.balances)} of {len(answers.balances)} equal{how}")
    return [
        _comparison("block hash", answers.block_hash, claim.block_hash, ""),
        _supply_comparison(answers.total_supply, claim.proof.total_supply, total, how),
        sample,
    ]


def storage_checks(file: bytes, published: PublishedList, block_hash: str | None) -> list[Check]:
    """Checks the list against its storage proof, step by step from the block hash down to every balance.

    Without a trusted `block_hash`, it checks everything below the header and puts the hash to compare into the detail.
    """
    steps = list(ProofStep)
    try:
        proof = unpack(file)
        hashed = header_hash(proof)
        proven = prove(proof, published.rows, block_hash or hashed)
    except StorageProofInvalid as invalid:
        at = steps.index(invalid.step)
        return [
            *(check(step.value, True, "holds") for step in steps[:at]),
            check(invalid.step.value, False, invalid.detail),
            *(Check(step.value, Outcome.UNKNOWN, "not reached") for step in steps[at + 1 :]),
        ]
    layout = proof.balances
    header = check(ProofStep.HEADER.value, True, f"block {proven.block}, {hashed}")
    if block_hash is None:
        header = Check(
            ProofStep.HEADER.value, Outcome.UNKNOWN, f"pass --block-hash: is {hashed} the hash of block {proven.block}?"
        )
    where = f"{layout.order.value} mapping at {int(layout.base, 16):#x}"
    return [
        check(ProofStep.FILE.value, True, f"{len(proof.siblings)} siblings, {where}"),
        header,
        check(ProofStep.ACCOUNT.value, True, f"token {proven.token}"),
        check(ProofStep.BALANCES.value, True, f"{proven.holders} of {proven.holders} holders and the supply"),
        check(ProofStep.SUPPLY.value, True, f"{proven.supply}, so no holder is missing"),
    ]


def map_check(map_block: int | None, top: Sequence[Holder], published: PublishedList) -> Check:
    """Checks that the holder map's first page equals the head of the list."""
    shown = [(holder.address, int(holder.balance_raw)) for holder in top]
    ranks = [holder.rank for holder in top]
    same = bool(shown) == bool(published.rows) and shown == published.rows[: len(shown)]
    return check(
        "holder map",
        same and ranks == list(range(1, len(top) + 1)),
        f"first {len(shown)} rows of block {map_block} against the list",
    )


def verdict_of(checks: Iterable[Check]) -> Verdict:
    """Returns failed if any check failed, or else unproven if any has no answer, or else proven."""
    outcomes = {line.outcome for line in checks}
    if Outcome.FAIL in outcomes:
        return Verdict.FAILED
    return Verdict.UNPROVEN if Outcome.UNKNOWN in outcomes or not outcomes else Verdict.PROVEN


def explained_verdict(checks: Sequence[Check]) -> str:
    """Returns the verdict in words, with the deciding checks unless all passed."""
    verdict = verdict_of(checks)
    if verdict is Verdict.PROVEN or not checks:
        return verdict.value
    deciding = Outcome.FAIL if verdict is Verdict.FAILED else Outcome.UNKNOWN
    names = [line.name for line in checks if line.outcome is deciding]
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    why = "did not pass" if verdict is Verdict.FAILED else "could not be decided"
    return f"{verdict.value}, since {len(names)} of {len(checks)} checks {why}: {'; '.join(names[:_MOST_NAMED])}{more}"


def _supply_comparison(theirs: int | Missing, published: str | None, total: int, how: str) -> Check:
    """Compares the contract's supply with the published one, if there is one, and with the sum of the rows."""
    if isinstance(theirs, Missing):
        return _comparison("totalSupply", theirs, total, how)
    return check(
        "totalSupply",
        theirs == total and published in (None, str(theirs)),
        f"{theirs}, published {published or 'none'}, sum of the list {total}{how}",
    )


def _comparison(name: str, theirs: object, ours: object, how: str) -> Check:
    if isinstance(theirs, Missing):
        return Check(name, Outcome.UNKNOWN, f"the node did not answer: {theirs.value}")
    return check(name, theirs == ours, f"{theirs}, published {ours}{how}")


def _verdict_text(proof: Proof) -> str:
    text = proof.verdict.value + (f" ({proof.reason})" if proof.reason else "")
    if proof.storage is None:
        return text
    return f"{text}, storage {proof.storage.verdict.value}" + (
        f" ({proof.storage.reason.value})" if proof.storage.reason else ""
    )
