"""Takes a holder list: queries the contract, judges the answers, writes the files, proves the storage, and records the
list."""

import asyncio
import gzip
import secrets
from datetime import UTC, datetime
from pathlib import Path

from contracts.token.further_tokens import NO_CONTRACT
from contracts.token.holder_documents import ConsistencyLevel, HolderKind, Token
from contracts.token.holders import ZERO_ADDRESS, SnapshotReason
from contracts.token.nodes import Agreement, ComparedBalances, ConfirmedRanges, DisputedFact, settled_facts
from contracts.token.proof import SAMPLE_LARGEST, Proof, Verdict, held_by_zero, judge, sample_points, with_storage
from contracts.token.storage_proof import StorageProof, StorageReason, pack
from contracts.token.verification import read_list
from pipelines.clients.rpc import RpcPool
from pipelines.clients.rpc_state import Rpc
from pipelines.token.kinds import read_kinds
from pipelines.token.nodes import ONLY_NODE, ListQuestions, OwnBlock, survey_nodes
from pipelines.token.source import range_name, rows_by_block
from pipelines.token.storage_proof import prove_storage, unproven
from warehouse.duck.connection import Connection
from warehouse.token.disputes import open_disputes, record_disputes, settle_disputes
from warehouse.token.edges import record_edges
from warehouse.token.history_writer import extend_history, first_held_table
from warehouse.token.holder_lists import (
    HolderList,
    ListFiles,
    known_zero_balances,
    latest_snapshot_taken_at,
    promote_list,
    record_list,
    recorded_list,
    remember_kinds,
    unknown_kinds,
    write_list_files,
    write_storage_proof,
)
from warehouse.token.holders import (
    FoldedState,
    balances_of,
    folded_supply,
    read_state,
    sampled_balances,
)
from warehouse.token.node_questions import (
    BalancesToCompare,
    balances_to_compare,
    drawn_blocks,
    range_totals,
)
from warehouse.token.zero_address import KnownBalance, ZeroAddress

KINDS_OF_LARGEST = 1000

MOST_COMPARED = 100_000
"""The most balances to compare with other nodes for one list: a hundred calls per node."""
PROVEN_AT_ONCE = 50_000
"""The most holders of a list whose storage is proven each time it is taken: one second of work. The storage of a longer
list is proven only when it is persisted as a snapshot."""


OTHERS_COMPARED = 2_000
"""The most balances among `MOST_COMPARED` that did not change since all were compared."""

BLOCKS_WITH_RECEIPTS = 3


async def prove_balances(
    connection: Connection, rpc: Rpc, token_address: str, state: FoldedState, now: datetime | None = None
) -> tuple[Proof, int]:
    """Returns the proof of the folded balances, and the zero address's balance in the contract (smallest units).

    Queries every node separately, and records their disputes. The sample is drawn by a random value that is published
    with the proof, so that no node can predict the queries.
    """
    now, seed = now or datetime.now(UTC), secrets.token_hex(32)
    hosts = [endpoint.host for endpoint in rpc.endpoints] if isinstance(rpc, RpcPool) else [ONLY_NODE]
    disputes = open_disputes(connection)
    disputed = [
        dispute.subject
        for dispute in disputes
        if dispute.fact is DisputedFact.BALANCE and dispute.subject and dispute.subject != ZERO_ADDRESS
    ]
    sample = sampled_balances(connection, sample_points(seed), SAMPLE_LARGEST)
    if disputed:
        sample |= balances_of(connection, disputed)
    ranges = range_totals(connection)
    several = len(hosts) > 1
    to_compare = BalancesToCompare({}, None, cut=False)
    if several:
        to_compare = balances_to_compare(connection, seed, most=MOST_COMPARED, others=OTHERS_COMPARED)
    questions = ListQuestions(
        token=token_address,
        block=state.block,
        block_hash=state.block_hash,
        sample=sample,
        compared=to_compare.balances,
        delivered=ranges.delivered,
        transfers=[
            OwnBlock(
                drawn.number,
                rows_by_block(drawn.rows).get(drawn.number, []),
                range_name((drawn.from_block, drawn.to_block)),
                drawn.rpc_host,
            )
            for drawn in drawn_blocks(connection, state, seed, BLOCKS_WITH_RECEIPTS)
        ],
    )
    summing = asyncio.create_task(asyncio.to_thread(folded_supply, connection, state))
    try:
        survey = await survey_nodes(rpc, questions)
    finally:
        folded = await summing  # even if the survey fails: nobody else may use the connection until then
    ended = settled_facts(disputes, survey.disagreements, survey.agreed, hosts)
    record_disputes(connection, survey.disagreements, now)
    settle_disputes(connection, ended, "nodes_agree", now)
    compared_all = several and not to_compare.cut and survey.compared == len(to_compare.balances)
    agreement = Agreement(
        asked=len(hosts),
        answered=sum(node.answered for node in survey.standings),
        agreed=sum(node.agreed for node in survey.standings),
        nodes=survey.standings,
        sample_seed=seed,
        balances=ComparedBalances(holders=folded.holders, compared=survey.compared, complete=compared_all),
        transfers=ConfirmedRanges(ranges=ranges.count, confirmed=ranges.reasked),
        receipts=survey.receipts,
        disputes=[
            *open_disputes(connection),
            *(
                dispute.model_copy(update={"settled_at": now.replace(microsecond=0), "settled_by": "nodes_agree"})
                for dispute in disputes
                if (dispute.fact, dispute.subject) in ended
            ),
        ],
    )
    proof = judge(
        folded,
        survey.answers,
        block=state.block,
        block_hash=state.block_hash,
        ranges_reasked=ranges.reasked,
        nodes=agreement,
    )
    return proof, held_by_zero(folded, survey.answers)


