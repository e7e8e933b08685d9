"""Queries every node about a holder list, so that nodes that did not deliver its rows can contradict those that did.

`contracts/token/nodes.py` compares the answers; `pipelines/token/rereading.py` reads ranges again.
"""

import asyncio
import hashlib
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from contracts.errors import RpcUnavailable
from contracts.evm.bulk_balances import (
    ADDRESSES_PER_CALL,
    balances_digest,
    balances_digest_call,
    read_balances_digest,
)
from contracts.evm.codec import RpcError, Transient
from contracts.token.holders import ZERO_ADDRESS
from contracts.token.nodes import CheckedReceipts, Disagreement, DisputedFact, NodeStanding, differing
from contracts.token.proof import ContractAnswers, Missing, decode_uint
from pipelines.clients.rpc import Endpoint, RpcPool
from pipelines.clients.rpc_state import Call, Rpc, ask
from pipelines.token.events import TokenTransfers
from pipelines.token.head import headers_at
from pipelines.token.proof import ask_contract, balance_of_data
from pipelines.token.receipts import reproduced_receipts
from pipelines.token.source import rows_by_block, table_of

ONLY_NODE: Final = "node"
"""The host name of a single node outside a pool."""

_MOST_LOCATED: Final = 8
"""The most differing balances to locate in one comparison; more would add no information."""

_ONE_BY_ONE: Final = 16
_MOST_ONE_BY_ONE: Final = 300
"""The most balances to compare by single calls, for nodes that don't support the bulk call."""

_UINT256: Final = 1 << 256

_COMPARE_WITHIN_S: Final = 60.0

Result = TypeVar("Result")
Balance = tuple[str, int]


@dataclass(frozen=True)
class OwnBlock:
    """Our rows of one block, in the form of `rows_by_block`, the range in which they were read, and its node's host."""

    number: int
    rows: Sequence[Mapping[str, Any]]
    range_name: str
    host: str


@dataclass(frozen=True)
class ListQuestions:
    """The queries to nodes about the list of one block.

    `sample` and `compared` map addresses to our balances in smallest units: every node is queried about the first, and
    nodes that did not deliver all rows about the second. `delivered` are the hosts that delivered rows; `transfers` are
    our rows of the blocks whose receipts are checked.
    """

    token: str
    block: int
    block_hash: str
    sample: Mapping[str, int]
    compared: Mapping[str, int] = field(default_factory=dict)
    delivered: frozenset[str] = frozenset()
    transfers: Sequence[OwnBlock] = ()


@dataclass(frozen=True)
class Survey:
    """The answers of nodes. `answers` are those of the node by which the proof is judged.

    `agreed` has, for each fact on which at least one node agrees with us, the hosts that do.
    """

    answers: ContractAnswers
    standings: list[NodeStanding]
    disagreements: list[Disagreement]
    agreed: Mapping[tuple[DisputedFact, str | None], frozenset[str]]
    compared: int
    receipts: CheckedReceipts


async def survey_nodes(rpc: Rpc, questions: ListQuestions) -> Survey:
    """Queries every node of a pool separately, or the only node. A missing answer is a value, never an error."""
    nodes = {endpoint.host: endpoint for endpoint in rpc.endpoints} if isinstance(rpc, RpcPool) else {}
    if not isinstance(rpc, RpcPool) or len(nodes) < 2:
        host = next(iter(nodes), ONLY_NODE)
        by_host = {host: await _answers(rpc, questions, questions.sample)}
        compared = 0
    else:
        by_host = await _of_each(rpc, questions, questions.sample)
        compared, different = await _compared(rpc, by_host, questions)
        if different:
            located = {address: questions.compared[address] for address in different}
            by_host = _joined(by_host, await _of_each(rpc, questions, located))
    disagreements, agreed = _weighed(by_host, questions)
    receipts = CheckedReceipts(blocks=0, reproduced=0, equal=0)
    if isinstance(rpc, RpcPool):
        receipts, others = await _check_receipts(rpc, by_host, questions)
        disagreements += others
    contradicted = {host for found in disagreements for host, _ in found.answers}
    hosts = list(nodes) or [ONLY_NODE]
    return Survey(
        answers=_believed(by_host, questions),
        standings=[_standing(host, nodes.get(host), by_host.get(host), questions, contradicted) for host in hosts],
        disagreements=disagreements,
        agreed=agreed,
        compared=compared,
        receipts=receipts,
    )


