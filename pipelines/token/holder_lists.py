"""Takes a holder list: asks the contract, judges, writes the files, records. Also records how far the chain is read."""

from datetime import datetime
from pathlib import Path

from contracts.token.holder_documents import ConsistencyLevel, Token
from contracts.token.holders import SnapshotReason
from contracts.token.proof import SAMPLE_LARGEST, Proof, held_by_zero, judge, sample_points
from pipelines.clients.rpc_state import Rpc
from pipelines.token.kinds import read_kinds
from pipelines.token.proof import ask_contract
from warehouse.duck.connection import Connection
from warehouse.token.edges import record_edges
from warehouse.token.history_writer import extend_history, first_held_table
from warehouse.token.holder_lists import (
    HolderList,
    latest_snapshot_taken_at,
    promote_list,
    record_list,
    recorded_list,
    remember_kinds,
    unknown_kinds,
    write_list_files,
)
from warehouse.token.holders import (
    FoldedState,
    balances_of,
    folded_supply,
    ranges_reasked,
    read_state,
    sample_addresses,
)

KINDS_OF_LARGEST = 1000


async def prove_balances(connection: Connection, rpc: Rpc, token_address: str, state: FoldedState) -> tuple[Proof, int]:
    """Returns the proof of the folded balances, and the zero address's balance in the contract (smallest units)."""
    folded = folded_supply(connection, state)
    sample = balances_of(connection, sample_addresses(connection, sample_points(state.block_hash), SAMPLE_LARGEST))
    answers = await ask_contract(rpc, token=token_address, block=state.block, balances=sample)
    reasked = ranges_reasked(connection)
    proof = judge(folded, answers, block=state.block, block_hash=state.block_hash, ranges_reasked=reasked)
    return proof, held_by_zero(folded, answers)


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

    With a `snapshot_reason` it is persisted, as the very first list always is. A recorded list is only promoted: the
    same block twice is one list. A node that does not answer leaves the list `unproven`. The history of balances is
    extended to that block before.
    """
    state = read_state(connection)
    if state is None:
        return None
    history = extend_history(connection, data_dir, state)
    reason = "first" if latest_snapshot_taken_at(connection) is None else snapshot_reason
    recorded = recorded_list(connection, state.block)
    if recorded is not None:
        return recorded if reason is None else promote_list(connection, data_dir, state.block, reason, now)
    proof, zero_held = await prove_balances(connection, rpc, token.address, state)
    kinds = await read_kinds(rpc, unknown_kinds(connection, KINDS_OF_LARGEST), state.block)
    remember_kinds(connection, kinds, state.block)
    files = write_list_files(
        connection,
        data_dir,
        block=state.block,
        zero_held=zero_held,
        decimals=token.decimals,
        first_held=first_held_table(history),
    )
    record_edges(connection, files.parquet, state)
    return record_list(connection, files, state=state, level=level.value, proof=proof, reason=reason, now=now)