async def take_list(
    connection: Connection,
    rpc: Rpc,
    data_dir: Path,
    *,
    token: Token,
    level: ConsistencyLevel,
    snapshot_reason: SnapshotReason | None,
    now: datetime,
) -> HolderList | None:
    """Takes, proves and records the list at the block of the last fold. Returns None before the first fold.

    With a `snapshot_reason` it is persisted as a snapshot; the very first list always is. If the block has a list
    already, that one is only promoted. If no node answers, the list is `unproven`; if there are no transfers and no
    contract at the address, the reason is `no_contract`. Before that, the history of balances is extended to the block.
    """
    state = read_state(connection)
    if state is None:
        return None
    history = extend_history(connection, data_dir, state)
    reason = "first" if latest_snapshot_taken_at(connection) is None else snapshot_reason
    recorded = recorded_list(connection, state.block)
    if recorded is not None:
        return recorded if reason is None else promote_list(connection, data_dir, state.block, reason, now)
    proof, zero_held = await prove_balances(connection, rpc, token.address, state, now)
    if proof.verdict is Verdict.UNPROVEN and not state.transfers:
        found = await read_kinds(rpc, [token.address], state.block)
        if found.get(token.address) is HolderKind.WALLET:
            proof = proof.model_copy(update={"reason": NO_CONTRACT})
    kinds = await read_kinds(rpc, unknown_kinds(connection, KINDS_OF_LARGEST), state.block)
    remember_kinds(connection, kinds, state.block)
    zero = ZeroAddress(history, [*known_zero_balances(connection), KnownBalance(state.block, zero_held)])
    files = write_list_files(
        connection,
        data_dir,
        block=state.block,
        zero_held=zero_held,
        decimals=token.decimals,
        first_held=first_held_table(history, zero.first_held(state.block)),
    )
    if files.named.rows <= PROVEN_AT_ONCE or reason is not None:
        storage = await _prove_storage(rpc, data_dir, token.address, files, proof)
    else:
        storage = unproven(StorageReason.BETWEEN_SNAPSHOTS)
    proof = with_storage(proof, storage)
    record_edges(connection, files.parquet, state)
    return record_list(connection, files, state=state, level=level.value, proof=proof, reason=reason, now=now)


async def _prove_storage(rpc: Rpc, data_dir: Path, token_address: str, files: ListFiles, proof: Proof) -> StorageProof:
    """Proves the rows of the list file as published, and writes the proof next to it."""
    with gzip.open(files.csv) as lines:
        published = read_list(lines, max_rows=files.named.rows)
    storage, multiproof = await prove_storage(
        rpc,
        token=token_address,
        block=proof.block,
        block_hash=proof.block_hash,
        rows=published.rows,
        total_supply=None if proof.total_supply is None else int(proof.total_supply),
    )
    if multiproof is None:
        return storage
    written = write_storage_proof(data_dir, proof.block, pack(multiproof))
    return storage.model_copy(update={"file": written})