async def _answers(rpc: Rpc, questions: ListQuestions, balances: Mapping[str, int]) -> ContractAnswers:
    return await ask_contract(rpc, token=questions.token, block=questions.block, balances=balances)


async def _of_each(pool: RpcPool, questions: ListQuestions, balances: Mapping[str, int]) -> dict[str, ContractAnswers]:
    """Returns the answers of each node that gave any, by host."""

    async def work(endpoint: Endpoint) -> ContractAnswers:
        answers = await _answers(endpoint, questions, balances)
        if answers.block_hash is Missing.RPC_UNAVAILABLE:
            raise RpcError(Transient(), "no answer about the list's block")
        return answers

    results = await pool.each(work, enough=lambda _: True, wait_for_resting=True)
    return {endpoint.host: result for endpoint, result in results.items() if isinstance(result, ContractAnswers)}


def _joined(by_host: Mapping[str, ContractAnswers], more: Mapping[str, ContractAnswers]) -> dict[str, ContractAnswers]:
    """Returns the answers with the balances of `more` added."""
    joined = {}
    for host, answers in by_host.items():
        known = {address for address, *_ in answers.balances}
        extra = more[host].balances if host in more else ()
        joined[host] = replace(answers, balances=(*answers.balances, *(row for row in extra if row[0] not in known)))
    return joined


def _is_usable(answers: ContractAnswers, questions: ListQuestions) -> bool:
    """Returns True if a node has the list's block with our hash; else its state is another chain's, or a guess."""
    return answers.block_hash == questions.block_hash


def _weighed(
    by_host: Mapping[str, ContractAnswers], questions: ListQuestions
) -> tuple[list[Disagreement], dict[tuple[DisputedFact, str | None], frozenset[str]]]:
    """Returns the facts about which nodes differ, and for every other fact the hosts that agree with us."""
    usable = {host: answers for host, answers in by_host.items() if _is_usable(answers, questions)}
    told: dict[tuple[DisputedFact, str | None], list[tuple[str, int | str]]] = {}
    ours: dict[tuple[DisputedFact, str | None], int | str] = {(DisputedFact.BLOCK_HASH, None): questions.block_hash}

    def tell(fact: DisputedFact, subject: str | None, host: str, answer: int | str | Missing) -> None:
        if not isinstance(answer, Missing):
            told.setdefault((fact, subject), []).append((host, answer))

    for host, answers in by_host.items():
        tell(DisputedFact.BLOCK_HASH, None, host, answers.block_hash)
    for host, answers in usable.items():
        tell(DisputedFact.TOTAL_SUPPLY, None, host, answers.total_supply)
        tell(DisputedFact.BALANCE, ZERO_ADDRESS, host, answers.balance_of_zero)
        for address, our_balance, answer in answers.balances:
            ours[DisputedFact.BALANCE, address] = our_balance
            tell(DisputedFact.BALANCE, address, host, answer)
    disagreements = [
        disagreement
        for (fact, subject), answers in told.items()
        for disagreement in differing(fact, subject, questions.block, answers)
    ]
    disputed = {disagreement.key for disagreement in disagreements}
    agreed = {
        key: frozenset(host for host, _ in answers)
        for key, answers in told.items()
        if key not in disputed and (key not in ours or answers[0][1] == ours[key])
    }
    return disagreements, agreed


def _believed(by_host: Mapping[str, ContractAnswers], questions: ListQuestions) -> ContractAnswers:
    """Returns the answers to judge by: preferably complete, at the block itself, of a node that delivered no rows."""

    def rank(item: tuple[str, ContractAnswers]) -> tuple[bool, int, bool, bool]:
        host, answers = item
        values = (answers.total_supply, *(answer for *_, answer in answers.balances))
        missing = sum(isinstance(value, Missing) for value in values)
        return not _is_usable(answers, questions), missing, answers.derived, host in questions.delivered

    if not by_host:
        gone = Missing.RPC_UNAVAILABLE
        balances = tuple((address, balance, gone) for address, balance in questions.sample.items())
        return ContractAnswers(total_supply=gone, balance_of_zero=gone, balances=balances, block_hash=gone)
    return min(by_host.items(), key=rank)[1]


def _standing(
    host: str,
    endpoint: Endpoint | None,
    answers: ContractAnswers | None,
    questions: ListQuestions,
    contradicted: set[str],
) -> NodeStanding:
    reason: Missing | str | None = None
    if endpoint is not None and endpoint.wrong_chain is not None:
        reason = "wrong_chain"
    elif answers is None:
        reason = Missing.RPC_UNAVAILABLE.value
    else:
        values = (answers.block_hash, answers.total_supply, *(answer for *_, answer in answers.balances))
        reason = next((value.value for value in values if isinstance(value, Missing)), None)
    agreed = reason is None and answers is not None and host not in contradicted and _matches(answers, questions)
    delivered = host in questions.delivered
    return NodeStanding(host=host, delivered=delivered, answered=reason is None, agreed=agreed, reason=reason)


def _matches(answers: ContractAnswers, questions: ListQuestions) -> bool:
    return answers.block_hash == questions.block_hash and all(ours == theirs for _, ours, theirs in answers.balances)


# Bulk comparison of balances with nodes that did not deliver the rows.


class _Only:
    """One node of a pool as an `Rpc`: the pool checks its limits and its chain, and each call is attempted once.

    A node that has become late is not queried any more.
    """

    def __init__(self, pool: RpcPool, endpoint: Endpoint) -> None:
        self._pool = pool
        self._endpoint = endpoint
        self._others = [other for other in pool.endpoints if other is not endpoint]

    async def call(self, method: str, params: Sequence[Any]) -> Any:
        return await self.attempt(lambda endpoint: endpoint.call(method, params))

    async def batch(self, calls: Sequence[Call]) -> list[Any]:
        return await self.attempt(lambda endpoint: endpoint.batch(calls))

    async def attempt(self, work: Callable[[Endpoint], Awaitable[Result]]) -> Result:
        if self._endpoint.late:
            raise RpcError(Transient(), "the node is late")
        return await self._pool.attempt(work, avoid=self._others, once=True)


async def _compared(
    pool: RpcPool, by_host: Mapping[str, ContractAnswers], questions: ListQuestions
) -> tuple[int, list[str]]:
    """Returns the number of compared balances, and the addresses of some that differ at any of the nodes."""
    able = {host for host, answers in by_host.items() if _is_usable(answers, questions) and not answers.derived}
    if len(questions.delivered) == 1:
        able -= questions.delivered
    balances = [(address, balance) for address, balance in questions.compared.items() if balance < _UINT256]
    compared = 0
    different: dict[str, None] = {}
    for witness in pool.endpoints:
        if witness.host in able:
            count, found = await _differences(_Only(pool, witness), questions, balances)
            compared = max(compared, count)
            different |= dict.fromkeys(found)
    return compared, list(different)[:_MOST_LOCATED]


async def _differences(rpc: Rpc, questions: ListQuestions, balances: Sequence[Balance]) -> tuple[int, list[str]]:
    """Compares in the order of `balances`. Returns the number of balances that the node answered, and some that differ.

    A node that does not support the bulk call gets single calls, about fewer balances. Ends early if many differ, or
    if time is up.
    """
    different: list[str] = []
    compared, until_s = 0, time.monotonic() + _COMPARE_WITHIN_S
    for start in range(0, len(balances), ADDRESSES_PER_CALL):
        part = balances[start : start + ADDRESSES_PER_CALL]
        equal = await _is_equal(rpc, questions, part)
        if equal is None:
            if start == 0:
                count, found = await _one_by_one(rpc, questions, balances[:_MOST_ONE_BY_ONE])
                return count, found[:_MOST_LOCATED]
            break
        compared += len(part)
        if not equal:
            different += await _located(rpc, questions, part)
        if len(different) >= _MOST_LOCATED or time.monotonic() > until_s:
            break
    return compared, different[:_MOST_LOCATED]


async def _located(rpc: Rpc, questions: ListQuestions, balances: Sequence[Balance]) -> list[str]:
    """Finds addresses among `balances` that differ, by bisection: a half with an equal digest contains none of them."""
    if len(balances) <= _ONE_BY_ONE:
        return (await _one_by_one(rpc, questions, balances))[1]
    different: list[str] = []
    middle = len(balances) // 2
    for half in (balances[:middle], balances[middle:]):
        if len(different) < _MOST_LOCATED and not await _is_equal(rpc, questions, half):
            different += await _located(rpc, questions, half)
    return different


async def _is_equal(rpc: Rpc, questions: ListQuestions, balances: Sequence[Balance]) -> bool | None:
    """Returns whether the node's digest of these balances equals ours, or None if it gives no digest."""
    addresses = [address for address, _ in balances]
    (answer,) = await ask(rpc, [balances_digest_call(questions.token, addresses, questions.block)])
    digest = read_balances_digest(answer)
    return None if digest is None else digest == balances_digest([balance for _, balance in balances])


async def _one_by_one(rpc: Rpc, questions: ListQuestions, balances: Sequence[Balance]) -> tuple[int, list[str]]:
    calls: list[Call] = [
        ("eth_call", [{"to": questions.token, "data": balance_of_data(address)}, hex(questions.block)])
        for address, _ in balances
    ]
    answers = [answer if isinstance(answer, Missing) else decode_uint(answer) for answer in await ask(rpc, calls)]
    pairs = [(row, answer) for row, answer in zip(balances, answers, strict=True) if not isinstance(answer, Missing)]
    return len(pairs), [address for (address, ours), theirs in pairs if ours != theirs]


# Receipts.


async def _check_receipts(
    pool: RpcPool, by_host: Mapping[str, ContractAnswers], questions: ListQuestions
) -> tuple[CheckedReceipts, list[Disagreement]]:
    """Recomputes the receipts' root of each block, and compares the transfers in the receipts with ours.

    All blocks are checked concurrently. Nodes that did not deliver rows are queried first.
    """
    usable = [item for item in pool.endpoints if item.host in by_host and _is_usable(by_host[item.host], questions)]
    usable.sort(key=lambda endpoint: endpoint.host in questions.delivered)
    checked = await asyncio.gather(
        *(_check_block(pool, usable, questions.token, block) for block in questions.transfers)
    )
    receipts = CheckedReceipts(
        blocks=len(checked),
        reproduced=sum(equal is not None for equal, _ in checked),
        equal=sum(equal is True for equal, _ in checked),
    )
    return receipts, [disagreement for _, found in checked for disagreement in found]


async def _check_block(
    pool: RpcPool, usable: Sequence[Endpoint], token: str, block: OwnBlock
) -> tuple[bool | None, list[Disagreement]]:
    """Returns whether the transfers in a block's receipts equal ours, and the disagreements.

    The first value is None if no node gave its receipts, or the nodes disagree on its hash.
    """
    hashes = [(item.host, await _hash_at(pool, item, block.number)) for item in usable]
    known = [(host, block_hash) for host, block_hash in hashes if block_hash is not None]
    other_hash = differing(DisputedFact.BLOCK_HASH, None, block.number, known)
    if not known or other_hash:
        return None, list(other_hash)
    for endpoint in usable:
        rows = await _proven_transfers(pool, endpoint, token, block.number, known[0][1])
        if rows == block.rows:
            return True, []
        if rows is not None:
            answers = (
                (block.host, _summary(block.number, "logs", block.rows)),
                (endpoint.host, _summary(block.number, "receipts", rows)),
            )
            return False, [Disagreement(DisputedFact.TRANSFERS, block.range_name, block.number, answers)]
    return None, []


async def _hash_at(pool: RpcPool, endpoint: Endpoint, number: int) -> str | None:
    try:
        return (await _Only(pool, endpoint).attempt(lambda only: headers_at(only, [number])))[0].hash
    except (RpcError, RpcUnavailable):
        return None


async def _proven_transfers(
    pool: RpcPool, endpoint: Endpoint, token: str, number: int, block_hash: str
) -> Sequence[Mapping[str, Any]] | None:
    try:
        receipts = await _Only(pool, endpoint).attempt(lambda only: reproduced_receipts(only, number, block_hash))
        if receipts is None:
            return None
        columns = TokenTransfers(token).decode_receipts(receipts, number)
    except (RpcError, RpcUnavailable):
        return None
    return rows_by_block(table_of(columns)).get(number, [])


def _summary(number: int, source: str, rows: Sequence[Mapping[str, Any]]) -> str:
    digest = hashlib.sha256(repr(rows).encode()).hexdigest()
    return f"{len(rows)} transfers in block {number} by its {source}, SHA-256 {digest}"
